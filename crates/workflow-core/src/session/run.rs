//! The active run: its state, its catalog and its resolved phase.
//!
//! A run stays loaded after its end until the end has been announced.

use std::sync::Arc;

use serde_json::value::{RawValue, to_raw_value};

use super::phase::ResolvedPhase;
use super::trust::ProjectCommands;
use crate::definition::{Approval, Catalog, Check, Gate, GitCheck, Loaded, RunCheck, Settings};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::effect::{Action, ApprovalRequest, Effect, Effects};
use crate::reminders::{ContinueCounters, PauseReason};
use crate::run::{
    PersonMove, Position, RestoredRun, RunState, Stale, StoredDefinition, StoredGate, StoredRun,
    entry_type,
};

/// The longest definition that is stored in the session, in bytes: an entry is one line of the host's file.
const MAX_STORED_DEFINITION: usize = 4 << 20;

const NOT_STORED: &str = "[workflow] The workflow takes more than 4 MiB, and the session does not keep it: if its files go, the run \
     cannot go on. Make its texts shorter.";

/// A run in memory.
#[derive(Debug, Clone)]
pub(crate) struct ActiveRun {
    state: RunState,
    catalog: Arc<Catalog>,
    phase: Result<ResolvedPhase, Stale>,
    /// True after a first `cancel`, which a second one confirms (state-management: "Two-Step Cancellation").
    pub(crate) cancel_pending: bool,
    pub(crate) counters: ContinueCounters,
    persisted_counters: ContinueCounters,
    definition_persisted: bool,
    project_commands: ProjectCommands,
    /// The state at the entry of the phase, for checks that compare with it.
    baseline: Option<Box<RawValue>>,
    /// The nonce of the open approval request. A decision about another one does not count.
    approval_request: Option<String>,
    persisted_approval_request: Option<String>,
    /// The last move, if a person made it.
    moved_by: Option<PersonMove>,
    persisted_moved_by: Option<PersonMove>,
    /// True after a move by a person, until the agent has had the chance to read the new phase.
    pub(crate) is_unread: bool,
    /// The agent's summary of the phase, from its last call of `next`.
    pub(crate) summary: Option<String>,
}

impl ActiveRun {
    /// Starts a run. It is persisted when its first phase is entered.
    pub(crate) fn start(state: RunState, loaded: &Loaded) -> Self {
        let catalog = Arc::clone(&loaded.catalog);
        Self {
            phase: ResolvedPhase::of(&state, &catalog, &loaded.settings),
            project_commands: ProjectCommands::of(&state.workflow_key, &catalog, &loaded.index),
            state,
            catalog,
            cancel_pending: false,
            counters: ContinueCounters::default(),
            persisted_counters: ContinueCounters::default(),
            definition_persisted: false,
            baseline: None,
            approval_request: None,
            persisted_approval_request: None,
            moved_by: None,
            persisted_moved_by: None,
            is_unread: false,
            summary: None,
        }
    }

    /// Chooses the definitions that a restored run continues with (behaviour: "Definition gone").
    pub(crate) fn restore(
        restored: RestoredRun,
        loaded: &Loaded,
        problems: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let RestoredRun {
            state,
            definition,
            counters,
            approval_request,
            moved_by,
            baseline,
            ..
        } = restored;
        let files = &loaded.catalog;
        let state = state.filter(RunState::matters)?;
        let (catalog, definition_persisted) = match definition {
            Some((stored, _)) if !fits(&state, files) && fits(&state, &stored) => {
                if state.active {
                    problems.push(definition_gone(&state));
                }
                (Arc::new(stored), true)
            }
            Some((_, hash)) => {
                let same =
                    StoredDefinition::of(&state.workflow_key, files, &state.task_id).hash == hash;
                if state.active && !same && fits(&state, files) {
                    problems.push(definition_changed(&state));
                }
                (Arc::clone(files), same)
            }
            None => (Arc::clone(files), false),
        };
        let phase = ResolvedPhase::of(&state, &catalog, &loaded.settings);
        let from_files = Arc::ptr_eq(&catalog, files);
        let index = if from_files { &*loaded.index } else { &[] };
        if let (Err(stale), true) = (&phase, state.active) {
            problems.push(definition_lost(&state, stale));
        }
        Some(Self {
            project_commands: ProjectCommands::of(&state.workflow_key, &catalog, index),
            baseline,
            state,
            catalog,
            phase,
            cancel_pending: false,
            counters,
            persisted_counters: counters,
            persisted_approval_request: approval_request.clone(),
            approval_request,
            persisted_moved_by: moved_by.clone(),
            moved_by,
            definition_persisted,
            is_unread: false,
            summary: None,
        })
    }

