//! Advice about valid definitions: guards that are easy to bypass, and rules that are never reached.
//!
//! Only `check` gives it. It is never an error.

mod allows;
mod hints;
mod hosts;
mod levels;
mod other_tools;
mod phase_list;

use workflow_core::definition::{
    Files, KeyLocations, Loaded, Origins, Phase, PhaseEntry, Rule, RuleAction, Settings, Tier,
    ToolAccess, Workflow,
};
use workflow_core::diagnostic::{Code, Diagnostic, Severity, shown};
use workflow_core::policy::rules::Known;

use levels::{RuleLevel, SHELL};
use other_tools::bypassed;
use phase_list::listed;

use crate::hook_hosts::HookHost;

const WRITING: &str = "write";

/// Returns the advice about everything that was loaded from these files, for runs in these hosts as well.
pub(super) fn advice(
    files: &dyn Files,
    loaded: &Loaded,
    hosts: &[&'static HookHost],
) -> Vec<Diagnostic> {
    let origins = Origins::new(files, loaded);
    let mut found = allows::idle(loaded, &origins);
    found.extend(hosts::limits(hosts, loaded, &origins));
    for settings in origins.settings() {
        let (guards, at) = match settings.tier {
            Tier::Global => (&loaded.settings.user, 0),
            Tier::Project => (&loaded.settings.project, 1),
        };
        found.extend(unreachable(&guards.rules, &settings.keys));
        let levels = RuleLevel::of_settings(&loaded.settings);
        found.extend(bypassed(&levels[..=at], &settings.keys));
    }
    for workflow in loaded.catalog.iter() {
        found.extend(about(workflow, &loaded.settings, &origins));
        found.extend(hints::hints(workflow, loaded, &origins));
    }
    found
}

fn about(workflow: &Workflow, settings: &Settings, origins: &Origins<'_>) -> Vec<Diagnostic> {
    let Some(origin) = origins.workflow(&workflow.key) else {
        return Vec::new();
    };
    let mut found: Vec<Diagnostic> = unreachable(&workflow.rules, &origin.keys).collect();
    let mut levels = RuleLevel::of_settings(settings);
    levels.push(RuleLevel {
        is_read_only: workflow.is_read_only(),
        ..RuleLevel::of_workflow(workflow)
    });
    found.extend(bypassed(&levels, &origin.keys));
    let mut free: Vec<(&Phase, &KeyLocations)> = Vec::new();
    for (entry, origin) in workflow.phases.iter().zip(&origin.entries) {
        let PhaseEntry::Phase(phase) = entry else {
            continue;
        };
        found.extend(unreachable(&phase.rules, &origin.keys));
        let levels = RuleLevel::of_phase(phase, workflow, settings);
        found.extend(bypassed(&levels, &origin.keys));
        if shell_is_free(phase, workflow, settings) {
            free.push((phase, &origin.keys));
        }
    }
    found.extend(free_shell(&free, &origin.keys));
    let key = &workflow.key;
    found.into_iter().map(|found| found.about(key)).collect()
}

/// Finds the rules of a level that are never reached, because an earlier one matches all their calls.
fn unreachable<'a>(
    rules: &'a [Rule],
    keys: &'a KeyLocations,
) -> impl Iterator<Item = Diagnostic> + 'a {
    rules.iter().enumerate().filter_map(|(at, rule)| {
        let before = rules[..at]
            .iter()
            .find(|before| before.covers(rule) == Known::Yes)?;
        let message = format!(
            "the rule at {} is never reached: the one at {} comes first and matches all its calls",
            shown(&rule.source),
            shown(&before.source)
        );
        let found = Diagnostic::new(Code::IdleRule, Severity::Warning, message)
            .with_help("move the narrower rule before it, or remove it");
        Some(match keys.of_item(["tools", "rules"], at) {
            Some(location) => found.at(location.clone()),
            None => found,
        })
    })
}

/// Returns true if `write` is blocked in a phase while no list and no rule keeps the shell from writing.
fn shell_is_free(phase: &Phase, workflow: &Workflow, settings: &Settings) -> bool {
    if workflow.read_only_in(phase).is_some() {
        return false;
    }
    let levels = RuleLevel::of_phase(phase, workflow, settings);
    let blocks_tool = |tool: &str| levels.iter().any(|level| level.blocks(tool).is_some());
    // Rules about some paths or all writing are enough, and so is one that allows the shell on purpose.
    let concerns_shell =
        |rule: &&Rule| rule.names(SHELL) && rule.command.is_empty() && rule.input.is_empty();
    let is_settled = |rule: &Rule| match rule.action {
        RuleAction::Allow => rule.is_unconditional(),
        RuleAction::Ask | RuleAction::Block => rule.writes != Some(false),
    };
    let rules = levels.iter().flat_map(|level| level.rules);
    let is_listed = |level: &RuleLevel<'_>| matches!(level.list, Some(ToolAccess::Blacklist(names)) if names.iter().any(|name| name == WRITING));
    levels.iter().any(is_listed)
        && !blocks_tool(SHELL)
        && !rules.filter(concerns_shell).any(is_settled)
}

/// Returns one diagnostic for all phases of a workflow in which the shell is free.
fn free_shell(free: &[(&Phase, &KeyLocations)], workflow: &KeyLocations) -> Option<Diagnostic> {
    let (_, first) = free.first()?;
    let phases: Vec<&Phase> = free.iter().map(|(phase, _)| *phase).collect();
    let message = format!(
        "`{WRITING}` is blocked while `{SHELL}` can change files as well: in {}",
        listed(&phases)
    );
    let found = Diagnostic::new(Code::FreeShell, Severity::Warning, message);
    let key = ["tools", "blacklist"];
    Some(match first.of(&key).or_else(|| workflow.of(&key)) {
        Some(location) => found.at(location.clone()),
        None => found,
    })
}
