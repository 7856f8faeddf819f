//! Every value that holds at a place, a function a section.
//!
//! A guard that is added to the engine is a row more here: its value from what holds, its origin from
//! whoever says it first.

use crate::command::{initial_message, session_name};
use crate::definition::{Bound, ContextMode, OnLimit, OnStop, Tier, ToolAccess, Verdict};
use crate::diagnostic::Place;
use crate::ending;
use crate::policy::rules::{LevelRules, RuleSource, builtin_rule, in_words};
use crate::policy::{STEP_TOOL, ToolGuard};
use crate::run::{Position, RunState, TransitionError, advance, cancel, repeat};
use crate::standing::{all_profiles, level_names, levels};
use crate::text;

use super::here::Here;
use super::row::{Origin, Row, Said, Section, Value};
use super::turns;

/// What holds in a phase.
pub(super) fn of_phase(here: &Here<'_>) -> Vec<Row> {
    let sections = [
        phase,
        tools,
        context,
        auto_continue,
        way_out,
        moves,
        turns::of_phase,
        end,
    ];
    sections.iter().flat_map(|section| section(here)).collect()
}

/// What a workflow says for all its phases.
pub(super) fn of_workflow(here: &Here<'_>) -> Vec<Row> {
    let everywhere = |row: &Row| match row.section {
        Section::Context => matches!(row.key, "mode" | "roleInstruction" | "advanceReminder"),
        Section::Start | Section::End => true,
        Section::Tools => is_said_around(row, &here.position.root().key),
        Section::Phase | Section::Continue | Section::Moves | Section::Turns => false,
    };
    let mut rows = start(here);
    rows.extend(tools(here).into_iter().filter(everywhere));
    rows.extend(context(here).into_iter().filter(everywhere));
    rows.extend(turns::of_workflow(here));
    rows.extend(end(here));
    rows
}

/// Whether the settings or the workflow of this key say so, whatever the phase.
fn is_said_around(row: &Row, root: &str) -> bool {
    match row.origin.as_ref().map(|origin| &origin.said) {
        Some(Said::Settings(_)) => true,
        Some(Said::Workflow(key)) => key == root && row.key != "blockReason",
        Some(Said::Default | Said::Phase | Said::BuiltIn) | None => false,
    }
}

fn row(
    section: Section,
    key: &'static str,
    value: Value,
    origin: impl Into<Option<Origin>>,
) -> Row {
    Row {
        section,
        key,
        value,
        origin: origin.into(),
    }
}

fn start(here: &Here<'_>) -> Vec<Row> {
    let root = here.position.root();
    let said = Some(());
    let word = |text: &str| Value::Word(text.to_owned());
    let description = &here.state.task_description;
    let mut rows = vec![row(
        Section::Start,
        "name",
        word(&root.name),
        here.root(said, "name"),
    )];
    if !root.command_name.is_empty() {
        let command = format!("/workflow {} {description}", root.command_name);
        rows.push(row(
            Section::Start,
            "command",
            Value::Word(command),
            here.root(said, "commandName"),
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
            Section::Start,
            "sessionName",
            Value::Word(session_name(root, description)),
            here.root(prefix.map(|_| ()).or(length), named_by),
        ),
        row(
            Section::Start,
            "initialMessage",
            Value::Text(initial_message(root, here.catalog, description)),
            here.root(
                (!root.initial_message.is_empty()).then_some(()),
                "initialMessage",
            ),
        ),
    ]);
    rows
}

