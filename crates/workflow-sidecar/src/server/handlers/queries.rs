//! Questions of the host that change nothing: the workflows, and the state of a session.

use workflow_protocol::method::{SessionState, WorkflowList};

use super::super::convert;

handler!(WorkflowList, |server, params| {
    let loaded = server.definitions(&params.session_id, &params.context)?;
    Ok(Some(convert::workflow_list_result(&loaded)))
});

handler!(SessionState, |server, params| {
    let open = server.session_of(&params)?;
    Ok(Some(convert::session_state_result(
        open.driver.session.view(),
    )))
});
