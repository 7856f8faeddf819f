//! The way out: everything the world must do for a [`Session`](crate::Session).
//!
//! The other half of the border is [`input`](crate::input).

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::checkpoint::Snapshot;
use crate::definition::{Approval, Gate, RunCheck, Trigger};
use crate::diagnostic::Diagnostic;
use crate::input::{QuestionId, Ticket};

/// The custom types of our messages (hook-lifecycle: "Message Custom Types").
pub mod message_type {
    /// Tells the agent where it stands; hidden from the person.
    pub const CONTEXT: &str = "workflow:context";
    /// Announces the end of a run.
    pub const COMPLETE: &str = "workflow:complete";
    /// Announces a push where there is no widget.
    pub const COUNTDOWN: &str = "workflow:countdown";
    /// Says why a run is parked.
    pub const PARKED: &str = "workflow:parked";
}

/// What one input came to.
#[derive(Debug, Default)]
pub struct Output {
    /// The answer to the input itself.
    pub reply: Reply,
    /// What the host must do, in order.
    pub actions: Vec<Action>,
    /// What is wrong with definitions or stored entries.
    pub diagnostics: Vec<Diagnostic>,
    /// What to ask the host.
    pub questions: Vec<Question>,
    /// Earlier requests that are answered now.
    pub settled: Vec<Settled>,
    /// What the process must do itself.
    pub effects: Vec<Effect>,
}

impl Output {
    /// Whether the agent is spoken to.
    pub(crate) fn says_something(&self) -> bool {
        let settled = self.settled.iter().flat_map(|settled| &settled.actions);
        let mut actions = self.actions.iter().chain(settled);
        actions.any(|action| matches!(action, Action::SendUserMessage { .. }))
    }
}

/// Something the process must do itself, because it takes time or looks at the world.
#[derive(Debug)]
pub enum Effect {
    /// Run the checks of a gate. Comes back as `GateUntrusted`, or as `GateProgress` and once `GateOver`.
    RunGate(GateRun),
    /// End what a gate runs. Nothing comes back.
    StopGate(GateId),
    /// Look at how things stand, for these checks. Comes back as `Baseline` before anything else.
    TakeBaseline(Vec<Gate>),
    /// Remember that the user trusts these commands in this project.
    Trust(Vec<RunCheck>),
    /// Keep what is waited for where the user can answer it outside of the host.
    AwaitWord(Awaiting),
    /// Look what the user said of what is kept. Comes back as `Word` before anything else.
    ReadWord(Awaiting),
    /// Forget what is kept about the word of the user that the run of this task waits for, or got.
    ForgetWord(String),
    /// Keep the code as it stands. Comes back as `CodeKept` before anything else.
    KeepCode,
    /// Bring the code back to how it stood. Comes back as `GateProgress` and once as `CodeRestored`, also if the session
    /// has gone elsewhere meanwhile.
    RestoreCode {
        /// Comes back with what became of it.
        id: GateId,
        /// How it stood.
        snapshot: Snapshot,
    },
    /// Watch these triggers and no others; those of the project only if the user trusts them. Comes back as
    /// `Watched` before anything else, and as `Triggered` whenever one has something.
    Watch(Vec<Trigger>),
    /// Watch no triggers any more.
    WatchNoMore,
    /// Remember that the user trusts these triggers in this project.
    TrustTriggers(Vec<Trigger>),
}

/// A person's word that is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Awaiting {
    /// What is asked.
    pub approval: Approval,
    /// Names this waiting among all that there were.
    pub nonce: String,
}

/// A gate that is to be run.
#[derive(Debug)]
pub struct GateRun {
    /// Comes back with what became of it.
    pub id: GateId,
    /// Its checks, in order.
    pub gates: Vec<Gate>,
    /// What `TakeBaseline` came to when the phase was entered, if that is known.
    pub baseline: Option<Box<RawValue>>,
    /// The commands that may run only if the user trusts them.
    pub commands: Vec<RunCheck>,
}

