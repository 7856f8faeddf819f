//! Advice about valid definitions: guards that are easy to bypass, and rules that are never reached.
//!
//! Only `check` gives it. It is never an error.

mod allows;
mod hints;
mod hosts;
mod levels;
mod other_tools;

use std::collections::HashSet;

use workflow_core::definition::{KeyLocations, Loaded, Rule, RuleAction, ToolAccess, Workflow};
use workflow_core::diagnostic::{Code, Diagnostic, Severity, few, shown};
use workflow_core::policy::rules::{Known, ReadOnly};

use levels::{Level, Levels, SHELL};
use other_tools::bypassed;

const WRITING: &str = "write";

/// Returns the advice about everything that was loaded from these files, for runs in these hosts as well.
pub(super) fn advice(loaded: &Loaded, hosts: &[&str]) -> Vec<Diagnostic> {
    let levels = Levels::of(loaded);
    let mut found = allows::idle(&levels, loaded);
    found.extend(hosts::limits(hosts, &levels));
    for level in levels.iter() {
        found.extend(unreachable(level));
        found.extend(bypassed(level, &levels));
    }
    for workflow in loaded.catalog.iter() {
        found.extend(free_shell(workflow, &levels));
        found.extend(closed_patterns(workflow, &levels));
        found.extend(hints::cancel_by_agent(workflow, &levels, loaded));
    }
    found
}

/// Finds the rules of a level that are never reached, because an earlier one matches all their calls.
fn unreachable<'a>(level: &'a Level<'_>) -> impl Iterator<Item = Diagnostic> + 'a {
    let rules = level.rules;
    rules.iter().enumerate().filter_map(move |(at, rule)| {
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
        Some(level.at_rule(at, found))
    })
}

/// Finds values of `writable` and `commands` that open nothing, because what commands run might be written.
fn closed_patterns(workflow: &Workflow, levels: &Levels<'_>) -> Vec<Diagnostic> {
    let (mut found, mut known) = (Vec::new(), HashSet::new());
    let own = levels.of_workflow(&workflow.key);
    for level in own.filter(|level| level.is_read_only || level.phase.is_none()) {
        let of_phase = level.phase.map(|of| (&of.writable, &of.commands));
        let (writable, commands) = of_phase.unzip();
        let writable = workflow
            .writable
            .iter()
            .chain(writable.into_iter().flatten());
        let commands = workflow
            .commands
            .iter()
            .chain(commands.into_iter().flatten());
        let mut closed = ReadOnly::new("", writable, commands).closed_patterns();
        closed.retain(|why| known.insert(why.clone()));
        found.extend(closed.iter().map(|(key, why)| {
            let message = why.trim_end_matches('.');
            let found = Diagnostic::new(Code::IdleRule, Severity::Warning, message)
                .with_help("leave this file out of `writable`, or remove the pattern");
            let mut keys = [*key, "commands", "writable"].into_iter();
            let location = keys.find_map(|key| level.keys.of(&[key]));
            level.about(found.at(location.cloned()))
        }));
    }
    found
}

/// Returns true if `write` is blocked in a phase while no list and no rule keeps the shell from writing.
fn shell_is_free<'a>(phase: &Level<'a>, levels: &Levels<'a>) -> bool {
    let mut around = levels.outer(phase);
    around.push(phase);
    // Rules about some paths or all writing are enough, and so is one that allows the shell on purpose.
    let concerns_shell =
        |rule: &&Rule| rule.names(SHELL) && rule.command.is_empty() && rule.input.is_empty();
    let is_settled = |rule: &Rule| match rule.action {
        RuleAction::Allow => rule.is_unconditional(),
        RuleAction::Ask | RuleAction::Block => rule.writes != Some(false),
    };
    let mut rules = around.iter().flat_map(|level| level.rules);
    let is_listed = |level: &&Level<'_>| matches!(level.list, Some(ToolAccess::Blacklist(names)) if names.iter().any(|name| name == WRITING));
    !phase.is_read_only
        && around.iter().any(is_listed)
        && !around.iter().any(|level| level.blocks(SHELL).is_some())
        && !rules.any(|rule| concerns_shell(&rule) && is_settled(rule))
}

/// Returns one diagnostic for all phases of a workflow in which the shell is free.
fn free_shell(workflow: &Workflow, levels: &Levels<'_>) -> Option<Diagnostic> {
    let mut own = levels.of_workflow(&workflow.key);
    let around = own.next()?;
    let free = own.filter(|level| shell_is_free(level, levels));
    let free = free.filter_map(|level| Some((shown(&level.phase?.name), level.keys)));
    let (phases, keys): (Vec<String>, Vec<&KeyLocations>) = free.unzip();
    let message = format!(
        "`{WRITING}` is blocked while `{SHELL}` can change files as well: in {}",
        few(&phases, 4)
    );
    let key = ["tools", "blacklist"];
    let location = keys.first()?.of(&key).or_else(|| around.keys.of(&key));
    let found = Diagnostic::new(Code::FreeShell, Severity::Warning, message);
    Some(around.about(found.at(location.cloned())))
}
