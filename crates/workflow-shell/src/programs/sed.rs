//! `sed`: its options, and the subset of its language that only reads.
//!
//! The parser knows what it accepts completely. Anything else makes the script unknown.

use super::options::{Place, expansion, split};
use super::outcome::{Invocation, Outcome, Result};
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::file_access::{AccessKind, Location};
use crate::file_write::FileWrite;
use crate::word::Word;

const OPTIONS: &str = "-nErsuz -e= -l= -i?= --quiet --silent --regexp-extended --separate --unbuffered --null-data --posix --sandbox --expression= --line-length= --in-place?=";

/// Returns the outcome of `sed`.
pub(super) fn outcome(invocation: &Invocation<'_>) -> Result {
    let known = split(invocation.arguments, OPTIONS, Place::Anywhere)?;
    let in_place = known
        .options
        .iter()
        .find(|(name, _)| matches!(name.as_str(), "-i" | "--in-place"));
    let mut operands = known.operands.as_slice();
    if in_place.is_some()
        && let [first, rest @ ..] = operands
        && first.shape().is_empty()
    {
        // The suffix in BSD's syntax.
        operands = rest;
    }
    let mut scripts = known.values(&["-e", "--expression"]);
    if scripts.is_empty() {
        let [script, rest @ ..] = operands else {
            return Err(Unknown::new("sed", UnknownReason::Missing));
        };
        scripts.push(script);
        operands = rest;
    }
    let text: Vec<&str> = scripts.iter().map(|word| word.shape()).collect();
    let mut text = text.join("\n");
    let has_numbers =
        |word: &&&Word| word.shape().contains('\0') && (!word.has_numbers_only || word.is_glob);
    if !scripts.iter().any(|word| has_numbers(&word)) {
        // All numbers have the same place in the grammar.
        text = text.replace('\0', "1");
    }
    if text.contains('\0') || scripts.iter().any(|word| word.may_add_words) {
        return Err(scripts
            .iter()
            .find(|word| word.shape().contains('\0'))
            .map_or_else(
                || Unknown::new("sed", UnknownReason::Code),
                |word| expansion(word),
            ));
    }
    let mut reads = Vec::new();
    let is_known = Script {
        rest: &text,
        reads: &mut reads,
    }
    .commands();
    let effect = match (is_known, in_place) {
        (None, _) => Effect::unknown(&text, UnknownReason::Code),
        (Some(()), None) => Effect::Reads,
        (Some(()), Some((_, suffix))) => Effect::Writes(written(operands, suffix.as_ref())),
    };
    Ok(Outcome {
        reads: reads
            .into_iter()
            .map(|path| Location::at(&path, AccessKind::Read))
            .collect(),
        ..Outcome::of(effect)
    })
}

/// Returns the files that `-i` writes, and their copies with the suffix.
fn written(operands: &[&Word], suffix: Option<&Word>) -> Vec<FileWrite> {
    let operation = || "`sed -i`".to_owned();
    if operands.is_empty() {
        return vec![FileWrite::new(operation(), None)];
    }
    let mut writes: Vec<FileWrite> = operands
        .iter()
        .map(|word| FileWrite::to_word(operation(), word))
        .collect();
    for word in operands
        .iter()
        .filter(|_| suffix.is_some_and(|suffix| !suffix.shape().is_empty()))
    {
        let suffix = suffix
            .and_then(Word::text)
            .filter(|suffix| !suffix.contains(['*', '/']));
        let copy = word.path().zip(suffix).map(|(path, suffix)| path + suffix);
        writes.push(FileWrite::new(operation(), copy));
    }
    writes
}

struct Script<'a> {
    rest: &'a str,
    /// The files that `r` and `R` name.
    reads: &'a mut Vec<String>,
}

