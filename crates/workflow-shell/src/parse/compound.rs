//! Compound commands: conditions, loops, `case`, tests, functions.

use super::cursor::{ParseError, Parser, Result};
use super::tree::{CommandKind, List, ListItem, RawWord};

impl Parser<'_> {
    /// Parses `if`.
    pub(super) fn condition(&mut self) -> Result<CommandKind> {
        let mut bodies = Vec::new();
        loop {
            // At `if` or `elif`.
            self.skip_name();
            bodies.push(self.list()?);
            self.expect("then")?;
            bodies.push(self.list()?);
            match self.reserved_word() {
                Some("elif") => {}
                Some("else") => {
                    self.skip_name();
                    bodies.push(self.list()?);
                    break;
                }
                _ => break,
            }
        }
        self.expect("fi")?;
        Ok(CommandKind::conditional(Vec::new(), bodies))
    }

    pub(super) fn do_done(&mut self) -> Result<List> {
        self.expect("do")?;
        let list = self.list()?;
        self.expect("done")?;
        Ok(list)
    }

    pub(super) fn for_loop(&mut self) -> Result<CommandKind> {
        self.skip_name();
        self.skip_blanks();
        let mut words = Vec::new();
        if self.take("((") {
            words.push(RawWord::arithmetic(self.arithmetic()?));
            self.skip_blanks();
        } else {
            words.push(self.word()?);
            self.skip_lines()?;
            if self.reserved_word() == Some("in") {
                self.skip_name();
                self.skip_blanks();
                while !matches!(self.peek(), None | Some(';' | '\n')) {
                    words.push(self.word()?);
                    self.skip_blanks();
                }
            }
        }
        self.take(";");
        self.skip_lines()?;
        let body = if self.reserved_word() == Some("{") {
            self.enclosed("}")?
        } else {
            self.do_done()?
        };
        Ok(CommandKind::Conditional {
            words,
            bodies: vec![body],
            is_loop: true,
        })
    }

    pub(super) fn case(&mut self) -> Result<CommandKind> {
        self.skip_name();
        self.skip_blanks();
        let mut words = vec![self.word()?];
        self.skip_lines()?;
        self.expect("in")?;
        let mut bodies = Vec::new();
        loop {
            self.skip_lines()?;
            if self.reserved_word() == Some("esac") {
                break;
            }
            self.take("(");
            loop {
                self.skip_blanks();
                words.push(self.word()?);
                self.skip_blanks();
                if !self.take("|") {
                    break;
                }
            }
            self.expect(")")?;
            bodies.push(self.list()?);
            self.skip_lines()?;
            if !(self.take(";;&") || self.take(";;") || self.take(";&")) {
                break;
            }
        }
        self.expect("esac")?;
        Ok(CommandKind::conditional(words, bodies))
    }

    /// `[[ … ]]`: its terms are words, whatever the operators between them mean.
    pub(super) fn test(&mut self) -> Result<CommandKind> {
        self.position += 2;
        let mut words: Vec<RawWord> = Vec::new();
        let mut is_operand = false;
        loop {
            self.skip_lines()?;
            if self.looking_at("]]") && self.ends_word(self.position + 2) {
                self.position += 2;
                break;
            }
            let is_process =
                matches!(self.byte(0), Some(b'<' | b'>')) && self.byte(1) == Some(b'(');
            match self.peek() {
                None => return Err(ParseError::Missing("]]")),
                Some('(' | ')' | '<' | '>' | '&' | '|') if !is_process => self.position += 1,
                Some(_) => {
                    let mut word = self.word()?;
                    // The operands of these are arithmetic expressions, or names of variables with an index.
                    let (is_before, is_behind) = match word.text() {
                        Some("-v" | "-R") => (false, true),
                        Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") => (true, true),
                        _ => (false, false),
                    };
                    if is_before && let Some(last) = words.last_mut() {
                        *last = RawWord::arithmetic(std::mem::take(&mut last.0));
                    }
                    if std::mem::replace(&mut is_operand, is_behind) {
                        word = RawWord::arithmetic(word.0);
                    }
                    words.push(word);
                }
            }
        }
        Ok(CommandKind::conditional(words, Vec::new()))
    }

    /// Parses the part after the name of a function, which may stand for any program from then on.
    pub(super) fn function(&mut self) -> Result<CommandKind> {
        self.oddity = Some(ParseError::Function);
        self.skip_blanks();
        if self.take("(") {
            self.skip_blanks();
            self.expect(")")?;
        }
        self.skip_lines()?;
        let body = vec![ListItem::of(self.nested(Self::command)?)];
        Ok(CommandKind::conditional(Vec::new(), vec![body]))
    }
}
