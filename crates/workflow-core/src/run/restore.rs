//! The restoration of a run from the session's entries (state-management: "Reconstruction").
//!
//! A damaged entry is reported and left out.

use serde_json::value::RawValue;

use crate::definition::Catalog;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::event::Entry;
use crate::reminders::ContinueCounters;

use super::stored::{VERSION, entry_type};
use super::stored_state::state_from;
use super::{
    PersonMove, RunData, RunState, RunValues, ScopeUsage, Spending, StoredDefinition, StoredGate,
    StoredGuards, StoredRun, StoredSpending, StoredTally, StoredValues, Tally,
};

/// The content of the entries.
#[derive(Debug, Default)]
pub struct RestoredRun {
    /// The state of the last run.
    pub state: Option<RunState>,
    /// The definition stored with it.
    pub definition: Option<RestoredDefinition>,
    /// Its counts of reminders.
    pub counters: ContinueCounters,
    /// Its approval request, if it is paused for it.
    pub approval_request: Option<String>,
    /// The hash of the code of that request.
    pub approval_seal: Option<String>,
    /// The last move, if a person made it.
    pub moved_by: Option<PersonMove>,
    /// What had happened.
    pub tally: Tally,
    /// The data that the run had collected.
    pub data: RunData,
    /// The values among that data, if their own entry has them.
    pub stored_values: Option<RunValues>,
    /// The parts of its budgets that it had used.
    pub spending: Spending,
    /// True if an entry is left out that came before a state which was not stored.
    pub has_unmade_move: bool,
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
    /// The root workflow and all that it reaches.
    pub catalog: Catalog,
    /// Its hash.
    pub hash: String,
    /// The guards of the settings that were stored with it.
    pub guards: Option<StoredGuards>,
    /// The digest of changed files that the user declined.
    pub declined: Option<String>,
}

