//! Triggers: the state of the agent, and the queue of messages for it (pi-hooks: "Sending Messages").
//!
//! A message is sent at once to an idle agent; otherwise it waits until the agent has stopped. The platform watches.

use std::collections::VecDeque;

use crate::definition::Trigger;
use crate::diagnostic::visible;
use crate::effect::{Effect, Effects, TriggerOutcome};
use crate::types::Millis;

/// The beginning of a notification about a message that was not delivered.
const NOT_DELIVERED: &str = "[workflow] The session ended before the agent received: ";

/// Messages that wait while the agent is busy.
const MAX_QUEUED: usize = 16;
/// The time after which an agent that has not started on a message counts as idle again.
const WAKE_TIMEOUT: Millis = 10_000;
/// Characters that are shown of a message that was not delivered.
const MAX_SHOWN: usize = 200;

/// The messages for the agent.
#[derive(Debug, Clone, Default)]
pub(crate) struct TriggerQueue {
    /// True while the agent works.
    is_busy: bool,
    /// Since when it is idle if it does not work. After a message to it this lies ahead.
    idle_since: Millis,
    queue: VecDeque<String>,
    /// True while triggers are watched.
    watching: bool,
    /// True if the project's triggers were declined, or no question to the person was possible.
    pub(super) declined: bool,
}

impl TriggerQueue {
    /// When the next message can be sent.
    pub(crate) fn deadline(&self) -> Option<Millis> {
        (!self.is_busy && !self.queue.is_empty()).then_some(self.idle_since)
    }

    /// Returns true if the agent does not work, judged by the events.
    pub(crate) fn is_idle(&self, now: Millis) -> bool {
        !self.is_busy && self.idle_since <= now
    }

    /// Notes that the agent works.
    pub(crate) fn set_busy(&mut self) {
        self.is_busy = true;
    }

    /// Notes that the agent has stopped, or that another conversation is open.
    pub(crate) fn set_idle(&mut self, now: Millis) {
        (self.is_busy, self.idle_since) = (false, now);
    }

    /// Notes that a message was sent to the agent.
    pub(crate) fn set_waking(&mut self, now: Millis) {
        self.idle_since = now.saturating_add(WAKE_TIMEOUT);
    }

    /// Watches these triggers and no others.
    pub(crate) fn watch(&mut self, triggers: &[Trigger], is_headless: bool, out: &mut Effects) {
        if triggers.is_empty() {
            return self.stop_watching(out);
        }
        // A host without an interface runs one prompt and ends.
        if is_headless {
            let message = "[workflow] Triggers are not watched: this host has no interface and ends after its prompt.";
            out.warn(message);
            return self.stop_watching(out);
        }
        self.watching = true;
        let triggers = triggers.to_vec();
        out.perform(Effect::WatchTriggers { triggers });
    }

    fn stop_watching(&mut self, out: &mut Effects) {
        if std::mem::take(&mut self.watching) {
            out.perform(Effect::StopWatching);
        }
    }

    /// Reports that the project's triggers are not watched.
    pub(crate) fn decline(&mut self, why: &str, out: &mut Effects) {
        self.declined = true;
        out.warn(format!(
            "[workflow] The triggers of this project are not watched: {why}. `workflow-sidecar trust` allows them."
        ));
    }

    /// Takes a message of a trigger. One that can be delivered now is the next.
    pub(crate) fn accept(&mut self, text: String, now: Millis) -> TriggerOutcome {
        if self.queue.len() >= MAX_QUEUED {
            return TriggerOutcome::Refused;
        }
        self.queue.push_back(text);
        if self.queue.len() == 1 && self.is_idle(now) {
            TriggerOutcome::Delivered
        } else {
            TriggerOutcome::Queued
        }
    }

    /// The next message, if the agent is idle.
    pub(crate) fn next(&mut self, now: Millis) -> Option<String> {
        let is_idle = self.is_idle(now);
        is_idle.then(|| self.queue.pop_front()).flatten()
    }

    /// Stops watching, and reports the messages that were not delivered.
    pub(crate) fn shut_down(&mut self, out: &mut Effects) {
        self.stop_watching(out);
        for text in std::mem::take(self).queue {
            let beginning: String = text.chars().take(MAX_SHOWN).collect();
            out.warn(format!("{NOT_DELIVERED}{}", visible(&beginning)));
        }
    }
}
