//! The findings about values that are wrong. A wrong value of a key that is required or restricts the agent is an error. Any
//! other is a warning, and the default is used.

use crate::definition::guard_text::GuardText;
use crate::definition::schema::{Key, Reader, Written};
use crate::definition::syntax::{Entry, Kind, Span};
use crate::diagnostic::{Code, Finding, Severity, shown, visible_lines};

impl Key {
    pub(crate) fn for_example(&self) -> String {
        format!("for example `{}: {}`", self.name, self.example)
    }

    /// The end of a message: a warning means that the default is used.
    pub(super) fn consequence(&self) -> &'static str {
        match self.severity() {
            Severity::Error => "",
            Severity::Warning | Severity::Info => ": the default is used",
        }
    }

    /// A finding with the help that the key has for it.
    fn with_hint(&self, finding: Finding) -> Finding {
        match self.hint {
            Some(help) => finding.help(help),
            None => finding,
        }
    }
}

impl<'n> Written<'n> {
    /// A finding about a wrong value, with the severity of the key.
    pub(in crate::definition) fn wrong(
        self,
        code: Code,
        span: Option<Span>,
        message: impl Into<String>,
    ) -> Finding {
        Finding::new(self.key.severity(), code, span, message).help(self.key.for_example())
    }

    /// A finding about a value that the key cannot have.
    pub(crate) fn out_of_range(self, expected: &str) -> Finding {
        let (key, span) = (self.key, self.span());
        if let Some(finding) = self.foreign() {
            return finding;
        }
        let message = format!("`{}` must be {expected}{}", key.name, key.consequence());
        key.with_hint(self.wrong(Code::InvalidValue, span, message))
    }

    /// A value of the wrong type.
    pub(crate) fn wrong_type(self, expected: &str) -> Finding {
        let (key, kind) = (self.key, self.kind());
        if let Some(finding) = self.foreign() {
            return finding;
        }
        let (name, kind, end) = (key.name, kind.describe(), key.consequence());
        let message = format!("`{name}` must be {expected}, not {kind}{end}");
        let finding = self.wrong(Code::WrongType, self.span(), message);
        (key.shape.meant)(finding.clone(), self).unwrap_or_else(|| key.with_hint(finding))
    }

    /// A guard without anything in it.
    pub(crate) fn empty(self, message: impl Into<String>) -> Finding {
        let finding = Finding::error(Code::MissingKey, self.span(), message);
        finding.help(self.key.for_example())
    }

    /// The entries of a map, which has at least one. `expected` is its type in words, `empty` what is said of one without.
    pub(crate) fn entries(
        self,
        reader: &mut Reader<'_>,
        expected: &str,
        empty: impl Into<String>,
    ) -> Option<&'n [Entry<'n>]> {
        match self.kind() {
            Kind::Map(map) if map.entries.is_empty() => reader.refuse(self.empty(empty)),
            Kind::Map(map) => Some(&map.entries),
            _ => reader.refuse(self.wrong_type(expected)),
        }
    }

    /// The finding about a text that stands for a value of another type: in typographic quotes, or with a variable.
    fn foreign(self) -> Option<Finding> {
        let finding = GuardText::Value.finding(self.kind().text()?, self.span())?;
        Some(Finding {
            severity: self.key.severity(),
            ..finding
        })
    }

    /// The finding about a text for people that contains hidden characters. They are shown as escapes, so that nothing that
    /// people read can act on a terminal, which is hardly intended.
    pub(crate) fn hidden(self, text: &str, span: Option<Span>) -> Option<Finding> {
        // The end of a line is expected in a file.
        if visible_lines(text) == text.replace("\r\n", "\n") {
            return None;
        }
        let (name, text) = (self.key.name, shown(text));
        let message = format!(
            "`{name}` contains control or invisible characters, which are shown as escapes: `{text}`"
        );
        Some(Finding::warning(Code::HiddenCharacter, span, message))
    }

    /// The text that is written, if a help can repeat it.
    pub(crate) fn short_text(&self) -> Option<&str> {
        const MAX_REPEATED: usize = 80;
        let text = self.kind().text()?;
        (text.len() <= MAX_REPEATED && !text.contains('\n')).then_some(text)
    }

    /// The finding with the form that a text most likely means: `[edit]` for `edit`.
    pub(crate) fn in_form(self, finding: Finding, form: &str) -> Option<Finding> {
        let name = self.key.name;
        let finding = finding.help(format!("write `{name}: {}`", shown(form)));
        Some(finding.fix(self.short_text()?, form))
    }
}

/// Reports a name that is not one, of an input for example.
pub(crate) fn not_a_name(what: &str, name: &str, span: Option<Span>) -> Finding {
    let message = format!("`{}` cannot be the name of {what}", shown(name));
    Finding::error(Code::InvalidValue, span, message)
        .help("only the letters a to z and A to Z, digits, `_` and `-`")
}
