//! Answers that persons give outside of the host: to requests for approval, and trust.

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use workflow_core::diagnostic::visible;
use workflow_core::effect::ApprovalRequest;
use workflow_core::event::{ApprovalDecision, PlatformEvent};

use crate::platform::answers::ancestry::ProcessJudgement;
#[cfg(unix)]
use crate::platform::answers::answer_socket::AnswerSocket;
use crate::platform::answers::answer_socket::{Request, SocketAnswer, SocketReply};
use crate::platform::answers::approvals::{Approvals, RequestFile, StoredRequest};
use crate::platform::answers::open_requests::{OpenRequests, Opened, ShownCode};
use crate::platform::answers::stored_answers::StoredAnswers;
use crate::platform::effects::SessionContext;
use crate::platform::file_excerpt::ShownFile;
use crate::platform::open_sessions::OpenSessions;
use crate::store::AnswerRight;

/// The open requests for approval of all sessions, and the socket that takes answers to them.
#[derive(Debug, Default)]
pub(super) struct OutsideAnswers {
    requests: Arc<Mutex<OpenRequests>>,
    /// Open from the first session on.
    #[cfg(unix)]
    socket: Mutex<Option<AnswerSocket>>,
}

impl OutsideAnswers {
    /// Opens the socket, once.
    #[cfg(unix)]
    pub(super) fn open(&self, agent_dir: &Path, sessions: &OpenSessions) {
        let mut open = self.socket.lock();
        if open.is_some() {
            return;
        }
        let approvals = match Approvals::in_agent_dir(agent_dir) {
            Ok(approvals) => approvals,
            Err(error) => {
                tracing::warn!("answers from a terminal cannot be taken while this runs: {error}");
                return;
            }
        };
        let (requests, sessions) = (Arc::clone(&self.requests), sessions.clone());
        let handle = move |request: Request, by| {
            let settled = request.clone();
            // Reported without the lock: the server may wait for it while it has its own.
            let (reply, shown) = reply(request, by, &mut requests.lock(), &approvals);
            if let Some(shown) = shown {
                show_code(shown, &sessions);
            }
            if reply == SocketReply::Noted {
                report(settled, &requests, &sessions);
            }
            reply
        };
        match AnswerSocket::open(agent_dir, handle) {
            Ok(socket) => *open = Some(socket),
            Err(error) => {
                tracing::warn!("answers from a terminal cannot be taken while this runs: {error}");
            }
        }
    }

    /// The answers to the requests that others store.
    pub(super) fn stored(&self, sessions: &OpenSessions) -> StoredAnswers {
        StoredAnswers::new(&self.requests, sessions)
    }

    /// Takes no more answers.
    pub(super) fn close(&self) {
        #[cfg(unix)]
        drop(self.socket.lock().take());
    }

    /// Stores an approval request, and opens it for answers.
    pub(super) fn request(
        &self,
        session: &SessionContext<'_>,
        request: ApprovalRequest,
    ) -> Option<PlatformEvent> {
        let agent_dir = session.project.agent_dir;
        // A relative directory is a name in a transcript.
        if !agent_dir.is_absolute() {
            return None;
        }
        let known = request.seal.clone();
        let known_to_session = known.is_some();
        let request = stored_request(session, request)?;
        let approvals = match Approvals::in_agent_dir(agent_dir) {
            Ok(approvals) => approvals,
            Err(error) => {
                let reason = error.to_string();
                return Some(PlatformEvent::ApprovalNotStored { reason });
            }
        };
        let sidecar = self.socket_name();
        let nonce = request.nonce.clone();
        let opened = {
            // An answer notes its choice in the stored request, so none may come between.
            let mut requests = self.requests.lock();
            let opened = requests.open(session.id, &request, known, &approvals);
            let opened = opened
                .inspect_err(|error| tracing::warn!("no code can be made: {error}"))
                .ok();
            let file = RequestFile {
                seal: opened.as_ref().map(|opened| opened.seal.clone()),
                sidecar,
                choice: opened.as_ref().and_then(|opened| opened.choice.clone()),
                request,
            };
            if let Err(error) = approvals.store_request(&file) {
                tracing::warn!("what a run waits for cannot be kept for the user: {error}");
                return Some(PlatformEvent::ApprovalNotStored {
                    reason: error.to_string(),
                });
            }
            opened?
        };
        let Opened { code, seal, choice } = opened;
        // Made in an earlier process, or before the session was restored.
        if known_to_session && let Some(choice) = choice {
            return Some(PlatformEvent::ApprovalAnswered {
                nonce,
                choice,
                is_earlier: true,
            });
        }
        // A code is random.
        let code = code.filter(|_| !session.is_virtual)?;
        if !session.session.has_dialogs() {
            tracing::warn!("a run waits for `workflow-sidecar approve`; the code is {code}");
        }
        Some(PlatformEvent::ApprovalRequested { seal, code })
    }

