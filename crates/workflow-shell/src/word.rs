//! Words as a command gets them: what is known of their text, and what is not.
//!
//! Owns expansion as far as the line itself says what comes out. It must not know commands.

use std::collections::HashMap;

use super::tree::{Piece, Raw};

/// Stands in a word's text for what only the running shell knows. No argument can hold it.
const UNKNOWN: char = '\0';

/// Variables whose value the line itself says.
pub(super) type Variables = HashMap<String, String>;

/// An argument of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    shape: String,
    /// Whether unquoted characters in it make it a pattern or several words.
    pattern: bool,
    /// Whether it is, or holds, the name of another command's output.
    process: bool,
    /// Whether the expansion with which it begins is that of the home directory.
    home: bool,
}

impl Word {
    /// A word that is all text.
    #[must_use]
    pub fn literal(text: &str) -> Self {
        Self {
            shape: text.to_owned(),
            ..Self::default()
        }
    }

    /// A word of which nothing is known.
    #[must_use]
    pub fn unknown() -> Self {
        Self::literal("\0")
    }

    /// Its text, unless it holds an expansion.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        (!self.pattern && !self.shape.contains(UNKNOWN)).then_some(self.shape.as_str())
    }

    /// Its text with NUL for each expansion.
    pub(crate) fn shape(&self) -> &str {
        &self.shape
    }

    /// The file it names, unless only the running shell knows.
    pub(super) fn path(&self) -> Option<String> {
        self.text()
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    }

    /// The name of the program that it names: what stands behind the last slash.
    pub(crate) fn program(&self) -> Option<&str> {
        let name = self.shape.rsplit('/').next().unwrap_or_default();
        (!self.pattern && !name.is_empty() && !name.contains(UNKNOWN)).then_some(name)
    }

    /// Whether it could be an option that cannot be seen.
    pub(super) fn hides_option(&self) -> bool {
        self.pattern
            && self.shape.starts_with('{')
            && (self.shape.contains("{-") || self.shape.contains(",-"))
    }

    /// The same word, with what is put in the place of `name` unknown.
    pub(super) fn replacing(&self, name: &str) -> Self {
        Self {
            shape: self.shape.replace(name, "\0"),
            ..self.clone()
        }
    }

    /// Whether it is a name of what the command reads on its standard input.
    pub(super) fn is_input(&self) -> bool {
        let names = ["/dev/fd/", "/proc/self/fd/"];
        matches!(self.shape.as_str(), "-" | "/dev/stdin")
            || names.iter().any(|name| self.shape.starts_with(name))
    }

    /// The variable and its value, if it is `NAME=value`.
    pub(super) fn assignment(&self) -> Option<(&str, Self)> {
        let (name, _) = self.shape.split_once('=')?;
        let named = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && name.starts_with(|first: char| !first.is_ascii_digit());
        named.then(|| (name, self.from(name.len() + 1)))
    }

    /// What stands behind `=`, whatever stands before it: the value of an alias.
    pub(super) fn assignment_like(&self) -> Option<Self> {
        Some(self.from(self.shape.find('=')? + 1))
    }

    /// Whether it is an index that would run something while it is worked out.
    pub(super) fn runs_in_index(&self) -> bool {
        self.shape.split_once('[').is_some_and(|(name, index)| {
            name.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                && (index.contains("$(") || index.contains('`'))
        })
    }

    /// The place it names, with NUL for what only the running shell knows.
    pub(super) fn place(&self) -> String {
        if self.home && (self.shape.len() == 1 || self.shape[1..].starts_with('/')) {
            return format!("~{}", &self.shape[1..]);
        }
        self.shape.clone()
    }

    /// Whether characters in its place stand for others.
    pub(super) fn is_pattern(&self) -> bool {
        self.pattern
    }

    pub(super) fn is_process(&self) -> bool {
        self.process
    }

    /// The same word without its first `length` bytes.
    pub(super) fn from(&self, length: usize) -> Self {
        Self {
            shape: self.shape.get(length..).unwrap_or_default().to_owned(),
            home: self.home && length == 0,
            ..self.clone()
        }
    }
}

/// What comes of a word: usually one, but a variable without quotes makes none or many.
pub(super) fn expand(raw: &Raw, variables: &Variables) -> Vec<Word> {
    let mut expansion = Expansion {
        done: Vec::new(),
        word: None,
        variables,
    };
    expansion.pieces(&raw.0);
    let Expansion { mut done, word, .. } = expansion;
    done.extend(word);
    for word in &mut done {
        word.pattern = word.pattern && makes_pattern(&word.shape);
    }
    done
}

/// The text of a here-document or of another thing that is never taken apart.
pub(super) fn expand_whole(raw: &Raw, variables: &Variables) -> Word {
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
    fn pieces(&mut self, pieces: &[Piece]) {
        for (place, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Text { text, quoted } => self.text(text, *quoted, place == 0),
                Piece::Expansion {
                    name: Some(name),
                    quoted,
                    ..
                } => match self.variables.get(name) {
                    Some(value) if *quoted => self.text(value, true, false),
                    Some(value) => self.fields(value),
                    None => {
                        let begins = self.current().shape.is_empty();
                        self.current().home |= begins && name == "HOME";
                        self.unknown();
                    }
                },
                Piece::Process(_) => {
                    self.unknown();
                    self.current().process = true;
                }
                Piece::Expansion { .. } | Piece::Substitution(_) | Piece::Array(_) => {
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
            // Not anybody's home: a file of that name.
            word.shape.push_str("./");
        }
        word.shape.push_str(text);
        word.pattern |= !quoted && text.contains(['*', '?', '[', '{']);
    }

    fn unknown(&mut self) {
        self.current().shape.push(UNKNOWN);
    }

    /// A value without quotes: blanks end words.
    fn fields(&mut self, value: &str) {
        for (place, field) in value.split_ascii_whitespace().enumerate() {
            if place > 0 || value.starts_with(|c: char| c.is_ascii_whitespace()) {
                self.done.extend(self.word.take());
            }
            self.text(field, false, false);
        }
        if value.ends_with(|c: char| c.is_ascii_whitespace()) {
            self.done.extend(self.word.take());
        }
    }
}

/// Whether unquoted text makes a pattern: `[` alone is a program, `{}` is an argument of `find`.
fn makes_pattern(shape: &str) -> bool {
    let braces = shape
        .split_once('{')
        .is_some_and(|(_, rest)| rest.contains('}') && (rest.contains(',') || rest.contains("..")));
    let brackets = shape
        .split_once('[')
        .is_some_and(|(_, rest)| rest.contains(']'));
    braces || brackets || shape.contains(['*', '?'])
}
