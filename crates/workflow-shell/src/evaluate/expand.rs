//! Expansion of words, as far as the line itself determines the result.

use super::variables::Variables;
use crate::parse::tree::{RawWord, WordPart};
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
                WordPart::Expansion {
                    name: Some(name),
                    quoted,
                    ..
                } => match self.variables.get(name) {
                    Some(value) if *quoted => self.text(value, true, false),
                    Some(value) => self.split(value),
                    None => {
                        let is_start = self.current().shape.is_empty();
                        self.current().starts_at_home |= is_start && name == "HOME";
                        self.unknown();
                    }
                },
                WordPart::Process(_) => {
                    self.unknown();
                    self.current().is_process = true;
                }
                WordPart::Expansion { .. } | WordPart::Substitution(_) | WordPart::Array(_) => {
                    self.unknown();
                }
            }
        }
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

    fn unknown(&mut self) {
        self.current().shape.push(UNKNOWN);
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
