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
    /// Returns true if this is one of them. Every question can be dismissed.
    pub(super) fn accept(&self, answer: &Value) -> bool {
        match (answer, self) {
            (Value::Null, _) | (Value::Bool(_), Self::YesOrNo) | (Value::String(_), Self::Text) => {
                true
            }
            (Value::String(word), Self::OneOf(choices)) => choices.contains(word),
            _ => false,
        }
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
                let commands = choices.map(|choice| format!("choose {}", shown(choice)));
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
