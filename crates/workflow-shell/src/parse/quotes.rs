//! ANSI-C quotes: `$'…'` and its escapes.

use super::cursor::{ParseError, Parser, Result};

impl Parser<'_> {
    /// Parses up to the quote that closes `$'…'`.
    pub(super) fn ansi_quoted(&mut self) -> Result<String> {
        let mut text = String::new();
        loop {
            self.spend(1)?;
            let character = self.peek().ok_or(ParseError::UnclosedQuote)?;
            self.position += character.len_utf8();
            match character {
                '\'' => return Ok(text),
                '\\' => self.ansi_escape(&mut text)?,
                other => text.push(other),
            }
        }
    }

    pub(super) fn ansi_escape(&mut self, text: &mut String) -> Result<()> {
        let character = self.peek().ok_or(ParseError::UnclosedQuote)?;
        self.position += character.len_utf8();
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
                let control = self.peek().ok_or(ParseError::UnclosedQuote)?;
                // `$'\c'` ends at its quote.
                if !control.is_ascii_alphabetic() {
                    return Err(ParseError::Unexpected(control));
                }
                self.position += 1;
                u32::from(control) & 0x1f
            }
            '0'..='7' => {
                self.position -= 1;
                self.digits(8, 3) & 0xff
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

    /// Consumes digits of a base, `most` at most.
    pub(super) fn digits(&mut self, base: u32, most: usize) -> u32 {
        let mut value = 0;
        for _ in 0..most {
            let Some(digit) = self
                .byte(0)
                .and_then(|byte| char::from(byte).to_digit(base))
            else {
                break;
            };
            value = value * base + digit;
            self.position += 1;
        }
        value
    }
}
