//! Keys with the types of their values.

use std::marker::PhantomData;

use super::key::{Change, Default, Hint, Key, NoValue, Shape, Written};
use super::reader::Reader;
use crate::definition::guard_text::GuardText;
use crate::diagnostic::Severity;
use crate::template::TemplateKind;

/// A type that a key can have.
pub(crate) trait KeyType: 'static {
    /// What the engine has of it.
    type Value;
    /// What the schema and the documents say of it.
    const SHAPE: Shape;

    /// Reads a value, and reports what is wrong with it.
    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Self::Value>;
}

/// A key whose values have a type.
#[derive(Debug)]
pub(crate) struct Typed<T> {
    pub(crate) key: Key,
    of: PhantomData<fn() -> T>,
}

impl<T: KeyType> Typed<T> {
    /// A key that has no default. A wrong value is a warning; of a guard it is an error, as it is to write none.
    pub(crate) const fn new(name: &'static str, doc: &'static str, of_guard: bool) -> Self {
        let key = Key {
            name,
            default: Default::Described("none"),
            summary: doc.trim_ascii(),
            example: "",
            guard: false,
            change: Change::Text,
            severity: Severity::Warning,
            no_value: NoValue::UseDefault,
            hint: Hint::Example,
            check: None,
            template: None,
            shape: T::SHAPE,
        };
        let of = PhantomData;
        let typed = Self { key, of };
        if of_guard {
            typed.never_dropped()
        } else {
            typed
        }
    }

    /// Its default, where that is a number.
    pub(crate) const fn number(&self) -> u32 {
        match self.key.default {
            Default::Number(number) => number,
            _ => panic!("the default is a number"),
        }
    }

    /// The same key elsewhere, with a purpose of its own.
    pub(crate) const fn summary(mut self, summary: &'static str) -> Self {
        self.key.summary = summary;
        self
    }

    pub(crate) const fn default(mut self, default: Default) -> Self {
        self.key.default = default;
        self
    }

    /// Its default in words.
    pub(crate) const fn otherwise(self, words: &'static str) -> Self {
        self.default(Default::Described(words))
    }

    pub(crate) const fn example(mut self, example: &'static str) -> Self {
        self.key.example = example;
        self
    }

    pub(crate) const fn hint(mut self, hint: &'static str) -> Self {
        self.key.hint = Hint::Text(hint);
        self
    }

    /// The help for a wrong value is that of the code.
    pub(crate) const fn usual_hint(mut self) -> Self {
        self.key.hint = Hint::OfCode;
        self
    }

    /// What its texts are, which are checked.
    pub(crate) const fn checked(mut self, check: GuardText) -> Self {
        self.key.check = Some(check);
        self
    }

    /// The use of a template.
    pub(crate) const fn of(mut self, kind: TemplateKind) -> Self {
        self.key.template = Some(kind);
        self
    }

    /// Restricts the agent.
    pub(crate) const fn guard(mut self) -> Self {
        self.key.guard = true;
        self.change(Change::Guard)
    }

    /// What a change of it means to a run, where that is not what it says to the agent.
    pub(crate) const fn change(mut self, change: Change) -> Self {
        self.key.change = change;
        self
    }

    /// Must be there.
    pub(crate) const fn required(mut self) -> Self {
        self.key = self.key.required();
        self
    }

    /// A wrong value is an error.
    pub(crate) const fn strict(mut self) -> Self {
        self.key.severity = Severity::Error;
        self
    }

    /// A wrong or missing value is an error.
    pub(crate) const fn never_dropped(mut self) -> Self {
        self.key.no_value = NoValue::Refuse;
        self.strict()
    }

    /// A key without a value has the wrong type.
    pub(crate) const fn never_empty(mut self) -> Self {
        self.key.no_value = NoValue::WrongType;
        self
    }
}