fn phase(here: &Here<'_>) -> Vec<Row> {
    let phase = &here.standing.phase;
    let word = |text: &str| Value::Word(text.to_owned());
    let profiles = phase.available_profiles.as_ref();
    let by_phase = |said: bool, key: &str| {
        if said {
            here.phase(&[key])
        } else {
            Origin::default_value()
        }
    };
    vec![
        row(Section::Phase, "id", word(&phase.id), here.phase(&["id"])),
        row(
            Section::Phase,
            "name",
            word(&phase.name),
            here.phase(&["name"]),
        ),
        row(
            Section::Phase,
            "emoji",
            word(&phase.emoji),
            here.phase(&["emoji"]),
        ),
        row(
            Section::Phase,
            "instructions",
            Value::Part(phase.instructions.clone()),
            here.phase(&["instructions"]),
        ),
        row(
            Section::Phase,
            "availableProfiles",
            Value::Names(profiles.cloned().unwrap_or_default()),
            by_phase(profiles.is_some(), "availableProfiles"),
        ),
        row(Section::Phase, "status", word(&here.standing.status), None),
    ]
}

fn tools(here: &Here<'_>) -> Vec<Row> {
    let all = |text: &str| Value::Word(text.to_owned());
    let (allowed, blocked, origin) = match &here.position.phase.tools {
        None => (all("all"), Value::None, Origin::default_value()),
        Some(ToolAccess::Blacklist(names)) => (
            all("all others"),
            Value::Names(names.clone()),
            here.phase(&["tools", "blacklist"]),
        ),
        Some(ToolAccess::Whitelist(names)) => (
            Value::Names(names.clone()),
            all("all others"),
            here.phase(&["tools", "whitelist"]),
        ),
    };
    let mut rows = vec![
        row(Section::Tools, "allowed", allowed, origin.clone()),
        row(Section::Tools, "blocked", blocked, origin),
        row(
            Section::Tools,
            "always",
            Value::Names(vec![STEP_TOOL.to_owned()]),
            None,
        ),
    ];
    let list = ToolGuard::new(here.position.phase.tools.as_ref());
    if let Some(allowed) = list.allowed() {
        let template = here
            .position
            .root()
            .templates
            .block_reason_template
            .as_ref();
        let reason = here.standing.reason("{toolName}", allowed);
        rows.push(row(
            Section::Tools,
            "blockReason",
            Value::Text(reason),
            here.root(template, "blockReasonTemplate"),
        ));
    }
    rows.extend(outer_lists(here));
    rows.push(own_rule());
    rows.extend(rules(here));
    rows.extend(results(here));
    rows
}

/// The lists of the levels around the phase.
fn outer_lists(here: &Here<'_>) -> Vec<Row> {
    let names = level_names(here.position);
    let outer = levels(here.position, here.settings, &names)
        .filter(|level| level.source != RuleSource::Phase);
    let listed = outer.filter_map(|level| {
        let list = ToolGuard::new(level.tools);
        let value = Value::Word(list.allowed()?.to_owned());
        Some(row(
            Section::Tools,
            "allowedAround",
            value,
            here.list(level.source, level.tools),
        ))
    });
    listed.collect()
}

/// The rule that stands before all levels.
fn own_rule() -> Row {
    let origin = Origin {
        said: Said::BuiltIn,
        place: None,
    };
    let value = Value::Word(builtin_rule::FORBIDS.to_owned());
    row(Section::Tools, "block", value, origin)
}

/// The rules of all levels, outer first: the strictest level decides.
fn rules(here: &Here<'_>) -> Vec<Row> {
    let names = level_names(here.position);
    let of_level = |level: LevelRules<'_>| -> Vec<Row> {
        let rules = level.rules.iter().map(|rule| {
            let key = match rule.verdict {
                Verdict::Allow => "allow",
                Verdict::Ask => "ask",
                Verdict::Block => "block",
            };
            let value = Value::Word(in_words(rule));
            row(
                Section::Tools,
                key,
                value,
                said_by(level.source, &rule.source),
            )
        });
        rules.collect()
    };
    levels(here.position, here.settings, &names)
        .flat_map(of_level)
        .collect()
}

