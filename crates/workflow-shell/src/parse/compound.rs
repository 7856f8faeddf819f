//! Compound commands: conditions, loops, `case`, tests, functions.

use super::super::tree::{Joined, Kind, List, Raw, Step};
use super::{Parser, Result, Unparsed, is_name};

impl Parser<'_> {
    pub(super) fn condition(&mut self) -> Result<Kind> {
        let mut bodies = Vec::new();
        loop {
            // At `if` or `elif`.
            self.word_taken();
            bodies.push(self.list()?);
            self.expect("then")?;
            bodies.push(self.list()?);
            match self.reserved() {
                Some("elif") => {}
                Some("else") => {
                    self.word_taken();
                    bodies.push(self.list()?);
                    break;
                }
                _ => break,
            }
        }
        self.expect("fi")?;
        Ok(Kind::Perhaps {
            words: Vec::new(),
            bodies,
            loops: false,
        })
    }

    pub(super) fn do_done(&mut self) -> Result<List> {
        self.expect("do")?;
        let list = self.list()?;
        self.expect("done")?;
        Ok(list)
    }

    pub(super) fn for_loop(&mut self) -> Result<Kind> {
        self.word_taken();
        self.skip_blanks();
        let mut words = Vec::new();
        if self.take("((") {
            words.push(Raw(self.arithmetic("))")?));
            self.skip_blanks();
            self.take(";");
        } else {
            words.push(self.word()?);
            self.skip_lines()?;
            if self.reserved() == Some("in") {
                self.word_taken();
                self.words_to_separator(&mut words)?;
            } else {
                self.take(";");
            }
        }
        self.skip_lines()?;
        let body = if self.reserved() == Some("{") {
            self.at += 1;
            let list = self.list()?;
            self.expect("}")?;
            list
        } else {
            self.do_done()?
        };
        Ok(Kind::Perhaps {
            words,
            bodies: vec![body],
            loops: true,
        })
    }

    pub(super) fn words_to_separator(&mut self, words: &mut Vec<Raw>) -> Result<()> {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(';') => {
                    self.at += 1;
                    return Ok(());
                }
                Some('\n') | None => return Ok(()),
                Some(_) => words.push(self.word()?),
            }
        }
    }

    pub(super) fn case(&mut self) -> Result<Kind> {
        self.word_taken();
        self.skip_blanks();
        let mut words = vec![self.word()?];
        self.skip_lines()?;
        self.expect("in")?;
        let mut bodies = Vec::new();
        loop {
            self.skip_lines()?;
            if self.reserved() == Some("esac") {
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
        Ok(Kind::Perhaps {
            words,
            bodies,
            loops: false,
        })
    }

    /// `[[ … ]]`: its terms are words, whatever the operators between them mean.
    pub(super) fn test(&mut self) -> Result<Kind> {
        self.at += 2;
        let mut words = Vec::new();
        loop {
            self.skip_lines()?;
            if self.looking_at("]]") && self.ends_word(self.at + 2) {
                self.at += 2;
                break;
            }
            match self.peek() {
                None => return Err(Unparsed::Missing("]]")),
                Some('<' | '>') if self.byte(1) == Some(b'(') => words.push(self.word()?),
                Some('(' | ')' | '<' | '>' | '&' | '|') => self.at += 1,
                Some(_) => words.push(self.word()?),
            }
        }
        Ok(Kind::Perhaps {
            words,
            bodies: Vec::new(),
            loops: false,
        })
    }

    /// What follows a function's name.
    pub(super) fn function(&mut self) -> Result<Kind> {
        self.skip_blanks();
        if self.take("(") {
            self.skip_blanks();
            self.expect(")")?;
        }
        self.skip_lines()?;
        Ok(Kind::Function(self.nested_command()?))
    }

    pub(super) fn coprocess(&mut self) -> Result<Kind> {
        self.word_taken();
        self.skip_blanks();
        // A name may stand before a compound command, and only there.
        let start = self.at;
        while self.byte(0).is_some_and(is_name) {
            self.at += 1;
        }
        let end = self.at;
        self.skip_blanks();
        let compound = self.peek() == Some('(') || self.reserved().is_some();
        if end == start || !compound {
            self.at = start;
        }
        Ok(Kind::Subshell(self.nested_command()?))
    }

    pub(super) fn nested_command(&mut self) -> Result<List> {
        let command = self.deeper(Self::command)?;
        let step = Step {
            joined: Joined::Then,
            pipeline: vec![command],
            background: false,
        };
        Ok(vec![step])
    }
}
