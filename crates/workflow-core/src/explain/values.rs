//! The values of a phase, a function a topic.
//!
//! A scalar key of a phase without a row here is shown as it is written.

use crate::definition::{
    Bound, Budget, CancelBy, Condition, Declared, Parameter, Phase, PhaseEntry, Subworkflow,
    Target, Tier, value_text,
};
use crate::diagnostic::shown;
use crate::policy::rules::{Description, RuleSource};
use crate::run::{
    Actor, Path, Position, RunProgress, RunState, TransitionError, cancel, in_order, repeat,
};
use crate::session::announcement;
use crate::session::commands::session_name;
use crate::session::inputs::start_line;
use crate::session::phase::door_levels;
use crate::session::phase_texts::all_profiles;
use crate::text;

use super::placeholders;
use super::row::{Origin, OriginKind, Row, Topic, Value};
use super::rows::Rows;
use super::tools::tools;

const PHASE: RuleSource<'static> = RuleSource::Phase;
/// Keys of a phase with a row of another name.
const HAVE_OTHER_ROWS: [&str; 5] = ["continue", "onLimit", "outcomes", "outputs", "tools"];
/// Those with a row only where they have an effect.
const HAVE_ROWS_AT_TIMES: [&str; 4] = ["activeTools", "budget", "commands", "writable"];

/// The values of a phase.
pub(super) fn of_phase(mut rows: Rows<'_>) -> Vec<Row> {
    phase(&mut rows);
    tools(&mut rows);
    context(&mut rows);
    auto_continue(&mut rows);
    moves(&mut rows);
    let levels = rows.around();
    turns(&mut rows, &levels);
    end(&mut rows);
    flow(&mut rows);
    rows.made
}

/// The values of a workflow that apply in all its phases.
pub(super) fn of_workflow(mut rows: Rows<'_>) -> Vec<Row> {
    let root = &rows.position.root().key;
    tools(&mut rows);
    context(&mut rows);
    rows.made
        .retain(|row| match row.origin.as_ref().map(|of| &of.kind) {
            _ if row.topic == Topic::Context => {
                matches!(row.key, "mode" | "roleInstruction" | "advanceReminder")
            }
            Some(OriginKind::Settings { .. }) => true,
            Some(OriginKind::Workflow { key }) => key == root && row.key != "blockReason",
            Some(OriginKind::Default | OriginKind::Phase | OriginKind::BuiltIn) | None => false,
        });
    start(&mut rows);
    run(&mut rows);
    let levels = rows.of_run();
    turns(&mut rows, &levels);
    end(&mut rows);
    rows.made
}

fn start(rows: &mut Rows<'_>) {
    rows.topic = Topic::Start;
    let (root, description) = (rows.position.root(), &rows.state.task_description);
    rows.add_key(rows.root(), "name");
    if !root.command_name.is_empty() {
        let command = start_line(root, description);
        rows.add("command", command, rows.of_root(&["commandName"]));
    }
    let origin = rows.of_root(&["sessionNamePrefix", "sessionNameMaxLength"]);
    rows.add("sessionName", session_name(root, description), origin);
    let message = rows.initial_message.to_owned();
    rows.add_text("initialMessage", message, &["initialMessage"]);
    for tier in [Tier::Global, Tier::Project] {
        let defaults = &rows.loaded.tiers[tier as usize].defaults;
        let checks = defaults.gate.iter();
        let checks = checks.map(|gate| gate.check.requirement(shown));
        let limits = Budget::SECTION.keys.iter();
        let limits = limits.filter_map(|key| {
            let value = defaults.budget.value_of(key.name)?;
            (!value.is_null()).then(|| format!("{} {value}", key.name))
        });
        let cancel = defaults.cancel.map(|by| format!("cancel: {}", by.word()));
        let all: Vec<String> = checks.chain(limits).chain(cancel).collect();
        if !all.is_empty() {
            let origin = rows.origin(RuleSource::Settings(tier), &["defaults"]);
            rows.add("defaults", all.join(", "), origin);
        }
    }
    for level in door_levels(rows.loaded.settings.guards()) {
        let described = Description(std::slice::from_ref(&level)).text();
        let described = described.unwrap_or_else(|| "all".to_owned());
        let origin = rows.origin(level.source, &["withoutRun"]);
        rows.add("withoutRun", described, origin);
    }
    if let Some((start, tier)) = rows.loaded.settings.start() {
        let when = if start.ask { "offered" } else { "started" };
        let value = format!("{} is {when} when it blocks a call", start.workflow);
        let origin = rows.origin(RuleSource::Settings(tier), &["withoutRun", "start"]);
        rows.add("withoutRun", value, origin);
    }
}