    pub(crate) fn state(&self) -> &RunState {
        &self.state
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    pub(crate) fn is_active(&self) -> bool {
        self.state.active
    }

    /// The phase, if the run is active and fits its definitions.
    pub(crate) fn phase(&self) -> Option<&ResolvedPhase> {
        self.phase.as_ref().ok().filter(|_| self.state.active)
    }

    /// Moves to another state: resolves its phase, and persists it. A move by a person ends its owner's pause.
    pub(crate) fn enter(
        &mut self,
        state: RunState,
        moved_by: Option<PersonMove>,
        settings: &Settings,
        out: &mut Effects,
    ) {
        self.phase = ResolvedPhase::of(&state, &self.catalog, settings);
        self.state = state;
        self.cancel_pending = false;
        self.counters = ContinueCounters {
            paused_by_owner: self.counters.paused_by_owner && moved_by.is_none(),
            ..ContinueCounters::default()
        };
        self.is_unread = moved_by.is_some();
        self.moved_by = moved_by;
        self.summary = None;
        self.approval_request = None;
        self.baseline = None;
        self.persist(out);
        if let Some(gates) = self.gates_with_baseline() {
            out.perform(Effect::TakeBaseline { gates });
        }
    }

    /// Resolves the phase again, under other settings.
    pub(crate) fn adopt_settings(&mut self, settings: &Settings) {
        self.phase = ResolvedPhase::of(&self.state, &self.catalog, settings);
    }

    /// Ends the run as this state says. Its phase stays resolved for the messages about the end.
    pub(crate) fn end(&mut self, state: RunState) {
        self.state = state;
    }

    /// Ends the run by a person's move. The entry that announces the end records it.
    pub(crate) fn end_by_person(&mut self, state: RunState, moved_by: PersonMove) {
        self.state = state;
        self.counters = ContinueCounters::default();
        self.moved_by = Some(moved_by);
    }

    /// Marks the end as announced, and persists it.
    pub(crate) fn mark_announced(&mut self, out: &mut Effects) {
        self.state.completion_notified = true;
        self.persist(out);
    }

    /// Appends everything that the session must store of the run, as far as it changed.
    fn persist(&mut self, out: &mut Effects) {
        out.append_entry(entry_type::STATE, &self.state);
        self.persist_definition(out);
        self.persist_counters(out);
    }

    /// Appends the definition in force, unless the session has it (behaviour: "Definition gone").
    pub(crate) fn persist_definition(&mut self, out: &mut Effects) {
        if self.definition_persisted || self.phase().is_none() {
            return;
        }
        self.definition_persisted = true;
        let stored =
            StoredDefinition::of(&self.state.workflow_key, &self.catalog, &self.state.task_id);
        let data = to_raw_value(&stored).expect("a definition has string keys only");
        if data.get().len() > MAX_STORED_DEFINITION {
            out.notify(Severity::Warning, NOT_STORED);
        } else {
            out.act(Action::AppendEntry {
                custom_type: entry_type::DEFINITION,
                data,
            });
        }
    }

    /// Appends the counters and the reason for a pause, unless the session has them.
    pub(crate) fn persist_counters(&mut self, out: &mut Effects) {
        // A request that the run is not paused for ends with the session.
        let request = self.approval_request.clone();
        let request = request.filter(|_| self.counters.paused.is_some());
        if self.counters != self.persisted_counters
            || request != self.persisted_approval_request
            || self.moved_by != self.persisted_moved_by
        {
            let stored = StoredRun {
                approval_request: request.clone(),
                moved_by: self.moved_by.clone(),
                ..StoredRun::of(&self.state.task_id, self.counters)
            };
            out.append_entry(entry_type::RUN, &stored);
            self.persisted_counters = self.counters;
            self.persisted_approval_request = request;
            self.persisted_moved_by.clone_from(&self.moved_by);
        }
    }

    /// Starts the counts anew, and resumes the run unless it is paused for an approval or by its owner.
    pub(crate) fn reset_counters(&mut self, out: &mut Effects) {
        if !self.state.active {
            return;
        }
        let approval = |reason: &PauseReason| *reason == PauseReason::Approval;
        self.counters = ContinueCounters {
            paused: self.counters.paused.filter(approval),
            paused_by_owner: self.counters.paused_by_owner,
            ..ContinueCounters::default()
        };
        self.persist_counters(out);
    }

    /// Pauses the run until its owner resumes it.
    pub(crate) fn pause_by_owner(&mut self, out: &mut Effects) {
        self.counters.paused_by_owner = true;
        self.persist_counters(out);
    }

    /// Ends every pause but that for an approval.
    pub(crate) fn resume(&mut self, out: &mut Effects) {
        self.counters.paused_by_owner = false;
        self.reset_counters(out);
    }

    /// The gate of the phase, if its checks compare with the state at the entry of the phase.
    fn gates_with_baseline(&self) -> Option<Vec<Gate>> {
        let gates = &self.phase()?.phase.gate;
        let compares = |gate: &Gate| match &gate.check {
            Check::File(file) => file.changed.is_some(),
            Check::Git(git) => *git == GitCheck::NewCommit,
            Check::Run(_) => false,
        };
        gates.iter().any(compares).then(|| gates.clone())
    }

    /// Takes the baseline now, where the gate compares with one that is not known.
    pub(crate) fn make_up_for_baseline(&self, out: &mut Effects) {
        let (Some(phase), None) = (self.phase(), &self.baseline) else {
            return;
        };
        let Some(gates) = self.gates_with_baseline() else {
            return;
        };
        let message = format!(
            "[workflow] How things stood when {} was entered is not known: its gate compares with how they stand now.",
            phase.phase.name
        );
        out.notify(Severity::Warning, message);
        out.perform(Effect::TakeBaseline { gates });
    }

    /// Stores the state at the entry of the phase.
    pub(crate) fn on_baseline_taken(&mut self, baseline: Box<RawValue>, out: &mut Effects) {
        let Some(phase) = self.phase() else { return };
        let stored = StoredGate::of_baseline(&self.state, &phase.phase.id, baseline.clone());
        self.baseline = Some(baseline);
        out.append_entry(entry_type::GATE, &stored);
    }

    pub(crate) fn baseline(&self) -> Option<&RawValue> {
        self.baseline.as_deref()
    }

    /// The commands that the user must trust before the gate of the phase runs.
    pub(crate) fn commands_to_trust(&self) -> Vec<RunCheck> {
        let is_command = |gate: &Gate| matches!(gate.check, Check::Run(_));
        match self.phase() {
            Some(phase) if phase.phase.gate.iter().any(is_command) => self
                .project_commands
                .needed_for(&phase.workflow_key)
                .to_vec(),
            Some(_) | None => Vec::new(),
        }
    }

    /// The approval that the phase needs, if any.
    pub(crate) fn approval(&self) -> Option<&Approval> {
        self.phase()?.phase.approve.as_ref()
    }

    /// The open approval request of the phase.
    pub(crate) fn approval_request(&self) -> Option<ApprovalRequest> {
        Some(ApprovalRequest {
            approval: self.approval()?.clone(),
            nonce: self.approval_request.clone()?,
        })
    }

    /// Identifies the open approval request among all runs.
    pub(crate) fn approval_key(&self) -> Option<(String, String)> {
        Some((self.state.task_id.clone(), self.approval_request.clone()?))
    }

    /// Opens an approval request with this nonce, unless one is open.
    pub(crate) fn request_approval(&mut self, nonce: String, out: &mut Effects) {
        self.approval_request.get_or_insert(nonce);
        if let Some(request) = self.approval_request() {
            out.perform(Effect::RequestApproval(request));
        }
    }

    /// Closes the approval request of the phase, if the phase needs approval.
    pub(crate) fn clear_approval(&mut self, out: &mut Effects) {
        if self.approval().is_none() {
            return;
        }
        out.perform(Effect::ClearApproval {
            task_id: self.state.task_id.clone(),
        });
        self.approval_request = None;
        let paused = &mut self.counters.paused;
        paused.take_if(|reason| *reason == PauseReason::Approval);
    }

    /// Closes the approval request and persists that.
    pub(crate) fn drop_approval(&mut self, out: &mut Effects) {
        self.clear_approval(out);
        self.persist_counters(out);
    }

    /// Closes an approval request after a failed gate, because the code will change.
    pub(crate) fn drop_open_approval(&mut self, out: &mut Effects) {
        if self.approval_request.is_some() {
            self.drop_approval(out);
        }
    }

    /// Closes an approval request that exists only as a dialog.
    pub(crate) fn clear_dialog_approval(&mut self, out: &mut Effects) {
        let is_paused = self.counters.paused == Some(PauseReason::Approval);
        if self.approval_request.is_some() && !is_paused {
            self.clear_approval(out);
        }
    }

    /// Pauses the run.
    pub(crate) fn pause(&mut self, reason: PauseReason, out: &mut Effects) {
        self.counters.paused = Some(reason);
        self.persist_counters(out);
    }
}

/// Clears approval requests of another run or branch, and makes one that was restored available again.
pub(crate) fn switch_approval(
    before: Option<(String, String)>,
    run: Option<&ActiveRun>,
    out: &mut Effects,
) {
    let now = run.and_then(ActiveRun::approval_key);
    let is_new = now != before;
    let left = before.filter(|before| Some(before) != now.as_ref());
    // A phase that needs approval and has no request in the session's entries gets a new request.
    let here = run.filter(|run| now.is_none() && run.approval().is_some());
    let here = here.map(|run| run.state.task_id.clone());
    let left = left.map(|(task, _)| task);
    let left = left.filter(|task| Some(task) != here.as_ref());
    for task_id in left.into_iter().chain(here) {
        out.perform(Effect::ClearApproval { task_id });
    }
    if let Some(request) = run.and_then(ActiveRun::approval_request).filter(|_| is_new) {
        out.perform(Effect::RequestApproval(request));
    }
}

/// Returns true if a run can continue with a catalog; a run that ended needs only its workflow's name and texts.
fn fits(state: &RunState, catalog: &Catalog) -> bool {
    if state.active {
        Position::of(state, catalog).is_ok()
    } else {
        catalog.get(&state.workflow_key).is_some()
    }
}

fn definition_gone(state: &RunState) -> Diagnostic {
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

fn definition_lost(state: &RunState, why: &Stale) -> Diagnostic {
    Diagnostic::new(
        Code::DefinitionLost,
        Severity::Error,
        format!(
            "workflow `{}` cannot go on, and blocks no tools: {why}",
            state.workflow_key
        ),
    )
}

fn definition_changed(state: &RunState) -> Diagnostic {
    Diagnostic::new(
        Code::DefinitionChanged,
        Severity::Info,
        format!(
            "workflow `{}` changed since this run started: the run goes on with the new definition",
            state.workflow_key
        ),
    )
}
