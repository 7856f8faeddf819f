//! The definitions and guards that a run continues with when its files have changed.

use std::sync::Arc;

use super::ActiveRun;
use crate::definition::{Catalog, Settings};
use crate::diagnostic::{Code, Diagnostic, Severity, shown};
use crate::effect::Question;
use crate::run::{Changes, DefinitionMismatch, Position, RunState, StoredDefinition, Terms};

/// The terms in force.
#[derive(Debug, Clone)]
pub(crate) struct InForce {
    pub(super) catalog: Arc<Catalog>,
    /// What the user last agreed to: at the start of the run, or in answer to the question about changed files. Changes that are
    /// only texts need no consent.
    pub(super) agreed: Terms,
    /// The terms of the files, which apply alone when the user agrees.
    pub(super) files: Terms,
    pub(super) changes: Changes,
}

impl InForce {
    /// The terms of a run that agrees with its files.
    pub(super) fn of(files: Terms) -> Self {
        Self {
            catalog: Arc::clone(&files.catalog),
            agreed: files.clone(),
            files,
            changes: Changes::default(),
        }
    }

    /// Chooses between the terms that the user agreed to and those of the files, and reports what has changed.
    pub(super) fn choose(
        state: &RunState,
        mut agreed: Terms,
        mut files: Terms,
        project_trusted: bool,
        problems: &mut Vec<Diagnostic>,
    ) -> Self {
        let key = &state.workflow_key;
        let mut report = |code, severity, said| {
            problems.push(Diagnostic::new(code, severity, said));
        };
        // A project that the user no longer trusts has no settings, and that is the user's decision.
        if !project_trusted {
            agreed.guards.project = files.guards.project.clone();
        }
        let fits_files = fits(state, &files.catalog);
        if !fits_files && fits(state, &agreed.catalog) {
            if state.active {
                let said = format!(
                    "the files of workflow `{key}` are missing, have errors, or do not fit the run: the run continues with the \
                    definition stored in the session"
                );
                report(Code::DefinitionGone, Severity::Warning, said);
            }
            files.catalog = Arc::clone(&agreed.catalog);
        } else if !state.active || !fits_files {
            return Self::of(files);
        }
        let hash = |terms: &Terms| StoredDefinition::of(key, &terms.catalog).hash;
        let has_other_files = hash(&agreed) != hash(&files);
        if !has_other_files && agreed.guards == files.guards {
            return Self::of(files);
        }
        let changes = Changes::between(&agreed, &files, key);
        if changes.is_empty() {
            if has_other_files {
                let said = format!(
                    "texts of workflow `{key}` have changed since this run started: the run continues with the new ones"
                );
                report(Code::DefinitionChanged, Severity::Info, said);
            }
            return Self::of(files);
        }
        let (name, kept) = (shown(key), changes.holds());
        let lines: Vec<&str> = changes.lines().collect();
        let said = format!(
            "the files of workflow `{name}` or the settings have changed, and {kept} until you agree: {}",
            lines.join("; ")
        );
        report(Code::GuardsChanged, Severity::Warning, said);
        let catalog = if !changes.ways.is_empty() {
            Arc::clone(&agreed.catalog)
        } else if has_other_files {
            files.with_guards_of(&agreed, key)
        } else {
            Arc::clone(&files.catalog)
        };
        Self {
            catalog,
            agreed,
            files,
            changes,
        }
    }

    /// The terms that the user agreed to, if their guards hold beside those of the files.
    pub(super) fn held(&self, settings: &Settings) -> Option<&Terms> {
        (!self.changes.is_empty() || !settings.are_loaded()).then_some(&self.agreed)
    }
}

impl ActiveRun {
    /// The question about the changed files of the run, until which what the user agreed to holds; `None` if nothing has changed,
    /// or the user declined exactly that.
    pub(crate) fn question_about_files(&self) -> Option<Question> {
        let (InForce { agreed, files, .. }, changes) = (&self.in_force, self.changes());
        if changes.is_empty() || self.declined.as_ref() == Some(&changes.digest) {
            return None;
        }
        let (list, kept) = (changes.listed(), changes.holds());
        let other_phase = other_phase(&self.progress.state, &agreed.catalog, &files.catalog);
        let message = format!(
            "The files of the workflow or the settings have changed during the run:\n{list}\n\nYes: the run continues with the changed \
            files.{other_phase}\nNo: {kept}. The changed files apply alone when the workflow is started again."
        );
        let title = "Use the changed files in the running workflow?";
        Some(Question::new(title, message))
    }
}

/// Returns true if a run can continue with a catalog; a run that ended needs only its workflow's name and texts.
pub(super) fn fits(state: &RunState, catalog: &Catalog) -> bool {
    if state.active {
        Position::of(state, catalog).is_ok()
    } else {
        catalog.get(&state.workflow_key).is_some()
    }
}

/// Says that the phase of a run is another one in changed files; empty if it is not.
fn other_phase(state: &RunState, before: &Catalog, after: &Catalog) -> String {
    let [was, is] = [before, after].map(|catalog| Position::of(state, catalog).ok());
    match (was, is) {
        (Some(was), Some(is)) if was.phase.id != is.phase.id => format!(
            " In the changed files phase {} is where {} was: /workflow-goto moves the run.",
            shown(&is.phase.name),
            shown(&was.phase.name)
        ),
        _ => String::new(),
    }
}

pub(super) fn definition_lost(state: &RunState, why: &DefinitionMismatch) -> Diagnostic {
    let message = format!(
        "workflow `{}` cannot continue, and its rules are not in force: {why}",
        state.workflow_key
    );
    Diagnostic::new(Code::DefinitionLost, Severity::Error, message)
}
