//! Reads a shell line as bash's grammar has it.
//!
//! Owns the grammar of commands; words are in [`words`]. A recursive descent that accepts less
//! than bash rather than more: what it does not know is an error, because a caller that is told
//! "cannot be read" is safe and one that is told something wrong is not. The nesting is counted
//! while reading and the work is bounded, so no line can exhaust the stack or the clock.
//!
//! It must not know what commands mean.

mod compound;
mod cursor;
mod expansions;
mod quotations;
mod redirections;
mod words;

use std::collections::HashSet;

use cursor::{is_meta, is_name};

use super::tree::{Assignment, Command, Joined, Kind, List, Piece, Plain, Raw, Step};

/// How deep commands may stand inside each other.
const DEEPEST: usize = 40;

/// How often a character may be looked at, on the average, before the line counts as tangled.
const LOOKS: usize = 8;

/// Why a line cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unparsed {
    #[error("a quotation is not closed")]
    Quotation,
    #[error("`{0}` is missing")]
    Missing(&'static str),
    #[error("a command is missing")]
    Command,
    #[error("`{0}` is not expected where it stands")]
    Unexpected(char),
    #[error("a here-document is not complete")]
    HereDocument,
    #[error("commands are nested too deeply")]
    Deep,
    #[error("it is too tangled")]
    Tangled,
}

type Result<T> = std::result::Result<T, Unparsed>;

/// A line that was read.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) list: List,
    /// What the here-documents say, in the order of their numbers.
    pub(super) here_documents: Vec<Raw>,
}

/// Reads a line that stands `depth` levels inside others.
pub(super) fn parse(line: &str, depth: usize) -> Result<Parsed> {
    let mut parser = Parser {
        line,
        at: 0,
        depth,
        fuel: line.len() * LOOKS + 1024,
        pending: Vec::new(),
        here_documents: Vec::new(),
        no_arithmetic: HashSet::new(),
    };
    let list = parser.whole()?;
    Ok(Parsed {
        list,
        here_documents: parser.here_documents,
    })
}

struct Parser<'a> {
    line: &'a str,
    at: usize,
    depth: usize,
    fuel: usize,
    /// Here-documents whose text starts on the next line.
    pending: Vec<Pending>,
    here_documents: Vec<Raw>,
    /// Places behind `((` where no expression stands: they are not tried twice.
    no_arithmetic: HashSet<usize>,
}

#[derive(Clone)]
struct Pending {
    number: usize,
    delimiter: String,
    quoted: bool,
    tabs: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    And,
    Or,
    Background,
    Separator,
}

/// Words that end a list where a command could begin.
const CLOSING: &[&str] = &["then", "else", "elif", "fi", "do", "done", "esac", "}"];

