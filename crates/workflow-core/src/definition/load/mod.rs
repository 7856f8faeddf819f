//! The loader of settings, both tiers and references. It does not stop at the first mistake.

mod directory;
mod document;
mod file_map;
mod files;
mod flow;
mod idle;
mod listing;
mod origins;
mod passing;
mod phase;
mod references;
mod settings;
mod workflow;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

pub use document::document;
pub use files::{FilePath, FileProblem, Files, MemoryFiles, TierEntry};
pub use listing::{Listing, LoadOutcome};
pub use origins::{EntryOrigin, Origins, WorkflowOrigin};

use super::model::{
    Catalog, Limits, PhaseEntry, Settings, SettingsStatus, Show, TierSettings, ToolAccess,
};
use super::schema::{KeyLocations, nearest};
use super::syntax::{Findings, Source, json5};
use super::tier::{Root, Tier};
use crate::diagnostic::{Code, Diagnostic, Finding, Location, Severity, shown};
use directory::{Directory, Draft, FoundWorkflow};
use file_map::{read_map, reader_of};
use references::check_references;
use settings::{merged, read_settings};

/// The loaded files, and all that is wrong with them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Loaded {
    /// The workflows that can run.
    pub catalog: Arc<Catalog>,
    /// Every workflow that was found, global ones first, in byte order of their keys.
    pub index: Vec<Listing>,
    /// The settings in force.
    pub settings: Settings,
    /// Their parts: the user's settings and the project's.
    pub tiers: [TierSettings; 2],
    /// Everything that is wrong: settings, then workflow by workflow, then their references.
    pub diagnostics: Vec<Diagnostic>,
    /// The locations of what was loaded, where they were asked for.
    pub origins: Origins,
}

impl Loaded {
    /// Replaces settings that can no longer be read by those that were loaded last.
    pub fn keep_last_known_good(&mut self, tier: Tier, before: TierSettings) {
        let settings = &mut self.tiers[tier as usize];
        Arc::make_mut(&mut self.catalog).apply(&before.defaults);
        *settings = before;
        settings.guards.status = SettingsStatus::LastKnownGood;
        let limits = self.settings.limits;
        self.settings = Settings {
            // The limits that applied while loading.
            limits,
            ..merged(&self.tiers)
        };
    }

    /// The errors of the workflows that were left out and that a person would start by this name:
    /// their command name, or their key where that could not be read.
    pub fn problems_of(&self, name: &str) -> impl Iterator<Item = &Diagnostic> {
        let is_meant = |listing: &&Listing| listing.command_name == name || listing.key == name;
        let left_out = |listing: &&Listing| listing.outcome == LoadOutcome::LeftOut;
        let left_out = self.index.iter().filter(left_out).filter(is_meant);
        let keys: Vec<&str> = left_out.map(|listing| &*listing.key).collect();
        self.diagnostics.iter().filter(move |found| {
            let about = found.workflow.as_deref();
            found.severity == Severity::Error && about.is_some_and(|key| keys.contains(&key))
        })
    }
}

/// Loads settings and workflows.
///
/// Each tier is read and validated alone; then the tiers are merged, so that a broken override does
/// not hide a sound global workflow (B24); then references are resolved over what is left.
pub fn load(files: &dyn Files) -> Loaded {
    load_all(files, false)
}

/// Loads settings and workflows, and keeps the locations of their keys.
pub fn load_located(files: &dyn Files) -> Loaded {
    load_all(files, true)
}

