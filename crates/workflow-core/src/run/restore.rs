//! The restoration of a run from the session's entries (state-management: "Reconstruction").
//!
//! A damaged entry is reported and left out.

use serde_json::value::RawValue;

use crate::definition::Catalog;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::event::Entry;
use crate::reminders::ContinueCounters;

use super::stored::{VERSION, entry_type};
use super::stored_state::{Damage, state_from};
use super::{PersonMove, RunState, StoredDefinition, StoredGate, StoredRun};

/// The content of the entries.
#[derive(Debug, Default)]
pub struct RestoredRun {
    /// The state of the last run.
    pub state: Option<RunState>,
    /// The definition stored with it, with its hash.
    pub definition: Option<(Catalog, String)>,
    /// Its counts of reminders.
    pub counters: ContinueCounters,
    /// Its approval request, if it is paused for it.
    pub approval_request: Option<String>,
    /// The last move, if a person made it.
    pub moved_by: Option<PersonMove>,
    /// The baseline of its phase's gate, if the gate needs one.
    pub baseline: Option<Box<RawValue>>,
    /// Reports on entries that could not be used.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the session's entries, oldest first.
#[must_use]
pub fn restore(entries: &[Entry<'_>]) -> RestoredRun {
    let mut restored = RestoredRun::default();
    restored.state = last_state(entries).and_then(|state| match state {
        Ok(state) => Some(state),
        Err(damage) => {
            restored.diagnostics.push(Diagnostic::new(
                Code::StoredDamaged,
                Severity::Warning,
                format!("the stored workflow state is left out: {damage}"),
            ));
            None
        }
    });
    if let Some(task_id) = restored.state.as_ref().map(|state| state.task_id.clone()) {
        restored.definition = last_definition(entries, &task_id, &mut restored.diagnostics);
        let run: Option<StoredRun> = last_of_run(
            entries,
            entry_type::RUN,
            &task_id,
            &mut restored.diagnostics,
        );
        if let Some(run) = run {
            restored.counters = run.counters;
            restored.approval_request = run.approval_request;
            restored.moved_by = run.moved_by;
        }
        let step = restored
            .state
            .as_ref()
            .map_or(0, |state| state.global_step_count);
        restored.baseline = last_baseline(entries, &task_id, step);
    }
    restored
}

/// The newest state entry that names a workflow; older ones are not looked at (A08).
fn last_state(entries: &[Entry<'_>]) -> Option<Result<RunState, Damage>> {
    let states = entries
        .iter()
        .rev()
        .filter(|entry| entry.custom_type == entry_type::STATE);
    states.filter_map(|entry| entry.data).find_map(state_from)
}

fn last_definition(
    entries: &[Entry<'_>],
    task_id: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Catalog, String)> {
    let stored: StoredDefinition =
        last_of_run(entries, entry_type::DEFINITION, task_id, diagnostics)?;
    let catalog = Catalog::checked(stored.workflows);
    if catalog.is_none() {
        diagnostics.push(damaged(entry_type::DEFINITION));
    }
    Some((catalog?, stored.hash))
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

/// The newest entry of a type that belongs to a run; those of later versions are skipped.
fn last_of_run<T: serde::de::DeserializeOwned>(
    entries: &[Entry<'_>],
    custom_type: &'static str,
    task_id: &str,
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
                Ok(stored) => return Some(stored),
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
        format!("a stored `{custom_type}` entry is damaged and left out"),
    )
    .with_help("nothing has to be done: it is stored again")
}
