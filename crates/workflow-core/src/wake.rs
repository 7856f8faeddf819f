//! `triggers`: what wakes the agent from outside (pi-hooks: "Sending Messages").
//!
//! Owns when a text that came in is given to the agent: at once while it rests, and one after the other when it has
//! stopped. What is watched, and how, the process knows.

use std::collections::VecDeque;

use crate::Session;
use crate::definition::{Tier, Trigger};
use crate::effect::{Action, Effect, Effects, Reply, TriggerOutcome};
use crate::event::{Answer, WatchReport};
use crate::session::Waiting;
use crate::types::{Millis, Severity};

/// How a text begins that says what nobody was given.
pub const NOT_GIVEN: &str = "[workflow] The session ends before the agent was told: ";

/// How many texts wait while the agent is busy.
const WAITING: usize = 16;
/// How long an agent that was spoken to may take to start, before it counts as resting.
const WAKING: Millis = 10_000;

/// What the agent does, and what waits for it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wake {
    agent: Agent,
    queue: VecDeque<String>,
    /// Whether anything is watched.
    watching: bool,
    /// Whether a person said that the project's triggers are not to be watched, or nobody could be asked.
    declined: bool,
}

#[derive(Debug, Clone, Copy)]
enum Agent {
    /// It rests since then.
    Rests(Millis),
    /// It was spoken to, and counts as resting again then.
    Woken(Millis),
    Works,
}

impl Default for Agent {
    fn default() -> Self {
        Self::Rests(0)
    }
}

impl Wake {
    /// When the next text can be given to the agent.
    pub(crate) fn deadline(&self) -> Option<Millis> {
        if self.queue.is_empty() {
            return None;
        }
        match self.agent {
            Agent::Rests(since) => Some(since),
            Agent::Woken(until) => Some(until),
            Agent::Works => None,
        }
    }

    fn rests(&self, now: Millis) -> bool {
        match self.agent {
            Agent::Rests(_) => true,
            Agent::Woken(until) => until <= now,
            Agent::Works => false,
        }
    }

    /// The agent does something.
    pub(crate) fn works(&mut self) {
        self.agent = Agent::Works;
    }

    /// The agent has stopped.
    pub(crate) fn stopped(&mut self, now: Millis) {
        self.agent = Agent::Rests(now);
    }

    /// Another conversation is open, or another branch of it. What waits is for whoever is there; what the agent did
    /// in the other one says nothing.
    pub(crate) fn moved(&mut self, now: Millis) {
        self.agent = Agent::Rests(now);
    }

    /// The texts that nobody was given, as the session ends.
    pub(crate) fn not_given(&mut self) -> impl Iterator<Item = String> {
        std::mem::take(&mut self.queue).into_iter()
    }

    /// The agent was spoken to.
    pub(crate) fn spoken_to(&mut self, now: Millis) {
        if !matches!(self.agent, Agent::Works) {
            self.agent = Agent::Woken(now.saturating_add(WAKING));
        }
    }
}

impl Session {
    /// Has watched what the settings say, and nothing else.
    pub(crate) fn watch_triggers(&mut self, out: &mut Effects) {
        let triggers = &self.settings.triggers;
        if triggers.is_empty() {
            return self.watch_no_more(out);
        }
        // A host without an interface runs one prompt and ends: there is nobody to wake.
        if self.is_without_interface() {
            let message = "[workflow] No trigger is watched: this host shows nothing, and ends with its prompt.";
            out.notify(Severity::Warning, message);
            return self.watch_no_more(out);
        }
        self.wake.watching = true;
        out.effects.push(Effect::WatchTriggers {
            triggers: triggers.clone(),
        });
    }

    pub(crate) fn watch_no_more(&mut self, out: &mut Effects) {
        if std::mem::take(&mut self.wake.watching) {
            out.perform(Effect::StopWatching);
        }
    }

    /// Says what is watched, and asks about what only a person can allow.
    pub(crate) fn watched(&mut self, watched: &WatchReport, out: &mut Effects) {
        if !watched.started.is_empty() {
            let message = format!("[workflow] Watching {}", watched.started.join(", "));
            out.notify(Severity::Info, message);
        }
        for problem in &watched.problems {
            let message = format!("[workflow] {problem}");
            out.notify(Severity::Warning, message);
        }
        if watched.untrusted && !self.wake.declined {
            self.ask_about_triggers(out);
        }
    }

    fn ask_about_triggers(&mut self, out: &mut Effects) {
        let has_asked = |waiting: &Waiting| matches!(waiting, Waiting::Triggers(_));
        if self.waiting.values().any(has_asked) {
            return;
        }
        if !self.can_ask() {
            let why = self.why_not_asked("this host cannot ask");
            return self.triggers_declined(&why, out);
        }
        let shown: Vec<Trigger> = self.project_triggers().cloned().collect();
        let listed: Vec<String> = shown.iter().map(Trigger::listed).collect();
        self.ask_for_trust(
            "Watch the triggers of this project?",
            "The settings of this project want to wake the agent when something comes in here. A file is emptied when it was read:",
            &listed,
            Waiting::Triggers(shown),
            out,
        );
    }

    /// The answer is about what was shown: triggers that have changed since are asked about again.
    pub(crate) fn triggers_answered(
        &mut self,
        shown: Vec<Trigger>,
        answer: Answer<'_>,
        out: &mut Effects,
    ) {
        if answer != Answer::Confirmed(true) {
            return self.triggers_declined("you did not agree", out);
        }
        out.perform(Effect::TrustTriggers { triggers: shown });
        self.watch_triggers(out);
    }

    pub(crate) fn triggers_declined(&mut self, why: &str, out: &mut Effects) {
        self.wake.declined = true;
        let message = format!(
            "[workflow] The triggers of this project are not watched: {why}. `workflow-sidecar trust` allows them."
        );
        out.notify(Severity::Warning, message);
    }

    fn project_triggers(&self) -> impl Iterator<Item = &Trigger> {
        let triggers = self.settings.triggers.iter();
        triggers.filter(|trigger| trigger.tier == Tier::Project)
    }

    /// Something came in: the agent is told, now or when it has stopped.
    pub(crate) fn triggered(&mut self, now: Millis, text: String, out: &mut Effects) {
        let heard = if self.wake.queue.is_empty() && self.wake.rests(now) {
            self.wake_up(now, text, out);
            TriggerOutcome::Delivered
        } else if self.wake.queue.len() < WAITING {
            self.wake.queue.push_back(text);
            TriggerOutcome::Queued
        } else {
            TriggerOutcome::Refused
        };
        out.reply = Reply::Triggered(heard);
    }

    /// Gives the agent what waits for it, if it rests.
    pub(crate) fn give_next(&mut self, now: Millis, out: &mut Effects) {
        if self.wake.rests(now)
            && let Some(text) = self.wake.queue.pop_front()
        {
            self.wake_up(now, text, out);
        }
    }

    /// It is as a word of the user: nothing counts down any more.
    fn wake_up(&mut self, now: Millis, content: String, out: &mut Effects) {
        self.agent_is_running(out);
        self.wake.spoken_to(now);
        out.actions.push(Action::SendUserMessage {
            content,
            must_arrive: true,
        });
    }
}
