//! The declaration of a key: its type, its default, its treatment when it is wrong.

use super::section::Section;
use crate::diagnostic::Severity;
use crate::template::TemplateKind;

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
    pub(super) severity: Severity,
    pub(super) no_value: NoValue,
    pub(super) hint: Hint,
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
    /// Text with variables.
    Template(TemplateKind),
    /// True or false.
    Flag,
    /// One of several named values, each with its meaning.
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
    /// `tools` of a workflow or a phase: the text `read-only`, or such a map.
    ReadOnlyOrTools,
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
    /// The text `wait`, or a map.
    WaitOr(Section),
    /// A list of answers, or a map of answers to targets.
    ChoicesOrTargets,
    /// A map of names to targets.
    Targets,
    /// A map of values of a run to what they must be.
    Conditions,
    /// A map of names to maps.
    Named(Section),
    /// The type of an input or an output.
    ParameterType,
    /// A text, a number, true or false, or a list of texts.
    Any,
    /// A map of names to lists of rules.
    RuleSets,
    /// An amount of money with two decimals at most.
    Money,
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
    /// The value that this text describes.
    Described(&'static str),
}

/// The treatment of a key without a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoValue {
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
pub(super) enum Hint {
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

    pub(super) const fn row(self) -> Self {
        self
    }

    pub(super) const fn default(mut self, default: Default) -> Self {
        self.default = default;
        self
    }

    pub(super) const fn example(mut self, json: &'static str) -> Self {
        self.example = json;
        self
    }

    /// Restricts the agent.
    pub(super) const fn guard(mut self) -> Self {
        self.guard = true;
        self
    }

    /// Must be there.
    pub(super) const fn required(mut self) -> Self {
        self.default = Default::Required;
        self.severity = Severity::Error;
        self.no_value = NoValue::Missing;
        self
    }

    /// A wrong value is an error.
    pub(super) const fn strict(mut self) -> Self {
        self.severity = Severity::Error;
        self
    }

    /// A wrong or missing value is an error.
    pub(super) const fn never_dropped(mut self) -> Self {
        self.severity = Severity::Error;
        self.no_value = NoValue::Refuse;
        self
    }

    /// A key without a value has the wrong type.
    pub(super) const fn never_empty(mut self) -> Self {
        self.no_value = NoValue::WrongType;
        self
    }

    pub(super) const fn hint(mut self, hint: Hint) -> Self {
        self.hint = hint;
        self
    }

    pub(super) fn is_required(&self) -> bool {
        self.default == Default::Required
    }
}
