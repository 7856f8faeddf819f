//! Truth values that may be unknown.

/// A truth value that may be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// It is so.
    Yes,
    /// It is not so.
    No,
    /// It cannot be determined, and counts against the call.
    Unknown,
}

impl From<bool> for Known {
    fn from(is_true: bool) -> Self {
        if is_true { Self::Yes } else { Self::No }
    }
}
