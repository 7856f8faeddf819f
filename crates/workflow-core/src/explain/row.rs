//! One value of a phase, and its origin.

use std::fmt;

use serde::Serialize;

use crate::definition::Tier;
use crate::diagnostic::{shown, visible};
use crate::policy::rules::RuleSource;

/// A value that applies in a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its topic.
    #[serde(skip)]
    pub topic: Topic,
    /// Its name in that topic; a key of the definition where it is one.
    #[serde(skip)]
    pub key: &'static str,
    /// The value.
    pub value: Value,
    /// Its origin; `None` where it follows from the other values.
    #[serde(flatten)]
    pub origin: Option<Origin>,
}

/// The topics of values, in reading order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
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
    /// All of them, in order, each with its title.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Start, "When a run starts"),
        (Self::Phase, "The phase"),
        (Self::Tools, "Tools"),
        (Self::Context, "Context message of the agent"),
        (Self::Continue, "When the agent stops early"),
        (Self::Moves, "Leaving the phase"),
        (Self::Flow, "Flow"),
        (Self::Turns, "Checkpoints and triggers"),
        (Self::End, "When the run ends"),
    ];
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

impl<T: Into<String>> From<T> for Value {
    fn from(text: T) -> Self {
        Self::Label(text.into())
    }
}

/// On one line, as people read it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match self {
            Self::None => "none".to_owned(),
            Self::Flag(true) => "yes".to_owned(),
            Self::Flag(false) => "no".to_owned(),
            Self::Count(count) => count.to_string(),
            Self::Label(word) => visible(word),
            Self::Names(names) if names.is_empty() => "none".to_owned(),
            Self::Names(names) => visible(&names.join(", ")),
            Self::Text(text) | Self::Part(text) => shown(text.lines().next().unwrap_or_default()),
        })
    }
}

/// The origin of a value.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// The kind of origin.
    #[serde(flatten)]
    pub kind: OriginKind,
    /// The file; `None` for defaults, and where no locations were kept.
    pub file: Option<String>,
    /// The line in it.
    pub line: Option<u32>,
}

/// The kind of an origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "from", rename_all = "kebab-case")]
pub enum OriginKind {
    /// A default.
    Default,
    /// A built-in value that nothing changes.
    BuiltIn,
    /// A settings file.
    Settings {
        /// Which one.
        tier: Tier,
    },
    /// A workflow.
    Workflow {
        /// Its key.
        #[serde(skip)]
        key: String,
    },
    /// The phase.
    Phase,
}

impl From<OriginKind> for Origin {
    fn from(kind: OriginKind) -> Self {
        Self {
            kind,
            file: None,
            line: None,
        }
    }
}

impl Origin {
    /// Creates the origin of a level from its location, `file:line`.
    pub(super) fn at(level: RuleSource<'_>, source: &str) -> Self {
        let kind = match level {
            RuleSource::Settings(tier) => OriginKind::Settings { tier },
            RuleSource::Workflow(key) => OriginKind::Workflow {
                key: key.to_owned(),
            },
            RuleSource::Phase => OriginKind::Phase,
        };
        let located = source.rsplit_once(':');
        let located = located.and_then(|(file, line)| Some((file, line.parse().ok()?)));
        let file = located.map_or(source, |(file, _)| file);
        Self {
            kind,
            file: (!file.is_empty()).then(|| visible(file)),
            line: located.map(|(_, line)| line),
        }
    }
}

/// The location, as `file:line`, or else the kind.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line, &self.kind) {
            (Some(file), Some(line), _) => write!(f, "{file}:{line}"),
            (Some(file), None, _) => f.write_str(file),
            (None, _, OriginKind::Default) => f.write_str("default"),
            (None, _, OriginKind::BuiltIn) => f.write_str("built in"),
            (None, _, OriginKind::Settings { .. }) => f.write_str("settings"),
            (None, _, OriginKind::Workflow { key }) => write!(f, "workflow {}", shown(key)),
            (None, _, OriginKind::Phase) => f.write_str("the phase"),
        }
    }
}
