//! [`Session`]: the one owner of a session's run, its countdown and its open questions.
//!
//! The hooks themselves are in `hook/`, the tool in `tool`, the commands in `command`: each is
//! an `impl` block over the value defined here.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::checkpoint::{Checkpoints, PendingRestore, went_on};
use crate::command::PendingStart;
use crate::context::Told;
use crate::definition::{Catalog, Settings, Trigger};
use crate::effect::{Action, Decider, DeferredReply, Effect, Effects, Reply};
use crate::event::{Author, Command, Event, PlatformEvent};
use crate::hook::{Countdown, Denied, PendingCall, Pushed};
use crate::leaving::{Leaving, PendingLeave, called_off, needs_baseline};
use crate::policy::Pace;
use crate::policy::results::Results;
use crate::policy::rules::{Call, Rules};
use crate::random::Random;
use crate::run::{RunState, Stale, StoredDefinition, StoredRun, entry_type};
use crate::standing::{Standing, settings_levels};
use crate::trust::Foreign;
use crate::types::{Millis, QuestionId, Severity};
use crate::waiting::Asked;
use crate::wake::Wake;

/// Questions of a session that nobody has answered: more are not asked.
const MOST_WAITING: usize = 64;

/// The longest definition that a session's entry holds, in bytes: an entry is one line of a host's.
const LONGEST_DEFINITION: usize = 4 << 20;

/// One session of a host: what happens goes in, what must be done comes out.
///
/// Reads no clock, no file, no randomness; starts nothing and waits for nothing. The caller
/// gives the time with every input and sends [`Event::Tick`] when [`Session::deadline`] is due.
#[derive(Debug, Clone)]
pub struct Session {
    abilities: Abilities,
    /// Whether there is an interface, as far as the host told of this session.
    has_ui: Option<bool>,
    /// Whether the user trusts the project, as far as the host knows.
    pub(crate) project_trusted: bool,
    pub(crate) random: Random,
    pub(crate) settings: Settings,
    pub(crate) run: Option<Run>,
    pub(crate) countdown: Option<Countdown>,
    /// Whether the response in progress has moved the run; `None` between responses.
    pub(crate) turn_moved: Option<bool>,
    /// What became of the last push, until the agent stops again or a person speaks.
    pub(crate) pushed: Option<Pushed>,
    /// What the conversation holds of what there is to tell.
    pub(crate) told: Told,
    /// The `next` that is on its way out of the phase, and waits for no person.
    pub(crate) leaving: Option<Leaving>,
    /// Gates run so far.
    pub(crate) gates: u64,
    /// What waits for a person's answer.
    pub(crate) waiting: BTreeMap<QuestionId, Waiting>,
    /// The questions to it, and those that nobody waits for any more.
    pub(crate) asked: Asked,
    /// What the settings say of tool calls outside of a run.
    pub(crate) rules: Rules,
    /// What the settings say of results outside of a run.
    pub(crate) results: Results,
    /// The call that was denied last, and how often in a row.
    pub(crate) denied: Option<Denied>,
    /// How many calls rules denied, or asked a person about.
    pub(crate) denials: u64,
    /// What was kept of the code.
    pub(crate) checkpoints: Checkpoints,
    /// What triggers have for the agent.
    pub(crate) wake: Wake,
    questions: u64,
    /// The problems that were shown last, so that they are shown once per change (B49).
    pub(crate) problems_shown: String,
}

/// A run in memory: its state, and what follows from it.
#[derive(Debug, Clone)]
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
    /// What of it does not come from the user's own workflows.
    pub(crate) foreign: Foreign,
    /// How things stood when the phase was entered, if its gate asks for it.
    pub(crate) baseline: Option<Box<RawValue>>,
    /// The waiting for a person's word about the phase, if there is one: no word about another counts.
    pub(crate) awaits: Option<String>,
    /// The same, as the session's entries hold it.
    pub(crate) stored_awaits: Option<String>,
}

/// What waits for a person's answer.
#[derive(Debug, Clone)]
pub(crate) enum Waiting {
    /// A run that would take the place of another.
    Start(PendingStart),
    /// A tool call.
    Call(PendingCall),
    /// The way out of a phase.
    Leave(PendingLeave),
    /// Whether the code goes back as well.
    Restore(PendingRestore),
    /// Whether these triggers of the project may be watched.
    Triggers(Vec<Trigger>),
}