/// What becomes of results, outer levels first.
fn results(here: &Here<'_>) -> Vec<Row> {
    let settings = here.settings;
    let outer = [
        (Tier::Global, &settings.user),
        (Tier::Project, &settings.project),
    ];
    let outer = outer.map(|(tier, guards)| (RuleSource::Settings(tier), &guards.results));
    let workflows = here.position.levels.iter().map(|level| {
        (
            RuleSource::Workflow(&level.workflow.key),
            &level.workflow.results,
        )
    });
    let phase = [(RuleSource::Phase, &here.position.phase.results)];
    let levels = outer.into_iter().chain(workflows).chain(phase);
    let rows = levels.flat_map(|(whose, rules)| {
        rules.iter().map(move |rule| {
            row(
                Section::Tools,
                "results",
                Value::Word(rule.in_words()),
                said_by(whose, &rule.source),
            )
        })
    });
    rows.collect()
}

/// A level says so, at this `file:line`.
pub(super) fn said_by(whose: RuleSource<'_>, source: &str) -> Origin {
    Origin {
        said: match whose {
            RuleSource::Settings(tier) => Said::Settings(tier),
            RuleSource::Workflow(key) => Said::Workflow(key.to_owned()),
            RuleSource::Phase => Said::Phase,
        },
        place: (!source.is_empty()).then(|| Place::file(source)),
    }
}

/// What must hold, and who must agree, before the phase is left.
fn way_out(here: &Here<'_>) -> Vec<Row> {
    let phase = here.position.phase;
    let gates = phase.gate.iter().map(|gate| {
        let value = Value::Word(gate.check.in_words());
        row(
            Section::Moves,
            "gate",
            value,
            said_by(RuleSource::Phase, &gate.source),
        )
    });
    let approval = phase.approve.iter().map(|approval| {
        let value = Value::Word(format!(
            "{} ({})",
            approval.ask,
            approval.choices.join(", ")
        ));
        row(
            Section::Moves,
            "approve",
            value,
            said_by(RuleSource::Phase, &approval.source),
        )
    });
    gates.chain(approval).collect()
}

fn context(here: &Here<'_>) -> Vec<Row> {
    let root = here.position.root();
    let templates = &root.templates;
    let part = |own: Option<&String>, default: &str| {
        Value::Part(own.map_or(default, String::as_str).to_owned())
    };
    let mode = match here.standing.context_mode {
        ContextMode::ByChange => "by-change",
        ContextMode::EveryTurn => "every-turn",
    };
    let (role, advance) = (
        templates.role_instruction.as_ref(),
        templates.advance_reminder.as_ref(),
    );
    vec![
        row(
            Section::Context,
            "mode",
            Value::Word(mode.to_owned()),
            here.context_mode(root.context),
        ),
        row(
            Section::Context,
            "roleInstruction",
            part(role, text::ROLE_INSTRUCTION),
            here.root(role, "roleInstruction"),
        ),
        row(
            Section::Context,
            "advanceReminder",
            part(advance, text::ADVANCE_REMINDER),
            here.root(advance, "advanceReminder"),
        ),
        row(
            Section::Context,
            "allProfiles",
            Value::Names(all_profiles(root, here.catalog)),
            None,
        ),
        row(
            Section::Context,
            "message",
            Value::Text(here.standing.context.in_full().to_string()),
            None,
        ),
        row(
            Section::Context,
            "inBetween",
            Value::Word(here.standing.context.line()),
            None,
        ),
    ]
}

