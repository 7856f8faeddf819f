//! Keys with the readers of their values. Only the constructors connect a type with its reader.

use super::guard_text::{read_commands, read_tool_names, read_tool_patterns};
use super::key::{Default, Hint, Key, ValueType};
use super::numbers::{
    read_bound, read_cents, read_duration, read_exit_code, read_limit, read_seconds, read_whole,
};
use super::patterns::{
    read_directory, read_fields, read_file, read_files, read_globs, read_regex, read_regexes,
    read_variables,
};
use super::values::{
    NamedValues, Partial, Text, read_choices, read_filled, read_flag, read_named, read_template,
    read_text, texts,
};
use crate::definition::model::{Bound, ExpectedExit};
use crate::definition::syntax::{Node, Reader};
use crate::template::TemplateKind;

/// A key with a value that does not depend on other keys.
#[derive(Debug, Clone, Copy)]
pub(in crate::definition) struct Typed<T: 'static> {
    pub(in crate::definition) key: Key,
    pub(super) read: Read<T>,
}

/// Reads a value, and reports what is wrong with it.
pub(in crate::definition) type Read<T> = fn(&mut Reader<'_>, &Key, &Node<'_>) -> Option<T>;

/// Declares the methods of [`Key`] that change one of its properties.
macro_rules! forward {
    ($($visible:vis $method:ident($($value:ident: $type:ty)?);)+) => {$(
        $visible const fn $method(self $(, $value: $type)?) -> Self {
            let key = self.key.$method($($value)?);
            Self { key, ..self }
        }
    )+};
}

impl<T> Typed<T> {
    /// The reader of its values.
    pub(in crate::definition) fn reader(&self) -> Read<T> {
        self.read
    }

    const fn new(
        name: &'static str,
        value: ValueType,
        summary: &'static str,
        read: Read<T>,
    ) -> Self {
        let key = Key::new(name, value, summary);
        Self { key, read }
    }

    pub(super) const fn row(self) -> Key {
        self.key
    }

    forward! {
        pub(super) default(value: Default);
        pub(super) example(json: &'static str);
        pub(super) guard();
        pub(in crate::definition) required();
        pub(super) strict();
        pub(super) never_dropped();
        pub(super) never_empty();
        pub(super) hint(hint: Hint);
    }
}

impl Typed<Text> {
    pub(super) const fn text(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::Text, summary, read_text)
    }

    pub(super) const fn filled(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::FilledText, summary, read_filled)
    }

    pub(super) const fn regex(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::FilledText, summary, read_regex)
    }

    /// The path of a file of the project, or a glob.
    pub(super) const fn files(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::FilledText, summary, read_files)
    }

    /// The path of one file of the project.
    pub(super) const fn file(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::FilledText, summary, read_file)
    }

    /// The path of a directory of the project.
    pub(super) const fn directory(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::FilledText, summary, read_directory)
    }

    pub(super) const fn command_name(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::CommandName, summary, read_text)
    }

    pub(super) const fn template(
        name: &'static str,
        kind: TemplateKind,
        summary: &'static str,
    ) -> Self {
        Self::new(name, ValueType::Template(kind), summary, read_template)
    }
}

impl Typed<bool> {
    pub(super) const fn flag(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::Flag, summary, read_flag)
    }
}

impl<T: NamedValues> Typed<T> {
    pub(super) const fn one_of(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::OneOf(T::NAMES), summary, read_named)
    }
}

impl Typed<u32> {
    pub(super) const fn whole(
        name: &'static str,
        from: u32,
        to: Option<u32>,
        summary: &'static str,
    ) -> Self {
        Self::new(name, ValueType::Whole(from, to), summary, read_whole)
    }

    pub(super) const fn seconds(name: &'static str, to: u32, summary: &'static str) -> Self {
        Self::new(name, ValueType::Whole(0, Some(to)), summary, read_seconds)
    }

    /// A limit. A value above the highest means the highest.
    pub(super) const fn limit(
        name: &'static str,
        summary: &'static str,
        default: u32,
        highest: u32,
    ) -> Self {
        Self::new(
            name,
            ValueType::Whole(1, Some(highest)),
            summary,
            read_limit,
        )
        .default(Default::Number(default))
        .never_empty()
        .example("64")
    }

    pub(super) const fn duration(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::Duration, summary, read_duration)
    }
}

impl Typed<u64> {
    /// An amount of money, read as its hundredths.
    pub(super) const fn cents(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::Money, summary, read_cents)
    }
}

impl Typed<Bound> {
    pub(super) const fn bound(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::Bound, summary, read_bound)
    }
}

impl Typed<ExpectedExit> {
    pub(super) const fn exit_code(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::ExitCode, summary, read_exit_code)
    }
}

impl Typed<Vec<String>> {
    pub(super) const fn texts(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::Texts, summary, texts)
    }

    pub(super) const fn tool_names(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::ToolNames, summary, read_tool_names)
    }

    pub(super) const fn choices(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::Choices, summary, read_choices)
    }

    pub(super) const fn globs(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::Patterns, summary, read_globs)
    }

    pub(super) const fn commands(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::Patterns, summary, read_commands)
    }

    pub(super) const fn regexes(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::Patterns, summary, read_regexes)
    }
}

impl Typed<Partial<String>> {
    pub(super) const fn tool_patterns(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::ToolPatterns, summary, read_tool_patterns)
    }
}

impl Typed<Partial<(String, String)>> {
    pub(super) const fn fields(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::Fields, summary, read_fields)
    }

    pub(super) const fn variables(name: &'static str, summary: &'static str) -> Self {
        Self::new(name, ValueType::Fields, summary, read_variables)
    }
}
