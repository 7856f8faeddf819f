//! Effects: what must be done for a [`Session`](crate::Session).
//!
//! An [`Effect`] is for the platform, and its result comes back as a
//! [`PlatformEvent`]. An [`Action`] and a [`Question`] are for the host.
//! [`Effects`] collects all of them while an event is handled.

mod action;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

pub use self::action::{Action, Delivery, HostHints, Message, MessageOptions, Placement};
use crate::approval::Request;
use crate::condition::RunCondition;
use crate::definition::{Gate, RunCheck, Trigger};
use crate::diagnostic::Diagnostic;
use crate::event::{PlatformEvent, SnapshotError, WatchReport};
use crate::run::RunState;
use crate::text;
use crate::types::{GateRunId, Millis, QuestionId, RequestId, RestoreId, Severity, Snapshot};

/// The custom types of messages (hook-lifecycle: "Message Custom Types").
pub mod message_type {
    /// Describes the phase to the agent; hidden from the person.
    pub const CONTEXT: &str = "workflow:context";
    /// Announces the end of a run.
    pub const COMPLETE: &str = "workflow:complete";
    /// Announces a reminder where there is no widget.
    pub const COUNTDOWN: &str = "workflow:countdown";
    /// Says why a run is paused.
    pub const PAUSED: &str = "workflow:paused";
}

/// Everything that must be done because of one event.
#[derive(Debug, Clone, Default)]
pub struct Effects {
    now: Millis,
    /// The actions of the host, in order.
    pub actions: Vec<Action>,
    /// Problems of definitions or stored entries.
    pub diagnostics: Vec<Diagnostic>,
    /// Questions to ask through the host.
    pub questions: Vec<Question>,
    /// Questions whose answers are no longer awaited.
    pub withdrawn: Vec<QuestionId>,
    /// Answers to requests: to that of the event, and to earlier ones.
    pub answers: Vec<RequestAnswer>,
    /// The effects that the platform performs, in order.
    pub effects: Vec<Effect>,
    /// The calls that rules denied without asking a person, for statistics.
    pub denied: Vec<Denied>,
    /// The calls about which a person was asked, and those about which one has answered, for statistics.
    pub asked: Vec<Asked>,
    /// True if the user has lifted the rules for the time without a run, for statistics.
    pub lifted: bool,
    /// The runs that the session has unloaded for good.
    pub ended: Vec<EndedRun>,
}

/// A message to the person, with which a command ends.
pub(crate) struct Notice {
    pub(crate) severity: Severity,
    pub(crate) text: String,
}

impl Notice {
    pub(crate) fn new(severity: Severity, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { severity, text }
    }

    pub(crate) fn info(text: impl Into<String>) -> Self {
        Self::new(Severity::Info, text)
    }

    pub(crate) fn warning(text: impl Into<String>) -> Self {
        Self::new(Severity::Warning, text)
    }
}

/// A refusal is a warning.
impl From<String> for Notice {
    fn from(refusal: String) -> Self {
        Self::warning(refusal)
    }
}

/// A place in the order of actions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark(usize);

/// A run that the session has unloaded for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedRun {
    /// Its last state.
    pub state: RunState,
    /// How it ended.
    pub condition: RunCondition,
}

/// A call that a rule denied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// The tool.
    pub tool: String,
    /// The name of the level: `the Plan phase`.
    pub level: String,
    /// The location of the rule as `file:line`; empty if the level's list of tools decides.
    pub rule: String,
}

/// A call about which a person is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The call, and the rule that stops it.
    pub call: Denied,
    /// True if the person has allowed it; `None` if the person is asked now.
    pub allowed: Option<bool>,
}

impl Effects {
    /// An empty collector for an event that happens now.
    pub(crate) fn at(now: Millis) -> Self {
        Self {
            now,
            ..Self::default()
        }
    }

    /// The time of the event.
    pub(crate) fn now(&self) -> Millis {
        self.now
    }

    /// Returns true if nothing must be done but to answer.
    pub fn is_only_answered(&self) -> bool {
        self.actions.is_empty()
            && self.diagnostics.is_empty()
            && self.questions.is_empty()
            && self.withdrawn.is_empty()
            && (self.answers.iter()).all(|answer| answer.actions.is_empty())
            && self.effects.is_empty()
            && self.denied.is_empty()
            && self.ended.is_empty()
    }

    /// Has the host do something.
    pub(crate) fn act(&mut self, action: Action) {
        self.actions.push(action);
    }

