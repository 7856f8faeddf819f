//! The keys of the definition language, a row a key: what it takes, what holds without it, what it is for.
//!
//! The loader's known keys, the tables of docs/DEFINITIONS.md and the JSON Schemas come from these rows.
//! How a value is read is not said here: a test holds the readers to the rows, value by value.

mod rows;

use crate::template::Place;

/// A map of the definition language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// A definition as a whole.
    Workflow,
    /// A phase file's frontmatter, or a phase written out.
    Phase,
    /// `{subworkflow: key}`.
    Reference,
    /// `tools`.
    Tools,
    /// A rule of `tools`.
    Rule,
    /// An entry of `results`.
    Result,
    /// A check of `gate`.
    Gate,
    /// What a `run` is expected to come to.
    Expect,
    /// `approve`.
    Approve,
    /// An entry of `triggers`.
    Trigger,
    /// What a trigger says under `http`.
    Http,
    /// `continue`, where it is a map.
    Continue,
    /// A settings file as a whole.
    Settings,
    /// The settings' `limits`.
    Limits,
}

/// A key that has a meaning in a map.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// How it is written.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What holds where it is absent.
    pub without: Without,
    /// What it is for, in a sentence.
    pub about: &'static str,
    /// A value that makes sense, as JSON.
    pub example: &'static str,
    /// Whether it holds the agent back: dropping it would be to run without it.
    pub guard: bool,
}

/// What a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Text. A required one has something in it.
    Text,
    /// Text with something in it.
    Filled,
    /// What can be typed after `/workflow`.
    CommandName,
    /// Text with the variables of a place.
    Template(Place),
    /// True or false.
    Flag,
    /// One of a few words, each with what it means.
    OneOf(&'static [(&'static str, &'static str)]),
    /// A whole number from the first to the last.
    Whole(u32, Option<u32>),
    /// A whole number, or `unlimited`.
    Bound,
    /// A list of texts.
    Texts,
    /// A list of names of tools.
    ToolNames,
    /// A workflow's phases: file names, references, and phases written out.
    Phases,
    /// A map in which every key may be absent.
    Map(Level),
    /// `tools`: one of its lists at most, and rules.
    Tools,
    /// A list of maps.
    ListOf(Level),
    /// A name of a tool or a list of them, with `*` for any characters.
    ToolPatterns,
    /// A pattern or a list of them.
    Patterns,
    /// A map of names of fields to patterns.
    Fields,
    /// A program and its arguments; with `shell: true`, a line.
    CommandLine,
    /// Whole seconds, or a number with `s`, `m` or `h`.
    Duration,
    /// An exit code, or `nonzero`.
    ExitCode,
    /// A list of texts with something in each.
    Choices,
    /// The word `wait`, or a map.
    WaitOr(Level),
}

/// What holds where a key is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Without {
    /// Nothing: it must be there.
    Required,
    /// Nothing, in a workflow that a person starts.
    RequiredToStart,
    /// This text.
    Text(&'static str),
    /// This number.
    Number(u32),
    /// True.
    True,
    /// What these words say.
    Said(&'static str),
}

impl Key {
    const fn new(name: &'static str, takes: Takes, about: &'static str) -> Self {
        Self {
            name,
            takes,
            without: Without::Said("none"),
            about,
            example: "",
            guard: false,
        }
    }

    const fn without(mut self, without: Without) -> Self {
        self.without = without;
        self
    }

    const fn example(mut self, json: &'static str) -> Self {
        self.example = json;
        self
    }

    const fn guard(mut self) -> Self {
        self.guard = true;
        self
    }
}

impl Level {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Workflow,
        Self::Phase,
        Self::Reference,
        Self::Tools,
        Self::Rule,
        Self::Result,
        Self::Gate,
        Self::Expect,
        Self::Approve,
        Self::Trigger,
        Self::Http,
        Self::Continue,
        Self::Settings,
        Self::Limits,
    ];

    /// The keys that have a meaning here.
    #[must_use]
    pub fn keys(self) -> &'static [Key] {
        match self {
            Self::Workflow => rows::WORKFLOW,
            Self::Phase => rows::PHASE,
            Self::Reference => rows::REFERENCE,
            Self::Tools => rows::TOOLS,
            Self::Rule => rows::RULE,
            Self::Result => rows::RESULT,
            Self::Gate => rows::GATE,
            Self::Expect => rows::EXPECT,
            Self::Approve => rows::APPROVE,
            Self::Trigger => rows::TRIGGER,
            Self::Http => rows::HTTP,
            Self::Continue => rows::CONTINUE,
            Self::Settings => rows::SETTINGS,
            Self::Limits => rows::LIMITS,
        }
    }

    /// Whether the whole map is a guard.
    #[must_use]
    pub fn is_guard(self) -> bool {
        match self {
            Self::Tools
            | Self::Rule
            | Self::Result
            | Self::Gate
            | Self::Expect
            | Self::Approve
            | Self::Trigger
            | Self::Http
            | Self::Continue => true,
            Self::Workflow | Self::Phase | Self::Reference | Self::Settings | Self::Limits => false,
        }
    }

    /// What it is, in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Workflow => "a workflow",
            Self::Phase => "a phase",
            Self::Reference => "a subworkflow reference",
            Self::Tools => "`tools`",
            Self::Rule => "a rule",
            Self::Result => "an entry of `results`",
            Self::Gate => "a check of `gate`",
            Self::Expect => "`expect`",
            Self::Approve => "`approve`",
            Self::Trigger => "a trigger",
            Self::Http => "`http`",
            Self::Continue => "`continue`",
            Self::Settings => "the settings",
            Self::Limits => "`limits`",
        }
    }
}

/// The first row of a key, whatever map it is in.
pub(super) fn row(key: &str) -> Option<&'static Key> {
    let rows = Level::ALL.iter().flat_map(|level| level.keys());
    rows.into_iter().find(|row| row.name == key)
}
