//! Calls of `workflow_step`, the tool of the manifest.

use workflow_core::policy::STEP_TOOL;
use workflow_core::session::StepCall;
use workflow_protocol::method::{ToolCancel, ToolExecute};
use workflow_protocol::{Error, Kind, SessionBound};

use super::super::requests::RequestKind;

handler!(ToolExecute, |server, params| {
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
    server.handle_request(&params, kind, |session, request| {
        session.handle_workflow_step(request, &call);
    })
});

handler!(ToolCancel, |server, params| {
    server.session_of(&params)?;
    let id = params.session_id();
    let pending = server.requests.find_step(id, &params.tool_call_id);
    let cancel = |request| server.handle_event(id, |it| it.handle_step_cancelled(request));
    Ok(Some(pending.map(cancel).unwrap_or_default().into()))
});
