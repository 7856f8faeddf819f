//! Words: quotations, expansions and substitutions.

use std::collections::HashSet;

use super::super::tree::{Piece, Raw};
use super::{Parser, Result, Unparsed, is_meta, is_name};

/// Which quotation a text stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoted {
    No,
    Double,
}

/// Collects a word's pieces; neighbouring texts of a kind become one.
#[derive(Default)]
struct Pieces(Vec<Piece>);

impl Pieces {
    fn text(&mut self, added: &str, is_quoted: bool) {
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
                    pieces.0.push(self.array()?);
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
    fn piece(&mut self, pieces: &mut Pieces, quoted: Quoted) -> Result<()> {
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
    fn double_quoted(&mut self, pieces: &mut Pieces) -> Result<()> {
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

    fn plain_one(&mut self, pieces: &mut Pieces) -> Result<()> {
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

    fn dollar(&mut self, pieces: &mut Pieces, quoted: Quoted) -> Result<()> {
        let is_quoted = quoted == Quoted::Double;
        match self.byte(1) {
            Some(b'(') => {
                let piece = self.parenthesized_expansion(is_quoted)?;
                pieces.0.push(piece);
            }
            Some(b'{') => {
                let piece = self.braced_expansion(quoted)?;
                pieces.0.push(piece);
            }
            Some(b'[') => {
                self.at += 2;
                let inside = self.arithmetic("]")?;
                pieces.0.push(Piece::Expansion {
                    name: None,
                    quoted: is_quoted,
                    inside,
                });
            }
            Some(b'\'') if !is_quoted => {
                self.at += 2;
                let text = self.ansi_quoted()?;
                pieces.text(&text, true);
            }
            Some(b'"') if !is_quoted => {
                self.at += 2;
                self.double_quoted(pieces)?;
            }
            Some(byte)
                if is_name(byte)
                    || matches!(byte, b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-') =>
            {
                let name = self.simple_expansion();
                pieces.0.push(Piece::Expansion {
                    name,
                    quoted: is_quoted,
                    inside: Vec::new(),
                });
            }
            _ => {
                self.at += 1;
                pieces.text("$", true);
            }
        }
        Ok(())
    }

    fn simple_expansion(&mut self) -> Option<String> {
        let start = self.at + 1;
        self.at += 2;
        let first = self.line.as_bytes()[start];
        if !is_name(first) || first.is_ascii_digit() {
            return None;
        }
        while self.byte(0).is_some_and(is_name) {
            self.at += 1;
        }
        Some(self.line[start..self.at].to_owned())
    }

    /// `$((…))` or `$(…)`.
    fn parenthesized_expansion(&mut self, quoted: bool) -> Result<Piece> {
        if self.looking_at("$((") {
            let start = self.at;
            self.at += 3;
            if let Some(inside) = self.perhaps_arithmetic()? {
                return Ok(Piece::Expansion {
                    name: None,
                    quoted,
                    inside,
                });
            }
            self.at = start;
        }
        self.at += 2;
        Ok(Piece::Substitution(self.inner_list(")")?))
    }

    /// Reads a list with here-documents of its own, up to what closes it.
    fn inner_list(&mut self, close: &'static str) -> Result<super::List> {
        let outer = std::mem::take(&mut self.pending);
        let list = self.list()?;
        self.expect(close)?;
        if !self.pending.is_empty() {
            return Err(Unparsed::HereDocument);
        }
        self.pending = outer;
        Ok(list)
    }

    /// `${…}`
    fn braced_expansion(&mut self, quoted: Quoted) -> Result<Piece> {
        self.depth += 1;
        if self.depth > super::DEEPEST {
            return Err(Unparsed::Deep);
        }
        self.at += 2;
        if matches!(self.byte(0), Some(b' ' | b'\t' | b'\n' | b'|')) {
            self.take("|");
            let list = self.inner_list("}")?;
            self.depth -= 1;
            return Ok(Piece::Substitution(list));
        }
        let start = self.at;
        while self.byte(0).is_some_and(is_name) {
            self.at += 1;
        }
        let name = self.line[start..self.at].to_owned();
        let name = (self.byte(0) == Some(b'}') && !name.is_empty()).then_some(name);
        let mut inside = Pieces::default();
        // `${#}`, `${!name}` and the like: the first character is no operator.
        if name.is_none()
            && self.at == start
            && matches!(
                self.byte(0),
                Some(b'#' | b'!' | b'?' | b'$' | b'@' | b'*' | b'-')
            )
        {
            self.at += 1;
        }
        // In a quotation, only patterns know quotes of their own.
        let pattern = matches!(self.byte(0), Some(b'#' | b'%' | b'/' | b'^' | b','));
        let single = if quoted == Quoted::No || pattern {
            Quoted::No
        } else {
            Quoted::Double
        };
        loop {
            match self.byte(0) {
                Some(b'}') => break,
                Some(b'"') if single == Quoted::Double => {
                    self.at += 1;
                    self.double_quoted(&mut inside)?;
                }
                _ => self.piece(&mut inside, single)?,
            }
        }
        self.at += 1;
        self.depth -= 1;
        Ok(Piece::Expansion {
            name,
            quoted: quoted == Quoted::Double,
            inside: inside.0,
        })
    }

    /// Reads an expression behind `((`, unless it turns out to be none: then everything is as before.
    pub(super) fn perhaps_arithmetic(&mut self) -> Result<Option<Vec<Piece>>> {
        let start = self.at;
        if self.no_arithmetic.contains(&start) {
            return Ok(None);
        }
        let depth = self.depth;
        let pending = self.pending.clone();
        let here_documents = self.here_documents.len();
        match self.arithmetic("))") {
            Ok(inside) => Ok(Some(inside)),
            Err(Unparsed::Tangled) => Err(Unparsed::Tangled),
            Err(_) => {
                self.depth = depth;
                self.pending = pending;
                self.here_documents.truncate(here_documents);
                self.no_arithmetic.insert(start);
                Ok(None)
            }
        }
    }

    /// Reads an expression up to `))` or `]`; its parentheses must match.
    pub(super) fn arithmetic(&mut self, close: &'static str) -> Result<Vec<Piece>> {
        self.depth += 1;
        if self.depth > super::DEEPEST {
            return Err(Unparsed::Deep);
        }
        let mut inside = Pieces::default();
        let mut open = 0_usize;
        loop {
            match self.byte(0) {
                None => return Err(Unparsed::Missing(close)),
                _ if open == 0 && self.take(close) => break,
                Some(b')') if open == 0 => return Err(Unparsed::Unexpected(')')),
                Some(b'(') if open == super::DEEPEST => return Err(Unparsed::Deep),
                Some(b'(') => {
                    open += 1;
                    self.plain_one(&mut inside)?;
                }
                Some(b')') => {
                    open -= 1;
                    self.plain_one(&mut inside)?;
                }
                Some(b']' | b'"' | b'<' | b'>' | b'\n' | b';' | b'&' | b'|' | b' ' | b'\t') => {
                    self.plain_one(&mut inside)?
                }
                Some(_) => self.piece(&mut inside, Quoted::Double)?,
            }
        }
        self.depth -= 1;
        Ok(inside.0)
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
        self.nested(&text, |inner| inner.whole())
    }

    /// The pieces of a here-document whose delimiter is not quoted.
    pub(super) fn here_pieces(&mut self, text: &str) -> Result<Vec<Piece>> {
        self.nested(text, |inner| {
            let mut pieces = Pieces::default();
            while inner.byte(0).is_some() {
                if inner.byte(0) == Some(b'"') {
                    inner.plain_one(&mut pieces)?;
                } else {
                    inner.piece(&mut pieces, Quoted::Double)?;
                }
            }
            Ok(pieces.0)
        })
    }

    /// Reads another text with what this one has counted so far.
    fn nested<T>(
        &mut self,
        text: &str,
        read: impl FnOnce(&mut Parser<'_>) -> Result<T>,
    ) -> Result<T> {
        if self.depth >= super::DEEPEST {
            return Err(Unparsed::Deep);
        }
        let mut inner = Parser {
            line: text,
            at: 0,
            depth: self.depth + 1,
            fuel: self.fuel,
            pending: Vec::new(),
            here_documents: std::mem::take(&mut self.here_documents),
            no_arithmetic: HashSet::new(),
        };
        let read = read(&mut inner);
        self.fuel = inner.fuel;
        self.here_documents = inner.here_documents;
        read
    }

    /// Reads up to the quote that closes `$'…'`.
    fn ansi_quoted(&mut self) -> Result<String> {
        let mut text = String::new();
        loop {
            self.burn(1)?;
            let character = self.peek().ok_or(Unparsed::Quotation)?;
            self.at += character.len_utf8();
            match character {
                '\'' => return Ok(text),
                '\\' => self.ansi_escape(&mut text)?,
                other => text.push(other),
            }
        }
    }

    fn ansi_escape(&mut self, text: &mut String) -> Result<()> {
        let character = self.peek().ok_or(Unparsed::Quotation)?;
        self.at += character.len_utf8();
        let code = match character {
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'v' => 11,
            'x' => self.digits(16, 2),
            'u' => self.digits(16, 4),
            'U' => self.digits(16, 8),
            'c' => {
                let control = self.peek().ok_or(Unparsed::Quotation)?;
                self.at += control.len_utf8();
                u32::from(control) & 0x1f
            }
            '0'..='7' => {
                self.at -= 1;
                self.digits(8, 3)
            }
            '\\' | '\'' | '"' | '?' => u32::from(character),
            other => {
                text.push('\\');
                u32::from(other)
            }
        };
        text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        Ok(())
    }

    fn digits(&mut self, base: u32, most: usize) -> u32 {
        let mut value = 0;
        for _ in 0..most {
            let Some(digit) = self
                .byte(0)
                .and_then(|byte| char::from(byte).to_digit(base))
            else {
                break;
            };
            value = value * base + digit;
            self.at += 1;
        }
        value
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
