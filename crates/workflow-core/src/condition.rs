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

/// What is said of a condition.
struct Sayings {
    /// The state of the run, for programs.
    state: &'static str,
    words: &'static str,
    /// What resumes the run, where the words do not say it.
    remedy: Option<&'static str>,
}

impl Needed {
    /// Who or what ends a condition with this state.
    #[must_use]
    pub fn by(state: &str) -> Self {
        match state {
            "waits" | "paused" => Self::User,
            "stopped" => Self::Limit,
            _ => Self::Nothing,
        }
    }
}

impl Sayings {
    fn of(state: &'static str, words: &'static str) -> Self {
        Self {
            state,
            words,
            remedy: None,
        }
    }

    fn until(self, remedy: &'static str) -> Self {
        Self {
            remedy: Some(remedy),
            ..self
        }
    }
}

impl RunCondition {
    fn sayings(self) -> Sayings {
        const ANY_MESSAGE: &str = "any message resumes it";
        let waits = |words| Sayings::of("waits", words);
        let paused = |words| Sayings::of("paused", words);
        let stopped = |words| Sayings::of("stopped", words);
        match self {
            Self::Active => Sayings::of("active", "active"),
            Self::Closed => Sayings::of("closed", "session closed"),
            Self::RunningGate => Sayings::of("active", "gate running"),
            Self::AwaitsTrust => waits("waiting for your trust in the gate's commands"),
            Self::AwaitsApproval | Self::Paused(PauseReason::Approval) => {
                waits("waiting for your approval")
            }
            Self::Answered => Sayings::of("active", "answered: ask the agent to continue"),
            Self::AwaitsConsent => waits("waiting for your consent"),
            Self::Paused(PauseReason::Question) => waits("waiting for your reply"),
            Self::AwaitsUser => waits("waiting for you"),
            Self::ReminderHeld => waits("reminder held: /workflow-resume sends it"),
            Self::PausedByUser => paused("paused by you").until("/workflow-resume resumes it"),
            Self::Paused(PauseReason::Error) => paused("paused: model error").until(ANY_MESSAGE),
            Self::Paused(PauseReason::Max) => stopped("paused: reminder limit").until(ANY_MESSAGE),
            Self::Paused(PauseReason::MaxStale) => {
                stopped("paused: the agent called no tool").until(ANY_MESSAGE)
            }
            Self::Paused(PauseReason::Visits) => {
                stopped("paused: visit limit").until("/workflow-resume allows one more visit")
            }
            Self::Paused(PauseReason::Budget) => {
                stopped("paused: budget used up").until("/workflow-resume +20 turns allows more")
            }
            Self::Paused(PauseReason::LaterVersion) => paused("paused: stored by a later version")
                .until("/workflow-resume continues without what it stored"),
            Self::Stale => Sayings::of("stale", "stale: its definition is not known"),
            Self::Complete => Sayings::of("complete", "complete"),
            Self::Cancelled => Sayings::of("cancelled", "cancelled"),
            Self::Replaced => Sayings::of("ended", "ended: another workflow was started"),
        }
    }

    /// The state of the run, for programs.
    #[must_use]
    pub fn state(self) -> &'static str {
        self.sayings().state
    }

    /// The condition in words, for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        self.sayings().words
    }

    /// The condition in words, and what resumes the run where they do not say it.
    #[must_use]
    pub fn described(self) -> String {
        let Sayings { words, remedy, .. } = self.sayings();
        remedy.map_or_else(|| words.to_owned(), |remedy| format!("{words} ({remedy})"))
    }

    /// Who or what ends the condition.
    #[must_use]
    pub fn needed(self) -> Needed {
        Needed::by(self.state())
    }
}
