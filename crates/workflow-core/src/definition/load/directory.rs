//! The reader of the workflows directories, in byte order of their entries, within the limits; of each its definition and its
//! phase files.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::file_map::{read_map, reader_of};
use super::files::{FilePath, FileProblem, Files, TierEntry};
use super::flow::PendingName;
use super::listing::{Listing, LoadOutcome};
use super::origins::WorkflowOrigin;
use super::phase::read_phase_source;
use crate::definition::model::{Limits, Phase, RuleSets, Show, Workflow};
use crate::definition::schema::{Reader, Sites};
use crate::definition::syntax::{Findings, Source, Span, TreeLimits, json5, raise, yaml};
use crate::definition::tier::{Root, Tier};
use crate::diagnostic::{Code, Diagnostic, Finding, Location, Severity, shown};

/// What could be read of a workflow that was found, and the workflow, if nothing is wrong with it.
pub(super) type FoundWorkflow = (Listing, Option<Draft>);

/// A workflow with references that are not checked yet.
pub(super) struct Draft {
    pub(super) workflow: Workflow,
    /// The definition.
    pub(super) file: Location,
    /// The location of its command name.
    pub(super) command_name: Location,
    /// Its references, in order.
    pub(super) references: Vec<ReferenceSites>,
    /// The names of what subworkflows return.
    pub(super) pending: Vec<PendingName>,
    /// The names with which it may end.
    pub(super) ends: BTreeSet<String>,
    /// The locations of its keys, where they are kept.
    pub(super) origin: Option<WorkflowOrigin>,
}

/// The key of a reference, and where it and its parts are.
pub(super) struct ReferenceSites {
    pub(super) key: String,
    pub(super) location: Location,
    pub(super) with: BTreeMap<String, Location>,
    pub(super) outcomes: BTreeMap<String, Location>,
    pub(super) list: Option<Location>,
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

/// A workflow directory about to be read. Without a key it is that of all workflows of a source.
pub(super) struct Directory<'a> {
    pub(super) files: &'a dyn Files,
    pub(super) root: Root,
    pub(super) key: &'a str,
    pub(super) limits: &'a Limits,
    /// The bytes that may still be read of all files together; `None` after one exceeded them.
    pub(super) left: &'a Cell<Option<u32>>,
    /// The rule sets of the settings.
    pub(super) sets: &'a RuleSets,
    /// True if the `defaults` of the settings are read-only.
    pub(super) is_read_only: bool,
    /// True if the locations of all keys are kept.
    pub(super) keeps_locations: bool,
}

