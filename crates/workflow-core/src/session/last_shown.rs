//! What the user was shown last: an answer that does not name its question counts for this alone.

use serde::{Deserialize, Serialize};

/// The texts that the user was shown since the last answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum LastShown {
    #[default]
    Nothing,
    One(String),
    /// Nobody knows which one of them an answer is about.
    Several,
}

impl LastShown {
    /// Notes a text that the user did not ask for.
    pub(crate) fn note(&mut self, text: String) {
        let shown = Self::One(text);
        if *self == Self::Nothing {
            *self = shown;
        } else if *self != shown {
            *self = Self::Several;
        }
    }

    /// Returns true if the user was shown this text alone. The caller shows any other one to a user who has answered.
    pub(crate) fn is(&mut self, text: String) -> bool {
        let before = std::mem::replace(self, Self::One(text));
        before == *self
    }
}
