//! One value of a phase, and its origin.

use serde::Serialize;

use crate::definition::Tier;
use crate::diagnostic::visible;
use crate::policy::rules::RuleSource;

/// A value that applies in a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its topic.
    pub topic: Topic,
    /// Its name in that topic; a key of the definition where it is one.
    pub key: &'static str,
    /// The value.
    pub value: Value,
    /// Its origin; `None` where it follows from the other values.
    pub origin: Option<Origin>,
}

/// The topics of values, in reading order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// The start of a run.
    Start,
    /// The phase itself.
    Phase,
    /// The tools that may run.
    Tools,
    /// The messages to the agent when it starts.
    Context,
    /// Reminders when the agent stops early.
    Continue,
    /// The targets of `next` and `loop`.
    Moves,
    /// Inputs and outputs, conditions, visits, budgets.
    Flow,
    /// Checkpoints of the code, and triggers.
    Turns,
    /// The announcement of the end of a run.
    End,
}

impl Topic {
    /// All of them, in order.
    pub const ALL: [Self; 9] = [
        Self::Start,
        Self::Phase,
        Self::Tools,
        Self::Context,
        Self::Continue,
        Self::Moves,
        Self::Flow,
        Self::Turns,
        Self::End,
    ];

    /// Its name for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// Its title for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.names().1
    }

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Start => ("start", "When a run starts"),
            Self::Phase => ("phase", "The phase"),
            Self::Tools => ("tools", "Tools"),
            Self::Context => ("context", "Context message of the agent"),
            Self::Continue => ("continue", "When the agent stops early"),
            Self::Moves => ("moves", "Leaving the phase"),
            Self::Flow => ("flow", "Flow"),
            Self::Turns => ("turns", "Checkpoints and triggers"),
            Self::End => ("end", "When the run ends"),
        }
    }
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// There is none.
    None,
    /// Yes or no.
    Flag(bool),
    /// A number.
    Count(u64),
    /// A short text, shown on one line.
    Label(String),
    /// Names.
    Names(Vec<String>),
    /// A text as the agent or the person gets it, to be read in full.
    Text(String),
    /// A text that goes into another one.
    Part(String),
}

/// The origin of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The kind of origin.
    pub kind: OriginKind,
    /// Its location, as `file:line`; `None` for defaults, and where no locations were kept.
    pub location: Option<String>,
}

/// The kind of an origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OriginKind {
    /// A default.
    Default,
    /// A built-in value that nothing changes.
    BuiltIn,
    /// A settings file.
    Settings(Tier),
    /// The workflow of this key.
    Workflow(String),
    /// The phase.
    Phase,
}

impl OriginKind {
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
    /// Creates the origin of a rule, a gate or a trigger from its location, `file:line`.
    pub(super) fn at(level: RuleSource<'_>, source: &str) -> Self {
        Self {
            kind: match level {
                RuleSource::Settings(tier) => OriginKind::Settings(tier),
                RuleSource::Workflow(key) => OriginKind::Workflow(key.to_owned()),
                RuleSource::Phase => OriginKind::Phase,
            },
            location: (!source.is_empty()).then(|| visible(source)),
        }
    }

    /// The origin of a default.
    #[must_use]
    pub fn default_value() -> Self {
        Self {
            kind: OriginKind::Default,
            location: None,
        }
    }
}
