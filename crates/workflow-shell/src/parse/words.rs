//! Words and quotes.

use super::cursor::{ParseError, Parser, Result, is_meta};
use super::tree::{RawWord, WordPart};

/// The parts of a word. Adjacent texts with the same quotes are merged.
#[derive(Default)]
pub(super) struct WordBuilder(pub(super) Vec<WordPart>);

impl WordBuilder {
    pub(super) fn text(&mut self, added: &str, is_quoted: bool) {
        if let Some(WordPart::Text { text, quoted }) = self.0.last_mut()
            && *quoted == is_quoted
        {
            text.push_str(added);
        } else {
            self.0.push(WordPart::Text {
                text: added.to_owned(),
                quoted: is_quoted,
            });
        }
    }
}

impl Parser<'_> {
    /// Parses a word, which must follow.
    pub(super) fn word(&mut self) -> Result<RawWord> {
        let start = self.position;
        let mut parts = WordBuilder::default();
        while let Some(byte) = self.byte(0) {
            let before = &self.line[start..self.position];
            match byte {
                b'(' if before.ends_with(['?', '*', '+', '@', '!']) => {
                    self.extended_pattern(&mut parts)?;
                }
                // `=(list)` is no array, but a process in zsh.
                b'(' if before.len() > 1 && before.ends_with('=') => {
                    let array = self.nested(Self::array)?;
                    parts.0.push(array);
                }
                b'<' | b'>' if self.byte(1) == Some(b'(') => self.process(&mut parts)?,
                byte if is_meta(byte) => break,
                _ => self.part(&mut parts, false)?,
            }
        }
        if self.position == start {
            return Err(self.unexpected());
        }
        if parts.0.len() > 1 && matches!(parts.0[0], WordPart::Process(_)) {
            self.oddity = Some(ParseError::Unexpected('('));
        }
        let is_mixed = |part: &WordPart| matches!(part, WordPart::Text { text, quoted: false } if crate::braces::has_mixed_sequence(text));
        if parts.0.iter().any(is_mixed) {
            self.oddity = Some(ParseError::Unexpected('{'));
        }
        let word = &self.line[start..self.position];
        let is_descriptor = word.starts_with('{') && word.ends_with('}');
        if is_descriptor && matches!(self.byte(0), Some(b'<' | b'>')) {
            // `{name}>` and `{name[index]}>` assign a variable.
            self.oddity = Some(ParseError::Unexpected('{'));
        }
        Ok(RawWord(parts.0))
    }

    /// Parses `<(…)` or `>(…)`.
    pub(super) fn process(&mut self, parts: &mut WordBuilder) -> Result<()> {
        self.position += 2;
        let list = self.delimited_list(")")?;
        if list.is_empty() || !parts.0.is_empty() {
            // An empty one is an empty text, and with more in its word another one is a path.
            self.oddity = Some(ParseError::Unexpected('('));
        }
        parts.0.push(WordPart::Process(list));
        Ok(())
    }

    /// Parses one part of a word, of a quoted text or of a here-document.
    pub(super) fn part(&mut self, parts: &mut WordBuilder, is_quoted: bool) -> Result<()> {
        self.spend(1)?;
        match self.byte(0) {
            Some(b'\\') => self.escape(parts, is_quoted),
            Some(b'\'') if !is_quoted => self.single_quoted(parts)?,
            Some(b'"') if !is_quoted => {
                self.position += 1;
                self.double_quoted(parts)?;
            }
            Some(b'$') => self.dollar(parts, is_quoted)?,
            Some(b'`') => {
                parts.0.push(WordPart::Substitution {
                    list: self.backquoted(is_quoted)?,
                    quoted: is_quoted,
                });
            }
            Some(_) => self.literal(parts, is_quoted)?,
            None => return Err(ParseError::UnclosedQuote),
        }
        Ok(())
    }

    /// Consumes literal characters up to one that may be special.
    fn literal(&mut self, parts: &mut WordBuilder, is_quoted: bool) -> Result<()> {
        let start = self.position;
        // The caller has checked the first one.
        self.position += self.peek().map_or(1, char::len_utf8);
        while self.byte(0).is_some_and(|byte| !stops_text(byte)) {
            self.position += 1;
        }
        self.spend(self.position - start)?;
        parts.text(&self.line[start..self.position], is_quoted);
        Ok(())
    }

    fn escape(&mut self, parts: &mut WordBuilder, is_quoted: bool) {
        if self.looking_at("\\\n") {
            return self.skip_line_break();
        }
        self.position += 1;
        let Some(character) = self.peek() else {
            return parts.text("\\", true);
        };
        self.position += character.len_utf8();
        if is_quoted && !matches!(character, '$' | '`' | '"' | '\\') {
            parts.text("\\", true);
        }
        parts.text(character.encode_utf8(&mut [0; 4]), true);
    }

    fn single_quoted(&mut self, parts: &mut WordBuilder) -> Result<()> {
        self.position += 1;
        let rest = &self.line[self.position..];
        let length = rest.find('\'').ok_or(ParseError::UnclosedQuote)?;
        self.spend(length)?;
        parts.text(&rest[..length], true);
        self.position += length + 1;
        Ok(())
    }

    /// Parses up to the closing `"`.
    pub(super) fn double_quoted(&mut self, parts: &mut WordBuilder) -> Result<()> {
        // Empty quotes are a word, too.
        parts.text("", true);
        while self.byte(0) != Some(b'"') {
            self.part(parts, true)?;
        }
        self.position += 1;
        Ok(())
    }

    /// Parses an extended pattern such as `@(a|b)` as text.
    fn extended_pattern(&mut self, parts: &mut WordBuilder) -> Result<()> {
        let mut open = 0_usize;
        loop {
            match self.byte(0) {
                Some(b'(') => open += 1,
                Some(b')') => open -= 1,
                Some(b'<' | b'>' | b'&' | b';' | b'\n') => return Err(ParseError::Unexpected('(')),
                _ => {}
            }
            if matches!(self.byte(0), Some(b'(' | b')' | b' ' | b'\t' | b'|')) {
                self.literal_byte(parts, false)?;
            } else {
                self.part(parts, false)?;
            }
            if open == 0 {
                return Ok(());
            }
        }
    }

    pub(super) fn literal_byte(&mut self, parts: &mut WordBuilder, is_quoted: bool) -> Result<()> {
        self.spend(1)?;
        parts.text(&self.line[self.position..=self.position], is_quoted);
        self.position += 1;
        Ok(())
    }

    fn array(&mut self) -> Result<WordPart> {
        self.position += 1;
        let mut items = Vec::new();
        loop {
            self.skip_lines()?;
            if self.take(")") {
                return Ok(WordPart::Array(items));
            }
            items.push(self.word()?);
        }
    }

    /// Parses a substitution in backquotes: escapes first, then the result as a separate line.
    fn backquoted(&mut self, is_quoted: bool) -> Result<super::tree::List> {
        self.position += 1;
        let mut text = String::new();
        loop {
            let character = self.peek().ok_or(ParseError::UnclosedQuote)?;
            self.spend(1)?;
            self.position += character.len_utf8();
            match character {
                '`' => break,
                '\\' => {
                    let escaped = self.peek().ok_or(ParseError::UnclosedQuote)?;
                    self.position += escaped.len_utf8();
                    if escaped == '"' && is_quoted {
                        // In a here-document and in `"${x:-`…`}"`, it keeps its backslash.
                        return Err(ParseError::Unexpected('"'));
                    }
                    if !matches!(escaped, '`' | '\\' | '$') {
                        text.push('\\');
                    }
                    text.push(escaped);
                }
                other => text.push(other),
            }
        }
        self.nested_text(&text, Parser::complete_list)
    }

    /// Parses the text of a here-document whose delimiter is not quoted.
    pub(super) fn here_document_parts(&mut self) -> Result<Vec<WordPart>> {
        let mut parts = WordBuilder::default();
        if self.line.contains("\\\"") && self.line.contains("${") {
            // Whether the backslash stays depends on where it is.
            self.oddity = Some(ParseError::Unexpected('"'));
        }
        while self.byte(0).is_some() {
            if self.byte(0) == Some(b'"') {
                self.literal_byte(&mut parts, false)?;
            } else if self.take("\\\"") {
                parts.text("\\\"", true);
            } else {
                self.part(&mut parts, true)?;
            }
        }
        Ok(parts.0)
    }

    /// Parses a nested text with a parser that continues the counts of this one.
    pub(super) fn nested_text<'t, T>(
        &mut self,
        text: &'t str,
        read: fn(&mut Parser<'t>) -> Result<T>,
    ) -> Result<T> {
        self.nested(|outer| {
            let mut inner = Parser::new(text, outer.depth);
            inner.steps_left = outer.steps_left;
            inner.here_documents = std::mem::take(&mut outer.here_documents);
            let nested = read(&mut inner);
            outer.steps_left = inner.steps_left;
            outer.here_documents = inner.here_documents;
            outer.oddity = outer.oddity.or(inner.oddity);
            nested
        })
    }
}

/// Returns whether a character may be special in a word or in quotes.
fn stops_text(byte: u8) -> bool {
    let is_special = matches!(
        byte,
        b'\\' | b'\'' | b'"' | b'$' | b'`' | b'}' | b']' | b'=' | b'!' | b'?' | b'*' | b'+' | b'@'
    );
    is_special || is_meta(byte)
}
