//! The reader of a workflow directory: its definition and its phase files.

use std::collections::HashSet;

use super::file_map::read_map;
use super::files::{FilePath, FileProblem, Files, TierEntry};
use super::flow::{Flow, check_flow};
use super::idle::{check_phase_openings, check_unused_sets, check_workflow_openings};
use super::listing::{Listing, LoadOutcome};
use super::origins::{EntryOrigin, WorkflowOrigin};
use super::phase::{ReadPhase, read_phase};
use super::phase_file::{parse_frontmatter, read_phase_source};
use super::workflow::{ReadEntry, ReadWorkflow, read_workflow};
use crate::definition::model::{Limits, PhaseEntry, RuleSets, Show, Workflow};
use crate::definition::schema::{Reader, Section, Sites};
use crate::definition::syntax::frontmatter;
use crate::definition::syntax::{
    Findings, Kind, Map, Node, Source, Span, TreeLimits, json5, raise, yaml,
};
use crate::definition::tier::Tier;
use crate::diagnostic::{Code, Diagnostic, Finding, Fix, Location, Severity, shown};

/// A workflow that was found, sound or not.
pub(super) struct FoundWorkflow {
    /// What could be read of it.
    pub(super) listing: Listing,
    /// The workflow, if nothing is wrong with it.
    pub(super) draft: Option<Draft>,
}

/// A workflow with references that are not checked yet.
pub(super) struct Draft {
    pub(super) workflow: Workflow,
    /// Its source.
    pub(super) tier: Tier,
    /// The definition.
    pub(super) file: Location,
    /// The location of its command name.
    pub(super) command_name: Location,
    /// The index in `phases` of each reference, and its location.
    pub(super) references: Vec<(usize, Location)>,
    /// The locations of its keys, where they are kept.
    pub(super) origin: Option<WorkflowOrigin>,
}

/// The formats a definition may have.
#[derive(Debug, Clone, Copy)]
pub(super) enum DefinitionFormat {
    Yaml,
    Json5,
}

const YAML_NAME: &str = "workflow.yaml";
const JSON5_NAME: &str = "workflow.json5";
/// Names that people give a definition and that nothing reads.
const MISNAMED: &[(&str, &str)] = &[
    ("workflow.yml", YAML_NAME),
    ("workflow.json", JSON5_NAME),
    ("Workflow.yaml", YAML_NAME),
    ("Workflow.yml", YAML_NAME),
    ("WORKFLOW.yaml", YAML_NAME),
    ("workflows.yaml", YAML_NAME),
];

const WORKFLOW_CONTENT: &str = "`name`, `commandName`, `initialMessage` and `phases`";

/// The limit on values of one file, including those that aliases repeat.
const MAX_VALUES: usize = 250_000;

/// A workflow directory about to be read.
pub(super) struct Directory<'a> {
    pub(super) files: &'a dyn Files,
    pub(super) tier: Tier,
    pub(super) key: &'a str,
    pub(super) limits: &'a Limits,
    /// The rule sets of the settings.
    pub(super) sets: &'a RuleSets,
    /// True if the locations of all keys are kept.
    pub(super) keeps_locations: bool,
}

