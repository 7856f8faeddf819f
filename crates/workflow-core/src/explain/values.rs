//! The values of a phase, a function a topic.
//!
//! A new guard of the engine is a new row here: its value from the resolved phase, its origin from
//! the first level that has it.

use crate::definition::{Bound, ContextMode, OnLimit, OnStop};
use crate::diagnostic::shown;
use crate::policy::rules::RuleSource;
use crate::run::{
    Actor, Position, RunProgress, RunState, TransitionError, cancel, in_order, repeat,
};
use crate::session::announcement;
use crate::session::commands::{initial_message, session_name};
use crate::session::inputs::start_line;
use crate::session::phase::all_profiles;
use crate::text;

use super::flow_values;
use super::origin_lookup::OriginLookup;
use super::row::{Origin, OriginKind, Row, Topic, Value, row};
use super::{placeholders, tool_values, turn_values};

/// The values of a phase.
pub(super) fn of_phase(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let sections = [
        phase,
        tool_values::of_phase,
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
        Topic::Tools => is_set_outside_phases(row, &lookup.position.root().key),
        Topic::Phase | Topic::Continue | Topic::Moves | Topic::Flow | Topic::Turns => false,
    };
    let mut rows = start(lookup);
    rows.extend(tool_values::of_phase(lookup).into_iter().filter(everywhere));
    rows.extend(context(lookup).into_iter().filter(everywhere));
    rows.extend(flow_values::of_workflow(lookup));
    rows.extend(turn_values::of_workflow(lookup));
    rows.extend(end(lookup));
    rows
}

/// Returns true if the origin is the settings or the workflow of this key.
fn is_set_outside_phases(row: &Row, root: &str) -> bool {
    match row.origin.as_ref().map(|origin| &origin.kind) {
        Some(OriginKind::Settings(_)) => true,
        Some(OriginKind::Workflow(key)) => key == root && row.key != "blockReason",
        Some(OriginKind::Default | OriginKind::Phase | OriginKind::BuiltIn) | None => false,
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
        let command = start_line(root, description);
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
                &placeholders::inputs(root),
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
            lookup.phase(&["outcomes", &outcome.name]),
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
        OnLimit::Pause => "pause",
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
    let again = match repeat(&progress, Actor::Person, lookup.catalog) {
        Ok(again) => phase_at(lookup, &again.state),
        Err(
            refusal @ (TransitionError::NotLoopable
            | TransitionError::NoneApplies
            | TransitionError::Limit(_)),
        ) => format!("refused: {refusal}"),
        Err(TransitionError::DefinitionMismatch(mismatch)) => mismatch.to_string(),
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
        |mismatch| mismatch.to_string(),
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
    // The texts name the values that only a run has.
    let ended = |state| RunProgress {
        data: placeholders::data(lookup.position, lookup.catalog),
        ..RunProgress::from(state)
    };
    let done = RunState {
        active: false,
        ..lookup.state.clone()
    };
    let cancelled = ended(cancel(lookup.state));
    let cancelled_by = if own.is_some() {
        "cancelledMessage"
    } else {
        "completionMessage"
    };
    vec![
        row(
            Topic::End,
            "completionMessage",
            Value::Text(announcement::ended(&ended(done), lookup.catalog)),
            lookup.root(completion, "completionMessage"),
        ),
        row(
            Topic::End,
            "cancelledMessage",
            Value::Text(announcement::ended(&cancelled, lookup.catalog)),
            lookup.root(own.or(completion), cancelled_by),
        ),
        row(
            Topic::End,
            "cancelledByCommand",
            Value::Text(announcement::cancelled_by_command(
                &cancelled,
                lookup.catalog,
            )),
            lookup.root(own, "cancelledMessage"),
        ),
    ]
}