fn load_all(files: &dyn Files, keeps_locations: bool) -> Loaded {
    let mut diagnostics = Vec::new();
    let mut settings_of = |tier, outer: &TierSettings| {
        load_settings_of(files, tier, outer, keeps_locations, &mut diagnostics)
    };
    let (global, global_keys) = settings_of(Tier::Global, &TierSettings::default());
    let (project, project_keys) = settings_of(Tier::Project, &global);
    let tiers = [global, project];
    let settings = merged(&tiers);
    let is_read_only = tiers.iter().any(|tier| {
        let access = &tier.defaults.tools.access;
        matches!(access, Some(ToolAccess::ReadOnly { .. }))
    });
    let left = Cell::new(Some(settings.limits.max_total_bytes));
    let found = Root::ALL.map(|root| {
        let directory = Directory {
            files,
            root,
            key: "",
            limits: &settings.limits,
            left: &left,
            sets: &tiers[root.tier() as usize].rule_sets,
            is_read_only,
            keeps_locations,
        };
        directory.read_all(&mut diagnostics)
    });
    let (mut index, mut drafts) = merge(found.into_iter().flatten(), &mut diagnostics);
    let max_nesting = settings.limits.max_nesting;
    resolve(&mut drafts, &mut index, max_nesting, &mut diagnostics);
    duplicate_commands(&drafts, &mut diagnostics);
    unknown_starts(&tiers, &drafts, &mut diagnostics);
    let origins = drafts.iter_mut();
    let origins =
        origins.filter_map(|(_, draft)| Some((draft.workflow.key.clone(), draft.origin.take()?)));
    let origins = Origins {
        settings: [global_keys, project_keys],
        workflows: origins.collect(),
    };
    let workflows = drafts.into_iter().map(|(_, draft)| draft.workflow);
    let mut catalog = Catalog::new(workflows.collect()).with_quick();
    // The checks of the user's settings come first.
    for tier in tiers.iter().rev() {
        catalog.apply(&tier.defaults);
    }
    Loaded {
        catalog: Arc::new(catalog),
        index,
        settings,
        tiers,
        diagnostics,
        origins,
    }
}

