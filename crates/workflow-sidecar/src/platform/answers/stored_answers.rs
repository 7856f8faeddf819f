//! Answers that approvers on other machines store while a run waits here.
//!
//! Owns when the store is asked for them. What counts as an answer is up to [`OpenRequests`].

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use workflow_core::event::PlatformEvent;

use super::approvals::Approvals;
use super::open_requests::OpenRequests;
use crate::platform::open_sessions::OpenSessions;
use crate::store::AnswerRight;

/// Time between two looks. Each is a connection for each run that waits.
pub(in crate::platform) const INTERVAL: Duration = Duration::from_secs(5);

/// The open requests of this process, and who is notified of an answer.
#[derive(Clone)]
pub(in crate::platform) struct StoredAnswers {
    requests: Arc<Mutex<OpenRequests>>,
    sessions: OpenSessions,
    /// True if the store has answers of approvers. A role does not change often enough to ask each time.
    are_proved: Arc<OnceLock<bool>>,
}

impl StoredAnswers {
    pub(in crate::platform) fn new(
        requests: &Arc<Mutex<OpenRequests>>,
        sessions: &OpenSessions,
    ) -> Self {
        Self {
            requests: Arc::clone(requests),
            sessions: sessions.clone(),
            are_proved: Arc::default(),
        }
    }

    /// Returns true if a run waits, and the store is one in which an approver can answer.
    pub(in crate::platform) fn may_come(&self, agent_dir: &Path) -> bool {
        let waits = !self.requests.lock().undecided().is_empty();
        waits
            && *self.are_proved.get_or_init(|| {
                let approvals = Approvals::in_agent_dir(agent_dir);
                approvals.is_ok_and(|approvals| approvals.answer_right() == AnswerRight::MayRead)
            })
    }

    /// Looks for answers to the open requests, and reports them.
    pub(in crate::platform) fn look(&self, agent_dir: &Path) {
        // The next look warns again, and so does the call that needs the store.
        let Ok(approvals) = Approvals::in_agent_dir(agent_dir) else {
            return;
        };
        let undecided = self.requests.lock().undecided();
        for (session, request) in undecided {
            // The store is asked without the lock, since calls of tools may wait for it.
            let Some(decision) = approvals.decision(&request) else {
                continue;
            };
            let right = approvals.answer_right();
            let choice = decision.choice.clone();
            if !self
                .requests
                .lock()
                .take_of_approver(&request, decision, right)
            {
                continue;
            }
            let event = PlatformEvent::ApprovalAnswered {
                nonce: request.nonce,
                choice,
                is_earlier: false,
            };
            self.sessions.report(session, event);
        }
    }
}

#[cfg(test)]
#[cfg(all(unix, feature = "postgres"))]
mod tests {
    use std::sync::mpsc::channel;

    use super::super::approvals::tests::{approval_of_approver, approvals_of, stored_request};
    use super::super::approvals::{RequestFile, StoredRequest};
    use super::*;
    use crate::store::tests::server::Server;

    fn request(ask: &str) -> StoredRequest {
        StoredRequest {
            ask: ask.to_owned(),
            ..stored_request()
        }
    }

    fn store(approvals: &Approvals, asked: StoredRequest) {
        let file = RequestFile {
            request: asked,
            seal: None,
            sidecar: None,
            choice: None,
        };
        approvals.store_request(&file).unwrap();
    }

    fn approve(approvals: &Approvals, asked: &StoredRequest) {
        let stored = approvals.store_decision(asked, &approval_of_approver(asked));
        assert!(stored.unwrap());
    }

    #[test]
    fn an_answer_of_an_approver_is_reported_once_and_one_to_another_question_never() {
        let Some(server) = Server::start() else {
            return;
        };
        let (agent_dir, of_agent) = approvals_of(&server, "agent");
        let (_, of_approver) = approvals_of(&server, "approver");
        let requests = Arc::new(Mutex::new(OpenRequests::default()));
        let (reported, reports) = channel();
        let sessions = OpenSessions::default();
        sessions.listen(move |report| {
            reported.send(report).unwrap();
            None
        });
        let answers = StoredAnswers::new(&requests, &sessions);
        assert!(!answers.may_come(&agent_dir), "nothing waits");
        let asked = request("Plan OK?");
        requests.lock().open("s", &asked, None, &of_agent).unwrap();
        assert!(answers.may_come(&agent_dir));
        let harmless = request("Is it sunny?");
        store(&of_agent, harmless.clone());
        approve(&of_approver, &harmless);
        answers.look(&agent_dir);
        assert!(reports.try_recv().is_err(), "it answers another question");
        store(&of_agent, asked.clone());
        approve(&of_approver, &asked);
        answers.look(&agent_dir);
        answers.look(&agent_dir);
        let report = reports.try_recv().unwrap();
        assert_eq!(report.session, "s");
        let is_approval = matches!(
            &report.event,
            PlatformEvent::ApprovalAnswered { nonce, choice, is_earlier: false }
                if nonce == "n" && choice == "approve"
        );
        assert!(is_approval, "{report:?}");
        assert!(reports.try_recv().is_err(), "it is reported once");
        assert!(!answers.may_come(&agent_dir), "nothing waits any more");
    }

    #[test]
    fn a_store_of_one_machine_is_not_asked() {
        let agent_dir = tempfile::tempdir().unwrap();
        let approvals = Approvals::in_agent_dir(agent_dir.path()).unwrap();
        let requests = Arc::new(Mutex::new(OpenRequests::default()));
        let asked = request("Plan OK?");
        requests.lock().open("s", &asked, None, &approvals).unwrap();
        let answers = StoredAnswers::new(&requests, &OpenSessions::default());
        assert!(!answers.may_come(agent_dir.path()));
    }
}
