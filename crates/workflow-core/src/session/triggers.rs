//! Triggers: the state of the agent, and the queue of messages for it (pi-hooks: "Sending Messages").
//!
//! A message is sent at once to an idle agent; otherwise it waits until the agent has stopped. The platform watches.

use std::collections::VecDeque;

use super::questions::{QuestionTable, QuestionText, QuestionTopic};
use crate::definition::{Tier, Trigger};
use crate::diagnostic::visible;
use crate::effect::{Effect, Effects};
use crate::event::{Answer, WatchReport};
use crate::types::{Millis, Severity};

/// The beginning of a notification about a message that was not delivered.
pub const NOT_DELIVERED: &str = "[workflow] The session ended before the agent received: ";

/// Messages that wait while the agent is busy.
const MAX_QUEUED: usize = 16;
/// The time after which an agent that has not started on a message counts as idle again.
const WAKE_TIMEOUT: Millis = 10_000;
/// Characters that are shown of a message that was not delivered.
const MAX_SHOWN: usize = 200;

/// The messages for the agent.
#[derive(Debug, Clone, Default)]
pub(crate) struct TriggerQueue {
    agent: AgentState,
    queue: VecDeque<String>,
    /// True while triggers are watched.
    watching: bool,
    /// True if the project's triggers were declined, or no question to the person was possible.
    declined: bool,
    /// The triggers in the open question.
    asked: Option<Vec<Trigger>>,
}

/// The activity of the agent.
#[derive(Debug, Clone, Copy)]
enum AgentState {
    Idle {
        since: Millis,
    },
    /// A message was sent; it counts as idle again at this time.
    Waking {
        until: Millis,
    },
    Busy,
}

impl Default for AgentState {
    fn default() -> Self {
        Self::Idle { since: 0 }
    }
}

impl AgentState {
    /// When the agent is idle, unless it is busy.
    fn idle_at(self) -> Option<Millis> {
        match self {
            Self::Idle { since } => Some(since),
            Self::Waking { until } => Some(until),
            Self::Busy => None,
        }
    }

    fn is_idle(self, now: Millis) -> bool {
        match self {
            Self::Idle { .. } => true,
            Self::Waking { until } => until <= now,
            Self::Busy => false,
        }
    }
}

/// The handling of a new message.
#[derive(Debug)]
pub(crate) enum Accepted {
    /// It is to be sent now.
    Send(String),
    /// It was queued.
    Queued,
    /// The queue is full.
    Refused,
}

impl TriggerQueue {
    /// When the next message can be sent.
    pub(crate) fn deadline(&self) -> Option<Millis> {
        self.agent.idle_at().filter(|_| !self.queue.is_empty())
    }

    /// Returns true if the agent does not work, judged by the events.
    pub(crate) fn is_idle(&self, now: Millis) -> bool {
        self.agent.is_idle(now)
    }

    /// Notes that the agent works.
    pub(crate) fn set_busy(&mut self) {
        self.agent = AgentState::Busy;
    }

    /// Notes that the agent has stopped, or that another conversation is open.
    pub(crate) fn set_idle(&mut self, now: Millis) {
        self.agent = AgentState::Idle { since: now };
    }

    /// Notes that a message was sent to the agent.
    pub(crate) fn set_waking(&mut self, now: Millis) {
        if !matches!(self.agent, AgentState::Busy) {
            let until = now.saturating_add(WAKE_TIMEOUT);
            self.agent = AgentState::Waking { until };
        }
    }

    /// Watches these triggers and no others.
    pub(crate) fn watch(&mut self, triggers: &[Trigger], is_headless: bool, out: &mut Effects) {
        if triggers.is_empty() {
            return self.stop_watching(out);
        }
        // A host without an interface runs one prompt and ends.
        if is_headless {
            let message = "[workflow] Triggers are not watched: this host has no interface and ends after its prompt.";
            out.notify(Severity::Warning, message);
            return self.stop_watching(out);
        }
        self.watching = true;
        out.perform(Effect::WatchTriggers {
            triggers: triggers.to_vec(),
        });
    }

    fn stop_watching(&mut self, out: &mut Effects) {
        if std::mem::take(&mut self.watching) {
            out.perform(Effect::StopWatching);
        }
    }

    /// Reports what is watched, and asks for trust in the project's triggers.
    pub(crate) fn on_watched(
        &mut self,
        report: &WatchReport,
        triggers: &[Trigger],
        questions: &mut QuestionTable,
        out: &mut Effects,
    ) {
        if !report.started.is_empty() {
            let message = format!("[workflow] Watching {}", report.started.join(", "));
            out.notify(Severity::Info, message);
        }
        for problem in &report.problems {
            out.notify(Severity::Warning, format!("[workflow] {problem}"));
        }
        if !report.untrusted || self.declined || self.asked.is_some() {
            return;
        }
        if !questions.can_ask() {
            let why = questions.why_not("this host cannot ask");
            return self.decline(&why, out);
        }
        let project = triggers
            .iter()
            .filter(|trigger| trigger.tier == Tier::Project);
        let shown: Vec<Trigger> = project.cloned().collect();
        let text = QuestionText::trust(
            "Watch the triggers of this project?",
            "The settings of this project send messages to the agent when one of these receives something. A watched file is emptied after it is read:",
            shown.iter().map(Trigger::listed),
        );
        questions.ask(QuestionTopic::Triggers, text, out);
        self.asked = Some(shown);
    }

    /// Trusts the triggers that were shown, if the person agreed. The question is repeated for those that changed since.
    pub(crate) fn on_answer(
        &mut self,
        answer: Answer<'_>,
        triggers: &[Trigger],
        is_headless: bool,
        out: &mut Effects,
    ) {
        let Some(shown) = self.asked.take() else {
            return;
        };
        if answer != Answer::Confirmed(true) {
            return self.decline("you did not agree", out);
        }
        out.perform(Effect::TrustTriggers { triggers: shown });
        self.watch(triggers, is_headless, out);
    }

    /// Reports that the project's triggers are not watched.
    pub(crate) fn decline(&mut self, why: &str, out: &mut Effects) {
        self.asked = None;
        self.declined = true;
        let message = format!(
            "[workflow] The triggers of this project are not watched: {why}. `workflow-sidecar trust` allows them."
        );
        out.notify(Severity::Warning, message);
    }

    /// Forgets the open question.
    pub(crate) fn forget_question(&mut self) {
        self.asked = None;
    }

    /// Takes a message of a trigger.
    pub(crate) fn accept(&mut self, text: String, now: Millis) -> Accepted {
        if self.queue.is_empty() && self.agent.is_idle(now) {
            Accepted::Send(text)
        } else if self.queue.len() < MAX_QUEUED {
            self.queue.push_back(text);
            Accepted::Queued
        } else {
            Accepted::Refused
        }
    }

    /// The next message, if the agent is idle.
    pub(crate) fn next(&mut self, now: Millis) -> Option<String> {
        if self.agent.is_idle(now) {
            self.queue.pop_front()
        } else {
            None
        }
    }

    /// Stops watching, and reports the messages that were not delivered.
    pub(crate) fn shut_down(&mut self, out: &mut Effects) {
        self.stop_watching(out);
        for text in std::mem::take(self).queue {
            let beginning: String = text.chars().take(MAX_SHOWN).collect();
            let message = format!("{NOT_DELIVERED}{}", visible(&beginning));
            out.notify(Severity::Warning, message);
        }
    }
}
