//! The approval requests of this process, and the decisions of persons about them.
//!
//! Decisions are in memory only, so no file decides while the process runs. Owns the check of codes.

use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

use workflow_core::event::ApprovalDecision;

use super::ancestry::ProcessJudgement;
use super::answer_socket::{SocketAnswer, SocketReply};
use super::approvals::{Approvals, RequestFile, StoredDecision, StoredRequest};
use super::one_time_code::{new_code, seal};
use crate::store::AnswerRight;

/// Wrong codes after which a code no longer counts.
const MAX_WRONG: u8 = 5;
/// Time between two messages with the same code.
const SHOW_AGAIN: Duration = Duration::from_secs(10);

/// The open requests of this process, by the ids of their runs.
#[derive(Debug, Default)]
pub(crate) struct OpenRequests {
    approvals: HashMap<String, OpenApproval>,
    /// The code for the trust in a project, by its path.
    trust: Option<(String, ApprovalCode)>,
}

#[derive(Debug)]
struct OpenApproval {
    /// The session that asks.
    session: String,
    request: StoredRequest,
    code: ApprovalCode,
    /// A code that replaces one whose text is not known here. It counts in this process only.
    fresh: Option<ApprovalCode>,
    decision: Option<StoredDecision>,
}

/// A request that was opened.
#[derive(Debug)]
pub(crate) struct Opened {
    /// The code, if this process made it.
    pub(crate) code: Option<String>,
    pub(crate) seal: String,
    /// The decision that was made earlier.
    pub(crate) choice: Option<String>,
}

/// A code. Its text is not known if another process made it.
#[derive(Debug)]
struct ApprovalCode {
    text: Option<String>,
    seal: String,
    wrong: u8,
    shown: Option<Instant>,
}

/// A code that is to be shown to the person, and its session.
#[derive(Debug)]
pub(crate) struct ShownCode {
    pub(crate) session: Option<String>,
    pub(crate) code: String,
    /// The answer that needs it, as a clause.
    pub(crate) purpose: String,
}

impl ApprovalCode {
    fn new(subject: &str) -> io::Result<Self> {
        let text = new_code()?;
        Ok(Self {
            seal: seal(subject, &text),
            text: Some(text),
            wrong: 0,
            shown: None,
        })
    }

    /// Checks a code that was typed.
    fn check(&mut self, subject: &str, typed: &str) -> Result<(), SocketReply> {
        if self.wrong >= MAX_WRONG {
            return Err(SocketReply::TooManyCodes);
        }
        if seal(subject, typed) == self.seal {
            return Ok(());
        }
        self.wrong += 1;
        Err(SocketReply::WrongCode)
    }

    /// Returns the code if it is known and was not shown just now.
    fn take_to_show(&mut self) -> Option<String> {
        let is_recent = self.shown.is_some_and(|at| at.elapsed() < SHOW_AGAIN);
        let text = self.text.clone().filter(|_| !is_recent)?;
        self.shown = Some(Instant::now());
        Some(text)
    }
}

impl OpenApproval {
    /// Returns true if the database proves that an approver made a decision, and it is about the very
    /// question that this process asks.
    fn is_of_approver(&self, decision: &StoredDecision, right: AnswerRight) -> bool {
        let asked = decision.asked.as_ref();
        right == AnswerRight::MayRead
            && decision.nonce == self.request.nonce
            && asked.is_some_and(|asked| asked.asks_the_same_as(&self.request))
    }

    /// Checks a code that was typed.
    fn check(&mut self, typed: &str) -> Result<(), SocketReply> {
        let nonce = &self.request.nonce;
        match self.fresh.as_mut().map(|fresh| fresh.check(nonce, typed)) {
            Some(Ok(())) => Ok(()),
            Some(Err(SocketReply::TooManyCodes)) => Err(SocketReply::TooManyCodes),
            Some(Err(_)) | None => self.code.check(nonce, typed),
        }
    }

