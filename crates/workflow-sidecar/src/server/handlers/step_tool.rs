//! Calls of `workflow_step`, the tool of the manifest.

use workflow_core::policy::STEP_TOOL;
use workflow_core::session::StepCall;
use workflow_protocol::method::{ToolCancel, ToolExecute};
use workflow_protocol::{
    Error, HookResult, Kind, SessionBound, ToolCancelParams, ToolExecuteParams, ToolExecuteResult,
};

use super::super::requests::RequestKind;
use super::super::state::Server;
use super::{Handler, HandlerResult};

impl Handler<ToolExecute> for Server {
    fn handle(&mut self, params: ToolExecuteParams<'_>) -> HandlerResult<ToolExecuteResult> {
        if &*params.name != STEP_TOOL {
            return Err(Error::new(
                Kind::UnknownTool,
                format!("there is no tool {:?}", &*params.name),
            ));
        }
        let call = params
            .arguments
            .map_or_else(StepCall::default, StepCall::read);
        let kind = RequestKind::Step {
            session: params.session_id().to_owned(),
            call: params.tool_call_id.to_string(),
        };
        self.handle_request(&params, kind, |session, request| {
            session.handle_workflow_step(request, &call);
        })
    }
}

impl Handler<ToolCancel> for Server {
    fn handle(&mut self, params: ToolCancelParams<'_>) -> HandlerResult<HookResult> {
        self.session_of(&params)?;
        let id = params.session_id();
        let pending = self.requests.find_step(id, &params.tool_call_id);
        let cancel = |request| self.handle_event(id, |it| it.handle_step_cancelled(request));
        Ok(Some(pending.map(cancel).unwrap_or_default().into()))
    }
}
