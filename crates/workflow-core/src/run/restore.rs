//! The restoration of a run from the session's entries (state-management: "Reconstruction").
//!
//! A damaged entry is reported and left out.

use serde_json::value::RawValue;

use crate::definition::Catalog;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::event::Entry;

use super::stored::{RunEntry, VERSION, entry_type};
use super::stored_state::state_from;
use super::{
    RunState, RunValues, ScopeUsage, Spending, StoredDefinition, StoredGate, StoredGuards,
    StoredRun, StoredSpending, StoredValues, Tally,
};

/// The content of the entries.
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
    /// The values among the data, if their own entry has them.
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
    // An entry of a move whose state was not stored does not count.
    let mut has_unmade_move = false;
    let run = of_run.last(|run: &StoredRun| {
        let moved_by = run.moved_by.as_ref().map(|moved| moved.step);
        let mut moves = [run.step, moved_by].into_iter().flatten();
        let is_made = moves.all(|of| of <= step);
        has_unmade_move |= !is_made;
        is_made
    });
    let mut run = run.unwrap_or_default();
    let mut has_unmade_values = false;
    let values = of_run.last(|values: &StoredValues| {
        has_unmade_values |= values.step > step;
        values.step <= step
    });
    let values = values.map(|stored| stored.values).unwrap_or_default();
    let mut stored_values = None;
    // An entry of the run may have the values among its data.
    if run.data.has_values(&RunValues::default()) {
        run.data.inputs.clone_from(&values.inputs);
        run.data.outputs.clone_from(&values.outputs);
        stored_values = Some(values).filter(|_| !has_unmade_values);
    }
    let mut spending = Spending::default();
    if let Some(stored) = of_run.last(|_: &StoredSpending| true) {
        spending = stored.spending;
        if stored.step != step {
            spending.phase = ScopeUsage::default();
        }
    }
    let tally = of_run.last(|_: &Tally| true).unwrap_or_default();
    let diagnostics = std::mem::take(&mut of_run.diagnostics);
    // A damaged baseline counts as missing: the checks that need it say so.
    let baseline = of_run.last(|gate: &StoredGate| gate.step == step && gate.baseline.is_some());
    let is_of_later_version = (diagnostics.iter()).any(|found| found.code == Code::StoredLater);
    RestoredRun {
        definition,
        run,
        tally,
        stored_values,
        spending,
        has_unmade_move,
        baseline: baseline.and_then(|gate| gate.baseline),
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

/// The newest entry of a type that belongs to the run of a task, without those that cannot be read.
#[must_use]
pub fn last_of_run<T: RunEntry>(entries: &[Entry<'_>], task_id: &str) -> Option<T> {
    RunEntries::of(entries, task_id).last(|_| true)
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
        let stored: StoredDefinition = self.last(|_| true)?;
        let catalog = Catalog::checked(stored.workflows);
        if catalog.is_none() {
            self.diagnostics.push(damaged(entry_type::DEFINITION));
        }
        Some(RestoredDefinition {
            catalog: catalog?,
            hash: stored.hash,
            guards: stored.guards,
            declined: stored.declined,
        })
    }

    /// The newest entry of a type that belongs to the run and counts; those of later versions are skipped.
    fn last<T: RunEntry>(&mut self, mut counts: impl FnMut(&T) -> bool) -> Option<T> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Header {
            version: u32,
            task_id: String,
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
                Ok(_) => match serde_json::from_str(text) {
                    Ok(stored) if counts(&stored) => return Some(stored),
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
    .with_help("nothing: it will be stored again")
}
