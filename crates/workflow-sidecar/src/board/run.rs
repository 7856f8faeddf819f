//! The page of a run: where it is and what happened, as `show` has it, with the question that it asks.

use askama::Template;
use axum::http::StatusCode;
use workflow_core::diagnostic::visible;
use workflow_core::event::Order;
use workflow_core::session::RunCondition;

use super::failure::Failure;
use super::runs::RunLine;
use super::{Board, Shown, order};
use crate::answering::words_to_type;
use crate::sessions::FoundSession;
use crate::show::Timelines;
use crate::store::StoreError;

/// The commands that the user can type in the host of a run.
const COMMANDS: [&str; 5] = ["status", "approve", "pause", "resume", "skip"];

#[derive(Template)]
#[template(path = "board/run.html")]
struct OneRun {
    line: RunLine,
    /// What happened, as HTML, or why that is not known.
    happened: Result<String, String>,
    /// What can be typed in the host.
    commands: Vec<String>,
    /// True if something can be ordered from here.
    may_order: bool,
    ordered: Option<Order>,
    /// The command that trusts the project, if the run waits for that.
    trust: Option<String>,
}

pub(super) fn show(board: &Board, id: &str) -> Result<Shown, Failure> {
    let run = board.requests.run(id)?.ok_or_else(|| {
        let message = "There is no such run in the store.";
        Failure::new(StatusCode::NOT_FOUND, message)
    })?;
    let mut questions = board.requests.all()?.into_iter();
    let question = questions.find(|(request, _)| request.task_id == id);
    let question = question.map(|(_, decision)| decision.map(|decision| decision.choice));
    let found = FoundSession::in_store(run.clone(), board.requests.store());
    let happened = found.and_then(|found| Timelines::of_found(&found, None)?.articles());
    let happened = match happened.map_err(anyhow::Error::downcast::<StoreError>) {
        Ok(happened) => Ok(happened),
        Err(Ok(error)) => return Err(error.into()),
        Err(Err(error)) => Err(format!("{error:#}")),
    };
    let command = |command| words_to_type(&run.key.host, &run.cwd, command);
    let is_active = run.run.is_active;
    let commands = is_active.then(|| COMMANDS.map(command).to_vec());
    let directory = visible(&run.cwd.to_string_lossy());
    let trust = shlex::try_quote(&directory).ok();
    let trust = trust.map(|directory| format!("workflow-sidecar trust {directory}"));
    let may_order = is_active && board.is_of_approver();
    let ordered = may_order.then(|| order::waiting(board, id)).transpose()?;
    let page = OneRun {
        happened,
        commands: commands.unwrap_or_default(),
        may_order,
        ordered: ordered.flatten(),
        trust: trust.filter(|_| run.run.waiting == RunCondition::AwaitsTrust.words()),
        line: RunLine::of(run, question.as_ref()),
    };
    let RunLine { run, state, .. } = &page.line;
    let title = format!("{}: {state}", visible(&run.run.workflow));
    Shown::new(title, &page)
}
