//! Questions to the host that it has not answered yet.

use workflow_core::types::QuestionId;

/// A question of a session, as the host was asked it.
#[derive(Debug)]
pub(super) struct HostQuestion {
    pub(super) session: String,
    pub(super) question: QuestionId,
    /// False if it is answered with yes or no.
    pub(super) has_options: bool,
    /// The file that was shown with it.
    pub(super) shown: Option<ShownFile>,
}

/// A file that was shown with a question.
#[derive(Debug)]
pub(super) struct ShownFile {
    pub(super) path: String,
    /// Its state when it was shown.
    pub(super) state: String,
}
