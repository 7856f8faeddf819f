//! Facts that a file reports.

use workflow_core::event::Entry;

/// A fact that matters to a timeline.
#[derive(Debug)]
pub(super) enum Fact<'a> {
    /// An entry of ours was stored.
    Stored(Entry<'a>),
    /// The session was loaded with these entries of ours.
    Loaded(Vec<Entry<'a>>),
    /// The agent called a tool.
    ToolCalled,
    /// The agent called `workflow_step` with this action.
    StepAction(&'a str),
    /// `workflow_step` answered with an error.
    Refused(&'a str),
    /// A tool's error result. In a session file a blocked call is one too.
    ToolResult { tool: &'a str, text: &'a str },
    /// A call was blocked.
    CallDenied { tool: &'a str, reason: &'a str },
    /// The user is asked a question.
    Asked { id: &'a str, question: &'a str },
    /// A question is answered.
    Answered { id: &'a str, answer: &'a str },
    /// A context message.
    ContextInjected(&'a str),
    /// A user message, written by the user or sent by the sidecar.
    UserMessage(&'a str),
    /// A user message sent by the sidecar.
    SentMessage(&'a str),
    /// A trigger received this text for the agent.
    TriggerText(&'a str),
    /// The result of restoring a checkpoint.
    CodeRestored(&'a str),
    /// Older messages were replaced by a summary.
    Compacted,
}