fn phase(rows: &mut Rows<'_>) {
    rows.topic = Topic::Phase;
    for key in ["id", "name", "emoji"] {
        rows.add_key(PHASE, key);
    }
    let phase = &rows.resolved.phase;
    let instructions = Value::Part(phase.instructions.clone());
    let origin = rows.origin(PHASE, &["instructions"]);
    rows.add("instructions", instructions, origin);
    let profiles = phase.available_profiles.clone();
    let origin = match profiles {
        Some(_) => rows.origin(PHASE, &["availableProfiles"]),
        None => OriginKind::Default.into(),
    };
    let profiles = Value::Names(profiles.unwrap_or_default());
    rows.add("availableProfiles", profiles, origin);
    rows.add("status", &*rows.resolved.status, None);
}

fn context(rows: &mut Rows<'_>) {
    rows.topic = Topic::Context;
    let (root, resolved) = (rows.position.root(), rows.resolved);
    let origin = rows.nearest(&rows.of_run(), &["context"]);
    let origin = origin.unwrap_or(OriginKind::Default.into());
    rows.add("mode", resolved.context_mode.word(), origin);
    for (key, text) in [
        ("roleInstruction", &resolved.role),
        ("advanceReminder", &resolved.advance),
    ] {
        rows.add(key, Value::Part(text.clone()), rows.of_root(&[key]));
    }
    let profiles = all_profiles(root, &rows.loaded.catalog);
    rows.add("allProfiles", Value::Names(profiles), None);
    rows.add("message", Value::Text(resolved.context.in_full()), None);
    rows.add("inBetween", resolved.context.line(), None);
}

fn auto_continue(rows: &mut Rows<'_>) {
    rows.topic = Topic::Continue;
    let rule = rows.resolved.auto_continue.clone();
    let levels = rows.around();
    for (key, value) in [
        ("wait", Value::Flag(rule.wait)),
        ("max", bound(rule.max)),
        ("maxStale", bound(rule.max_stale)),
        ("onError", rule.on_error.word().into()),
        ("onQuestion", rule.on_question.word().into()),
        ("onLimit", Value::Label(rule.on_limit.described())),
        ("countdown", Value::Count(rule.countdown.into())),
    ] {
        let mut origin = rows.nearest(&levels, &["continue", key]);
        // Without a bound these are off too, unless they are set.
        let is_off = matches!(key, "maxStale" | "onError" | "onQuestion");
        if is_off && rule.max == Bound::Unlimited {
            origin = origin.or_else(|| rows.nearest(&levels, &["continue", "max"]));
        }
        rows.add(key, value, origin.unwrap_or(OriginKind::Default.into()));
    }
    let reminder = rows.resolved.reminder.text(true).to_owned();
    rows.add_text("reminder", reminder, &["notDoneReminder"]);
}

fn bound(bound: Bound) -> Value {
    let times = bound.times().map(|times| Value::Count(times.into()));
    times.unwrap_or_else(|| "unlimited".into())
}

/// The gate, the approval and the outcomes with which the phase is left, and where to.
fn moves(rows: &mut Rows<'_>) {
    rows.topic = Topic::Moves;
    let (phase, catalog) = (rows.position.phase, &rows.loaded.catalog);
    for gate in &phase.gate {
        let requirement = gate.check.requirement(shown);
        let value = requirement + &gate.otherwise(shown);
        rows.add("gate", value, Origin::at(PHASE, &gate.source));
    }
    if let Some(approval) = &phase.approve {
        let origin = Origin::at(PHASE, &approval.source);
        rows.add("approve", approval.describe(), origin);
    }
    for outcome in &phase.outcomes {
        let value = format!("{} → {}", outcome.name, outcome.to);
        let origin = rows.origin(PHASE, &["outcomes", &outcome.name]);
        rows.add("outcome", value, origin);
    }
    match in_order(rows.state, catalog) {
        _ if !phase.outcomes.is_empty() => rows.add("next", "as the outcome says", None),
        Some(path) => rows.add("next", next_phase(rows, &path), rows.entry(&path)),
        None => rows.add("next", "the end of the run", None),
    }
    let progress = RunProgress::from(rows.state.clone());
    let again = match repeat(&progress, Actor::User, catalog) {
        Ok(again) => phase_at(rows, &again.state),
        Err(TransitionError::DefinitionMismatch(mismatch)) => mismatch.to_string(),
        Err(refusal) => format!("refused: {refusal}"),
    };
    let own = RuleSource::Workflow(&rows.position.scope().key);
    let mut origin = rows.origin(own, &["loopable"]);
    if origin.file.is_none() {
        origin = OriginKind::Default.into();
    }
    rows.add("loop", again, origin);
}

