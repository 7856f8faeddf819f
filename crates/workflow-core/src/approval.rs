//! `approve`: the word of a person without which a phase is not left.
//!
//! A person says it in the host's dialog, or outside of the host; either way it is about one waiting, which has a
//! name of its own, and about what was shown. Owns that waiting, from the first question until the phase is left,
//! another choice was made, or the run is elsewhere.

use serde_json::json;

use crate::Session;
use crate::definition::Approval;
use crate::effect::{AnswerKind, ApprovalRequest, Effect, Effects, Question, Reply, ToolAnswer};
use crate::event::{Answer, ApprovalDecision};
use crate::leaving::{Leaving, PendingLeave, called_off};
use crate::policy::Parked;
use crate::policy::gate::Report;
use crate::session::{Run, Waiting};
use crate::types::{Millis, RequestId};

/// How long checks that passed hold while a person thinks. Later they are run again.
const CHECKS_HOLD: Millis = 10 * 60 * 1000;

const CHANGED: &str =
    "What is shown has changed since you answered, so that answer does not count. Look again.";

/// A `next` whose phase needs a person's word.
#[derive(Debug, Clone)]
pub(crate) struct PendingApproval {
    pub(crate) request: RequestId,
    /// What the gate came to, if there is one.
    pub(crate) reports: Vec<Report>,
    /// When it did.
    pub(crate) checked: Millis,
}

/// What to do if nothing was said outside of the host.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unsaid {
    Ask,
    /// Wait, because of this.
    Wait(&'static str),
}

impl Run {
    /// The run whose phase waits for a person's word, and the name of that waiting.
    pub(crate) fn awaited(&self) -> Option<(String, String)> {
        Some((self.state.task_id.clone(), self.awaits.clone()?))
    }
}

impl Session {
    /// It comes to a person's word. Nobody is asked who has said it already.
    pub(crate) fn need_word(&mut self, pending: PendingApproval, out: &mut Effects) -> Reply {
        let Some((approval, nonce)) = self.awaited() else {
            return self.ask_approval(pending, "", out);
        };
        self.read_word(
            pending,
            Unsaid::Ask,
            ApprovalRequest { approval, nonce },
            out,
        );
        Reply::Later
    }

    fn read_word(
        &mut self,
        pending: PendingApproval,
        unsaid: Unsaid,
        awaiting: ApprovalRequest,
        out: &mut Effects,
    ) {
        out.perform(Effect::ReadApproval(awaiting));
        self.leaving = Some(Leaving::reads_word(pending, unsaid));
    }

    /// What the phase asks, if that is being waited for.
    fn awaited(&self) -> Option<(Approval, String)> {
        let (run, standing) = self.standing()?;
        standing.phase.approve.clone().zip(run.awaits.clone())
    }

    /// What was said outside of the host.
    pub(crate) fn word_read(
        &mut self,
        now: Millis,
        word: Option<ApprovalDecision>,
        out: &mut Effects,
    ) {
        let (pending, unsaid) = match self.leaving.take().map(Leaving::into_word) {
            Some(Ok(reading)) => reading,
            Some(Err(other)) => {
                self.leaving = Some(other);
                return;
            }
            None => return,
        };
        let request = pending.request;
        let mut settled = Effects::default();
        let reply = match (word, unsaid) {
            (Some(ApprovalDecision::Chosen(chosen)), _) => {
                self.take_word(now, pending, Answer::Chosen(&chosen), &mut settled)
            }
            (Some(ApprovalDecision::Outdated), _) => {
                self.take_word(now, pending, Answer::Outdated, &mut settled)
            }
            (None, Unsaid::Ask) => self.ask_approval(pending, "", &mut settled),
            (None, Unsaid::Wait(why)) => self.wait_for_word(why, &mut settled),
        };
        Self::settle(request, reply, settled, out);
    }

    /// Asks whether the phase may be left, in the host's dialog and outside of it.
    fn ask_approval(&mut self, pending: PendingApproval, note: &str, out: &mut Effects) -> Reply {
        let nonce = self.random.nonce();
        let approval = self
            .standing()
            .and_then(|(_, standing)| standing.phase.approve.clone());
        let Some((approval, run)) = approval.zip(self.run.as_mut()) else {
            return called_off(pending.request, "the phase needs no word any more").reply;
        };
        let nonce = run.awaits.get_or_insert(nonce).clone();
        out.effects.push(Effect::RequestApproval(ApprovalRequest {
            approval: approval.clone(),
            nonce,
        }));
        if !self.can_ask() {
            let why = self.why_not_asked("This host cannot ask the user");
            let why = format!("{why}. {note}");
            return self.wait_for_word(why.trim_end(), out);
        }
        let id = self.next_question();
        out.questions.push(Question {
            id,
            title: approval.ask,
            message: note.to_owned(),
            options: approval.choices,
            show: approval.show,
        });
        let leave = PendingLeave::Approval(pending);
        self.waiting.insert(id, Waiting::Leave(leave));
        Reply::Later
    }

