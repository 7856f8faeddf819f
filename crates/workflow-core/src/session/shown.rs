//! What the host and the model are shown of the run: its condition, its status line, its context.

use super::Session;
use super::questions::Topic;
use super::run::ActiveRun;
use crate::condition::RunCondition;
use crate::definition::ContextMode;
use crate::effect::{Message, message_type};
use crate::reminders::PauseReason;

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
}
