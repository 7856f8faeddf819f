//! Read-only views of a session's run, for hosts and commands.

use std::collections::BTreeMap;

use super::auto_continue::AutoContinue;
use super::phase::ResolvedPhase;
use super::run::ActiveRun;
use crate::condition::RunCondition;
use crate::definition::Bound;
use crate::reminders::ContinueCounters;
use crate::run::RunState;

pub use super::phase::BreadcrumbItem;

/// A session's run, resolved.
#[derive(Debug)]
pub struct View<'a> {
    /// The state as it is stored.
    pub state: &'a RunState,
    /// The phase; `None` if the run ended or does not fit its definitions.
    pub phase: Option<PhaseView<'a>>,
    /// What the run is doing, or what it waits for.
    pub condition: RunCondition,
    /// The counts of reminders.
    pub counters: ContinueCounters,
    /// The status line: why the run does not continue, and the phase's.
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

/// The phase of a run.
#[derive(Debug)]
pub struct PhaseView<'a> {
    /// The root workflow's name.
    pub workflow_name: &'a str,
    /// The scopes, root first.
    pub breadcrumb: &'a [BreadcrumbItem],
    /// The phase's id.
    pub id: &'a str,
    /// The phase's name.
    pub name: &'a str,
    /// The phase's emoji.
    pub emoji: &'a str,
    /// The position in the innermost scope, from 1, and the number of its entries.
    pub progress: (usize, usize),
    /// The status line.
    pub status: &'a str,
    /// Reminders in a row without an advance.
    pub max: Bound,
    /// Reminders in a row after which the agent called no tool.
    pub max_stale: Bound,
    /// True if the phase waits for the user.
    pub waits: bool,
    /// The outcomes, and the phases that they lead to, as people read them. Empty without outcomes.
    pub outcomes: &'a str,
}

impl<'a> View<'a> {
    pub(crate) fn of(
        run: &'a ActiveRun,
        condition: RunCondition,
        auto_continue: &AutoContinue,
    ) -> Self {
        Self {
            state: run.state(),
            phase: run.phase().map(PhaseView::of),
            condition,
            counters: run.counters(),
            status: condition.status_line(run),
            inputs: run.progress().data.inputs_as_texts(),
            visit: run
                .visits()
                .map(|(visits, most)| format!("{visits} of {most}")),
            budget: Some(run.budgets().describe()).filter(|budget| !budget.is_empty()),
            countdown: auto_continue.seconds_left(),
        }
    }
}

impl<'a> PhaseView<'a> {
    fn of(resolved: &'a ResolvedPhase) -> Self {
        Self {
            workflow_name: &resolved.workflow_name,
            breadcrumb: &resolved.breadcrumb,
            id: &resolved.phase.id,
            name: &resolved.phase.name,
            emoji: &resolved.phase.emoji,
            progress: resolved.progress,
            status: &resolved.status,
            max: resolved.auto_continue.max,
            max_stale: resolved.auto_continue.max_stale,
            waits: resolved.auto_continue.wait,
            outcomes: &resolved.outcomes,
        }
    }
}
