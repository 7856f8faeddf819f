//! The values on tools: lists, openings, rules, and changes to results.

use crate::definition::{RuleAction, Tier, ToolAccess, UnknownAction};
use crate::policy::rules::{
    Description, LevelRules, RuleSource, allowed_by_list, builtin_rule, describe_rule,
};
use crate::policy::{STEP_TOOL, ToolList};
use crate::session::phase::{level_names, levels};

use super::origin_lookup::OriginLookup;
use super::row::{Origin, OriginKind, Row, Topic, Value, row};

/// Calls that may run, and changes of results.
pub(super) fn of_phase(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let all = |text: &str| Value::Label(text.to_owned());
    let (own, phase) = (lookup.position.own_workflow(), lookup.position.phase);
    let read_only = own.read_only_in(phase).map(|_| {
        let source = match &phase.tools {
            Some(ToolAccess::ReadOnly { .. }) => RuleSource::Phase,
            Some(ToolAccess::Blacklist(_) | ToolAccess::Whitelist(_)) | None => {
                RuleSource::Workflow(&own.key)
            }
        };
        (
            all("read-only: what changes nothing"),
            all("what changes files"),
            lookup.key_of(source, &["tools"]),
        )
    });
    let list = match &phase.tools {
        None | Some(ToolAccess::ReadOnly { .. }) => None,
        Some(ToolAccess::Blacklist(names)) => Some((
            all("all others"),
            Value::Names(names.clone()),
            lookup.phase(&["tools", "blacklist"]),
        )),
        Some(ToolAccess::Whitelist(names)) => Some((
            Value::Names(names.clone()),
            all("all others"),
            lookup.phase(&["tools", "whitelist"]),
        )),
    };
    let mut restrictions: Vec<_> = read_only.into_iter().chain(list).collect();
    if restrictions.is_empty() {
        restrictions.push((all("all"), Value::None, Origin::default_value()));
    }
    let mut rows: Vec<Row> = restrictions
        .into_iter()
        .flat_map(|(allowed, blocked, origin)| {
            [
                row(Topic::Tools, "allowed", allowed, origin.clone()),
                row(Topic::Tools, "blocked", blocked, origin),
            ]
        })
        .collect();
    rows.push(row(
        Topic::Tools,
        "always",
        Value::Names(vec![STEP_TOOL.to_owned()]),
        None,
    ));
    if let Some(allowed) = allowed_by_phase(lookup) {
        let template = lookup
            .position
            .root()
            .templates
            .block_reason_template
            .as_ref();
        let reason = lookup.resolved.list_reason("{toolName}", &allowed);
        rows.push(row(
            Topic::Tools,
            "blockReason",
            Value::Text(reason),
            lookup.root(template, "blockReasonTemplate"),
        ));
    }
    rows.extend(openings(lookup));
    rows.extend(outer_lists(lookup));
    rows.push(own_rule());
    rows.extend(rules(lookup));
    rows.extend(results(lookup));
    rows.push(in_force(lookup));
    rows
}

/// The tools that the list of the phase allows, as the reason of a call that it blocks says.
fn allowed_by_phase(lookup: &OriginLookup<'_>) -> Option<String> {
    ToolList::new(lookup.position.phase.tools.as_ref()).allowed()?;
    let names = level_names(lookup.position);
    let phase = levels(lookup.position, lookup.settings, &names).last()?;
    allowed_by_list(&phase)
}

/// The paths and commands that are open although the phase is read-only, and the decision on unknown commands.
fn openings(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let (own, phase) = (lookup.position.own_workflow(), lookup.position.phase);
    let openings = [
        (RuleSource::Workflow(&own.key), &own.writable, &own.run),
        (RuleSource::Phase, &phase.writable, &phase.run),
    ];
    let mut rows = Vec::new();
    if own.read_only_in(phase).is_some() {
        for (source, writable, run) in openings {
            for (key, values) in [("writable", writable), ("run", run)] {
                if !values.is_empty() {
                    let origin = lookup.key_of(source, &[key]);
                    rows.push(row(Topic::Tools, key, Value::Names(values.clone()), origin));
                }
            }
        }
    }
    let names = level_names(lookup.position);
    rows.extend(
        levels(lookup.position, lookup.settings, &names).filter_map(|level| {
            let action = match level.unknown? {
                UnknownAction::Allow => "allow",
                UnknownAction::Ask => "ask",
                UnknownAction::Block => "block",
            };
            let origin = lookup.key_of(level.source, &["unknown"]);
            let value = Value::Label(action.to_owned());
            Some(row(Topic::Tools, "unknown", value, origin))
        }),
    );
    rows
}

/// The lists of the levels around the phase.
fn outer_lists(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let names = level_names(lookup.position);
    let outer = levels(lookup.position, lookup.settings, &names)
        .filter(|level| level.source != RuleSource::Phase);
    let listed = outer.filter_map(|level| {
        let origin = lookup.list(level.source, level.tools);
        // The rules have rows of their own.
        let list = [LevelRules {
            rules: &[],
            ..level
        }];
        let value = Value::Label(Description::of(&list).text()?);
        Some(row(Topic::Tools, "allowedAround", value, origin))
    });
    listed.collect()
}

/// All of it together, as the agent reads it.
fn in_force(lookup: &OriginLookup<'_>) -> Row {
    let names = level_names(lookup.position);
    let levels: Vec<_> = levels(lookup.position, lookup.settings, &names).collect();
    let text = Description::of(&levels).text();
    let value = Value::Label(text.unwrap_or_else(|| "all".to_owned()));
    row(Topic::Tools, "inForce", value, None)
}

/// The rule that precedes all levels.
fn own_rule() -> Row {
    let origin = Origin {
        kind: OriginKind::BuiltIn,
        location: None,
    };
    let value = Value::Label(builtin_rule::FORBIDS.to_owned());
    row(Topic::Tools, "block", value, origin)
}

/// The rules of all levels, outer first: the strictest level decides.
fn rules(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let names = level_names(lookup.position);
    let of_level = |level: LevelRules<'_>| -> Vec<Row> {
        let rules = level.rules.iter().map(|rule| {
            let key = match rule.action {
                RuleAction::Allow => "allow",
                RuleAction::Ask => "ask",
                RuleAction::Block => "block",
            };
            let value = Value::Label(describe_rule(rule));
            row(
                Topic::Tools,
                key,
                value,
                Origin::at(level.source, &rule.source),
            )
        });
        rules.collect()
    };
    levels(lookup.position, lookup.settings, &names)
        .flat_map(of_level)
        .collect()
}

/// The rules on results, outer levels first.
fn results(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let settings = lookup.settings;
    let outer = [
        (Tier::Global, &settings.user),
        (Tier::Project, &settings.project),
    ];
    let outer = outer.map(|(tier, guards)| (RuleSource::Settings(tier), &guards.results));
    let workflows = lookup.position.levels.iter().map(|level| {
        (
            RuleSource::Workflow(&level.workflow.key),
            &level.workflow.results,
        )
    });
    let phase = [(RuleSource::Phase, &lookup.position.phase.results)];
    let levels = outer.into_iter().chain(workflows).chain(phase);
    let rows = levels.flat_map(|(whose, rules)| {
        rules.iter().map(move |rule| {
            row(
                Topic::Tools,
                "results",
                Value::Label(rule.describe()),
                Origin::at(whose, &rule.source),
            )
        })
    });
    rows.collect()
}
