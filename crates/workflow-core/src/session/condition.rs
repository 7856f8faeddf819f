//! The condition of a run in memory, and its status line.

use super::run::ActiveRun;
use crate::condition::{Needed, RunCondition};
use crate::reminders::PauseReason;

impl RunCondition {
    /// The condition of a run in memory, and of its exit from a phase. `asks_about_call` is true while a tool call waits for the
    /// user, `holds_reminder` after typing stopped a countdown.
    pub(crate) fn of(
        run: &ActiveRun,
        exit: Option<Self>,
        asks_about_call: bool,
        holds_reminder: bool,
    ) -> Self {
        let state = run.state();
        if !state.active {
            return if state.cancelled {
                Self::Cancelled
            } else {
                Self::Complete
            };
        }
        let condition = match (exit, run.counters().paused) {
            (Some(exit), _) => exit,
            (None, _) if asks_about_call => Self::AwaitsConsent,
            (None, Some(PauseReason::Approval)) => Self::AwaitsApproval,
            (None, _) if run.counters().paused_by_owner => Self::PausedByUser,
            (None, None | Some(PauseReason::Question))
                if run.phase().is_some() && run.memory.untrusted_at == Some(run.step()) =>
            {
                Self::AwaitsTrust
            }
            (None, Some(reason)) => Self::Paused(reason),
            (None, None) => match run.phase() {
                None => Self::Stale,
                Some(_) if holds_reminder => Self::ReminderHeld,
                Some(phase) if phase.auto_continue.wait => Self::AwaitsUser,
                Some(_) => Self::Active,
            },
        };
        if condition == Self::AwaitsApproval && run.answered.is_some() {
            return Self::Answered;
        }
        condition
    }

    /// The status line of a run in this condition. The condition comes first, because a short line loses its end.
    pub(crate) fn status_line(self, run: &ActiveRun) -> Option<String> {
        let place = &run.phase()?.status;
        let mark = if self == Self::RunningGate {
            "⏳"
        } else if self == Self::Answered {
            "✓"
        } else if self.needed() == Needed::Nothing || self == Self::AwaitsUser {
            // In a phase that waits for the user, the agent may be at work.
            return Some(place.clone());
        } else {
            "⏸"
        };
        Some(format!("{mark} {} · {place}", self.words()))
    }
}
