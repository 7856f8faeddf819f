//! What the host, the model and others see of the run: its condition, its status line, its context, and a view of it.

use std::collections::BTreeMap;

use super::Session;
use super::phase::ResolvedPhase;
use super::questions::Topic;
use super::run::ActiveRun;
use crate::condition::{Needed, RunCondition};
use crate::definition::ContextMode;
use crate::effect::{Message, message_type};
use crate::reminders::{ContinueCounters, PauseReason};
use crate::run::RunState;

/// A session's run, resolved.
#[derive(Debug)]
pub struct View<'a> {
    /// The state as it is stored.
    pub state: &'a RunState,
    /// The phase; `None` if the run ended or does not fit its definitions.
    pub phase: Option<&'a ResolvedPhase>,
    /// What the run is doing, or what it waits for.
    pub condition: RunCondition,
    /// The call that waits for the user's consent, where nobody can be asked: its tool, and the rule that asks.
    pub unasked: Option<&'a str>,
    /// The counts of reminders.
    pub counters: ContinueCounters,
    /// Seconds until the next reminder, while a countdown runs.
    pub countdown: Option<u32>,
    run: &'a ActiveRun,
}

impl View<'_> {
    /// The status line: why the run does not continue, the phase's, and how often its gate failed.
    pub fn status(&self) -> Option<String> {
        let line = self.condition.status_line(self.run);
        line.map(|line| line + &self.run.gate_failures())
    }

    /// The inputs that the run was given, as people read them.
    pub fn inputs(&self) -> BTreeMap<String, String> {
        self.run.progress().data.inputs_as_texts()
    }

    /// The number of the visit of the phase and its limit: `2 of 3`.
    pub fn visit(&self) -> Option<String> {
        let visits = self.run.visits();
        visits.map(|(visits, most)| format!("{visits} of {most}"))
    }

    /// The budgets that apply, and what is used of each, as people read them.
    pub fn budget(&self) -> Option<String> {
        self.run.budgets.describe()
    }
}

impl Session {
    /// The status line (hook-lifecycle: "updateStatus").
    pub(super) fn status(&self) -> Option<String> {
        let run = self.run.as_ref()?;
        self.condition(run).status_line(run)
    }

    /// What the run is doing, or what it waits for.
    pub(super) fn condition(&self, run: &ActiveRun) -> RunCondition {
        let is_call = |topic: &Topic| matches!(topic, Topic::ToolCall(_));
        let (asks, holds) = (self.questions.is_open(is_call), self.auto_continue.is_held);
        RunCondition::of(run, self.exit.condition(), asks, holds)
    }

    /// Returns true while the run waits for the user's approval, in a dialog or paused.
    pub fn awaits_approval(&self) -> bool {
        let is_asked = self.exit.condition() == Some(RunCondition::AwaitsApproval);
        let run = self.run.as_ref();
        is_asked || run.is_some_and(|run| run.is_paused_for(PauseReason::Approval))
    }

    pub(super) fn set_status(&mut self) {
        let phase = self.run.as_ref().and_then(ActiveRun::phase);
        self.host.show(self.status(), phase, &mut self.out);
    }

    /// Sets the status line if it differs from the one that is shown.
    pub(super) fn refresh_status(&mut self) {
        if !self.host.shows(self.status().as_ref()) {
            self.set_status();
        }
    }

    /// Returns the context message of the phase, without the parts that the conversation already contains.
    pub fn context_message(&mut self) -> Option<Message> {
        self.mark_phase_read();
        let phase = self.run.as_ref()?.phase()?;
        let content = match phase.context_mode {
            ContextMode::ByChange => phase.context.update(&mut self.sent_context),
            ContextMode::EveryTurn => phase.context.in_full(),
        };
        Some(Message {
            custom_type: message_type::CONTEXT,
            content,
            display: false,
        })
    }

    /// The run, if there is one.
    pub fn view(&self) -> Option<View<'_>> {
        let run = self.run.as_ref()?;
        Some(self.view_in(run, self.condition(run)))
    }

    /// The run once its session is closed: without open questions, and without a gate that runs.
    pub fn closed_view(&self) -> Option<View<'_>> {
        let run = self.run.as_ref()?;
        let condition = RunCondition::of(run, None, false, false);
        let is_active = condition == RunCondition::Active;
        let closed = is_active.then_some(RunCondition::Closed);
        Some(self.view_in(run, closed.unwrap_or(condition)))
    }

    fn view_in<'a>(&self, run: &'a ActiveRun, condition: RunCondition) -> View<'a> {
        View {
            state: run.state(),
            phase: run.phase(),
            condition,
            unasked: run.unasked(),
            counters: run.counters(),
            countdown: self.auto_continue.seconds_left(),
            run,
        }
    }
}

impl RunCondition {
    /// The condition of a run in memory, and of its exit from a phase. `asks_about_call` is true while a tool call waits for the
    /// user, `holds_reminder` after typing stopped a countdown.
    pub(crate) fn of(
        run: &ActiveRun,
        exit: Option<Self>,
        asks_about_call: bool,
        holds_reminder: bool,
    ) -> Self {
        let state = run.state();
        if !state.active {
            return if state.cancelled {
                Self::Cancelled
            } else {
                Self::Complete
            };
        }
        let condition = match (exit, run.counters().paused) {
            (Some(exit), _) => exit,
            (None, _) if asks_about_call => Self::AwaitsConsent,
            (None, Some(PauseReason::Approval)) => Self::AwaitsApproval,
            (None, _) if run.counters().paused_by_owner => Self::PausedByUser,
            (None, None | Some(PauseReason::Question))
                if run.phase().is_some() && run.memory.untrusted_at == Some(run.step()) =>
            {
                Self::AwaitsTrust
            }
            (None, None | Some(PauseReason::Question))
                if run.phase().is_some() && run.unasked().is_some() =>
            {
                Self::AwaitsConsent
            }
            (None, Some(reason)) => Self::Paused(reason),
            (None, None) => match run.phase() {
                None => Self::Stale,
                Some(_) if holds_reminder => Self::ReminderHeld,
                Some(phase) if phase.auto_continue.wait => Self::AwaitsUser,
                Some(_) => Self::Active,
            },
        };
        if condition == Self::AwaitsApproval && run.answered.is_some() {
            return Self::Answered;
        }
        condition
    }

    /// The status line of a run in this condition. The condition comes first, because a short line loses its end.
    pub(crate) fn status_line(self, run: &ActiveRun) -> Option<String> {
        let place = &run.phase()?.status;
        let mark = if self == Self::RunningGate {
            "⏳"
        } else if self == Self::Answered {
            "✓"
        } else if self.needed() == Needed::Nothing || self == Self::AwaitsUser {
            // In a phase that waits for the user, the agent may be at work.
            return Some(place.clone());
        } else {
            "⏸"
        };
        Some(format!("{mark} {} · {place}", self.words()))
    }
}
