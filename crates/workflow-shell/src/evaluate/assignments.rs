//! Assignments to variables.

use super::Evaluator;
use super::expand::{expand, expand_unsplit, output_of};
use super::outputs::Output;
use super::scope::Scope;
use super::variables::{self, Value};
use crate::effect::{Unknown, UnknownReason};
use crate::file_access::{AccessKind, FileAccess};
use crate::parse::tree::{Assignment, ExpansionKind, RawWord, WordPart};
use crate::programs;
use crate::word::Word;

impl Evaluator<'_> {
    /// Evaluates the items of a loop as values of its variable.
    pub(super) fn loop_variable(&mut self, words: &[RawWord]) {
        let Some(name) = words.first().and_then(RawWord::text) else {
            // An arithmetic loop.
            return;
        };
        if programs::is_interpreted_variable(name) {
            self.give_up_part(name, UnknownReason::Variable);
        }
        let mut items = Vec::new();
        for raw in &words[1..] {
            match raw.0.as_slice() {
                [WordPart::Substitution { list, .. }] => {
                    items.push(match output_of(list, &self.variables) {
                        Output::Names => Word::unknown_operand(),
                        output if output.is_numeric() => Word::number(),
                        _ => expand_unsplit(raw, &self.variables),
                    });
                }
                _ => items.extend(expand(std::slice::from_ref(raw), &self.variables)),
            }
        }
        let is_operand = |word: &Word| {
            !word.shape().is_empty()
                && !word.shape().starts_with('-')
                && !word.may_hide_option()
                && !word.shape().contains(char::is_whitespace)
        };
        let is_sequence = |word: &Word| {
            let inside = word.shape().trim_matches(['{', '}']);
            word.is_glob
                && inside
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || byte == b'.')
        };
        let is_number = |word: &Word| word.is_number() || is_sequence(word);
        let are_all = |is_one: &dyn Fn(&Word) -> bool| words.len() > 1 && items.iter().all(is_one);
        let has_numbers = are_all(&is_number);
        if are_all(&is_operand) {
            // In quotes, an item may be empty.
            let is_item = |word: &Word| !word.is_one || word.shape().bytes().any(|byte| byte > 0);
            let value = match (has_numbers, are_all(&is_item)) {
                (true, _) => Value::Number,
                (false, true) if items.iter().any(|word| word.is_glob) => Value::File,
                (false, true) => Value::Item,
                (false, false) => Value::Operand,
            };
            self.variables.keep(name, value, false);
        }
        self.variables.note_assignment(name, has_numbers);
    }

    /// Evaluates an assignment. `is_permanent` means that it does not belong to a command. Returns why its effect on the
    /// command is not known.
    pub(super) fn assignment(
        &mut self,
        assignment: &Assignment,
        is_permanent: bool,
        scope: &Scope<'_>,
    ) -> Option<Unknown> {
        let name = &assignment.name;
        if assignment.has_index {
            self.give_up_part(name, UnknownReason::Code);
        }
        let value = expand_unsplit(&assignment.value, &self.variables);
        self.recorder
            .access(FileAccess::of(&value, AccessKind::Read), scope);
        self.set_variable(name, Some(&value));
        if is_permanent {
            self.check_address(name, Some(&value));
        }
        let output = match assignment.value.0.as_slice() {
            [WordPart::Substitution { list, .. }] if assignment.is_complete => {
                output_of(list, &self.variables)
            }
            _ => Output::Unknown,
        };
        let is_number = output == Output::Number || assignment.is_complete && value.is_number();
        self.variables.note_assignment(name, is_number);
        let is_one_number = value.has_numbers_only && value.shape() == "\0" && !scope.after_and;
        let text = value.text().filter(|_| assignment.is_complete);
        let known = match text {
            Some(text) => Some(Value::Text(text.to_owned())),
            None if assignment.is_complete && is_one_number => Some(Value::Number),
            None => output.has_no_option().then_some(Value::Names),
        };
        if let Some(known) = known.filter(|_| is_permanent && self.is_certain(scope)) {
            self.variables.keep(name, known, scope.after_and);
        }
        let is_known = if name == "IFS" {
            // Other characters split what counts as one word, such as numbers.
            !is_permanent
                || text.is_some_and(|text| text.trim_matches([' ', '\t', '\n']).is_empty())
        } else if name == "CDPATH" && value.shape().is_empty() {
            true
        } else if is_permanent {
            !programs::is_interpreted_variable(name)
                && (programs::is_harmless_variable(name, text)
                    || !programs::is_environment_variable(name))
        } else {
            let is_given = |part: &WordPart| match part {
                WordPart::Text { .. } => true,
                WordPart::Expansion(part) if part.kind == ExpansionKind::Value => {
                    let name = part.variable.as_ref();
                    name.is_some_and(|name| !self.variables.is_mentioned(name))
                }
                _ => false,
            };
            // `make` expands a value, and only the running shell knows what another one holds.
            let is_plain =
                text.is_some() || value.is_number() || assignment.value.0.iter().all(is_given);
            is_plain && programs::is_harmless_variable(name, text)
                || programs::is_project_variable(name)
                    && text.is_some_and(|text| programs::is_project_path(name, text))
        };
        (!is_known).then(|| Unknown::new(name, UnknownReason::Variable))
    }

    /// Gives up if a variable that counts as no option may be one where a later line uses it.
    pub(super) fn check_address(&mut self, name: &str, value: Option<&Word>) {
        let is_address = variables::is_address(name);
        let may_be_option =
            |value: &Word| value.shape().starts_with('-') || value.may_hide_option();
        if is_address && value.is_none_or(may_be_option) {
            self.give_up_part(name, UnknownReason::Variable);
        }
    }

    /// Notes the effect of a variable on paths.
    pub(super) fn set_variable(&mut self, name: &str, value: Option<&Word>) {
        match name {
            "IFS" => self.variables.disable(),
            "CDPATH" | "GLOBIGNORE" if value.is_some_and(|value| value.shape().is_empty()) => {}
            "HOME" | "CDPATH" | "GLOBIGNORE" => {
                self.reject(Unknown::new(name, UnknownReason::Variable));
            }
            _ => {}
        }
    }
}
