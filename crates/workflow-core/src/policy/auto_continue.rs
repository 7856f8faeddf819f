//! Whether an agent that stopped early is pushed on (behaviour: "Auto-continue").
//!
//! Bounded, and never against the reason of the stop: a run that should not be pushed is
//! parked, and any word of the user resumes it.

use serde::{Deserialize, Serialize};

use crate::definition::{Bound, ContinueRule, OnLimit, OnStop};
use crate::event::LastAssistant;

/// How pushing goes in one phase, after all levels had their say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Continue {
    /// The phase waits for the user: nothing is pushed, and nothing is parked.
    pub wait: bool,
    /// Pushes in a row without an advance.
    pub max: Bound,
    /// Pushes in a row in which the agent called no tool.
    pub max_stale: Bound,
    /// What a provider error or a length stop does.
    pub on_error: OnStop,
    /// What an open question does.
    pub on_question: OnStop,
    /// What reaching a limit does.
    pub on_limit: OnLimit,
    /// Seconds between the stop and the push.
    pub countdown: u32,
}

impl Continue {
    /// Takes what the levels say, innermost first: the first to say something wins, key by key.
    ///
    /// `max: unlimited` restores the package's behaviour: with it the other bounds are off
    /// as well, unless a level sets them.
    pub fn of<'r>(levels: impl Iterator<Item = &'r ContinueRule>) -> Self {
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
            on_limit: rule.on_limit.unwrap_or(OnLimit::Park),
            countdown: rule.countdown.unwrap_or(3),
        }
    }
}

/// How far pushing went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pace {
    /// Pushes in a row without an advance or a word of the user.
    pub pushes: u32,
    /// Pushes in a row after which the agent called no tool.
    pub stale: u32,
    /// Why the run is parked, if it is.
    #[serde(default)]
    pub parked: Option<Parked>,
}

/// Why a run is parked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Parked {
    /// `max` was reached.
    Max,
    /// `maxStale` was reached.
    MaxStale,
    /// The model's answer ended in an error, or at its length limit.
    Error,
    /// The agent asked the user something.
    Question,
    /// The phase needs the user's word before it is left.
    Approval,
}

/// What becomes of an agent that stopped early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Push {
    /// Nothing: the user stopped it, the phase waits, or the run is parked already.
    Rest,
    /// It is pushed on after the countdown.
    Count,
    /// The run is parked.
    Park(Parked),
    /// The run is cancelled.
    Cancel(Parked),
}

impl Pace {
    /// Decides about a stop.
    ///
    /// `used_tools` tells whether the agent called a tool since the push it stopped after; `None`
    /// is a stop that follows no push, or one that is counted already.
    #[must_use]
    pub fn after_stop(
        self,
        rule: &Continue,
        last: Option<LastAssistant<'_>>,
        used_tools: Option<bool>,
    ) -> (Self, Push) {
        let last = last.unwrap_or_default();
        if rule.wait || self.parked.is_some() || last.stop_reason == Some("aborted") {
            return (self, Push::Rest);
        }
        let stale = match used_tools {
            Some(true) => 0,
            Some(false) => self.stale.saturating_add(1),
            None => self.stale,
        };
        let pace = Self { stale, ..self };
        let failed = matches!(last.stop_reason, Some("error" | "length"));
        if failed && rule.on_error == OnStop::Pause {
            return (pace, Push::Park(Parked::Error));
        }
        if asks(&last) && rule.on_question == OnStop::Pause {
            return (pace, Push::Park(Parked::Question));
        }
        let limit = if reached(rule.max, pace.pushes) {
            Parked::Max
        } else if reached(rule.max_stale, pace.stale) {
            Parked::MaxStale
        } else {
            return (pace, Push::Count);
        };
        match rule.on_limit {
            OnLimit::Park => (pace, Push::Park(limit)),
            OnLimit::Cancel => (pace, Push::Cancel(limit)),
        }
    }
}

fn reached(bound: Bound, count: u32) -> bool {
    match bound {
        Bound::Times(times) => count >= times,
        Bound::Unlimited => false,
    }
}

