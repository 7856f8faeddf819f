//! Parser for bash's grammar.
//!
//! A recursive descent that accepts less than bash rather than more: unknown syntax is an error, because for
//! the caller an error is safe and a wrong tree is not. The nesting is limited and the steps are counted, so no
//! line can exhaust the stack or the time. This file has the grammar of commands, [`words`] that of words. The parser does not
//! know what commands mean.

mod compound;
mod cursor;
mod expansions;
mod quotes;
mod redirections;
pub(crate) mod tree;
mod words;

pub(crate) use cursor::ParseError;
use cursor::{MAX_DEPTH, MAX_STEPS_PER_BYTE, Parser, Result, is_name};

use tree::{
    Assignment, Command, CommandKind, Connector, List, ListItem, RawWord, Redirection,
    UnexpandedCommand, WordPart,
};

/// Parses a line at this depth. Returns the parser as well, which has the here-documents.
pub(crate) fn parse(line: &str, depth: usize) -> Result<(List, Parser<'_>)> {
    let mut parser = Parser::new(line, depth);
    parser.steps_left = line.len() * MAX_STEPS_PER_BYTE + 1024;
    Ok((parser.complete_list()?, parser))
}

/// Words that end a list if they occur at the start of a command.
const CLOSING: &[&str] = &["then", "else", "elif", "fi", "do", "done", "esac", "}"];

impl Parser<'_> {
    fn complete_list(&mut self) -> Result<List> {
        let list = self.list()?;
        if let Some(character) = self.peek() {
            return Err(ParseError::Unexpected(character));
        }
        if self.pending.is_empty() {
            Ok(list)
        } else {
            Err(ParseError::IncompleteHereDocument)
        }
    }

    /// Parses commands up to a token that cannot start one.
    fn list(&mut self) -> Result<List> {
        self.nested(Self::items)
    }

    /// Parses a nested construct.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            return Err(ParseError::TooDeep);
        }
        self.depth += 1;
        let nested = read(self);
        self.depth -= 1;
        nested
    }

    fn items(&mut self) -> Result<List> {
        let mut items = Vec::new();
        let mut connector = Connector::Then;
        loop {
            self.skip_lines()?;
            if self.ends_list() {
                if connector == Connector::Then {
                    break;
                }
                return Err(ParseError::MissingCommand);
            }
            let (pipeline, is_negated) = self.pipeline()?;
            self.skip_blanks();
            items.push(ListItem {
                connector,
                pipeline,
                is_negated,
            });
            let is_background = !self.looking_at("&&") && self.take("&");
            if is_background {
                // All from the last separator on is in a subshell.
                let is_start = |item: &ListItem| item.connector == Connector::Then;
                let start = items.iter().rposition(is_start).unwrap_or(0);
                let kind = CommandKind::Subshell(items.split_off(start));
                let redirections = Vec::new();
                items.push(ListItem::of(Command { kind, redirections }));
                connector = Connector::Then;
            } else if let Some(next) = self.separator() {
                connector = next;
            } else {
                break;
            }
        }
        Ok(items)
    }

    /// Consumes the separator after a pipeline, but not a line break. Returns the connector of the next pipeline.
    fn separator(&mut self) -> Option<Connector> {
        if self.take("&&") {
            Some(Connector::And)
        } else if self.take("||") {
            Some(Connector::Or)
        } else if self.looking_at(";;") || self.looking_at(";&") {
            None
        } else {
            (self.take(";") || self.peek() == Some('\n')).then_some(Connector::Then)
        }
    }

    fn ends_list(&self) -> bool {
        match self.peek() {
            None | Some(')' | ';') => true,
            Some(_) => self
                .reserved_word()
                .is_some_and(|word| CLOSING.contains(&word)),
        }
    }

    /// Parses a pipeline. Returns as well whether `!` inverts its status.
    fn pipeline(&mut self) -> Result<(Vec<Command>, bool)> {
        let mut is_negated = self.skip_pipeline_words();
        let mut commands = vec![self.command()?];
        loop {
            self.skip_blanks();
            if self.looking_at("||") || !self.take("|") {
                return Ok((commands, is_negated));
            }
            if self.take("&")
                && let Some(command) = commands.last_mut()
            {
                command.redirections.push(Redirection::of_errors());
            }
            self.skip_lines()?;
            is_negated |= self.skip_pipeline_words();
            commands.push(self.command()?);
        }
    }

    /// Skips `!` and `time`. Returns whether there is a `!`.
    fn skip_pipeline_words(&mut self) -> bool {
        let mut is_negated = false;
        loop {
            self.skip_blanks();
            match self.reserved_word() {
                Some("!") => {
                    self.position += 1;
                    is_negated = true;
                }
                // `time -o` is the program with that name.
                Some("time") if !self.looking_at("time -") || self.looking_at("time -p") => {
                    self.position += 4;
                    self.skip_blanks();
                    if self.looking_at("-p") && self.ends_word(self.position + 2) {
                        self.position += 2;
                    }
                }
                _ => return is_negated,
            }
        }
    }

    fn command(&mut self) -> Result<Command> {
        self.spend(1)?;
        let kind = if self.peek() == Some('(') {
            self.parenthesis()?
        } else {
            match self.reserved_word() {
                Some("{") => CommandKind::Group(self.enclosed("}")?),
                Some("if") => self.condition()?,
                Some("while" | "until") => {
                    self.skip_name();
                    let mut bodies = vec![self.list()?];
                    bodies.push(self.do_done()?);
                    CommandKind::conditional(Vec::new(), bodies)
                }
                Some("for" | "select") => self.for_loop()?,
                Some("case") => self.case()?,
                Some("[[") => self.test()?,
                Some("function") => {
                    self.skip_name();
                    self.skip_blanks();
                    self.word()?;
                    self.function()?
                }
                Some("in" | "time") | None => return self.simple_command(),
                Some(_) => return Err(ParseError::MissingCommand),
            }
        };
        let redirections = self.redirections()?;
        Ok(Command { kind, redirections })
    }

    fn parenthesis(&mut self) -> Result<CommandKind> {
        // Without a blank, two subshells in each other are an error.
        if self.take("((") {
            let words = vec![RawWord::arithmetic(self.arithmetic()?)];
            return Ok(CommandKind::conditional(words, Vec::new()));
        }
        Ok(CommandKind::Subshell(self.enclosed(")")?))
    }

    /// Parses a list behind the character that opens it.
    fn enclosed(&mut self, close: &'static str) -> Result<List> {
        self.position += 1;
        let list = self.list()?;
        self.expect(close)?;
        Ok(list)
    }

    fn simple_command(&mut self) -> Result<Command> {
        let mut command = UnexpandedCommand::default();
        let mut redirections = Vec::new();
        loop {
            self.skip_blanks();
            if let Some(redirection) = self.redirection()? {
                redirections.push(redirection);
                continue;
            }
            match self.peek() {
                None | Some('\n' | ';' | '&' | '|' | ')') => break,
                Some('(')
                    if command.words.len() == 1
                        && command.assignments.is_empty()
                        && redirections.is_empty() =>
                {
                    let kind = self.function()?;
                    return Ok(Command { kind, redirections });
                }
                Some(_) => {
                    let word = self.word()?;
                    if command.words.is_empty() {
                        match assignment(word) {
                            Ok(assignment) => command.assignments.push(assignment),
                            Err(word) => command.words.push(word),
                        }
                    } else {
                        command.words.push(word);
                    }
                }
            }
        }
        if command.words.is_empty() && command.assignments.is_empty() && redirections.is_empty() {
            return Err(self.unexpected());
        }
        Ok(Command {
            kind: CommandKind::Simple(command),
            redirections,
        })
    }
}

