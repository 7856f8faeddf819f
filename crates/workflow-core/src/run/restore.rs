//! The restoration of a run from the session's entries (state-management: "Reconstruction").
//!
//! A damaged entry is reported and left out.

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::definition::Catalog;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::event::Entry;

use super::stored::{RunEntry, VERSION, entry_type};
use super::stored_state::state_from;
use super::{
    RunState, RunValues, ScopeUsage, Spending, StoredDefinition, StoredGate, StoredRun, Tally,
    Terms,
};

/// The content of the entries.
#[must_use]
#[derive(Debug, Default)]
pub struct RestoredRun {
    /// The state of the last run.
    pub state: Option<RunState>,
    /// The definition stored with it.
    pub definition: Option<RestoredDefinition>,
    /// Its counts of reminders, its approval request, and the data that it had collected with the values.
    pub run: StoredRun,
    /// What had happened.
    pub tally: Tally,
    /// The parts of its budgets that it had used.
    pub spending: Spending,
    /// The types of entries that are left out because they came before a state which was not stored.
    pub unmade: Vec<&'static str>,
    /// The baseline of its phase's gate, if the gate needs one.
    pub baseline: Option<Box<RawValue>>,
    /// True if a later version stored parts of it.
    pub is_of_later_version: bool,
    /// Reports on entries that could not be used.
    pub diagnostics: Vec<Diagnostic>,
}

/// A stored definition that can be used: what the user last agreed to.
#[derive(Debug)]
pub struct RestoredDefinition {
    /// The definition, and the guards of the settings that were stored with it.
    pub terms: Terms,
    /// The hash of the definition.
    pub hash: String,
    /// The digest of changed files that the user declined.
    pub declined: Option<String>,
}

