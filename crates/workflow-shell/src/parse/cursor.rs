//! Position of the parser: lookahead and skipping.

use super::{ParseError, Parser, Result};

impl Parser<'_> {
    /// Skips blanks and comments.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.byte(0) {
                Some(b' ' | b'\t') => self.position += 1,
                Some(b'\\') if self.byte(1) == Some(b'\n') => self.position += 2,
                Some(b'#') if self.begins_word() => {
                    let rest = &self.line[self.position..];
                    self.position += rest.find('\n').unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// Skips blanks, comments and line breaks, and parses here-documents that start after a line break.
    pub(super) fn skip_lines(&mut self) -> Result<()> {
        loop {
            self.skip_blanks();
            if self.byte(0) != Some(b'\n') {
                return Ok(());
            }
            self.position += 1;
            self.here_document_texts()?;
        }
    }

    /// Returns the reserved word at the position, if there is one.
    pub(super) fn reserved_word(&self) -> Option<&'static str> {
        const RESERVED: &[&str] = &[
            "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until",
            "for", "select", "in", "function", "time", "coproc", "{", "}", "!", "[[",
        ];
        RESERVED.iter().copied().find(|word| {
            let end = self.position + word.len();
            self.looking_at(word)
                && (self.ends_word(end)
                    || (*word == "!" && self.line.as_bytes().get(end) == Some(&b'(')))
        })
    }

    /// Skips letters, digits and `_`: a reserved word that was recognized.
    pub(super) fn skip_name(&mut self) {
        while self.byte(0).is_some_and(is_name) {
            self.position += 1;
        }
    }

    /// Consumes a token that must follow.
    pub(super) fn expect(&mut self, token: &'static str) -> Result<()> {
        self.skip_lines()?;
        let is_word = token.bytes().all(is_name) || token == "}";
        if self.looking_at(token) && (!is_word || self.ends_word(self.position + token.len())) {
            self.position += token.len();
            Ok(())
        } else {
            Err(ParseError::Missing(token))
        }
    }

    /// Counts steps.
    pub(super) fn spend(&mut self, amount: usize) -> Result<()> {
        self.steps_left = self
            .steps_left
            .checked_sub(amount)
            .ok_or(ParseError::TooComplex)?;
        Ok(())
    }

    pub(super) fn byte(&self, ahead: usize) -> Option<u8> {
        self.line.as_bytes().get(self.position + ahead).copied()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.line[self.position..].chars().next()
    }

    /// Returns whether a token follows.
    pub(super) fn looking_at(&self, token: &str) -> bool {
        self.line.as_bytes()[self.position..].starts_with(token.as_bytes())
    }

    /// Consumes a token if it follows.
    pub(super) fn take(&mut self, token: &str) -> bool {
        let found = self.looking_at(token);
        if found {
            self.position += token.len();
        }
        found
    }

    pub(super) fn ends_word(&self, at: usize) -> bool {
        self.line
            .as_bytes()
            .get(at)
            .is_none_or(|&byte| is_meta(byte))
    }

    pub(super) fn begins_word(&self) -> bool {
        self.position == 0 || is_meta(self.line.as_bytes()[self.position - 1])
    }
}

pub(super) fn is_meta(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'
    )
}

pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
