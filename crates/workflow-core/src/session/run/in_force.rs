//! The definitions and guards that a run continues with, and what is reported about them.

use std::sync::Arc;

use crate::definition::Catalog;
use crate::diagnostic::{Code, Diagnostic, Severity, shown};
use crate::run::{
    DefinitionMismatch, Position, RunState, StoredDefinition, StoredGuards, weakened,
};

/// The definitions and guards in force in a run.
#[derive(Debug, Clone)]
pub(crate) struct InForce {
    pub(super) task_id: String,
    pub(super) catalog: Arc<Catalog>,
    pub(super) guards: Option<StoredGuards>,
}

/// Findings of restoring a run.
#[derive(Debug)]
pub(crate) struct Restoring<'p> {
    pub(crate) problems: &'p mut Vec<Diagnostic>,
    /// The guards that the files weaken, for display; the known ones apply instead.
    pub(crate) weakened: Vec<String>,
}

/// Chooses between the definitions that were known until now and those of the files.
pub(super) fn choose_catalog(
    state: &RunState,
    known: Option<Arc<Catalog>>,
    files: &Arc<Catalog>,
    found: &mut Restoring<'_>,
) -> Arc<Catalog> {
    let Some(known) = known else {
        return Arc::clone(files);
    };
    let fits_files = fits(state, files);
    if !fits_files && fits(state, &known) {
        if state.active {
            found.problems.push(definition_gone(state));
        }
        return known;
    }
    if state.active && fits_files && !Arc::ptr_eq(&known, files) {
        let hash =
            |catalog| StoredDefinition::of(&state.workflow_key, catalog, &state.task_id).hash;
        if hash(&known) != hash(files) {
            found.weakened = weakened(&known, files, state);
            if !found.weakened.is_empty() {
                return known;
            }
            found
                .problems
                .push(definition_changed(state, &known, files));
        }
    }
    Arc::clone(files)
}

/// Returns true if a run can continue with a catalog; a run that ended needs only its workflow's name and texts.
pub(super) fn fits(state: &RunState, catalog: &Catalog) -> bool {
    if state.active {
        Position::of(state, catalog).is_ok()
    } else {
        catalog.get(&state.workflow_key).is_some()
    }
}

pub(super) fn definition_gone(state: &RunState) -> Diagnostic {
    Diagnostic::new(
        Code::DefinitionGone,
        Severity::Warning,
        format!(
            "the files of workflow `{}` are missing, have errors, or do not fit the run: the run continues with the \
             definition stored in the session",
            state.workflow_key
        ),
    )
}

pub(super) fn definition_lost(state: &RunState, why: &DefinitionMismatch) -> Diagnostic {
    Diagnostic::new(
        Code::DefinitionLost,
        Severity::Error,
        format!(
            "workflow `{}` cannot continue, and its rules are not in force: {why}",
            state.workflow_key
        ),
    )
}

/// The diagnostic of guards that were weakened, and hold. Also of the settings, where the run keeps those.
pub(crate) fn guards_weakened(state: &RunState, lost: &[String]) -> Diagnostic {
    Diagnostic::new(
        Code::GuardsWeakened,
        Severity::Warning,
        format!(
            "the files of workflow `{}` or the settings were changed to allow more; the run keeps its rules until you \
             agree: {}",
            shown(&state.workflow_key),
            lost.join("; ")
        ),
    )
}

fn definition_changed(state: &RunState, before: &Catalog, after: &Catalog) -> Diagnostic {
    let [was, is] = [before, after].map(|catalog| {
        let position = Position::of(state, catalog).ok();
        position.map(|position| (&position.phase.id, shown(&position.phase.name)))
    });
    let place = match (was, is) {
        (Some((was, old)), Some((is, new))) if was != is => {
            format!(" in phase {new}, which is now where {old} was: /workflow-goto moves it")
        }
        (_, Some((_, name))) => format!(" in phase {name}"),
        (_, None) => String::new(),
    };
    Diagnostic::new(
        Code::DefinitionChanged,
        Severity::Info,
        format!(
            "workflow `{}` has changed since this run started: the run continues with the new definition{place}",
            state.workflow_key
        ),
    )
}