/// Reads the session's entries, oldest first.
#[must_use]
pub fn restore(entries: &[Entry<'_>]) -> RestoredRun {
    let mut restored = RestoredRun::default();
    restored.state = newest_state(entries, &mut restored.diagnostics);
    if let Some(task_id) = restored.state.as_ref().map(|state| state.task_id.clone()) {
        restored.definition = newest_definition(entries, &task_id, &mut restored.diagnostics);
        let step = restored
            .state
            .as_ref()
            .map_or(0, |state| state.global_step_count);
        // An entry of a move whose state was not stored does not count.
        let mut has_unmade_move = false;
        let is_made = |run: &StoredRun| {
            let moved_by = run.moved_by.as_ref().map(|moved| moved.step);
            let is_made = [run.step, moved_by]
                .into_iter()
                .flatten()
                .all(|of| of <= step);
            has_unmade_move |= !is_made;
            is_made
        };
        let run = last_of_run(
            entries,
            entry_type::RUN,
            &task_id,
            is_made,
            &mut restored.diagnostics,
        );
        if let Some(run) = run {
            restored.counters = run.counters;
            restored.approval_request = run.approval_request;
            restored.approval_seal = run.approval_seal;
            restored.moved_by = run.moved_by;
            restored.data = run.data;
        }
        let mut has_unmade_values = false;
        let values: Option<StoredValues> = last_of_run(
            entries,
            entry_type::VALUES,
            &task_id,
            |values: &StoredValues| {
                has_unmade_values |= values.step > step;
                values.step <= step
            },
            &mut restored.diagnostics,
        );
        let values = values.map(|stored| stored.values).unwrap_or_default();
        // Entries of earlier versions have the values among the data.
        if restored.data.has_values(&RunValues::default()) {
            restored.data.inputs.clone_from(&values.inputs);
            restored.data.outputs.clone_from(&values.outputs);
            restored.stored_values = Some(values).filter(|_| !has_unmade_values);
        }
        let stored: Option<StoredSpending> = last_of_run(
            entries,
            entry_type::BUDGET,
            &task_id,
            |_| true,
            &mut restored.diagnostics,
        );
        if let Some(stored) = stored {
            restored.spending = stored.spending;
            if stored.step != step {
                restored.spending.phase = ScopeUsage::default();
            }
        }
        let stored: Option<StoredTally> = last_of_run(
            entries,
            entry_type::TALLY,
            &task_id,
            |_| true,
            &mut restored.diagnostics,
        );
        restored.tally = stored.map(|stored| stored.tally).unwrap_or_default();
        restored.has_unmade_move = has_unmade_move;
        restored.baseline = last_baseline(entries, &task_id, step);
        let mut found = restored.diagnostics.iter();
        restored.is_of_later_version = found.any(|found| found.code == Code::StoredLater);
    }
    restored
}

/// Returns the newest state. In place of a damaged one the state before it counts, if the definition of its run is stored:
/// without one, nothing says that it is still in force.
fn newest_state(entries: &[Entry<'_>], diagnostics: &mut Vec<Diagnostic>) -> Option<RunState> {
    let is_stored =
        |state: &RunState| newest_definition(entries, &state.task_id, &mut Vec::new()).is_some();
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

/// Returns the newest definition of a run, and reports entries that are damaged or of a later version.
fn newest_definition(
    entries: &[Entry<'_>],
    task_id: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<RestoredDefinition> {
    let stored: StoredDefinition = last_of_run(
        entries,
        entry_type::DEFINITION,
        task_id,
        |_| true,
        diagnostics,
    )?;
    let catalog = Catalog::checked(stored.workflows);
    if catalog.is_none() {
        diagnostics.push(damaged(entry_type::DEFINITION));
    }
    Some(RestoredDefinition {
        catalog: catalog?,
        hash: stored.hash,
        guards: stored.guards,
        declined: stored.declined,
    })
}

/// Returns the baseline of this step of a run. A damaged one counts as missing: the checks that need it say so.
fn last_baseline(entries: &[Entry<'_>], task_id: &str, step: u64) -> Option<Box<RawValue>> {
    let gates = entries
        .iter()
        .rev()
        .filter(|entry| entry.custom_type == entry_type::GATE);
    let stored =
        gates.filter_map(|entry| serde_json::from_str::<StoredGate>(entry.data?.get()).ok());
    stored
        .filter(|stored| {
            stored.version <= VERSION && stored.task_id == task_id && stored.step == step
        })
        .find_map(|stored| stored.baseline)
}

/// The newest entry of a type that belongs to a run and counts; those of later versions are skipped.
fn last_of_run<T: serde::de::DeserializeOwned>(
    entries: &[Entry<'_>],
    custom_type: &'static str,
    task_id: &str,
    mut counts: impl FnMut(&T) -> bool,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<T> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Header {
        version: u32,
        task_id: String,
    }
    for entry in entries
        .iter()
        .rev()
        .filter(|entry| entry.custom_type == custom_type)
    {
        let text = entry.data.map_or("null", serde_json::value::RawValue::get);
        match serde_json::from_str::<Header>(text) {
            Ok(header) if header.task_id != task_id => {}
            Ok(header) if header.version > VERSION => diagnostics.push(Diagnostic::new(
                Code::StoredLater,
                Severity::Info,
                format!("a `{custom_type}` entry of version {} is skipped: this sidecar knows version {VERSION}", header.version),
            )),
            Ok(_) => match serde_json::from_str(text) {
                Ok(stored) if counts(&stored) => return Some(stored),
                Ok(_) => {}
                Err(_) => diagnostics.push(damaged(custom_type)),
            },
            Err(_) => diagnostics.push(damaged(custom_type)),
        }
    }
    None
}

fn damaged(custom_type: &str) -> Diagnostic {
    Diagnostic::new(
        Code::StoredDamaged,
        Severity::Warning,
        format!("a stored `{custom_type}` entry is damaged and skipped"),
    )
    .with_help("nothing: it will be stored again")
}
