//! Measurements of runs for a fleet: denials, gates, reminders, approvals, phases.
//!
//! ```text
//! mod (names, phases that end) ── export (OpenTelemetry, feature `otlp`) ── collector (HTTP)
//! ```
//!
//! Nothing is exported unless the user names a collector; the store has [`figures`](crate::figures). No call waits for one: measurements are added up in memory, and
//! threads of the exporter send them.

#[cfg(feature = "otlp")]
mod collector;
#[cfg(feature = "otlp")]
mod export;
#[cfg(not(feature = "otlp"))]
#[path = "off.rs"]
mod export;

use serde::{Deserialize, Serialize};
use workflow_core::Session;
use workflow_core::effect::Denied;
use workflow_core::policy::gate_report::{CheckVerdict, Report};
use workflow_core::session::{Needed, RunCondition, View};
use workflow_core::types::Millis;

pub(crate) use self::export::{Endpoint, begin, finish};
use crate::figures::{kind, ledger};
use crate::store::Counts;
use crate::time::wall_time;

/// The run and phase that a measurement is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Labels {
    /// The id of the run. On spans only: counters would have a series for each run.
    run: String,
    workflow: String,
    phase: String,
}

impl Labels {
    /// Returns those of the session's run, if it has one.
    fn of(view: &View<'_>) -> Self {
        // Phases of several subworkflows may have the same id.
        let phase = view.phase.map(|phase| match &*phase.workflow_key {
            root if root == view.state.workflow_key => phase.phase.id.clone(),
            inner => format!("{inner}/{}", phase.phase.id),
        });
        Self {
            run: view.state.task_id.clone(),
            workflow: view.state.workflow_key.clone(),
            phase: phase.unwrap_or_default(),
        }
    }
}

/// What a measurement says beside its run and phase: names and values.
type Attributes<'a> = [(&'static str, &'a str)];

/// The phase that a run is in, and since when.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PhaseClock {
    labels: Labels,
    step: u64,
    entered: Millis,
    reminders: u32,
    /// What the run waits for in words, and since when.
    waits: Option<(String, Millis)>,
}

impl PhaseClock {
    fn of(view: &View<'_>, now: Millis) -> Self {
        Self {
            labels: Labels::of(view),
            step: view.state.global_step_count,
            entered: now,
            reminders: view.counters.reminders,
            waits: waiting(view).map(|words| (words.to_owned(), now)),
        }
    }

    /// Returns true if all is as it was.
    fn fits(&self, view: &View<'_>) -> bool {
        let (state, labels) = (view.state, &self.labels);
        let phase = view.phase.map_or("", |phase| &*phase.phase.id);
        let is_around = |inner: &str| inner.is_empty() || inner.ends_with('/');
        (&labels.run, self.step) == (&state.task_id, state.global_step_count)
            && labels.workflow == state.workflow_key
            && labels.phase.strip_suffix(phase).is_some_and(is_around)
            && self.reminders == view.counters.reminders
            && self.waits_for() == waiting(view)
    }

    fn is_same_phase(&self, other: &Self) -> bool {
        self.labels.run == other.labels.run && self.step == other.step
    }

    fn waits_for(&self) -> Option<&str> {
        self.waits.as_ref().map(|(words, _)| &**words)
    }

    /// The clock in a session that begins, if it is about its run. A dialog for which that waited has ended with its session.
    pub(crate) fn resumed(mut self, session: &Session) -> Option<Self> {
        let current = active_view(session).map(|view| Self::of(&view, 0));
        let current = current.filter(|current| current.is_same_phase(&self))?;
        if self.waits_for() != current.waits_for() {
            self.waits = None;
        }
        Some(self)
    }

    /// Compares a run with what was known of it, and counts and measures what has ended since.
    pub(crate) fn follow(
        clock: &mut Option<Self>,
        session: &Session,
        now: Millis,
        counts: &mut Counts,
    ) {
        let view = active_view(session);
        if let (Some(before), Some(view)) = (&*clock, &view)
            && before.fits(view)
        {
            return;
        }
        let mut current = view.map(|view| Self::of(&view, now));
        let Some(before) = clock.take() else {
            *clock = current;
            return;
        };
        let same = current.as_mut();
        let same = same.filter(|current| before.is_same_phase(current));
        let (is_same, mut waited) = (same.is_some(), before.waits);
        let Labels {
            workflow, phase, ..
        } = &before.labels;
        if let Some(current) = same {
            current.entered = before.entered;
            let reminders = current.reminders.saturating_sub(before.reminders).into();
            if reminders > 0 {
                counts.add([workflow, kind::REMINDED, phase], reminders, 0);
                export::count("workflow.reminders", &current.labels, reminders, &[]);
            }
            if current.waits_for() == waited.as_ref().map(|(words, _)| &**words) {
                current.waits = waited.take();
            }
        }
        if let Some((words, since)) = waited {
            let time = now.saturating_sub(since);
            ledger::lasted(workflow, kind::WAITED, &words, time, counts);
            if words == RunCondition::AwaitsApproval.words() {
                export::count("workflow.approvals", &before.labels, 1, &[]);
                let names = ["workflow.approval.wait", "workflow.approval"];
                export::lasted(names, &before.labels, (since, now), &[]);
            }
        }
        if !is_same {
            let time = now.saturating_sub(before.entered);
            ledger::lasted(workflow, kind::PHASE, phase, time, counts);
            let names = ["workflow.phase.duration", "workflow.phase"];
            export::lasted(names, &before.labels, (before.entered, now), &[]);
        }
        *clock = current;
    }
}

fn active_view(session: &Session) -> Option<View<'_>> {
    session.view().filter(|view| view.state.active)
}

/// What a run waits for in words.
fn waiting(view: &View<'_>) -> Option<&'static str> {
    let waits = Needed::by(view.condition.state()) != Needed::Nothing;
    waits.then(|| view.condition.words())
}

/// Counts calls that rules denied.
pub(crate) fn denials(session: &Session, denied: &[Denied]) {
    if denied.is_empty() || !export::is_on() {
        return;
    }
    // Settings deny without a run, too.
    let labels = session.view().as_ref().map(Labels::of).unwrap_or_default();
    for denied in denied {
        let of_denial = [
            ("workflow.rule", &*denied.rule),
            ("workflow.level", &*denied.level),
            ("workflow.tool", &*denied.tool),
        ];
        export::count("workflow.denials", &labels, 1, &of_denial);
    }
}

/// Counts that the user has lifted the rules for the time without a run, if that is so.
pub(crate) fn lift(is_lifted: bool) {
    if is_lifted && export::is_on() {
        export::count("workflow.lifts", &Labels::default(), 1, &[]);
    }
}

/// Counts a gate that ended, with the time that its checks took.
pub(crate) fn gate(session: &Session, reports: &[Report]) {
    if !export::is_on() {
        return;
    }
    let labels = session.view().as_ref().map(Labels::of).unwrap_or_default();
    let mut verdicts = reports.iter().filter_map(|report| match report.verdict {
        CheckVerdict::Passed => None,
        CheckVerdict::Failed => Some("failed"),
        CheckVerdict::CouldNotRun(_) => Some("could_not_run"),
    });
    let verdict = [("workflow.verdict", verdicts.next().unwrap_or("passed"))];
    export::count("workflow.gates", &labels, 1, &verdict);
    let (end, took) = (wall_time(), reports.iter().map(|report| report.duration_ms));
    let start = end.saturating_sub(took.sum());
    let names = ["workflow.gate.duration", "workflow.gate"];
    export::lasted(names, &labels, (start, end), &verdict);
}
