//! Files that commands and redirections write.

use crate::file_access::{AccessKind, Location};
use crate::word::Word;

/// One file or directory that is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileWrite {
    /// The operation that writes, for display: "a redirection", "`sed -i`". Short, without control characters.
    pub operation: String,
    /// The path exactly as the line names it (control characters included), relative to the directory in which
    /// the line starts; `~` is the home directory. `None` if only the running shell knows: anywhere.
    pub path: Option<String>,
    /// The location as a file access.
    pub(crate) location: Location,
}

impl FileWrite {
    /// Creates a write to a path, or to one that only the running shell knows.
    pub(crate) fn new(operation: String, path: Option<String>) -> Self {
        let location = match &path {
            Some(path) => Location::at(path, AccessKind::Write),
            None => Location::anywhere(),
        };
        Self {
            operation,
            path,
            location,
        }
    }

    /// Creates a write to the path that a word names.
    pub(crate) fn to_word(operation: String, word: &Word) -> Self {
        Self {
            operation,
            path: word.path(),
            location: Location::of(word, AccessKind::Write),
        }
    }

    /// Creates a write to a path that the program chooses in a location.
    pub(crate) fn within(operation: String, location: Location) -> Self {
        Self {
            operation,
            path: None,
            location,
        }
    }
}
