//! Tool calls of the agent and their results.

use workflow_core::policy::rules::Call;
use workflow_protocol::method::{HookToolCall, HookToolResult};
use workflow_protocol::{
    ToolCallParams, ToolCallResult, ToolResultMutation, ToolResultParams, ToolResultResult,
};

use super::super::requests::RequestKind;
use super::super::state::Server;
use super::{Handler, HandlerResult};

impl Handler<HookToolCall> for Server {
    fn handle(&mut self, params: ToolCallParams<'_>) -> HandlerResult<ToolCallResult> {
        self.reload_unreadable_settings(&params)?;
        let directories = self.session_of(&params)?.driver.directories.clone();
        let paths = self.config.platform.paths(&directories.project());
        let call = Call::new(&params.event.tool_name, params.event.input, &*paths);
        self.handle_request(&params, RequestKind::ToolCall, |session, request| {
            session.handle_tool_call(request, &call);
        })
    }
}

impl Handler<HookToolResult> for Server {
    fn handle(&mut self, params: ToolResultParams<'_>) -> HandlerResult<ToolResultResult> {
        let event = &params.event;
        let is_error = event.is_error.unwrap_or(false);
        let (content, out) = self.handle_call(&params, |session| {
            session.handle_tool_result(&event.tool_name, event.content, is_error)
        })?;
        Ok(Some(ToolResultResult {
            mutation: content.map(|content| ToolResultMutation { content }),
            ..out.into()
        }))
    }
}
