//! [`Session`]: the one owner of a session's run, its countdown and its open questions.
//!
//! The hooks themselves are in `hook/`, the tool in `tool`, the commands in `command`: each is
//! an `impl` block over the value defined here.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::command::PendingStart;
use crate::definition::{Catalog, Settings};
use crate::guard::Pace;
use crate::hook::{Countdown, Pushed};
use crate::input::{Author, Command, Input, Millis, QuestionId};
use crate::output::{Action, Level, Output};
use crate::random::Random;
use crate::run::{RunState, Stale, StoredDefinition, StoredRun, entry_type};
use crate::standing::Standing;

/// One session of a host: what happens goes in, what must be done comes out.
///
/// Reads no clock, no file, no randomness; starts nothing and waits for nothing. The caller
/// gives the time with every input and sends [`Input::Tick`] when [`Session::deadline`] is due.
#[derive(Debug)]
pub struct Session {
    abilities: Abilities,
    /// Whether there is an interface, as far as the host told of this session.
    has_ui: Option<bool>,
    pub(crate) random: Random,
    pub(crate) settings: Settings,
    pub(crate) run: Option<Run>,
    pub(crate) countdown: Option<Countdown>,
    /// Whether the response in progress has moved the run; `None` between responses.
    pub(crate) turn_moved: Option<bool>,
    /// What became of the last push, until the agent stops again or a person speaks.
    pub(crate) pushed: Option<Pushed>,
    /// Whether the model has the full context of where the run stands.
    pub(crate) context_given: bool,
    pub(crate) starts: BTreeMap<QuestionId, PendingStart>,
    questions: u64,
    /// The problems that were shown last, so that they are shown once per change (B49).
    pub(crate) problems_shown: String,
}

/// A run in memory: its state, and what follows from it.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) state: RunState,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) standing: Result<Standing, Stale>,
    /// A first `cancel` waits for the second (state-management: "Two-Step Cancellation").
    pub(crate) cancel_pending: bool,
    pub(crate) pace: Pace,
    /// What the session's entries hold, to append only what changed.
    pub(crate) stored_pace: Pace,
    pub(crate) definition_stored: bool,
}

/// What a host can do for people.
#[derive(Debug, Clone, Copy, Default)]
pub struct Abilities {
    /// It can ask a question and wait for the answer.
    pub dialogs: bool,
    /// It shows widgets; a host that does not say shows them where it has an interface.
    pub widgets: Option<bool>,
}

impl Session {
    /// A session without a run. The seed makes its task ids.
    #[must_use]
    pub fn new(abilities: Abilities, seed: u64) -> Self {
        Self {
            abilities,
            has_ui: None,
            random: Random::new(seed),
            settings: Settings::default(),
            run: None,
            countdown: None,
            turn_moved: None,
            pushed: None,
            context_given: false,
            starts: BTreeMap::new(),
            questions: 0,
            problems_shown: String::new(),
        }
    }

    /// Says whether there is an interface, as far as the host knows now.
    pub fn set_has_ui(&mut self, has_ui: bool) {
        self.has_ui = Some(has_ui);
    }

    /// When [`Input::Tick`] is due next.
    #[must_use]
    pub fn deadline(&self) -> Option<Millis> {
        self.countdown.as_ref().map(Countdown::deadline)
    }

    /// Takes what happened, gives what must be done.
    pub fn step(&mut self, now: Millis, input: Input<'_>) -> Output {
        let mut out = Output::default();
        match input {
            Input::Session { entries, loaded } => self.session_changed(&entries, &loaded, &mut out),
            Input::Shutdown => self.session_closed(&mut out),
            Input::BeforeAgentStart { prompt } => self.before_agent_start(prompt, &mut out),
            // A text of nobody's may be our own reminder: the counts wait until the agent starts on it.
            Input::AgentStart | Input::UserInput { author: None } => {
                self.agent_is_running(&mut out);
            }
            Input::TurnStart => self.turn_started(&mut out),
            Input::TurnEnd => self.turn_ended(&mut out),
            Input::AgentEnd { last } => self.agent_ended(now, last, &mut out),
            Input::ToolCall { tool } => self.tool_called(tool, &mut out),
            Input::UserInput {
                author: Some(Author::Extension),
            } => {}
            Input::UserInput {
                author: Some(Author::Person),
            } => self.user_spoke(&mut out),
            Input::Compacted => self.context_given = false,
            Input::Step { action } => self.step_tool(action, &mut out),
            Input::Command {
                ticket,
                command: Command::Workflow { arguments, loaded },
            } => {
                self.workflow_command(now, ticket, arguments, loaded, &mut out);
            }
            Input::Command {
                command: Command::CancelWorkflow,
                ..
            } => self.cancel_command(&mut out),
            Input::Answer {
                question,
                confirmed,
            } => self.start_answered(now, question, confirmed, &mut out),
            Input::Tick => self.time_passed(now, &mut out),
        }
        out
    }

