//! The status of a run, in words and as JSON.

use std::fmt::Display;

use clap::builder::styling::Style;
use serde::Serialize;
use workflow_core::diagnostic::{shown, visible};
use workflow_core::reminders::PauseReason;
use workflow_core::run::restore;
use workflow_core::session::{Needed, RunCondition, View};

use super::page::{BAD, DIMMED, GOOD, Moment, NOTABLE, Page, TITLE, paint};
use super::run::stored_path;
use crate::platform::answers::requests::AskedRequest;
use crate::sessions::SessionFile;
use crate::store::{IndexedRun, Run};

/// The status of a session.
#[derive(Debug, Serialize)]
pub(crate) struct Status<'a> {
    #[serde(rename = "status")]
    pub(crate) condition: ShownCondition,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<RunStatus<'a>>,
    /// Problems of the stored entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) problems: Vec<String>,
}

/// The condition of a run as it is shown.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct ShownCondition {
    /// Its name, for programs.
    state: String,
    #[serde(skip)]
    words: String,
}

impl ShownCondition {
    /// The condition of a restored run. Its open dialogs are not stored with it, but the index has them.
    pub(crate) fn of(
        view: &View<'_>,
        request: Option<&AskedRequest>,
        indexed: Option<&IndexedRun>,
    ) -> Self {
        let has_answer = request.map(|(_, decision)| decision.is_some());
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
            (RunCondition::Active | RunCondition::Paused(PauseReason::Question), None) => {
                match indexed {
                    Some(run) if matches!(&*run.run.state, "waits" | "closed") => {
                        Self::indexed(&run.run)
                    }
                    Some(_) | None => view.condition.into(),
                }
            }
            (RunCondition::Stale, None) => Self {
                words: format!("{}, --project DIR names one", view.condition.words()),
                ..view.condition.into()
            },
            (condition, None) => condition.into(),
        }
    }

    /// The condition that the index has.
    pub(crate) fn indexed(run: &Run) -> Self {
        Self {
            state: run.state.clone(),
            words: run.words().to_owned(),
        }
    }

    /// No run.
    pub(crate) fn none() -> Self {
        Self {
            state: "none".to_owned(),
            words: String::new(),
        }
    }

    pub(crate) fn needed(&self) -> Needed {
        Needed::by(&self.state)
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
            state: condition.state().to_owned(),
            words: condition.described(),
        }
    }
}

/// A run; one that only the index has lacks what the index lacks.
#[serde_with::skip_serializing_none]
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunStatus<'a> {
    workflow: &'a str,
    workflow_name: Option<&'a str>,
    task: &'a str,
    task_id: &'a str,
    path: Option<&'a workflow_core::run::Path>,
    phase: Option<PhaseStatus<'a>>,
    steps: Option<u64>,
    started_at: Option<Moment>,
    since: Option<Moment>,
    reminders: Option<u32>,
    paused: Option<PauseReason>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    paused_by_owner: bool,
    approval: Option<ApprovalStatus>,
    visit: Option<String>,
    budget: Option<String>,
    /// The place of the session, if it is not on this machine.
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

#[serde_with::skip_serializing_none]
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct PhaseStatus<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    phase_id: &'a str,
    phase_name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    status_line: &'a str,
    max_reminders: Option<u32>,
    waits: Option<bool>,
    #[serde(skip_serializing_if = "str::is_empty")]
    outcomes: &'a str,
}

impl<'a> RunStatus<'a> {
    pub(crate) fn of(
        view: &'a View<'a>,
        since: Option<Moment>,
        request: Option<AskedRequest>,
    ) -> Self {
        let state = view.state;
        let phase = view.phase;
        Self {
            workflow: &state.workflow_key,
            workflow_name: phase.map(|phase| &*phase.workflow_name),
            task: &state.task_description,
            task_id: &state.task_id,
            path: Some(&state.current_path),
            phase: phase.map(|phase| PhaseStatus {
                phase_id: &phase.phase.id,
                phase_name: &phase.phase.name,
                status_line: &phase.status,
                max_reminders: phase.auto_continue.max.times(),
                waits: Some(phase.auto_continue.wait),
                outcomes: &phase.outcomes,
            }),
            steps: Some(state.global_step_count),
            started_at: Some(Moment(state.started_at)),
            since,
            reminders: Some(view.counters.reminders),
            paused: view.counters.paused,
            paused_by_owner: view.counters.paused_by_owner,
            approval: request.map(|(request, decision)| ApprovalStatus {
                ask: request.ask,
                choice: decision.map(|decision| decision.choice),
            }),
            visit: view.visit(),
            budget: view.budget(),
            elsewhere: None,
        }
    }

    /// What the index has of a run.
    pub(crate) fn indexed(indexed: &'a IndexedRun, elsewhere: Option<String>) -> Self {
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
            elsewhere,
            ..Self::default()
        }
    }

    fn print(&self, page: &mut Page) {
        let phase = self.phase.as_ref();
        let place = match phase {
            Some(phase) if phase.status_line.is_empty() => Some(phase.phase_name.to_owned()),
            Some(phase) => Some(phase.status_line.to_owned()),
            None => self.path.map(stored_path),
        };
        let outcomes = phase.map(|phase| phase.outcomes);
        let most = phase.and_then(|phase| phase.max_reminders);
        let reminders = self.reminders.filter(|count| *count > 0);
        let reminders = reminders.map(|count| match most {
            Some(most) => format!("{count} of {most}"),
            None => count.to_string(),
        });
        let approval = self.approval.as_ref();
        let answer = approval.and_then(|approval| approval.choice.as_ref());
        add(page, "task", Some(self.task));
        add(page, "place", place);
        add(page, "steps", self.steps);
        add(page, "visit", self.visit.as_deref());
        add(page, "outcomes", outcomes.filter(|text| !text.is_empty()));
        add(page, "budget", self.budget.as_deref());
        add(page, "started", self.started_at);
        add(page, "since", self.since);
        add(page, "asks", approval.map(|approval| &approval.ask));
        add(page, "answered", answer);
        add(page, "reminders", reminders);
        add(page, "elsewhere", self.elsewhere.as_ref());
    }
}

/// Adds a fact of a run, if it is known.
fn add(page: &mut Page, name: &str, value: Option<impl Display>) {
    if let Some(value) = value {
        page.line(format_args!("  {name:9} {}", shown(&value.to_string())));
    }
}

impl Status<'_> {
    /// Adds the status to a page.
    pub(crate) fn print(&self, page: &mut Page) {
        match &self.run {
            None => page.line("no run is active in this session"),
            Some(run) => {
                let name = shown(run.workflow_name.unwrap_or(run.workflow));
                let key = paint(DIMMED, shown(run.workflow));
                let words = shown(&self.condition.words);
                let words = paint(self.condition.style(), words);
                page.line(format_args!("{}  {key}  {words}", paint(TITLE, name)));
                run.print(page);
            }
        }
        for problem in &self.problems {
            let note = paint(NOTABLE, "note:");
            page.line(format_args!("{note} {}", visible(problem)));
        }
    }
}

/// Returns when the run's position changed last, from the entries.
pub(crate) fn since(file: &SessionFile<'_>) -> Option<Moment> {
    let (mut position, mut since) = (None, None);
    for entry in &file.entries {
        // An entry of another form has no position; the engine reports it.
        let Some(state) = entry.ours().and_then(|ours| restore(&[ours]).state) else {
            continue;
        };
        let steps = state.global_step_count;
        let current = Some((state.task_id, state.active, state.current_path, steps));
        if position != current {
            (position, since) = (current, entry.at());
        }
    }
    since.map(Moment)
}
