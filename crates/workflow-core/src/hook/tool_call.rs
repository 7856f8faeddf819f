//! `tool_call`: may this tool run in this phase? (hook-lifecycle: "handleToolCall")

use crate::Session;
use crate::output::{Output, Reply};

impl Session {
    pub(crate) fn tool_called(&mut self, tool: &str, out: &mut Output) {
        self.agent_is_running(out);
        self.tool_was_used();
        let blocked = self
            .standing()
            .and_then(|(_, standing)| standing.blocks(tool));
        if let Some(reason) = blocked {
            out.reply = Reply::Block { reason };
        }
    }
}
