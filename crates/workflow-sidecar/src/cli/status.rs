//! `status`: the run of a session, or one of the index.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::builder::styling::Style;
use serde::Serialize;
use workflow_core::definition::{Bound, Loaded, load};
use workflow_core::diagnostic::{Code, Diagnostic, shown, visible};
use workflow_core::reminders::PauseReason;
use workflow_core::run::entry_type;
use workflow_core::session::{Needed, RunCondition, View};

use super::newest_session::newest_session;
use super::project::UserDirectory;
use super::run_session::{
    RunSession, keep_run, place_of, run_id, run_in_project, run_of_file, run_session,
};
use crate::platform::answers::approvals::{Approvals, RequestFile};
use crate::present::CommandOutcome;
use crate::present::{BAD, DIMMED, GOOD, Moment, NOTABLE, OutputFormat, TITLE, json};
use crate::record::Transcript;
use crate::run_condition::{restored_session, state_name, stored_path};
use crate::session_file::{SessionFile, is_session, read_file};
use crate::store::{IndexedRun, Run};

const EXAMPLES: &str = "\
Examples:
  workflow-sidecar status                                the newest pi session of this directory
  workflow-sidecar status ~/.pi/agent/sessions/--project--/session.jsonl
  workflow-sidecar status wf-1767225600000-3t8xrq        a run of any host; the first letters are enough
  workflow-sidecar status session.jsonl --project .      with the workflows as they are now

The definition stored in the session is used, unless --project names another.
Exits with 3 if the run waits for the user, with 4 if it stopped at a limit.";

/// Show the state of a run
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Session file, or the id of a run [default: newest pi session of the project or of the current directory, or else the run of another host there]
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
    let RunSubject {
        bytes,
        file,
        indexed,
    } = RunSubject::of(arguments)?;
    let mut session = SessionFile::parse(bytes.as_deref().unwrap_or_default());
    if let Some(run) = &indexed {
        keep_run(&mut session, run);
    }
    let loaded = match &arguments.project {
        Some(project) => load(&arguments.user.disk(project)?),
        None => Loaded::default(),
    };
    let (engine, mut problems) = restored_session(&session.ours(), &loaded);
    // No files were read unless a project was named.
    let is_about_files =
        |found: &Diagnostic| matches!(found.code, Code::DefinitionGone | Code::GuardsChanged);
    let is_relevant = |found: &Diagnostic| arguments.project.is_some() || !is_about_files(found);
    problems.retain(is_relevant);
    let problems = problems.iter().map(ToString::to_string).collect();
    let view = engine.view();
    let (output, condition) = match (&view, &indexed) {
        (Some(view), _) => {
            let request = approval_of(view, arguments)?;
            let noted = match &file {
                Some(file) => run_of_file(&view.state.task_id, file, &arguments.user.directory())?,
                None => indexed.clone(),
            };
            let condition = ShownCondition::of(view, request.as_ref(), noted.as_ref());
            let output = StatusOutput {
                status: condition.state.clone(),
                run: Some(RunStatus::of(
                    view,
                    since(&session).or(noted.map(|run| run.since.into())),
                    request,
                )),
                problems,
            };
            (output, condition)
        }
        (None, Some(run)) => {
            let condition = ShownCondition::indexed(&run.run);
            let output = StatusOutput {
                status: condition.state.clone(),
                run: Some(RunStatus::indexed(run, bytes.is_none())),
                problems,
            };
            (output, condition)
        }
        (None, None) => {
            let output = StatusOutput {
                status: "none".to_owned(),
                run: None,
                problems,
            };
            (output, ShownCondition::none())
        }
    };
    match arguments.format {
        OutputFormat::Json => json(&output)?,
        OutputFormat::Human => output.print(&condition)?,
    }
    Ok(condition.needed.into())
}

/// The run to show: the last one of a session, or one of the index.
struct RunSubject {
    bytes: Option<Vec<u8>>,
    /// The file of the session, if it was not found by a run.
    file: Option<PathBuf>,
    indexed: Option<IndexedRun>,
}

