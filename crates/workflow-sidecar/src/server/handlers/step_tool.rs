//! Calls of `workflow_step`, the tool of the manifest.

use serde::Deserialize;
use serde_json::value::RawValue;
use workflow_core::policy::STEP_TOOL;
use workflow_protocol::method::{ToolCancel, ToolExecute};
use workflow_protocol::{
    Error, HookResult, Kind, SessionBound, Text, ToolCancelParams, ToolExecuteParams,
    ToolExecuteResult,
};

use super::super::convert;
use super::super::pending_requests::PendingKind;
use super::super::state::Server;
use super::{now, now_or_later};
use crate::rpc::{Handler, HandlerResult, text};

impl Handler<ToolExecute> for Server {
    fn handle(&mut self, params: ToolExecuteParams<'_>) -> HandlerResult<ToolExecuteResult> {
        if &*params.name != STEP_TOOL {
            return Err(Error::new(
                Kind::UnknownTool,
                format!("there is no tool {:?}", &*params.name),
            ));
        }
        let action = params.arguments.and_then(step_action);
        let action = action.as_deref();
        let kind = PendingKind::Step {
            session: params.session_id().to_owned(),
            call: params.tool_call_id.to_string(),
        };
        let (reply, out) = self.handle_request(
            &params,
            kind,
            |session, request, out| session.handle_workflow_step(request, action, out),
            convert::step_answer,
        )?;
        now_or_later(reply, |answer| convert::tool_execute_result(answer, out))
    }
}

impl Handler<ToolCancel> for Server {
    fn handle(&mut self, params: ToolCancelParams<'_>) -> HandlerResult<HookResult> {
        self.session_of(&params)?;
        let out = self.cancel_step(params.session_id(), &params.tool_call_id);
        now(convert::hook_result(out))
    }
}

/// The `action` argument, if the model gave one that is a string. The session answers a call without one.
fn step_action(arguments: &RawValue) -> Option<Text<'_>> {
    #[derive(Deserialize)]
    struct Arguments<'a> {
        #[serde(borrow)]
        action: &'a RawValue,
    }
    // `serde` would take an array of one element for the struct as well.
    let object = Some(arguments.get()).filter(|json| json.starts_with('{'))?;
    let arguments: Arguments<'_> = serde_json::from_str(object).ok()?;
    text(arguments.action)
}