/// Returns the phase that follows, with the conditions under which it is entered.
fn next_phase(rows: &Rows<'_>, path: &Path) -> String {
    let state = RunState {
        current_path: path.clone(),
        ..rows.state.clone()
    };
    let name = phase_at(rows, &state);
    let Ok(position) = Position::of(&state, &rows.loaded.catalog) else {
        return name;
    };
    let from = rows.state.current_path.segments();
    let is_entered = |depth: &usize| path.segments().get(..=*depth) != from.get(..=*depth);
    let entered = (0..position.levels.len()).filter(is_entered);
    let conditions = entered.flat_map(|depth| position.levels[depth].conditions());
    match joined(conditions) {
        conditions if conditions.is_empty() => name,
        conditions => format!("{name}, if {conditions}; otherwise it is skipped"),
    }
}

/// Returns the current phase of a state, with the scopes around it.
fn phase_at(rows: &Rows<'_>, state: &RunState) -> String {
    Position::of(state, &rows.loaded.catalog).map_or_else(
        |mismatch| mismatch.to_string(),
        |position| format!("{} in {}", position.phase.label(), position.breadcrumb()),
    )
}

/// What a phase has itself, and the conditions and budgets around it. After the other topics, it adds the keys that have no row.
fn flow(rows: &mut Rows<'_>) {
    rows.topic = Topic::Flow;
    let (phase, levels) = (rows.position.phase, &rows.position.levels);
    for (pair, depth) in levels.windows(2).zip(1..) {
        let (conditions, inner) = (pair[0].conditions(), &pair[1].workflow.name);
        let origin = rows.entry(&rows.state.current_path.up_to(depth));
        if !conditions.is_empty() {
            let value = format!("{} for {}", joined(conditions), shown(inner));
            rows.add("when", value, origin.clone());
        }
        let reference = pair[0].entry().and_then(PhaseEntry::subworkflow);
        for (key, value) in reference.into_iter().flat_map(reference_rows) {
            let value = format!("{value} for {}", shown(inner));
            rows.add(key, value, origin.clone());
        }
    }
    if !phase.when.is_empty() {
        rows.add("when", joined(&phase.when), rows.origin(PHASE, &["when"]));
    }
    parameters(rows, "output", PHASE, "outputs", &phase.outputs);
    for level in levels {
        for returned in &level.workflow.outputs {
            let (name, subject) = (&returned.name, returned.subject());
            let workflow = shown(&level.workflow.name);
            let value = format!("{name}: {{{subject}}}, which {workflow} returns");
            let whose = RuleSource::Workflow(&level.workflow.key);
            rows.add("output", value, rows.origin(whose, &["outputs", name]));
        }
    }
    if let Some((most, to)) = phase.most_visits().zip(phase.instead_of_visit()) {
        let value = format!("{most}, then {}", to.described());
        rows.add("maxVisits", value, rows.origin(PHASE, &["maxVisits"]));
    }
    budget(rows, PHASE, &phase.budget, &phase.bounds, "");
    for workflow in levels.iter().map(|level| level.workflow) {
        let within = format!(" in {}", shown(&workflow.name));
        let whose = RuleSource::Workflow(&workflow.key);
        budget(rows, whose, &workflow.budget, &workflow.bounds, &within);
    }
    for key in Phase::SECTION.keys.iter().map(|key| key.name) {
        let has_row = HAVE_OTHER_ROWS.contains(&key) || HAVE_ROWS_AT_TIMES.contains(&key);
        if !has_row && !rows.made.iter().any(|row| row.key == key) {
            rows.add_key(PHASE, key);
        }
    }
    if phase.hints.active_tools {
        let hides = "tools that are blocked are hidden from the model";
        rows.add("activeTools", hides, rows.origin(PHASE, &["activeTools"]));
    }
}

