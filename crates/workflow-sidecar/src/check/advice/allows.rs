//! Rules that allow and change nothing: nothing blocks the tool, or an outer level blocks it nevertheless.

use workflow_core::definition::{
    KeyLocations, Loaded, Origins, PhaseEntry, RuleAction, Tier, Workflow,
};
use workflow_core::diagnostic::{Code, Diagnostic, Severity, shown};

use super::levels::{RuleLevel, SHELL};

/// Finds the rules that allow and change nothing.
pub(super) fn idle(loaded: &Loaded, origins: &Origins<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let settings = RuleLevel::of_settings(&loaded.settings);
    for origin in origins.settings() {
        let at = match origin.tier {
            Tier::Global => 0,
            Tier::Project => 1,
        };
        found.extend(of_level(&settings[at], &settings[..at], &origin.keys));
    }
    for workflow in loaded.catalog.iter() {
        let Some(origin) = origins.workflow(&workflow.key) else {
            continue;
        };
        let mut outer = settings.clone();
        let around = around(workflow, loaded);
        outer.extend(around.into_iter().map(RuleLevel::of_workflow));
        let own = RuleLevel::of_workflow(workflow);
        let mut about = of_level(&own, &outer, &origin.keys);
        outer.push(own);
        for (entry, entry_origin) in workflow.phases.iter().zip(&origin.entries) {
            if let PhaseEntry::Phase(phase) = entry {
                let mut levels = RuleLevel::of_phase(phase, workflow, &loaded.settings);
                let own = levels.pop().expect("a phase is a level");
                about.extend(of_level(&own, &outer, &entry_origin.keys));
            }
        }
        let key = &workflow.key;
        found.extend(about.into_iter().map(|found| found.about(key)));
    }
    found
}

/// Returns the workflows that contain a workflow, in however many steps.
fn around<'l>(workflow: &Workflow, loaded: &'l Loaded) -> Vec<&'l Workflow> {
    let contains = |outer: &Workflow, key: &str| outer.subworkflows().any(|inner| inner.key == key);
    let mut found: Vec<&Workflow> = Vec::new();
    let mut keys = vec![workflow.key.clone()];
    while let Some(key) = keys.pop() {
        for outer in loaded.catalog.iter().filter(|outer| contains(outer, &key)) {
            if !found.iter().any(|known| known.key == outer.key) {
                found.push(outer);
                keys.push(outer.key.clone());
            }
        }
    }
    found
}

/// Finds the rules of a level that allow and change nothing.
fn of_level(
    level: &RuleLevel<'_>,
    outer: &[RuleLevel<'_>],
    keys: &KeyLocations,
) -> Vec<Diagnostic> {
    let rules = level.rules.iter().enumerate();
    let allows = rules.filter(|(_, rule)| rule.action == RuleAction::Allow);
    let found = allows.flat_map(|(at, rule)| {
        let location = keys.of_item(["tools", "rules"], at);
        let mut found = Vec::new();
        let mut idle: Vec<&str> = Vec::new();
        let is_reached = |tool: &&String| {
            let before = &level.rules[..at];
            !before
                .iter()
                .any(|rule| rule.is_unconditional() && rule.names(tool))
        };
        for tool in rule.tools.iter().filter(is_reached) {
            let overruled = outer
                .iter()
                .find_map(|outer| Some((outer, outer.overrules(tool, rule)?)));
            if let Some((outer, why)) = overruled.filter(|_| !tool.contains('*')) {
                found.push(overruled_allow(tool, outer, &why));
            } else if !acts(level, at, tool) && !is_intended(level, outer, at, tool) {
                idle.push(tool);
            }
        }
        if !idle.is_empty() {
            found.push(idle_allow(&idle, level));
        }
        found.into_iter().map(move |found| match location {
            Some(location) => found.at(location.clone()),
            None => found,
        })
    });
    found.collect()
}

/// Returns true if a rule allows calls that its level would not.
fn acts(level: &RuleLevel<'_>, at: usize, tool: &str) -> bool {
    let any_tool = tool.contains('*');
    let list = if any_tool {
        level.list.is_some()
    } else {
        level.lists_out(tool)
    };
    let mut later = level.rules[at + 1..].iter();
    list || level.is_read_only
        || later.any(|rule| rule.action != RuleAction::Allow && (any_tool || rule.names(tool)))
}

/// Returns true if a rule says that the shell may write where other tools may not.
fn is_intended(level: &RuleLevel<'_>, outer: &[RuleLevel<'_>], at: usize, tool: &str) -> bool {
    let blocks_writing = |level: &RuleLevel<'_>| {
        ["edit", "write"]
            .iter()
            .any(|tool| level.blocks(tool).is_some())
    };
    tool == SHELL
        && level.rules[at].is_unconditional()
        && (blocks_writing(level) || outer.iter().any(blocks_writing))
}

fn idle_allow(tools: &[&str], level: &RuleLevel<'_>) -> Diagnostic {
    let names: Vec<String> = tools
        .iter()
        .map(|tool| format!("`{}`", shown(tool)))
        .collect();
    let message = format!(
        "`allow` has no effect: nothing in {} blocks {}",
        level.name,
        names.join(" or ")
    );
    let list: Vec<String> = tools.iter().map(|tool| shown(tool)).collect();
    let list = match &*list {
        [tool] if tool == "*" => "\"*\"".to_owned(),
        [tool] => tool.clone(),
        _ => format!("[{}]", list.join(", ")),
    };
    Diagnostic::new(Code::IdleAllow, Severity::Warning, message).with_help(format!(
        "add the rule `block: {list}` after it, so that only this is allowed; or remove it"
    ))
}

fn overruled_allow(tool: &str, outer: &RuleLevel<'_>, why: &str) -> Diagnostic {
    let message = format!("`allow` of `{}` has no effect: {why}", shown(tool));
    Diagnostic::new(Code::OverruledAllow, Severity::Warning, message).with_help(format!(
        "an inner level cannot allow what an outer one blocks: move this rule to {}, before the rules that block",
        outer.name
    ))
}