/// Splits a word at `NAME=` if it starts with that.
fn assignment(word: RawWord) -> std::result::Result<Assignment, RawWord> {
    let Some(WordPart::Text {
        text,
        quoted: false,
    }) = word.0.first()
    else {
        return Err(word);
    };
    let name_length = text.bytes().take_while(|&byte| is_name(byte)).count();
    let rest = &text[name_length..];
    let (operator, value) = if name_length == 0 || text.as_bytes()[0].is_ascii_digit() {
        return Err(word);
    } else if let Some(value) = rest.strip_prefix('=') {
        ("=", value)
    } else if let Some(value) = rest.strip_prefix("+=") {
        ("+=", value)
    } else if rest.starts_with('[') && word.0.iter().any(|part| matches!(part, WordPart::Text { text, quoted: false } if text.contains("]=") || text.contains("]+="))) {
        ("[", rest)
    } else {
        return Err(word);
    };
    let name = text[..name_length].to_owned();
    let mut parts = Vec::with_capacity(word.0.len());
    if !value.is_empty() {
        parts.push(WordPart::Text {
            text: value.to_owned(),
            quoted: false,
        });
    }
    let is_complete = operator == "=" && !matches!(word.0.get(1), Some(WordPart::Array(_)));
    parts.extend(word.0.into_iter().skip(1));
    Ok(Assignment {
        name,
        value: RawWord(parts),
        is_complete,
        has_index: operator == "[",
    })
}