    /// Shows a message to the person.
    pub(crate) fn notify(&mut self, severity: Severity, message: impl Into<String>) {
        self.act(Action::notify(severity, message.into()));
    }

    /// Puts a message into the conversation, for people.
    pub(crate) fn send_message(&mut self, custom_type: &'static str, content: String) {
        self.act(Action::SendMessage {
            message: Message {
                custom_type,
                content,
                display: true,
            },
            options: MessageOptions::default(),
        });
    }

    /// Shows a message to the person that asks for nothing.
    pub(crate) fn inform(&mut self, message: impl Into<String>) {
        self.notify(Severity::Info, message);
    }

    /// Warns the person.
    pub(crate) fn warn(&mut self, message: impl Into<String>) {
        self.notify(Severity::Warning, message);
    }

    /// Appends an entry to the session.
    pub(crate) fn append_entry(&mut self, custom_type: &'static str, data: &impl Serialize) {
        self.act(Action::AppendEntry {
            custom_type,
            data: to_raw_value(data).expect("stored entries have string keys only"),
        });
    }

    /// Sets the status line, or clears it.
    pub(crate) fn set_status(&mut self, text: Option<String>) {
        let key = "workflow";
        self.act(Action::SetStatus { key, text });
    }

    /// Shows one line in the widget at a place: what is in progress above the editor, the phases of the run below. Or clears it.
    pub(crate) fn set_widget(&mut self, placement: Placement, line: Option<String>) {
        self.act(Action::SetWidget {
            key: match placement {
                Placement::AboveEditor => "workflow-countdown",
                Placement::BelowEditor => "workflow-phases",
            },
            lines: line.map(|line| vec![line]),
            placement,
        });
    }

    /// Shows one line above the editor.
    pub(crate) fn show_widget(&mut self, line: String) {
        self.set_widget(Placement::AboveEditor, Some(line));
    }

    /// Clears the line above the editor.
    pub(crate) fn clear_widget(&mut self) {
        self.set_widget(Placement::AboveEditor, None);
    }

    /// Has the platform do something.
    pub(crate) fn perform(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// The place of the next action.
    pub(crate) fn mark(&self) -> Mark {
        Mark(self.actions.len())
    }

    /// Answers a request.
    pub(crate) fn reply(&mut self, request: RequestId, reply: Reply) {
        self.answer(request, reply, None);
    }

    /// Answers a request. The actions since the mark belong to the answer.
    pub(crate) fn answer(&mut self, request: RequestId, reply: Reply, since: Option<Mark>) {
        let actions = since.map_or_else(Vec::new, |since| self.actions.split_off(since.0));
        self.answers.push(RequestAnswer {
            request,
            reply,
            actions,
        });
    }

    /// Takes the answer to a request, if there is one.
    pub fn take_answer(&mut self, request: RequestId) -> Option<RequestAnswer> {
        let mut answers = self.answers.iter();
        let at = answers.position(|answer| answer.request == request)?;
        Some(self.answers.remove(at))
    }

    /// Adds everything that was collected elsewhere.
    pub fn merge(&mut self, other: Self) {
        self.actions.extend(other.actions);
        self.diagnostics.extend(other.diagnostics);
        self.questions.extend(other.questions);
        self.withdrawn.extend(other.withdrawn);
        self.answers.extend(other.answers);
        self.effects.extend(other.effects);
        self.denied.extend(other.denied);
        self.asked.extend(other.asked);
        self.lifted |= other.lifted;
        self.ended.extend(other.ended);
    }
}

/// Something that the platform must do.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Effect {
    /// Run the checks of a gate. Answered with `GateNotTrusted`, or with any number of `GateProgress` and one
    /// `GateFinished`.
    RunGate(GateRun),
    /// End the commands of a gate. Nothing is reported.
    CancelGate {
        /// The gate run.
        gate: GateRunId,
    },
    /// Record the state that these checks compare with. Answered at once with `BaselineTaken`.
    TakeBaseline {
        /// The checks.
        gates: Vec<Gate>,
        /// Whether the files are recorded as those at the start of the run or the item of a loop.
        start: bool,
    },
    /// Record the files as they are at the start of a run, or measure what was changed since. Answered at once with
    /// `ChangeMeasured`.
    MeasureChange {
        /// The recorded files; without them they are recorded.
        start: Option<String>,
        /// The lists of globs of which it is counted how many changed files they match.
        globs: Vec<Vec<String>>,
    },
    /// Look up whether the user trusts these commands in this project. Answered at once with `CommandsNotTrusted` if not.
    CheckTrust {
        /// The commands.
        commands: Vec<RunCheck>,
    },
    /// Remember that the user trusts these commands in this project.
    TrustCommands {
        /// The commands.
        commands: Vec<RunCheck>,
    },
    /// Store an approval request where the user can answer it outside of the host. Answered at once with
    /// `ApprovalNotStored` if that fails, and with `ApprovalAnswered` if it is answered already.
    RequestApproval(Request),
    /// Look up the answer to a stored approval request. Answered at once with `ApprovalRead`.
    ReadApproval(Request),
    /// Delete the approval request of a run, and its answer.
    ClearApproval {
        /// The task of the run.
        task_id: String,
    },
    /// Record a checkpoint of the code. Answered at once with `CheckpointRecorded` or `CheckpointFailed`.
    RecordCheckpoint,
    /// Restore the code. Answered with any number of `RestoreProgress` and one `CodeRestored`, also if the session
    /// has moved on meanwhile.
    RestoreCode {
        /// The restore.
        restore: RestoreId,
        /// The state to restore.
        snapshot: Snapshot,
    },
    /// Watch these triggers and no others; those of the project only if the user trusts them. Answered at once with
    /// `TriggersWatched`, and with `Triggered` whenever one of them has a message.
    WatchTriggers {
        /// The triggers.
        triggers: Vec<Trigger>,
    },
    /// Stop watching triggers.
    StopWatching,
    /// Remember that the user trusts these triggers in this project.
    TrustTriggers {
        /// The triggers.
        triggers: Vec<Trigger>,
    },
}

