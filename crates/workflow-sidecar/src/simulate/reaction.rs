//! Reactions of the sidecar to a command.

/// A reaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// The agent starts, on this.
    Starts { prompt: String },
    /// A tool may run.
    Allowed,
    /// A tool may not run.
    Blocked { tool: String, reason: String },
    /// The answer of `workflow_step`.
    Answer { text: String, is_error: bool },
    /// A text in the model's context.
    Injected { text: String },
    /// A message to the agent, as from the user.
    ToAgent { text: String },
    /// Shown to the person, and not to the model.
    Shown { text: String },
    /// A notice to the person, outside of the conversation.
    Notice { text: String, level: NoticeLevel },
    /// The status line is another one.
    Status(Option<String>),
    /// The lines above the editor.
    Widget(Vec<String>),
    /// The session has a name.
    Named(String),
    /// A question to the person.
    Asked {
        title: String,
        message: String,
        answers: PossibleAnswers,
    },
    /// The checks that would run now, each with its location.
    Gate { checks: Vec<(String, String)> },
    /// A tool's result as the model reads it.
    Read {
        text: String,
        /// The result before, if it was changed.
        changed: Option<Changed>,
    },
    /// The guard that caused the reaction: its action and its location.
    Guard { what: String, source: String },
    /// The code would be kept, under this number.
    Kept { number: u64 },
    /// The message of a trigger waits until the agent has stopped.
    Queued,
    /// There is no such trigger: these there are.
    NoTrigger(Vec<String>),
    /// There is no such checkpoint: so many there are.
    NoCheckpoint(usize),
    /// The answer is not one of these.
    NotAnAnswer(PossibleAnswers),
    /// Nothing came of it, and why.
    Nothing(&'static str),
}

/// The answers that a question accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PossibleAnswers {
    YesOrNo,
    OneOf(Vec<String>),
    /// A line of text.
    Text,
}

/// A result that the model does not read as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) tool: String,
    pub(crate) said: String,
    pub(crate) is_error: bool,
}

/// The labels of a reaction, which an expectation may name.
#[derive(Debug, Default)]
pub(crate) struct ReactionLabels {
    /// The results, for example `blocked`.
    pub(super) verdicts: Vec<String>,
    /// The phase's name and id, or how the run ended.
    pub(super) phase: Vec<String>,
}

impl ReactionLabels {
    /// True if one of them is this one, in upper or lower case.
    pub(crate) fn meet(&self, expected: &str) -> bool {
        let expected = expected.to_lowercase();
        let mut labels = self.verdicts.iter().chain(&self.phase);
        labels.any(|label| label.to_lowercase() == expected)
    }

    /// All of them, for people.
    pub(crate) fn joined(&self) -> String {
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

/// The severity of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoticeLevel {
    Info,
    Warning,
    Error,
}