/// What a reference says of its subworkflow, by its keys.
fn reference_rows(reference: &Subworkflow) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    if let Some(list) = &reference.for_each {
        let most = reference.most_items();
        rows.push(("forEach", format!("{{{list}}}, at most {most} items,")));
    }
    if let Some(with) = &reference.with {
        let values = with.iter();
        let values = values.map(|(name, value)| format!("{name}: {}", shown(&value_text(value))));
        rows.push(("with", text::join(values, ", ")));
    }
    for outcome in &reference.outcomes {
        rows.push(("outcome", format!("{} → {}", outcome.name, outcome.to)));
    }
    if let Some(most) = reference.most_visits() {
        let instead = reference.on_limit.as_ref().unwrap_or(&Target::Pause);
        rows.push(("maxVisits", format!("{most}, then {}", instead.described())));
    }
    rows
}

/// The values of a workflow that apply to the whole run.
fn run(rows: &mut Rows<'_>) {
    rows.topic = Topic::Flow;
    let root = rows.position.root();
    parameters(rows, "input", rows.root(), "inputs", &root.inputs);
    budget(rows, rows.root(), &root.budget, &root.bounds, "");
    if let Some(by) = root.cancel {
        let by = match by {
            CancelBy::Anyone => "by the agent and by persons",
            CancelBy::User => "by the user only",
        };
        rows.add("cancel", by, rows.of_root(&["cancel"]));
    }
}

/// A budget, if there is one, and the scope in which it applies.
fn budget(
    rows: &mut Rows<'_>,
    whose: RuleSource<'_>,
    budget: &Budget,
    bounds: &[(String, String)],
    within: &str,
) {
    if !budget.is_unlimited() {
        let value = budget.describe(bounds) + within;
        rows.add("budget", value, rows.origin(whose, &["budget"]));
    }
}

/// Conditions, all of which must hold.
fn joined<'c>(conditions: impl IntoIterator<Item = &'c Condition>) -> String {
    text::join(conditions.into_iter().map(ToString::to_string), " and ")
}

/// Inputs or outputs, each on a line.
fn parameters(
    rows: &mut Rows<'_>,
    row: &'static str,
    whose: RuleSource<'_>,
    key: &str,
    parameters: &[Parameter],
) {
    for parameter in parameters {
        let mut text = format!("{}: {}", parameter.name, parameter.in_words());
        match &parameter.default {
            Some(default) => text = format!("{text}, {default} where it is not given"),
            None if !parameter.required => text += ", optional",
            None => {}
        }
        if !parameter.about.is_empty() {
            text = format!("{text} ({})", parameter.about);
        }
        rows.add(row, text, rows.origin(whose, &[key, &parameter.name]));
    }
}

/// The checkpoint, the time for an answer, and the triggers.
fn turns(rows: &mut Rows<'_>, levels: &[RuleSource<'_>]) {
    rows.topic = Topic::Turns;
    rows.add_nearest(levels, "checkpoint");
    rows.add_nearest(levels, "questionTimeout");
    for trigger in &rows.loaded.settings.triggers {
        let value = format!("{}: \"{}\"", trigger.describe(), trigger.prompt);
        let whose = RuleSource::Settings(trigger.tier);
        rows.add("trigger", value, Origin::at(whose, &trigger.source));
    }
}

fn end(rows: &mut Rows<'_>) {
    rows.topic = Topic::End;
    let catalog = &rows.loaded.catalog;
    // The texts name the values that only a run has.
    let ended = |state| RunProgress {
        data: placeholders::data(rows.position, catalog),
        ..RunProgress::from(state)
    };
    let done = ended(RunState {
        active: false,
        ..rows.state.clone()
    });
    let cancelled = ended(cancel(rows.state));
    let message = announcement::ended(&done, catalog);
    rows.add_text("completionMessage", message, &["completionMessage"]);
    let message = announcement::ended(&cancelled, catalog);
    let keys = ["cancelledMessage", "completionMessage"];
    rows.add_text("cancelledMessage", message, &keys);
    let message = announcement::cancelled_by_command(&cancelled, catalog);
    rows.add_text("cancelledByCommand", message, &["cancelledMessage"]);
}
