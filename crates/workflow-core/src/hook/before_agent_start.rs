//! `before_agent_start`: what the agent is told of the workflow (hook-lifecycle: "handleBeforeAgentStart").
//!
//! In full when a phase is entered and whenever the model may have lost it, in one line in
//! between (behaviour: "Context"): what the model has seen is not said again.

use crate::Session;
use crate::definition::ContextMode;
use crate::guard::Pace;
use crate::output::{Output, Reply};
use crate::white_space;

/// The custom type of the context message.
pub(crate) const CONTEXT_MESSAGE: &str = "workflow:context";

impl Session {
    pub(crate) fn before_agent_start(&mut self, prompt: Option<&str>, out: &mut Output) {
        self.agent_is_running(out);
        self.forget_cancel();
        self.turn_moved = None;
        let reminder = self.reminder_sent.take();
        let ours = reminder.is_some_and(|reminder| {
            prompt.is_none_or(|prompt| white_space::trim(prompt) == white_space::trim(&reminder))
        });
        if !ours {
            self.user_spoke(out);
        }
        let Some((_, standing)) = self.standing() else {
            return;
        };
        let full = !self.context_given || standing.context_mode == ContextMode::EveryTurn;
        let content = if full {
            &standing.context
        } else {
            &standing.context_line
        };
        out.reply = Reply::Inject {
            custom_type: CONTEXT_MESSAGE,
            content: content.clone(),
        };
        self.context_given = true;
    }

    /// Any word of the user stops the countdown, starts the counts anew, and resumes a parked run.
    pub(crate) fn user_spoke(&mut self, out: &mut Output) {
        self.agent_is_running(out);
        self.reminder_sent = None;
        if let Some(run) = self.run.as_mut().filter(|run| run.state.active) {
            run.pace = Pace::default();
            run.store_pace(out);
        }
    }

    pub(crate) fn forget_cancel(&mut self) {
        if let Some(run) = &mut self.run {
            run.cancel_pending = false;
        }
    }
}
