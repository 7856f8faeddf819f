//! Calls of `workflow_step`, the tool of the manifest.

use serde::Deserialize;
use serde_json::value::RawValue;
use workflow_core::policy::STEP_TOOL;
use workflow_core::session::StepCall;
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
        let arguments = params
            .arguments
            .map_or_else(StepArguments::default, step_arguments);
        let call = StepCall {
            action: arguments.action.as_deref(),
            summary: arguments.summary.as_deref(),
            outcome: arguments.outcome.as_deref(),
            outputs: arguments.outputs,
        };
        let kind = PendingKind::Step {
            session: params.session_id().to_owned(),
            call: params.tool_call_id.to_string(),
        };
        let (reply, out) = self.handle_request(
            &params,
            kind,
            |session, request, out| session.handle_workflow_step(request, &call, out),
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

/// The arguments of the tool; an action, a summary and an outcome that are no strings count as missing. The session answers a call without an action.
#[derive(Default)]
struct StepArguments<'a> {
    action: Option<Text<'a>>,
    summary: Option<Text<'a>>,
    outcome: Option<Text<'a>>,
    outputs: Option<&'a RawValue>,
}

fn step_arguments(arguments: &RawValue) -> StepArguments<'_> {
    #[derive(Deserialize, Default)]
    struct Arguments<'a> {
        #[serde(borrow, default)]
        action: Option<&'a RawValue>,
        #[serde(borrow, default)]
        summary: Option<&'a RawValue>,
        #[serde(borrow, default)]
        outcome: Option<&'a RawValue>,
        #[serde(borrow, default)]
        outputs: Option<&'a RawValue>,
    }
    // `serde` would take an array of one element for the struct as well.
    let object = Some(arguments.get()).filter(|json| json.starts_with('{'));
    // Arguments of another form are no strings; the session says what it was called with.
    let arguments: Arguments<'_> = object
        .and_then(|json| serde_json::from_str(json).ok())
        .unwrap_or_default();
    StepArguments {
        action: arguments.action.and_then(text),
        summary: arguments.summary.and_then(text),
        outcome: arguments.outcome.and_then(text),
        outputs: arguments.outputs,
    }
}
