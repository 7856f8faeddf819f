//! Substitutions and arithmetic expressions in words.

use super::Evaluator;
use super::expand::{expand, output_of};
use super::scope::Scope;
use super::variables::Value;
use crate::command::StandardInput;
use crate::effect::UnknownReason;
use crate::file_access::{AccessKind, FileAccess};
use crate::parse::tree::{Expansion, ExpansionKind, RawWord, WordPart};

impl Evaluator<'_> {
    /// Records read accesses to the paths that words name.
    pub(super) fn access_words(&mut self, raws: &[RawWord], scope: &Scope<'_>) {
        for word in expand(raws, &self.variables) {
            self.recorder
                .access(FileAccess::of(&word, AccessKind::Read), scope);
        }
    }

    /// Evaluates the commands that run during the expansion of words.
    pub(super) fn substitutions(&mut self, raws: &[RawWord], scope: &Scope<'_>) {
        for raw in raws {
            self.substitutions_in_parts(&raw.0, scope);
        }
    }

    fn substitutions_in_parts(&mut self, parts: &[WordPart], scope: &Scope<'_>) {
        for part in parts {
            match part {
                WordPart::Text { .. } => {}
                WordPart::Substitution { list, .. } => {
                    let mut inner = scope.subshell();
                    inner.output_is_used = true;
                    self.subshell(list, inner);
                }
                WordPart::Process(list) => {
                    let mut inner = scope.subshell();
                    inner.input = StandardInput::Pipe { lists_files: false };
                    self.subshell(list, inner);
                }
                WordPart::Expansion(expansion) => {
                    let name = expansion.variable.as_deref();
                    match expansion.kind {
                        ExpansionKind::Value => self.variables.count_use(),
                        ExpansionKind::Indirect => {
                            self.give_up_part(
                                &format!("${{{}}}", name.unwrap_or("…")),
                                UnknownReason::Expansion,
                            );
                        }
                        ExpansionKind::Assigning => {
                            if let Some(name) = name {
                                self.check_plain(name);
                                self.variables.note_assignment(name, false);
                            }
                        }
                        _ => {}
                    }
                    if expansion.is_arithmetic {
                        self.arithmetic(&expansion.inside);
                    }
                    self.substitutions_in_parts(&expansion.inside, scope);
                    if let Some(word) = other_value(expansion) {
                        self.access_words(&[word], scope);
                    }
                }
                WordPart::Array(items) => {
                    for item in items {
                        if matches!(item.0.first(), Some(WordPart::Text { text, quoted: false }) if text.starts_with('['))
                        {
                            self.array_index(&item.0);
                        }
                    }
                    self.substitutions(items, scope);
                    self.access_words(items, scope);
                }
            }
        }
    }

    /// Evaluates an arithmetic expression, which evaluates the text of its variables again.
    pub(super) fn arithmetic(&mut self, parts: &[WordPart]) {
        for part in parts {
            match part {
                WordPart::Text { text, .. } => self.arithmetic_text(text),
                WordPart::Substitution { list, .. }
                    if output_of(list, &self.variables).is_numeric() => {}
                WordPart::Expansion(expansion) => match (expansion.kind, &expansion.variable) {
                    (ExpansionKind::Number, _) => {}
                    (kind, Some(name)) => {
                        match self.variables.get(name).cloned() {
                            // It may be the first half of a substitution.
                            Some(Value::Text(value)) if value.contains(['$', '`']) => {
                                self.give_up_part("$((…))", UnknownReason::Expansion);
                            }
                            Some(Value::Text(value)) => self.arithmetic_text(&value),
                            _ => self.variables.evaluate(name),
                        }
                        if kind != ExpansionKind::Value {
                            self.arithmetic(&expansion.inside);
                        }
                    }
                    (_, None) => self.give_up_part("$((…))", UnknownReason::Expansion),
                },
                _ => self.give_up_part("$((…))", UnknownReason::Expansion),
            }
        }
    }

    pub(super) fn arithmetic_text(&mut self, text: &str) {
        if text.contains("$(") || text.contains('`') || text.contains("${") {
            return self.give_up_part(text, UnknownReason::Code);
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '#';
        let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
        let mut rest = text;
        while let Some(start) = rest.find(is_name) {
            let word = &rest[start..];
            let (word, behind) = word.split_at(word.find(|c| !is_name(c)).unwrap_or(word.len()));
            rest = behind;
            // `16#FF` is a number.
            let names = word
                .split('#')
                .filter(|name| !name.is_empty() && !is_number(name));
            for name in names.filter(|_| !is_number(word)) {
                let is_assigned = behind.trim_start().strip_prefix('=');
                if is_assigned.is_some_and(|value| !value.starts_with('=')) {
                    self.variables.note_assignment(name, true);
                }
                self.variables.evaluate(name);
            }
        }
    }

    /// Evaluates the index of `name[index]=value`.
    pub(super) fn array_index(&mut self, parts: &[WordPart]) {
        for part in parts {
            if let WordPart::Text { text, .. } = part
                && let Some(end) = text.find("]=").or_else(|| text.find("]+="))
            {
                return self.arithmetic_text(&text[..end]);
            }
            self.arithmetic(std::slice::from_ref(part));
        }
    }
}

/// Returns the word that stands for a variable in `${name:-word}`, `${name:=word}` and `${name:+word}`, also without the colon.
fn other_value(expansion: &Expansion) -> Option<RawWord> {
    let mut parts = expansion.inside.clone();
    let Some(WordPart::Text { text, .. }) = parts.first_mut() else {
        return None;
    };
    let operator = text.strip_prefix(':').unwrap_or(text);
    *text = operator.strip_prefix(['-', '=', '+'])?.to_owned();
    Some(RawWord(parts))
}
