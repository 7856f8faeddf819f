//! The values of a phase, a function a topic.
//!
//! A new guard of the engine is a new row here: its value from the resolved phase, its origin from
//! the first level that has it.

use crate::definition::{
    Bound, ContextMode, OnLimit, OnStop, RuleAction, Tier, ToolAccess, UnknownAction,
};
use crate::diagnostic::shown;
use crate::policy::rules::{
    Description, LevelRules, RuleSource, allowed_by_list, builtin_rule, describe_rule,
};
use crate::policy::{STEP_TOOL, ToolList};
use crate::run::{
    Mover, Position, RunProgress, RunState, TransitionError, Values, cancel, in_order, repeat,
};
use crate::session::announcement;
use crate::session::commands::{initial_message, session_name};
use crate::session::phase::{all_profiles, level_names, levels};
use crate::text;

use super::flow_values;
use super::origin_lookup::OriginLookup;
use super::row::{Origin, OriginKind, Row, Topic, Value};
use super::turn_values;

/// The values of a phase.
pub(super) fn of_phase(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let sections = [
        phase,
        tools,
        context,
        auto_continue,
        phase_exit,
        moves,
        flow_values::of_phase,
        turn_values::of_phase,
        end,
    ];
    sections
        .iter()
        .flat_map(|section| section(lookup))
        .collect()
}

/// The values of a workflow that apply in all its phases.
pub(super) fn of_workflow(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let everywhere = |row: &Row| match row.topic {
        Topic::Context => matches!(row.key, "mode" | "roleInstruction" | "advanceReminder"),
        Topic::Start | Topic::End => true,
        Topic::Tools => is_said_around(row, &lookup.position.root().key),
        Topic::Phase | Topic::Continue | Topic::Moves | Topic::Flow | Topic::Turns => false,
    };
    let mut rows = start(lookup);
    rows.extend(tools(lookup).into_iter().filter(everywhere));
    rows.extend(context(lookup).into_iter().filter(everywhere));
    rows.extend(flow_values::of_workflow(lookup));
    rows.extend(turn_values::of_workflow(lookup));
    rows.extend(end(lookup));
    rows
}

/// Returns true if the origin is the settings or the workflow of this key.
fn is_said_around(row: &Row, root: &str) -> bool {
    match row.origin.as_ref().map(|origin| &origin.kind) {
        Some(OriginKind::Settings(_)) => true,
        Some(OriginKind::Workflow(key)) => key == root && row.key != "blockReason",
        Some(OriginKind::Default | OriginKind::Phase | OriginKind::BuiltIn) | None => false,
    }
}

fn row(topic: Topic, key: &'static str, value: Value, origin: impl Into<Option<Origin>>) -> Row {
    Row {
        topic,
        key,
        value,
        origin: origin.into(),
    }
}

fn start(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let root = lookup.position.root();
    let said = Some(());
    let word = |text: &str| Value::Label(text.to_owned());
    let description = &lookup.state.task_description;
    let mut rows = vec![row(
        Topic::Start,
        "name",
        word(&root.name),
        lookup.root(said, "name"),
    )];
    if !root.command_name.is_empty() {
        let command = format!("/workflow {} {description}", root.command_name);
        rows.push(row(
            Topic::Start,
            "command",
            Value::Label(command),
            lookup.root(said, "commandName"),
        ));
    }
    let prefix = root.session_name_prefix.as_ref();
    let length = root.session_name_max_length.map(|_| ());
    let named_by = if prefix.is_some() {
        "sessionNamePrefix"
    } else {
        "sessionNameMaxLength"
    };
    rows.extend([
        row(
            Topic::Start,
            "sessionName",
            Value::Label(session_name(root, description)),
            lookup.root(prefix.map(|_| ()).or(length), named_by),
        ),
        row(
            Topic::Start,
            "initialMessage",
            Value::Text(initial_message(
                root,
                lookup.catalog,
                &Values::default(),
                description,
            )),
            lookup.root(
                (!root.initial_message.is_empty()).then_some(()),
                "initialMessage",
            ),
        ),
    ]);
    rows
}

fn phase(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let phase = &lookup.resolved.phase;
    let word = |text: &str| Value::Label(text.to_owned());
    let profiles = phase.available_profiles.as_ref();
    let by_phase = |said: bool, key: &str| {
        if said {
            lookup.phase(&[key])
        } else {
            Origin::default_value()
        }
    };
    vec![
        row(Topic::Phase, "id", word(&phase.id), lookup.phase(&["id"])),
        row(
            Topic::Phase,
            "name",
            word(&phase.name),
            lookup.phase(&["name"]),
        ),
        row(
            Topic::Phase,
            "emoji",
            word(&phase.emoji),
            lookup.phase(&["emoji"]),
        ),
        row(
            Topic::Phase,
            "instructions",
            Value::Part(phase.instructions.clone()),
            lookup.phase(&["instructions"]),
        ),
        row(
            Topic::Phase,
            "availableProfiles",
            Value::Names(profiles.cloned().unwrap_or_default()),
            by_phase(profiles.is_some(), "availableProfiles"),
        ),
        row(Topic::Phase, "status", word(&lookup.resolved.status), None),
    ]
}

