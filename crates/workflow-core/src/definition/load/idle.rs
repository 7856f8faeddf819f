//! What a workflow says and nothing uses: openings where nothing is read-only, rule sets.

use std::collections::HashSet;

use crate::definition::model::{OwnRuleSet, Phase, Workflow};
use crate::definition::schema::Reader;
use crate::definition::syntax::Span;
use crate::diagnostic::{Code, Finding, shown};

/// Reports what a phase opens although it is not read-only: it would open nothing, and the rest is open anyway.
pub(super) fn check_phase_openings(
    reader: &mut Reader<'_>,
    workflow: &Workflow,
    phase: &Phase,
    given: &[(&'static str, Option<Span>)],
) {
    if workflow.read_only_in(phase).is_some() {
        return;
    }
    for &(key, span) in given {
        let why = if workflow.is_read_only() {
            "the empty `blacklist` of the phase replaces the `read-only` of the workflow"
        } else {
            "neither the phase nor its workflow is read-only"
        };
        let message = format!("`{key}` has no effect, because {why}");
        let help = if workflow.is_read_only() {
            "remove the `blacklist` from the phase, or write `tools: read-only` there"
        } else {
            "add `tools: read-only` to the phase or to its workflow"
        };
        reader.report(Finding::error(Code::IdleRule, span, message).help(help));
    }
}

/// Reports what a workflow opens although none of its phases is read-only.
pub(super) fn check_workflow_openings(
    reader: &mut Reader<'_>,
    workflow: &Workflow,
    given: &[(&'static str, Option<Span>)],
) {
    let mut phases = workflow.own_phases();
    if workflow.is_read_only() || phases.any(|phase| workflow.read_only_in(phase).is_some()) {
        return;
    }
    for &(key, span) in given {
        let message =
            format!("`{key}` has no effect, because no phase of the workflow is read-only");
        let finding = Finding::error(Code::IdleRule, span, message);
        reader.report(finding.help("add `tools: read-only` to the workflow or to a phase"));
    }
}

/// Reports the rule sets of a workflow that none of its levels uses: their rules never act.
pub(super) fn check_unused_sets(reader: &mut Reader<'_>, workflow: &Workflow, own: &[OwnRuleSet]) {
    let of_phases = workflow.own_phases().flat_map(|phase| &phase.rules);
    let in_force: HashSet<&str> = workflow
        .rules
        .iter()
        .chain(of_phases)
        .map(|rule| &*rule.source)
        .collect();
    for set in own {
        if set
            .source()
            .is_some_and(|source| !in_force.contains(source))
        {
            let name = shown(&set.name);
            let message = format!("the rule set `{name}` is not used: its rules never act");
            let finding = Finding::warning(Code::RuleSet, set.span, message);
            reader.report(finding.help(format!("write `tools: {{use: [{name}]}}`, or remove it")));
        }
    }
}