/// Whether the last word is a question; closing marks and spaces do not hide it.
fn asks(last: &LastAssistant<'_>) -> bool {
    let closing = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '*' | '_' | '`' | '"' | '\'' | ')' | ']' | '”' | '’' | '»'
            )
    };
    last.text_tail
        .is_some_and(|tail| tail.trim_end_matches(closing).ends_with(['?', '？', '؟']))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOP: LastAssistant<'_> = LastAssistant {
        stop_reason: Some("stop"),
        text_tail: Some("Done."),
    };

    fn rule(rule: ContinueRule) -> Continue {
        Continue::of([rule].iter())
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

    fn decide(rule: &Continue, last: LastAssistant<'_>) -> Push {
        Pace::default().after_stop(rule, Some(last), None).1
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
        let merged = Continue::of([phase, workflow].iter());
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
            ..unlimited
        };
        assert_eq!(decide(&rule(unlimited), stop_reason("error")), Push::Count);
        assert_eq!(
            decide(&rule(with_error), stop_reason("error")),
            Push::Park(Parked::Error)
        );
        assert_eq!(rule(unlimited).max_stale, Bound::Unlimited);
    }

    #[test]
    fn a_stop_by_the_user_is_left_alone() {
        assert_eq!(
            decide(&rule(ContinueRule::default()), stop_reason("aborted")),
            Push::Rest
        );
    }

    #[test]
    fn errors_and_length_stops_park() {
        for reason in ["error", "length"] {
            assert_eq!(
                decide(&rule(ContinueRule::default()), stop_reason(reason)),
                Push::Park(Parked::Error)
            );
        }
    }

    #[test]
    fn an_open_question_parks_whatever_closes_it() {
        for text in [
            "Shall I go on?",
            "Which one? **",
            "(or both?) \n",
            "続けますか？",
        ] {
            assert_eq!(
                decide(&rule(ContinueRule::default()), says(text)),
                Push::Park(Parked::Question),
                "{text}"
            );
        }
        assert_eq!(
            decide(&rule(ContinueRule::default()), says("Why? Because.")),
            Push::Count
        );
    }

    #[test]
    fn a_waiting_phase_is_neither_pushed_nor_parked() {
        let waits = rule(ContinueRule {
            wait: Some(true),
            ..ContinueRule::default()
        });
        assert_eq!(decide(&waits, stop_reason("error")), Push::Rest);
    }

    #[test]
    fn pushing_ends_after_max_pushes() {
        let rule = rule(ContinueRule::default());
        let pace = |pushes| Pace {
            pushes,
            ..Pace::default()
        };
        assert_eq!(
            pace(7).after_stop(&rule, Some(STOP), Some(true)).1,
            Push::Count
        );
        assert_eq!(
            pace(8).after_stop(&rule, Some(STOP), Some(true)).1,
            Push::Park(Parked::Max)
        );
    }

    #[test]
    fn pushing_ends_after_three_pushes_without_a_tool_call() {
        let rule = rule(ContinueRule::default());
        let mut pace = Pace::default();
        let mut pushes = 0;
        let last = loop {
            let (next, push) = pace.after_stop(&rule, Some(STOP), (pushes > 0).then_some(false));
            if push != Push::Count {
                break push;
            }
            pushes += 1;
            pace = Pace { pushes, ..next };
        };
        assert_eq!((pushes, last), (3, Push::Park(Parked::MaxStale)));
    }

    #[test]
    fn a_tool_call_clears_the_stale_count() {
        let pace = Pace {
            pushes: 2,
            stale: 2,
            parked: None,
        };
        assert_eq!(
            pace.after_stop(&rule(ContinueRule::default()), Some(STOP), Some(true))
                .0
                .stale,
            0
        );
    }

    #[test]
    fn a_limit_may_cancel_instead() {
        let rule = rule(ContinueRule {
            max: Some(Bound::Times(0)),
            on_limit: Some(OnLimit::Cancel),
            ..ContinueRule::default()
        });
        assert_eq!(decide(&rule, STOP), Push::Cancel(Parked::Max));
    }
}
