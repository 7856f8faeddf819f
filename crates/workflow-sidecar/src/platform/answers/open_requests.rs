//! The approval requests and the runs of this process, and the decisions and orders about them that the store has.
//!
//! The session has what proves a decision, and the code is only here: a row of the store decides nothing by itself.

use std::collections::HashMap;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::bail;
use parking_lot::Mutex;
use workflow_core::approval::{Decision, Proofs, Request};
use workflow_core::event::PlatformEvent;

use super::code::{Code, is_proved};
use super::notify::Notice;
use super::requests::{Requests, interval};
use crate::files::absolute;
use crate::platform::effects::SessionContext;
use crate::platform::file_excerpt;
use crate::platform::open_sessions::OpenSessions;
use crate::store::{AnswerRight, Run, StoreError, of_agent_dir};

/// The open requests of this process.
#[derive(Debug, Default)]
pub(in crate::platform) struct OpenRequests {
    /// By the ids of their runs.
    open: Mutex<HashMap<String, OpenRequest>>,
    /// The sessions of the active runs, by the ids of these.
    runs: Mutex<HashMap<String, String>>,
    /// A role does not change often enough to ask each time.
    right: OnceLock<AnswerRight>,
}

#[derive(Debug)]
struct OpenRequest {
    /// The session that asks.
    session: String,
    request: Request,
    /// The code, if this process has made it.
    code: Option<Code>,
    /// True once the session knows of the decision.
    is_reported: bool,
}

impl OpenRequests {
    /// Stores a new request, and makes its code; opens a known one again.
    pub(in crate::platform) fn request(
        &self,
        session: &SessionContext,
        request: Request,
    ) -> Option<PlatformEvent> {
        let opened = self.try_request(session, request);
        opened.unwrap_or_else(|error| {
            let reason = error.to_string();
            Some(PlatformEvent::ApprovalNotStored { reason })
        })
    }

    fn try_request(
        &self,
        session: &SessionContext,
        mut request: Request,
    ) -> anyhow::Result<Option<PlatformEvent>> {
        let (agent_dir, cwd) = (&session.agent_dir, &absolute(&session.cwd));
        // A relative directory is a name in a transcript.
        if !agent_dir.is_absolute() {
            return Ok(None);
        }
        // What proves an answer is made of the request as JSON, which has no other paths.
        if cwd.to_str().is_none() {
            bail!("the path of the project is no text: {}", cwd.display());
        }
        let requests = Requests::in_agent_dir(agent_dir)?;
        request.cwd.clone_from(cwd);
        let mut open = self.open.lock();
        let known = open.remove(&request.task_id);
        let known = known.filter(|known| known.request.id == request.id);
        let identity = session.identity();
        let is_new = request.proofs.hashes.is_empty() || request.proofs.session != identity;
        let mut code = known.and_then(|known| known.code);
        if is_new {
            request.shown_file = file_excerpt::shown_with(&request);
            // A code is random.
            if code.is_none() && !session.is_virtual {
                let made = Code::new();
                code = made
                    .inspect_err(|error| tracing::warn!("no code can be made: {error}"))
                    .ok();
            }
            let hashes = code.as_ref().map(|code| code.proofs(&request));
            request.proofs = Proofs {
                session: identity,
                hashes: hashes.unwrap_or_default(),
                shown: request.shown_file.as_ref().map(|file| file.state.clone()),
            };
            requests.put(&request)?;
        }
        // Made in an earlier process, or before the session was restored.
        let decision = (!is_new).then(|| valid_decision(&requests, &request));
        let decision = decision.flatten();
        let opened = OpenRequest {
            session: session.id.clone(),
            request: request.clone(),
            code: code.clone(),
            is_reported: decision.is_some(),
        };
        open.insert(request.task_id.clone(), opened);
        drop(open);
        if let Some(decision) = decision {
            return Ok(Some(PlatformEvent::ApprovalAnswered {
                request: request.id,
                choice: decision.choice,
                is_earlier: true,
            }));
        }
        let Some(code) = code.filter(|_| is_new) else {
            return Ok(None);
        };
        let code = code.to_string();
        Notice::of_request(&request, code.clone()).tell(agent_dir);
        Ok(Some(PlatformEvent::ApprovalRequested {
            proofs: request.proofs,
            code,
        }))
    }

