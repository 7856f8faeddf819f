//! The keys of the definition language, declared once.
//!
//! A row of [`keys`] names a key, its type, its default, its purpose and an example. The rows read values and report
//! what is wrong with them, and yield the JSON Schemas and the tables of docs/DEFINITIONS.md. Checks across keys are in
//! `load/`.

pub(super) mod json_schema;
pub(super) mod keys;
mod map_reader;
mod names;
mod patterns;
pub(super) mod tables;
mod tool_names;
mod typed;
mod unknown_keys;
mod values;

pub(super) use map_reader::{Field, List, MapReader};
pub(super) use names::listed;
pub use names::nearest;
pub(super) use unknown_keys::lost_guards;
pub(super) use values::{Text, check_template, texts, wrong_type};

use crate::diagnostic::Severity;
use crate::template::TemplateKind;

/// A map of the definition language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// A definition as a whole.
    Workflow,
    /// A phase file's frontmatter, or a phase inside a definition.
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
    /// The expected result of a `run`.
    Expect,
    /// `approve`.
    Approve,
    /// An entry of `triggers`.
    Trigger,
    /// The map under a trigger's `http`.
    Http,
    /// `continue`, where it is a map.
    Continue,
    /// A settings file as a whole.
    Settings,
    /// The settings' `limits`.
    Limits,
}

/// The declaration of a key.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its name in a file.
    pub name: &'static str,
    /// The type of its value.
    pub value: ValueType,
    /// Its value where it is absent.
    pub default: Default,
    /// Its purpose, in a sentence.
    pub summary: &'static str,
    /// A value that makes sense, as JSON.
    pub example: &'static str,
    /// True if it restricts the agent, so that it must not be dropped.
    pub guard: bool,
    /// The severity of a wrong value; a warning means that the default is used.
    severity: Severity,
    no_value: NoValue,
    hint: Hint,
}

/// The type of a key's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueType {
    /// Text. A required one is not blank.
    Text,
    /// Text that is not blank.
    FilledText,
    /// A name that can be typed after `/workflow`.
    CommandName,
    /// Text with the variables of a place.
    Template(TemplateKind),
    /// True or false.
    Flag,
    /// One of a few words, each with its meaning.
    OneOf(&'static [(&'static str, &'static str)]),
    /// A whole number from the first to the last.
    Whole(u32, Option<u32>),
    /// A whole number, or `unlimited`.
    Bound,
    /// A list of texts.
    Texts,
    /// A list of names of tools.
    ToolNames,
    /// A workflow's phases: file names, references, and phases inside the definition.
    Phases,
    /// A map in which every key may be absent.
    Map(Section),
    /// `tools`: one of its lists at most, and rules.
    Tools,
    /// A list of maps.
    ListOf(Section),
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
    /// A list of texts that are not blank.
    Choices,
    /// The word `wait`, or a map.
    WaitOr(Section),
}

/// The value of a key that is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Default {
    /// None: the key is required.
    Required,
    /// None: the key is required in a workflow that a person starts.
    RequiredToStart,
    /// This text.
    Text(&'static str),
    /// This number.
    Number(u32),
    /// True.
    True,
    /// The value that these words describe.
    Described(&'static str),
}

/// The treatment of a key without a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NoValue {
    /// A warning: the default is used.
    UseDefault,
    /// An error, as if the key were missing.
    Missing,
    /// An error: a guard must not be dropped.
    Refuse,
    /// As any other value of the wrong type.
    WrongType,
}

/// The help for a value out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hint {
    /// The key's example.
    Example,
    /// The usual help of the diagnostic's code.
    OfCode,
    /// This text.
    Text(&'static str),
}

impl Key {
    pub(super) const fn new(name: &'static str, value: ValueType, summary: &'static str) -> Self {
        Self {
            name,
            value,
            default: Default::Described("none"),
            summary,
            example: "",
            guard: false,
            severity: Severity::Warning,
            no_value: NoValue::UseDefault,
            hint: Hint::Example,
        }
    }

    const fn row(self) -> Self {
        self
    }

    const fn default(mut self, default: Default) -> Self {
        self.default = default;
        self
    }

    const fn example(mut self, json: &'static str) -> Self {
        self.example = json;
        self
    }

    /// Restricts the agent.
    const fn guard(mut self) -> Self {
        self.guard = true;
        self
    }

    /// Must be there.
    const fn required(mut self) -> Self {
        self.default = Default::Required;
        self.severity = Severity::Error;
        self.no_value = NoValue::Missing;
        self
    }

    /// A wrong value is an error.
    const fn strict(mut self) -> Self {
        self.severity = Severity::Error;
        self
    }

    /// A wrong value is an error, and so is none.
    const fn never_dropped(mut self) -> Self {
        self.severity = Severity::Error;
        self.no_value = NoValue::Refuse;
        self
    }

    /// A key without a value has the wrong type.
    const fn never_empty(mut self) -> Self {
        self.no_value = NoValue::WrongType;
        self
    }

    const fn hint(mut self, hint: Hint) -> Self {
        self.hint = hint;
        self
    }

    fn is_required(&self) -> bool {
        self.default == Default::Required
    }
}

impl Section {
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
            Self::Workflow => keys::workflow::KEYS,
            Self::Phase => keys::phase::KEYS,
            Self::Reference => keys::reference::KEYS,
            Self::Tools => keys::tools::KEYS,
            Self::Rule => keys::rule::KEYS,
            Self::Result => keys::result::KEYS,
            Self::Gate => keys::gate::KEYS,
            Self::Expect => keys::expect::KEYS,
            Self::Approve => keys::approve::KEYS,
            Self::Trigger => keys::trigger::KEYS,
            Self::Http => keys::http::KEYS,
            Self::Continue => keys::auto_continue::KEYS,
            Self::Settings => keys::settings::KEYS,
            Self::Limits => keys::limits::KEYS,
        }
    }

    /// The keys of which there is exactly one.
    #[must_use]
    pub fn alternatives(self) -> &'static [&'static str] {
        match self {
            Self::Rule => &["allow", "ask", "block"],
            Self::Gate => &["run", "file", "git", "commit"],
            Self::Trigger => &["file", "http"],
            Self::Http => &["token", "tokenEnv"],
            _ => &[],
        }
    }

    /// The keys of which there is at least one.
    #[must_use]
    pub fn effects(self) -> &'static [&'static str] {
        match self {
            Self::Result => &["redact", "maxChars", "append"],
            _ => &[],
        }
    }

    /// The keys that have a meaning only beside another, each with that other.
    #[must_use]
    pub fn companions(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Gate => &[
                ("shell", "run"),
                ("timeout", "run"),
                ("expect", "run"),
                ("changed", "file"),
            ],
            _ => &[],
        }
    }

    /// Returns true if the whole map is a guard.
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

    /// Its description in a message.
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

    /// The type of its map, as a message about another type names it.
    fn expected(self) -> &'static str {
        match self {
            Self::Tools => "a map with `blacklist`, `whitelist` or `rules`",
            Self::Approve => "a map with `ask`",
            Self::Http => "a map with `port` and `token`",
            _ => "a map",
        }
    }
}