fn auto_continue(here: &Here<'_>) -> Vec<Row> {
    let rule = here.standing.auto_continue;
    let on_stop = |what: OnStop| match what {
        OnStop::Pause => "pause",
        OnStop::Continue => "continue",
    };
    let on_limit = match rule.on_limit {
        OnLimit::Park => "park",
        OnLimit::Cancel => "cancel",
    };
    let word = |text: &str| Value::Word(text.to_owned());
    let or_default = |origin: Option<Origin>| origin.unwrap_or_else(Origin::default_value);
    // Without a bound the others are off too, unless somebody sets them: then `max` says it for them.
    let with_max = |origin: Option<Origin>| {
        origin.unwrap_or_else(|| match rule.max {
            Bound::Unlimited => or_default(here.continue_rule("max", |rule| rule.max)),
            Bound::Times(_) => Origin::default_value(),
        })
    };
    let row = |key, value, origin: Origin| row(Section::Continue, key, value, origin);
    let reminder = here.position.root().templates.not_done_reminder.as_ref();
    vec![
        row(
            "wait",
            Value::Flag(rule.wait),
            or_default(here.continue_rule("wait", |rule| rule.wait)),
        ),
        row(
            "max",
            bound(rule.max),
            or_default(here.continue_rule("max", |rule| rule.max)),
        ),
        row(
            "maxStale",
            bound(rule.max_stale),
            with_max(here.continue_rule("maxStale", |rule| rule.max_stale)),
        ),
        row(
            "onError",
            word(on_stop(rule.on_error)),
            with_max(here.continue_rule("onError", |rule| rule.on_error)),
        ),
        row(
            "onQuestion",
            word(on_stop(rule.on_question)),
            with_max(here.continue_rule("onQuestion", |rule| rule.on_question)),
        ),
        row(
            "onLimit",
            word(on_limit),
            or_default(here.continue_rule("onLimit", |rule| rule.on_limit)),
        ),
        row(
            "countdown",
            Value::Count(rule.countdown.into()),
            or_default(here.continue_rule("countdown", |rule| rule.countdown)),
        ),
        row(
            "reminder",
            Value::Text(here.standing.reminder.text(true).to_owned()),
            here.root(reminder, "notDoneReminder"),
        ),
    ]
}

fn bound(bound: Bound) -> Value {
    match bound {
        Bound::Times(times) => Value::Count(times.into()),
        Bound::Unlimited => Value::Word("unlimited".to_owned()),
    }
}

fn moves(here: &Here<'_>) -> Vec<Row> {
    let (next, next_origin) = match advance(here.state, here.catalog) {
        Ok(state) if state.active => (
            phase_at(here, &state),
            Some(here.entry(&state.current_path)),
        ),
        Ok(_) => ("the end of the run".to_owned(), None),
        Err(stale) => (stale.to_string(), None),
    };
    let again = match repeat(here.state, here.catalog) {
        Ok(state) => phase_at(here, &state),
        Err(refusal @ TransitionError::NotLoopable) => format!("refused: {refusal}"),
        Err(TransitionError::Stale(stale)) => stale.to_string(),
    };
    vec![
        row(Section::Moves, "next", Value::Word(next), next_origin),
        row(
            Section::Moves,
            "loop",
            Value::Word(again),
            here.scope("loopable"),
        ),
    ]
}

/// The phase a state stands in, with the scopes around it.
fn phase_at(here: &Here<'_>, state: &RunState) -> String {
    Position::of(state, here.catalog).map_or_else(
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

fn end(here: &Here<'_>) -> Vec<Row> {
    let templates = &here.position.root().templates;
    let completion = templates.completion_message.as_ref();
    let own = templates.cancelled_message.as_ref();
    let done = RunState {
        active: false,
        ..here.state.clone()
    };
    let cancelled = cancel(here.state);
    let cancelled_by = if own.is_some() {
        "cancelledMessage"
    } else {
        "completionMessage"
    };
    vec![
        row(
            Section::End,
            "completionMessage",
            Value::Text(ending::announced(&done, here.catalog)),
            here.root(completion, "completionMessage"),
        ),
        row(
            Section::End,
            "cancelledMessage",
            Value::Text(ending::announced(&cancelled, here.catalog)),
            here.root(own.or(completion), cancelled_by),
        ),
        row(
            Section::End,
            "cancelledByCommand",
            Value::Text(ending::cancelled_by_command(&cancelled, here.catalog)),
            here.root(own, "cancelledMessage"),
        ),
    ]
}
