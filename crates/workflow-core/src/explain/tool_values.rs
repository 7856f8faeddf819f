//! The values on tools: lists, openings, rules, and changes to results.

use crate::definition::{Tier, ToolAccess};
use crate::policy::rules::{
    Description, LevelRules, RuleSource, allowed_by_list, builtin_rule, describe_rule,
};
use crate::policy::{STEP_TOOL, ToolList};
use crate::session::phase::{level_names, levels};

use super::origin_lookup::OriginLookup;
use super::row::{Origin, OriginKind, Row, Topic, Value};
use super::rows::Rows;

/// Calls that may run, and changes of results.
pub(super) fn of_phase(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let mut rows = Rows::of(Topic::Tools);
    restrictions(lookup, &mut rows);
    rows.add("always", Value::Names(vec![STEP_TOOL.to_owned()]), None);
    if let Some(allowed) = allowed_by_phase(lookup) {
        let template = &lookup.position.root().templates.block_reason_template;
        let origin = lookup.root(template.is_some(), "blockReasonTemplate");
        let reason = lookup.resolved.list_reason("{toolName}", &allowed);
        rows.text("blockReason", reason, origin);
    }
    openings(lookup, &mut rows);
    outer_lists(lookup, &mut rows);
    let built_in = Origin {
        kind: OriginKind::BuiltIn,
        location: None,
    };
    rows.label("block", builtin_rule::FORBIDS, built_in);
    rules(lookup, &mut rows);
    results(lookup, &mut rows);
    repeated_denials(lookup, &mut rows);
    in_force(lookup, &mut rows);
    rows.finish()
}

/// The tools that the phase allows and blocks.
fn restrictions(lookup: &OriginLookup<'_>, rows: &mut Rows) {
    let all = |text: &str| Value::Label(text.to_owned());
    let (own, phase) = (lookup.position.own_workflow(), lookup.position.phase);
    let mut restrictions = Vec::new();
    if own.read_only_in(phase).is_some() {
        let source = match &phase.tools {
            Some(ToolAccess::ReadOnly { .. }) => RuleSource::Phase,
            Some(ToolAccess::Blacklist(_) | ToolAccess::Whitelist(_)) | None => {
                RuleSource::Workflow(&own.key)
            }
        };
        restrictions.push((
            all("read-only: what changes nothing"),
            all("what changes files"),
            lookup.key_of(source, &["tools"]),
        ));
    }
    match &phase.tools {
        None | Some(ToolAccess::ReadOnly { .. }) => {}
        Some(ToolAccess::Blacklist(names)) => restrictions.push((
            all("all others"),
            Value::Names(names.clone()),
            lookup.phase(&["tools", "blacklist"]),
        )),
        Some(ToolAccess::Whitelist(names)) => restrictions.push((
            Value::Names(names.clone()),
            all("all others"),
            lookup.phase(&["tools", "whitelist"]),
        )),
    }
    if restrictions.is_empty() {
        restrictions.push((all("all"), Value::None, Origin::default_value()));
    }
    for (allowed, blocked, origin) in restrictions {
        rows.add("allowed", allowed, origin.clone());
        rows.add("blocked", blocked, origin);
    }
}

/// The tools that the list of the phase allows, as the reason of a call that it blocks says.
fn allowed_by_phase(lookup: &OriginLookup<'_>) -> Option<String> {
    ToolList::new(lookup.position.phase.tools.as_ref()).allowed()?;
    let names = level_names(lookup.position);
    let phase = levels(lookup.position, lookup.settings, &names).last()?;
    allowed_by_list(&phase)
}

/// The paths and commands that are open although the phase is read-only, and the decision on unknown commands.
fn openings(lookup: &OriginLookup<'_>, rows: &mut Rows) {
    let (own, phase) = (lookup.position.own_workflow(), lookup.position.phase);
    let openings = [
        (RuleSource::Workflow(&own.key), &own.writable, &own.commands),
        (RuleSource::Phase, &phase.writable, &phase.commands),
    ];
    for (source, writable, run) in openings {
        for (key, values) in [("writable", writable), ("commands", run)] {
            if own.read_only_in(phase).is_some() && !values.is_empty() {
                let origin = lookup.key_of(source, &[key]);
                rows.add(key, Value::Names(values.clone()), origin);
            }
        }
    }
    let names = level_names(lookup.position);
    for level in levels(lookup.position, lookup.settings, &names) {
        if let Some(action) = level.unknown {
            let origin = lookup.key_of(level.source, &["unknown"]);
            rows.label("unknown", action.word(), origin);
        }
    }
}

/// The lists of the levels around the phase.
fn outer_lists(lookup: &OriginLookup<'_>, rows: &mut Rows) {
    let names = level_names(lookup.position);
    let outer = levels(lookup.position, lookup.settings, &names)
        .filter(|level| level.source != RuleSource::Phase);
    for level in outer {
        let origin = lookup.list(level.source, level.tools);
        // The rules have rows of their own.
        let list = [LevelRules {
            rules: &[],
            ..level
        }];
        if let Some(text) = Description::of(&list).text() {
            rows.label("allowedAround", text, origin);
        }
    }
}

/// All of it together, as the agent reads it.
fn in_force(lookup: &OriginLookup<'_>, rows: &mut Rows) {
    let names = level_names(lookup.position);
    let levels: Vec<_> = levels(lookup.position, lookup.settings, &names).collect();
    let text = Description::of(&levels).text();
    rows.label("inForce", text.unwrap_or_else(|| "all".to_owned()), None);
}

/// The rules of all levels, outer first: the strictest level decides.
fn rules(lookup: &OriginLookup<'_>, rows: &mut Rows) {
    let names = level_names(lookup.position);
    for level in levels(lookup.position, lookup.settings, &names) {
        for rule in level.rules {
            let origin = Origin::at(level.source, &rule.source);
            rows.label(rule.action.word(), describe_rule(rule), origin);
        }
    }
}

/// What the levels around the phase say of a call that is denied again and again: the strictest applies.
fn repeated_denials(lookup: &OriginLookup<'_>, rows: &mut Rows) {
    let key = ["onRepeat"];
    for (said, origin) in lookup.around(false, &key, |said| said.on_repeat, |said| said.on_repeat) {
        rows.label("onRepeat", said.word(), origin);
    }
}

/// The rules on results, outer levels first.
fn results(lookup: &OriginLookup<'_>, rows: &mut Rows) {
    let settings = lookup.settings;
    let outer = [
        (RuleSource::Settings(Tier::Global), &settings.user.results),
        (
            RuleSource::Settings(Tier::Project),
            &settings.project.results,
        ),
    ];
    let workflows = lookup.position.levels.iter().map(|level| level.workflow);
    let workflows = workflows.map(|own| (RuleSource::Workflow(&own.key), &own.results));
    let phase = [(RuleSource::Phase, &lookup.position.phase.results)];
    for (whose, rules) in outer.into_iter().chain(workflows).chain(phase) {
        for rule in rules {
            rows.label("results", rule.describe(), Origin::at(whose, &rule.source));
        }
    }
}
