//! The values on tools: lists, openings, rules, and changes to results.

use std::borrow::Cow;

use crate::definition::{Opening, ToolAccess};
use crate::policy::STEP_TOOL;
use crate::policy::rules::{
    Description, LevelRules, RuleSource, allowed_by_list, builtin_rule, describe_rule,
};
use crate::session::phase::{levels, result_levels};

use super::row::{Origin, OriginKind, Topic, Value};
use super::rows::Rows;

/// Calls that may run, and changes of results.
pub(super) fn tools(rows: &mut Rows<'_>) {
    rows.topic = Topic::Tools;
    let (position, settings) = (rows.position, &rows.loaded.settings);
    let (own, phase) = (position.own_workflow(), position.phase);
    let levels: Vec<LevelRules<'_>> = levels(position, settings.guards()).collect();
    restrictions(rows);
    rows.add("always", Value::Names(vec![STEP_TOOL.to_owned()]), None);
    let has_list = phase.tools.as_ref().and_then(ToolAccess::allowed).is_some();
    let allowed = levels.last().filter(|_| has_list).and_then(allowed_by_list);
    if let Some(allowed) = allowed {
        let reason = rows.resolved.list_reason("{toolName}", &allowed);
        rows.add_text("blockReason", reason, &["blockReasonTemplate"]);
    }
    if own.read_only_in(phase).is_some() {
        for (source, opened) in [
            (RuleSource::Workflow(&own.key), &own.commands),
            (RuleSource::Phase, &phase.commands),
        ] {
            rows.add_key(source, "writable");
            for (row, are_tools) in [("commands", false), ("openedTools", true)] {
                let opened = opened.iter();
                let opened = opened.filter(|it| matches!(it, Opening::Tool(_)) == are_tools);
                let opened: Vec<String> = opened.flat_map(Opening::patterns).cloned().collect();
                if !opened.is_empty() {
                    let origin = rows.origin(source, &["commands"]);
                    rows.add(row, Value::Names(opened), origin);
                }
            }
        }
    }
    for level in &levels {
        if let Some(action) = level.unknown {
            let origin = rows.origin(level.source, &["unknown"]);
            rows.add("unknown", action.word(), origin);
        }
    }
    for level in levels.iter().filter(|of| of.source != RuleSource::Phase) {
        // The rules have rows of their own, and so has the `read-only` of the workflow itself.
        let is_own = level.source == RuleSource::Workflow(&own.key);
        let read_only = level.read_only.clone().filter(|_| !is_own);
        let list = [LevelRules {
            rules: Cow::Borrowed(&[]),
            tools: level.tools.filter(|_| !is_own || !own.is_read_only()),
            read_only,
            ..level.clone()
        }];
        if let Some(text) = Description(&list).text() {
            let key: &[&str] = match level.tools {
                Some(ToolAccess::Whitelist(_)) => &["tools", "whitelist"],
                Some(ToolAccess::Blacklist(_)) | None => &["tools", "blacklist"],
                Some(ToolAccess::ReadOnly { .. } | ToolAccess::All { .. }) => &["tools"],
            };
            rows.add("allowedAround", text, rows.origin(level.source, key));
        }
    }
    let built_in = Origin::from(OriginKind::BuiltIn);
    rows.add("block", builtin_rule::FORBIDS, built_in);
    // Outer levels first: the strictest decides.
    for level in &levels {
        for rule in level.rules.iter() {
            let origin = Origin::at(level.source, &rule.source);
            rows.add(rule.action.word(), describe_rule(rule), origin);
        }
    }
    let results = result_levels(Some(position), settings.guards());
    for (level, rules) in levels.iter().zip(results) {
        for rule in rules {
            let origin = Origin::at(level.source, &rule.source);
            rows.add("results", rule.describe(), origin);
        }
    }
    for whose in rows.around() {
        rows.add_key(whose, "onRepeat");
    }
    let text = Description(&levels).text();
    rows.add("inForce", text.unwrap_or_else(|| "all".to_owned()), None);
}

/// The tools that the phase allows and blocks.
fn restrictions(rows: &mut Rows<'_>) {
    let (own, phase) = (rows.position.own_workflow(), rows.position.phase);
    let names = |names: &Vec<String>| Value::Names(names.clone());
    let is_read_only = own.read_only_in(phase).is_some();
    if is_read_only {
        let source = match &phase.tools {
            Some(ToolAccess::ReadOnly { .. }) => RuleSource::Phase,
            Some(_) | None => RuleSource::Workflow(&own.key),
        };
        let allowed = "read-only: what changes nothing".into();
        let origin = rows.origin(source, &["tools"]);
        rows.add_tools(allowed, "what changes files".into(), origin);
    }
    let (allowed, blocked, key): (Value, Value, &[&str]) = match &phase.tools {
        None if !is_read_only => {
            return rows.add_tools("all".into(), Value::None, OriginKind::Default.into());
        }
        None | Some(ToolAccess::ReadOnly { .. }) => return,
        Some(ToolAccess::Blacklist(list)) => {
            ("all others".into(), names(list), &["tools", "blacklist"])
        }
        Some(ToolAccess::Whitelist(list)) => {
            (names(list), "all others".into(), &["tools", "whitelist"])
        }
        Some(ToolAccess::All { .. }) if own.is_read_only() => {
            let lifts = "all, which lifts the read-only of the workflow";
            (lifts.into(), Value::None, &["tools"])
        }
        Some(ToolAccess::All { .. }) => ("all".into(), Value::None, &["tools"]),
    };
    let origin = rows.origin(RuleSource::Phase, key);
    rows.add_tools(allowed, blocked, origin);
}
