//! The way in: everything that can happen to a [`Session`](crate::Session).
//!
//! Half of the whole border; the other half is [`output`](crate::output).

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::checkpoint::{NoSnapshot, Restored, Snapshot};
use crate::definition::Loaded;
use crate::guard::gate::Report;
use crate::guard::rules::Paths;
use crate::output::GateId;
use crate::wake::Watched;

/// Milliseconds since the Unix epoch, on whatever clock the caller keeps.
pub type Millis = u64;

/// Something that happened, as far as the engine must know.
#[derive(Debug)]
pub enum Input<'a> {
    /// The session was loaded, created, switched, or moved in its tree.
    Session {
        /// The session's entries of ours, oldest first: the branch is the truth.
        entries: Vec<Entry<'a>>,
        /// The definitions as the files stand now.
        loaded: Arc<Loaded>,
    },
    /// The session is closed: nothing may come of it any more.
    Shutdown,
    /// The agent is about to start on a prompt.
    BeforeAgentStart {
        /// The prompt, where the host tells it.
        prompt: Option<&'a str>,
    },
    /// The agent started.
    AgentStart,
    /// One response of the model begins.
    TurnStart {
        /// Which turn it is, as the host counts.
        index: Option<u64>,
    },
    /// One response of the model, with its tool calls, ended.
    TurnEnd,
    /// The agent stopped.
    AgentEnd {
        /// Its last message, where there is one.
        last: Option<LastAssistant<'a>>,
    },
    /// The agent wants to run a tool.
    ToolCall {
        /// Names the request, should its answer have to wait.
        ticket: Ticket,
        /// The tool's name.
        tool: &'a str,
        /// Its arguments, as JSON text, where the host tells them.
        input: Option<&'a RawValue>,
        /// Tells where paths among them lead.
        paths: &'a dyn Paths,
    },
    /// A tool has run.
    ToolResult {
        /// The tool's name.
        tool: &'a str,
        /// What the model will read, as JSON text, where the host tells it.
        content: Option<&'a RawValue>,
        /// Whether the call failed.
        is_error: bool,
    },
    /// Text was submitted.
    UserInput {
        /// By whom, where the host tells.
        author: Option<Author>,
    },
    /// The conversation is about to go back.
    Branch {
        /// Names the request, should its answer have to wait.
        ticket: Ticket,
        /// The turn it goes back to, as the host counts.
        turn: Option<u64>,
        /// The session's entries of ours up to there, where the host tells.
        entries: Option<Vec<Entry<'a>>>,
    },
    /// What was kept of the code.
    CodeKept {
        /// What, or why nothing.
        kept: Result<Snapshot, NoSnapshot>,
    },
    /// The code was brought back, or could not be.
    CodeRestored {
        /// Which way back.
        id: GateId,
        /// What came of it.
        restored: Restored,
    },
    /// Triggers are watched.
    Watched {
        /// Which of them.
        watched: Watched,
    },
    /// A trigger has something for the agent. Answered with `Reply::Heard`.
    Triggered {
        /// What the agent is to be told.
        text: String,
    },
    /// The host replaced older messages by a summary.
    Compacted,
    /// The settings were read again, in the middle of a session.
    Settings {
        /// What the files say now. Workflows are taken over only where a run starts or is restored.
        loaded: &'a Loaded,
    },
    /// The agent runs `workflow_step`.
    Step {
        /// Names the request, should its answer have to wait.
        ticket: Ticket,
        /// The `action` argument, where it is a string.
        action: Option<&'a str>,
    },
    /// What the user said outside of the host about leaving the phase.
    Word {
        /// The word; none if nothing was said.
        word: Option<Word>,
    },
    /// The host does not want the answer to a `workflow_step` any more.
    StepCancelled {
        /// The request.
        ticket: Ticket,
    },
    /// How things stand where a phase was entered.
    Baseline {
        /// As the process wants it back.
        baseline: Box<RawValue>,
    },
    /// The commands of a gate are not trusted, and were not run.
    GateUntrusted {
        /// The gate.
        gate: GateId,
    },
    /// A gate is still being run, or the code brought back.
    GateProgress {
        /// The gate, or the way back.
        gate: GateId,
        /// What runs, as people read it.
        text: String,
    },
    /// A gate was run.
    GateOver {
        /// The gate.
        gate: GateId,
        /// A report on each check, up to the first that did not pass.
        reports: Vec<Report>,
    },
    /// A person runs one of our commands.
    Command {
        /// Names the request, should its answer have to wait.
        ticket: Ticket,
        /// Which command.
        command: Command<'a>,
    },
    /// The host answered a question.
    Answer {
        /// The question.
        question: QuestionId,
        /// What was answered.
        answer: Answer<'a>,
    },
    /// Time passed.
    Tick,
}

/// What a person answered, through the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer<'a> {
    /// Yes or no.
    Confirmed(bool),
    /// One of the options.
    Chosen(&'a str),
    /// Something about what does not stand any more: what was shown with the question has changed since.
    Outdated,
    /// Nothing: the dialog was dismissed or failed.
    Dismissed,
}

/// What a person said outside of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// One of the choices.
    Chosen(String),
    /// One of them, and what was shown has changed since.
    Outdated,
}

/// Who submitted a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// A person.
    Person,
    /// An extension, as our own reminders are.
    Extension,
}

/// A command of ours.
#[derive(Debug)]
pub enum Command<'a> {
    /// `/workflow {name} {description}`.
    Workflow {
        /// What stands after the command's name.
        arguments: &'a str,
        /// The definitions as the files stand now.
        loaded: Arc<Loaded>,
    },
    /// `/cancel-workflow`.
    CancelWorkflow,
}

/// An entry of the session whose custom type is one of ours.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// Its custom type, as `workflow:state`.
    pub custom_type: &'a str,
    /// Its data, as JSON text.
    pub data: Option<&'a RawValue>,
}

/// The last message of an agent that stopped.
#[derive(Debug, Clone, Copy, Default)]
pub struct LastAssistant<'a> {
    /// Why it stopped: `stop`, `aborted`, `error`, `length`, `toolUse`, …
    pub stop_reason: Option<&'a str>,
    /// The end of its last text.
    pub text_tail: Option<&'a str>,
}

/// Names a request whose answer may come later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// Names a question of this session to its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionId(pub u64);
