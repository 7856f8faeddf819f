//! Words: what they are made of, and quotations.

use std::collections::HashSet;

use super::super::tree::{Piece, Raw};
use super::{Parser, Result, Unparsed, is_meta};

/// Which quotation a text stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoted {
    No,
    Double,
}

/// Collects a word's pieces; neighbouring texts of a kind become one.
#[derive(Default)]
pub(super) struct Pieces(pub(super) Vec<Piece>);

impl Pieces {
    pub(super) fn text(&mut self, added: &str, is_quoted: bool) {
        if let Some(Piece::Text { text, quoted }) = self.0.last_mut()
            && *quoted == is_quoted
        {
            text.push_str(added);
        } else {
            self.0.push(Piece::Text {
                text: added.to_owned(),
                quoted: is_quoted,
            });
        }
    }
}

impl Parser<'_> {
    /// Reads a word; there must be one.
    pub(super) fn word(&mut self) -> Result<Raw> {
        let start = self.at;
        let mut pieces = Pieces::default();
        while let Some(byte) = self.byte(0) {
            match byte {
                b'(' if self.at > start
                    && matches!(
                        self.line.as_bytes()[self.at - 1],
                        b'?' | b'*' | b'+' | b'@' | b'!'
                    ) =>
                {
                    self.extended_pattern(&mut pieces)?;
                }
                b'(' if self.at > start && self.line.as_bytes()[self.at - 1] == b'=' => {
                    let array = self.deeper(Self::array)?;
                    pieces.0.push(array);
                }
                b'<' | b'>' if self.byte(1) == Some(b'(') => {
                    self.at += 2;
                    let list = self.inner_list(")")?;
                    pieces.0.push(Piece::Process(list));
                }
                byte if is_meta(byte) => break,
                _ => self.piece(&mut pieces, Quoted::No)?,
            }
        }
        if self.at == start {
            return Err(self.peek().map_or(Unparsed::Command, Unparsed::Unexpected));
        }
        Ok(Raw(pieces.0))
    }

    /// Reads one thing that may stand in a word, in a quotation or in a here-document.
    pub(super) fn piece(&mut self, pieces: &mut Pieces, quoted: Quoted) -> Result<()> {
        self.burn(1)?;
        match self.byte(0) {
            Some(b'\\') => self.escape(pieces, quoted),
            Some(b'\'') if quoted == Quoted::No => self.single_quoted(pieces)?,
            Some(b'"') if quoted == Quoted::No => {
                self.at += 1;
                self.double_quoted(pieces)?;
            }
            Some(b'$') => self.dollar(pieces, quoted)?,
            Some(b'`') => {
                let list = self.backquoted(quoted)?;
                pieces.0.push(Piece::Substitution(list));
            }
            Some(_) => self.plain(pieces, quoted)?,
            None => return Err(Unparsed::Quotation),
        }
        Ok(())
    }

    /// Takes the characters that mean nothing, up to one that may.
    fn plain(&mut self, pieces: &mut Pieces, quoted: Quoted) -> Result<()> {
        let start = self.at;
        // The first is taken whatever it is: the caller has looked at it.
        self.at += self.peek().map_or(1, char::len_utf8);
        while self.byte(0).is_some_and(|byte| !stops_text(byte)) {
            self.at += 1;
        }
        self.burn(self.at - start)?;
        pieces.text(&self.line[start..self.at], quoted == Quoted::Double);
        Ok(())
    }

    fn escape(&mut self, pieces: &mut Pieces, quoted: Quoted) {
        self.at += 1;
        let Some(character) = self.peek() else {
            return pieces.text("\\", true);
        };
        self.at += character.len_utf8();
        if character == '\n' {
            return;
        }
        if quoted == Quoted::Double && !matches!(character, '$' | '`' | '"' | '\\') {
            pieces.text("\\", true);
        }
        pieces.text(character.encode_utf8(&mut [0; 4]), true);
    }

    fn single_quoted(&mut self, pieces: &mut Pieces) -> Result<()> {
        self.at += 1;
        let rest = &self.line[self.at..];
        let length = rest.find('\'').ok_or(Unparsed::Quotation)?;
        self.burn(length)?;
        pieces.text(&rest[..length], true);
        self.at += length + 1;
        Ok(())
    }

    /// Reads up to the closing `"`.
    pub(super) fn double_quoted(&mut self, pieces: &mut Pieces) -> Result<()> {
        // An empty quotation is still a word.
        pieces.text("", true);
        while self.byte(0) != Some(b'"') {
            self.piece(pieces, Quoted::Double)?;
        }
        self.at += 1;
        Ok(())
    }

    /// Reads a pattern like `@(a|b)`: text, whatever stands in it.
    fn extended_pattern(&mut self, pieces: &mut Pieces) -> Result<()> {
        let mut open = 0_usize;
        loop {
            match self.byte(0) {
                Some(b'(') => open += 1,
                Some(b')') => open -= 1,
                Some(b'<' | b'>' | b'&' | b';' | b'\n') => return Err(Unparsed::Unexpected('(')),
                _ => {}
            }
            if matches!(self.byte(0), Some(b'(' | b')' | b' ' | b'\t' | b'|')) {
                self.plain_one(pieces)?;
            } else {
                self.piece(pieces, Quoted::No)?;
            }
            if open == 0 {
                return Ok(());
            }
        }
    }

    pub(super) fn plain_one(&mut self, pieces: &mut Pieces) -> Result<()> {
        self.burn(1)?;
        pieces.text(&self.line[self.at..=self.at], false);
        self.at += 1;
        Ok(())
    }

    fn array(&mut self) -> Result<Piece> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_lines()?;
            if self.take(")") {
                return Ok(Piece::Array(items));
            }
            items.push(self.word()?);
        }
    }

    /// Reads what stands between backquotes: escapes first, then as a line of its own.
    fn backquoted(&mut self, quoted: Quoted) -> Result<super::List> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let character = self.peek().ok_or(Unparsed::Quotation)?;
            self.burn(1)?;
            self.at += character.len_utf8();
            match character {
                '`' => break,
                '\\' => {
                    let escaped = self.peek().ok_or(Unparsed::Quotation)?;
                    self.at += escaped.len_utf8();
                    if !(matches!(escaped, '`' | '\\' | '$')
                        || escaped == '"' && quoted == Quoted::Double)
                    {
                        text.push('\\');
                    }
                    text.push(escaped);
                }
                other => text.push(other),
            }
        }
        let mut inner = self.nested(&text)?;
        let list = inner.whole();
        self.come_back(inner.fuel, inner.here_documents);
        list
    }

    /// The pieces of a here-document whose delimiter is not quoted.
    pub(super) fn here_pieces(&mut self, text: &str) -> Result<Vec<Piece>> {
        let mut inner = self.nested(text)?;
        let pieces = inner.pieces_to_end();
        self.come_back(inner.fuel, inner.here_documents);
        pieces
    }

    fn pieces_to_end(&mut self) -> Result<Vec<Piece>> {
        let mut pieces = Pieces::default();
        while self.byte(0).is_some() {
            if self.byte(0) == Some(b'"') {
                self.plain_one(&mut pieces)?;
            } else {
                self.piece(&mut pieces, Quoted::Double)?;
            }
        }
        Ok(pieces.0)
    }

    /// Begins another text with what this one has counted so far.
    fn nested<'b>(&mut self, text: &'b str) -> Result<Parser<'b>> {
        if self.depth >= super::DEEPEST {
            return Err(Unparsed::Deep);
        }
        Ok(Parser {
            line: text,
            at: 0,
            depth: self.depth + 1,
            fuel: self.fuel,
            pending: Vec::new(),
            here_documents: std::mem::take(&mut self.here_documents),
            no_arithmetic: HashSet::new(),
        })
    }

    /// Counts on with what the other text left.
    fn come_back(&mut self, fuel: usize, here_documents: Vec<Raw>) {
        self.fuel = fuel;
        self.here_documents = here_documents;
    }
}

/// Whether a character may mean something inside a word or a quotation.
fn stops_text(byte: u8) -> bool {
    is_meta(byte)
        || matches!(
            byte,
            b'\\'
                | b'\''
                | b'"'
                | b'$'
                | b'`'
                | b'}'
                | b']'
                | b'='
                | b'!'
                | b'?'
                | b'*'
                | b'+'
                | b'@'
        )
}
