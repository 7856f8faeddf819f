//! Substitutions and arithmetic expressions in words.

use std::collections::BTreeSet;

use super::Evaluator;
use super::expand::{expand, output_of};
use super::outputs::Output;
use super::scope::Scope;
use crate::command::StandardInput;
use crate::effect::{Unknown, UnknownReason};
use crate::file_access::{AccessKind, FileAccess};
use crate::parse::tree::{Expansion, ExpansionKind, RawWord, WordPart};
use crate::word::UNKNOWN;

impl Evaluator<'_> {
    /// Records read accesses to the paths that words name.
    pub(super) fn access_words(&mut self, raws: &[RawWord], scope: &Scope<'_>) {
        for word in expand(raws, &self.variables) {
            self.recorder
                .access(FileAccess::of(&word, AccessKind::Read), scope);
        }
    }

    /// Records that the items of a loop are written as its body writes, since `mark`, a path that is a variable.
    pub(super) fn access_items(&mut self, items: &[RawWord], mark: usize, scope: &Scope<'_>) {
        let done = self.recorder.accesses[mark..].iter();
        let is_item = |access: &&FileAccess| access.path == "\0" && access.kind.writes();
        let kinds: BTreeSet<_> = done.filter(is_item).map(|access| access.kind).collect();
        for word in expand(items, &self.variables) {
            for kind in &kinds {
                self.recorder.access(FileAccess::of(&word, *kind), scope);
            }
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
                    self.list(list, &mut inner);
                }
                WordPart::Process(list) => {
                    let mut inner = scope.subshell();
                    inner.input = StandardInput::Pipe { lists_files: false };
                    self.list(list, &mut inner);
                }
                WordPart::Expansion(expansion) => {
                    match expansion.kind {
                        ExpansionKind::Value => self.variables.count_use(),
                        ExpansionKind::Changing => {
                            let name = expansion.variable.as_deref().unwrap_or("…");
                            let word = format!("${{{name}}}");
                            self.give_up_part(&word, UnknownReason::Expansion);
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
                    self.reject(Unknown::new("(…)", UnknownReason::Code));
                    self.substitutions(items, scope);
                    self.access_words(items, scope);
                }
            }
        }
    }

    /// Evaluates an arithmetic expression: it is known if each of its names and expansions is a number.
    pub(super) fn arithmetic(&mut self, parts: &[WordPart]) {
        let mut whole = String::new();
        for part in parts {
            let is_number = match part {
                WordPart::Text { text, .. } => {
                    whole.push_str(text);
                    continue;
                }
                WordPart::Substitution { list, .. } => {
                    output_of(list, &self.variables) == Output::Number
                }
                WordPart::Expansion(expansion) => match (expansion.kind, &expansion.variable) {
                    (ExpansionKind::Value, Some(name)) => {
                        self.variables.evaluate(name);
                        true
                    }
                    (kind, _) => kind == ExpansionKind::Number,
                },
                _ => false,
            };
            if !is_number {
                return self.give_up_part("$((…))", UnknownReason::Expansion);
            }
            whole.push(UNKNOWN);
        }
        self.may_fail = true;
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '#' | UNKNOWN);
        let is_known = |c: char| is_of_name(c) || " \t\n+-*/%<>=!&|^~?:,;()[]@".contains(c);
        if !whole.chars().all(is_known) {
            return self.give_up_part(&whole, UnknownReason::Code);
        }
        let mut rest = whole.as_str();
        while let Some(start) = rest.find(is_of_name) {
            let word = &rest[start..];
            let end = word.find(|c| !is_of_name(c)).unwrap_or(word.len());
            let (word, behind) = word.split_at(end);
            rest = behind;
            // `16#FF` is a number. A number that only the shell knows must not be a part of a name.
            let is_digit = |c: char| c.is_ascii_digit() || c == UNKNOWN;
            let is_literal = word.starts_with(|c: char| c.is_ascii_digit());
            if word.chars().all(is_digit) || is_literal && !word.contains(UNKNOWN) {
                continue;
            }
            let is_assigned = behind.trim_start().strip_prefix('=');
            if is_assigned.is_some_and(|value| !value.starts_with('=')) {
                self.variables.note_assignment(word, true);
            }
            self.variables.evaluate(word);
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
