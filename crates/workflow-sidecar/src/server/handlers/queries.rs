//! Questions of the host that change nothing: the workflows, and the state of a session.

use workflow_protocol::method::{SessionState, WorkflowList};
use workflow_protocol::{
    SessionStateParams, SessionStateResult, WorkflowListParams, WorkflowListResult,
};

use super::super::convert;
use super::super::state::Server;
use super::{Handler, HandlerResult};

impl Handler<WorkflowList> for Server {
    fn handle(&mut self, params: WorkflowListParams<'_>) -> HandlerResult<WorkflowListResult> {
        let loaded = self.definitions(&params.session_id, &params.context)?;
        Ok(Some(convert::workflow_list_result(&loaded)))
    }
}

impl Handler<SessionState> for Server {
    fn handle(&mut self, params: SessionStateParams<'_>) -> HandlerResult<SessionStateResult> {
        let open = self.session_of(&params)?;
        Ok(Some(convert::session_state_result(
            open.driver.session.view(),
        )))
    }
}