impl Directory<'_> {
    /// Reads the directory; `None` if there is no definition in it.
    pub(super) fn read(&self, diagnostics: &mut Vec<Diagnostic>) -> Option<FoundWorkflow> {
        let yaml = self.bytes(YAML_NAME);
        let json5 = self.bytes(JSON5_NAME);
        let (format, name, bytes) = match (yaml, json5) {
            (Err(FileProblem::Missing), Err(FileProblem::Missing)) => {
                diagnostics.extend(self.misnamed());
                return None;
            }
            // Where nothing more may be read, it is not known whether there is a second one.
            (yaml @ Err(FileProblem::TooMuch { .. }), _)
            | (yaml, Err(FileProblem::Missing | FileProblem::TooMuch { .. })) => {
                (DefinitionFormat::Yaml, YAML_NAME, yaml)
            }
            (Err(FileProblem::Missing), json5) => (DefinitionFormat::Json5, JSON5_NAME, json5),
            (Ok(_) | Err(_), Ok(_) | Err(_)) => {
                diagnostics.push(self.two_definitions());
                return Some(self.left_out(YAML_NAME));
            }
        };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(problem) => {
                diagnostics.push(self.unreadable(name, &problem));
                return Some(self.left_out(name));
            }
        };
        let source = Source::new(&self.shown(name), bytes);
        let mut findings = Findings::about(Some(self.key), &source, shown_of(diagnostics.len()));
        let draft = self.read_definition(&source, format, &mut findings);
        let is_sound = !findings.broken();
        diagnostics.extend(findings.finish());
        let mut found = self.left_out(name);
        source.file().clone_into(&mut found.listing.source);
        if let Some((draft, entries)) = draft {
            let (listing, workflow) = (&mut found.listing, &draft.workflow);
            listing.name.clone_from(&workflow.name);
            listing.command_name.clone_from(&workflow.command_name);
            (listing.show, listing.phases) = (workflow.show, entries);
            if is_sound {
                listing.outcome = LoadOutcome::Shadowed;
                found.draft = Some(draft);
            }
        }
        Some(found)
    }

    fn bytes(&self, name: &str) -> Result<Vec<u8>, FileProblem> {
        let path = FilePath::definition(self.tier, self.key, name);
        self.files.read(&path, self.limits.max_file_bytes)
    }

    fn shown(&self, name: &str) -> String {
        let path = FilePath::definition(self.tier, self.key, name);
        self.files.shown(&path)
    }

    fn left_out(&self, name: &str) -> FoundWorkflow {
        let listing = Listing {
            key: self.key.to_owned(),
            tier: self.tier,
            source: self.shown(name),
            name: String::new(),
            command_name: String::new(),
            show: Show::default(),
            phases: 0,
            shadows: false,
            outcome: LoadOutcome::LeftOut,
        };
        FoundWorkflow {
            listing,
            draft: None,
        }
    }

    fn misnamed(&self) -> Option<Diagnostic> {
        let (name, right) = MISNAMED.iter().find(|(name, _)| self.bytes(name).is_ok())?;
        let message = format!("`{name}` is not read");
        let diagnostic = Diagnostic::new(Code::MisnamedDefinition, Severity::Warning, message)
            .at(Location::file(&self.shown(name)))
            .with_help(format!("name it `{right}`"))
            .about(self.key);
        Some(Diagnostic {
            fix: Some(Fix {
                from: (*name).to_owned(),
                to: (*right).to_owned(),
            }),
            ..diagnostic
        })
    }

    fn two_definitions(&self) -> Diagnostic {
        let message = format!("both `{YAML_NAME}` and `{JSON5_NAME}` define this workflow");
        Diagnostic::new(Code::TwoDefinitions, Severity::Error, message)
            .at(Location::file(&self.shown(JSON5_NAME)))
            .about(self.key)
    }

    fn unreadable(&self, name: &str, problem: &FileProblem) -> Diagnostic {
        let message = format!("`{name}` {problem}");
        let diagnostic = Diagnostic::new(code_of(problem), Severity::Error, message)
            .at(Location::file(&self.shown(name)))
            .about(self.key);
        match problem {
            FileProblem::TooMuch { .. } => diagnostic.with_help(raise("maxTotalBytes")),
            _ => diagnostic,
        }
    }

    /// Reads a definition with its valid phases, and the number of its entries.
    fn read_definition(
        &self,
        source: &Source,
        format: DefinitionFormat,
        findings: &mut Findings,
    ) -> Option<(Draft, usize)> {
        let reader = &mut self.reader(source, findings);
        let node = self.parse(source, format);
        let (map, span) = read_map(reader, "the definition", WORKFLOW_CONTENT, node)?;
        let read = read_workflow(reader, self.key, &map, span, self.limits, self.sets);
        Some(self.read_phases(reader, read))
    }

    fn reader<'r>(&self, source: &'r Source, findings: &'r mut Findings) -> Reader<'r> {
        Reader {
            source,
            findings,
            tier: self.tier,
            sections: Section::ALL,
            sites: Sites::default(),
            keeps_locations: self.keeps_locations,
        }
    }

    /// Reads the definition of a workflow that was loaded; `None` if it can no longer be read.
    fn source(&self) -> Option<(DefinitionFormat, Source)> {
        let formats = [
            (DefinitionFormat::Yaml, YAML_NAME),
            (DefinitionFormat::Json5, JSON5_NAME),
        ];
        formats.into_iter().find_map(|(format, name)| {
            let bytes = self.bytes(name).ok()?;
            Some((format, Source::new(&self.shown(name), bytes)))
        })
    }

    /// Parses a definition.
    fn parse<'s>(&self, source: &'s Source, format: DefinitionFormat) -> Result<Node<'s>, Finding> {
        match format {
            DefinitionFormat::Yaml => yaml::parse(source.text(), 0, self.tree_limits()),
            DefinitionFormat::Json5 => json5::parse(source.text(), self.tree_limits()),
        }
    }

    fn tree_limits(&self) -> TreeLimits {
        TreeLimits {
            depth: self.limits.max_depth as usize,
            size: MAX_VALUES,
        }
    }

    fn read_phases(&self, reader: &mut Reader<'_>, read: ReadWorkflow<'_>) -> (Draft, usize) {
        let entries = read.entries.len();
        let mut draft = Draft {
            workflow: read.workflow,
            tier: self.tier,
            file: reader.source.location(None),
            command_name: reader.source.location(read.command_name),
            references: Vec::new(),
            origin: None,
        };
        let sets = read.sets.as_ref().unwrap_or(self.sets);
        let own = read.sites;
        let mut phases = Vec::new();
        let mut sites = Vec::new();
        let workflow = &draft.workflow;
        let mut ids = HashSet::new();
        for (span, entry) in read.entries {
            let phase = match entry {
                ReadEntry::Subworkflow(reference, of_reference) => {
                    let location = reader.source.location(of_reference.id);
                    draft.references.push((phases.len(), location));
                    let entry = span;
                    sites.push(Sites {
                        entry,
                        ..*of_reference
                    });
                    phases.push(PhaseEntry::Subworkflow(reference));
                    continue;
                }
                ReadEntry::Inline(map) => {
                    let start = map.first_key().or(span);
                    let phase = read_phase(reader, map, start, None, sets);
                    unique(reader, workflow, &mut ids, phase)
                }
                ReadEntry::File(path) => {
                    self.read_phase_file(reader, workflow, &mut ids, (path, span), sets)
                }
            };
            if let Some((phase, mut of_phase)) = phase {
                of_phase.entry = span;
                phases.push(PhaseEntry::Phase(phase));
                sites.push(of_phase);
            }
        }
        for phase in &mut phases {
            if let PhaseEntry::Phase(phase) = phase {
                phase.gate.splice(0..0, read.gate.iter().cloned());
                phase.approve = phase.approve.take().or_else(|| read.approve.clone());
            }
        }
        draft.workflow.phases = phases;
        check_workflow_openings(reader, &draft.workflow, &own.openings);
        if draft.workflow.phases.len() == entries {
            check_unused_sets(reader, &draft.workflow, &read.own_sets);
        }
        // Of an entry that could not be read it is not known where it leads.
        if draft.workflow.phases.len() == entries {
            check_flow(
                reader,
                &Flow {
                    workflow: &draft.workflow,
                    own: &own,
                    phases: &sites,
                    jumps: self.limits.jumps,
                    elsewhere: &|id| self.workflow_with(id),
                },
            );
        }
        draft.origin = self.keeps_locations.then(|| WorkflowOrigin {
            tier: self.tier,
            keys: own.keys,
            entries: (sites.into_iter())
                .map(|sites| EntryOrigin {
                    entry: sites.entry.map(|span| reader.source.location(Some(span))),
                    keys: sites.keys,
                })
                .collect(),
        });
        (draft, entries)
    }

    /// The key of another workflow of the tier with a phase of this id.
    fn workflow_with(&self, id: &str) -> Option<String> {
        const MAX_NAMES: usize = 50;
        let entries = self.files.entries(self.tier).ok()?;
        let keys = entries.into_iter().filter_map(|entry| match entry {
            TierEntry::Directory(key) => Some(key),
            TierEntry::Skipped { .. } => None,
        });
        let mut others = keys.filter(|key| key != self.key).take(MAX_NAMES);
        others.find(|key| Directory { key, ..*self }.has_phase(id))
    }

    /// Returns whether the definition has a phase of this id, in the part that can be read.
    fn has_phase(&self, id: &str) -> bool {
        let is_it = |map: &Map<'_>| {
            let entry = map.get("id");
            entry.is_some_and(|entry| matches!(&entry.value.kind, Kind::Text(text) if text == id))
        };
        let of_file = |path: &str, span| {
            let source = self.open_phase_file(path, span).ok()?;
            let parts = frontmatter::split(source.text()).ok()?;
            let node = parse_frontmatter(&parts, self.tree_limits()).ok()?;
            Some(matches!(&node.kind, Kind::Map(map) if is_it(map)))
        };
        let Some((format, source)) = self.source() else {
            return false;
        };
        let Ok(Node {
            kind: Kind::Map(map),
            ..
        }) = self.parse(&source, format)
        else {
            return false;
        };
        let Some(Kind::List(items)) = map.get("phases").map(|entry| &entry.value.kind) else {
            return false;
        };
        items.iter().any(|item| match &item.kind {
            Kind::Map(map) => is_it(map),
            Kind::Text(path) => of_file(path, item.span).unwrap_or(false),
            _ => false,
        })
    }

    fn read_phase_file(
        &self,
        reader: &mut Reader<'_>,
        workflow: &Workflow,
        ids: &mut HashSet<String>,
        (path, span): (&str, Option<Span>),
        sets: &RuleSets,
    ) -> Option<ReadPhase> {
        let source = match self.open_phase_file(path, span) {
            Ok(source) => source,
            Err(finding) => {
                reader.report(finding);
                return None;
            }
        };
        let reader = &mut self.reader(&source, reader.findings);
        let phase = read_phase_source(reader, self.tree_limits(), sets);
        let (phase, sites) = unique(reader, workflow, ids, phase)?;
        let source = Some(source);
        Some((phase, Sites { source, ..sites }))
    }

    fn open_phase_file(&self, entry: &str, span: Option<Span>) -> Result<Source, Finding> {
        let name = || shown(entry);
        let path = FilePath::in_workflow(self.tier, self.key, entry).map_err(|problem| {
            let message = format!("the path `{}` {problem}", name());
            Finding::error(Code::PathRefused, span, message)
        })?;
        match self.files.read(&path, self.limits.max_file_bytes) {
            Ok(bytes) => Ok(Source::new(&self.files.shown(&path), bytes)),
            Err(problem) => {
                let message = format!("the phase file `{}` {problem}", name());
                let finding = Finding::error(code_of(&problem), span, message);
                Err(match problem {
                    FileProblem::TooMuch { .. } => finding.help(raise("maxTotalBytes")),
                    FileProblem::Missing => self.similar_file(entry, finding),
                    _ => finding,
                })
            }
        }
    }

    /// The finding about a missing phase file, with the file or workflow that its name most likely means.
    fn similar_file(&self, name: &str, finding: Finding) -> Finding {
        let base = name.rsplit('/').next().unwrap_or(name);
        let stem = base.rsplit_once('.').map_or(base, |(stem, _)| stem);
        let candidates = [
            format!("{name}.md"),
            format!("{stem}.md"),
            format!("{}.md", stem.to_lowercase()),
            format!("../_shared/{base}"),
            format!("../_shared/{stem}.md"),
        ];
        let exists = |candidate: &&String| {
            FilePath::in_workflow(self.tier, self.key, candidate)
                .is_ok_and(|path| self.files.read(&path, self.limits.max_file_bytes).is_ok())
        };
        if let Some(meant) = candidates.iter().find(exists) {
            let help = format!("did you mean `{}`?", shown(meant));
            return finding.help(help).fix(name, meant);
        }
        let is_workflow =
            |entry: &TierEntry| matches!(entry, TierEntry::Directory(key) if key == name);
        let entries = self.files.entries(self.tier);
        if entries.is_ok_and(|entries| entries.iter().any(is_workflow)) {
            let help = format!("did you mean `{{subworkflow: {}}}`?", shown(name));
            return finding.help(help);
        }
        finding
    }
}

