//! Requests that wait: those of the host for an output of their session, ours for the answer of the host.

use std::collections::HashMap;

use jsonrpsee::types::Id;
use workflow_core::approval::ShownFile;
use workflow_core::diagnostic::visible;
use workflow_core::effect::Question;
use workflow_core::types::RequestId;
use workflow_protocol::Error;

/// The result of a call, or the reason why it has none. `None` if the answer is an output of the session.
pub(super) type HandlerResult<R> = Result<Option<R>, Error>;

/// The requests that are not answered yet.
#[derive(Debug, Default)]
pub(super) struct PendingRequests {
    /// The id of the call in progress; `None` for a notification.
    pub(super) current: Option<Id<'static>>,
    /// The number of requests so far.
    count: u64,
    pending: HashMap<RequestId, PendingRequest>,
}

/// A request of the host.
#[derive(Debug)]
pub(super) struct PendingRequest {
    /// `None` for a notification, which gets no answer.
    pub(super) id: Option<Id<'static>>,
    pub(super) kind: RequestKind,
    /// The span in the log, which ends with the answer.
    _span: tracing::Span,
}

/// The kind of a request, which the kind of its answer has to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    Command,
    ToolCall,
    Branch,
    /// A call of `workflow_step`, by its session and the host's id of the call.
    Step {
        session: String,
        call: String,
    },
}

impl PendingRequests {
    /// Makes the call in progress a request of a session.
    pub(super) fn open(&mut self, kind: RequestKind) -> (RequestId, PendingRequest) {
        self.count += 1;
        let request = PendingRequest {
            id: self.current.take(),
            kind,
            _span: tracing::Span::current(),
        };
        (RequestId(self.count), request)
    }

    /// Keeps a request until it is answered.
    pub(super) fn keep(&mut self, id: RequestId, request: PendingRequest) {
        self.pending.insert(id, request);
    }

    /// Takes the request that is answered.
    pub(super) fn take(&mut self, id: RequestId) -> Option<PendingRequest> {
        self.pending.remove(&id)
    }

    /// Finds a pending call of `workflow_step` under the host's id of the call.
    pub(super) fn find_step(&self, of_session: &str, with_id: &str) -> Option<RequestId> {
        let is_it = |kind: &RequestKind| matches!(kind, RequestKind::Step { session, call } if session == of_session && call == with_id);
        let mut pending = self.pending.iter();
        let (id, _) = pending.find(|(_, request)| is_it(&request.kind))?;
        Some(*id)
    }
}

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
