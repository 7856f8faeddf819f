//! Where the reading stands: what comes next, and moving past it.

use super::{Parser, Result, Unparsed};

impl Parser<'_> {
    /// Skips blanks and comments.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.byte(0) {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.byte(1) == Some(b'\n') => self.at += 2,
                Some(b'#') if self.begins_word() => {
                    let rest = &self.line[self.at..];
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// Skips blanks, comments and line breaks, and reads the here-documents between them.
    pub(super) fn skip_lines(&mut self) -> Result<()> {
        loop {
            self.skip_blanks();
            if self.byte(0) != Some(b'\n') {
                return Ok(());
            }
            self.at += 1;
            self.here_texts()?;
        }
    }

    /// The reserved word that stands here, if one does.
    pub(super) fn reserved(&self) -> Option<&'static str> {
        const RESERVED: &[&str] = &[
            "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until",
            "for", "select", "in", "function", "time", "coproc", "{", "}", "!", "[[",
        ];
        RESERVED.iter().copied().find(|word| {
            let end = self.at + word.len();
            self.looking_at(word)
                && (self.ends_word(end)
                    || (*word == "!" && self.line.as_bytes().get(end) == Some(&b'(')))
        })
    }

    /// Moves behind the letters that stand here: a reserved word that was looked at.
    pub(super) fn word_taken(&mut self) {
        while self.byte(0).is_some_and(is_name) {
            self.at += 1;
        }
    }

    pub(super) fn expect(&mut self, token: &'static str) -> Result<()> {
        self.skip_lines()?;
        let is_word = token.bytes().all(is_name) || token == "}";
        if self.looking_at(token) && (!is_word || self.ends_word(self.at + token.len())) {
            self.at += token.len();
            Ok(())
        } else {
            Err(Unparsed::Missing(token))
        }
    }

    pub(super) fn burn(&mut self, amount: usize) -> Result<()> {
        self.fuel = self.fuel.checked_sub(amount).ok_or(Unparsed::Tangled)?;
        Ok(())
    }

    pub(super) fn byte(&self, ahead: usize) -> Option<u8> {
        self.line.as_bytes().get(self.at + ahead).copied()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.line[self.at..].chars().next()
    }

    pub(super) fn looking_at(&self, token: &str) -> bool {
        self.line.as_bytes()[self.at..].starts_with(token.as_bytes())
    }

    pub(super) fn take(&mut self, token: &str) -> bool {
        let found = self.looking_at(token);
        if found {
            self.at += token.len();
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
        self.at == 0 || is_meta(self.line.as_bytes()[self.at - 1])
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
