//! `status`: the run of a pi session.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::builder::styling::Style;
use serde::Serialize;
use workflow_core::definition::{Bound, Loaded, load};
use workflow_core::diagnostic::{Code, Diagnostic, shown, visible};
use workflow_core::reminders::PauseReason;
use workflow_core::run::entry_type;
use workflow_core::session::View;

use super::format::{BAD, DIMMED, GOOD, NOTABLE, OutputFormat, TITLE, json, moment};
use super::newest_session::newest_session;
use super::outcome::CommandOutcome;
use super::project::UserDirectory;
use super::run_session::{RunSession, elsewhere, run_id, run_session};
use crate::platform::answers::approvals::{Approvals, RequestFile};
use crate::record::Transcript;
use crate::run_condition::{RunCondition, restored_session, run_condition, stored_path};
use crate::session_file::{SessionFile, is_session, read_file};

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar status                                the newest pi session of this directory
  workflow-sidecar status ~/.pi/agent/sessions/--project--/session.jsonl
  workflow-sidecar status wf-1767225600000-3t8xrq        a run of any host; the first letters are enough
  workflow-sidecar status session.jsonl --project .      with the workflows as they are now

The definition stored in the session is used, unless --project names another.
Exits with 3 if the run waits for a person, with 4 if it stopped at a limit.";

/// Show the state of a run
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Session file, or the id of a run [default: newest session of the project, or of the current directory]
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
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<CommandOutcome> {
    let (path, bytes) = session(arguments)?;
    if !is_session(&bytes) {
        let file = path.display();
        match Transcript::parse(&path, &bytes) {
            Ok(_) => {
                bail!(
                    "{file} is a recording, not a session of pi: `workflow-sidecar show` shows it"
                )
            }
            Err(_) => bail!(
                "{file} is no session of pi: its first line would be {{\"type\":\"session\",…}}"
            ),
        }
    }
    let file = SessionFile::parse(&bytes);
    let loaded = match &arguments.project {
        Some(project) => load(&arguments.user.disk(project)?),
        None => Loaded::default(),
    };
    let (session, mut problems) = restored_session(&file.ours(), &loaded);
    // No files were read unless a project was named.
    let is_about_files =
        |found: &Diagnostic| matches!(found.code, Code::DefinitionGone | Code::GuardsWeakened);
    let is_relevant = |found: &Diagnostic| arguments.project.is_some() || !is_about_files(found);
    problems.retain(is_relevant);
    let view = session.view();
    let request = view.as_ref().map(|view| approval_of(view, arguments));
    let request = request.transpose()?.flatten();
    let output = StatusOutput::of(view.as_ref(), since(&file), request.as_ref(), &problems);
    match arguments.format {
        OutputFormat::Json => json(&output)?,
        OutputFormat::Human => output.print()?,
    }
    let condition = match (&view, &request) {
        (Some(_), Some(request)) if request.choice.is_none() => RunCondition::Waits,
        // As `approve --list` says: nothing waits for an answer, the agent only has to continue.
        (Some(view), _) if view.counters.paused == Some(PauseReason::Approval) => {
            RunCondition::Fine
        }
        (Some(view), _) => run_condition(view),
        (None, _) => RunCondition::Fine,
    };
    Ok(condition.into())
}

/// Reads the session: that of a run's id, a file, or the newest one of the project.
fn session(arguments: &Arguments) -> anyhow::Result<(PathBuf, Vec<u8>)> {
    let agent_dir = arguments.user.directory();
    let Some(file) = &arguments.file else {
        let project = arguments.project.as_deref().unwrap_or(Path::new("."));
        let newest = newest_session(project, &agent_dir)?;
        let bytes = read_file(&newest)?;
        return Ok((newest, bytes));
    };
    let bytes = match run_id(file) {
        None => read_file(file)?,
        Some(id) => match run_session(id, &agent_dir)? {
            RunSession::Entries(bytes) => bytes,
            RunSession::Elsewhere(run) => return Err(elsewhere(&run)),
        },
    };
    Ok((file.clone(), bytes))
}

