//! What a workflow says and nothing uses: openings where nothing is read-only, rule sets.

use std::collections::HashSet;

use super::flow::{Flow, report_in};
use crate::definition::model::{OwnRuleSet, Phase, PhaseEntry};
use crate::definition::schema::{Reader, meant_or};
use crate::diagnostic::{Code, Finding, shown};

/// Reports what a workflow or a phase opens although nothing is read-only there: it would open nothing, and the rest is open
/// anyway. `by_default` is true if the `defaults` of the settings are read-only.
pub(super) fn check_openings(reader: &mut Reader<'_>, flow: &Flow<'_>, by_default: bool) {
    let workflow = flow.workflow;
    let is_read_only =
        |phase: &Phase| workflow.read_only_in(phase).is_some() || by_default && !phase.lifts();
    let phases = flow.phases().map(|(_, phase, sites)| (Some(phase), sites));
    for (phase, sites) in phases.chain([(None, flow.own)]) {
        let (why, help) = match phase {
            Some(phase) if is_read_only(phase) => continue,
            Some(_) if workflow.is_read_only() || by_default => (
                if workflow.is_read_only() {
                    "`tools: all` of the phase lifts the `read-only` of the workflow"
                } else {
                    "`tools: all` of the phase lifts the `read-only` of `defaults`"
                },
                "remove it from the phase, or write `tools: read-only` there",
            ),
            Some(_) => (
                "neither the phase nor its workflow is read-only",
                "add `tools: read-only` to the phase or to its workflow",
            ),
            None if workflow.is_read_only() || workflow.own_phases().any(is_read_only) => continue,
            None => (
                "no phase of the workflow is read-only",
                "add `tools: read-only` to the workflow or to a phase",
            ),
        };
        for &(key, span) in &sites.openings {
            let message = format!("`{key}` has no effect, because {why}");
            let finding = Finding::error(Code::IdleRule, span, message).help(help);
            report_in(reader, sites, finding);
        }
    }
}

/// Reports the rule sets of a workflow that none of its levels uses: their rules never act; and exceptions that are not there.
pub(super) fn check_rule_sets(reader: &mut Reader<'_>, flow: &Flow<'_>, own: &[OwnRuleSet]) {
    let workflow = flow.workflow;
    let ids = workflow.phases.iter().map(PhaseEntry::id);
    let is_there = |name: &str| ids.clone().any(|id| id == name);
    for (name, span) in flow.own.excepted.iter().filter(|(name, _)| !is_there(name)) {
        let name = shown(name);
        let message = format!("`except` names `{name}`, which is no phase of this workflow");
        let finding = Finding::error(Code::RuleSet, *span, message);
        reader.report(finding.help(meant_or(&name, ids.clone(), "remove it")));
    }
    let of_phases = workflow.own_phases().flat_map(|phase| &phase.rules);
    let in_force = workflow.rules.iter().chain(of_phases);
    let in_force: HashSet<&str> = in_force.map(|rule| &*rule.source).collect();
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