impl Effect {
    /// Returns true if a report is the result of this effect. That of a gate and of a restore may come later.
    pub fn has_result(&self, event: &PlatformEvent) -> bool {
        use PlatformEvent as Event;
        match self {
            Self::RunGate(run) => {
                matches!(event, Event::GateNotTrusted { gate } | Event::GateFinished { gate, .. } if *gate == run.id)
            }
            Self::TakeBaseline { .. } => matches!(event, Event::BaselineTaken { .. }),
            Self::MeasureChange { .. } => matches!(event, Event::ChangeMeasured { .. }),
            Self::CheckTrust { .. } => matches!(event, Event::CommandsNotTrusted),
            Self::RequestApproval(_) => matches!(
                event,
                Event::ApprovalRequested { .. }
                    | Event::ApprovalNotStored { .. }
                    | Event::ApprovalAnswered { .. }
            ),
            Self::ReadApproval(_) => matches!(event, Event::ApprovalRead { .. }),
            Self::RecordCheckpoint => matches!(
                event,
                Event::CheckpointRecorded { .. } | Event::CheckpointFailed { .. }
            ),
            Self::RestoreCode { restore, .. } => {
                matches!(event, Event::CodeRestored { restore: of, .. } if of == restore)
            }
            Self::WatchTriggers { .. } => matches!(event, Event::TriggersWatched { .. }),
            Self::CancelGate { .. }
            | Self::TrustCommands { .. }
            | Self::ClearApproval { .. }
            | Self::StopWatching
            | Self::TrustTriggers { .. } => false,
        }
    }

    /// The result where there are no files, no repository and no stored answers. A gate or a restore has none: it is
    /// reported later.
    pub fn on_empty_platform(&self) -> Option<PlatformEvent> {
        match self {
            Self::TakeBaseline { .. } => Some(PlatformEvent::BaselineTaken {
                baseline: RawValue::NULL.to_owned(),
                start: None,
            }),
            Self::MeasureChange { .. } => Some(PlatformEvent::ChangeMeasured {
                start: None,
                change: None,
            }),
            Self::ReadApproval(_) => Some(PlatformEvent::ApprovalRead {
                decision: None,
                is_outdated: false,
            }),
            Self::RecordCheckpoint => Some(PlatformEvent::CheckpointFailed {
                error: SnapshotError::NoRepository,
            }),
            Self::WatchTriggers { .. } => Some(PlatformEvent::TriggersWatched {
                report: WatchReport::default(),
            }),
            _ => None,
        }
    }
}

/// A gate to run.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GateRun {
    /// Comes back with every report.
    pub id: GateRunId,
    /// Its checks, in order.
    pub gates: Vec<Gate>,
    /// The result of `TakeBaseline` when the phase was entered, if it is known.
    pub baseline: Option<Box<RawValue>>,
    /// The files at the start of the run or the item of a loop, or its commit, if they are known.
    pub start: Option<String>,
    /// The commands that may run only if the user trusts them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<RunCheck>,
}

