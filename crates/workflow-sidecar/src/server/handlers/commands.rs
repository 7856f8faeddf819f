//! The commands `/workflow` and `/cancel-workflow`.

use workflow_core::effect::Reply;
use workflow_core::session;
use workflow_protocol::method::{CommandComplete, CommandRun};
use workflow_protocol::{
    CommandCompleteParams, CommandCompleteResult, CommandRunParams, CommandRunResult, Error, Kind,
};

use super::super::convert;
use super::super::manifest::{CANCEL_COMMAND, START_COMMAND};
use super::super::pending_requests::PendingKind;
use super::super::state::Server;
use super::{now, now_or_later};
use crate::rpc::{Handler, HandlerResult};

impl Handler<CommandRun> for Server {
    fn handle(&mut self, params: CommandRunParams<'_>) -> HandlerResult<CommandRunResult> {
        let loaded = match &*params.name {
            START_COMMAND => Some(self.definitions(&params.session_id, &params.context)?),
            CANCEL_COMMAND => None,
            name => return Err(unknown_command(name)),
        };
        let (reply, out) = self.handle_request(
            &params,
            PendingKind::Command,
            |session, request, out| {
                if let Some(loaded) = loaded {
                    session.handle_workflow_command(request, &params.arguments, loaded, out)
                } else {
                    session.handle_cancel_command(out);
                    Reply::Now(())
                }
            },
            |_| (),
        )?;
        now_or_later(reply, |()| self.command_result(&params.session_id, out))
    }
}

impl Handler<CommandComplete> for Server {
    fn handle(
        &mut self,
        params: CommandCompleteParams<'_>,
    ) -> HandlerResult<CommandCompleteResult> {
        match &*params.name {
            START_COMMAND => {
                let loaded = self.recent_definitions(&params.session_id, &params.context)?;
                let names = session::complete(&loaded.catalog, &params.prefix);
                now(convert::command_complete_result(names))
            }
            CANCEL_COMMAND => now(CommandCompleteResult::default()),
            name => Err(unknown_command(name)),
        }
    }
}

fn unknown_command(name: &str) -> Error {
    Error::new(
        Kind::UnknownCommand,
        format!("there is no command {name:?}"),
    )
}