    /// The code that can be shown: a fresh one if the text of the first is not known.
    fn known_code(&mut self) -> io::Result<&mut ApprovalCode> {
        if self.code.text.is_some() {
            return Ok(&mut self.code);
        }
        let fresh = match self.fresh.take() {
            Some(fresh) => fresh,
            None => ApprovalCode::new(&self.request.nonce)?,
        };
        Ok(self.fresh.insert(fresh))
    }
}

impl OpenRequests {
    /// Opens a request of a session. `known` is the seal of a code that another process made.
    pub(crate) fn open(
        &mut self,
        session: &str,
        request: &StoredRequest,
        known: Option<String>,
        approvals: &Approvals,
    ) -> io::Result<Opened> {
        let open = self.approvals.remove(&request.task_id);
        let open = open.filter(|open| {
            let is_usable = open.code.text.is_some() && open.code.wrong < MAX_WRONG;
            open.request.nonce == request.nonce
                && known
                    .as_ref()
                    .map_or(is_usable, |seal| *seal == open.code.seal)
        });
        let (code, decision) = match (open, known) {
            (Some(open), _) => (open.code, open.decision),
            (None, Some(known)) => {
                // Read before the agent works, and not again.
                let decision = approvals.decision(request);
                let is_proved =
                    |decision: &StoredDecision| seal(&request.nonce, &decision.code) == known;
                let decision = decision.filter(is_proved);
                let code = ApprovalCode {
                    text: None,
                    seal: known,
                    wrong: 0,
                    shown: None,
                };
                (code, decision)
            }
            (None, None) => (ApprovalCode::new(&request.nonce)?, None),
        };
        let opened = Opened {
            code: code.text.clone(),
            seal: code.seal.clone(),
            choice: decision.as_ref().map(|decision| decision.choice.clone()),
        };
        let open = OpenApproval {
            session: session.to_owned(),
            request: request.clone(),
            decision,
            code,
            fresh: None,
        };
        self.approvals.insert(request.task_id.clone(), open);
        Ok(opened)
    }

    /// Takes a decision that was stored while this process ran: one with the code, where no socket takes answers, or one
    /// about the very same question, where the database lets only approvers answer.
    pub(crate) fn take_stored(
        &mut self,
        request: &StoredRequest,
        known: Option<&str>,
        approvals: &Approvals,
    ) {
        let Some(open) = self.approvals.get_mut(&request.task_id) else {
            return;
        };
        let decision = approvals.decision(request);
        let right = approvals.answer_right();
        let decision = decision.filter(|decision| {
            open.is_of_approver(decision, right)
                || cfg!(not(unix)) && Some(&*seal(&request.nonce, &decision.code)) == known
        });
        if decision.is_some() || cfg!(not(unix)) {
            open.decision = decision;
        }
    }

    /// The open requests without a decision, with their sessions.
    pub(crate) fn undecided(&self) -> Vec<(String, StoredRequest)> {
        let open = self.approvals.values();
        open.filter(|open| open.decision.is_none())
            .map(|open| (open.session.clone(), open.request.clone()))
            .collect()
    }

    /// Takes a stored decision of an approver about a request; false if it is none, or the request is closed or decided.
    pub(crate) fn take_of_approver(
        &mut self,
        request: &StoredRequest,
        decision: StoredDecision,
        right: AnswerRight,
    ) -> bool {
        let open = self.approvals.get_mut(&request.task_id);
        let open = open.filter(|open| open.request == *request && open.decision.is_none());
        let Some(open) = open.filter(|open| open.is_of_approver(&decision, right)) else {
            return false;
        };
        open.decision = Some(decision);
        true
    }

