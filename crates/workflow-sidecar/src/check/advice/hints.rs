//! A hint about a run as a whole: who may cancel it.

use workflow_core::definition::{CancelBy, Loaded, Rule, RuleAction, Show, Workflow};
use workflow_core::diagnostic::{Code, Diagnostic, Severity, shown};
use workflow_core::explain::phase_tree;

use super::levels::{Levels, SHELL};

/// An approval that the agent can avoid by cancelling, if no rule of the settings holds afterwards.
pub(super) fn cancel_by_agent(
    root: &Workflow,
    levels: &Levels<'_>,
    loaded: &Loaded,
) -> Option<Diagnostic> {
    let forbids = |rule: &Rule| rule.action != RuleAction::Allow && rule.names(SHELL);
    let mut settings = levels.settings().iter();
    let holds = settings.any(|level| level.lists_out(SHELL) || level.rules.iter().any(forbids));
    if holds || root.show != Show::User || root.cancel == Some(CancelBy::User) {
        return None;
    }
    let tree = phase_tree(root, &loaded.catalog);
    let levels = tree.phases().filter_map(|node| levels.of_phase(node));
    let mut phases = levels.filter_map(|level| Some((level, level.phase?)));
    let (level, phase) = phases.find(|(_, phase)| phase.approve.is_some())?;
    let message = format!(
        "the agent may cancel the run before the approval in \"{}\"; then the rules of the run no longer apply",
        shown(&phase.name)
    );
    let found = Diagnostic::new(Code::CancelByAgent, Severity::Info, message).with_help(
        "write `cancel: user` in the workflow, or add a rule that blocks or asks for what needs the approval to `.pi/workflow-sidecar.json5`: those rules apply without a run",
    );
    Some(
        found
            .at(level.keys.of(&["approve"]).cloned())
            .about(&root.key),
    )
}