impl Waiting {
    pub(crate) fn is_about_leaving(&self) -> bool {
        matches!(self, Self::Leave(_))
    }

    /// The answer to the request that it holds up, when nobody gives one.
    pub(crate) fn unanswered(self, why: &str) -> Option<DeferredReply> {
        let (request, reply) = match self {
            Self::Start(start) => (start.request, Reply::None),
            Self::Leave(leave) => return Some(called_off(leave.request(), why)),
            Self::Restore(restore) => return Some(went_on(restore.request, None)),
            Self::Triggers(_) => return None,
            Self::Call(call) => {
                let reason =
                    format!("{}\nNobody could be asked about it: {why}.", call.reason).into();
                let by = Decider::Nobody;
                (call.request, Reply::Block { reason, by })
            }
        };
        Some(DeferredReply {
            request,
            reply,
            actions: Vec::new(),
        })
    }
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
            project_trusted: true,
            random: Random::new(seed),
            settings: Settings::default(),
            run: None,
            countdown: None,
            turn_moved: None,
            pushed: None,
            told: Told::default(),
            leaving: None,
            gates: 0,
            waiting: BTreeMap::new(),
            asked: Asked::default(),
            rules: Rules::default(),
            results: Results::default(),
            denied: None,
            denials: 0,
            checkpoints: Checkpoints::default(),
            wake: Wake::default(),
            questions: 0,
            problems_shown: String::new(),
        }
    }

    /// Numbers the gates from here on, so that what is told late of another session's gate is about none of this.
    pub fn number_gates_from(&mut self, number: u64) {
        self.gates = number;
    }

    /// Says whether there is an interface, as far as the host knows now.
    pub fn set_has_ui(&mut self, has_ui: bool) {
        self.has_ui = Some(has_ui);
    }

    /// Whether what is decided may hang on what tools are given or give back, and not on their names alone.
    #[must_use]
    pub fn looks_at_payload(&self) -> bool {
        let standing = self.standing().map(|(_, standing)| standing);
        let (rules, results) = standing.map_or((&self.rules, &self.results), |standing| {
            (&standing.rules, &standing.results)
        });
        rules.depend_on_input() || !results.is_empty()
    }

    /// How many calls were denied for what they hold: also by the rule that holds where nothing looks at payload.
    #[must_use]
    pub fn denials(&self) -> u64 {
        self.denials
    }

    /// Says whether the user trusts the project, as far as the host knows now.
    pub fn set_project_trusted(&mut self, trusted: bool) {
        self.project_trusted = trusted;
    }

    /// Whether the settings say something about tools: it holds without a run as well.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        !(self.rules.is_empty() && self.results.is_empty())
    }

    /// Whether a settings file could not be read as it stands: it is worth looking at again.
    #[must_use]
    pub fn misses_settings(&self) -> bool {
        !(self.settings.user.status.is_loaded() && self.settings.project.status.is_loaded())
    }

    /// When [`Event::Tick`] is due next.
    #[must_use]
    pub fn deadline(&self) -> Option<Millis> {
        let countdown = self.countdown.as_ref().map(Countdown::deadline);
        let questions = self.questions_due();
        let texts = self.wake.deadline();
        let code = self.checkpoints.deadline();
        let all = countdown.into_iter().chain(questions).chain(texts);
        all.chain(code).min()
    }

    /// Takes what happened, gives what must be done.
    pub fn step(&mut self, now: Millis, input: Event<'_>) -> Effects {
        let mut out = Effects::default();
        self.note_agent(now, &input);
        if begins_to_work(&input) {
            self.forget_restore("the agent went on before you answered", &mut out);
        }
        match input {
            Event::Session { entries, loaded } => {
                self.session_changed(&entries, &loaded, &mut out);
                self.wake.moved(now);
            }
            Event::Shutdown => self.session_over(&mut out),
            Event::BeforeAgentStart { prompt } => self.before_agent_start(prompt, &mut out),
            // A text of nobody's may be our own reminder: the counts wait until the agent starts on it.
            Event::AgentStart | Event::UserInput { author: None } => {
                self.agent_is_running(&mut out);
            }
            Event::TurnStart { index } => self.turn_started(index, &mut out),
            Event::TurnEnd => self.turn_ended(&mut out),
            Event::AgentEnd { last } => self.agent_ended(now, last, &mut out),
            Event::ToolCall {
                request,
                tool,
                input,
                paths,
            } => self.tool_called(request, &Call::new(tool, input, paths), &mut out),
            Event::ToolResult {
                tool,
                content,
                is_error,
            } => self.tool_answered(tool, content, is_error, &mut out),
            Event::UserInput {
                author: Some(Author::Extension),
            } => {}
            Event::UserInput {
                author: Some(Author::Person),
            } => self.user_spoke(&mut out),
            Event::Compacted => self.told = Told::default(),
            Event::Settings { loaded } => self.settings_changed(loaded, &mut out),
            Event::Branch {
                request,
                turn,
                entries,
            } => self.goes_back(request, turn, entries.as_deref(), &mut out),
            Event::Step { request, action } => self.step_tool(now, request, action, &mut out),
            Event::StepCancelled { request } => self.step_cancelled(request, &mut out),
            Event::Platform(event) => self.platform_reported(now, event, &mut out),
            Event::Command {
                request,
                command: Command::Workflow { arguments, loaded },
            } => {
                self.workflow_command(now, request, arguments, loaded, &mut out);
            }
            Event::Command {
                command: Command::CancelWorkflow,
                ..
            } => self.cancel_command(&mut out),
            Event::Answer { question, answer } => self.answered(now, question, answer, &mut out),
            Event::Tick => {
                // What somebody has to say comes before our own reminder, and stops its countdown.
                self.give_next(now, &mut out);
                self.time_passed(now, &mut out);
                self.give_up_waiting(now, &mut out);
                self.give_up_waiting_for_code(now, &mut out);
            }
        }
        self.note_questions(now, &out.questions);
        if out.sends_user_message() {
            self.wake.spoken_to(now);
        }
        out
    }

    /// Takes a report of the platform.
    fn platform_reported(&mut self, now: Millis, event: PlatformEvent, out: &mut Effects) {
        match event {
            PlatformEvent::BaselineTaken { baseline } => self.baseline_taken(baseline, out),
            PlatformEvent::GateNotTrusted { gate } => self.gate_untrusted(now, gate, out),
            PlatformEvent::GateProgress { gate, text } => self.gate_goes_on(gate, &text, out),
            PlatformEvent::GateFinished { gate, reports } => {
                self.gate_over(now, gate, reports, out);
            }
            PlatformEvent::ApprovalRead { decision } => self.word_read(now, decision, out),
            PlatformEvent::CheckpointRecorded { snapshot } => {
                self.code_kept(now, Ok(snapshot), out);
            }
            PlatformEvent::CheckpointFailed { error } => self.code_kept(now, Err(error), out),
            PlatformEvent::RestoreProgress { restore, text } => {
                self.restore_goes_on(restore, &text, out);
            }
            PlatformEvent::CodeRestored { restore, outcome } => {
                self.code_restored(restore, &outcome, out);
            }
            PlatformEvent::TriggersWatched { report } => self.watched(&report, out),
            PlatformEvent::Triggered { text } => self.triggered(now, text, out),
        }
    }

    /// Notes whether the agent works, as far as this tells.
    fn note_agent(&mut self, now: Millis, input: &Event<'_>) {
        let works = matches!(
            input,
            Event::BeforeAgentStart { .. }
                | Event::AgentStart
                | Event::TurnStart { .. }
                | Event::TurnEnd
                | Event::ToolCall { .. }
                | Event::ToolResult { .. }
        );
        if works {
            self.wake.works();
        } else if matches!(input, Event::AgentEnd { .. }) {
            self.wake.stopped(now);
        }
    }

    /// Whether the host said that nobody sees anything.
    pub(crate) fn is_without_interface(&self) -> bool {
        self.has_ui == Some(false)
    }

    /// Whether a person can be asked: what the host says of itself, whatever it shows (A14).
    pub(crate) fn can_ask(&self) -> bool {
        self.abilities.dialogs && self.waiting.len() < MOST_WAITING
    }

    /// Why a person cannot be asked: the host cannot, as `without_dialogs` says it, or too much waits.
    pub(crate) fn why_not_asked(&self, without_dialogs: &str) -> String {
        if self.abilities.dialogs {
            format!("{MOST_WAITING} questions wait for an answer already")
        } else {
            without_dialogs.to_owned()
        }
    }

    /// Whether a widget is seen.
    pub(crate) fn shows_widgets(&self) -> bool {
        match self.abilities.widgets {
            Some(widgets) => widgets && self.has_ui != Some(false),
            None => self.has_ui == Some(true),
        }
    }

    /// Takes settings over, for what is not in a run as well.
    pub(crate) fn adopt_settings(&mut self, settings: &Settings) {
        self.rules = Rules::new(settings_levels(settings));
        self.results = Results::new(
            settings
                .user
                .results
                .iter()
                .chain(&settings.project.results),
        );
        self.settings = settings.clone();
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
    pub(crate) fn agent_is_running(&mut self, out: &mut Effects) {
        if self
            .countdown
            .take()
            .is_some_and(|countdown| countdown.in_widget)
        {
            out.actions.push(Action::SetWidget { lines: None });
        }
    }

    /// Moves the run to another state: decided, stored, then shown.
    pub(crate) fn enter(&mut self, state: RunState, out: &mut Effects) {
        self.agent_is_running(out);
        self.stop_leaving("the run moved on meanwhile", out);
        self.call_off_calls("the run moved on", out);
        self.told.leave_phase();
        if self.run.as_ref().is_some_and(|run| run.state != state) {
            self.forget_word(out);
        }
        let Some(run) = self.run.as_mut() else { return };
        run.standing = Standing::of(&state, &run.catalog, &self.settings);
        run.state = state;
        run.cancel_pending = false;
        run.pace = Pace::default();
        run.awaits = None;
        run.baseline = None;
        run.store(out);
        if let Some(standing) = run.standing.as_ref().ok().filter(|_| run.state.active)
            && needs_baseline(&standing.phase.gate)
        {
            out.effects.push(Effect::TakeBaseline {
                gates: standing.phase.gate.clone(),
            });
        }
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
    pub(crate) fn store(&mut self, out: &mut Effects) {
        out.append_entry(entry_type::STATE, &self.state);
        self.store_definition(out);
        self.store_pace(out);
    }

    /// Appends the definition in force, unless the session holds it (behaviour: "Definition gone").
    pub(crate) fn store_definition(&mut self, out: &mut Effects) {
        if self.state.active && self.standing.is_ok() && !self.definition_stored {
            let stored =
                StoredDefinition::of(&self.state.workflow_key, &self.catalog, &self.state.task_id);
            let stored = entry(entry_type::DEFINITION, &stored);
            self.definition_stored = true;
            // Too long stays too long: it is said once.
            out.actions.push(if is_longer(&stored, LONGEST_DEFINITION) {
                notify(Severity::Warning, NOT_STORED)
            } else {
                stored
            });
        }
    }

    /// Appends how far pushing went, unless the session holds it.
    pub(crate) fn store_pace(&mut self, out: &mut Effects) {
        // What nobody is parked for is not waited for any longer than the session lives.
        let awaits = self.awaits.clone().filter(|_| self.pace.parked.is_some());
        if self.pace != self.stored_pace || awaits != self.stored_awaits {
            let stored = StoredRun {
                awaits: awaits.clone(),
                ..StoredRun::of(&self.state.task_id, self.pace)
            };
            out.append_entry(entry_type::RUN, &stored);
            (self.stored_pace, self.stored_awaits) = (self.pace, awaits);
        }
    }
}

/// Whether the agent begins on something.
fn begins_to_work(input: &Event<'_>) -> bool {
    use Event::{AgentStart, BeforeAgentStart, TurnStart};
    matches!(
        input,
        BeforeAgentStart { .. } | AgentStart | TurnStart { .. }
    )
}

/// What is said of a definition that is too long to be kept.
const NOT_STORED: &str = "[workflow] The workflow takes more than 4 MiB, and the session does not keep it: if its files go, the run \
     cannot go on. Make its texts shorter.";

/// Whether an entry's data is longer than this.
fn is_longer(entry: &Action, limit: usize) -> bool {
    matches!(entry, Action::AppendEntry { data, .. } if data.get().len() > limit)
}

/// An entry to append.
pub(crate) fn entry(custom_type: &'static str, data: &impl Serialize) -> Action {
    Action::append_entry(custom_type, data)
}

/// Tells the person something.
pub(crate) fn notify(severity: Severity, message: impl Into<String>) -> Action {
    Action::notify(severity, message)
}