/// The request for approval of a run, as `approve --list` shows it.
fn approval_of(view: &View<'_>, arguments: &Arguments) -> anyhow::Result<Option<RequestFile>> {
    if !view.state.active {
        return Ok(None);
    }
    let all = Approvals::in_agent_dir(&arguments.user.directory())?.all()?;
    // A fork has the same run, and may be in another phase.
    let of_run = |status: &RequestFile| {
        let request = &status.request;
        request.task_id == view.state.task_id && request.step == view.state.global_step_count
    };
    Ok(all.into_iter().find(of_run))
}

/// Returns when the run's position changed last, from the entries.
fn since(file: &SessionFile<'_>) -> Option<i64> {
    #[derive(serde::Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase")]
    struct StoredPosition {
        task_id: serde_json::Value,
        active: serde_json::Value,
        current_path: serde_json::Value,
        global_step_count: serde_json::Value,
    }
    let mut position = None;
    let mut since = None;
    for entry in &file.entries {
        let ours = entry
            .ours()
            .filter(|ours| ours.custom_type == entry_type::STATE);
        let data = ours.and_then(|ours| ours.data);
        // An entry of another form has no position; the engine reports it.
        let Some(current) =
            data.and_then(|data| serde_json::from_str::<StoredPosition>(data.get()).ok())
        else {
            continue;
        };
        if position.as_ref() != Some(&current) {
            since = entry.at();
        }
        position = Some(current);
    }
    since
}

/// The output.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusOutput<'a> {
    /// The state of the run.
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunStatus<'a>>,
    /// Problems of the stored entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RunStatus<'a> {
    workflow: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow_name: Option<&'a str>,
    task: &'a str,
    task_id: &'a str,
    path: &'a workflow_core::run::Path,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<PhaseStatus<'a>>,
    steps: u64,
    started_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    reminders: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<PauseReason>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    paused_by_owner: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<ApprovalStatus<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    visit: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<&'a str>,
}

/// A request for approval.
#[derive(Debug, Clone, Copy, Serialize)]
struct ApprovalStatus<'a> {
    ask: &'a str,
    /// The answer, if it is not used yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PhaseStatus<'a> {
    phase_id: &'a str,
    phase_name: &'a str,
    status_line: &'a str,
    #[serde(rename = "maxPushes", skip_serializing_if = "Option::is_none")]
    max_reminders: Option<u32>,
    waits: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    outcomes: &'a str,
}

impl<'a> StatusOutput<'a> {
    fn of(
        view: Option<&'a View<'a>>,
        since: Option<i64>,
        request: Option<&'a RequestFile>,
        problems: &[Diagnostic],
    ) -> Self {
        let problems = problems.iter().map(ToString::to_string).collect();
        let Some(view) = view else {
            return Self {
                status: "none",
                run: None,
                problems,
            };
        };
        let state = view.state;
        let phase = view.phase.as_ref();
        Self {
            status: state_name(view, request),
            run: Some(RunStatus {
                workflow: &state.workflow_key,
                workflow_name: phase.map(|phase| phase.workflow_name),
                task: &state.task_description,
                task_id: &state.task_id,
                path: &state.current_path,
                phase: phase.map(|phase| PhaseStatus {
                    phase_id: phase.id,
                    phase_name: phase.name,
                    status_line: phase.status,
                    max_reminders: match phase.max {
                        Bound::Times(times) => Some(times),
                        Bound::Unlimited => None,
                    },
                    waits: phase.waits,
                    outcomes: phase.outcomes,
                }),
                steps: state.global_step_count,
                started_at: moment(state.started_at, 3),
                since: since.map(|since| moment(since, 3)),
                reminders: view.counters.reminders,
                paused: view.counters.paused,
                paused_by_owner: view.counters.paused_by_owner,
                approval: request.map(|status| ApprovalStatus {
                    ask: &status.request.ask,
                    choice: status.choice.as_deref(),
                }),
                visit: view.visit.as_deref(),
                budget: view.budget.as_deref(),
            }),
            problems,
        }
    }