impl Script<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn skip(&mut self, characters: &[char]) {
        self.rest = self.rest.trim_start_matches(characters);
    }

    fn digits(&mut self) -> bool {
        let rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let any = rest.len() < self.rest.len();
        self.rest = rest;
        any
    }

    /// Reads all commands.
    fn commands(&mut self) -> Option<()> {
        loop {
            self.skip(&[' ', '\t', '\n', ';']);
            if self.rest.is_empty() {
                return Some(());
            }
            self.addresses()?;
            self.command()?;
        }
    }

    fn addresses(&mut self) -> Option<()> {
        if self.address()? {
            self.skip(&[' ', '\t']);
            if self.peek() == Some(',') {
                self.next();
                self.skip(&[' ', '\t']);
                if matches!(self.peek(), Some('+' | '~')) {
                    self.next();
                    self.digits().then_some(())?;
                } else {
                    self.address()?.then_some(())?;
                }
            }
        }
        self.skip(&[' ', '\t', '!']);
        Some(())
    }

    /// Reads an address, if one follows.
    fn address(&mut self) -> Option<bool> {
        match self.peek() {
            Some('0'..='9') => {
                self.digits();
                if self.peek() == Some('~') {
                    self.next();
                    self.digits().then_some(())?;
                }
            }
            Some('$') => drop(self.next()),
            Some('/') => {
                self.next();
                self.regex('/')?;
                self.skip(&['I', 'M']);
            }
            Some('\\') => {
                self.next();
                let delimiter = self.delimiter()?;
                self.regex(delimiter)?;
                self.skip(&['I', 'M']);
            }
            _ => return Some(false),
        }
        Some(true)
    }

    fn delimiter(&mut self) -> Option<char> {
        self.next().filter(|c| {
            c.is_ascii_punctuation() && !matches!(c, '\\' | '[' | ']' | ';' | '{' | '}')
        })
    }

    /// Reads a regular expression and its delimiter. In brackets, the delimiter is a character.
    fn regex(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.next()? {
                '\n' => return None,
                '\\' => {
                    self.next().filter(|c| *c != '\n')?;
                }
                '[' => self.bracket()?,
                next if next == delimiter => return Some(()),
                _ => {}
            }
        }
    }

    fn bracket(&mut self) -> Option<()> {
        if self.peek() == Some('^') {
            self.next();
        }
        if self.peek() == Some(']') {
            self.next();
        }
        loop {
            match self.next()? {
                ']' => return Some(()),
                '\n' => return None,
                // Whether this escapes the bracket is not the same everywhere.
                '\\' if self.peek() == Some(']') => return None,
                '[' => match self.peek() {
                    Some(':') => {
                        let end = self.rest.find(":]")?;
                        self.rest[1..end]
                            .bytes()
                            .all(|byte| byte.is_ascii_lowercase())
                            .then_some(())?;
                        self.rest = &self.rest[end + 2..];
                    }
                    Some('.' | '=') => return None,
                    _ => {}
                },
                _ => {}
            }
        }
    }

    /// Reads a replacement, or a part of `y`, and its delimiter.
    fn replacement(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.next()? {
                '\\' => drop(self.next()?),
                next if next == delimiter => return Some(()),
                _ => {}
            }
        }
    }

    fn command(&mut self) -> Option<()> {
        match self.next()? {
            '{' => Some(()),
            '}' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z'
            | 'F' => self.end(),
            'q' | 'Q' | 'l' | 'L' => {
                self.skip(&[' ', '\t']);
                self.digits();
                self.end()
            }
            ':' | 'b' | 't' | 'T' => {
                self.skip(&[' ', '\t']);
                self.rest = self
                    .rest
                    .trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
                self.end()
            }
            '#' => {
                self.line();
                Some(())
            }
            'a' | 'i' | 'c' => self.text(),
            'r' | 'R' => {
                let name = self.line().trim().to_owned();
                (!name.is_empty()).then_some(())?;
                self.reads.push(name);
                Some(())
            }
            's' => {
                let delimiter = self.delimiter()?;
                self.regex(delimiter)?;
                self.replacement(delimiter)?;
                self.rest = self.rest.trim_start_matches(|c: char| {
                    c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M')
                });
                self.end()
            }
            'y' => {
                let delimiter = self.delimiter()?;
                self.replacement(delimiter)?;
                self.replacement(delimiter)?;
                self.end()
            }
            _ => None,
        }
    }

    /// Reads the end of a command.
    fn end(&mut self) -> Option<()> {
        self.skip(&[' ', '\t']);
        match self.peek() {
            None | Some('}' | '#') => Some(()),
            Some(';' | '\n') => {
                self.next();
                Some(())
            }
            Some(_) => None,
        }
    }

    fn line(&mut self) -> &str {
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        line
    }

    /// Reads the text of `a`, `i` or `c`, up to a line break that is not escaped.
    fn text(&mut self) -> Option<()> {
        loop {
            match self.next() {
                None | Some('\n') => return Some(()),
                Some('\\') => drop(self.next()),
                Some(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Script;

    fn is_known(script: &str) -> bool {
        Script {
            rest: script,
            reads: &mut Vec::new(),
        }
        .commands()
        .is_some()
    }

    #[test]
    fn scripts_that_only_read_are_known() {
        for script in [
            "10,20p",
            "$d",
            "/fn main/,/^}/p",
            "s/a/b/g",
            "s|[^|]*$||",
            ":a;N;$!ba;s/\\n/ /g",
            "/a/{s/b/c/;p}",
            "1~2d",
            "0,/x/{//!b;s/x/y/}",
            "y/abc/xyz/",
            "/a/I,+3p",
            "\\,a,d",
            "1i\\\ntext\np",
            "$a end",
            "s/[][]//g",
            "s/[[:space:]]*$//",
            "n;d",
            "2q",
            "=",
            "s/a/b/;# comment",
            "/^$/!p",
            "s/\\//x/p",
        ] {
            assert!(is_known(script), "{script:?}");
        }
    }

    #[test]
    fn other_scripts_are_unknown() {
        for script in [
            "w x",
            "1w x",
            "s/a/b/w x",
            "s/a/b/e",
            "e",
            "1e touch x",
            "/[]/]/w x",
            "1a foo\\\\\nw x",
            "s]a]b]w x",
            ":a w x",
            ":a;w x",
            "s/[/]/x/w x",
            "y/a/b/;w x",
            "sxaxbxw x",
            "i\\\nfoo\nw x",
            "/a/Iw x",
            "l 5;w x",
            "F;w x",
            "}w x",
            "v",
            "W x",
            "s/a/b/gew",
            "s/a/b/m;w x",
            "\\]a]w x",
            "{w x\n}",
            "/a/,/b/w x",
            "s/a/b\\\n/;w x",
        ] {
            assert!(!is_known(script), "{script:?}");
        }
    }
}
