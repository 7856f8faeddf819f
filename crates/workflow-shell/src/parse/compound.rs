//! Compound commands: conditions, loops, `case`, tests, functions.

use super::arithmetic_word;
use super::cursor::{ParseError, Parser, Result, is_name};
use super::tree::{CommandKind, Connector, List, ListItem, RawWord, WordPart};

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
        Ok(CommandKind::Conditional {
            words: Vec::new(),
            bodies,
            is_loop: false,
        })
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
            words.push(arithmetic_word(self.arithmetic("))")?));
            self.skip_blanks();
            self.take(";");
        } else {
            words.push(self.word()?);
            self.skip_lines()?;
            if self.reserved_word() == Some("in") {
                self.skip_name();
                self.words_to_separator(&mut words)?;
            } else {
                self.take(";");
            }
        }
        self.skip_lines()?;
        let body = if self.reserved_word() == Some("{") {
            self.position += 1;
            let list = self.list()?;
            self.expect("}")?;
            list
        } else {
            self.do_done()?
        };
        Ok(CommandKind::Conditional {
            words,
            bodies: vec![body],
            is_loop: true,
        })
    }

    pub(super) fn words_to_separator(&mut self, words: &mut Vec<RawWord>) -> Result<()> {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(';') => {
                    self.position += 1;
                    return Ok(());
                }
                Some('\n') | None => return Ok(()),
                Some(_) => words.push(self.word()?),
            }
        }
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
        Ok(CommandKind::Conditional {
            words,
            bodies,
            is_loop: false,
        })
    }

    /// `[[ … ]]`: its terms are words, whatever the operators between them mean.
    pub(super) fn test(&mut self) -> Result<CommandKind> {
        self.position += 2;
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            if self.looking_at("]]") && self.ends_word(self.position + 2) {
                self.position += 2;
                break;
            }
            match self.peek() {
                None => return Err(ParseError::Missing("]]")),
                Some('<' | '>') if self.byte(1) == Some(b'(') => words.push(self.word()?),
                Some('(' | ')' | '<' | '>' | '&' | '|') => self.position += 1,
                Some(_) => words.push(self.word()?),
            }
        }
        // The operands of these are arithmetic expressions, or names of variables with an index.
        let reach = |word: &RawWord| match word.0.as_slice() {
            [WordPart::Text { text, .. }] => match text.as_str() {
                "-v" | "-R" => (0, 1),
                "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" => (1, 1),
                _ => (0, 0),
            },
            _ => (0, 0),
        };
        let reaches: Vec<(usize, usize)> = words.iter().map(reach).collect();
        for (index, word) in words.iter_mut().enumerate() {
            let is_before = reaches
                .get(index + 1)
                .is_some_and(|(before, _)| *before > 0);
            let is_behind = index > 0 && reaches[index - 1].1 > 0;
            if is_before || is_behind {
                *word = arithmetic_word(std::mem::take(&mut word.0));
            }
        }
        Ok(CommandKind::Conditional {
            words,
            bodies: Vec::new(),
            is_loop: false,
        })
    }

    /// Parses the part after the name of a function.
    pub(super) fn function(&mut self, name: Option<String>) -> Result<CommandKind> {
        self.defines_functions = true;
        self.skip_blanks();
        if self.take("(") {
            self.skip_blanks();
            self.expect(")")?;
        }
        self.skip_lines()?;
        Ok(CommandKind::Function(name, self.nested_command()?))
    }

    pub(super) fn coprocess(&mut self) -> Result<CommandKind> {
        self.skip_name();
        self.skip_blanks();
        // A name may precede a compound command only.
        let start = self.position;
        while self.byte(0).is_some_and(is_name) {
            self.position += 1;
        }
        let end = self.position;
        self.skip_blanks();
        let compound = self.peek() == Some('(') || self.reserved_word().is_some();
        if end == start || !compound {
            self.position = start;
        }
        Ok(CommandKind::Subshell(self.nested_command()?))
    }

    pub(super) fn nested_command(&mut self) -> Result<List> {
        let command = self.nested(Self::command)?;
        let step = ListItem {
            connector: Connector::Then,
            pipeline: vec![command],
            background: false,
        };
        Ok(vec![step])
    }
}
