//! Paths that a line accesses.

use crate::word::Word;

/// A path that a line accesses.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileAccess {
    /// The path, relative to the directory in which the line starts. `~` is the home directory, NUL
    /// stands for a part that only the running shell knows.
    pub path: String,
    /// True if `*`, `?` and `[…]` in it stand for other characters.
    pub is_glob: bool,
    /// The kind of access.
    pub kind: AccessKind,
}

/// The access of a line to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    /// It names the path.
    Read,
    /// An interpreter runs the path as a script.
    Run,
    /// It reads the path and everything below it.
    ReadTree,
    /// It writes the path.
    Write,
    /// It moves or changes the path and everything below it.
    ReplaceTree,
    /// It removes the path and everything below it.
    RemoveTree,
    /// It removes, moves or closes the path itself: the directory, or a link to it.
    Itself,
    /// A program writes files of its choice below the path.
    WriteWithin,
}

impl AccessKind {
    /// Returns whether everything below a directory is accessed with it.
    pub fn includes_tree(self) -> bool {
        !matches!(self, Self::Read | Self::Run | Self::Write | Self::Itself)
    }

    /// Returns whether something is written.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::Run | Self::ReadTree)
    }
}

impl FileAccess {
    /// Creates an access to the path that a word names, relative to the directory in which the command runs.
    pub(crate) fn of(word: &Word, kind: AccessKind) -> Self {
        Self {
            path: word.location(),
            is_glob: word.is_glob,
            kind,
        }
    }

    /// Creates an access to a path.
    pub(crate) fn at(path: &str, kind: AccessKind) -> Self {
        Self {
            path: path.to_owned(),
            is_glob: false,
            kind,
        }
    }

    /// Creates an access to a path that only the running shell knows: any.
    pub(crate) fn anywhere() -> Self {
        Self::at("\0", AccessKind::Write)
    }

    /// Marks the directory to which the path is relative as unknown.
    pub(crate) fn forget_directory(&mut self) {
        if !self.path.starts_with(['/', '~', '\0']) {
            self.path.insert_str(0, "\0/");
        }
    }
}
