//! Redirections and here-documents.

use super::cursor::{ParseError, Parser, PendingHereDocument, Result};
use super::tree::{RawWord, Redirection, RedirectionKind, WordPart};

/// The operators, each before those that it starts with.
const OPERATORS: &[(&str, RedirectionKind)] = &[
    ("<<<", RedirectionKind::HereString),
    ("<<", RedirectionKind::HereDocument(0)),
    ("<>", RedirectionKind::Write),
    ("<&", RedirectionKind::DuplicateInput),
    ("<", RedirectionKind::Read),
    (">>", RedirectionKind::Write),
    (">|", RedirectionKind::Write),
    (">&", RedirectionKind::DuplicateOutput),
    (">", RedirectionKind::Write),
    ("&>>", RedirectionKind::Write),
    ("&>", RedirectionKind::Write),
];

impl Parser<'_> {
    pub(super) fn redirections(&mut self) -> Result<Vec<Redirection>> {
        let mut redirections = Vec::new();
        self.skip_blanks();
        while let Some(redirection) = self.redirection()? {
            redirections.push(redirection);
            self.skip_blanks();
        }
        Ok(redirections)
    }

    /// Parses a redirection with its descriptor, if one follows.
    pub(super) fn redirection(&mut self) -> Result<Option<Redirection>> {
        let start = self.position;
        let descriptor = self.descriptor();
        let is_process = self.position == start && self.byte(1) == Some(b'(');
        let mut operators = OPERATORS.iter().filter(|_| !is_process);
        let Some((_, kind)) = operators.find(|(operator, _)| self.take(operator)) else {
            return Ok(None);
        };
        let (kind, target) = match kind {
            RedirectionKind::HereDocument(_) => (self.here_document()?, RawWord::default()),
            kind => (*kind, self.target()?),
        };
        Ok(Some(Redirection {
            descriptor,
            kind,
            target,
        }))
    }

    /// Consumes a number directly before an operator: the descriptor.
    pub(super) fn descriptor(&mut self) -> Option<u32> {
        let start = self.position;
        while self.byte(0).is_some_and(|byte| byte.is_ascii_digit()) {
            self.position += 1;
        }
        let number = &self.line[start..self.position];
        if !number.is_empty() && matches!(self.byte(0), Some(b'<' | b'>')) {
            return Some(number.parse().unwrap_or(u32::MAX));
        }
        self.position = start;
        None
    }

    pub(super) fn target(&mut self) -> Result<RawWord> {
        self.skip_blanks();
        self.word()
    }

    pub(super) fn here_document(&mut self) -> Result<RedirectionKind> {
        let strips_tabs = self.take("-");
        let word = self.target()?;
        let mut delimiter = String::new();
        let mut quoted_anywhere = false;
        for part in word.0 {
            let WordPart::Text { text, quoted } = part else {
                return Err(ParseError::IncompleteHereDocument);
            };
            delimiter.push_str(&text);
            quoted_anywhere |= quoted;
        }
        let index = self.here_documents.len();
        self.here_documents.push(RawWord::default());
        self.pending.push(PendingHereDocument {
            index,
            delimiter,
            quoted: quoted_anywhere,
            strips_tabs,
        });
        Ok(RedirectionKind::HereDocument(index))
    }

    /// Parses the texts of the here-documents of the line that just ended.
    pub(super) fn here_document_texts(&mut self) -> Result<()> {
        for pending in std::mem::take(&mut self.pending) {
            let text = self.here_document_text(&pending)?;
            let parts = if pending.quoted {
                vec![WordPart::Text { text, quoted: true }]
            } else {
                self.nested_text(&text, Parser::here_document_parts)?
            };
            if let Some(entry) = self.here_documents.get_mut(pending.index) {
                *entry = RawWord(parts);
            }
        }
        Ok(())
    }

    fn here_document_text(&mut self, pending: &PendingHereDocument) -> Result<String> {
        let mut text = String::new();
        let mut start = 0;
        loop {
            let rest = &self.line[self.position..];
            if rest.is_empty() {
                return Err(ParseError::IncompleteHereDocument);
            }
            let (part, length) = rest
                .split_once('\n')
                .map_or((rest, rest.len()), |(part, _)| (part, part.len() + 1));
            let part = if pending.strips_tabs && text.len() == start {
                part.trim_start_matches('\t')
            } else {
                part
            };
            text.push_str(part);
            self.spend(length)?;
            self.position += length;
            if !pending.quoted && ends_in_backslash(part) {
                text.pop();
                continue;
            }
            if text[start..] == pending.delimiter {
                text.truncate(start);
                return Ok(text);
            }
            if self.in_substitution && text[start..].starts_with(&pending.delimiter) {
                // In a substitution, bash may end the text here.
                return Err(ParseError::IncompleteHereDocument);
            }
            text.push('\n');
            start = text.len();
        }
    }
}

/// Returns whether the line break after a text is escaped.
fn ends_in_backslash(text: &str) -> bool {
    (text.len() - text.trim_end_matches('\\').len()) % 2 == 1
}
