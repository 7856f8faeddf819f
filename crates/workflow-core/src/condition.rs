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
    /// The phase waits for the user (`continue: wait`).
    AwaitsUser,
    /// Typing stopped the countdown to a reminder.
    ReminderHeld,
    /// The user paused it.
    PausedByUser,
    /// It is paused for this reason.
    Paused(PauseReason),
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

impl Needed {
    /// The states that need something.
    pub const STATES: [&str; 3] = ["waits", "paused", "stopped"];

    /// Who or what ends a condition with this state.
    pub fn by(state: &str) -> Self {
        match state {
            "waits" | "paused" => Self::User,
            "stopped" => Self::Limit,
            _ => Self::Nothing,
        }
    }
}

impl RunCondition {
    /// Its state, its words, and what resumes the run where the words do not say it.
    fn sayings(self) -> (&'static str, &'static str, Option<&'static str>) {
        let waits = |words| ("waits", words, None);
        let paused = |words, remedy| ("paused", words, Some(remedy));
        let stopped = |words, remedy| ("stopped", words, Some(remedy));
        let any_message = "any message resumes it";
        match self {
            Self::Active => ("active", "active", None),
            Self::Closed => ("closed", "session closed", None),
            Self::RunningGate => ("active", "gate running", None),
            Self::AwaitsTrust => waits("waiting for your trust in the gate's commands"),
            Self::AwaitsApproval | Self::Paused(PauseReason::Approval) => {
                waits("waiting for your approval")
            }
            Self::Answered => ("active", "answered: ask the agent to continue", None),
            Self::AwaitsConsent => waits("waiting for your consent"),
            Self::Paused(PauseReason::Question) => waits("waiting for your reply"),
            Self::AwaitsUser => waits("waiting for you"),
            Self::ReminderHeld => waits("reminder held: /workflow-resume sends it"),
            Self::PausedByUser => paused("paused by you", "/workflow-resume resumes it"),
            Self::Paused(PauseReason::Error) => paused("paused: model error", any_message),
            Self::Paused(PauseReason::Max) => stopped("paused: reminder limit", any_message),
            Self::Paused(PauseReason::MaxStale) => {
                stopped("paused: the agent called no tool", any_message)
            }
            Self::Paused(PauseReason::Visits) => {
                let remedy = "/workflow-resume allows one more visit";
                stopped("paused: visit limit", remedy)
            }
            Self::Paused(PauseReason::Budget) => {
                let remedy = "/workflow-resume +20 turns allows more";
                stopped("paused: budget used up", remedy)
            }
            Self::Paused(PauseReason::Tries) => {
                let remedy = "/workflow-resume allows one more try";
                stopped("paused: gate failed too often", remedy)
            }
            Self::Paused(PauseReason::LaterVersion) => {
                let remedy = "/workflow-resume continues without what it stored";
                paused("paused: stored by a later version", remedy)
            }
            Self::Stale => ("stale", "stale: its definition is not known", None),
            Self::Complete => ("complete", "complete", None),
            Self::Cancelled => ("cancelled", "cancelled", None),
            Self::Replaced => ("ended", "ended: another workflow was started", None),
        }
    }

    /// The state of the run, for programs.
    pub fn state(self) -> &'static str {
        self.sayings().0
    }

    /// The condition in words, for people.
    pub fn words(self) -> &'static str {
        self.sayings().1
    }

    /// The condition in words, and what resumes the run where they do not say it.
    pub fn described(self) -> String {
        let (_, words, remedy) = self.sayings();
        remedy.map_or_else(|| words.to_owned(), |remedy| format!("{words} ({remedy})"))
    }

    /// Who or what ends the condition.
    pub fn needed(self) -> Needed {
        Needed::by(self.state())
    }
}
