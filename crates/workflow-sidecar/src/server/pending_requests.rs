//! Requests of the host that are answered later.

use std::collections::HashMap;

use jsonrpsee::types::Id;
use workflow_core::effect::DeferredReply;
use workflow_core::types::RequestId;

/// The requests that are answered later, and the call in progress, which may become one of them.
///
/// A call is in progress from [`begin`](Self::begin) to [`end`](Self::end). If it is decided meanwhile, it is answered at
/// once after all.
#[derive(Debug, Default)]
pub(super) struct PendingRequests {
    /// The number of requests so far.
    count: u64,
    in_progress: Option<RequestId>,
    /// The reply to the call in progress.
    immediate: Option<DeferredReply>,
    /// The call that has just ended without an answer.
    deferred: Option<(RequestId, PendingKind)>,
    pending: HashMap<RequestId, PendingRequest>,
}

/// A request that is answered later.
#[derive(Debug)]
pub(super) struct PendingRequest {
    pub(super) id: Id<'static>,
    pub(super) kind: PendingKind,
    /// The span in the log, which ends with the answer.
    _span: tracing::Span,
}

/// The kind of a request, which determines the form of its answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PendingKind {
    Command,
    ToolCall,
    Branch,
    /// A call of `workflow_step`, by its session and the host's id of the call.
    Step {
        session: String,
        call: String,
    },
}

/// The request that a deferred reply answers.
#[derive(Debug)]
pub(super) enum Resolved {
    /// The call in progress, which returns the reply itself.
    InProgress,
    Pending(PendingRequest, DeferredReply),
    /// A request without an id: only the actions matter.
    Notification(DeferredReply),
}

impl PendingRequests {
    /// Begins a call whose answer may come later.
    pub(super) fn begin(&mut self) -> RequestId {
        self.count += 1;
        let request = RequestId(self.count);
        self.immediate = None;
        self.in_progress = Some(request);
        request
    }

    /// Ends the call in progress, and gives the reply to it if there is one already.
    pub(super) fn end(&mut self) -> Option<DeferredReply> {
        self.in_progress = None;
        self.immediate.take()
    }

    /// Forgets the call in progress. It panicked and has been answered, so that a reply to it belongs to no request.
    pub(super) fn abandon(&mut self) {
        self.in_progress = None;
        self.immediate = None;
        self.deferred = None;
    }

    /// Marks the call that has just ended as one that is answered later.
    pub(super) fn defer(&mut self, request: RequestId, kind: PendingKind) {
        self.deferred = Some((request, kind));
    }

    /// Keeps the id of the call that has just been deferred. A notification has no id and gets no answer.
    pub(super) fn keep(&mut self, id: Option<Id<'static>>) {
        if let (Some((request, kind)), Some(id)) = (self.deferred.take(), id) {
            let pending = PendingRequest {
                id,
                kind,
                _span: tracing::Span::current(),
            };
            self.pending.insert(request, pending);
        }
    }

    /// Finds the request of a deferred reply.
    pub(super) fn resolve(&mut self, reply: DeferredReply) -> Resolved {
        if self.in_progress == Some(reply.request) {
            self.immediate = Some(reply);
            return Resolved::InProgress;
        }
        match self.pending.remove(&reply.request) {
            Some(pending) => Resolved::Pending(pending, reply),
            None => Resolved::Notification(reply),
        }
    }

    /// Finds a pending call of `workflow_step` under the host's id of the call.
    pub(super) fn find_step(&self, of_session: &str, with_id: &str) -> Option<RequestId> {
        let is_it = |kind: &PendingKind| matches!(kind, PendingKind::Step { session, call } if session == of_session && call == with_id);
        let mut pending = self.pending.iter();
        let (request, _) = pending.find(|(_, pending)| is_it(&pending.kind))?;
        Some(*request)
    }
}

#[cfg(test)]
impl PendingRequests {
    pub(super) fn has_call_in_progress(&self) -> bool {
        self.in_progress.is_some()
    }
}

#[cfg(test)]
mod tests {
    use workflow_core::effect::DeferredAnswer;

    use super::*;

    fn reply(request: RequestId) -> DeferredReply {
        DeferredReply {
            request,
            answer: DeferredAnswer::Command,
            actions: Vec::new(),
        }
    }

    #[test]
    fn a_reply_to_the_call_in_progress_is_returned_by_it() {
        let mut requests = PendingRequests::default();
        let request = requests.begin();
        assert!(matches!(
            requests.resolve(reply(request)),
            Resolved::InProgress
        ));
        assert_eq!(requests.end().map(|reply| reply.request), Some(request));
    }

    #[test]
    fn a_deferred_request_is_answered_once_under_its_id() {
        let mut requests = PendingRequests::default();
        let request = requests.begin();
        assert!(requests.end().is_none());
        requests.defer(request, PendingKind::Command);
        requests.keep(Some(Id::Number(7)));
        let Resolved::Pending(pending, _) = requests.resolve(reply(request)) else {
            panic!("it is pending");
        };
        assert_eq!(pending.id, Id::Number(7));
        let again = requests.resolve(reply(request));
        assert!(matches!(again, Resolved::Notification(_)));
    }

    #[test]
    fn an_abandoned_call_is_not_in_progress() {
        let mut requests = PendingRequests::default();
        let request = requests.begin();
        requests.abandon();
        let resolved = requests.resolve(reply(request));
        assert!(matches!(resolved, Resolved::Notification(_)));
    }
}
