//! Effects: what must be done for a [`Session`](crate::Session).
//!
//! An [`Effect`] is for the platform, and its result comes back as a
//! [`PlatformEvent`](crate::event::PlatformEvent). An [`Action`] and a [`Question`] are for the host.
//! [`Effects`] collects all of them while an event is handled.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::definition::{Approval, Gate, RunCheck, Trigger};
use crate::diagnostic::Diagnostic;
use crate::event::{PlatformEvent, SnapshotError, WatchReport};
use crate::types::{GateRunId, QuestionId, RequestId, RestoreId, Severity, Snapshot};

/// The custom types of messages (hook-lifecycle: "Message Custom Types").
pub mod message_type {
    /// Describes the phase to the agent; hidden from the person.
    pub const CONTEXT: &str = "workflow:context";
    /// Announces the end of a run.
    pub const COMPLETE: &str = "workflow:complete";
    /// Announces a reminder where there is no widget.
    pub const COUNTDOWN: &str = "workflow:countdown";
    /// Says why a run is paused.
    pub const PAUSED: &str = "workflow:parked";
}

/// Everything that must be done because of one event.
#[derive(Debug, Default)]
pub struct Effects {
    /// The answer to the event itself.
    pub reply: Reply,
    /// What the host must do, in order.
    pub actions: Vec<Action>,
    /// What is wrong with definitions or stored entries.
    pub diagnostics: Vec<Diagnostic>,
    /// Questions to ask through the host.
    pub questions: Vec<Question>,
    /// Answers to earlier requests.
    pub deferred: Vec<DeferredReply>,
    /// What the platform must do.
    pub effects: Vec<Effect>,
}

impl Effects {
    /// Shows a message to the person.
    pub(crate) fn notify(&mut self, severity: Severity, message: impl Into<String>) {
        self.actions.push(Action::notify(severity, message));
    }

    /// Appends an entry to the session.
    pub(crate) fn append_entry(&mut self, custom_type: &'static str, data: &impl Serialize) {
        self.actions.push(Action::append_entry(custom_type, data));
    }

    /// Has the platform do something.
    pub(crate) fn perform(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// True if a message is sent to the agent.
    pub(crate) fn sends_user_message(&self) -> bool {
        let deferred = self.deferred.iter().flat_map(|deferred| &deferred.actions);
        let mut actions = self.actions.iter().chain(deferred);
        actions.any(|action| matches!(action, Action::SendUserMessage { .. }))
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
    },
    /// Remember that the user trusts these commands in this project.
    TrustCommands {
        /// The commands.
        commands: Vec<RunCheck>,
    },
    /// Store an approval request where the user can answer it outside of the host.
    RequestApproval(ApprovalRequest),
    /// Look up the answer to a stored approval request. Answered at once with `ApprovalRead`.
    ReadApproval(ApprovalRequest),
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
    /// Watch no triggers any more.
    StopWatching,
    /// Remember that the user trusts these triggers in this project.
    TrustTriggers {
        /// The triggers.
        triggers: Vec<Trigger>,
    },
}

impl Effect {
    /// True if this event can be the immediate result of the effect.
    #[must_use]
    pub fn may_result_in(&self, event: &PlatformEvent) -> bool {
        match (self, event) {
            (
                Self::RunGate(run),
                PlatformEvent::GateNotTrusted { gate } | PlatformEvent::GateFinished { gate, .. },
            ) => run.id == *gate,
            (
                Self::RestoreCode { restore, .. },
                PlatformEvent::CodeRestored {
                    restore: restored, ..
                },
            ) => restore == restored,
            (Self::TakeBaseline { .. }, PlatformEvent::BaselineTaken { .. })
            | (Self::ReadApproval(_), PlatformEvent::ApprovalRead { .. })
            | (
                Self::RecordCheckpoint,
                PlatformEvent::CheckpointRecorded { .. } | PlatformEvent::CheckpointFailed { .. },
            )
            | (Self::WatchTriggers { .. }, PlatformEvent::TriggersWatched { .. }) => true,
            _ => false,
        }
    }

