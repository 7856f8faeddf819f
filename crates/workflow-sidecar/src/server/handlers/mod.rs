//! The handlers of the host's calls, in a file for each group of methods.
//!
//! A handler passes the parameters of a call to its session, and makes the result of the method from what the session
//! returns. Must not know lines and ids, or decide anything that the engine decides.

/// Implements [`Handler`] for a method.
macro_rules! handler {
    ($method:ty, |$server:ident, $params:pat_param| $body:expr) => {
        impl super::Handler<$method> for super::Server {
            fn handle(
                &mut self,
                $params: <$method as super::Method>::Params<'_>,
            ) -> super::HandlerResult<<$method as super::Method>::Result> {
                let $server = self;
                $body
            }
        }
    };
}

mod agent_hooks;
mod commands;
mod lifecycle;
mod queries;
mod session_hooks;
mod step_tool;
mod tool_hooks;

use workflow_core::Session;
use workflow_protocol::{HookResult, Method, SessionBound};

use super::requests::HandlerResult;
use super::state::Server;

/// The handler of one method.
pub(super) trait Handler<M: Method> {
    /// Handles a call of the method.
    fn handle(&mut self, params: M::Params<'_>) -> HandlerResult<M::Result>;
}

impl Server {
    /// Handles a hook with a result of actions and diagnostics only.
    fn handle_hook<'a>(
        &mut self,
        params: &impl SessionBound<'a>,
        handle: impl FnOnce(&mut Session),
    ) -> HandlerResult<HookResult> {
        let ((), out) = self.handle_call(params, handle)?;
        Ok(Some(HookResult {
            guarded: self.take_guarded_change(params.session_id()),
            ..out.into()
        }))
    }
}
