//! The continuation of a run whose agent stopped early.

use serde::{Deserialize, Serialize};

/// Auto-continue of one level (settings, workflow, phase); an inner level wins key by key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContinueRule {
    /// `continue: wait`: the phase waits for the user, and the agent is not reminded. A map sets `false`.
    pub wait: Option<bool>,
    /// Reminders in a row without an advance.
    pub max: Option<Bound>,
    /// Reminders in a row in which the agent called no tool.
    pub max_stale: Option<Bound>,
    /// The effect of a provider error or a length stop.
    pub on_error: Option<OnStop>,
    /// The effect of an open question to the user.
    pub on_question: Option<OnStop>,
    /// The effect of reaching a limit.
    pub on_limit: Option<OnLimit>,
    /// Seconds between the stop and the push.
    pub countdown: Option<u32>,
}

impl ContinueRule {
    /// This rule, with `outer` for the keys that it leaves out.
    #[must_use]
    pub fn within(&self, outer: &Self) -> Self {
        Self {
            wait: self.wait.or(outer.wait),
            max: self.max.or(outer.max),
            max_stale: self.max_stale.or(outer.max_stale),
            on_error: self.on_error.or(outer.on_error),
            on_question: self.on_question.or(outer.on_question),
            on_limit: self.on_limit.or(outer.on_limit),
            countdown: self.countdown.or(outer.countdown),
        }
    }
}

/// A count that may be unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// At most this many.
    Times(u32),
    /// No limit.
    Unlimited,
}

/// The effect of a stop that is not the agent's own choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnStop {
    /// The run is paused.
    Pause,
    /// The agent is reminded as after any other stop.
    Continue,
}

/// The effect of reaching a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnLimit {
    /// The run is paused: a user message resumes it.
    Pause,
    /// The run is cancelled.
    Cancel,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inner_rule_wins_key_by_key() {
        let inner = ContinueRule {
            max: Some(Bound::Unlimited),
            ..ContinueRule::default()
        };
        let outer = ContinueRule {
            max: Some(Bound::Times(3)),
            countdown: Some(1),
            ..ContinueRule::default()
        };
        let both = inner.within(&outer);
        assert_eq!(
            (both.max, both.countdown),
            (Some(Bound::Unlimited), Some(1))
        );
    }
}
