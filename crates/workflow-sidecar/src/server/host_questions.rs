//! Questions to the host that it has not answered yet.

use jsonrpsee::types::Id;
use serde_json::value::RawValue;
use workflow_core::event::Answer;
use workflow_core::types::QuestionId;
use workflow_protocol::Text;

use crate::rpc::OutgoingRequests;

/// The open questions, each under the id of the request to the host.
#[derive(Debug, Default)]
pub(super) struct HostQuestions(OutgoingRequests<HostQuestion>);

impl HostQuestions {
    /// Adds a question and gives the id of its request.
    pub(super) fn add(&mut self, question: HostQuestion) -> Id<'static> {
        self.0.add(question)
    }

    /// Takes the question that a response of the host answers.
    pub(super) fn take(&mut self, id: &Id<'_>) -> Option<HostQuestion> {
        self.0.take(id)
    }

    /// Forgets the questions of a session that is gone.
    pub(super) fn forget_session(&mut self, session: &str) {
        self.0.retain(|question| question.session != session);
    }
}

/// An open question of a session.
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
    /// Its fingerprint when it was shown.
    pub(super) fingerprint: String,
}

impl HostQuestion {
    /// Reads a response of the host. One that does not fit the question counts as no answer.
    pub(super) fn read_answer<'a>(
        &self,
        id: &Id<'_>,
        result: Option<&'a RawValue>,
    ) -> HostAnswer<'a> {
        let answer = match result.map(RawValue::get) {
            Some("null") => Some(HostAnswer::Dismissed),
            Some("true") if !self.has_options => Some(HostAnswer::Confirmed(true)),
            Some("false") if !self.has_options => Some(HostAnswer::Confirmed(false)),
            Some(result) if self.has_options => {
                // The reason is evident: an option is a string.
                serde_json::from_str(result).ok().map(HostAnswer::Chosen)
            }
            Some(_) | None => None,
        };
        answer.unwrap_or_else(|| {
            tracing::warn!(%id, "the host could not ask: this counts as no answer");
            HostAnswer::Dismissed
        })
    }
}

/// An answer as it was read from a response.
#[derive(Debug)]
pub(super) enum HostAnswer<'a> {
    Confirmed(bool),
    Chosen(Text<'a>),
    Dismissed,
}

impl HostAnswer<'_> {
    /// The answer for the session. An option that was chosen counts only if the file that was shown is unchanged.
    pub(super) fn for_session(&self, is_outdated: impl FnOnce() -> bool) -> Answer<'_> {
        match self {
            Self::Confirmed(yes) => Answer::Confirmed(*yes),
            Self::Chosen(_) if is_outdated() => Answer::Outdated,
            Self::Chosen(option) => Answer::Chosen(option),
            Self::Dismissed => Answer::Dismissed,
        }
    }
}
