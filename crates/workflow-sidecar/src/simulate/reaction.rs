//! Reactions of the sidecar to a command, as they are shown.

use serde_json::Value;
use workflow_core::diagnostic::{shown, visible};
use workflow_core::run::RunState;

use super::guards::GuardLookup;
use crate::present::{DIMMED, Page, paint};

/// A reaction: a line, and the text below it.
#[derive(Debug)]
pub(super) struct Reaction {
    line: String,
    below: Page,
    cause: Option<Cause>,
}

/// A guard behind a reaction, which is looked up once the command is over.
#[derive(Debug)]
pub(super) enum Cause {
    /// A list of tools blocks this one, for this reason.
    List { tool: String, reason: String },
    /// The approval of the phase asks this.
    Approval(String),
    /// The setting that records checkpoints.
    Checkpoint,
    /// The rules that change this result of a tool.
    Results {
        tool: String,
        said: String,
        is_error: bool,
    },
}

impl Reaction {
    pub(super) fn new(line: impl Into<String>) -> Self {
        Self {
            line: line.into(),
            below: Page::default(),
            cause: None,
        }
    }

    /// A reaction of minor importance.
    pub(super) fn nothing(why: &str) -> Self {
        Self::new(paint(DIMMED, why))
    }

    /// A guard and its location.
    pub(super) fn guard(what: &str, source: &str) -> Self {
        Self::new(guard(what, source))
    }

    /// An answer that the question does not accept.
    pub(super) fn not_an_answer(answers: &PossibleAnswers) -> Self {
        let answers = answers.commands();
        Self::nothing(&format!("that is no answer to the question: {answers}"))
    }

    /// Adds a text below.
    pub(super) fn with(mut self, text: &str) -> Self {
        self.below.block("    ", text);
        self
    }

    /// Adds a line below, which is shown as it is.
    pub(super) fn with_line(mut self, line: &str) -> Self {
        self.below.line(format_args!("    {line}"));
        self
    }

    pub(super) fn by(mut self, cause: Cause) -> Self {
        self.cause = Some(cause);
        self
    }

    /// Adds the reaction to a page, with the location of its guard.
    pub(super) fn print(
        mut self,
        guards: &GuardLookup<'_>,
        run: Option<&RunState>,
        page: &mut Page,
    ) {
        let source = match &self.cause {
            Some(Cause::List { tool, reason }) => {
                run.and_then(|run| guards.list(run, tool, reason))
            }
            Some(Cause::Approval(asked)) => run.and_then(|run| guards.approval(run, asked)),
            Some(Cause::Checkpoint) => Some(guards.checkpoint(run).unwrap_or_default()),
            Some(Cause::Results {
                tool,
                said,
                is_error,
            }) => {
                for (what, source) in guards.results(run, tool, said, *is_error) {
                    let by = guard(&what, &source);
                    self.below.line(format_args!("    by {by}"));
                }
                None
            }
            None => None,
        };
        let source = source.map(|source| format!("  {}", paint(DIMMED, visible(&source))));
        page.line(format_args!(
            "  {}{}",
            self.line,
            source.unwrap_or_default()
        ));
        page.append(&self.below);
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

/// The labels of a reaction, which an expectation may name.
#[derive(Debug, Default)]
pub(super) struct ReactionLabels {
    /// The results, for example `blocked`.
    pub(super) verdicts: Vec<String>,
    /// The phase's name and id, or how the run ended.
    pub(super) phase: Vec<String>,
}

impl ReactionLabels {
    /// True if one of them is this one, in upper or lower case.
    pub(super) fn meet(&self, expected: &str) -> bool {
        let expected = expected.to_lowercase();
        let mut labels = self.verdicts.iter().chain(&self.phase);
        labels.any(|label| label.to_lowercase() == expected)
    }

    /// All of them, for people.
    pub(super) fn joined(&self) -> String {
        let phase = match self.phase.as_slice() {
            [name, id] if name.to_lowercase() != id.to_lowercase() => {
                Some(format!("{name} ({id})"))
            }
            phase => phase.first().cloned(),
        };
        let labels: Vec<String> = self.verdicts.iter().cloned().chain(phase).collect();
        labels.join(", ")
    }
}
