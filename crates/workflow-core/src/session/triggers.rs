//! Triggers: the state of the agent, and the queue of messages for it (pi-hooks: "Sending Messages").
//!
//! A message is sent at once to an idle agent; otherwise it waits until the agent has stopped. The platform watches.

use std::collections::VecDeque;

use crate::definition::Trigger;
use crate::diagnostic::visible;
use crate::effect::{Effect, Effects};
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

    /// Returns true if the project's triggers were declined, or no question to the person was possible.
    pub(crate) fn are_declined(&self) -> bool {
        self.declined
    }

    /// Reports that the project's triggers are not watched.
    pub(crate) fn decline(&mut self, why: &str, out: &mut Effects) {
        self.declined = true;
        let message = format!(
            "[workflow] The triggers of this project are not watched: {why}. `workflow-sidecar trust` allows them."
        );
        out.notify(Severity::Warning, message);
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
