//! `status`: the run of a session, or one of the index.

use std::path::{Path, PathBuf};

use workflow_core::definition::{Loaded, load};
use workflow_core::diagnostic::{Code, Diagnostic};
use workflow_core::session::View;

use super::project::UserDirectory;
use super::status_line;
use crate::platform::answers::requests::{AskedRequest, Requests};
use crate::present::{
    CommandOutcome, OutputFormat, RunStatus, ShownCondition, Status, restored_session, since,
};
use crate::sessions::{FoundSession, run_of_file};

/// Show the state of a run
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Session file, or the id of a run [default: the active run of a host in the project or the current directory, or else the newest pi session there]
    #[arg(value_name = "SESSION-FILE|RUN")]
    file: Option<PathBuf>,
    /// Project with the workflows to use instead of the definition stored in the session
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    #[command(flatten)]
    user: UserDirectory,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
    /// One line about the session that Claude Code describes on standard input; what its status line runs
    #[arg(long, hide = true)]
    line: bool,
    /// The directory of the store for --line, instead of ~/.local/state/workflow-sidecar
    #[arg(long, value_name = "DIR", requires = "line", hide = true)]
    state: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<CommandOutcome> {
    if arguments.line {
        status_line::print(arguments.state.as_deref());
        return Ok(CommandOutcome::Success);
    }
    let agent_dir = arguments.user.directory();
    let project = arguments.project.as_deref();
    let found = FoundSession::find(arguments.file.as_deref(), project, &agent_dir)?;
    let session = found.entries();
    let loaded = match project {
        Some(project) => load(&arguments.user.disk(project)?),
        None => Loaded::default(),
    };
    let (engine, mut problems) = restored_session(&session.ours(), &loaded);
    // No files were read unless a project was named.
    let is_about_files =
        |problem: &Diagnostic| matches!(problem.code, Code::DefinitionGone | Code::GuardsChanged);
    problems.retain(|problem| project.is_some() || !is_about_files(problem));
    let view = engine.view();
    let (condition, run) = match (&view, &found.run) {
        (Some(view), indexed) => {
            let request = approval_of(view, &agent_dir)?;
            let noted = match &found.file {
                Some(file) => run_of_file(&view.state.task_id, file, &agent_dir)?,
                None => indexed.clone(),
            };
            let condition = ShownCondition::of(view, request.as_ref(), noted.as_ref());
            let since = since(&session).or(noted.as_ref().map(|run| run.since.into()));
            (condition, Some(RunStatus::of(view, since, request)))
        }
        (None, Some(run)) => {
            let elsewhere = found.place().filter(|_| found.bytes.is_none());
            let status = RunStatus::indexed(run, elsewhere);
            (ShownCondition::indexed(&run.run), Some(status))
        }
        (None, None) => (ShownCondition::none(), None),
    };
    let problems = problems.iter().map(ToString::to_string).collect();
    let status = Status {
        condition,
        run,
        problems,
    };
    arguments.format.print(&status, Status::print)?;
    Ok(status.condition.needed().into())
}

/// The request for approval of a run, as `approve --list` shows it.
fn approval_of(view: &View<'_>, agent_dir: &Path) -> anyhow::Result<Option<AskedRequest>> {
    if !view.state.active {
        return Ok(None);
    }
    let mut all = Requests::in_agent_dir(agent_dir)?.all()?.into_iter();
    // A fork has the same run, and may be in another phase.
    Ok(all.find(|(request, _)| {
        request.task_id == view.state.task_id && request.step == view.state.global_step_count
    }))
}
