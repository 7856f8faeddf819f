//! The work of the agent: prompts, turns, its start and its end.

use workflow_core::Session;
use workflow_core::event::{Author, LastAssistant};
use workflow_core::session::TurnUsage;
use workflow_protocol::method::{
    HookAgentEnd, HookAgentStart, HookBeforeAgentStart, HookInput, HookTurnEnd, HookTurnStart,
};
use workflow_protocol::{
    AgentEndParams, AgentEndResult, AgentStartParams, BeforeAgentStartParams,
    BeforeAgentStartResult, HookResult, InputParams, TurnParams,
};

use super::super::state::Server;
use super::{Handler, HandlerResult};

impl Handler<HookBeforeAgentStart> for Server {
    fn handle(
        &mut self,
        params: BeforeAgentStartParams<'_>,
    ) -> HandlerResult<BeforeAgentStartResult> {
        self.reload_unreadable_settings(&params)?;
        let prompt = params.event.prompt.as_deref();
        let (inject, out) =
            self.handle_call(&params, |session| session.handle_before_agent_start(prompt))?;
        Ok(Some(BeforeAgentStartResult {
            inject,
            ..out.into()
        }))
    }
}

impl Handler<HookAgentStart> for Server {
    fn handle(&mut self, params: AgentStartParams<'_>) -> HandlerResult<HookResult> {
        self.handle_hook(&params, Session::handle_agent_start)
    }
}

impl Handler<HookTurnStart> for Server {
    fn handle(&mut self, params: TurnParams<'_>) -> HandlerResult<HookResult> {
        let index = params.event.turn_index;
        self.handle_hook(&params, |session| session.handle_turn_start(index))
    }
}

impl Handler<HookTurnEnd> for Server {
    fn handle(&mut self, params: TurnParams<'_>) -> HandlerResult<HookResult> {
        let usage = TurnUsage {
            tokens: params.event.tokens.unwrap_or_default(),
            micro_usd: params.event.micro_usd.unwrap_or_default(),
        };
        self.handle_hook(&params, |session| session.handle_turn_end(usage))
    }
}

impl Handler<HookAgentEnd> for Server {
    fn handle(&mut self, params: AgentEndParams<'_>) -> HandlerResult<AgentEndResult> {
        let last = params.event.messages.last_assistant.as_ref();
        let last = last.map(|last| LastAssistant {
            stop_reason: last.stop_reason.as_deref(),
            text_tail: Some(&last.text_tail),
        });
        let (mutation, out) =
            self.handle_call(&params, |session| session.handle_agent_end(last))?;
        Ok(Some(AgentEndResult {
            mutation,
            ..out.into()
        }))
    }
}

impl Handler<HookInput> for Server {
    fn handle(&mut self, params: InputParams<'_>) -> HandlerResult<HookResult> {
        let author = match params.event.source.as_deref() {
            Some("extension") => Some(Author::Extension),
            Some("editor") => Some(Author::Typist),
            Some(_) => Some(Author::User),
            None => None,
        };
        self.handle_hook(&params, |session| session.handle_user_input(author))
    }
}
