//! Expansions: variables, substitutions, arithmetic.

use super::tree::WordPart;
use super::words::{Quoted, WordBuilder};
use super::{ParseError, Parser, Result, is_name};

impl Parser<'_> {
    pub(super) fn dollar(&mut self, parts: &mut WordBuilder, quoted: Quoted) -> Result<()> {
        let is_quoted = quoted == Quoted::Double;
        match self.byte(1) {
            Some(b'(') => {
                let part = self.parenthesized_expansion(is_quoted)?;
                parts.0.push(part);
            }
            Some(b'{') => {
                let part = self.nested(|parser| parser.braced_expansion(quoted))?;
                parts.0.push(part);
            }
            Some(b'[') => {
                self.position += 2;
                let inside = self.arithmetic("]")?;
                parts.0.push(WordPart::Expansion {
                    name: None,
                    quoted: is_quoted,
                    inside,
                });
            }
            Some(b'\'') if !is_quoted => {
                self.position += 2;
                let text = self.ansi_quoted()?;
                parts.text(&text, true);
            }
            Some(b'"') if !is_quoted => {
                self.position += 2;
                self.double_quoted(parts)?;
            }
            Some(byte)
                if is_name(byte)
                    || matches!(byte, b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-') =>
            {
                let name = self.simple_expansion();
                parts.0.push(WordPart::Expansion {
                    name,
                    quoted: is_quoted,
                    inside: Vec::new(),
                });
            }
            _ => {
                self.position += 1;
                parts.text("$", true);
            }
        }
        Ok(())
    }

    pub(super) fn simple_expansion(&mut self) -> Option<String> {
        let start = self.position + 1;
        self.position += 2;
        let first = self.line.as_bytes()[start];
        if !is_name(first) || first.is_ascii_digit() {
            return None;
        }
        while self.byte(0).is_some_and(is_name) {
            self.position += 1;
        }
        Some(self.line[start..self.position].to_owned())
    }

    /// `$((…))` or `$(…)`.
    pub(super) fn parenthesized_expansion(&mut self, quoted: bool) -> Result<WordPart> {
        if self.looking_at("$((") {
            let start = self.position;
            self.position += 3;
            if let Some(inside) = self.try_arithmetic()? {
                return Ok(WordPart::Expansion {
                    name: None,
                    quoted,
                    inside,
                });
            }
            self.position = start;
        }
        self.position += 2;
        Ok(WordPart::Substitution(self.delimited_list(")")?))
    }

    /// Parses a list with its own here-documents, up to a closing token.
    pub(super) fn delimited_list(&mut self, close: &'static str) -> Result<super::List> {
        let outer = std::mem::take(&mut self.pending);
        let list = self.list()?;
        self.expect(close)?;
        if !self.pending.is_empty() {
            return Err(ParseError::IncompleteHereDocument);
        }
        self.pending = outer;
        Ok(list)
    }

    /// `${…}`
    fn braced_expansion(&mut self, quoted: Quoted) -> Result<WordPart> {
        self.position += 2;
        if matches!(self.byte(0), Some(b' ' | b'\t' | b'\n' | b'|')) {
            self.take("|");
            let list = self.delimited_list("}")?;
            return Ok(WordPart::Substitution(list));
        }
        let start = self.position;
        while self.byte(0).is_some_and(is_name) {
            self.position += 1;
        }
        let name = self.line[start..self.position].to_owned();
        let name = (self.byte(0) == Some(b'}') && !name.is_empty()).then_some(name);
        let mut inside = WordBuilder::default();
        // `${#}`, `${!name}` and similar: the first character is not an operator.
        if name.is_none()
            && self.position == start
            && matches!(
                self.byte(0),
                Some(b'#' | b'!' | b'?' | b'$' | b'@' | b'*' | b'-')
            )
        {
            self.position += 1;
        }
        // Inside quotes, only patterns may contain quotes.
        let is_pattern = matches!(self.byte(0), Some(b'#' | b'%' | b'/' | b'^' | b','));
        let inner = if quoted == Quoted::No || is_pattern {
            Quoted::No
        } else {
            Quoted::Double
        };
        loop {
            match self.byte(0) {
                Some(b'}') => break,
                Some(b'"') if inner == Quoted::Double => {
                    self.position += 1;
                    self.double_quoted(&mut inside)?;
                }
                _ => self.part(&mut inside, inner)?,
            }
        }
        self.position += 1;
        Ok(WordPart::Expansion {
            name,
            quoted: quoted == Quoted::Double,
            inside: inside.0,
        })
    }

    /// Parses an expression after `((`. If it is not one, the state is as before, except for the position.
    pub(super) fn try_arithmetic(&mut self) -> Result<Option<Vec<WordPart>>> {
        let start = self.position;
        if self.no_arithmetic.contains(&start) {
            return Ok(None);
        }
        let pending = self.pending.clone();
        let here_documents = self.here_documents.len();
        match self.arithmetic("))") {
            Ok(inside) => Ok(Some(inside)),
            Err(ParseError::TooComplex) => Err(ParseError::TooComplex),
            Err(_) => {
                self.pending = pending;
                self.here_documents.truncate(here_documents);
                self.no_arithmetic.insert(start);
                Ok(None)
            }
        }
    }

    /// Parses an expression up to `))` or `]`; its parentheses must match.
    pub(super) fn arithmetic(&mut self, close: &'static str) -> Result<Vec<WordPart>> {
        self.nested(|parser| parser.expression(close))
    }

    fn expression(&mut self, close: &'static str) -> Result<Vec<WordPart>> {
        let mut inside = WordBuilder::default();
        let mut open = 0_usize;
        loop {
            match self.byte(0) {
                None => return Err(ParseError::Missing(close)),
                _ if open == 0 && self.take(close) => break,
                Some(b')') if open == 0 => return Err(ParseError::Unexpected(')')),
                Some(b'(') if open == super::MAX_DEPTH => return Err(ParseError::TooDeep),
                Some(b'(') => {
                    open += 1;
                    self.literal_byte(&mut inside)?;
                }
                Some(b')') => {
                    open -= 1;
                    self.literal_byte(&mut inside)?;
                }
                Some(b']' | b'"' | b'<' | b'>' | b'\n' | b';' | b'&' | b'|' | b' ' | b'\t') => {
                    self.literal_byte(&mut inside)?;
                }
                Some(_) => self.part(&mut inside, Quoted::Double)?,
            }
        }
        Ok(inside.0)
    }
}
