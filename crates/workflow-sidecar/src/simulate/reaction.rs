//! Reactions of the sidecar to a command, as they are shown.

use std::fmt::Display;

use serde_json::Value;
use workflow_core::diagnostic::{shown, visible};

use crate::present::{DIMMED, Page, paint};

/// A reaction: a line, and the text below it.
pub(super) struct Reaction(pub(super) Page);

impl Reaction {
    pub(super) fn new(line: impl Display) -> Self {
        let mut page = Page::default();
        page.line(format_args!("  {line}"));
        Self(page)
    }

    /// A reaction with the location of the guard behind it, if there is one.
    pub(super) fn by(line: impl Display, source: Option<String>) -> Self {
        let source = source.map(|source| format!("  {}", paint(DIMMED, visible(&source))));
        Self::new(format_args!("{line}{}", source.unwrap_or_default()))
    }

    /// Adds a text below.
    pub(super) fn with(mut self, text: &str) -> Self {
        self.0.block("    ", text);
        self
    }

    /// Adds a line below, which is shown as it is.
    pub(super) fn with_line(mut self, line: impl Display) -> Self {
        self.0.line(format_args!("    {line}"));
        self
    }
}

/// A guard and its location.
pub(super) fn guard(what: &str, source: &str) -> String {
    format!("{}  {}", visible(what), paint(DIMMED, visible(source)))
}

/// The first line of a text.
pub(super) fn first_line(text: &str) -> String {
    let text = text.trim_end();
    match text.split_once('\n') {
        Some((first, _)) => format!("{} …", visible(first)),
        None => visible(text),
    }
}

/// A JSON text as text.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The answers that a question accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PossibleAnswers {
    YesOrNo,
    OneOf(Vec<String>),
    /// A line of text.
    Text,
}

impl PossibleAnswers {
    /// The answer as the host gives it; `None` if it is none of them. Every question can be dismissed.
    pub(super) fn read(&self, answer: &Value) -> Option<Value> {
        let Self::OneOf(choices) = self else {
            let is_text = *self == Self::Text;
            let fits = answer.is_null() || is_text && answer.is_string();
            return (fits || !is_text && answer.is_boolean()).then(|| answer.clone());
        };
        let word = match answer {
            Value::Null => return Some(Value::Null),
            Value::Bool(true) => "yes",
            Value::Bool(false) => "no",
            answer => answer.as_str()?,
        };
        let mut choices = choices.iter();
        let choice = choices.find(|choice| choice.eq_ignore_ascii_case(word))?;
        Some(choice.as_str().into())
    }

    /// Says that another answer is none.
    pub(super) fn only(&self) -> String {
        format!("that is no answer to the question: {}", self.commands())
    }

    /// Lists the commands that answer.
    pub(super) fn commands(&self) -> String {
        match self {
            Self::YesOrNo => "yes or no".to_owned(),
            Self::OneOf(choices) => {
                let choices = choices.iter();
                let commands = choices.map(|choice| match choice.as_str() {
                    "Yes" | "No" => choice.to_lowercase(),
                    choice => format!("choose {}", shown(choice)),
                });
                commands.collect::<Vec<_>>().join(", ")
            }
            Self::Text => "choose TEXT".to_owned(),
        }
    }
}

/// The labels of a reaction, which an expectation may name: its results, for example `blocked`, and the phase's name and id, or how the
/// run ended.
#[derive(Debug, Default)]
pub(super) struct ReactionLabels(pub(super) Vec<Vec<String>>);

impl ReactionLabels {
    /// True if one of them is this one, in upper or lower case.
    pub(super) fn meet(&self, expected: &str) -> bool {
        let expected = expected.to_lowercase();
        let mut labels = self.0.iter().flatten();
        labels.any(|label| label.to_lowercase() == expected)
    }

    /// All of them, for people.
    pub(super) fn joined(&self) -> String {
        let labels = self.0.iter().map(|label| match label.as_slice() {
            [name, id] if name.to_lowercase() != id.to_lowercase() => format!("{name} ({id})"),
            label => label.first().cloned().unwrap_or_default(),
        });
        labels.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn yes_and_no_answer_a_question_that_has_them_among_its_choices() {
        let choices = ["No", "Yes", "Yes, for this run"].map(str::to_owned);
        let answers = PossibleAnswers::OneOf(choices.to_vec());
        assert_eq!(answers.read(&json!(false)), Some(json!("No")));
        assert_eq!(answers.read(&json!(true)), Some(json!("Yes")));
        let longer = json!("yes, for this run");
        assert_eq!(answers.read(&longer), Some(json!("Yes, for this run")));
        assert_eq!(answers.read(&json!("maybe")), None);
        assert_eq!(answers.commands(), "no, yes, choose Yes, for this run");
        let others = PossibleAnswers::OneOf(vec!["approve".to_owned()]);
        assert_eq!(others.read(&json!(true)), None);
        assert_eq!(PossibleAnswers::YesOrNo.read(&json!("yes")), None);
    }
}
