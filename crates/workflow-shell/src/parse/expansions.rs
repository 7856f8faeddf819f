//! Expansions: variables, substitutions, arithmetic.

use super::cursor::{ParseError, Parser, Result, is_name};
use super::tree::{Expansion, ExpansionKind, WordPart};
use super::words::WordBuilder;

impl Parser<'_> {
    pub(super) fn dollar(&mut self, parts: &mut WordBuilder, is_quoted: bool) -> Result<()> {
        let part = match self.byte(1) {
            Some(b'(') => self.parenthesized_expansion(is_quoted)?,
            Some(b'{') => self.nested(|parser| parser.braced_expansion(is_quoted))?,
            // `$[…]`, which ends at different places in different shells.
            Some(b'[') => return Err(ParseError::Unexpected('[')),
            Some(b'\'') if !is_quoted => {
                self.position += 2;
                parts.text(&self.ansi_quoted()?, true);
                return Ok(());
            }
            Some(b'"') if !is_quoted => {
                self.position += 2;
                return self.double_quoted(parts);
            }
            Some(byte)
                if is_name(byte)
                    || matches!(byte, b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-') =>
            {
                let kind = match byte {
                    b'@' | b'*' => ExpansionKind::Several,
                    b'#' | b'?' | b'$' => ExpansionKind::Number,
                    // Without a job, it is empty.
                    b'!' => ExpansionKind::Value,
                    byte if is_name(byte) && !byte.is_ascii_digit() => ExpansionKind::Value,
                    _ => ExpansionKind::Text,
                };
                self.position += 1;
                let start = self.position;
                self.position += 1;
                if is_name(byte) && !byte.is_ascii_digit() {
                    self.skip_name();
                }
                let name = &self.line[start..self.position];
                WordPart::Expansion(Expansion {
                    variable: (kind == ExpansionKind::Value).then(|| name.to_owned()),
                    kind,
                    is_arithmetic: false,
                    quoted: is_quoted,
                    inside: Vec::new(),
                })
            }
            _ => {
                self.position += 1;
                parts.text("$", true);
                return Ok(());
            }
        };
        parts.0.push(part);
        Ok(())
    }

    /// `$((…))` or `$(…)`.
    pub(super) fn parenthesized_expansion(&mut self, quoted: bool) -> Result<WordPart> {
        if self.take("$((") {
            return Ok(WordPart::arithmetic(self.arithmetic()?, quoted));
        }
        self.position += 2;
        let list = self.delimited_list(")")?;
        Ok(WordPart::Substitution { list, quoted })
    }

    /// Parses a list with its own here-documents, up to a closing token.
    pub(super) fn delimited_list(&mut self, close: &'static str) -> Result<super::tree::List> {
        let outer = std::mem::take(&mut self.pending);
        let is_inner = std::mem::replace(&mut self.in_substitution, true);
        let list = self.list()?;
        self.in_substitution = is_inner;
        self.expect(close)?;
        if !self.pending.is_empty() {
            return Err(ParseError::IncompleteHereDocument);
        }
        self.pending = outer;
        Ok(list)
    }

    /// `${…}`
    fn braced_expansion(&mut self, quoted: bool) -> Result<WordPart> {
        self.position += 2;
        if matches!(self.byte(0), Some(b' ' | b'\t' | b'\n' | b'|')) {
            self.take("|");
            let list = self.delimited_list("}")?;
            return Ok(WordPart::Substitution { list, quoted });
        }
        let start = self.position;
        self.skip_name();
        let name = self.line[start..self.position].to_owned();
        let is_value = self.byte(0) == Some(b'}') && !name.is_empty();
        let mut inside = WordBuilder::default();
        // `${#}`, `${!name}` and similar: the first character is not an operator.
        if self.position == start
            && matches!(
                self.byte(0),
                Some(b'#' | b'!' | b'?' | b'$' | b'@' | b'*' | b'-')
            )
        {
            self.position += 1;
        }
        // Inside quotes, only patterns may contain quotes.
        let is_removal = matches!(self.byte(0), Some(b'#' | b'%'));
        let is_pattern = is_removal || matches!(self.byte(0), Some(b'/' | b'^' | b','));
        let inner = quoted && !is_pattern;
        loop {
            match self.byte(0) {
                Some(b'}') => break,
                // Only bash outside of its POSIX mode takes it for a quote, and `sh` does so behind `#` and `%`.
                Some(b'\'') if quoted && !is_removal => return Err(ParseError::Unexpected('\'')),
                Some(b'"') if inner => {
                    if self.line[..self.position].ends_with('$') {
                        // In a here-document, bash reads what is in `$"…"` twice.
                        self.oddity = Some(ParseError::Unexpected('$'));
                    }
                    self.position += 1;
                    self.double_quoted(&mut inside)?;
                }
                Some(b'<' | b'>') if !inner && self.byte(1) == Some(b'(') => {
                    self.process(&mut inside)?;
                }
                _ => self.part(&mut inside, inner)?,
            }
        }
        let text = &self.line[start..self.position];
        let (kind, is_arithmetic) = if is_value && !name.starts_with(|c: char| c.is_ascii_digit()) {
            (ExpansionKind::Value, false)
        } else {
            kind_of(text)
        };
        let variable = text.trim_start_matches(['#', '!']);
        let end = variable.bytes().take_while(|byte| is_name(*byte)).count();
        let variable = variable[..end].to_owned();
        let is_variable = variable.starts_with(|c: char| !c.is_ascii_digit());
        self.position += 1;
        Ok(WordPart::Expansion(Expansion {
            variable: is_variable.then_some(variable),
            kind,
            is_arithmetic,
            quoted,
            inside: inside.0,
        }))
    }

    /// Parses an expression up to `))`; its parentheses must match.
    pub(super) fn arithmetic(&mut self) -> Result<Vec<WordPart>> {
        self.nested(Self::expression)
    }

    fn expression(&mut self) -> Result<Vec<WordPart>> {
        let mut inside = WordBuilder::default();
        let mut open = 0_usize;
        loop {
            match self.byte(0) {
                None => return Err(ParseError::Missing("))")),
                _ if open == 0 && self.take("))") => break,
                Some(b')') if open == 0 => return Err(ParseError::Unexpected(')')),
                Some(b'(') if open == super::cursor::MAX_DEPTH => return Err(ParseError::TooDeep),
                Some(b'(') => {
                    open += 1;
                    self.literal_byte(&mut inside, true)?;
                }
                Some(b')') => {
                    open -= 1;
                    self.literal_byte(&mut inside, true)?;
                }
                Some(b']' | b'"' | b'<' | b'>' | b'\n' | b';' | b'&' | b'|' | b' ' | b'\t') => {
                    self.literal_byte(&mut inside, true)?;
                }
                Some(_) => self.part(&mut inside, true)?,
            }
        }
        Ok(inside.0)
    }
}