/// Reads the session's entries, oldest first.
pub fn restore(entries: &[Entry<'_>]) -> RestoredRun {
    let mut diagnostics = Vec::new();
    let Some(state) = newest_state(entries, &mut diagnostics) else {
        return RestoredRun {
            diagnostics,
            ..RestoredRun::default()
        };
    };
    let step = state.global_step_count;
    let mut of_run = RunEntries {
        diagnostics,
        ..RunEntries::of(entries, &state.task_id)
    };
    let definition = of_run.definition();
    let is_made = |of: Option<u64>| of.is_none_or(|of| of <= step);
    // An entry of a move whose state was not stored does not count.
    let mut unmade = Vec::new();
    let run = of_run.last(|of, run: &StoredRun| {
        let is_made = is_made(of) && is_made(run.moved_by.as_ref().map(|moved| moved.step));
        unmade.extend((!is_made).then_some(StoredRun::TYPE));
        is_made
    });
    let (_, mut run) = run.unwrap_or_default();
    let values = of_run.last(|of, _: &RunValues| {
        unmade.extend((!is_made(of)).then_some(RunValues::TYPE));
        is_made(of)
    });
    (_, run.data.values) = values.unwrap_or_default();
    let (spent_at, mut spending) = of_run.last(|_, _: &Spending| true).unwrap_or_default();
    if spent_at != Some(step) {
        spending.phase = ScopeUsage::default();
    }
    let (_, tally) = of_run.last(|_, _: &Tally| true).unwrap_or_default();
    let diagnostics = std::mem::take(&mut of_run.diagnostics);
    // A damaged baseline counts as missing: the checks that need it say so.
    let baseline = of_run.last(|of, gate: &StoredGate| of == Some(step) && gate.baseline.is_some());
    let is_of_later_version = (diagnostics.iter()).any(|found| found.code == Code::StoredLater);
    RestoredRun {
        definition,
        run,
        tally,
        spending,
        unmade,
        baseline: baseline.and_then(|(_, gate)| gate.baseline),
        is_of_later_version,
        diagnostics,
        state: Some(state),
    }
}

/// Returns the newest state. In place of a damaged one the state before it counts, if the definition of its run is stored:
/// without one, nothing says that it is still in force.
fn newest_state(entries: &[Entry<'_>], diagnostics: &mut Vec<Diagnostic>) -> Option<RunState> {
    let is_stored = |state: &RunState| {
        let mut of_run = RunEntries::of(entries, &state.task_id);
        of_run.definition().is_some()
    };
    let mut is_newest = true;
    let states = entries.iter().rev();
    let states = states.filter(|entry| entry.custom_type == entry_type::STATE);
    for state in states.filter_map(|entry| state_from(entry.data?)) {
        match state {
            Ok(state) => return Some(state).filter(|state| is_newest || is_stored(state)),
            Err(why) if is_newest => {
                let message = format!("a stored workflow state is skipped: {why}");
                let found = Diagnostic::new(Code::StoredDamaged, Severity::Warning, message);
                diagnostics.push(found);
                is_newest = false;
            }
            Err(_) => {}
        }
    }
    None
}

/// The newest entry of a type that belongs to the run of a task, without those that cannot be read; and its step, if it has
/// one.
pub fn last_of_run<T: RunEntry>(entries: &[Entry<'_>], task_id: &str) -> Option<(Option<u64>, T)> {
    RunEntries::of(entries, task_id).last(|_, _| true)
}

/// The entries of a session, as the run of a task reads them.
struct RunEntries<'a> {
    entries: &'a [Entry<'a>],
    task_id: &'a str,
    /// Reports on entries that are damaged or of a later version.
    diagnostics: Vec<Diagnostic>,
}

impl<'a> RunEntries<'a> {
    fn of(entries: &'a [Entry<'a>], task_id: &'a str) -> Self {
        Self {
            entries,
            task_id,
            diagnostics: Vec::new(),
        }
    }

    /// The newest definition.
    fn definition(&mut self) -> Option<RestoredDefinition> {
        let (_, stored) = self.last(|_, _: &StoredDefinition| true)?;
        let catalog = Catalog::checked(stored.workflows);
        if catalog.is_none() {
            self.diagnostics.push(damaged(entry_type::DEFINITION));
        }
        Some(RestoredDefinition {
            terms: Terms {
                catalog: Arc::new(catalog?),
                guards: stored.guards.unwrap_or_default(),
            },
            hash: stored.hash,
            declined: stored.declined,
        })
    }

    /// The newest entry of a type that belongs to the run and counts; those of later versions are skipped.
    fn last<T: RunEntry>(
        &mut self,
        mut counts: impl FnMut(Option<u64>, &T) -> bool,
    ) -> Option<(Option<u64>, T)> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Header {
            version: u32,
            task_id: String,
            step: Option<u64>,
        }
        let entries = self.entries.iter().rev();
        for entry in entries.filter(|entry| entry.custom_type == T::TYPE) {
            let text = entry.data.map_or("null", RawValue::get);
            match serde_json::from_str::<Header>(text) {
                Ok(header) if header.task_id != self.task_id => {}
                Ok(header) if header.version > VERSION => self.diagnostics.push(Diagnostic::new(
                    Code::StoredLater,
                    Severity::Info,
                    format!(
                        "a `{}` entry of version {} is skipped: this sidecar knows version {VERSION}",
                        T::TYPE,
                        header.version
                    ),
                )),
                Ok(Header { step, .. }) => match serde_json::from_str(text) {
                    Ok(stored) if counts(step, &stored) => return Some((step, stored)),
                    Ok(_) => {}
                    Err(_) => self.diagnostics.push(damaged(T::TYPE)),
                },
                Err(_) => self.diagnostics.push(damaged(T::TYPE)),
            }
        }
        None
    }
}

fn damaged(custom_type: &str) -> Diagnostic {
    Diagnostic::new(
        Code::StoredDamaged,
        Severity::Warning,
        format!("a stored `{custom_type}` entry is damaged and skipped"),
    )
    .with_help("the one before it counts: /workflow-goto leads back to what was handed over since and is lost")
}
