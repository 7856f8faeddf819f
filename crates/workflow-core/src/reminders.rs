//! The decision to remind an agent that stopped early (behaviour: "Auto-continue").
//!
//! Reminders are bounded, and never sent against the reason of the stop: the run is paused instead, and any message of
//! the user resumes it.

use serde::{Deserialize, Serialize};

use crate::definition::{Bound, ContinueRule, OnStop, Target};
use crate::event::LastAssistant;

/// The settings of one phase, merged from all levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContinuePolicy {
    /// The phase waits for the user: no reminder is sent, and the run is not paused.
    pub wait: bool,
    /// Reminders in a row without an advance.
    pub max: Bound,
    /// Reminders in a row after which the agent called no tool.
    pub max_stale: Bound,
    /// The reaction to a provider error or a length stop.
    pub on_error: OnStop,
    /// The reaction to an open question.
    pub on_question: OnStop,
    /// The reaction to reaching a limit.
    pub on_limit: Target,
    /// The number of scopes around that of the phase in which `on_limit` names a target.
    pub limit_scopes_up: usize,
    /// Seconds between the stop and the reminder.
    pub countdown: u32,
}

impl ContinuePolicy {
    /// Merges the levels, innermost first: the first level with a value wins, key by key.
    ///
    /// `max: unlimited` restores the behaviour of the npm package: the other bounds are off as well, unless a level
    /// sets them.
    pub fn of<'r>(levels: impl Iterator<Item = &'r ContinueRule>) -> Self {
        let levels: Vec<_> = levels.collect();
        let set_at = levels.iter().position(|level| level.on_limit.is_some());
        let levels = levels.into_iter();
        let rule = levels.fold(ContinueRule::default(), |inner, outer| inner.within(outer));
        let max = rule.max.unwrap_or(Bound::Times(8));
        let (max_stale, on_stop) = match max {
            Bound::Times(_) => (Bound::Times(3), OnStop::Pause),
            Bound::Unlimited => (Bound::Unlimited, OnStop::Continue),
        };
        Self {
            wait: rule.wait.unwrap_or(false),
            max,
            max_stale: rule.max_stale.unwrap_or(max_stale),
            on_error: rule.on_error.unwrap_or(on_stop),
            on_question: rule.on_question.unwrap_or(on_stop),
            on_limit: rule.on_limit.unwrap_or(Target::Pause),
            // The first level is the phase, in the same scope as the second.
            limit_scopes_up: set_at.unwrap_or_default().saturating_sub(1),
            countdown: rule.countdown.unwrap_or(3),
        }
    }
}

/// The counts of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContinueCounters {
    /// Reminders in a row without an advance or a message of the user.
    pub reminders: u32,
    /// Reminders in a row after which the agent called no tool.
    pub stale: u32,
    /// The reason of the pause, if the run is paused.
    pub paused: Option<PauseReason>,
    /// True if its owner paused it: messages do not resume it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused_by_owner: bool,
}

/// The reason why a run is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PauseReason {
    /// `max` was reached.
    Max,
    /// `maxStale` was reached.
    MaxStale,
    /// The model's answer ended in an error, or at its length limit.
    Error,
    /// The agent asked the user a question.
    Question,
    /// The phase needs the user's approval.
    Approval,
    /// A phase may not be entered again.
    Visits,
    /// A budget is used up.
    Budget,
    /// A check has failed as often as it may.
    Tries,
    /// A later version of the sidecar stored parts of the run, which this one cannot read.
    LaterVersion,
}

/// The consequence when an agent stops early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopDecision {
    /// Nothing: the user stopped it, the phase waits, or the run is paused already.
    Nothing,
    /// A reminder is sent after the countdown.
    Remind,
    /// The run is paused.
    Pause(PauseReason),
    /// A limit is reached.
    Limit(PauseReason),
}

impl ContinueCounters {
    /// Decides about a stop.
    ///
    /// `used_tools` is true if the agent called a tool since the last reminder; it is `None` for a stop without a
    /// reminder before it, or with one that is counted already.
    pub(crate) fn after_stop(
        self,
        rule: &ContinuePolicy,
        last: Option<LastAssistant<'_>>,
        used_tools: Option<bool>,
    ) -> (Self, StopDecision) {
        let last = last.unwrap_or_default();
        let is_paused = self.paused.is_some() || self.paused_by_owner;
        if rule.wait || is_paused || last.stop_reason == Some("aborted") {
            return (self, StopDecision::Nothing);
        }
        let stale = match used_tools {
            Some(true) => 0,
            Some(false) => self.stale.saturating_add(1),
            None => self.stale,
        };
        let counters = Self { stale, ..self };
        let failed = matches!(last.stop_reason, Some("error" | "length"));
        if failed && rule.on_error == OnStop::Pause {
            return (counters, StopDecision::Pause(PauseReason::Error));
        }
        if last.text_tail.is_some_and(is_question) && rule.on_question == OnStop::Pause {
            return (counters, StopDecision::Pause(PauseReason::Question));
        }
        let limit = if reached(rule.max, counters.reminders) {
            PauseReason::Max
        } else if reached(rule.max_stale, counters.stale) {
            PauseReason::MaxStale
        } else {
            return (counters, StopDecision::Remind);
        };
        (counters, StopDecision::Limit(limit))
    }
}

fn reached(bound: Bound, count: u32) -> bool {
    bound.times().is_some_and(|times| count >= times)
}