/// Loads the settings file of a source, with the locations of its keys where they are kept.
fn load_settings_of(
    files: &dyn Files,
    tier: Tier,
    outer: &TierSettings,
    keeps_locations: bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> (TierSettings, KeyLocations) {
    let limits = Limits::default();
    let path = FilePath::settings(tier);
    let (bytes, problem) = match files.read(&path, limits.max_file_bytes) {
        Ok(bytes) => (bytes, None),
        Err(FileProblem::Missing) => return (TierSettings::inside(outer), KeyLocations::default()),
        Err(problem) => (Vec::new(), Some(problem)),
    };
    let source = Source::new(&files.shown(&path), bytes);
    let mut findings = Findings::about(None, &source, Findings::SHOWN);
    let unread = |problem: FileProblem| {
        let message = format!("the settings file {problem}");
        let finding = Finding::error(Code::Unreadable, None, message);
        match problem {
            FileProblem::TooLarge { .. } => finding.help("make it smaller"),
            _ => finding,
        }
    };
    let node = match problem {
        Some(problem) => Err(unread(problem)),
        None => json5::parse(source.text(), (&limits).into()),
    };
    let reader = &mut reader_of(&source, &mut findings, tier, keeps_locations);
    let settings =
        read_map(reader, "the settings file", "`{}`, or remove it", node).map(|(map, _)| {
            let settings = read_settings(reader, &map, outer);
            reader.keep_locations(&map, None);
            settings
        });
    let keys = std::mem::take(&mut reader.sites.keys);
    let found = findings.finish();
    // After some mistakes nothing in the file is reliable.
    let leaves_nothing = |found: &&Diagnostic| {
        settings.is_none() || matches!(found.code, Code::NotUtf8 | Code::DuplicateKey)
    };
    let closed = found.iter().find(leaves_nothing);
    let closed = closed.map(|found| TierSettings::fail_closed(source.file(), found, outer));
    diagnostics.extend(found);
    let settings = closed.or(settings);
    let settings = settings.unwrap_or_else(|| TierSettings::inside(outer));
    (settings, keys)
}

/// The listings before references are checked, and the sound workflows: global keys first, an override at the position of the
/// overridden one. Each has the index of its listing. `found` has those first that others override.
fn merge(
    found: impl Iterator<Item = FoundWorkflow>,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Vec<Listing>, Vec<(usize, Draft)>) {
    let mut index: Vec<Listing> = Vec::new();
    let mut merged: Vec<(usize, Draft)> = Vec::new();
    // The first source of each key, and the index of its draft, if one is sound.
    let mut known: HashMap<String, (Tier, Option<usize>)> = HashMap::new();
    for (mut listing, draft) in found {
        let key = &listing.key;
        let (first, at) = *known.get(key).unwrap_or(&(listing.tier, None));
        let overridden = at.map(|at| (at, &index[merged[at].0]));
        listing.shadows = draft.is_some() && first != listing.tier;
        match (draft, overridden) {
            (Some(draft), Some((at, other))) => {
                if other.tier == listing.tier {
                    let used = shown(&listing.source);
                    let message = format!("{used} has the same key and is used instead");
                    let help = "remove one of them, or give its directory another name";
                    let found = Diagnostic::new(Code::EntrySkipped, Severity::Warning, message);
                    let found = found.at(Location::file(&other.source)).about(key);
                    diagnostics.push(found.with_help(help));
                }
                merged[at] = (index.len(), draft);
            }
            (Some(draft), None) => {
                known.insert(key.clone(), (first, Some(merged.len())));
                merged.push((index.len(), draft));
            }
            (None, Some((_, other))) => {
                let used = match other.tier {
                    Tier::Global => "the global one",
                    Tier::Project => &*shown(&other.source),
                };
                let name = shown(key);
                let message =
                    format!("the project's workflow \"{name}\" has errors: {used} is used");
                let found = Diagnostic::new(Code::OverrideLeftOut, Severity::Warning, message);
                diagnostics.push(found.at(Location::file(&listing.source)).about(key));
            }
            (None, None) => drop(known.insert(key.clone(), (first, None))),
        }
        index.push(listing);
    }
    (index, merged)
}

/// Drops the drafts without sound references, records the outcome of each in the index, and notes what commands take over.
fn resolve(
    drafts: &mut Vec<(usize, Draft)>,
    index: &mut [Listing],
    max_nesting: u32,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let found: BTreeSet<&str> = index.iter().map(|listing| &*listing.key).collect();
    let (kept, found) = check_references(drafts, &found, max_nesting);
    diagnostics.extend(found);
    let mut kept = kept.into_iter();
    drafts.retain_mut(|(at, draft)| {
        let (kept, values) = kept.next().unwrap_or_default();
        let phases = draft.workflow.phases.iter_mut();
        let phases = phases.filter_map(PhaseEntry::phase_mut);
        let checks = phases.flat_map(|phase| &mut phase.gate);
        for run in checks.filter_map(|gate| gate.check.command_mut()) {
            let known = |name: &str| Some((name.to_owned(), values.get(name)?.clone()));
            let known: BTreeMap<_, _> = run.variables().filter_map(known).collect();
            run.values = known.into_iter().collect();
        }
        if kept {
            index[*at].outcome = LoadOutcome::Loaded;
        } else {
            index[*at].outcome = LoadOutcome::LeftOut;
        }
        kept
    });
}

/// Two workflows with one command name: it starts the first visible one (B32).
fn duplicate_commands(drafts: &[(usize, Draft)], diagnostics: &mut Vec<Diagnostic>) {
    let mut commands: Vec<&Draft> = drafts.iter().map(|(_, draft)| draft).collect();
    commands.retain(|draft| !draft.workflow.command_name.is_empty());
    commands.sort_by_key(|draft| draft.workflow.show != Show::User);
    let mut started: HashMap<&str, &Draft> = HashMap::new();
    for draft in commands {
        let command = &*draft.workflow.command_name;
        let first = *started.entry(command).or_insert(draft);
        let [used, key] = [first, draft].map(|draft| &draft.workflow.key);
        if used == key {
            continue;
        }
        let (command, used, other) = (shown(command), shown(used), shown(key));
        let message = format!(
            "Duplicate commandName \"{command}\" in workflows \"{used}\" and \"{other}\". The first one found will be used."
        );
        let found = Diagnostic::new(Code::DuplicateCommandName, Severity::Warning, message);
        diagnostics.push(found.at(draft.command_name.clone()).about(key));
    }
}

/// A workflow that is offered without a run, and that nobody can start.
fn unknown_starts(
    tiers: &[TierSettings; 2],
    drafts: &[(usize, Draft)],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let commands = drafts.iter().map(|(_, draft)| &draft.workflow);
    let commands = commands.filter(|workflow| workflow.show == Show::User);
    let commands: Vec<&str> = commands.map(|workflow| &*workflow.command_name).collect();
    for tier in tiers {
        let start = tier.guards.without_run.as_ref();
        let Some(start) = start.and_then(|of| of.start.as_ref()) else {
            continue;
        };
        let name = &*start.workflow;
        if commands.contains(&name) {
            continue;
        }
        let shown_name = shown(name);
        let message =
            format!("`start` names `{shown_name}`, and no workflow has this `commandName`");
        let found = Diagnostic::new(Code::BrokenReference, Severity::Warning, message);
        let found = found.at(tier.start_at.clone());
        diagnostics.push(match nearest(name, commands.iter().copied()) {
            Some(meant) => found.with_help(format!("did you mean `{meant}`?")),
            None => found.with_help("correct the name, or add a workflow with it"),
        });
    }
}