impl RunSubject {
    /// The run of an id, the session of a file, or the newest session of the project.
    fn of(arguments: &Arguments) -> anyhow::Result<Self> {
        let agent_dir = arguments.user.directory();
        let Some(file) = &arguments.file else {
            let project = arguments.project.as_deref().unwrap_or(Path::new("."));
            return match newest_session(project, &agent_dir) {
                Ok(newest) => Self::of_file(newest),
                // Another host may have a run here.
                Err(none) => match run_in_project(&project.canonicalize()?, &agent_dir)? {
                    Some(run) => Ok(run.into()),
                    None => Err(none),
                },
            };
        };
        match run_id(file) {
            Some(id) => Ok(run_session(id, &agent_dir)?.into()),
            None => Self::of_file(file.clone()),
        }
    }

    fn of_file(file: PathBuf) -> anyhow::Result<Self> {
        let bytes = read_file(&file)?;
        if !is_session(&bytes) {
            let name = file.display();
            match Transcript::parse(&file, &bytes) {
                Ok(_) => bail!(
                    "{name} is a recording, not a session of pi: `workflow-sidecar show` shows it"
                ),
                Err(_) => bail!(
                    "{name} is no session of pi: its first line would be {{\"type\":\"session\",…}}"
                ),
            }
        }
        Ok(Self {
            bytes: Some(bytes),
            file: Some(file),
            indexed: None,
        })
    }
}

impl From<RunSession> for RunSubject {
    fn from(found: RunSession) -> Self {
        Self {
            bytes: found.bytes,
            file: None,
            indexed: Some(found.run),
        }
    }
}

/// The condition of a run as it is shown.
struct ShownCondition {
    /// Its name, for programs.
    state: String,
    words: String,
    needed: Needed,
}

impl ShownCondition {
    /// The condition of a restored run. Its open dialogs are not stored with it, but the index has them.
    fn of(view: &View<'_>, request: Option<&RequestFile>, indexed: Option<&IndexedRun>) -> Self {
        let has_answer = request.map(|request| request.choice.is_some());
        match (view.condition, has_answer) {
            (RunCondition::AwaitsApproval, None) => Self {
                words: "its approval is not requested any more: ask the agent to continue"
                    .to_owned(),
                ..RunCondition::Answered.into()
            },
            (_, Some(true)) => RunCondition::Answered.into(),
            (_, Some(false)) => Self {
                words: "waiting for your approval: see workflow-sidecar approve".to_owned(),
                ..RunCondition::AwaitsApproval.into()
            },
            (RunCondition::Active, None) => match indexed {
                Some(run) if matches!(&*run.run.state, "waits" | "closed") => {
                    Self::indexed(&run.run)
                }
                Some(_) | None => RunCondition::Active.into(),
            },
            (RunCondition::Stale, None) => Self {
                words: format!("{}, --project DIR names one", view.condition.words()),
                ..view.condition.into()
            },
            (condition, None) => condition.into(),
        }
    }

    /// The condition that the index has.
    fn indexed(run: &Run) -> Self {
        Self {
            state: run.state.clone(),
            words: run.words().to_owned(),
            needed: match run.state.as_str() {
                "waits" | "paused" => Needed::User,
                "stopped" => Needed::Limit,
                _ => Needed::Nothing,
            },
        }
    }

    fn none() -> Self {
        Self {
            state: String::new(),
            words: String::new(),
            needed: Needed::Nothing,
        }
    }

    fn style(&self) -> Style {
        match self.state.as_str() {
            "active" | "complete" => GOOD,
            "stale" => BAD,
            "cancelled" | "ended" => DIMMED,
            _ => NOTABLE,
        }
    }
}

impl From<RunCondition> for ShownCondition {
    fn from(condition: RunCondition) -> Self {
        Self {
            state: state_name(condition).to_owned(),
            words: condition.described(),
            needed: condition.needed(),
        }
    }
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
fn since(file: &SessionFile<'_>) -> Option<Moment> {
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
    since.map(Moment)
}

/// The output.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusOutput<'a> {
    /// The state of the run.
    status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunStatus<'a>>,
    /// Problems of the stored entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
}

/// A run; one that only the index has lacks what the index lacks.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct RunStatus<'a> {
    workflow: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow_name: Option<&'a str>,
    task: &'a str,
    task_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a workflow_core::run::Path>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<PhaseStatus<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reminders: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<PauseReason>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    paused_by_owner: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<ApprovalStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    visit: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<&'a str>,
    /// The place of the session, if it is not on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    elsewhere: Option<String>,
}

