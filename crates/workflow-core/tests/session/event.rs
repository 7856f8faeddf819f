//! Events as values, so that a test can send any of them by one function.

use std::sync::Arc;

use serde_json::value::RawValue;
use workflow_core::Session;
use workflow_core::definition::Loaded;
use workflow_core::effect::{
    Block, Message, Mutation, Reply, ToolAnswer, ToolDecision, TriggerOutcome,
};
use workflow_core::event::{Answer, Author, Entry, LastAssistant, PlatformEvent};
use workflow_core::policy::rules::{Call, PLAIN_PATHS};
use workflow_core::session::{Control, StepCall, TurnUsage};
use workflow_core::types::{QuestionId, RequestId};

/// An event of the host, the platform or the clock.
#[derive(Debug)]
pub(crate) enum Event<'a> {
    Session {
        entries: Vec<Entry<'a>>,
        loaded: Arc<Loaded>,
    },
    Shutdown,
    BeforeAgentStart {
        prompt: Option<&'a str>,
    },
    AgentStart,
    TurnStart {
        index: Option<u64>,
    },
    TurnEnd,
    AgentEnd {
        last: Option<LastAssistant<'a>>,
    },
    ToolCall {
        request: RequestId,
        tool: &'a str,
        input: Option<&'a RawValue>,
        loaded: Arc<Loaded>,
    },
    ToolResult {
        tool: &'a str,
        content: Option<&'a RawValue>,
        is_error: bool,
    },
    UserInput {
        author: Option<Author>,
    },
    Branch {
        request: RequestId,
        turn: Option<u64>,
        entries: Option<Vec<Entry<'a>>>,
    },
    Compacted,
    Settings {
        loaded: &'a Loaded,
    },
    Step {
        request: RequestId,
        call: StepCall<'a>,
    },
    StepCancelled {
        request: RequestId,
    },
    StartCommand {
        request: RequestId,
        arguments: &'a str,
        loaded: Arc<Loaded>,
    },
    CancelCommand,
    Control {
        request: RequestId,
        control: Control,
        arguments: &'a str,
    },
    Answer {
        question: QuestionId,
        answer: Answer<'a>,
    },
    Platform(PlatformEvent),
    Tick,
}

/// The kind of a request that is answered later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    ToolCall,
    Step,
    Command,
    Branch,
}

impl RequestKind {
    /// The kind of request that an answer is for.
    pub(crate) fn of(answer: &Reply) -> Self {
        match answer {
            Reply::ToolCall(_) => Self::ToolCall,
            Reply::Step(_) => Self::Step,
            Reply::Command => Self::Command,
            Reply::Branch(_) => Self::Branch,
        }
    }
}

/// A reply of the session.
pub(crate) enum Replied {
    /// The rendered reply, unless it is the usual one, which the host reads as "go on".
    Now(Option<String>),
    /// The answer is among the effects, now or later.
    ToRequest(RequestId, RequestKind),
}

/// Sends an event to a session.
pub(crate) fn send(session: &mut Session, event: Event<'_>) -> Replied {
    match event {
        Event::Session { entries, loaded } => session.handle_session(&entries, &loaded),
        Event::Shutdown => session.handle_shutdown(),
        Event::BeforeAgentStart { prompt } => {
            let message = session.handle_before_agent_start(prompt);
            return Replied::Now(message.map(|message| {
                let Message {
                    custom_type,
                    content,
                    ..
                } = message;
                format!("inject {custom_type} {content}")
            }));
        }
        Event::AgentStart => session.handle_agent_start(),
        Event::TurnStart { index } => session.handle_turn_start(index),
        Event::TurnEnd => session.handle_turn_end(TurnUsage::default()),
        Event::AgentEnd { last } => {
            let mutation = session.handle_agent_end(last);
            let Mutation { unload, persist } = mutation;
            let changed = (mutation != Mutation::default())
                .then(|| format!("mutation unload {unload}, persist {persist}"));
            return Replied::Now(changed);
        }
        Event::ToolCall {
            request,
            tool,
            input,
            loaded,
        } => {
            let call = Call::new(tool, input, &*PLAIN_PATHS);
            let loaded = session.is_stopped_at_door(&call).then_some(loaded);
            session.handle_tool_call(request, &call, loaded.as_ref());
            return Replied::ToRequest(request, RequestKind::ToolCall);
        }
        Event::ToolResult {
            tool,
            content,
            is_error,
        } => {
            let content = session.handle_tool_result(tool, content, is_error);
            return Replied::Now(content.map(|content| format!("content {content}")));
        }
        Event::UserInput { author } => session.handle_user_input(author),
        Event::Branch {
            request,
            turn,
            entries,
        } => {
            session.handle_branch(request, turn, entries.as_deref());
            return Replied::ToRequest(request, RequestKind::Branch);
        }
        Event::Compacted => session.handle_compaction(),
        Event::Settings { loaded } => session.handle_settings(loaded),
        Event::Step { request, call } => {
            session.handle_workflow_step(request, &call);
            return Replied::ToRequest(request, RequestKind::Step);
        }
        Event::StepCancelled { request } => session.handle_step_cancelled(request),
        Event::StartCommand {
            request,
            arguments,
            loaded,
        } => {
            session.handle_workflow_command(request, arguments, loaded);
            return Replied::ToRequest(request, RequestKind::Command);
        }
        Event::CancelCommand => session.handle_cancel_command(None),
        Event::Control {
            request,
            control,
            arguments,
        } => {
            session.handle_control(request, control, arguments);
            return Replied::ToRequest(request, RequestKind::Command);
        }
        Event::Answer { question, answer } => session.handle_answer(question, answer),
        Event::Platform(event) => {
            let outcome: Option<TriggerOutcome> = session.handle_platform_event(event);
            return Replied::Now(outcome.map(|outcome| format!("outcome {outcome:?}")));
        }
        Event::Tick => session.poll_deadline(),
    }
    Replied::Now(None)
}

/// The answer to the request of an event, unless it is the usual one.
pub(crate) fn render_reply(reply: &Reply) -> Option<String> {
    match reply {
        Reply::ToolCall(ToolDecision::Allow) | Reply::Command | Reply::Branch(_) => None,
        Reply::ToolCall(block) => Some(render_decision("", block)),
        Reply::Step(answer) => Some(render_answer("", answer)),
    }
}

/// An answer to an earlier request, as a line.
pub(crate) fn render_late_reply(request: RequestId, answer: &Reply) -> String {
    let id = format!("#{} ", request.0);
    let line = match answer {
        Reply::ToolCall(decision) => render_decision(&id, decision),
        Reply::Step(answer) => render_answer(&id, answer),
        Reply::Branch(answer) if answer.skip_conversation_restore => format!("keep {id}"),
        Reply::Command | Reply::Branch(_) => format!("none {id}"),
    };
    format!("settled {}", line.trim_end())
}

fn render_decision(id: &str, decision: &ToolDecision) -> String {
    match decision {
        ToolDecision::Allow => format!("none {id}"),
        ToolDecision::Block(Block { reason, kind }) => format!("block {id}by {kind:?}: {reason}"),
    }
}

fn render_answer(id: &str, answer: &ToolAnswer) -> String {
    let ToolAnswer {
        text,
        details,
        kind,
    } = answer;
    format!("tool {id}{text}\n= {kind:?} {details}")
}
