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
    /// `&` follows: it runs in a subshell.
    pub(crate) background: bool,
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
    /// The body of a function: runs where the function is called, if at all.
    Function(List),
    /// Loops and conditions: may run once, often or never. `words` are the words that they
    /// expand: the items of a `for`, the patterns of a `case`, the terms of a test.
    Conditional {
        words: Vec<RawWord>,
        bodies: Vec<List>,
        /// True if the words after the first are the items of a loop.
        is_loop: bool,
    },
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
}

#[derive(Debug, Clone)]
pub(crate) enum Redirection {
    /// `< file`, `<& 3`, `>& 1`: opens nothing for writing.
    Read(RawWord),
    /// `> file` and its variants.
    Write(RawWord),
    /// `>& word`: a descriptor or a file.
    Duplicate(RawWord),
    /// `<<< word`
    HereString(RawWord),
    /// `<< WORD`, by its index among the line's here-documents.
    HereDocument(usize),
}

/// A word as it is written.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawWord(pub(crate) Vec<WordPart>);

/// A part of a word.
#[derive(Debug, Clone)]
pub(crate) enum WordPart {
    Text {
        text: String,
        quoted: bool,
    },
    /// `$(…)`, backquotes.
    Substitution(List),
    /// `<(…)`, `>(…)`
    Process(List),
    /// `$name`, `${…}`, `$((…))`. `name` is set if the result is exactly the variable's value;
    /// `inside` is expanded on the way.
    Expansion {
        name: Option<String>,
        quoted: bool,
        inside: Vec<WordPart>,
    },
    /// `(a b c)` as the value of an assignment.
    Array(Vec<RawWord>),
}
