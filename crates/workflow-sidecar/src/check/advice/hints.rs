//! Hints about a run as a whole: who may cancel it, and which role text its agent reads.

use workflow_core::definition::{CancelBy, Loaded, Phase, Rule, RuleAction, Show, Workflow};
use workflow_core::diagnostic::{Code, Diagnostic, Severity, shown};
use workflow_core::explain::phase_tree;
use workflow_core::session::{RoleSource, role_source};

use super::levels::{Level, Levels, SHELL, listed};

/// Returns the hints about the runs of a workflow.
pub(super) fn hints(workflow: &Workflow, levels: &Levels<'_>, loaded: &Loaded) -> Vec<Diagnostic> {
    let Some(root) = levels.of_workflow(&workflow.key).next() else {
        return Vec::new();
    };
    if workflow.show != Show::User {
        return Vec::new();
    }
    let tree = phase_tree(workflow, &loaded.catalog);
    let phases: Vec<&Level<'_>> = tree
        .phases()
        .filter_map(|node| levels.of_phase(node))
        .collect();
    let hints = [
        cancel_by_agent(workflow, &phases, levels),
        built_in_role(workflow, root, &phases, levels, loaded),
    ];
    let hints = hints.into_iter().flatten();
    hints.map(|found| found.about(&workflow.key)).collect()
}

/// An approval that the agent can avoid by cancelling, if no rule of the settings holds afterwards.
fn cancel_by_agent(
    root: &Workflow,
    phases: &[&Level<'_>],
    levels: &Levels<'_>,
) -> Option<Diagnostic> {
    let forbids = |rule: &Rule| rule.action != RuleAction::Allow && rule.names(SHELL);
    let mut settings = levels.settings().iter();
    let holds = settings.any(|level| level.lists_out(SHELL) || level.rules.iter().any(forbids));
    if holds || root.cancel == Some(CancelBy::User) {
        return None;
    }
    let mut phases = phases
        .iter()
        .filter_map(|level| Some((level, level.phase?)));
    let (level, phase) = phases.find(|(_, phase)| phase.approve.is_some())?;
    let message = format!(
        "the agent may cancel the run before the approval in \"{}\"; then the rules of the run no longer apply",
        shown(&phase.name)
    );
    let found = Diagnostic::new(Code::CancelByAgent, Severity::Info, message).with_help(
        "write `cancel: user` in the workflow, or add a rule that blocks or asks for what needs the approval to `.pi/workflow-sidecar.json5`: those rules apply without a run",
    );
    Some(found.at(level.keys.of(&["approve"]).cloned()))
}

/// The role text of the npm package, which forbids `edit` and `write`, where a phase allows them.
fn built_in_role<'a>(
    workflow: &Workflow,
    root: &Level<'a>,
    phases: &[&Level<'a>],
    levels: &Levels<'a>,
    loaded: &Loaded,
) -> Option<Diagnostic> {
    if role_source(workflow, &loaded.catalog, &loaded.settings) != RoleSource::Package {
        return None;
    }
    let names = |phase: &Phase| phase.available_profiles.iter().flatten().next().is_some();
    let why = if phases.iter().any(|level| level.phase.is_some_and(names)) {
        "a phase names `availableProfiles`"
    } else {
        "`context` is `every-turn`"
    };
    let opens_none =
        |workflow: Option<&Workflow>| workflow.is_some_and(|of| of.writable.is_empty());
    let is_root_closed = root.is_read_only && opens_none(root.workflow);
    let edits = |level: &&&Level<'a>| {
        let opens = level.phase.is_some_and(|phase| !phase.writable.is_empty());
        let is_closed = level.is_read_only && opens_none(level.workflow) && !opens;
        let is_inside = level.workflow.is_some_and(|own| own.key != workflow.key);
        let mut around = levels.outer(level);
        around.extend([root, **level]);
        let is_blocked = |tool| around.iter().any(|level| level.blocks(tool).is_some());
        let is_closed = is_closed || is_inside && is_root_closed;
        !(is_closed || ["edit", "write"].into_iter().any(is_blocked))
    };
    let editing = phases.iter().filter(edits).filter_map(|level| level.phase);
    let editing: Vec<&Phase> = editing.collect();
    editing.first()?;
    let message = format!(
        "the agent reads that it is an orchestrator and must not use `edit` and `write` itself, because {why} and there is no \
         `roleInstruction`; the tools are allowed in {}",
        listed(&editing)
    );
    let found = Diagnostic::new(Code::BuiltInRole, Severity::Info, message)
        .with_help("add a `roleInstruction` that says who changes files, or block `edit` and `write` in these phases");
    Some(found.at(root.keys.of(&["phases"]).cloned()))
}
