//! Reads a shell line as bash's grammar has it.
//!
//! Owns the grammar of commands; words are in [`words`]. A recursive descent that accepts less
//! than bash rather than more: what it does not know is an error, because a caller that is told
//! "cannot be read" is safe and one that is told something wrong is not. The nesting is counted
//! while reading and the work is bounded, so no line can exhaust the stack or the clock.
//!
//! It must not know what commands mean.

mod words;

use std::collections::HashSet;

use super::tree::{Assignment, Command, Joined, Kind, List, Piece, Plain, Raw, Redirection, Step};

/// How deep commands may stand inside each other.
const DEEPEST: usize = 40;

/// How often a character may be looked at, on the average, before the line counts as tangled.
const LOOKS: usize = 32;

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
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Unparsed::Deep);
        }
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
        self.depth -= 1;
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
                Some("time") => {
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
                Some("in") | None => return self.simple(),
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
                return Ok(expanding(inside));
            }
            self.at = start;
        }
        self.at += 1;
        let list = self.list()?;
        self.expect(")")?;
        Ok(Kind::Subshell(list))
    }

    fn condition(&mut self) -> Result<Kind> {
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
        })
    }

    fn do_done(&mut self) -> Result<List> {
        self.expect("do")?;
        let list = self.list()?;
        self.expect("done")?;
        Ok(list)
    }

    fn for_loop(&mut self) -> Result<Kind> {
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
        })
    }

    fn words_to_separator(&mut self, words: &mut Vec<Raw>) -> Result<()> {
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

    fn case(&mut self) -> Result<Kind> {
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
        Ok(Kind::Perhaps { words, bodies })
    }

    /// `[[ … ]]`: its terms are words, whatever the operators between them mean.
    fn test(&mut self) -> Result<Kind> {
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
        })
    }

    /// What follows a function's name.
    fn function(&mut self) -> Result<Kind> {
        self.skip_blanks();
        if self.take("(") {
            self.skip_blanks();
            self.expect(")")?;
        }
        self.skip_lines()?;
        Ok(Kind::Function(self.nested_command()?))
    }

    fn coprocess(&mut self) -> Result<Kind> {
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

    fn nested_command(&mut self) -> Result<List> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Unparsed::Deep);
        }
        let command = self.command()?;
        self.depth -= 1;
        let step = Step {
            joined: Joined::Then,
            pipeline: vec![command],
            background: false,
        };
        Ok(vec![step])
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

    fn redirections(&mut self) -> Result<Vec<Redirection>> {
        let mut redirections = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirection()? {
                Some(redirection) => redirections.push(redirection),
                None => return Ok(redirections),
            }
        }
    }

    /// Reads a redirection with the descriptor before it, where one stands here.
    fn redirection(&mut self) -> Result<Option<Redirection>> {
        let start = self.at;
        if self.looking_at("&>") {
            self.at += 2;
            self.take(">");
            return Ok(Some(Redirection::Write(self.target()?)));
        }
        self.descriptor();
        let redirection = if !matches!(self.byte(0), Some(b'<' | b'>'))
            || (self.at == start && self.byte(1) == Some(b'('))
        {
            self.at = start;
            return Ok(None);
        } else if self.take("<<<") {
            Redirection::HereString(self.target()?)
        } else if self.take("<<") {
            self.here_document()?
        } else if self.take("<>") || self.take(">>") || self.take(">|") {
            Redirection::Write(self.target()?)
        } else if self.take(">&") {
            Redirection::Duplicate(self.target()?)
        } else if self.take("<&") || self.take("<") {
            Redirection::Read(self.target()?)
        } else {
            self.at += 1;
            Redirection::Write(self.target()?)
        };
        Ok(Some(redirection))
    }

    /// Takes `3` or `{name}` where an operator follows at once.
    fn descriptor(&mut self) {
        let start = self.at;
        if self.take("{") {
            while self.byte(0).is_some_and(is_name) {
                self.at += 1;
            }
            if self.at == start + 1 || !self.take("}") {
                self.at = start;
            }
        } else {
            while self.byte(0).is_some_and(|byte| byte.is_ascii_digit()) {
                self.at += 1;
            }
        }
        if !matches!(self.byte(0), Some(b'<' | b'>')) {
            self.at = start;
        }
    }

    fn target(&mut self) -> Result<Raw> {
        self.skip_blanks();
        self.word()
    }

    fn here_document(&mut self) -> Result<Redirection> {
        let tabs = self.take("-");
        let word = self.target()?;
        let mut delimiter = String::new();
        let mut quoted_anywhere = false;
        for piece in word.0 {
            let Piece::Text { text, quoted } = piece else {
                return Err(Unparsed::HereDocument);
            };
            delimiter.push_str(&text);
            quoted_anywhere |= quoted;
        }
        let number = self.here_documents.len();
        self.here_documents.push(Raw::default());
        self.pending.push(Pending {
            number,
            delimiter,
            quoted: quoted_anywhere,
            tabs,
        });
        Ok(Redirection::HereDocument(number))
    }

    /// Reads the texts of the here-documents that were announced on the line that just ended.
    fn here_texts(&mut self) -> Result<()> {
        for pending in std::mem::take(&mut self.pending) {
            let text = self.here_text(&pending)?;
            let pieces = if pending.quoted {
                vec![Piece::Text { text, quoted: true }]
            } else {
                self.here_pieces(&text)?
            };
            if let Some(place) = self.here_documents.get_mut(pending.number) {
                *place = Raw(pieces);
            }
        }
        Ok(())
    }

    fn here_text(&mut self, pending: &Pending) -> Result<String> {
        let mut text = String::new();
        loop {
            let rest = &self.line[self.at..];
            if rest.is_empty() {
                return Err(Unparsed::HereDocument);
            }
            let (line, length) = rest
                .split_once('\n')
                .map_or((rest, rest.len()), |(line, _)| (line, line.len() + 1));
            self.burn(length)?;
            let line = if pending.tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if line == pending.delimiter {
                self.at += length;
                return Ok(text);
            }
            self.at += length;
            text.push_str(line);
            text.push('\n');
        }
    }

    /// Skips blanks and comments.
    fn skip_blanks(&mut self) {
        loop {
            match self.byte(0) {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.byte(1) == Some(b'\n') => self.at += 2,
                Some(b'#') if self.begins_word() => {
                    let rest = &self.line[self.at..];
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// Skips blanks, comments and line breaks, and reads the here-documents between them.
    fn skip_lines(&mut self) -> Result<()> {
        loop {
            self.skip_blanks();
            if self.byte(0) != Some(b'\n') {
                return Ok(());
            }
            self.at += 1;
            self.here_texts()?;
        }
    }

    /// The reserved word that stands here, if one does.
    fn reserved(&self) -> Option<&'static str> {
        const RESERVED: &[&str] = &[
            "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until",
            "for", "select", "in", "function", "time", "coproc", "{", "}", "!", "[[",
        ];
        RESERVED.iter().copied().find(|word| {
            let end = self.at + word.len();
            self.looking_at(word)
                && (self.ends_word(end)
                    || (*word == "!" && self.line.as_bytes().get(end) == Some(&b'(')))
        })
    }

    /// Moves behind the letters that stand here: a reserved word that was looked at.
    fn word_taken(&mut self) {
        while self.byte(0).is_some_and(is_name) {
            self.at += 1;
        }
    }

    fn expect(&mut self, token: &'static str) -> Result<()> {
        self.skip_lines()?;
        let is_word = token.bytes().all(is_name) || token == "}";
        if self.looking_at(token) && (!is_word || self.ends_word(self.at + token.len())) {
            self.at += token.len();
            Ok(())
        } else {
            Err(Unparsed::Missing(token))
        }
    }

    fn burn(&mut self, amount: usize) -> Result<()> {
        self.fuel = self.fuel.checked_sub(amount).ok_or(Unparsed::Tangled)?;
        Ok(())
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.line.as_bytes().get(self.at + ahead).copied()
    }

    fn peek(&self) -> Option<char> {
        self.line[self.at..].chars().next()
    }

    fn looking_at(&self, token: &str) -> bool {
        self.line.as_bytes()[self.at..].starts_with(token.as_bytes())
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.looking_at(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn ends_word(&self, at: usize) -> bool {
        self.line
            .as_bytes()
            .get(at)
            .is_none_or(|&byte| is_meta(byte))
    }

    fn begins_word(&self) -> bool {
        self.at == 0 || is_meta(self.line.as_bytes()[self.at - 1])
    }
}

/// An arithmetic command: nothing runs but what its expression expands.
fn expanding(inside: Vec<Piece>) -> Kind {
    Kind::Perhaps {
        words: vec![Raw(inside)],
        bodies: Vec::new(),
    }
}

fn is_meta(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'
    )
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
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