    /// Does what a person answered: the first choice approves.
    pub(crate) fn take_word(
        &mut self,
        now: Millis,
        pending: PendingApproval,
        answer: Answer<'_>,
        out: &mut Effects,
    ) -> Reply {
        let approval = self
            .standing()
            .and_then(|(_, standing)| standing.phase.approve.clone());
        let Some(approval) = approval else {
            return called_off(pending.request, "the phase needs no word any more").reply;
        };
        let chosen = match answer {
            Answer::Chosen(chosen) => approval.choices.iter().find(|choice| *choice == chosen),
            Answer::Outdated => {
                self.forget_word(out);
                self.store_pace(out);
                return self.ask_approval(pending, CHANGED, out);
            }
            Answer::Confirmed(_) | Answer::Dismissed => None,
        };
        match chosen {
            None => self.unanswered(pending, "Nobody answered.", out),
            Some(chosen) if *chosen == approval.choices[0] => self.approved(now, &pending, out),
            Some(chosen) => {
                self.forget_word(out);
                self.store_pace(out);
                Reply::Tool(ToolAnswer {
                    text: format!(
                        "The user was asked \"{}\" and chose \"{chosen}\": the phase goes on. Ask what to change if it is not clear, and call \
                         workflow_step with action='next' again when it is done.",
                        approval.ask
                    ),
                    details: json!({ "active": true, "advanced": false, "approval": chosen }),
                    kind: Some(AnswerKind::Error),
                })
            }
        }
    }

    /// The phase is left, unless its checks are from so long ago that they say nothing of how things stand.
    fn approved(&mut self, now: Millis, pending: &PendingApproval, out: &mut Effects) -> Reply {
        let is_old = now.saturating_sub(pending.checked) > CHECKS_HOLD;
        if is_old && !pending.reports.is_empty() {
            self.start_gate(pending.request, true, out)
        } else {
            Reply::Tool(self.advance_now(&pending.reports, out))
        }
    }

    /// Nobody answered in the host: somebody may have outside of it.
    pub(crate) fn unanswered(
        &mut self,
        pending: PendingApproval,
        why: &'static str,
        out: &mut Effects,
    ) -> Reply {
        let Some((approval, nonce)) = self.awaited() else {
            return called_off(pending.request, "the phase needs no word any more").reply;
        };
        let awaiting = ApprovalRequest { approval, nonce };
        self.read_word(pending, Unsaid::Wait(why), awaiting, out);
        Reply::Later
    }

    /// The run rests until a person says something.
    fn wait_for_word(&mut self, why: &str, out: &mut Effects) -> Reply {
        if let Some(run) = &mut self.run {
            run.pace.parked = Some(Parked::Approval);
        }
        self.store_pace(out);
        let ask = self.awaited().map(|(approval, _)| approval.ask);
        Reply::Tool(ToolAnswer {
            text: format!(
                "⏸ The phase needs the user's word: \"{}\" {why} Stop here and wait. The user answers with `workflow-sidecar approve`, or in \
                 this session, after which you call workflow_step with action='next' again.",
                ask.unwrap_or_default()
            ),
            details: json!({ "active": true, "advanced": false, "waiting": "approval" }),
            kind: Some(AnswerKind::Error),
        })
    }

    /// Nobody waits for a word about the phase any more: it is left, or what was asked is answered.
    pub(crate) fn forget_word(&mut self, out: &mut Effects) {
        let needs_word = self
            .standing()
            .is_some_and(|(_, standing)| standing.phase.approve.is_some());
        let Some(run) = self.run.as_mut().filter(|_| needs_word) else {
            return;
        };
        out.effects.push(Effect::ClearApproval {
            task_id: run.state.task_id.clone(),
        });
        run.awaits = None;
        run.pace.parked.take_if(|why| *why == Parked::Approval);
    }

    fn store_pace(&mut self, out: &mut Effects) {
        if let Some(run) = &mut self.run {
            run.store_pace(out);
        }
    }

    /// Nobody waits for a word any more that was asked for in a dialog only.
    pub(crate) fn forget_dialog(&mut self, out: &mut Effects) {
        let is_parked = |run: &Run| run.pace.parked == Some(Parked::Approval);
        if self
            .run
            .as_ref()
            .is_some_and(|run| run.awaits.is_some() && !is_parked(run))
        {
            self.forget_word(out);
        }
    }

    /// The checks of the gate fail: what a person said, or was asked, is about code that goes on to change.
    pub(crate) fn forget_word_of_before(&mut self, out: &mut Effects) {
        if self.run.as_ref().is_some_and(|run| run.awaits.is_some()) {
            self.forget_word(out);
            self.store_pace(out);
        }
    }

    /// The session stands elsewhere: what was waited for there is waited for no more, and nobody waits here
    /// unless the session's entries say so. Then it can be said again.
    pub(crate) fn forget_words_of_elsewhere(
        &self,
        before: Option<(String, String)>,
        out: &mut Effects,
    ) {
        let now = self.run.as_ref().and_then(Run::awaited);
        let is_new = now != before;
        let left = before.filter(|before| Some(before) != now.as_ref());
        let here = self.standing().filter(|_| now.is_none());
        let here = here.filter(|(_, standing)| standing.phase.approve.is_some());
        let here = here.map(|(run, _)| run.state.task_id.clone());
        let left = left
            .map(|(task, _)| task)
            .filter(|task| Some(task) != here.as_ref());
        let tasks = left.into_iter().chain(here);
        out.effects
            .extend(tasks.map(|task_id| Effect::ClearApproval { task_id }));
        if let Some((approval, nonce)) = self.awaited().filter(|_| is_new) {
            let awaiting = ApprovalRequest { approval, nonce };
            out.perform(Effect::RequestApproval(awaiting));
        }
    }
}