/// Returns true if a text ends in a question; closing marks and spaces after it do not count.
pub fn is_question(text: &str) -> bool {
    let closing = |c: char| c.is_whitespace() || "*_`\"')]”’»".contains(c);
    let text = text.trim_end_matches(closing);
    text.ends_with(['?', '？', '؟'])
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOP: LastAssistant<'_> = LastAssistant {
        stop_reason: Some("stop"),
        text_tail: Some("Done."),
    };

    fn rule(rule: ContinueRule) -> ContinuePolicy {
        ContinuePolicy::of([rule].iter())
    }

    fn stop_reason(reason: &str) -> LastAssistant<'_> {
        LastAssistant {
            stop_reason: Some(reason),
            ..STOP
        }
    }

    fn says(text: &str) -> LastAssistant<'_> {
        LastAssistant {
            text_tail: Some(text),
            ..STOP
        }
    }

    fn decide(rule: &ContinuePolicy, last: LastAssistant<'_>) -> StopDecision {
        ContinueCounters::default()
            .after_stop(rule, Some(last), None)
            .1
    }

    #[test]
    fn an_inner_level_wins_key_by_key() {
        let phase = ContinueRule {
            max: Some(Bound::Times(2)),
            ..ContinueRule::default()
        };
        let workflow = ContinueRule {
            max: Some(Bound::Times(5)),
            countdown: Some(9),
            ..ContinueRule::default()
        };
        let merged = ContinuePolicy::of([phase, workflow].iter());
        assert_eq!(
            (merged.max, merged.countdown, merged.max_stale),
            (Bound::Times(2), 9, Bound::Times(3))
        );
    }

    #[test]
    fn unlimited_turns_the_other_bounds_off_unless_they_are_set() {
        let unlimited = ContinueRule {
            max: Some(Bound::Unlimited),
            ..ContinueRule::default()
        };
        let with_error = ContinueRule {
            on_error: Some(OnStop::Pause),
            ..unlimited.clone()
        };
        assert_eq!(
            decide(&rule(unlimited.clone()), stop_reason("error")),
            StopDecision::Remind
        );
        assert_eq!(
            decide(&rule(with_error), stop_reason("error")),
            StopDecision::Pause(PauseReason::Error)
        );
        assert_eq!(rule(unlimited).max_stale, Bound::Unlimited);
    }

    #[test]
    fn a_stop_by_the_user_is_left_alone() {
        assert_eq!(
            decide(&rule(ContinueRule::default()), stop_reason("aborted")),
            StopDecision::Nothing
        );
    }

    #[test]
    fn errors_and_length_stops_pause() {
        for reason in ["error", "length"] {
            assert_eq!(
                decide(&rule(ContinueRule::default()), stop_reason(reason)),
                StopDecision::Pause(PauseReason::Error)
            );
        }
    }

    #[test]
    fn an_open_question_pauses_whatever_closes_it() {
        for text in [
            "Shall I go on?",
            "Which one? **",
            "(or both?) \n",
            "続けますか？",
        ] {
            assert_eq!(
                decide(&rule(ContinueRule::default()), says(text)),
                StopDecision::Pause(PauseReason::Question),
                "{text}"
            );
        }
        assert_eq!(
            decide(&rule(ContinueRule::default()), says("Why? Because.")),
            StopDecision::Remind
        );
    }

    #[test]
    fn a_waiting_phase_is_neither_reminded_nor_paused() {
        let waits = rule(ContinueRule {
            wait: Some(true),
            ..ContinueRule::default()
        });
        assert_eq!(decide(&waits, stop_reason("error")), StopDecision::Nothing);
    }

    #[test]
    fn reminders_end_after_max() {
        let rule = rule(ContinueRule::default());
        let counters = |reminders| ContinueCounters {
            reminders,
            ..ContinueCounters::default()
        };
        assert_eq!(
            counters(7).after_stop(&rule, Some(STOP), Some(true)).1,
            StopDecision::Remind
        );
        assert_eq!(
            counters(8).after_stop(&rule, Some(STOP), Some(true)).1,
            StopDecision::Limit(PauseReason::Max)
        );
    }

    #[test]
    fn reminders_end_after_three_without_a_tool_call() {
        let rule = rule(ContinueRule::default());
        let mut counters = ContinueCounters::default();
        let mut reminders = 0;
        let last = loop {
            let (next, decision) =
                counters.after_stop(&rule, Some(STOP), (reminders > 0).then_some(false));
            if decision != StopDecision::Remind {
                break decision;
            }
            reminders += 1;
            counters = ContinueCounters { reminders, ..next };
        };
        assert_eq!(
            (reminders, last),
            (3, StopDecision::Limit(PauseReason::MaxStale))
        );
    }

    #[test]
    fn a_tool_call_clears_the_stale_count() {
        let counters = ContinueCounters {
            reminders: 2,
            stale: 2,
            ..ContinueCounters::default()
        };
        assert_eq!(
            counters
                .after_stop(&rule(ContinueRule::default()), Some(STOP), Some(true))
                .0
                .stale,
            0
        );
    }

    #[test]
    fn a_limit_may_cancel_instead() {
        let rule = rule(ContinueRule {
            max: Some(Bound::Times(0)),
            on_limit: Some(Target::Cancel),
            ..ContinueRule::default()
        });
        assert_eq!(decide(&rule, STOP), StopDecision::Limit(PauseReason::Max));
    }
}
