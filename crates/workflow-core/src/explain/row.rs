//! One value that holds, and who says so.

use crate::definition::Tier;
use crate::diagnostic;

/// A value that holds at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What it is about.
    pub topic: Topic,
    /// Its name in that section; a key of the definition where it is one.
    pub key: &'static str,
    /// The value.
    pub value: Value,
    /// Who says so; `None` where it follows from the other values.
    pub origin: Option<Origin>,
}

/// What values are about, in the order in which they are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// How a run starts.
    Start,
    /// The phase itself.
    Phase,
    /// Which tools may run.
    Tools,
    /// What the agent is told when it starts.
    Context,
    /// What happens when the agent stops early.
    Continue,
    /// Where `next` and `loop` lead.
    Moves,
    /// What is kept of the code, and what wakes the agent.
    Turns,
    /// How the end of a run is announced.
    End,
}

impl Topic {
    /// All of them, in order.
    pub const ALL: [Self; 8] = [
        Self::Start,
        Self::Phase,
        Self::Tools,
        Self::Context,
        Self::Continue,
        Self::Moves,
        Self::Turns,
        Self::End,
    ];

    /// Its name for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Phase => "phase",
            Self::Tools => "tools",
            Self::Context => "context",
            Self::Continue => "continue",
            Self::Moves => "moves",
            Self::Turns => "turns",
            Self::End => "end",
        }
    }

    /// Its title for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Start => "When a run starts",
            Self::Phase => "The phase",
            Self::Tools => "Tools",
            Self::Context => "What the agent is told when it starts",
            Self::Continue => "When the agent stops early",
            Self::Moves => "The way on",
            Self::Turns => "Checkpoints and triggers",
            Self::End => "When the run ends",
        }
    }
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// There is none.
    None,
    /// Yes or no.
    Flag(bool),
    /// A number.
    Count(u64),
    /// A word or two.
    Word(String),
    /// Names.
    Names(Vec<String>),
    /// A text as the agent or the person gets it, to be read in full.
    Text(String),
    /// A text that goes into another one.
    Part(String),
}

/// Who says something, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Who says it.
    pub said: Said,
    /// Where it is written; `None` for defaults, and for files that cannot be read any more.
    pub location: Option<diagnostic::Location>,
}

/// Who says something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// Nobody: it is so unless something else is said.
    Default,
    /// Nobody: it is so whatever is said.
    BuiltIn,
    /// A settings file.
    Settings(Tier),
    /// The workflow of this key.
    Workflow(String),
    /// The phase.
    Phase,
}

impl Said {
    /// Its name for programs.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::BuiltIn => "built-in",
            Self::Settings(_) => "settings",
            Self::Workflow(_) => "workflow",
            Self::Phase => "phase",
        }
    }
}

impl Origin {
    /// Nobody says anything else.
    #[must_use]
    pub fn default_value() -> Self {
        Self {
            said: Said::Default,
            location: None,
        }
    }
}