    fn print(&self) -> anyhow::Result<()> {
        let mut out = anstream::stdout().lock();
        match &self.run {
            None => writeln!(out, "no run is active in this session")?,
            Some(run) => {
                let name = run.workflow_name.unwrap_or(run.workflow);
                let (style, text) = described(self.status, run);
                writeln!(
                    out,
                    "{TITLE}{}{TITLE:#}  {DIMMED}{}{DIMMED:#}  {style}{text}{style:#}",
                    shown(name),
                    shown(run.workflow),
                )?;
                run.print(&mut out)?;
            }
        }
        for problem in &self.problems {
            writeln!(out, "{NOTABLE}note:{NOTABLE:#} {}", visible(problem))?;
        }
        Ok(())
    }
}

impl RunStatus<'_> {
    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        let mut line = |key: &str, value: &str| writeln!(out, "  {key:9} {}", shown(value));
        line("task", self.task)?;
        match &self.phase {
            Some(phase) => line("place", phase.status_line)?,
            None => line("place", &stored_path(self.path))?,
        }
        line("steps", &self.steps.to_string())?;
        if let Some(visit) = self.visit {
            line("visit", visit)?;
        }
        if let Some(phase) = self
            .phase
            .as_ref()
            .filter(|phase| !phase.outcomes.is_empty())
        {
            line("outcomes", phase.outcomes)?;
        }
        if let Some(budget) = self.budget {
            line("budget", budget)?;
        }
        line("started", &self.started_at)?;
        if let Some(since) = &self.since {
            line("since", since)?;
        }
        let bound = self.phase.as_ref().and_then(|phase| phase.max_reminders);
        if let Some(ApprovalStatus { ask, choice }) = &self.approval {
            line("asks", ask)?;
            if let Some(choice) = choice {
                line("answered", choice)?;
            }
        }
        match (self.reminders, bound) {
            (0, _) => Ok(()),
            (count, Some(max)) => line("reminders", &format!("{count} of {max}")),
            (count, None) => line("reminders", &count.to_string()),
        }
    }
}

/// Returns the name of a run's state.
fn state_name(view: &View<'_>, request: Option<&RequestFile>) -> &'static str {
    let state = view.state;
    match (state.active, view.counters.paused) {
        (true, None) if request.is_some() || view.counters.paused_by_owner => "paused",
        (false, _) if state.cancelled => "cancelled",
        (false, _) => "complete",
        (true, Some(_)) => "paused",
        (true, None) => match &view.phase {
            None => "stale",
            Some(phase) if phase.waits => "waits",
            Some(_) => "active",
        },
    }
}

/// Describes the state for people, with its style.
fn described(state: &str, run: &RunStatus<'_>) -> (Style, &'static str) {
    match (state, run.paused) {
        ("paused", _)
            if run
                .approval
                .is_some_and(|approval| approval.choice.is_some()) =>
        {
            (GOOD, "approval answered: ask the agent to continue")
        }
        ("paused", _) if run.approval.is_some() => (
            NOTABLE,
            "waits for your approval: see workflow-sidecar approve",
        ),
        ("paused", Some(PauseReason::Approval)) => (
            NOTABLE,
            "waited for an approval that is not requested any more: ask the agent to continue",
        ),
        ("paused", _) if run.paused_by_owner => {
            (NOTABLE, "paused by you: /workflow-resume resumes it")
        }
        ("paused", Some(PauseReason::Max)) => {
            (NOTABLE, "paused: no more reminders, any message resumes it")
        }
        ("paused", Some(PauseReason::MaxStale)) => (NOTABLE, "paused: the agent called no tool"),
        ("paused", Some(PauseReason::Error)) => {
            (NOTABLE, "paused: the model's answer ended in an error")
        }
        ("paused", Some(PauseReason::Visits)) => (
            NOTABLE,
            "paused at a limit of visits: /workflow-resume allows one more",
        ),
        ("paused", Some(PauseReason::Budget)) => (
            NOTABLE,
            "paused, because a budget is used up: /workflow-resume +20 turns allows more",
        ),
        ("paused", _) => (NOTABLE, "paused: the agent asked a question"),
        ("waits", _) => (NOTABLE, "waits for the user"),
        ("stale", _) => (
            BAD,
            "stale: its definition is not known, --project DIR names one",
        ),
        ("cancelled", _) => (DIMMED, "cancelled"),
        ("complete", _) => (GOOD, "complete"),
        (_, _) => (GOOD, "active"),
    }
}
