//! The requests to the host that it has not answered yet.

use workflow_core::approval::ShownFile;
use workflow_core::diagnostic::visible;
use workflow_core::effect::Question;

/// A request to the host that it has not answered yet.
pub(super) enum HostRequest {
    /// A question to the user.
    Question(HostQuestion),
    /// The command of a gate, by the session.
    Command(String),
}

/// An open question of a session.
pub(super) struct HostQuestion {
    pub(super) session: String,
    pub(super) question: Question,
    /// The file that was shown with it.
    pub(super) shown: Option<ShownFile>,
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
        let mut options = self.question.options.iter().rev();
        options
            .find(|option| visible(option) == chosen)
            .map_or(chosen, String::as_str)
    }
}
