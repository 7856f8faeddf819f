//! Read-only views of a session's run, for hosts and commands.

use std::collections::BTreeMap;

use super::Session;
use super::run::ActiveRun;
use crate::condition::RunCondition;
use crate::reminders::ContinueCounters;
use crate::run::RunState;

pub use super::phase::{Breadcrumb, ResolvedPhase};

/// A session's run, resolved.
#[derive(Debug)]
pub struct View<'a> {
    /// The state as it is stored.
    pub state: &'a RunState,
    /// The phase; `None` if the run ended or does not fit its definitions.
    pub phase: Option<&'a ResolvedPhase>,
    /// What the run is doing, or what it waits for.
    pub condition: RunCondition,
    /// The counts of reminders.
    pub counters: ContinueCounters,
    /// The status line: why the run does not continue, the phase's, and how often its gate failed.
    pub status: Option<String>,
    /// The inputs that the run was given, as people read them.
    pub inputs: BTreeMap<String, String>,
    /// The number of the visit of the phase and its limit: `2 of 3`.
    pub visit: Option<String>,
    /// The budgets that apply, and what is used of each, as people read them.
    pub budget: Option<String>,
    /// Seconds until the next reminder, while a countdown runs.
    pub countdown: Option<u32>,
}

impl Session {
    /// The run, if there is one.
    pub fn view(&self) -> Option<View<'_>> {
        let run = self.run.as_ref()?;
        Some(self.view_in(run, self.condition(run)))
    }

    /// The run once its session is closed: without open questions, and without a gate that runs.
    pub fn closed_view(&self) -> Option<View<'_>> {
        let run = self.run.as_ref()?;
        let condition = RunCondition::of(run, None, false, false);
        let is_active = condition == RunCondition::Active;
        let closed = is_active.then_some(RunCondition::Closed);
        Some(self.view_in(run, closed.unwrap_or(condition)))
    }

    fn view_in<'a>(&self, run: &'a ActiveRun, condition: RunCondition) -> View<'a> {
        let visits = run.visits();
        View {
            state: run.state(),
            phase: run.phase(),
            condition,
            counters: run.counters(),
            status: condition
                .status_line(run)
                .map(|line| line + &run.gate_failures()),
            inputs: run.progress().data.inputs_as_texts(),
            visit: visits.map(|(visits, most)| format!("{visits} of {most}")),
            budget: Some(run.budgets.describe()).filter(|budget| !budget.is_empty()),
            countdown: self.auto_continue.seconds_left(),
        }
    }
}