fn tools(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let all = |text: &str| Value::Label(text.to_owned());
    let (own, phase) = (lookup.position.own_workflow(), lookup.position.phase);
    let (allowed, blocked, origin) = match &phase.tools {
        _ if own.read_only_in(phase).is_some() => {
            let source = if phase.has_tools() {
                RuleSource::Phase
            } else {
                RuleSource::Workflow(&own.key)
            };
            (
                all("read-only: what changes nothing"),
                all("what changes files"),
                lookup.key_of(source, &["tools"]),
            )
        }
        None | Some(ToolAccess::ReadOnly { .. }) => {
            (all("all"), Value::None, Origin::default_value())
        }
        Some(ToolAccess::Blacklist(names)) => (
            all("all others"),
            Value::Names(names.clone()),
            lookup.phase(&["tools", "blacklist"]),
        ),
        Some(ToolAccess::Whitelist(names)) => (
            Value::Names(names.clone()),
            all("all others"),
            lookup.phase(&["tools", "whitelist"]),
        ),
    };
    let mut rows = vec![
        row(Topic::Tools, "allowed", allowed, origin.clone()),
        row(Topic::Tools, "blocked", blocked, origin),
        row(
            Topic::Tools,
            "always",
            Value::Names(vec![STEP_TOOL.to_owned()]),
            None,
        ),
    ];
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

/// What the list of the phase allows, as the reason of a call that it blocks says.
fn allowed_by_phase(lookup: &OriginLookup<'_>) -> Option<String> {
    ToolList::new(lookup.position.phase.tools.as_ref()).allowed()?;
    let names = level_names(lookup.position);
    let phase = levels(lookup.position, lookup.settings, &names).last()?;
    allowed_by_list(&phase)
}

/// What may be written and run although the phase is read-only, and the decision on unknown commands.
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

/// The gate, the approval and the outcomes with which the phase is left.
fn phase_exit(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let phase = lookup.position.phase;
    let gates = phase.gate.iter().map(|gate| {
        let requirement = gate.check.requirement(shown);
        let value = match &gate.on_fail {
            Some(id) => format!("{requirement}, otherwise → {}", shown(id)),
            None => requirement,
        };
        row(
            Topic::Moves,
            "gate",
            Value::Label(value),
            Origin::at(RuleSource::Phase, &gate.source),
        )
    });
    let approval = phase.approve.iter().map(|approval| {
        row(
            Topic::Moves,
            "approve",
            Value::Label(approval.describe()),
            Origin::at(RuleSource::Phase, &approval.source),
        )
    });
    let outcomes = phase.outcomes.iter().map(|outcome| {
        row(
            Topic::Moves,
            "outcome",
            Value::Label(format!("{} → {}", outcome.name, outcome.to)),
            lookup.phase(&["outcomes"]),
        )
    });
    gates.chain(approval).chain(outcomes).collect()
}

fn context(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let root = lookup.position.root();
    let templates = &root.templates;
    let part = |own: Option<&String>, default: &str| {
        Value::Part(own.map_or(default, String::as_str).to_owned())
    };
    let mode = match lookup.resolved.context_mode {
        ContextMode::ByChange => "by-change",
        ContextMode::EveryTurn => "every-turn",
    };
    let (role, advance) = (
        templates.role_instruction.as_ref(),
        templates.advance_reminder.as_ref(),
    );
    vec![
        row(
            Topic::Context,
            "mode",
            Value::Label(mode.to_owned()),
            lookup.context_mode(root.context),
        ),
        row(
            Topic::Context,
            "roleInstruction",
            Value::Part(lookup.resolved.role.clone()),
            lookup.root(role, "roleInstruction"),
        ),
        row(
            Topic::Context,
            "advanceReminder",
            part(advance, text::ADVANCE_REMINDER),
            lookup.root(advance, "advanceReminder"),
        ),
        row(
            Topic::Context,
            "allProfiles",
            Value::Names(all_profiles(root, lookup.catalog)),
            None,
        ),
        row(
            Topic::Context,
            "message",
            Value::Text(lookup.resolved.context.in_full()),
            None,
        ),
        row(
            Topic::Context,
            "inBetween",
            Value::Label(lookup.resolved.context.line()),
            None,
        ),
    ]
}

fn auto_continue(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let rule = lookup.resolved.auto_continue;
    let on_stop = |what: OnStop| match what {
        OnStop::Pause => "pause",
        OnStop::Continue => "continue",
    };
    let on_limit = match rule.on_limit {
        OnLimit::Pause => "park",
        OnLimit::Cancel => "cancel",
    };
    let word = |text: &str| Value::Label(text.to_owned());
    let or_default = |origin: Option<Origin>| origin.unwrap_or_else(Origin::default_value);
    // Without a bound the others are off too, unless they are set: then the origin is that of `max`.
    let with_max = |origin: Option<Origin>| {
        origin.unwrap_or_else(|| match rule.max {
            Bound::Unlimited => or_default(lookup.continue_rule("max", |rule| rule.max)),
            Bound::Times(_) => Origin::default_value(),
        })
    };
    let row = |key, value, origin: Origin| row(Topic::Continue, key, value, origin);
    let reminder = lookup.position.root().templates.not_done_reminder.as_ref();
    vec![
        row(
            "wait",
            Value::Flag(rule.wait),
            or_default(lookup.continue_rule("wait", |rule| rule.wait)),
        ),
        row(
            "max",
            bound(rule.max),
            or_default(lookup.continue_rule("max", |rule| rule.max)),
        ),
        row(
            "maxStale",
            bound(rule.max_stale),
            with_max(lookup.continue_rule("maxStale", |rule| rule.max_stale)),
        ),
        row(
            "onError",
            word(on_stop(rule.on_error)),
            with_max(lookup.continue_rule("onError", |rule| rule.on_error)),
        ),
        row(
            "onQuestion",
            word(on_stop(rule.on_question)),
            with_max(lookup.continue_rule("onQuestion", |rule| rule.on_question)),
        ),
        row(
            "onLimit",
            word(on_limit),
            or_default(lookup.continue_rule("onLimit", |rule| rule.on_limit)),
        ),
        row(
            "countdown",
            Value::Count(rule.countdown.into()),
            or_default(lookup.continue_rule("countdown", |rule| rule.countdown)),
        ),
        row(
            "reminder",
            Value::Text(lookup.resolved.reminder.text(true).to_owned()),
            lookup.root(reminder, "notDoneReminder"),
        ),
    ]
}

fn bound(bound: Bound) -> Value {
    match bound {
        Bound::Times(times) => Value::Count(times.into()),
        Bound::Unlimited => Value::Label("unlimited".to_owned()),
    }
}

fn moves(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let progress = RunProgress::from(lookup.state.clone());
    let (next, next_origin) = match in_order(lookup.state, lookup.catalog) {
        _ if !lookup.position.phase.outcomes.is_empty() => ("as the outcome says".to_owned(), None),
        Some(path) => {
            let origin = lookup.entry(&path);
            let state = RunState {
                current_path: path,
                ..lookup.state.clone()
            };
            (next_phase(lookup, &state), Some(origin))
        }
        None => ("the end of the run".to_owned(), None),
    };
    let again = match repeat(&progress, Mover::Person, lookup.catalog) {
        Ok(again) => phase_at(lookup, &again.state),
        Err(
            refusal @ (TransitionError::NotLoopable
            | TransitionError::NoneApplies
            | TransitionError::Limit(_)),
        ) => format!("refused: {refusal}"),
        Err(TransitionError::Stale(stale)) => stale.to_string(),
    };
    vec![
        row(Topic::Moves, "next", Value::Label(next), next_origin),
        row(
            Topic::Moves,
            "loop",
            Value::Label(again),
            lookup.scope("loopable"),
        ),
    ]
}

/// Returns the phase that follows, with the conditions under which it is entered.
fn next_phase(lookup: &OriginLookup<'_>, state: &RunState) -> String {
    let name = phase_at(lookup, state);
    let Ok(position) = Position::of(state, lookup.catalog) else {
        return name;
    };
    let (to, from) = (&state.current_path, &lookup.state.current_path);
    let is_entered = |depth: &usize| {
        let to = to.segments().get(..=*depth);
        to != from.segments().get(..=*depth)
    };
    let entered = (0..position.levels.len()).filter(is_entered);
    let conditions = entered.flat_map(|depth| position.levels[depth].conditions());
    match flow_values::conditions(conditions) {
        conditions if conditions.is_empty() => name,
        conditions => format!("{name}, if {conditions}; otherwise it is skipped"),
    }
}

/// Returns the current phase of a state, with the scopes around it.
fn phase_at(lookup: &OriginLookup<'_>, state: &RunState) -> String {
    Position::of(state, lookup.catalog).map_or_else(
        |stale| stale.to_string(),
        |position| {
            format!(
                "{} {} in {}",
                position.phase.emoji,
                position.phase.name,
                position.breadcrumb()
            )
        },
    )
}

fn end(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let templates = &lookup.position.root().templates;
    let completion = templates.completion_message.as_ref();
    let own = templates.cancelled_message.as_ref();
    let done = RunState {
        active: false,
        ..lookup.state.clone()
    };
    let cancelled = cancel(lookup.state);
    let cancelled_by = if own.is_some() {
        "cancelledMessage"
    } else {
        "completionMessage"
    };
    vec![
        row(
            Topic::End,
            "completionMessage",
            Value::Text(announcement::ended(&done.into(), lookup.catalog)),
            lookup.root(completion, "completionMessage"),
        ),
        row(
            Topic::End,
            "cancelledMessage",
            Value::Text(announcement::ended(
                &cancelled.clone().into(),
                lookup.catalog,
            )),
            lookup.root(own.or(completion), cancelled_by),
        ),
        row(
            Topic::End,
            "cancelledByCommand",
            Value::Text(announcement::cancelled_by_command(
                &cancelled.into(),
                lookup.catalog,
            )),
            lookup.root(own, "cancelledMessage"),
        ),
    ]
}