    /// Whether a person can be asked: what the host says of itself, whatever it shows (A14).
    pub(crate) fn can_ask(&self) -> bool {
        self.abilities.dialogs
    }

    /// Whether a widget is seen.
    pub(crate) fn shows_widgets(&self) -> bool {
        match self.abilities.widgets {
            Some(widgets) => widgets && self.has_ui != Some(false),
            None => self.has_ui == Some(true),
        }
    }

    pub(crate) fn next_question(&mut self) -> QuestionId {
        self.questions += 1;
        QuestionId(self.questions)
    }

    /// The run and what holds, if a run is active and fits its definitions.
    pub(crate) fn standing(&self) -> Option<(&Run, &Standing)> {
        let run = self.run.as_ref().filter(|run| run.state.active)?;
        Some((run, run.standing.as_ref().ok()?))
    }

    /// The agent works, or a person spoke: nothing is counting down any more.
    pub(crate) fn agent_is_running(&mut self, out: &mut Output) {
        if self
            .countdown
            .take()
            .is_some_and(|countdown| countdown.in_widget)
        {
            out.actions.push(Action::SetWidget { lines: None });
        }
    }

    /// Moves the run to another state: decided, stored, then shown.
    pub(crate) fn enter(&mut self, state: RunState, out: &mut Output) {
        self.agent_is_running(out);
        self.context_given = false;
        let Some(run) = self.run.as_mut() else { return };
        run.standing = Standing::of(&state, &run.catalog, &self.settings);
        run.state = state;
        run.cancel_pending = false;
        run.pace = Pace::default();
        run.store(out);
        out.actions.push(Action::SetStatus {
            text: self.status(),
        });
    }

    /// The status line (hook-lifecycle: "updateStatus").
    pub(crate) fn status(&self) -> Option<String> {
        self.standing().map(|(_, standing)| standing.status.clone())
    }
}

impl Run {
    /// Appends what the session must hold of this run, as far as it changed.
    pub(crate) fn store(&mut self, out: &mut Output) {
        out.actions.push(entry(entry_type::STATE, &self.state));
        self.store_definition(out);
        self.store_pace(out);
    }

    /// Appends the definition in force, unless the session holds it (behaviour: "Definition gone").
    pub(crate) fn store_definition(&mut self, out: &mut Output) {
        if self.state.active && self.standing.is_ok() && !self.definition_stored {
            let stored =
                StoredDefinition::of(&self.state.workflow_key, &self.catalog, &self.state.task_id);
            out.actions.push(entry(entry_type::DEFINITION, &stored));
            self.definition_stored = true;
        }
    }

    /// Appends how far pushing went, unless the session holds it.
    pub(crate) fn store_pace(&mut self, out: &mut Output) {
        if self.pace != self.stored_pace {
            let stored = StoredRun::of(&self.state.task_id, self.pace);
            out.actions.push(entry(entry_type::RUN, &stored));
            self.stored_pace = self.pace;
        }
    }
}

/// An entry to append. Our entries have string keys only, so that they always are JSON.
fn entry(custom_type: &'static str, data: &impl Serialize) -> Action {
    Action::AppendEntry {
        custom_type,
        data: to_raw_value(data).unwrap_or_else(|_| RawValue::NULL.to_owned()),
    }
}

/// Tells the person something.
pub(crate) fn notify(level: Level, message: impl Into<String>) -> Action {
    Action::Notify {
        message: message.into(),
        level,
    }
}