impl Directory<'_> {
    /// Reads the workflows of its source, in byte order of their keys.
    pub(super) fn read_all(&self, diagnostics: &mut Vec<Diagnostic>) -> Vec<FoundWorkflow> {
        let (files, root) = (self.files, self.root);
        let of = match root.tier() {
            Tier::Global => "global",
            Tier::Project => "project's",
        };
        let location = |path: FilePath| Location::file(&files.shown(&path));
        let directory = location(FilePath::workflows(root));
        let entries = match files.entries(root) {
            Ok(entries) => entries,
            Err(problem) => {
                let message = format!("the {of} workflows directory {problem}");
                let found = Diagnostic::new(Code::Unreadable, Severity::Error, message);
                diagnostics.push(found.at(directory));
                return Vec::new();
            }
        };
        let most = self.limits.max_workflows as usize;
        if entries.len() > most {
            let message = format!(
                "more than {most} directories in the {of} workflows directory: only the first {most} are read"
            );
            let help = "remove some, or raise `limits.maxWorkflows` in the settings";
            let found = Diagnostic::new(Code::OverLimit, Severity::Error, message);
            diagnostics.push(found.at(directory).with_help(help));
        }
        let mut found = Vec::new();
        for TierEntry { name, problem } in entries.into_iter().take(most) {
            if let Some(problem) = problem {
                // It is not followed (B25).
                let location = location(FilePath::entry(root, &name));
                let name = shown(&name);
                let message =
                    format!("`{name}` in the {of} workflows directory is skipped: it {problem}");
                let found = Diagnostic::new(Code::EntrySkipped, Severity::Warning, message);
                diagnostics.push(found.at(location));
            } else {
                let directory = Directory {
                    key: &name,
                    ..*self
                };
                found.extend(directory.read(diagnostics));
            }
        }
        found
    }

    /// Reads the directory; `None` if there is no definition in it.
    pub(super) fn read(&self, diagnostics: &mut Vec<Diagnostic>) -> Option<FoundWorkflow> {
        let found = [YAML_NAME, JSON5_NAME].map(|name| (name, self.bytes(name)));
        let is_there = |(_, bytes): &(&str, Result<_, _>)| *bytes != Err(FileProblem::Missing);
        let mut found = found.into_iter().filter(is_there);
        let Some((name, bytes)) = found.next() else {
            let mut misnamed = MISNAMED.iter();
            let (name, right) = misnamed.find(|(name, _)| self.bytes(name).is_ok())?;
            let message = format!("`{name}` is not read");
            let finding = Finding::warning(Code::MisnamedDefinition, None, message);
            let finding = finding.help(format!("name it `{right}`")).fix(name, right);
            diagnostics.extend(self.about_file(name, finding));
            return None;
        };
        // Where nothing more may be read, it is not known whether there is a second one.
        let is_read = |bytes: &Result<_, _>| !matches!(bytes, Err(FileProblem::TooMuch { .. }));
        if is_read(&bytes) && found.any(|(_, second)| is_read(&second)) {
            let message = format!("both `{YAML_NAME}` and `{JSON5_NAME}` define this workflow");
            let finding = Finding::error(Code::TwoDefinitions, None, message);
            diagnostics.extend(self.about_file(JSON5_NAME, finding));
            return Some((self.left_out(YAML_NAME), None));
        }
        let bytes = bytes.map_err(|problem| {
            let finding = unread(&format!("`{name}`"), None, &problem);
            diagnostics.extend(self.about_file(name, finding));
        });
        let Ok(bytes) = bytes else {
            return Some((self.left_out(name), None));
        };
        let source = Source::new(&self.shown(name), bytes);
        let mut findings = Findings::about(Some(self.key), &source, shown_of(diagnostics.len()));
        let draft = self.read_definition(name, &source, &mut findings);
        let is_sound = !findings.broken();
        diagnostics.extend(findings.finish());
        let mut listing = self.left_out(name);
        source.file().clone_into(&mut listing.source);
        let Some((draft, entries)) = draft else {
            return Some((listing, None));
        };
        let workflow = &draft.workflow;
        listing.name.clone_from(&workflow.name);
        listing.command_name.clone_from(&workflow.command_name);
        (listing.show, listing.phases) = (workflow.show, entries);
        if is_sound {
            listing.outcome = LoadOutcome::Shadowed;
        }
        Some((listing, is_sound.then_some(draft)))
    }

    fn bytes(&self, name: &str) -> Result<Vec<u8>, FileProblem> {
        self.read_file(&FilePath::definition(self.root, self.key, name))
    }

    /// The bytes of a file, within the limits of one and of all together.
    fn read_file(&self, path: &FilePath) -> Result<Vec<u8>, FileProblem> {
        let limit = self.limits.max_total_bytes;
        let too_much = FileProblem::TooMuch { limit };
        let Some(left) = self.left.get() else {
            return Err(too_much);
        };
        let bytes = self.files.read(path, self.limits.max_file_bytes)?;
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.left.set(left.checked_sub(length));
        self.left.get().map(|_| bytes).ok_or(too_much)
    }

    fn shown(&self, name: &str) -> String {
        let path = FilePath::definition(self.root, self.key, name);
        self.files.shown(&path)
    }

    fn left_out(&self, name: &str) -> Listing {
        Listing {
            key: self.key.to_owned(),
            tier: self.root.tier(),
            source: self.shown(name),
            name: String::new(),
            command_name: String::new(),
            show: Show::default(),
            phases: 0,
            shadows: false,
            outcome: LoadOutcome::LeftOut,
        }
    }

    /// The diagnostic about a file of the directory as a whole.
    fn about_file(&self, name: &str, finding: Finding) -> Vec<Diagnostic> {
        let source = Source::new(&self.shown(name), Vec::new());
        let mut findings = Findings::about(Some(self.key), &source, Findings::SHOWN);
        findings.add(&source, finding);
        findings.finish()
    }

    /// Reads a definition with its valid phases, and the number of its entries.
    fn read_definition(
        &self,
        name: &str,
        source: &Source,
        findings: &mut Findings,
    ) -> Option<(Draft, usize)> {
        let reader = &mut reader_of(source, findings, self.root.tier(), self.keeps_locations);
        let node = match name {
            JSON5_NAME => json5::parse(source.text(), self.tree_limits()),
            _ => yaml::parse(source.text(), 0, self.tree_limits()),
        };
        let (map, span) = read_map(reader, "the definition", WORKFLOW_CONTENT, node)?;
        Some(self.read_workflow(reader, &map, span))
    }

    fn tree_limits(&self) -> TreeLimits {
        TreeLimits {
            size: MAX_VALUES,
            ..self.limits.into()
        }
    }

    /// Reads a phase of a file.
    pub(super) fn read_phase_file(
        &self,
        reader: &mut Reader<'_>,
        path: &str,
        span: Option<Span>,
        sets: &RuleSets,
    ) -> Option<(Phase, Sites)> {
        let source = match self.open_phase_file(path, span) {
            Ok(source) => source,
            Err(finding) => return reader.refuse(finding),
        };
        let reader = &mut reader_of(
            &source,
            reader.findings,
            self.root.tier(),
            self.keeps_locations,
        );
        let (phase, sites) = read_phase_source(reader, self.tree_limits(), sets)?;
        let source = Some(source);
        Some((phase, Sites { source, ..sites }))
    }

    fn open_phase_file(&self, entry: &str, span: Option<Span>) -> Result<Source, Finding> {
        let name = || shown(entry);
        let path = FilePath::in_workflow(self.root, self.key, entry).map_err(|problem| {
            let message = format!("the path `{}` {problem}", name());
            Finding::error(Code::PathRefused, span, message)
        })?;
        match self.read_file(&path) {
            Ok(bytes) => Ok(Source::new(&self.files.shown(&path), bytes)),
            Err(problem) => {
                let finding = unread(&format!("the phase file `{}`", name()), span, &problem);
                Err(match problem {
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
            FilePath::in_workflow(self.root, self.key, candidate)
                .is_ok_and(|path| self.read_file(&path).is_ok())
        };
        if let Some(meant) = candidates.iter().find(exists) {
            return finding.meant(name, meant);
        }
        let is_workflow = |entry: &TierEntry| entry.name == name && entry.problem.is_none();
        let entries = self.files.entries(self.root);
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

/// The finding about a file that cannot be read.
fn unread(what: &str, span: Option<Span>, problem: &FileProblem) -> Finding {
    let code = match problem {
        FileProblem::Missing => Code::MissingFile,
        FileProblem::Escapes => Code::PathRefused,
        FileProblem::TooLarge { .. } => Code::FileTooLarge,
        FileProblem::TooMuch { .. } => Code::OverLimit,
        FileProblem::NotAFile | FileProblem::NameNotUtf8 | FileProblem::Unreadable(_) => {
            Code::Unreadable
        }
    };
    let finding = Finding::error(code, span, format!("{what} {problem}"));
    match problem {
        FileProblem::TooMuch { .. } => finding.help(raise("maxTotalBytes")),
        _ => finding,
    }
}
