//! Expansion of words, as far as the line itself determines the result.

use super::outputs::{prints_files, prints_numbers};
use super::variables::Variables;
use crate::parse::tree::{Expansion as Expanded, ExpansionKind, RawWord, WordPart};
use crate::word::{UNKNOWN, Word};

/// Expands a word. The result is usually one word; an unquoted variable yields none or several.
pub(super) fn expand(raw: &RawWord, variables: &Variables) -> Vec<Word> {
    let mut expansion = Expansion {
        done: Vec::new(),
        word: None,
        variables,
    };
    expansion.parts(&raw.0);
    let Expansion { mut done, word, .. } = expansion;
    done.extend(word);
    for word in &mut done {
        word.is_glob = word.is_glob && makes_glob(&word.shape);
    }
    done
}

/// Expands a text that is not split into words, such as a here-document.
pub(super) fn expand_unsplit(raw: &RawWord, variables: &Variables) -> Word {
    let mut words = expand(raw, variables).into_iter();
    let mut whole = words.next().unwrap_or_default();
    for word in words {
        whole.shape.push(' ');
        whole.shape.push_str(&word.shape);
    }
    whole
}

struct Expansion<'a> {
    done: Vec<Word>,
    word: Option<Word>,
    variables: &'a Variables,
}

impl Expansion<'_> {
    fn parts(&mut self, parts: &[WordPart]) {
        for (index, part) in parts.iter().enumerate() {
            match part {
                WordPart::Text { text, quoted } => self.text(text, *quoted, index == 0),
                WordPart::Expansion(expansion) => self.expansion(expansion),
                WordPart::Process(_) => {
                    self.unknown(true);
                    self.current().is_process = true;
                }
                WordPart::Substitution { list, quoted } => {
                    let is_number = prints_numbers(list);
                    let lists_files =
                        matches!(list.as_slice(), [item] if prints_files(&item.pipeline));
                    let lists_files = lists_files && !self.variables.may_redefine();
                    let is_start = self.current().shape.is_empty();
                    self.current().starts_with_files |= is_start && lists_files;
                    self.unknown(is_number);
                    self.current().may_add_words |= !quoted && !is_number;
                }
                WordPart::Array(_) => self.unknown(false),
            }
        }
    }

    fn expansion(&mut self, expansion: &Expanded) {
        let is_value = expansion.kind == ExpansionKind::Value;
        let variable = expansion.variable.as_deref();
        if let Some(name) = variable.filter(|_| is_value) {
            if let Some(value) = self.variables.get(name) {
                return if expansion.quoted {
                    self.text(value, true, false);
                } else {
                    self.split(value);
                };
            }
            let is_start = self.current().shape.is_empty();
            self.current().starts_at_home |= is_start && name == "HOME";
        }
        let lists_files = is_value && variable.is_some_and(|name| self.variables.lists_files(name));
        let is_start = self.current().shape.is_empty();
        self.current().starts_with_files |= is_start && lists_files;
        let is_safe = expansion.kind == ExpansionKind::Number
            || is_value && variable.is_some_and(|name| self.variables.is_no_option(name));
        self.unknown(is_safe);
        let is_assigned = variable.is_none_or(|name| self.variables.is_mentioned(name));
        let several = expansion.kind == ExpansionKind::Several;
        self.current().may_add_words |= several || !expansion.quoted && is_assigned && !is_safe;
    }

    fn current(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    fn text(&mut self, text: &str, quoted: bool, first: bool) {
        let word = self.current();
        if quoted && first && text.starts_with('~') {
            // A quoted `~` is a file of that name, not a home directory.
            word.shape.push_str("./");
        }
        word.shape.push_str(text);
        word.is_glob |= !quoted && text.contains(['*', '?', '[', '{']);
    }

    /// Appends an unknown part. `is_safe` means that it does not start with a dash.
    fn unknown(&mut self, is_safe: bool) {
        let word = self.current();
        word.is_no_option |= is_safe && word.shape.is_empty();
        word.shape.push(UNKNOWN);
    }

    /// Appends an unquoted value: white space ends words.
    fn split(&mut self, value: &str) {
        for (index, field) in value.split_ascii_whitespace().enumerate() {
            if index > 0 || value.starts_with(|c: char| c.is_ascii_whitespace()) {
                self.done.extend(self.word.take());
            }
            self.text(field, false, false);
        }
        if value.ends_with(|c: char| c.is_ascii_whitespace()) {
            self.done.extend(self.word.take());
        }
    }
}

/// Returns whether unquoted text is a glob. `[` alone is a program, `{}` is an argument of `find`.
fn makes_glob(shape: &str) -> bool {
    let braces = shape
        .split_once('{')
        .is_some_and(|(_, rest)| rest.contains('}') && (rest.contains(',') || rest.contains("..")));
    let brackets = shape
        .split_once('[')
        .is_some_and(|(_, rest)| rest.contains(']'));
    braces || brackets || shape.contains(['*', '?'])
}
