//! Tool calls of the agent and their results.

use workflow_core::policy::rules::Call;
use workflow_protocol::method::{HookToolCall, HookToolResult};
use workflow_protocol::{ToolResultMutation, ToolResultResult};

use super::super::requests::RequestKind;

handler!(HookToolCall, |server, params| {
    server.reload_unreadable_settings(&params)?;
    let directories = server.session_of(&params)?.driver.directories.clone();
    let paths = server.config.platform.paths(&directories.project());
    let call = Call::new(&params.event.tool_name, params.event.input, &*paths);
    let is_at_door = server.session_of(&params)?.driver.session.is_at_door();
    let is_stopped = is_at_door
        && server
            .handle_call(&params, |session| session.is_stopped_at_door(&call))?
            .0;
    let loaded = is_stopped.then(|| server.definitions(&params.session_id, &params.context));
    let loaded = loaded.transpose()?;
    server.handle_request(&params, RequestKind::ToolCall, |session, request| {
        session.handle_tool_call(request, &call, loaded);
    })
});

handler!(HookToolResult, |server, params| {
    let event = &params.event;
    let is_error = event.is_error.unwrap_or(false);
    let (content, out) = server.handle_call(&params, |session| {
        session.handle_tool_result(&event.tool_name, event.content, is_error)
    })?;
    Ok(Some(ToolResultResult {
        mutation: content.map(|content| ToolResultMutation { content }),
        ..out.into()
    }))
});
