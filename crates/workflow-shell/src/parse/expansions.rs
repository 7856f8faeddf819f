//! What `$` begins: variables, substitutions, arithmetic.

use super::super::tree::Piece;
use super::words::{Pieces, Quoted};
use super::{Parser, Result, Unparsed, is_name};

impl Parser<'_> {
    pub(super) fn dollar(&mut self, pieces: &mut Pieces, quoted: Quoted) -> Result<()> {
        let is_quoted = quoted == Quoted::Double;
        match self.byte(1) {
            Some(b'(') => {
                let piece = self.parenthesized_expansion(is_quoted)?;
                pieces.0.push(piece);
            }
            Some(b'{') => {
                let piece = self.deeper(|parser| parser.braced_expansion(quoted))?;
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

    pub(super) fn simple_expansion(&mut self) -> Option<String> {
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
    pub(super) fn parenthesized_expansion(&mut self, quoted: bool) -> Result<Piece> {
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
    pub(super) fn inner_list(&mut self, close: &'static str) -> Result<super::List> {
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
        self.at += 2;
        if matches!(self.byte(0), Some(b' ' | b'\t' | b'\n' | b'|')) {
            self.take("|");
            let list = self.inner_list("}")?;
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
        let pending = self.pending.clone();
        let here_documents = self.here_documents.len();
        match self.arithmetic("))") {
            Ok(inside) => Ok(Some(inside)),
            Err(Unparsed::Tangled) => Err(Unparsed::Tangled),
            Err(_) => {
                self.pending = pending;
                self.here_documents.truncate(here_documents);
                self.no_arithmetic.insert(start);
                Ok(None)
            }
        }
    }

    /// Reads an expression up to `))` or `]`; its parentheses must match.
    pub(super) fn arithmetic(&mut self, close: &'static str) -> Result<Vec<Piece>> {
        self.deeper(|parser| parser.expression(close))
    }

    fn expression(&mut self, close: &'static str) -> Result<Vec<Piece>> {
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
                    self.plain_one(&mut inside)?;
                }
                Some(_) => self.piece(&mut inside, Quoted::Double)?,
            }
        }
        Ok(inside.0)
    }
}