/// The number of diagnostics of the next workflow that are shown, after those of others.
fn shown_of(before: usize) -> usize {
    const MANY: usize = 2000;
    if before < MANY { Findings::SHOWN } else { 1 }
}

fn code_of(problem: &FileProblem) -> Code {
    match problem {
        FileProblem::Missing => Code::MissingFile,
        FileProblem::Escapes => Code::PathRefused,
        FileProblem::TooLarge { .. } => Code::FileTooLarge,
        FileProblem::TooMuch { .. } => Code::OverLimit,
        FileProblem::NotAFile | FileProblem::NameNotUtf8 | FileProblem::Unreadable(_) => {
            Code::Unreadable
        }
    }
}

/// Adds a phase of a workflow with an id that no earlier phase has.
fn unique(
    reader: &mut Reader<'_>,
    workflow: &Workflow,
    ids: &mut HashSet<String>,
    read: Option<ReadPhase>,
) -> Option<ReadPhase> {
    let (phase, sites) = read?;
    check_phase_openings(reader, workflow, &phase, &sites.openings);
    phase
        .budget
        .check_within(&workflow.budget, reader, sites.budget);
    if !ids.insert(phase.id.clone()) {
        let message = format!("duplicate phase id `{}`", shown(&phase.id));
        reader.report(Finding::error(Code::DuplicatePhaseId, sites.id, message));
        return None;
    }
    Some((phase, sites))
}
