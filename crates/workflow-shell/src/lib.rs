//! Reads shell lines: which simple commands one runs, and whether and where it writes files.
//!
//! It must not run anything and reads no files: what it says, the line itself says. How a line
//! becomes a verdict:
//!
//! 1. `parse` reads it as bash's grammar has it. What it does not know, it refuses.
//! 2. `reader` walks what came of that: it follows directories and the few variables whose value is
//!    plain, and notes redirections. Everything that could run counts as run.
//! 3. `runners` says which command stands behind a command: wrappers, `xargs`, `find -exec`, `sh -c`,
//!    scripts on an input. Those are read in the same way.
//! 4. What a program writes is said, in this order, by `special` (`sed`, `awk`, `tar`, `dd`, `find`,
//!    `make`, `sqlite3`), `code` (what `python -c` and the like name) and the rows of the tables.
//!
//! What else it touches is said by `touches`: the words that may be paths, globs among them, and what
//! is removed, moved or copied with all that is in it.
//!
//! The tables decide so:
//!
//! - Programs (`programs`) read unless a row says when they write, and where: at their operands, at
//!   an option's value, somewhere.
//! - Git, and version control and package managers that are listed by what reads (`git`, `packages`):
//!   whatever is not listed writes.
//! - Cargo, Go, system package managers and build tools are listed by what writes: building, testing
//!   and linting read, although they fill their own output directories.
//! - Interpreters with a file, and programs of the project, read: the line does not say what they do.
//!   Code in the line is searched for names that write. Input from another command cannot be told.
//! - Scripts of `package.json` read if their name says that they check; others cannot be told.
//!
//! Depth, steps and the text that is read again are counted, so any line is answered in time linear
//! in its length. `docs/THREAT-MODEL.md` says what a line can hide.

mod arguments;
mod code;
mod git;
mod languages;
mod packages;
mod parse;
mod pattern;
mod programs;
mod reader;
mod runners;
mod scope;
mod special;
mod table;
mod touches;
mod tree;
mod word;

pub use pattern::{matches, matches_exactly};
pub use word::Word;

/// The longest line that is read, in bytes.
pub const LONGEST_LINE: usize = 256 * 1024;

/// What a shell line does, as far as the line itself says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Each simple command it runs or may run, in the order in which they stand: those in
    /// substitutions and behind wrappers too, each wrapper before what it runs.
    pub commands: Vec<Simple>,
    /// Whether and where it writes.
    pub writes: Writes,
    /// The places that it touches in any way, as far as the line says: those that it writes too.
    pub touches: Vec<Touch>,
}

/// A place that a line touches.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Touch {
    /// The path, seen from the directory in which the line starts. `~` is the home directory, NUL stands
    /// for what only the running shell knows.
    pub path: String,
    /// Whether `*`, `?` and `[…]` in it stand for other characters.
    pub is_pattern: bool,
    /// What happens there.
    pub change: Change,
}

/// What a line does to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    /// It names it.
    Read,
    /// It reads it and all that is in it.
    Copied,
    /// It writes it.
    Written,
    /// It moves or changes it and all that is in it.
    Replaced,
    /// It removes it and all that is in it.
    Removed,
    /// A program writes what it likes in it.
    Own,
}

impl Line {
    /// What two lines do together.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.commands.extend(other.commands);
        self.touches.extend(other.touches);
        self.writes = match (self.writes, other.writes) {
            (why @ Writes::Unreadable(_), _) | (_, why @ Writes::Unreadable(_)) => why,
            (Writes::No, writes) | (writes, Writes::No) => writes,
            (Writes::Yes(mut all), Writes::Yes(more)) => {
                all.extend(more);
                Writes::Yes(all)
            }
        };
        self
    }
}

impl Touch {
    fn new(path: String, is_pattern: bool, change: Change) -> Self {
        Self {
            path,
            is_pattern,
            change,
        }
    }

    /// Forgets from where the path is seen.
    fn unmoor(&mut self) {
        if !self.path.starts_with(['/', '~', '\0']) {
            self.path.insert_str(0, "\0/");
        }
    }
}

impl Change {
    /// Whether all that is in a directory is touched with it.
    #[must_use]
    pub fn is_whole(self) -> bool {
        !matches!(self, Self::Read | Self::Written)
    }

    /// Whether something is written.
    #[must_use]
    pub fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::Copied)
    }
}

/// A simple command: a program's name and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    /// Name and arguments, quotes removed.
    pub words: Vec<Word>,
}

/// Whether a line writes files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Writes {
    /// Nothing in it writes.
    No,
    /// These do.
    Yes(Vec<Write>),
    /// It cannot be told; counts as writing anywhere.
    Unreadable(Unreadable),
}

/// One thing that writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// What it is, for people: "a redirection", "`sed -i`". Short, without control characters.
    pub how: String,
    /// The file or directory, exactly as the line names it (control characters too), seen from the
    /// directory in which the line starts; `~` is the home directory. `None` where only the running shell knows: anywhere.
    pub path: Option<String>,
    /// The same, with what is known of it otherwise.
    spot: touches::Spot,
}

/// Why it cannot be told whether a line writes. Its texts hold no control characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Nothing a person or an agent writes in earnest.
    #[error("it is longer than {LONGEST_LINE} bytes")]
    Long,
    /// It is no shell line, or none that is understood.
    #[error("it cannot be parsed: {0}")]
    Unparsed(String),
    /// The program's name comes out of an expansion.
    #[error("which program `{0}` is, only the shell knows")]
    Program(String),
    /// A shell or an interpreter runs what is not in the line.
    #[error("what `{0}` runs is not in the line")]
    Unseen(String),
    /// Reading it takes more work than a line of its length is worth.
    #[error("it is too tangled")]
    Tangled,
    /// Commands run commands that run commands, too often.
    #[error("commands are nested too deeply")]
    Deep,
}

impl Write {
    /// Writing to a path, or to where only the running shell knows.
    fn new(how: String, path: Option<String>) -> Self {
        let spot = match &path {
            Some(path) => touches::Spot::at(path, Change::Written),
            None => touches::Spot::anywhere(),
        };
        Self { how, path, spot }
    }

    /// Writing to what a word names.
    fn at(how: String, word: &Word) -> Self {
        let spot = touches::Spot::of(word, Change::Written);
        let path = word.path();
        Self { how, path, spot }
    }

    /// Writing where the program likes.
    fn own(how: String, program: &str) -> Self {
        let spot = touches::Spot::own(program);
        Self {
            how,
            path: None,
            spot,
        }
    }
}

impl Writes {
    /// Whether the line counts as writing.
    #[must_use]
    pub fn any(&self) -> bool {
        !matches!(self, Self::No)
    }
}

/// Reads a line.
#[must_use]
pub fn read(line: &str) -> Line {
    read_in("", line)
}

/// Reads a line that starts in another directory, as seen from the one from which paths are told.
#[must_use]
pub fn read_in(directory: &str, line: &str) -> Line {
    if line.len() > LONGEST_LINE {
        return unread(Unreadable::Long);
    }
    reader::read(directory, line)
}

/// A line of which nothing is known.
pub(crate) fn unread(why: Unreadable) -> Line {
    Line {
        commands: Vec::new(),
        writes: Writes::Unreadable(why),
        touches: Vec::new(),
    }
}
