//! What a run is doing, or what it waits for: the one place that has the words for it.

use crate::reminders::PauseReason;

/// The condition of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunCondition {
    /// It continues.
    Active,
    /// It continues once its session is opened again.
    Closed,
    /// The gate of its phase runs.
    RunningGate,
    /// The user is asked for trust in the commands of the gate.
    AwaitsTrust,
    /// The user is asked for an approval.
    AwaitsApproval,
    /// The user has answered outside of the host, and the agent has not continued yet.
    Answered,
    /// The user is asked about a tool call.
    AwaitsConsent,
    /// The agent asked the user a question.
    AwaitsReply,
    /// The phase waits for the user (`continue: wait`).
    AwaitsUser,
    /// Typing stopped the countdown to a reminder.
    ReminderHeld,
    /// The user paused it.
    PausedByUser,
    /// The model's answer ended in an error.
    ModelError,
    /// The agent was reminded as often as it may be.
    ReminderLimit,
    /// The agent was reminded, and called no tool.
    NoToolCalled,
    /// A phase may not be entered again.
    VisitLimit,
    /// A budget is used up.
    BudgetUsedUp,
    /// A later version stored parts of it.
    LaterVersion,
    /// It does not fit its definition.
    Stale,
    /// It is complete.
    Complete,
    /// It was cancelled.
    Cancelled,
    /// Another run took its place.
    Replaced,
}

/// Who or what ends a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needed {
    /// Nothing is needed: the run can continue, or is over.
    Nothing,
    /// The user has to do something.
    User,
    /// A limit was reached.
    Limit,
}

impl From<PauseReason> for RunCondition {
    fn from(reason: PauseReason) -> Self {
        match reason {
            PauseReason::Approval => Self::AwaitsApproval,
            PauseReason::Question => Self::AwaitsReply,
            PauseReason::Error => Self::ModelError,
            PauseReason::Max => Self::ReminderLimit,
            PauseReason::MaxStale => Self::NoToolCalled,
            PauseReason::Visits => Self::VisitLimit,
            PauseReason::Budget => Self::BudgetUsedUp,
            PauseReason::LaterVersion => Self::LaterVersion,
        }
    }
}

impl RunCondition {
    /// The condition in words, for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Closed => "session closed",
            Self::RunningGate => "gate running",
            Self::AwaitsTrust => "waiting for your trust in the gate's commands",
            Self::AwaitsApproval => "waiting for your approval",
            Self::Answered => "answered: ask the agent to continue",
            Self::AwaitsConsent => "waiting for your consent",
            Self::AwaitsReply => "waiting for your reply",
            Self::AwaitsUser => "waiting for you",
            Self::ReminderHeld => "reminder held: /workflow-resume sends it",
            Self::PausedByUser => "paused by you",
            Self::ModelError => "paused: model error",
            Self::ReminderLimit => "paused: reminder limit",
            Self::NoToolCalled => "paused: the agent called no tool",
            Self::VisitLimit => "paused: visit limit",
            Self::BudgetUsedUp => "paused: budget used up",
            Self::LaterVersion => "paused: stored by a later version",
            Self::Stale => "stale: its definition is not known",
            Self::Complete => "complete",
            Self::Cancelled => "cancelled",
            Self::Replaced => "ended: another workflow was started",
        }
    }

    /// The condition in words, and what resumes the run where they do not say it.
    #[must_use]
    pub fn described(self) -> String {
        match self.remedy() {
            Some(remedy) => format!("{} ({remedy})", self.words()),
            None => self.words().to_owned(),
        }
    }

    fn remedy(self) -> Option<&'static str> {
        match self {
            Self::PausedByUser => Some("/workflow-resume resumes it"),
            Self::VisitLimit => Some("/workflow-resume allows one more visit"),
            Self::BudgetUsedUp => Some("/workflow-resume +20 turns allows more"),
            Self::LaterVersion => Some("/workflow-resume continues without what it stored"),
            Self::ModelError | Self::ReminderLimit | Self::NoToolCalled => {
                Some("any message resumes it")
            }
            Self::Active
            | Self::Closed
            | Self::RunningGate
            | Self::AwaitsTrust
            | Self::AwaitsApproval
            | Self::Answered
            | Self::AwaitsConsent
            | Self::AwaitsReply
            | Self::AwaitsUser
            | Self::ReminderHeld
            | Self::Stale
            | Self::Complete
            | Self::Cancelled
            | Self::Replaced => None,
        }
    }

    /// Who or what ends the condition.
    #[must_use]
    pub fn needed(self) -> Needed {
        match self {
            Self::Active
            | Self::Closed
            | Self::RunningGate
            | Self::Answered
            | Self::Stale
            | Self::Complete
            | Self::Cancelled
            | Self::Replaced => Needed::Nothing,
            Self::AwaitsTrust
            | Self::AwaitsApproval
            | Self::AwaitsConsent
            | Self::AwaitsReply
            | Self::AwaitsUser
            | Self::ReminderHeld
            | Self::PausedByUser
            | Self::LaterVersion
            | Self::ModelError => Needed::User,
            Self::ReminderLimit | Self::NoToolCalled | Self::VisitLimit | Self::BudgetUsedUp => {
                Needed::Limit
            }
        }
    }
}
