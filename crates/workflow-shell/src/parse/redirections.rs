//! Redirections and here-documents.

use super::super::tree::{Piece, Raw, Redirection};
use super::{Parser, Pending, Result, Unparsed, is_name};

impl Parser<'_> {
    pub(super) fn redirections(&mut self) -> Result<Vec<Redirection>> {
        let mut redirections = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirection()? {
                Some(redirection) => redirections.push(redirection),
                None => return Ok(redirections),
            }
        }
    }

    /// Reads a redirection with the descriptor before it, where one stands here.
    pub(super) fn redirection(&mut self) -> Result<Option<Redirection>> {
        let start = self.at;
        if self.looking_at("&>") {
            self.at += 2;
            self.take(">");
            return Ok(Some(Redirection::Write(self.target()?)));
        }
        self.descriptor();
        let redirection = if !matches!(self.byte(0), Some(b'<' | b'>'))
            || (self.at == start && self.byte(1) == Some(b'('))
        {
            self.at = start;
            return Ok(None);
        } else if self.take("<<<") {
            Redirection::HereString(self.target()?)
        } else if self.take("<<") {
            self.here_document()?
        } else if self.take("<>") || self.take(">>") || self.take(">|") {
            Redirection::Write(self.target()?)
        } else if self.take(">&") {
            Redirection::Duplicate(self.target()?)
        } else if self.take("<&") || self.take("<") {
            Redirection::Read(self.target()?)
        } else {
            self.at += 1;
            Redirection::Write(self.target()?)
        };
        Ok(Some(redirection))
    }

    /// Takes `3` or `{name}` where an operator follows at once.
    pub(super) fn descriptor(&mut self) {
        let start = self.at;
        if self.take("{") {
            while self.byte(0).is_some_and(is_name) {
                self.at += 1;
            }
            if self.at == start + 1 || !self.take("}") {
                self.at = start;
            }
        } else {
            while self.byte(0).is_some_and(|byte| byte.is_ascii_digit()) {
                self.at += 1;
            }
        }
        if !matches!(self.byte(0), Some(b'<' | b'>')) {
            self.at = start;
        }
    }

    pub(super) fn target(&mut self) -> Result<Raw> {
        self.skip_blanks();
        self.word()
    }

    pub(super) fn here_document(&mut self) -> Result<Redirection> {
        let tabs = self.take("-");
        let word = self.target()?;
        let mut delimiter = String::new();
        let mut quoted_anywhere = false;
        for piece in word.0 {
            let Piece::Text { text, quoted } = piece else {
                return Err(Unparsed::HereDocument);
            };
            delimiter.push_str(&text);
            quoted_anywhere |= quoted;
        }
        let number = self.here_documents.len();
        self.here_documents.push(Raw::default());
        self.pending.push(Pending {
            number,
            delimiter,
            quoted: quoted_anywhere,
            tabs,
        });
        Ok(Redirection::HereDocument(number))
    }

    /// Reads the texts of the here-documents that were announced on the line that just ended.
    pub(super) fn here_texts(&mut self) -> Result<()> {
        for pending in std::mem::take(&mut self.pending) {
            let text = self.here_text(&pending)?;
            let pieces = if pending.quoted {
                vec![Piece::Text { text, quoted: true }]
            } else {
                self.here_pieces(&text)?
            };
            if let Some(place) = self.here_documents.get_mut(pending.number) {
                *place = Raw(pieces);
            }
        }
        Ok(())
    }

    fn here_text(&mut self, pending: &Pending) -> Result<String> {
        let mut text = String::new();
        let mut line = String::new();
        loop {
            let rest = &self.line[self.at..];
            if rest.is_empty() {
                return Err(Unparsed::HereDocument);
            }
            let (part, length) = rest
                .split_once('\n')
                .map_or((rest, rest.len()), |(part, _)| (part, part.len() + 1));
            let part = if pending.tabs && line.is_empty() {
                part.trim_start_matches('\t')
            } else {
                part
            };
            line.push_str(part);
            self.burn(length)?;
            self.at += length;
            if !pending.quoted && ends_in_backslash(part) {
                line.pop();
                continue;
            }
            if line == pending.delimiter {
                return Ok(text);
            }
            text.push_str(&line);
            text.push('\n');
            line.clear();
        }
    }
}

/// Whether the line break behind a text is none.
fn ends_in_backslash(text: &str) -> bool {
    (text.len() - text.trim_end_matches('\\').len()) % 2 == 1
}
