//! The person's controls of a run: the commands beside `/workflow` and `/cancel-workflow`.
//!
//! Plans a move and writes the texts for the person. The session makes the move.

mod arguments;
mod command;
mod moves;
mod texts;

pub(crate) use self::arguments::{choose_outcome, complete, read_reply};
pub use self::command::Control;
pub(crate) use self::moves::{
    PlannedMove, cannot_confirm, left_out, not_passed, plan_goto, plan_skip,
};
pub(crate) use self::texts::{exit_refusal, no_definition, no_run, status_text, takes_no_argument};
use crate::effect::{Effects, Mark, Notice, Reply};
use crate::types::RequestId;

/// When a command is answered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    Now,
    Later,
}

/// The outcome of a command: when it is answered, or the notice that it ends with.
pub(crate) type CommandOutcome = Result<Answered, Notice>;

/// A move of a person that waits for a confirmation.
#[derive(Debug, Clone)]
pub(crate) struct PendingMove {
    pub(crate) request: Option<RequestId>,
    pub(crate) planned: PlannedMove,
    /// The option that confirms.
    pub(crate) yes: String,
}

/// Answers a command, unless it is answered later. The actions since the mark belong to the answer.
pub(crate) fn end_command(
    request: impl Into<Option<RequestId>>,
    since: Option<Mark>,
    outcome: CommandOutcome,
    out: &mut Effects,
) {
    match outcome {
        Ok(Answered::Later) => return,
        Ok(Answered::Now) => {}
        Err(notice) => out.notify(notice.severity, notice.text),
    }
    answer(request.into(), since, out);
}

/// Notifies the person, in the answer to the command if there is one.
pub(crate) fn settle(request: Option<RequestId>, notice: Notice, out: &mut Effects) {
    let since = Some(out.mark());
    out.notify(notice.severity, notice.text);
    answer(request, since, out);
}

/// Answers the command, if there is one.
pub(crate) fn answer(request: Option<RequestId>, since: Option<Mark>, out: &mut Effects) {
    if let Some(request) = request {
        out.answer(request, Reply::Command, since);
    }
}