/// Names a gate that runs, or a way back of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GateId(pub u64);

/// The answer to an input.
#[derive(Debug, Default)]
pub enum Reply {
    /// Nothing beyond the actions.
    #[default]
    None,
    /// The answer comes later, as [`Settled`].
    Later,
    /// The tool call must not run.
    Block {
        /// What the agent is told.
        reason: Arc<str>,
        /// Who decided.
        by: Decider,
    },
    /// What the model reads in place of a tool's result.
    Content(Box<RawValue>),
    /// A message to put into the conversation before the agent starts.
    Inject {
        /// Its custom type.
        custom_type: &'static str,
        /// Its text.
        content: Arc<str>,
    },
    /// What `agent_end` did to the run.
    Mutation(Mutation),
    /// What `workflow_step` answers.
    Tool(ToolAnswer),
    /// What becomes of what a trigger had.
    Heard(Heard),
}

/// What becomes of what a trigger had for the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// It was sent to the agent.
    Delivered,
    /// It is sent when the agent has stopped.
    Queued,
    /// Too much waits already.
    Refused,
}

/// Who decided that a tool call must not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decider {
    /// A rule.
    Rule,
    /// A person, who was asked.
    Person,
    /// Nobody: the decision could not be made.
    Nobody,
}

/// What `agent_end` did to the run (hook-lifecycle: `HookStateMutation`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mutation {
    /// The run is unloaded.
    pub unload: bool,
    /// Its state was persisted.
    pub persist: bool,
}

/// What a tool answers the model.
#[derive(Debug, PartialEq)]
pub struct ToolAnswer {
    /// The text the model reads.
    pub text: String,
    /// The same for programs.
    pub details: serde_json::Value,
    /// What kind of answer it is, where it is not plain progress.
    pub kind: Option<AnswerKind>,
}

/// What kind of answer a tool gave (`resultType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    /// It could not do what was asked.
    Error,
    /// It asks for, or confirms, a cancellation.
    Cancel,
    /// The run is complete.
    Complete,
}

/// Something the host must do.
#[derive(Debug)]
pub enum Action {
    /// Append an entry to the session.
    AppendEntry {
        /// Its custom type.
        custom_type: &'static str,
        /// Its data, as JSON text.
        data: Box<RawValue>,
    },
    /// Show a message that triggers no turn.
    SendMessage {
        /// Its custom type.
        custom_type: &'static str,
        /// Its text.
        content: String,
    },
    /// Send a message to the agent as the user would.
    SendUserMessage {
        /// Its text.
        content: String,
        /// Whether it is wanted even if the agent has become busy: then it follows.
        must_arrive: bool,
    },
    /// Name the session.
    SetSessionName {
        /// The name.
        name: String,
    },
    /// Set or clear our status line.
    SetStatus {
        /// The text, `None` to clear it.
        text: Option<String>,
    },
    /// Set or clear the countdown above the editor.
    SetWidget {
        /// Its lines, `None` to clear it.
        lines: Option<Vec<String>>,
    },
    /// Tell the person something.
    Notify {
        /// The text.
        message: String,
        /// How much it matters.
        level: Level,
    },
}

/// How much a notification matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Good to know.
    Info,
    /// Look at it.
    Warning,
    /// Something did not happen.
    Error,
}

/// A question to the person, asked through the host.
#[derive(Debug, PartialEq, Eq)]
pub struct Question {
    /// Comes back with the answer.
    pub id: QuestionId,
    /// The dialog's title.
    pub title: String,
    /// The dialog's text.
    pub message: String,
    /// What can be chosen; without options the answer is yes or no.
    pub options: Vec<String>,
    /// A file whose text is shown with the question, from the session's directory.
    pub show: Option<String>,
}

/// An earlier request that is answered now.
#[derive(Debug)]
pub struct Settled {
    /// The request.
    pub ticket: Ticket,
    /// Its answer.
    pub reply: Reply,
    /// What the host must do.
    pub actions: Vec<Action>,
}