/// Returns the kind of `${text}`, and whether an index or an offset in it is arithmetic.
fn kind_of(text: &str) -> (ExpansionKind, bool) {
    let counts = text.len() > 1 && text.starts_with('#');
    let is_indirect = text.len() > 1 && text.starts_with('!');
    let rest = text.trim_start_matches(['#', '!']);
    let is_position = rest.starts_with(|c: char| c.is_ascii_digit());
    let of_name = |byte: &u8| is_name(*byte) && (!is_position || byte.is_ascii_digit());
    let name = rest.bytes().take_while(of_name).count();
    // `$@`, `$?` and their kind have a sign for a name.
    let has_sign = name == 0 && rest.starts_with(['@', '*', '?', '$', '-']);
    let is_list = has_sign && rest.starts_with(['@', '*']);
    let rest = &rest[name + usize::from(has_sign)..];
    let all = ["[@]", "[*]"].iter().find_map(|all| rest.strip_prefix(all));
    let has_index = rest.starts_with('[') && all.is_none();
    let operator = match all {
        Some(rest) => rest,
        None if has_index => rest.find(']').map_or("", |at| &rest[at + 1..]),
        None => rest,
    };
    let has_offset = operator
        .strip_prefix(':')
        .is_some_and(|rest| !rest.starts_with(['-', '=', '+', '?']));
    let is_list = is_list || all.is_some();
    // `${!name*}`
    let lists_names = is_indirect && matches!(operator, "@" | "*");
    let is_known = match operator.chars().next() {
        // `${#}`, `${!}`
        _ if name == 0 && !has_sign => rest.is_empty() && !text.is_empty() && !is_indirect,
        None => !is_indirect || is_list && !has_sign,
        Some(_) if counts || is_indirect => lists_names,
        Some('@') => ["@Q", "@U", "@u", "@L", "@A", "@a", "@K", "@k"].contains(&operator),
        Some(sign) => ":-+?#%/^,".contains(sign) && !operator.starts_with(":="),
    };
    let kind = if !is_known {
        ExpansionKind::Changing
    } else if counts {
        ExpansionKind::Number
    } else if is_list || lists_names {
        ExpansionKind::Several
    } else {
        ExpansionKind::Text
    };
    (kind, has_index || has_offset)
}
