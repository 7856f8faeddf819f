//! What follows from a command, piece by piece.

/// A piece of what follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    /// The agent starts, on this.
    Starts { prompt: String },
    /// A tool may run.
    Allowed,
    /// A tool may not run.
    Blocked { reason: String },
    /// What `workflow_step` answered.
    Answer { text: String, is_error: bool },
    /// Put into the model's context.
    Injected { text: String },
    /// Said to the agent in the user's place.
    ToAgent { text: String },
    /// Shown to the person, and not to the model.
    Shown { text: String },
    /// Told to the person beside the conversation.
    Notice { text: String, level: Level },
    /// The status line is another one.
    Status(Option<String>),
    /// What stands above the editor.
    Widget(Vec<String>),
    /// The session has a name.
    Named(String),
    /// The person is asked something; without choices the answer is yes or no.
    Asked {
        title: String,
        message: String,
        choices: Vec<String>,
    },
    /// These checks would run now, each with where it stands.
    Gate { checks: Vec<(String, String)> },
    /// What the model reads of a tool's result.
    Read { text: String, is_changed: bool },
    /// That is none of these.
    NoChoice(Vec<String>),
    /// Nothing came of it, and why.
    Nothing(&'static str),
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Info,
    Warning,
    Error,
}
