//! `turn_start` and `turn_end`: one response of the model and its tool calls.

use crate::Session;
use crate::effect::{Action, Effects};

impl Session {
    pub(crate) fn turn_started(&mut self, index: Option<u64>, out: &mut Effects) {
        self.agent_is_running(out);
        self.keep_code(index, out);
        self.turn_moved = Some(false);
    }

    /// Shows where the run stands (hook-lifecycle: "updateStatus").
    ///
    /// A first `cancel` survives this: the model can confirm only in its next response (A03).
    pub(crate) fn turn_ended(&mut self, out: &mut Effects) {
        self.turn_moved = None;
        out.actions.push(Action::SetStatus {
            text: self.status(),
        });
    }
}