    /// Returns the decision about a request, which has the file that it shows as it is now.
    pub(crate) fn decision(&self, request: &StoredRequest) -> Option<ApprovalDecision> {
        let open = self.approvals.get(&request.task_id)?;
        let decision = open.decision.as_ref()?;
        if decision.nonce != request.nonce {
            return None;
        }
        let now = request.shown_file.as_ref();
        // What an approver read from the store may be another text than the file's, which the agent's machine has put there.
        let was_shown_another = decision
            .asked
            .as_ref()
            .and_then(|asked| asked.shown_file.as_ref())
            .is_some_and(|shown| Some(shown) != now);
        let is_current = open.request.asks_the_same_as(request)
            && request.choices.contains(&decision.choice)
            && decision.shown.as_ref() == now.map(|file| &file.state)
            && !was_shown_another;
        Some(if is_current {
            ApprovalDecision::Chosen(decision.choice.clone())
        } else {
            ApprovalDecision::Outdated
        })
    }

    /// The comment with the decision about the request of a run.
    pub(crate) fn comment(&self, task_id: &str) -> Option<String> {
        let decision = self.approvals.get(task_id)?.decision.as_ref()?;
        decision.comment.clone()
    }

    /// The session that asks for the approval of a run.
    pub(crate) fn session(&self, task_id: &str) -> Option<String> {
        Some(self.approvals.get(task_id)?.session.clone())
    }

    /// Forgets the request of a run, and the decision about it.
    pub(crate) fn close(&mut self, task_id: &str) {
        self.approvals.remove(task_id);
    }

    /// Takes an answer to a request, if a person gives it. Returns a code that is to be shown first.
    pub(crate) fn answer(
        &mut self,
        answer: SocketAnswer,
        by: &ProcessJudgement,
        approvals: &Approvals,
    ) -> (SocketReply, Option<ShownCode>) {
        let open = self.approvals.get_mut(&answer.request.task_id);
        let Some(open) = open.filter(|open| open.request.asks_the_same_as(&answer.request)) else {
            return (SocketReply::Gone, None);
        };
        match (by, &answer.code) {
            (ProcessJudgement::Agent(why), _) => return (SocketReply::Refused(why.clone()), None),
            (ProcessJudgement::Person, _) => {}
            (ProcessJudgement::Unclear(_), Some(typed)) => {
                if let Err(reply) = open.check(typed) {
                    return (reply, None);
                }
            }
            (ProcessJudgement::Unclear(why), None) => {
                let code = match open.known_code() {
                    Ok(code) => code,
                    Err(error) => {
                        return (
                            SocketReply::Refused(format!("no code can be made: {error}")),
                            None,
                        );
                    }
                };
                let shown = code.take_to_show().map(|code| ShownCode {
                    session: Some(open.session.clone()),
                    code,
                    purpose: "answer what this run waits for".to_owned(),
                });
                return (SocketReply::CodeNeeded(why.clone()), shown);
            }
        }
        let choice = answer.choice.clone();
        open.decision = Some(answer.into_decision(String::new(), None));
        if let Some(file) = approvals.request(&open.request.task_id) {
            let noted = RequestFile {
                choice: Some(choice),
                ..file
            };
            if let Err(error) = approvals.store_request(&noted) {
                tracing::warn!("that a request is answered cannot be noted: {error}");
            }
        }
        (SocketReply::Noted, None)
    }

    /// Makes a code for the trust in a project, which is to be shown.
    pub(crate) fn trust_code(&mut self, project: &str) -> io::Result<Option<ShownCode>> {
        let known = self
            .trust
            .take()
            .filter(|(of, code)| of == project && code.wrong < MAX_WRONG);
        let code = known.map_or_else(|| ApprovalCode::new(project), |(_, code)| Ok(code))?;
        let (_, code) = self.trust.insert((project.to_owned(), code));
        Ok(code.take_to_show().map(|code| ShownCode {
            session: None,
            code,
            purpose: format!("trust the commands of {project}"),
        }))
    }

    /// Checks the code for the trust in a project, which counts once.
    pub(crate) fn check_trust(&mut self, project: &str, typed: &str) -> SocketReply {
        match self.trust.as_mut().filter(|(of, _)| of == project) {
            None => SocketReply::Gone,
            Some((_, code)) => {
                if let Err(reply) = code.check(project, typed) {
                    return reply;
                }
                self.trust = None;
                SocketReply::Noted
            }
        }
    }
}

#[cfg(test)]
mod tests;
