//! The person's controls of a run: the commands beside `/workflow` and `/cancel-workflow`.
//!
//! Plans a move and writes the texts for the person. The session makes the move.

mod arguments;
mod command;
mod moves;
mod texts;

use std::collections::BTreeMap;

pub(crate) use self::arguments::{choose_outcome, complete, read_reply};
pub use self::command::Control;
pub(crate) use self::moves::{
    ConfirmationText, PersonExit, Plan, PlannedMove, cannot_confirm, left_out, plan_goto, plan_skip,
};
pub(crate) use self::texts::{exit_refusal, no_definition, no_run, status_text, takes_no_argument};
use super::questions::{QuestionTable, QuestionText, QuestionTopic};
use crate::effect::{Effects, Mark, Reply};
use crate::event::Answer;
use crate::run::{Actor, RunState};
use crate::types::{QuestionId, RequestId, Severity};

/// The commands that wait: for the gate of the phase, and for a confirmation.
#[derive(Debug, Clone, Default)]
pub(crate) struct PendingControls {
    exit: Option<PersonExit>,
    confirmations: BTreeMap<QuestionId, PendingConfirmation>,
}

#[derive(Debug, Clone)]
struct PendingConfirmation {
    request: Option<RequestId>,
    planned: PlannedMove,
    /// The option that confirms.
    yes: String,
}

impl PendingControls {
    /// Notes that this request, or an answer in a terminal, leaves the phase.
    pub(crate) fn begin_exit(&mut self, request: Option<RequestId>, control: Control) {
        self.exit = Some(PersonExit { request, control });
    }

    /// Returns true if a person leaves the phase.
    pub(crate) fn is_leaving(&self) -> bool {
        self.exit.is_some()
    }

    /// The actor that moves the run when the exit in progress is over; `jumps` is the limit of the agent.
    pub(crate) fn actor(&self, jumps: u32) -> Actor {
        let exit = self.exit.as_ref();
        exit.map_or(Actor::Agent { jumps }, |exit| exit.actor(jumps))
    }

    /// Takes the command that this request is, if it leaves the phase.
    pub(crate) fn take_exit(&mut self, request: Option<RequestId>) -> Option<PersonExit> {
        self.exit.take_if(|exit| exit.request == request)
    }

    /// Restores a command whose gate or question is still open.
    pub(crate) fn put_back(&mut self, exit: PersonExit) {
        self.exit = Some(exit);
    }

    /// Asks a person to confirm a move that passes gates or approvals over.
    pub(crate) fn ask(
        &mut self,
        request: Option<RequestId>,
        planned: PlannedMove,
        text: ConfirmationText,
        questions: &mut QuestionTable,
        out: &mut Effects,
    ) {
        let ConfirmationText {
            title,
            message,
            no,
            yes,
        } = text;
        let text = QuestionText {
            title,
            message,
            options: vec![no, yes.clone()],
            ..QuestionText::default()
        };
        let question = questions.ask(QuestionTopic::Move, text, out);
        let pending = PendingConfirmation {
            request,
            planned,
            yes,
        };
        self.confirmations.insert(question, pending);
    }

    /// Takes the move that a person confirmed, or answers the command without one.
    pub(crate) fn on_answer(
        &mut self,
        question: QuestionId,
        answer: Answer<'_>,
        state: Option<&RunState>,
        out: &mut Effects,
    ) -> Option<(Option<RequestId>, PlannedMove)> {
        let pending = self.confirmations.remove(&question)?;
        let notice = if !matches!(answer, Answer::Chosen(choice) if choice == pending.yes) {
            "The workflow was not moved."
        } else if state == Some(&pending.planned.from) {
            return Some((pending.request, pending.planned));
        } else {
            "The workflow has moved in the meantime, so your answer does not count. Nothing was done."
        };
        settle(pending.request, Severity::Info, notice.to_owned(), out);
        None
    }

    /// Answers a command without a move, because its question ended.
    pub(crate) fn end_question(&mut self, question: QuestionId, notice: String, out: &mut Effects) {
        if let Some(pending) = self.confirmations.remove(&question) {
            settle(pending.request, Severity::Warning, notice, out);
        }
    }

    /// Withdraws every confirmation, because the run has changed.
    pub(crate) fn cancel_confirmations(
        &mut self,
        questions: &mut QuestionTable,
        out: &mut Effects,
    ) {
        while let Some((question, pending)) = self.confirmations.pop_first() {
            questions.close(question, out);
            let notice =
                "The workflow has moved in the meantime. Your command was not carried out.";
            settle(pending.request, Severity::Info, notice.to_owned(), out);
        }
    }
}

/// Notifies the person, in the answer to the command if there is one.
pub(crate) fn settle(
    request: Option<RequestId>,
    severity: Severity,
    notice: String,
    out: &mut Effects,
) {
    let since = out.mark();
    out.notify(severity, notice);
    answer(request, since, out);
}

/// Answers the command, if there is one.
pub(crate) fn answer(request: Option<RequestId>, since: Mark, out: &mut Effects) {
    if let Some(request) = request {
        out.answer(request, Reply::Command, since);
    }
}
