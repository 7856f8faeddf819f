//! The values of a phase, a function a topic.
//!
//! A new guard of the engine is a new row here: its value from the resolved phase, its origin from
//! the first level that has it.

use crate::definition::{Bound, ContinueRule};
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
use super::row::{Origin, OriginKind, Row, Topic, Value};
use super::rows::Rows;
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
    let description = &lookup.state.task_description;
    let mut rows = Rows::of(Topic::Start);
    rows.label("name", &root.name, lookup.root(true, "name"));
    if !root.command_name.is_empty() {
        let command = start_line(root, description);
        rows.label("command", command, lookup.root(true, "commandName"));
    }
    let (has_prefix, has_length) = (
        root.session_name_prefix.is_some(),
        root.session_name_max_length.is_some(),
    );
    let named_by = if has_prefix {
        "sessionNamePrefix"
    } else {
        "sessionNameMaxLength"
    };
    let origin = lookup.root(has_prefix || has_length, named_by);
    rows.label("sessionName", session_name(root, description), origin);
    let inputs = placeholders::inputs(root);
    let message = initial_message(root, lookup.catalog, &inputs, description);
    let origin = lookup.root(!root.initial_message.is_empty(), "initialMessage");
    rows.text("initialMessage", message, origin);
    rows.finish()
}

fn phase(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let phase = &lookup.resolved.phase;
    let mut rows = Rows::of(Topic::Phase);
    rows.label("id", &phase.id, lookup.phase(&["id"]));
    rows.label("name", &phase.name, lookup.phase(&["name"]));
    rows.label("emoji", &phase.emoji, lookup.phase(&["emoji"]));
    let instructions = Value::Part(phase.instructions.clone());
    rows.add(
        "instructions",
        instructions,
        lookup.phase(&["instructions"]),
    );
    let origin = match phase.available_profiles {
        Some(_) => lookup.phase(&["availableProfiles"]),
        None => Origin::default_value(),
    };
    let profiles = phase.available_profiles.clone().unwrap_or_default();
    rows.add("availableProfiles", Value::Names(profiles), origin);
    rows.label("status", &lookup.resolved.status, None);
    rows.finish()
}

/// The gate, the approval and the outcomes with which the phase is left.
fn phase_exit(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let phase = lookup.position.phase;
    let mut rows = Rows::of(Topic::Moves);
    for gate in &phase.gate {
        let requirement = gate.check.requirement(shown);
        let value = match &gate.on_fail {
            Some(id) => format!("{requirement}, otherwise → {}", shown(id)),
            None => requirement,
        };
        rows.label("gate", value, Origin::at(RuleSource::Phase, &gate.source));
    }
    if let Some(approval) = &phase.approve {
        let origin = Origin::at(RuleSource::Phase, &approval.source);
        rows.label("approve", approval.describe(), origin);
    }
    for outcome in &phase.outcomes {
        let value = format!("{} → {}", outcome.name, outcome.to);
        let origin = lookup.phase(&["outcomes", &outcome.name]);
        rows.label("outcome", value, origin);
    }
    rows.finish()
}

fn context(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let (root, resolved) = (lookup.position.root(), lookup.resolved);
    let templates = &root.templates;
    let mut rows = Rows::of(Topic::Context);
    let mut modes = lookup.around(true, &["context"], |said| said.context, |said| said.context);
    let origin = modes.next().map(|(_, origin)| origin);
    let origin = origin.unwrap_or_else(Origin::default_value);
    rows.label("mode", resolved.context_mode.word(), origin);
    let origin = lookup.root(templates.role_instruction.is_some(), "roleInstruction");
    rows.add(
        "roleInstruction",
        Value::Part(resolved.role.clone()),
        origin,
    );
    let advance = templates.advance_reminder.as_deref();
    let origin = lookup.root(advance.is_some(), "advanceReminder");
    let advance = advance.unwrap_or(text::ADVANCE_REMINDER).to_owned();
    rows.add("advanceReminder", Value::Part(advance), origin);
    let profiles = all_profiles(root, lookup.catalog);
    rows.add("allProfiles", Value::Names(profiles), None);
    rows.text("message", resolved.context.in_full(), None);
    rows.label("inBetween", resolved.context.line(), None);
    rows.finish()
}

fn auto_continue(lookup: &OriginLookup<'_>) -> Vec<Row> {
    let rule = lookup.resolved.auto_continue;
    let origin = |key, is_given: fn(&ContinueRule) -> bool| lookup.continue_rule(key, is_given);
    let or_default = |origin: Option<Origin>| origin.unwrap_or_else(Origin::default_value);
    let of_max = origin("max", |rule| rule.max.is_some());
    // Without a bound the others are off too, unless they are set: then the origin is that of `max`.
    let with_max = |origin: Option<Origin>| match rule.max {
        Bound::Unlimited => or_default(origin.or_else(|| of_max.clone())),
        Bound::Times(_) => or_default(origin),
    };
    let mut rows = Rows::of(Topic::Continue);
    let wait = origin("wait", |rule| rule.wait.is_some());
    rows.add("wait", Value::Flag(rule.wait), or_default(wait));
    rows.add("max", bound(rule.max), or_default(of_max.clone()));
    let stale = origin("maxStale", |rule| rule.max_stale.is_some());
    rows.add("maxStale", bound(rule.max_stale), with_max(stale));
    let on_error = origin("onError", |rule| rule.on_error.is_some());
    rows.label("onError", rule.on_error.word(), with_max(on_error));
    let on_question = origin("onQuestion", |rule| rule.on_question.is_some());
    rows.label("onQuestion", rule.on_question.word(), with_max(on_question));
    let on_limit = origin("onLimit", |rule| rule.on_limit.is_some());
    rows.label("onLimit", rule.on_limit.word(), or_default(on_limit));
    let countdown = origin("countdown", |rule| rule.countdown.is_some());
    rows.add(
        "countdown",
        Value::Count(rule.countdown.into()),
        or_default(countdown),
    );
    let reminder = &lookup.position.root().templates.not_done_reminder;
    let origin = lookup.root(reminder.is_some(), "notDoneReminder");
    rows.text("reminder", lookup.resolved.reminder.text(true), origin);
    rows.finish()
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
    let mut rows = Rows::of(Topic::Moves);
    rows.label("next", next, next_origin);
    rows.label("loop", again, lookup.scope("loopable"));
    rows.finish()
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
    let has_own = templates.cancelled_message.is_some();
    let has_completion = templates.completion_message.is_some();
    // The texts name the values that only a run has.
    let ended = |state| RunProgress {
        data: placeholders::data(lookup.position, lookup.catalog),
        ..RunProgress::from(state)
    };
    let done = RunState {
        active: false,
        ..lookup.state.clone()
    };
    let catalog = lookup.catalog;
    let mut rows = Rows::of(Topic::End);
    let completed = announcement::ended(&ended(done), catalog);
    let origin = lookup.root(has_completion, "completionMessage");
    rows.text("completionMessage", completed, origin);
    let cancelled = ended(cancel(lookup.state));
    let cancelled_by = if has_own {
        "cancelledMessage"
    } else {
        "completionMessage"
    };
    let origin = lookup.root(has_own || has_completion, cancelled_by);
    let message = announcement::ended(&cancelled, catalog);
    rows.text("cancelledMessage", message, origin);
    let message = announcement::cancelled_by_command(&cancelled, catalog);
    let origin = lookup.root(has_own, "cancelledMessage");
    rows.text("cancelledByCommand", message, origin);
    rows.finish()
}
