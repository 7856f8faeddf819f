//! State of the parser: position, limits and here-documents; lookahead and skipping.

use super::tree::RawWord;

/// The number of levels to which commands may nest.
pub(super) const MAX_DEPTH: usize = 40;

/// The number of steps for each byte of the line.
pub(super) const MAX_STEPS_PER_BYTE: usize = 8;

/// The reason why a line cannot be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ParseError {
    #[error("a quotation is not closed")]
    UnclosedQuote,
    #[error("`{0}` is missing")]
    Missing(&'static str),
    #[error("a command is missing")]
    MissingCommand,
    #[error("`{0}` is not expected where it stands")]
    Unexpected(char),
    #[error("it defines a function")]
    Function,
    #[error("a here-document is not complete")]
    IncompleteHereDocument,
    #[error("commands are nested too deeply")]
    TooDeep,
    #[error("it is too tangled")]
    TooComplex,
}

pub(crate) type Result<T> = std::result::Result<T, ParseError>;

/// The parser of a line.
#[derive(Default)]
pub(crate) struct Parser<'a> {
    pub(super) line: &'a str,
    pub(super) position: usize,
    pub(super) depth: usize,
    pub(super) steps_left: usize,
    /// Here-documents whose text starts on the next line.
    pub(super) pending: Vec<PendingHereDocument>,
    /// The texts of the here-documents, by index.
    pub(crate) here_documents: Vec<RawWord>,
    /// True inside of `$(…)` and `<(…)`.
    pub(super) in_substitution: bool,
    /// A construct that other commands may be behind than those that were found.
    pub(crate) oddity: Option<ParseError>,
}

pub(super) struct PendingHereDocument {
    pub(super) index: usize,
    pub(super) delimiter: String,
    pub(super) quoted: bool,
    pub(super) strips_tabs: bool,
}

impl<'a> Parser<'a> {
    /// Creates the parser of a line at a depth, which may take no steps yet.
    pub(super) fn new(line: &'a str, depth: usize) -> Self {
        Self {
            line,
            depth,
            ..Self::default()
        }
    }

    /// Skips blanks and comments.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.byte(0) {
                Some(b' ' | b'\t') => self.position += 1,
                Some(b'\\') if self.byte(1) == Some(b'\n') => self.skip_line_break(),
                Some(b'#') if self.begins_word() => {
                    let rest = &self.line[self.position..];
                    self.position += rest.find('\n').unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// Skips an escaped line break. If there is no blank around it, the shell may read a name or an operator across it.
    pub(super) fn skip_line_break(&mut self) {
        let line = self.line.as_bytes();
        let is_blank = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
        let before = self.position.checked_sub(1).and_then(|at| line.get(at));
        if !is_blank(before) && !is_blank(line.get(self.position + 2)) {
            self.oddity = Some(ParseError::Unexpected('\\'));
        }
        self.position += 2;
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
            "for", "select", "in", "function", "time", "{", "}", "!", "[[",
        ];
        let rest = &self.line.as_bytes()[self.position..];
        // The longest has eight letters.
        let end = rest.iter().take(9).position(|&byte| is_meta(byte));
        let word = &rest[..end.unwrap_or(rest.len().min(9))];
        let mut reserved = RESERVED.iter().copied();
        reserved.find(|reserved| reserved.as_bytes() == word)
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

    /// Returns the error of what follows where a word must.
    pub(super) fn unexpected(&self) -> ParseError {
        let next = self.peek();
        next.map_or(ParseError::MissingCommand, ParseError::Unexpected)
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
