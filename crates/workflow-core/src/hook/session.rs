//! `session_start`, `session_tree`, `session_switch`, `session_shutdown`: where a run comes from and goes.

use std::fmt::Write;
use std::sync::Arc;

use crate::Session;
use crate::checkpoint::Checkpoints;
use crate::context::Told;
use crate::definition::{Catalog, Loaded, Settings, SettingsStatus};
use crate::diagnostic::{Code, Diagnostic, Severity, visible};
use crate::effect::{Action, Effect, Effects};
use crate::event::Entry;
use crate::leaving::needs_baseline;
use crate::run::{Position, Restored, RunState, Stale, StoredDefinition, restore};
use crate::session::{Run, notify};
use crate::standing::Standing;
use crate::trust::Foreign;
use crate::wake::{NOT_GIVEN, Wake};

/// How many problems are told in one notification.
const PROBLEMS_TOLD: usize = 5;
/// How many characters of a text that nobody was given.
const TEXT_TOLD: usize = 200;

impl Session {
    /// Takes the session's entries for the truth, whatever was in memory.
    pub(crate) fn session_changed(
        &mut self,
        entries: &[Entry<'_>],
        loaded: &Loaded,
        out: &mut Effects,
    ) {
        let before = self.run.as_ref().and_then(Run::awaited);
        self.session_closed(out);
        self.adopt_settings(&loaded.settings);
        self.checkpoints.adopt(entries);
        let mut restored = restore(entries);
        out.diagnostics.clone_from(&loaded.diagnostics);
        out.diagnostics.append(&mut restored.diagnostics);
        self.run = take_up(restored, loaded, &mut out.diagnostics);
        if let Some(run) = &mut self.run {
            run.store_definition(out);
        }
        self.forget_words_of_elsewhere(before, out);
        self.make_up_for_baseline(out);
        self.show_problems(out);
        out.actions.push(Action::SetStatus {
            text: self.status(),
        });
        self.watch_triggers(out);
    }

    /// The settings say something else than before: it holds from here on, in a run as well.
    pub(crate) fn settings_changed(&mut self, loaded: &Loaded, out: &mut Effects) {
        if loaded.settings == self.settings {
            return;
        }
        let missed = self.misses_settings();
        let triggers = std::mem::take(&mut self.settings.triggers);
        self.adopt_settings(&loaded.settings);
        self.call_off_calls("the settings changed", out);
        if let Some(run) = &mut self.run {
            run.standing = Standing::of(&run.state, &run.catalog, &self.settings);
        }
        out.diagnostics.clone_from(&loaded.diagnostics);
        self.show_problems(out);
        if missed && !self.misses_settings() {
            let message = "[workflow] The settings can be read again, and hold as they stand.";
            out.notify(Severity::Info, message);
        }
        if triggers != self.settings.triggers {
            self.watch_triggers(out);
        }
    }

    /// Has noted how things stand now, where the gate compares and nobody knows how they stood.
    fn make_up_for_baseline(&mut self, out: &mut Effects) {
        let Some((run, standing)) = self.standing() else {
            return;
        };
        if run.baseline.is_some() || !needs_baseline(&standing.phase.gate) {
            return;
        }
        let message = format!(
            "[workflow] How things stood when {} was entered is not known: its gate compares with how they stand now.",
            standing.phase.name
        );
        let gate = standing.phase.gate.clone();
        out.notify(Severity::Warning, message);
        out.perform(Effect::TakeBaseline { gates: gate });
    }

    /// The session is closed: nothing of it goes on.
    pub(crate) fn session_over(&mut self, out: &mut Effects) {
        self.session_closed(out);
        self.watch_no_more(out);
        self.tell_not_given(out);
        self.wake = Wake::default();
        self.checkpoints = Checkpoints::default();
    }

    /// Says what triggers had for an agent that is not there any more.
    fn tell_not_given(&mut self, out: &mut Effects) {
        for text in self.wake.not_given() {
            let beginning: String = text.chars().take(TEXT_TOLD).collect();
            let message = format!("{NOT_GIVEN}{}", visible(&beginning));
            out.notify(Severity::Warning, message);
        }
    }

    /// Lets go of everything that belongs to the session as it was.
    pub(crate) fn session_closed(&mut self, out: &mut Effects) {
        self.agent_is_running(out);
        self.stop_leaving("the session ended", out);
        self.leave_restore(out);
        self.run = None;
        self.turn_moved = None;
        self.pushed = None;
        self.told = Told::default();
        self.denied = None;
        for (_, waiting) in std::mem::take(&mut self.waiting) {
            out.deferred.extend(waiting.unanswered("the session ended"));
        }
    }

    /// Tells the person what is wrong, once per change (B49).
    fn show_problems(&mut self, out: &mut Effects) {
        let mut told = in_short(&out.diagnostics);
        let Settings { user, project, .. } = &self.settings;
        for (whose, guards) in [("your", user), ("the project's", project)] {
            let meanwhile = match guards.status {
                SettingsStatus::Loaded => continue,
                SettingsStatus::LastKnownGood => "what it said before holds",
                SettingsStatus::Unreadable => "what cannot be read of it counts as forbidden",
            };
            let _ = write!(
                told,
                "\nUntil {whose} settings file is corrected, {meanwhile}."
            );
        }
        if !told.is_empty() && told != self.problems_shown {
            out.actions.push(problems(&told));
        }
        self.problems_shown = told;
    }
}

/// The problems that a person is told, one a line.
fn in_short(diagnostics: &[Diagnostic]) -> String {
    let is_told =
        |problem: &&Diagnostic| problem.severity == Severity::Error || is_about_run(problem.code);
    let serious = diagnostics.iter().filter(is_told);
    let mut lines: Vec<String> = serious.map(ToString::to_string).collect();
    if lines.len() > PROBLEMS_TOLD {
        let more = lines.len() - PROBLEMS_TOLD;
        lines.truncate(PROBLEMS_TOLD);
        lines.push(format!("… and {more} more"));
    }
    lines.join("\n")
}

fn problems(told: &str) -> Action {
    notify(Severity::Warning, format!("[workflow] {told}"))
}

/// Whether a problem is about the session's run, and so is told even when the run goes on.
fn is_about_run(code: Code) -> bool {
    matches!(
        code,
        Code::StoredDamaged | Code::DefinitionGone | Code::DefinitionChanged | Code::DefinitionLost
    )
}

/// Chooses the definitions a restored run goes on with (behaviour: "Definition gone").
fn take_up(restored: Restored, loaded: &Loaded, problems: &mut Vec<Diagnostic>) -> Option<Run> {
    let Restored {
        state,
        definition,
        pace,
        awaits,
        baseline,
        ..
    } = restored;
    let files = &loaded.catalog;
    let state = state.filter(RunState::matters)?;
    let (catalog, definition_stored) = match definition {
        Some((stored, _)) if !fits(&state, files) && fits(&state, &stored) => {
            if state.active {
                problems.push(gone(&state));
            }
            (Arc::new(stored), true)
        }
        Some((_, hash)) => {
            let same =
                StoredDefinition::of(&state.workflow_key, files, &state.task_id).hash == hash;
            if state.active && !same && fits(&state, files) {
                problems.push(changed(&state));
            }
            (Arc::clone(files), same)
        }
        None => (Arc::clone(files), false),
    };
    let standing = Standing::of(&state, &catalog, &loaded.settings);
    let from_files = Arc::ptr_eq(&catalog, files);
    let index = if from_files { &*loaded.index } else { &[] };
    if let (Err(stale), true) = (&standing, state.active) {
        problems.push(lost(&state, stale));
    }
    Some(Run {
        foreign: Foreign::of(&state.workflow_key, &catalog, index),
        baseline,
        state,
        catalog,
        standing,
        cancel_pending: false,
        pace,
        stored_pace: pace,
        stored_awaits: awaits.clone(),
        awaits,
        definition_stored,
    })
}

/// Whether a run can go on with a catalog; a run that ended only needs its workflow's name and texts.
fn fits(state: &RunState, catalog: &Catalog) -> bool {
    if state.active {
        Position::of(state, catalog).is_ok()
    } else {
        catalog.get(&state.workflow_key).is_some()
    }
}

fn gone(state: &RunState) -> Diagnostic {
    Diagnostic::new(
        Code::DefinitionGone,
        Severity::Warning,
        format!(
            "the files of workflow `{}` are missing, broken, or do not fit the run any more: it goes on with the \
             definition stored in the session",
            state.workflow_key
        ),
    )
}

fn lost(state: &RunState, why: &Stale) -> Diagnostic {
    Diagnostic::new(
        Code::DefinitionLost,
        Severity::Error,
        format!(
            "workflow `{}` cannot go on, and blocks no tools: {why}",
            state.workflow_key
        ),
    )
}

fn changed(state: &RunState) -> Diagnostic {
    Diagnostic::new(
        Code::DefinitionChanged,
        Severity::Info,
        format!(
            "workflow `{}` changed since this run started: the run goes on with the new definition",
            state.workflow_key
        ),
    )
}
