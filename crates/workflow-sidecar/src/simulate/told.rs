//! What follows from a command, piece by piece.

/// A piece of what follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    /// The agent starts, on this.
    Starts { prompt: String },
    /// A tool may run.
    Allowed,
    /// A tool may not run.
    Blocked { tool: String, reason: String },
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
    Read {
        text: String,
        /// What it was before, if it is another one.
        changed: Option<Changed>,
    },
    /// A guard did it: what it does, and where it stands.
    Guard { what: String, source: String },
    /// The code would be kept, under this number.
    Kept { number: u64 },
    /// What came in waits until the agent has stopped.
    Queued,
    /// There is no such trigger: these there are.
    NoTrigger(Vec<String>),
    /// There is no such checkpoint: so many there are.
    NoCheckpoint(usize),
    /// That is none of these.
    NoChoice(Vec<String>),
    /// Nothing came of it, and why.
    Nothing(&'static str),
}

/// A result that the model does not read as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) tool: String,
    pub(crate) said: String,
    pub(crate) is_error: bool,
}

/// What an expectation may say of what came of a command.
#[derive(Debug, Default)]
pub(crate) struct Words {
    /// What happened: blocked, pushed, parked.
    pub(super) verdicts: Vec<String>,
    /// Where the run stands: the phase's name and id, or how it ended.
    pub(super) place: Vec<String>,
}

impl Words {
    /// Whether one of them is this one, in whatever case.
    pub(crate) fn meet(&self, expected: &str) -> bool {
        let expected = expected.to_lowercase();
        let mut words = self.verdicts.iter().chain(&self.place);
        words.any(|word| word.to_lowercase() == expected)
    }

    /// All of them, for people.
    pub(crate) fn told(&self) -> String {
        let place = match self.place.as_slice() {
            [name, id] if name.to_lowercase() != id.to_lowercase() => {
                Some(format!("{name} ({id})"))
            }
            place => place.first().cloned(),
        };
        let words: Vec<String> = self.verdicts.iter().cloned().chain(place).collect();
        words.join(", ")
    }
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Info,
    Warning,
    Error,
}
