//! The requests to the host that it has not answered yet.

use workflow_core::diagnostic::visible;
use workflow_core::types::QuestionId;

/// A request to the host that it has not answered yet.
#[derive(Debug)]
pub(super) enum HostRequest {
    /// A question to the user.
    Question(HostQuestion),
    /// The command of a gate, by the session.
    Command(String),
}

/// An open question of a session.
#[derive(Debug)]
pub(super) struct HostQuestion {
    pub(super) session: String,
    pub(super) question: QuestionId,
    /// The choices; without options it is answered with yes or no, unless it asks for a text.
    pub(super) options: Vec<String>,
    /// True if it is answered with a line of text.
    pub(super) is_text: bool,
    /// The file that was shown with it.
    pub(super) shown: Option<QuestionFile>,
}

/// A file that was shown with a question.
#[derive(Debug)]
pub(super) struct QuestionFile {
    pub(super) path: String,
    /// Its state when it was shown.
    pub(super) state: String,
}

impl HostRequest {
    /// The session that waits for the answer.
    pub(super) fn session(&self) -> &str {
        match self {
            Self::Question(question) => &question.session,
            Self::Command(session) => session,
        }
    }
}

impl HostQuestion {
    /// The option that was shown as this text: hidden characters are shown as escapes. Of options that look the same it
    /// is the last one, because the first one approves.
    pub(super) fn option_shown_as<'a>(&'a self, chosen: &'a str) -> &'a str {
        let mut options = self.options.iter().rev();
        options
            .find(|option| visible(option) == chosen)
            .map_or(chosen, String::as_str)
    }
}