    /// Reads the answer to a request.
    pub(in crate::platform) fn read(
        &self,
        session: &SessionContext,
        mut request: Request,
    ) -> PlatformEvent {
        request.cwd = absolute(&session.cwd);
        let requests = Requests::in_agent_dir(&session.agent_dir).ok();
        let decision = requests.and_then(|requests| valid_decision(&requests, &request));
        let Some(mut decision) = decision else {
            return PlatformEvent::ApprovalRead {
                decision: None,
                is_outdated: false,
            };
        };
        let now = file_excerpt::shown_with(&request);
        let is_outdated = match &decision.asked {
            // What an approver read from the store may be another text than the file's.
            Some(asked) => asked.shown_file != now,
            None => request.proofs.shown != now.map(|file| file.state),
        };
        if decision.comment.is_some() && decision.asked.is_none() {
            let open = self.open.lock();
            let open = open.get(&request.task_id);
            let is_of_user = open.is_some_and(|open| {
                let code = open.code.as_ref();
                code.is_some_and(|code| code.proves_comment(&open.request, &decision))
            });
            if !is_of_user {
                tracing::warn!("a comment is left out: its code is not known any more");
                decision.comment = None;
            }
        }
        // Only the database proves who answered: other processes can write what they like.
        let by = decision.by.take().filter(|_| decision.asked.is_some());
        PlatformEvent::ApprovalRead {
            decision: Some(Box::new(Decision {
                token: String::new(),
                comment_token: String::new(),
                asked: None,
                by,
                ..decision
            })),
            is_outdated,
        }
    }

    /// Notes a run, for which an approver may order something while it is active.
    pub(in crate::platform) fn note(&self, session: &str, run: &Run) {
        let mut runs = self.runs.lock();
        if run.is_active {
            runs.insert(run.task_id.clone(), session.to_owned());
        } else {
            runs.remove(&run.task_id);
        }
    }

    /// Forgets the request of a run.
    pub(in crate::platform) fn clear(&self, task_id: &str, agent_dir: &Path) {
        self.open.lock().remove(task_id);
        match Requests::in_agent_dir(agent_dir) {
            Ok(requests) => requests.clear(task_id),
            Err(error) => tracing::warn!("{error}"),
        }
    }

    /// The time between two looks for answers and orders; `None` while none can come.
    pub(in crate::platform) fn interval(&self, agent_dir: &Path) -> Option<Duration> {
        let is_waiting = self.open.lock().values().any(|open| !open.is_reported);
        if !is_waiting && self.runs.lock().is_empty() {
            return None;
        }
        let right = self.right(agent_dir);
        let is_due = is_waiting || right == AnswerRight::MayRead;
        is_due.then(|| interval(right))
    }

    /// What this process may do about answers, asked again while the store cannot be reached.
    fn right(&self, agent_dir: &Path) -> AnswerRight {
        let ask = || {
            let right = of_agent_dir(agent_dir).and_then(|store| store.answer_right());
            right.map_or(AnswerRight::NeedsProof, |right| {
                *self.right.get_or_init(|| right)
            })
        };
        self.right.get().copied().unwrap_or_else(ask)
    }

    /// Looks for answers to the open requests, and for orders, and reports them.
    pub(in crate::platform) fn look(&self, agent_dir: &Path, sessions: &OpenSessions) {
        // The next look warns again, and so does the call that needs the store.
        let Ok(requests) = Requests::in_agent_dir(agent_dir) else {
            return;
        };
        let open = self.open.lock();
        let waiting = open.values().filter(|open| !open.is_reported);
        let waiting: Vec<(String, Request)> = waiting
            .map(|open| (open.session.clone(), open.request.clone()))
            .collect();
        // The store is asked without the lock, since calls of tools may wait for it.
        drop(open);
        for (session, request) in waiting {
            let Some(decision) = valid_decision(&requests, &request) else {
                continue;
            };
            if let Some(open) = self.open.lock().get_mut(&request.task_id) {
                open.is_reported |= open.request == request;
            }
            let event = PlatformEvent::ApprovalAnswered {
                request: request.id,
                choice: decision.choice,
                is_earlier: false,
            };
            sessions.report(&session, event);
        }
        if self.right.get() == Some(&AnswerRight::MayRead)
            && let Err(error) = self.look_for_orders(&requests, sessions)
        {
            tracing::warn!("what approvers order is not known: {error}");
        }
    }

    fn look_for_orders(
        &self,
        requests: &Requests,
        sessions: &OpenSessions,
    ) -> Result<(), StoreError> {
        for (stored, order) in requests.orders()? {
            let session = self.runs.lock().get(&stored.task_id).cloned();
            // One that is closed takes it when it is open again.
            if let Some(session) = session.filter(|session| sessions.is_open(session))
                && requests.store().take_order(&stored)?
            {
                sessions.report(&session, PlatformEvent::Ordered(order));
            }
        }
        Ok(())
    }
}

/// Reads the user's decision about a request: one with the token of its choice, or one of which the database proves that an
/// approver answered the very question that is asked.
fn valid_decision(requests: &Requests, request: &Request) -> Option<Decision> {
    let decision = requests.decision(request)?;
    let is_valid = match &decision.asked {
        Some(asked) => {
            requests.answer_right() == AnswerRight::MayRead && asked.asks_the_same_as(request)
        }
        None => is_proved(&decision, &request.choices, &request.proofs.hashes),
    };
    is_valid.then_some(decision)
}

#[cfg(test)]
mod tests;
