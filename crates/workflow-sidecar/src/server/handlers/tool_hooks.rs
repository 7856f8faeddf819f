//! Tool calls of the agent and their results.

use workflow_core::policy::rules::Call;
use workflow_protocol::method::{HookToolCall, HookToolResult};
use workflow_protocol::{ToolCallParams, ToolCallResult, ToolResultParams, ToolResultResult};

use super::super::convert;
use super::super::host::not_initialized;
use super::super::pending_requests::PendingKind;
use super::super::state::Server;
use super::{now, now_or_later};
use crate::rpc::{Handler, HandlerResult};

impl Handler<HookToolCall> for Server {
    fn handle(&mut self, params: ToolCallParams<'_>) -> HandlerResult<ToolCallResult> {
        self.reload_unreadable_settings(&params)?;
        let directories = self.directories(&params.session_id);
        let directories = directories.ok_or_else(not_initialized)?;
        let paths = self.platform.paths(&directories.project());
        let call = Call::new(&params.event.tool_name, params.event.input, &*paths);
        let (reply, out) = self.handle_deferrable_call(
            &params,
            PendingKind::ToolCall,
            |session, request, out| session.handle_tool_call(request, &call, out),
            convert::tool_decision,
        )?;
        now_or_later(reply, |decision| convert::tool_call_result(decision, out))
    }
}

impl Handler<HookToolResult> for Server {
    fn handle(&mut self, params: ToolResultParams<'_>) -> HandlerResult<ToolResultResult> {
        let event = &params.event;
        let is_error = event.is_error.unwrap_or(false);
        let (content, out) = self.handle_call(&params, |session, out| {
            session.handle_tool_result(&event.tool_name, event.content, is_error, out)
        })?;
        now(convert::tool_result_result(content, out))
    }
}
