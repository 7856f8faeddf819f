//! Hints about a run as a whole: who may cancel it, and which role text its agent reads.

use workflow_core::definition::{
    CancelBy, Catalog, Loaded, Phase, PhaseEntry, RuleAction, Show, Workflow,
};
use workflow_core::diagnostic::{Code, Diagnostic, Location, Severity, shown};
use workflow_core::session::{RoleSource, role_source};

use super::levels::{RuleLevel, SHELL};
use super::phase_list::listed;

/// Returns the hints about the runs of a workflow.
pub(super) fn hints(workflow: &Workflow, loaded: &Loaded) -> Vec<Diagnostic> {
    if workflow.show != Show::User {
        return Vec::new();
    }
    let mut phases = Vec::new();
    collect(workflow, &loaded.catalog, &mut phases, 0);
    let hints = [
        cancel_by_agent(workflow, &phases, loaded),
        built_in_role(workflow, &phases, loaded),
    ];
    let key = &workflow.key;
    hints
        .into_iter()
        .flatten()
        .map(|found| found.about(key))
        .collect()
}

/// A phase, its workflow, and its index there.
type Located<'a> = (&'a Phase, &'a Workflow, usize);

/// Collects the phases of a workflow and of those that it contains.
fn collect<'a>(
    workflow: &'a Workflow,
    catalog: &'a Catalog,
    phases: &mut Vec<Located<'a>>,
    depth: usize,
) {
    // The loader refuses more levels; many phases need no hint each.
    const MAX_DEPTH: usize = 128;
    const MAX_PHASES: usize = 10_000;
    for (at, entry) in workflow.phases.iter().enumerate() {
        match entry {
            PhaseEntry::Phase(phase) => phases.push((phase, workflow, at)),
            PhaseEntry::Subworkflow(key) if depth < MAX_DEPTH && phases.len() < MAX_PHASES => {
                if let Some(inner) = catalog.get(key) {
                    collect(inner, catalog, phases, depth + 1);
                }
            }
            PhaseEntry::Subworkflow(_) => {}
        }
    }
}

/// An approval that the agent can avoid by cancelling, if no rule of the settings holds afterwards.
fn cancel_by_agent(root: &Workflow, phases: &[Located<'_>], loaded: &Loaded) -> Option<Diagnostic> {
    let holds = RuleLevel::of_settings(&loaded.settings)
        .iter()
        .any(|level| {
            let forbids = |rule: &&workflow_core::definition::Rule| {
                rule.action != RuleAction::Allow && rule.names(SHELL)
            };
            level.lists_out(SHELL) || level.rules.iter().any(|rule| forbids(&rule))
        });
    if holds || root.cancel == Some(CancelBy::User) {
        return None;
    }
    // After the last phase there is nothing that the approval holds back.
    let (_, before_last) = phases.split_last()?;
    let mut before_last = before_last.iter();
    let (phase, workflow, at) = before_last.find(|(phase, ..)| phase.approve.is_some())?;
    let message = format!(
        "the agent may cancel the run before the approval in \"{}\"; then the rules of the run no longer apply",
        shown(&phase.name)
    );
    let found = Diagnostic::new(Code::CancelByAgent, Severity::Info, message).with_help(
        "write `cancel: user` in the workflow, or add a rule that blocks or asks for what needs the approval to `.pi/workflow-sidecar.json5`: those rules apply without a run",
    );
    Some(found.at(location(workflow, *at, "approve", loaded)))
}

/// The role text of the npm package, which forbids `edit` and `write`, where a phase allows them.
fn built_in_role(
    workflow: &Workflow,
    phases: &[Located<'_>],
    loaded: &Loaded,
) -> Option<Diagnostic> {
    if role_source(workflow, &loaded.catalog, &loaded.settings) != RoleSource::Package {
        return None;
    }
    let names = |(phase, ..): &Located<'_>| {
        let profiles = phase.available_profiles.as_ref();
        profiles.is_some_and(|profiles| !profiles.is_empty())
    };
    let why = if phases.iter().any(names) {
        "a phase names `availableProfiles`"
    } else {
        "`context` is `every-turn`"
    };
    let is_closed = |level: &Workflow, phase: &Phase| {
        level.read_only_in(phase).is_some()
            && level.writable.is_empty()
            && phase.writable.is_empty()
    };
    let is_root_closed = workflow.is_read_only() && workflow.writable.is_empty();
    let edits = |(phase, inner, _): &&Located<'_>| {
        let is_inside = inner.key != workflow.key;
        if is_closed(inner, phase) || is_inside && is_root_closed {
            return false;
        }
        let levels = RuleLevel::of_phase(phase, inner, &loaded.settings);
        !["edit", "write"].iter().any(|tool| {
            RuleLevel::of_workflow(workflow).blocks(tool).is_some()
                || levels.iter().any(|level| level.blocks(tool).is_some())
        })
    };
    let editing: Vec<&Phase> = phases
        .iter()
        .filter(edits)
        .map(|(phase, ..)| *phase)
        .collect();
    editing.first()?;
    let message = format!(
        "the agent reads that it is an orchestrator and must not use `edit` and `write` itself, because {why} and there is no \
         `roleInstruction`; the tools are allowed in {}",
        listed(&editing)
    );
    let found = Diagnostic::new(Code::BuiltInRole, Severity::Info, message)
        .with_help("add a `roleInstruction` that says who changes files, or block `edit` and `write` in these phases");
    let keys = loaded.origins.workflow(&workflow.key);
    let location = keys.and_then(|origin| origin.keys.of(&["phases"]).cloned());
    Some(found.at(location))
}

fn location(workflow: &Workflow, at: usize, key: &str, loaded: &Loaded) -> Option<Location> {
    let origin = loaded.origins.workflow(&workflow.key)?;
    origin.entries.get(at)?.keys.of(&[key]).cloned()
}
