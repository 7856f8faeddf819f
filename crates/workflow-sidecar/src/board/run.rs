//! The page of a run: where it is and what happened, as `show` has it, with the question that it asks.

use askama::Template;
use workflow_core::diagnostic::visible;
use workflow_core::session::RunCondition;

use super::failure::Failure;
use super::runs::RunLine;
use super::{Board, Shown};
use crate::answering::words_to_type;
use crate::sessions::FoundSession;
use crate::show::Timelines;
use crate::store::StoreError;

/// The commands that the user can type in the host of a run.
const COMMANDS: [&str; 4] = ["status", "pause", "resume", "skip"];

#[derive(Template)]
#[template(path = "board/run.html")]
struct OneRun {
    line: RunLine,
    /// What happened, as HTML.
    happened: String,
    /// Why that is not known; empty if it is.
    problem: String,
    host: String,
    /// What can be typed in the host.
    commands: Vec<String>,
    /// The command that trusts the project, if that is what the run waits for.
    trust: Option<String>,
}

/// Where the changes of the page come from.
pub(super) fn live(id: &str) -> Result<String, Failure> {
    #[derive(Template)]
    #[template(source = "/live?run={{ id|urlencode_strict }}", ext = "txt")]
    struct Live<'l> {
        id: &'l str,
    }
    Ok(Live { id }.render()?)
}

pub(super) fn show(board: &Board, id: &str) -> Result<Shown, Failure> {
    let run = board.requests.run(id)?;
    let run = run.ok_or_else(|| Failure::not_found("There is no such run in the store."))?;
    let mut questions = board.requests.all()?.into_iter();
    let question = questions.find(|(request, _)| request.task_id == id);
    let question = question.map(|(_, decision)| decision.map(|decision| decision.choice));
    let line = RunLine::of(&run, question.as_ref());
    let (host, cwd) = (run.key.host.clone(), run.cwd.clone());
    let command = |command| words_to_type(&host, &cwd, command);
    let commands = run.run.is_active.then(|| COMMANDS.map(command).to_vec());
    let waits_for_trust = run.run.waiting == RunCondition::AwaitsTrust.words();
    let found = FoundSession::in_store(run, board.requests.store());
    let articles = found.and_then(|found| Timelines::of_found(&found, None)?.articles());
    let (happened, problem) = match articles {
        Ok(happened) => (happened, String::new()),
        Err(error) => match error.downcast::<StoreError>() {
            Ok(error) => return Err(error.into()),
            Err(error) => (String::new(), format!("{error:#}")),
        },
    };
    let title = format!("{}: {}", line.workflow, line.state);
    let page = OneRun {
        line,
        happened,
        problem,
        host: visible(&host),
        commands: commands.unwrap_or_default(),
        trust: waits_for_trust.then(|| visible(&cwd.to_string_lossy())),
    };
    Ok(Shown {
        title,
        html: page.render()?,
    })
}
