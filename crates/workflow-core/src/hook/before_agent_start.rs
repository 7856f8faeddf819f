//! `before_agent_start`: what the agent is told of the workflow (hook-lifecycle: "handleBeforeAgentStart").
//!
//! What stands in the conversation is not said again (behaviour: "Context"): in full when a run starts
//! and whenever the model may have lost it, what is new when a phase is entered, and in one line in between.

use crate::Session;
use crate::definition::ContextMode;
use crate::effect::{Effects, Reply, message_type};
use crate::policy::{Pace, Parked};
use crate::white_space;

/// What became of a push.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pushed {
    /// Whether the agent started on it.
    pub(crate) started: bool,
    /// Whether the agent called a tool since.
    pub(crate) used_tools: bool,
}

impl Session {
    pub(crate) fn before_agent_start(&mut self, prompt: Option<&str>, out: &mut Effects) {
        self.agent_is_running(out);
        self.forget_cancel();
        self.turn_moved = None;
        if self.is_our_push(prompt) {
            if let Some(pushed) = &mut self.pushed {
                pushed.started = true;
            }
        } else {
            self.user_spoke(out);
        }
        let mut told = std::mem::take(&mut self.told);
        if let Some((_, standing)) = self.standing() {
            let content = match standing.context_mode {
                ContextMode::ByChange => standing.context.tell(&mut told).into(),
                ContextMode::EveryTurn => standing.context.in_full(),
            };
            out.reply = Reply::Inject {
                custom_type: message_type::CONTEXT,
                content,
            };
        }
        self.told = told;
    }

    /// Whether the agent starts on our own reminder, which must not clear the counts.
    ///
    /// A host may put words of its own around a prompt, or not tell it; and a sidecar that was
    /// restarted in between knows of the push from the session only.
    fn is_our_push(&self, prompt: Option<&str>) -> bool {
        let Some((_, standing)) = self.standing().filter(|(run, _)| run.pace.pushes > 0) else {
            return false;
        };
        let says = |prompt: &str, reminder| match white_space::trim(reminder) {
            "" => white_space::trim(prompt).is_empty(),
            reminder => prompt.contains(reminder),
        };
        match prompt {
            Some(prompt) => standing
                .reminder
                .texts()
                .any(|reminder| says(prompt, reminder)),
            None => self.pushed.as_ref().is_some_and(|pushed| !pushed.started),
        }
    }

    /// Any word of the user stops the countdown, starts the counts anew, and resumes a parked run, but for one
    /// that waits for the user's word about its phase.
    pub(crate) fn user_spoke(&mut self, out: &mut Effects) {
        self.agent_is_running(out);
        self.pushed = None;
        if let Some(run) = self.run.as_mut().filter(|run| run.state.active) {
            let parked = run.pace.parked.filter(|why| *why == Parked::Approval);
            run.pace = Pace {
                parked,
                ..Pace::default()
            };
            run.store_pace(out);
        }
    }

    /// The agent called a tool.
    pub(crate) fn tool_was_used(&mut self) {
        if let Some(pushed) = &mut self.pushed {
            pushed.used_tools = true;
        }
    }

    pub(crate) fn forget_cancel(&mut self) {
        if let Some(run) = &mut self.run {
            run.cancel_pending = false;
        }
    }
}