    #[cfg(unix)]
    fn socket_name(&self) -> Option<String> {
        self.socket
            .lock()
            .as_ref()
            .map(|socket| socket.name().to_owned())
    }

    #[cfg(not(unix))]
    fn socket_name(&self) -> Option<String> {
        None
    }

    /// Reads the answer to a request; `None` if the session has no phase.
    pub(super) fn read(
        &self,
        session: &SessionContext<'_>,
        request: ApprovalRequest,
    ) -> Option<(Option<ApprovalDecision>, Option<String>)> {
        let known = request.seal.clone();
        let request = stored_request(session, request)?;
        let mut requests = self.requests.lock();
        let approvals = Approvals::in_agent_dir(session.project.agent_dir);
        if let Ok(approvals) = approvals
            && (cfg!(not(unix)) || approvals.answer_right() == AnswerRight::MayRead)
        {
            requests.take_stored(&request, known.as_deref(), &approvals);
        }
        let decision = requests.decision(&request);
        Some((decision, requests.comment(&request.task_id)))
    }

    /// Forgets the request of a run.
    pub(super) fn clear(&self, task_id: &str, agent_dir: &Path) {
        self.requests.lock().close(task_id);
        match Approvals::in_agent_dir(agent_dir) {
            Ok(approvals) => approvals.clear(task_id),
            Err(error) => tracing::warn!("{error}"),
        }
    }
}

/// Replies to a process that has been judged. Returns a code that is to be shown to the person.
fn reply(
    request: Request,
    by: ProcessJudgement,
    requests: &mut OpenRequests,
    approvals: &Approvals,
) -> (SocketReply, Option<ShownCode>) {
    match (request, by) {
        (Request::Judge, by) => (SocketReply::Judged(by), None),
        (Request::Answer(answer), by) => requests.answer(*answer, &by, approvals),
        (_, ProcessJudgement::Agent(why)) => (SocketReply::Refused(why), None),
        (Request::TrustCode { project }, by) => match (requests.trust_code(&project), by) {
            (Ok(shown), ProcessJudgement::Unclear(why)) => (SocketReply::CodeNeeded(why), shown),
            (Ok(_), _) => (SocketReply::Noted, None),
            (Err(error), _) => (
                SocketReply::Refused(format!("no code can be made: {error}")),
                None,
            ),
        },
        (Request::CheckTrust { project, code }, _) => (requests.check_trust(&project, &code), None),
        // Nothing is trusted by this: it has the store looked at again.
        (Request::Trusted { .. }, _) => (SocketReply::Noted, None),
    }
}

/// Reports to the sessions what a person has settled outside of the host.
fn report(settled: Request, requests: &Mutex<OpenRequests>, sessions: &OpenSessions) {
    match settled {
        Request::Answer(answer) => {
            let SocketAnswer {
                request, choice, ..
            } = *answer;
            let session = requests.lock().session(&request.task_id);
            if let Some(session) = session {
                let event = PlatformEvent::ApprovalAnswered {
                    nonce: request.nonce,
                    choice,
                    is_earlier: false,
                };
                sessions.report(session, event);
            }
        }
        Request::Trusted { project } => {
            for session in sessions.all_in(Path::new(&project)) {
                sessions.report(session, PlatformEvent::ProjectTrusted);
            }
        }
        Request::Judge | Request::TrustCode { .. } | Request::CheckTrust { .. } => {}
    }
}

/// Shows a code to the person: in the host, and in the log.
fn show_code(shown: ShownCode, sessions: &OpenSessions) {
    let ShownCode {
        session,
        code,
        purpose,
    } = shown;
    let purpose = visible(&purpose);
    tracing::warn!("to {purpose} in a terminal, the code is {code}");
    let session = session.unwrap_or_else(|| sessions.newest());
    sessions.report(session, PlatformEvent::CodeNeeded { code, purpose });
}

/// An approval request with what the user must know of its run.
fn stored_request(session: &SessionContext<'_>, request: ApprovalRequest) -> Option<StoredRequest> {
    let view = session.session.view()?;
    let phase = view.phase.as_ref()?;
    let ApprovalRequest {
        approval,
        nonce,
        about,
        consequences,
        seal: _,
    } = request;
    let cwd = session.project.cwd;
    let shown_file = approval.show.as_deref();
    let shown_file = shown_file.map(|path| ShownFile::read(path, cwd));
    Some(StoredRequest {
        task_id: view.state.task_id.clone(),
        step: view.state.global_step_count,
        nonce,
        workflow: phase.workflow_name.to_owned(),
        phase: phase.name.to_owned(),
        task: view.state.task_description.clone(),
        cwd: cwd.to_path_buf(),
        ask: approval.ask,
        choices: approval.choices,
        show: approval.show,
        shown_file,
        about,
        consequences,
    })
}