/// A request for approval.
#[derive(Debug, Clone, Serialize)]
struct ApprovalStatus {
    ask: String,
    /// The answer, if it is not used yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<String>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct PhaseStatus<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    phase_id: &'a str,
    phase_name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    status_line: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_reminders: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waits: Option<bool>,
    #[serde(skip_serializing_if = "str::is_empty")]
    outcomes: &'a str,
}

impl StatusOutput<'_> {
    fn print(&self, condition: &ShownCondition) -> anyhow::Result<()> {
        let mut out = anstream::stdout().lock();
        match &self.run {
            None => writeln!(out, "no run is active in this session")?,
            Some(run) => {
                let name = run.workflow_name.unwrap_or(run.workflow);
                let (style, words) = (condition.style(), shown(&condition.words));
                writeln!(
                    out,
                    "{TITLE}{}{TITLE:#}  {DIMMED}{}{DIMMED:#}  {style}{words}{style:#}",
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

impl<'a> RunStatus<'a> {
    fn of(view: &'a View<'a>, since: Option<Moment>, request: Option<RequestFile>) -> Self {
        let state = view.state;
        let phase = view.phase.as_ref();
        Self {
            workflow: &state.workflow_key,
            workflow_name: phase.map(|phase| phase.workflow_name),
            task: &state.task_description,
            task_id: &state.task_id,
            path: Some(&state.current_path),
            phase: phase.map(|phase| PhaseStatus {
                phase_id: phase.id,
                phase_name: phase.name,
                status_line: phase.status,
                max_reminders: match phase.max {
                    Bound::Times(times) => Some(times),
                    Bound::Unlimited => None,
                },
                waits: Some(phase.waits),
                outcomes: phase.outcomes,
            }),
            steps: Some(state.global_step_count),
            started_at: Some(Moment(state.started_at)),
            since,
            reminders: Some(view.counters.reminders),
            paused: view.counters.paused,
            paused_by_owner: view.counters.paused_by_owner,
            approval: request.map(|status| ApprovalStatus {
                ask: status.request.ask,
                choice: status.choice,
            }),
            visit: view.visit.as_deref(),
            budget: view.budget.as_deref(),
            elsewhere: None,
        }
    }

    /// What the index has of a run.
    fn indexed(indexed: &'a IndexedRun, is_elsewhere: bool) -> Self {
        let run = &indexed.run;
        Self {
            workflow: &run.workflow,
            task: &run.task,
            task_id: &run.task_id,
            phase: (!run.phase.is_empty()).then(|| PhaseStatus {
                phase_name: &run.phase,
                ..PhaseStatus::default()
            }),
            since: Some(indexed.since.into()),
            elsewhere: is_elsewhere.then(|| place_of(indexed)),
            ..Self::default()
        }
    }

    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        let mut line = |key: &str, value: &str| writeln!(out, "  {key:9} {}", shown(value));
        line("task", self.task)?;
        match (&self.phase, self.path) {
            (Some(phase), _) if phase.status_line.is_empty() => line("place", phase.phase_name)?,
            (Some(phase), _) => line("place", phase.status_line)?,
            (None, Some(path)) => line("place", &stored_path(path))?,
            (None, None) => {}
        }
        if let Some(steps) = self.steps {
            line("steps", &steps.to_string())?;
        }
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
        if let Some(started) = self.started_at {
            line("started", &started.to_string())?;
        }
        if let Some(since) = self.since {
            line("since", &since.to_string())?;
        }
        if let Some(ApprovalStatus { ask, choice }) = &self.approval {
            line("asks", ask)?;
            if let Some(choice) = choice {
                line("answered", choice)?;
            }
        }
        let bound = self.phase.as_ref().and_then(|phase| phase.max_reminders);
        match (self.reminders, bound) {
            (None | Some(0), _) => {}
            (Some(count), Some(max)) => line("reminders", &format!("{count} of {max}"))?,
            (Some(count), None) => line("reminders", &count.to_string())?,
        }
        match &self.elsewhere {
            Some(place) => line("elsewhere", place),
            None => Ok(()),
        }
    }
}
