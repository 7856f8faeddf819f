//! Files that commands and redirections write.

use crate::file_access::{AccessKind, FileAccess};
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
    pub(crate) location: FileAccess,
}

impl FileWrite {
    /// Creates a write to a path that only the running shell knows.
    pub(crate) fn anywhere(operation: String) -> Self {
        Self::within(operation, FileAccess::anywhere())
    }

    /// Creates a write to the path that a word names.
    pub(crate) fn to_word(operation: String, word: &Word) -> Self {
        let path = word.text().filter(|path| !path.is_empty());
        Self {
            path: path.map(str::to_owned),
            ..Self::within(operation, FileAccess::of(word, AccessKind::Write))
        }
    }

    /// Creates a write to a path that the program chooses in a location.
    pub(crate) fn within(operation: String, location: FileAccess) -> Self {
        Self {
            operation,
            path: None,
            location,
        }
    }
}
