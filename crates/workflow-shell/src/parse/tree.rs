//! What a shell line consists of, as far as it matters for what runs and what is written.
//!
//! Owns the shapes only. Compound commands keep their bodies and forget their conditions' meaning:
//! everything that could run counts as run.

/// A list of pipelines, as in a file, a subshell or a command substitution.
pub(super) type List = Vec<Step>;

/// One pipeline of a list, and what joins it to the one before.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) joined: Joined,
    pub(super) pipeline: Vec<Command>,
    /// `&` behind it: it runs in a shell of its own.
    pub(super) background: bool,
}

/// How a pipeline follows the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joined {
    /// `;`, a line break, or nothing before it.
    Then,
    /// `&&`: the one before succeeded.
    And,
    /// `||`: the one before failed.
    Or,
}

/// One command with its redirections.
#[derive(Debug, Clone)]
pub(super) struct Command {
    pub(super) kind: Kind,
    pub(super) redirections: Vec<Redirection>,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Simple(Plain),
    /// `{ …; }`: runs here.
    Group(List),
    /// `( … )`: runs in a shell of its own.
    Subshell(List),
    /// A function's body: runs where the function is called, if it is.
    Function(List),
    /// Loops and conditions: may run here, once, often or never. `words` are what
    /// they expand: the items of a `for`, the patterns of a `case`, the terms of a test.
    Perhaps {
        words: Vec<Raw>,
        bodies: Vec<List>,
        /// Whether the words behind the first are what a loop goes through.
        loops: bool,
    },
}

/// A simple command before anything is known about its program.
#[derive(Debug, Clone, Default)]
pub(super) struct Plain {
    pub(super) assignments: Vec<Assignment>,
    pub(super) words: Vec<Raw>,
}

/// `NAME=value` before a command, or alone.
#[derive(Debug, Clone)]
pub(super) struct Assignment {
    pub(super) name: String,
    pub(super) value: Raw,
    /// Whether the value is all there is to the variable: no `+=`, no array, no index.
    pub(super) whole: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Redirection {
    /// `< file`, `<& 3`, `>& 1`: opens nothing for writing.
    Read(Raw),
    /// `> file` and its kin.
    Write(Raw),
    /// `>& word`: a descriptor, or a file.
    Duplicate(Raw),
    /// `<<< word`
    HereString(Raw),
    /// `<< WORD`, by its number among the line's here-documents.
    HereDocument(usize),
}

/// A word as it is written.
#[derive(Debug, Clone, Default)]
pub(super) struct Raw(pub(super) Vec<Piece>);

/// A part of a word.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    Text {
        text: String,
        quoted: bool,
    },
    /// `$(…)`, backquotes.
    Substitution(List),
    /// `<(…)`, `>(…)`
    Process(List),
    /// `$name`, `${…}`, `$((…))`. The name is there where nothing but the variable's value comes
    /// out; `inside` is what is expanded on the way.
    Expansion {
        name: Option<String>,
        quoted: bool,
        inside: Vec<Piece>,
    },
    /// `(a b c)` as the value of an assignment.
    Array(Vec<Raw>),
}
