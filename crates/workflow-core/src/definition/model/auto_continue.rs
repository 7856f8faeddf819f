//! The continuation of a run whose agent stopped early.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::target::{OnLimit, Target};
use crate::definition::schema::{
    FromMap, KeyType, MapReader, Reader, Section, Shape, Written, section,
};
use crate::definition::syntax::Kind;
use crate::definition::value::{Map, OneOf, Seconds, whole_number, words};
use crate::diagnostic::{Code, Finding, shown};

section! {
    Section::guard("`continue`");
    /// Auto-continue of one level (settings, workflow, phase); an inner level wins key by key.
    #[derive(Default)]
    pub struct ContinueRule {
        /// `continue: wait`: the phase waits for the user, and the agent is not reminded. A map sets `false`.
        pub wait: Option<bool>,
        /// Reminders in a row without a phase change.
        #[key("max": AtMost, no_value: WrongType, default: Number(8), example: "5")]
        pub max: Option<Bound>,
        /// Reminders in a row after which the agent called no tool.
        #[key("maxStale": AtMost, no_value: WrongType, default: Number(3), example: "1")]
        pub max_stale: Option<Bound>,
        /// What happens after an error of the model provider, or when the answer is cut at its maximum length.
        #[key("onError": OneOf<OnStop>, no_value: WrongType, default: Text("pause"), example: r#""continue""#)]
        pub on_error: Option<OnStop>,
        /// What happens when the agent stops with a question to the user.
        #[key("onQuestion": OneOf<OnStop>, no_value: WrongType, default: Text("pause"), example: r#""continue""#)]
        pub on_question: Option<OnStop>,
        /// What happens at a limit: `pause`, `cancel`, `end`, `{end: name}`, `done`, or an id of the same workflow.
        #[key("onLimit": OnLimit, no_value: WrongType, default: Text("pause"), example: r#""cancel""#)]
        pub on_limit: Option<Target>,
        /// Seconds from the stop to the reminder.
        #[key("countdown": Seconds<3600>, no_value: WrongType, default: Number(3), example: "0")]
        pub countdown: Option<u32>,
    }
}

impl FromMap for ContinueRule {
    fn from_map(keys: &mut MapReader<'_, '_, '_>) -> Option<Self> {
        Some(Self {
            // A map says how to continue, and by that also that this level continues.
            wait: Some(false),
            ..keys.read()
        })
    }
}

/// The text `wait`, or a map.
pub(crate) struct WaitOrMap;

impl KeyType for WaitOrMap {
    type Value = ContinueRule;
    const SHAPE: Shape = Shape::new(
        || {
            json!({"anyOf": [
                {"const": "wait", "description": "The phase waits for the user, nothing is pushed."},
                {"$ref": "#/definitions/continue"},
            ]})
        },
        "`wait`, or a map",
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<ContinueRule> {
        let finding = match written.kind() {
            Kind::Map(_) => return Map::<ContinueRule>::read(reader, written),
            Kind::Text(text) if text == "wait" => {
                let (wait, rest) = (Some(true), ContinueRule::default());
                return Some(ContinueRule { wait, ..rest });
            }
            Kind::Text(text) => {
                let message = format!("`continue` must be `wait` or a map, not `{}`", shown(text));
                let finding = Finding::error(Code::InvalidValue, written.span(), message);
                if means_wait(text) {
                    return reader.refuse(finding.meant(text, "wait"));
                }
                finding
            }
            _ => written.wrong_type("`wait` or a map"),
        };
        reader.refuse(finding.help("for example `continue: {\"max\": 5, \"countdown\": 0}`"))
    }
}

/// Returns true for other words for `wait`.
fn means_wait(text: &str) -> bool {
    let text = text.to_lowercase();
    text.starts_with("wait") || ["pause", "paused", "manual", "stop", "hold"].contains(&&*text)
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
            on_limit: self.on_limit.clone().or_else(|| outer.on_limit.clone()),
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

impl Bound {
    /// The limit, if there is one.
    pub fn times(self) -> Option<u32> {
        match self {
            Self::Times(times) => Some(times),
            Self::Unlimited => None,
        }
    }
}

/// A whole number, or `unlimited`.
pub(crate) struct AtMost;

impl KeyType for AtMost {
    type Value = Bound;
    const SHAPE: Shape = Shape::new(
        || json!({"anyOf": [{"type": "integer", "minimum": 0}, {"const": "unlimited"}]}),
        "whole number, `unlimited`",
    );

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Bound> {
        let bound = match written.kind() {
            Kind::Text(text) if text == "unlimited" => Some(Bound::Unlimited),
            _ => whole_number(&written.entry.value).map(Bound::Times),
        };
        let expected = "a whole number of at least 0, or `unlimited`";
        bound.or_else(|| reader.refuse(written.out_of_range(expected)))
    }
}

words! {
    /// The effect of a stop that is not the agent's own choice.
    pub enum OnStop {
        /// The run waits for the user.
        "pause" => Pause,
        /// The agent is reminded as after any other stop.
        "continue" => Continue,
    }
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
