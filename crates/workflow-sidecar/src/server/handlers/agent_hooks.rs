//! The work of the agent: prompts, turns, its start and its end.

use workflow_core::Session;
use workflow_core::event::{Author, LastAssistant};
use workflow_core::session::TurnUsage;
use workflow_protocol::method::{
    HookAgentEnd, HookAgentStart, HookBeforeAgentStart, HookInput, HookTurnEnd, HookTurnStart,
};
use workflow_protocol::{AgentEndResult, BeforeAgentStartResult};

handler!(HookBeforeAgentStart, |server, params| {
    server.reload_unreadable_settings(&params)?;
    let prompt = params.event.prompt.as_deref();
    let (inject, out) =
        server.handle_call(&params, |session| session.handle_before_agent_start(prompt))?;
    Ok(Some(BeforeAgentStartResult {
        inject,
        ..out.into()
    }))
});

handler!(HookAgentStart, |server, params| {
    server.handle_hook(&params, Session::handle_agent_start)
});

handler!(HookTurnStart, |server, params| {
    let index = params.event.turn_index;
    server.handle_hook(&params, |session| session.handle_turn_start(index))
});

handler!(HookTurnEnd, |server, params| {
    let usage = TurnUsage {
        tokens: params.event.tokens.unwrap_or_default(),
        micro_usd: params.event.micro_usd.unwrap_or_default(),
    };
    server.handle_hook(&params, |session| session.handle_turn_end(usage))
});

handler!(HookAgentEnd, |server, params| {
    let last = params.event.messages.last_assistant.as_ref();
    let last = last.map(|last| LastAssistant {
        stop_reason: last.stop_reason.as_deref(),
        text_tail: Some(&last.text_tail),
    });
    let (mutation, out) = server.handle_call(&params, |session| session.handle_agent_end(last))?;
    Ok(Some(AgentEndResult {
        mutation,
        ..out.into()
    }))
});

handler!(HookInput, |server, params| {
    let author = match params.event.source.as_deref() {
        Some("extension") => Some(Author::Extension),
        Some("editor") => Some(Author::Typist),
        Some(_) => Some(Author::User),
        None => None,
    };
    server.handle_hook(&params, |session| session.handle_user_input(author))
});
