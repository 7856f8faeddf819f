//! Questions to the host that it has not answered yet, and the commands that it runs.

use jsonrpsee::types::Id;
use serde_json::value::RawValue;
use workflow_core::diagnostic::visible;
use workflow_core::event::Answer;
use workflow_core::types::QuestionId;
use workflow_protocol::Text;

use crate::rpc::OutgoingRequests;

/// The open requests, each under its id.
#[derive(Debug, Default)]
pub(super) struct HostQuestions(OutgoingRequests<HostRequest>);

/// An open request to the host.
#[derive(Debug)]
pub(super) enum HostRequest {
    /// A question to the person.
    Question(HostQuestion),
    /// The command of a gate, by the session.
    Command(String),
}

impl HostQuestions {
    /// Adds a question and gives the id of its request.
    pub(super) fn add(&mut self, question: HostQuestion) -> Id<'static> {
        self.0.add(HostRequest::Question(question))
    }

    /// Adds a command of a session and gives the id of its request.
    pub(super) fn add_command(&mut self, session: &str) -> Id<'static> {
        self.0.add(HostRequest::Command(session.to_owned()))
    }

    /// Takes the command of a session out, and gives the id of its request.
    pub(super) fn take_command(&mut self, of_session: &str) -> Option<String> {
        let is_it = |request: &HostRequest| matches!(request, HostRequest::Command(session) if session == of_session);
        let id = self.0.find(is_it)?;
        self.0.take(&Id::Str(id.as_str().into()));
        Some(id)
    }

    /// Takes the request that a response of the host answers.
    pub(super) fn take(&mut self, id: &Id<'_>) -> Option<HostRequest> {
        self.0.take(id)
    }

    /// The id of the request for a question of a session, if the host has not answered it.
    pub(super) fn find(&self, session: &str, question: QuestionId) -> Option<String> {
        self.0.find(|request| match request {
            HostRequest::Question(open) => open.session == session && open.question == question,
            HostRequest::Command(_) => false,
        })
    }

    /// Forgets the requests of a session that is gone.
    pub(super) fn forget_session(&mut self, gone: &str) {
        self.0.retain(|request| match request {
            HostRequest::Question(question) => question.session != gone,
            HostRequest::Command(session) => session != gone,
        });
    }
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
    /// Its fingerprint when it was shown.
    pub(super) fingerprint: String,
}

impl HostQuestion {
    /// Reads a response of the host. One that does not fit the question counts as no answer.
    pub(super) fn read_answer<'a>(
        &self,
        id: &Id<'_>,
        result: Option<&'a RawValue>,
    ) -> DialogAnswer<'a> {
        let is_confirmation = self.options.is_empty() && !self.is_text;
        let answer = match result.map(RawValue::get) {
            Some("null") => Some(DialogAnswer::Dismissed),
            Some("true") if is_confirmation => Some(DialogAnswer::Confirmed(true)),
            Some("false") if is_confirmation => Some(DialogAnswer::Confirmed(false)),
            // A response that is not a string chooses nothing.
            Some(result) => serde_json::from_str::<Text<'_>>(result)
                .ok()
                .filter(|_| !is_confirmation)
                .map(|chosen| DialogAnswer::Chosen(self.option_shown_as(chosen))),
            None => None,
        };
        answer.unwrap_or_else(|| {
            tracing::warn!(%id, "the host could not ask: this counts as no answer");
            DialogAnswer::Dismissed
        })
    }
}

impl HostQuestion {
    /// The option that was shown as this text: hidden characters are shown as escapes. Of options that look the same it
    /// is the last one, because the first one approves.
    fn option_shown_as<'a>(&self, chosen: Text<'a>) -> Text<'a> {
        let mut options = self.options.iter().rev();
        match options.find(|option| visible(option) == *chosen) {
            Some(option) if **option != *chosen => option.clone().into(),
            Some(_) | None => chosen,
        }
    }
}

/// An answer as it was read from a response.
#[derive(Debug)]
pub(super) enum DialogAnswer<'a> {
    Confirmed(bool),
    Chosen(Text<'a>),
    Dismissed,
}

impl DialogAnswer<'_> {
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