impl Parser<'_> {
    fn whole(&mut self) -> Result<List> {
        let list = self.list()?;
        if let Some(character) = self.peek() {
            return Err(Unparsed::Unexpected(character));
        }
        if self.pending.is_empty() {
            Ok(list)
        } else {
            Err(Unparsed::HereDocument)
        }
    }

    /// Reads commands up to what cannot begin one.
    fn list(&mut self) -> Result<List> {
        self.deeper(Self::steps)
    }

    /// Reads what stands inside something else.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == DEEPEST {
            return Err(Unparsed::Deep);
        }
        self.depth += 1;
        let inside = read(self);
        self.depth -= 1;
        inside
    }

    fn steps(&mut self) -> Result<List> {
        let mut steps = Vec::new();
        let mut joined = Joined::Then;
        loop {
            self.skip_lines()?;
            if self.ends_list() {
                if joined == Joined::Then {
                    break;
                }
                return Err(Unparsed::Command);
            }
            let pipeline = self.pipeline()?;
            self.skip_blanks();
            let next = self.joint();
            let background = next == Some(Joint::Background);
            steps.push(Step {
                joined,
                pipeline,
                background,
            });
            joined = match next {
                Some(Joint::And) => Joined::And,
                Some(Joint::Or) => Joined::Or,
                Some(Joint::Background | Joint::Separator) => Joined::Then,
                None => break,
            };
        }
        Ok(steps)
    }

    /// Takes what stands behind a pipeline; a line break stays.
    fn joint(&mut self) -> Option<Joint> {
        if self.take("&&") {
            Some(Joint::And)
        } else if self.take("||") {
            Some(Joint::Or)
        } else if self.take("&") {
            Some(Joint::Background)
        } else if self.looking_at(";;") || self.looking_at(";&") {
            None
        } else {
            (self.take(";") || self.peek() == Some('\n')).then_some(Joint::Separator)
        }
    }

    fn ends_list(&self) -> bool {
        match self.peek() {
            None | Some(')' | ';') => true,
            Some(_) => self.reserved().is_some_and(|word| CLOSING.contains(&word)),
        }
    }

    fn pipeline(&mut self) -> Result<Vec<Command>> {
        self.skip_pipeline_words();
        let mut commands = vec![self.command()?];
        loop {
            self.skip_blanks();
            if self.looking_at("||") || !self.take("|") {
                return Ok(commands);
            }
            self.take("&");
            self.skip_lines()?;
            self.skip_pipeline_words();
            commands.push(self.command()?);
        }
    }

    /// Takes `!` and `time`, which change nothing about what runs.
    fn skip_pipeline_words(&mut self) {
        loop {
            self.skip_blanks();
            match self.reserved() {
                Some("!") => self.at += 1,
                // `time -o` is the program of that name.
                Some("time") if !self.looking_at("time -") || self.looking_at("time -p") => {
                    self.at += 4;
                    self.skip_blanks();
                    if self.looking_at("-p") && self.ends_word(self.at + 2) {
                        self.at += 2;
                    }
                }
                _ => return,
            }
        }
    }

    fn command(&mut self) -> Result<Command> {
        self.burn(1)?;
        let kind = if self.peek() == Some('(') {
            self.parenthesis()?
        } else {
            match self.reserved() {
                Some("{") => {
                    self.at += 1;
                    let list = self.list()?;
                    self.expect("}")?;
                    Kind::Group(list)
                }
                Some("if") => self.condition()?,
                Some("while" | "until") => {
                    self.word_taken();
                    let mut bodies = vec![self.list()?];
                    bodies.push(self.do_done()?);
                    Kind::Perhaps {
                        words: Vec::new(),
                        bodies,
                        loops: false,
                    }
                }
                Some("for" | "select") => self.for_loop()?,
                Some("case") => self.case()?,
                Some("[[") => self.test()?,
                Some("function") => {
                    self.word_taken();
                    self.skip_blanks();
                    self.word()?;
                    self.function()?
                }
                Some("coproc") => self.coprocess()?,
                Some("in" | "time") | None => return self.simple(),
                Some(_) => return Err(Unparsed::Command),
            }
        };
        let redirections = self.redirections()?;
        Ok(Command { kind, redirections })
    }

    fn parenthesis(&mut self) -> Result<Kind> {
        if self.looking_at("((") {
            let start = self.at;
            self.at += 2;
            if let Some(inside) = self.perhaps_arithmetic()? {
                // Shells that know no arithmetic commands read commands here.
                if !self.line[start..self.at].contains(';') {
                    return Ok(expanding(inside));
                }
                self.no_arithmetic.insert(start + 2);
            }
            self.at = start;
        }
        self.at += 1;
        let list = self.list()?;
        self.expect(")")?;
        Ok(Kind::Subshell(list))
    }

    fn simple(&mut self) -> Result<Command> {
        let mut plain = Plain::default();
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
                    if plain.words.len() == 1
                        && plain.assignments.is_empty()
                        && redirections.is_empty() =>
                {
                    let kind = self.function()?;
                    return Ok(Command { kind, redirections });
                }
                Some(_) => {
                    let word = self.word()?;
                    if plain.words.is_empty() {
                        match assignment(word) {
                            Ok(assignment) => plain.assignments.push(assignment),
                            Err(word) => plain.words.push(word),
                        }
                    } else {
                        plain.words.push(word);
                    }
                }
            }
        }
        if plain.words.is_empty() && plain.assignments.is_empty() && redirections.is_empty() {
            return Err(self.peek().map_or(Unparsed::Command, Unparsed::Unexpected));
        }
        Ok(Command {
            kind: Kind::Simple(plain),
            redirections,
        })
    }
}

/// An arithmetic command: nothing runs but what its expression expands.
fn expanding(inside: Vec<Piece>) -> Kind {
    Kind::Perhaps {
        words: vec![Raw(inside)],
        bodies: Vec::new(),
        loops: false,
    }
}

/// Takes a word apart at `NAME=`, if that is how it begins.
fn assignment(word: Raw) -> std::result::Result<Assignment, Raw> {
    let Some(Piece::Text {
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
    } else if rest.starts_with('[') && word.0.iter().any(|piece| matches!(piece, Piece::Text { text, quoted: false } if text.contains("]=") || text.contains("]+="))) {
        ("[", rest)
    } else {
        return Err(word);
    };
    let name = text[..name_length].to_owned();
    let mut pieces = Vec::with_capacity(word.0.len());
    if !value.is_empty() {
        pieces.push(Piece::Text {
            text: value.to_owned(),
            quoted: false,
        });
    }
    let whole = operator == "=" && !matches!(word.0.get(1), Some(Piece::Array(_)));
    pieces.extend(word.0.into_iter().skip(1));
    Ok(Assignment {
        name,
        value: Raw(pieces),
        whole,
    })
}