    /// The immediate result on an empty machine, on which gates and restores run and are not reported.
    #[must_use]
    pub fn result_of_nothing(&self) -> Option<PlatformEvent> {
        match self {
            Self::TakeBaseline { .. } => Some(PlatformEvent::BaselineTaken {
                baseline: RawValue::NULL.to_owned(),
            }),
            Self::ReadApproval(_) => Some(PlatformEvent::ApprovalRead { decision: None }),
            Self::RecordCheckpoint => Some(PlatformEvent::CheckpointFailed {
                error: SnapshotError::NoRepository,
            }),
            Self::WatchTriggers { .. } => Some(PlatformEvent::TriggersWatched {
                report: WatchReport::default(),
            }),
            Self::RunGate(_)
            | Self::CancelGate { .. }
            | Self::TrustCommands { .. }
            | Self::RequestApproval(_)
            | Self::ClearApproval { .. }
            | Self::RestoreCode { .. }
            | Self::StopWatching
            | Self::TrustTriggers { .. } => None,
        }
    }
}

/// A request for a person's approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRequest {
    /// The question.
    pub approval: Approval,
    /// Identifies this request among all others.
    pub nonce: String,
}

/// A gate to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GateRun {
    /// Comes back with every report.
    pub id: GateRunId,
    /// Its checks, in order.
    pub gates: Vec<Gate>,
    /// The result of `TakeBaseline` when the phase was entered, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Box<RawValue>>,
    /// The commands that may run only if the user trusts them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<RunCheck>,
}

/// The answer to an event.
#[derive(Debug, Default)]
pub enum Reply {
    /// Nothing beyond the actions.
    #[default]
    None,
    /// The answer comes later, as a [`DeferredReply`].
    Later,
    /// The tool call must not run.
    Block {
        /// What the agent reads.
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
    /// What happened to the message of a trigger.
    Triggered(TriggerOutcome),
}

/// What happened to the message of a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerOutcome {
    /// It was sent to the agent.
    Delivered,
    /// It is sent when the agent has stopped.
    Queued,
    /// The queue is full.
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

/// The answer of a tool to the model.
#[derive(Debug, PartialEq)]
pub struct ToolAnswer {
    /// The text the model reads.
    pub text: String,
    /// The same for programs.
    pub details: serde_json::Value,
    /// The kind of answer, where it is not plain progress.
    pub kind: Option<AnswerKind>,
}

/// The kind of a tool's answer (`resultType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    /// It could not do what was asked.
    Error,
    /// It asks for, or confirms, a cancellation.
    Cancel,
    /// The run is complete.
    Complete,
}

/// Something that the host must do.
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
        /// True if it is delivered even if the agent has become busy: then it follows.
        must_arrive: bool,
    },
    /// Name the session.
    SetSessionName {
        /// The name.
        name: String,
    },
    /// Set or clear the status line.
    SetStatus {
        /// The text, `None` to clear it.
        text: Option<String>,
    },
    /// Set or clear the widget above the editor.
    SetWidget {
        /// Its lines, `None` to clear it.
        lines: Option<Vec<String>>,
    },
    /// Show a message to the person.
    Notify {
        /// The text.
        message: String,
        /// How much it matters.
        severity: Severity,
    },
}

impl Action {
    /// Shows a message to the person.
    pub(crate) fn notify(severity: Severity, message: impl Into<String>) -> Self {
        Self::Notify {
            message: message.into(),
            severity,
        }
    }

    /// Appends an entry to the session.
    pub(crate) fn append_entry(custom_type: &'static str, data: &impl Serialize) -> Self {
        Self::AppendEntry {
            custom_type,
            data: to_raw_value(data).expect("stored entries have string keys only"),
        }
    }
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
    /// The choices; without options the answer is yes or no.
    pub options: Vec<String>,
    /// A file whose text is shown with the question, from the session's directory.
    pub show: Option<String>,
}

/// An answer to an earlier request.
#[derive(Debug)]
pub struct DeferredReply {
    /// The request.
    pub request: RequestId,
    /// Its answer.
    pub reply: Reply,
    /// What the host must do.
    pub actions: Vec<Action>,
}