/// The decision about a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolDecision {
    /// The call may run.
    Allow,
    /// The call must not run.
    Block(Block),
}

impl ToolDecision {
    pub(crate) fn block(kind: BlockKind, reason: String) -> Self {
        Self::Block(Block { reason, kind })
    }
}

/// The reason why a tool call is blocked.
///
/// hook-lifecycle: "Block Reason Template".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Block {
    /// The text that the agent reads.
    pub reason: String,
    /// The origin of the decision.
    pub kind: BlockKind,
}

/// The outcome of the message of a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerOutcome {
    /// It was sent to the agent.
    Delivered,
    /// It is sent when the agent has stopped.
    Queued,
    /// The queue is full.
    Refused,
}

/// The origin of the decision to block a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BlockKind {
    /// A rule of the current phase.
    Policy,
    /// The user, who was asked.
    User,
    /// Nobody: the decision could not be made.
    Failure,
}

/// The change of the run's state at the end of the agent's run.
///
/// hook-lifecycle: "Mutation Semantics by Case". The session has done it already; the host need not do anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "AgentEndMutation")]
pub struct Mutation {
    /// True if the run was unloaded.
    pub unload: bool,
    /// True if its state was stored.
    pub persist: bool,
}

/// The answer of a tool to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    /// The text the model reads.
    pub text: String,
    /// The same for programs.
    pub details: Value,
    /// The kind of answer, where it is not plain progress.
    pub kind: Option<AnswerKind>,
}

impl ToolAnswer {
    pub(crate) fn plain(text: impl Into<String>, details: Value) -> Self {
        Self {
            text: text.into(),
            details,
            kind: None,
        }
    }

    pub(crate) fn of_kind(kind: AnswerKind, text: impl Into<String>, details: Value) -> Self {
        Self {
            kind: Some(kind),
            ..Self::plain(text, details)
        }
    }

    pub(crate) fn error(text: impl Into<String>, details: Value) -> Self {
        Self::of_kind(AnswerKind::Error, text, details)
    }
}

/// The kind of a tool's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ResultType")]
pub enum AnswerKind {
    /// It did not work.
    Error,
    /// It is about cancelling.
    Cancel,
    /// The workflow is complete.
    Complete,
}

/// A question to the person, shown by the host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Question {
    /// Comes back with the answer. The session gives it when it asks.
    pub id: QuestionId,
    /// The dialog's title.
    pub title: String,
    /// The dialog's text.
    pub message: String,
    /// The choices; without options and placeholder the answer is yes or no.
    pub options: Vec<String>,
    /// The answer is a line of text, and the empty field shows this.
    pub placeholder: Option<String>,
    /// A file that is shown with the question, from the session's directory.
    pub show: Option<String>,
}

impl Question {
    /// A question that is answered with yes or no.
    pub(crate) fn new(title: impl Into<String>, message: String) -> Self {
        Self {
            title: title.into(),
            message,
            ..Self::default()
        }
    }

    /// A question for trust in everything that is listed.
    pub(crate) fn trust(title: &str, about: &str, listed: impl Iterator<Item = String>) -> Self {
        let listed = text::join(listed.map(|line| format!("  {line}")), "\n");
        Self::new(title, format!("{about}\n{listed}"))
    }

    /// What a question for trust lists.
    pub fn listed(&self) -> impl Iterator<Item = &str> {
        self.message
            .lines()
            .filter_map(|line| line.strip_prefix("  "))
    }
}

/// The answer to a request. It comes with the event of the request, or with a later one.
#[derive(Debug, Clone)]
pub struct RequestAnswer {
    /// The request.
    pub request: RequestId,
    /// The answer itself.
    pub reply: Reply,
    /// The actions that belong to the answer; to that of the event belong all others, too.
    pub actions: Vec<Action>,
}

/// An answer, by the kind of its request.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// To a tool call.
    ToolCall(ToolDecision),
    /// To a call of `workflow_step`.
    Step(ToolAnswer),
    /// To a command.
    Command,
    /// To a conversation that goes back.
    Branch(BranchMutation),
}

/// The parts to skip when the user goes back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BranchMutation {
    /// True if the conversation stays as it is.
    pub skip_conversation_restore: bool,
}
