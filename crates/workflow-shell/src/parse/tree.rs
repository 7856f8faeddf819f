//! Syntax tree of a line, reduced to what matters for commands and writes.
//!
//! Compound commands keep their bodies and lose the meaning of their conditions: everything that
//! could run is assumed to run.

/// A list of pipelines, as in a file, a subshell or a command substitution.
pub(crate) type List = Vec<ListItem>;

/// One pipeline of a list and its connection to the previous one.
#[derive(Debug, Clone)]
pub(crate) struct ListItem {
    pub(crate) connector: Connector,
    pub(crate) pipeline: Vec<Command>,
    /// True if `!` inverts its status: `&&` follows a failure.
    pub(crate) is_negated: bool,
}

impl ListItem {
    /// Creates one with a single command.
    pub(super) fn of(command: Command) -> Self {
        Self {
            connector: Connector::Then,
            pipeline: vec![command],
            is_negated: false,
        }
    }
}

/// The operator between a pipeline and the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connector {
    /// `;`, a line break, or the start of the list.
    Then,
    /// `&&`: the previous one succeeded.
    And,
    /// `||`: the previous one failed.
    Or,
}

/// One command with its redirections.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    pub(crate) kind: CommandKind,
    pub(crate) redirections: Vec<Redirection>,
}

#[derive(Debug, Clone)]
pub(crate) enum CommandKind {
    Simple(UnexpandedCommand),
    /// `{ …; }`: runs in the same shell.
    Group(List),
    /// `( … )`: runs in a subshell.
    Subshell(List),
    /// Loops and conditions: may run once, often or never. `words` are the words that they
    /// expand: the items of a `for`, the patterns of a `case`, the terms of a test.
    Conditional {
        words: Vec<RawWord>,
        bodies: Vec<List>,
        /// True if the words after the first are the items of a loop.
        is_loop: bool,
    },
}

impl CommandKind {
    /// Creates a condition or a loop without items.
    pub(super) fn conditional(words: Vec<RawWord>, bodies: Vec<List>) -> Self {
        Self::Conditional {
            words,
            bodies,
            is_loop: false,
        }
    }
}

/// A simple command before expansion.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnexpandedCommand {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<RawWord>,
}

/// `NAME=value` before a command, or alone.
#[derive(Debug, Clone)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) value: RawWord,
    /// True if the variable has exactly this value afterwards: no `+=`, no array, no index.
    pub(crate) is_complete: bool,
    /// True if an element is assigned: its index is an arithmetic expression.
    pub(crate) has_index: bool,
}

/// A redirection of a descriptor.
#[derive(Debug, Clone)]
pub(crate) struct Redirection {
    /// The descriptor before the operator; without it, the standard input or output.
    pub(crate) descriptor: Option<u32>,
    pub(crate) kind: RedirectionKind,
    /// The word behind the operator; empty for a here-document.
    pub(crate) target: RawWord,
}

impl Redirection {
    /// Creates `2>&1`.
    pub(super) fn of_errors() -> Self {
        let text = "1".to_owned();
        let quoted = false;
        Self {
            descriptor: Some(2),
            kind: RedirectionKind::DuplicateOutput,
            target: RawWord(vec![WordPart::Text { text, quoted }]),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedirectionKind {
    /// `< file`: opens nothing for writing.
    Read,
    /// `<& 3`
    DuplicateInput,
    /// `> file` and its variants.
    Write,
    /// `>& word`: a descriptor or a file.
    DuplicateOutput,
    /// `<<< word`
    HereString,
    /// `<< WORD`, by its index among the line's here-documents.
    HereDocument(usize),
}

impl RedirectionKind {
    /// Returns whether it is of an output.
    pub(crate) fn writes(self) -> bool {
        matches!(self, Self::Write | Self::DuplicateOutput)
    }
}

/// A word as it is written.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawWord(pub(crate) Vec<WordPart>);

impl RawWord {
    /// Creates a word that is the result of an arithmetic expression.
    pub(super) fn arithmetic(inside: Vec<WordPart>) -> Self {
        Self(vec![WordPart::arithmetic(inside, true)])
    }

    /// Returns its text, unless it has expansions.
    pub(crate) fn text(&self) -> Option<&str> {
        match self.0.as_slice() {
            [WordPart::Text { text, .. }] => Some(text),
            [
                WordPart::Text { text, .. },
                WordPart::Text { text: more, .. },
            ] if text.is_empty() => Some(more),
            _ => None,
        }
    }
}

/// A part of a word.
#[derive(Debug, Clone)]
pub(crate) enum WordPart {
    Text {
        text: String,
        quoted: bool,
    },
    /// `$(…)`, backquotes.
    Substitution {
        list: List,
        quoted: bool,
    },
    /// `<(…)`, `>(…)`
    Process(List),
    Expansion(Expansion),
    /// `(a b c)` as the value of an assignment.
    Array(Vec<RawWord>),
}

impl WordPart {
    /// Creates the result of an arithmetic expression.
    pub(super) fn arithmetic(inside: Vec<Self>, quoted: bool) -> Self {
        Self::Expansion(Expansion {
            variable: None,
            kind: ExpansionKind::Number,
            is_arithmetic: true,
            quoted,
            inside,
        })
    }
}

/// `$name`, `${…}`, `$((…))`.
#[derive(Debug, Clone)]
pub(crate) struct Expansion {
    /// The variable that is read, unless it is a positional or special parameter.
    pub(crate) variable: Option<String>,
    pub(crate) kind: ExpansionKind,
    /// True if `inside` is evaluated as an arithmetic expression.
    pub(crate) is_arithmetic: bool,
    pub(crate) quoted: bool,
    /// The parts that are expanded on the way.
    pub(crate) inside: Vec<WordPart>,
}

/// The result of an expansion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExpansionKind {
    /// Exactly the value of the variable.
    Value,
    /// A text that depends on a variable or parameter.
    Text,
    /// A number: `$?`, `${#x}`, `$((…))`.
    Number,
    /// Any number of words, also in quotes: `$@`, `${a[@]}`.
    Several,
    /// The result of a second expansion, which may run commands, or of an assignment: `${!x}`, `${x@P}`, `${x:=value}`. Others fail.
    Changing,
}
