//! The active run: its state, its catalog and its resolved phase.
//!
//! A run stays loaded after its end until the end has been announced.

mod approval;
mod baseline;
mod in_force;
mod pauses;
mod routes;
mod spending;
mod stored;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub(crate) use self::approval::approval_not_stored;
use self::in_force::{InForce, definition_lost};
pub(crate) use self::routes::{Move, NONE_APPLIES, leads_back, not_moved};
use super::budget::{Budgets, Work};
use super::call_guard::Unasked;
use super::handover::UserAnswer;
use super::phase::ResolvedPhase;
use super::trust::ProjectCommands;
use crate::definition::{Catalog, Gate, Listing, Loaded, RunCheck, Settings, Subject, Target};
use crate::diagnostic::{Diagnostic, shown};
use crate::effect::Effects;
use crate::policy::gate_report::{Report, failed_check};
use crate::reminders::{ContinueCounters, PauseReason};
use crate::run::{
    Changes, DefinitionMismatch, HandedOver, Path, Position, ReachedLimit, RestoredRun,
    RunProgress, RunState, RunValues, ScopeLevel, Spending, StoredDefinition, StoredGuards,
    StoredRun, Tally, Terms, UserMove, Values, item_limit, wrong_list,
};
use crate::text;

/// A run in memory.
#[derive(Debug, Clone)]
pub(crate) struct ActiveRun {
    progress: RunProgress,
    /// The counters, the open approval request and the last move of the user, as the next entry has them. Its data are in the
    /// progress.
    record: StoredRun,
    /// The content of the entries that the session has, by their types.
    stored: BTreeMap<&'static str, String>,
    /// True if the session's entry of the run has data.
    has_stored_data: bool,
    in_force: InForce,
    /// Its workflows, with the values of the run as bounds.
    catalog: Arc<Catalog>,
    /// The digest of the changed files that the user declined.
    declined: Option<String>,
    phase: Result<ResolvedPhase, DefinitionMismatch>,
    /// True if the session has what the user agreed to.
    definition_persisted: bool,
    /// The commands that need trust.
    pub(super) project_commands: ProjectCommands,
    commands_of_files: ProjectCommands,
    /// The state at the entry of the phase, for checks that compare with it.
    pub(super) baseline: Option<Box<RawValue>>,
    /// The answer to the open approval request that was given outside of the host and is not used yet, for display.
    pub(super) answered: Option<String>,
    /// The answer of the user to the approval of the phase, until the run follows it.
    pub(super) user_answer: Option<UserAnswer>,
    /// The outputs of an earlier visit of the phase, once this visit has handed over its own. Not stored: another process drops
    /// them with those of this visit.
    replaced: Option<Values>,
    pub(super) budgets: Budgets,
    /// What is remembered beside the entries; what is used of budgets is in `budgets`.
    pub(super) memory: RunMemory,
}

/// What a session remembers of a run beside its entries.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct RunMemory {
    #[serialize_always]
    task_id: Option<String>,
    /// What happened, for the summary at the end.
    pub(super) tally: Tally,
    /// True after a first `cancel`, which a second one confirms (state-management: "Two-Step Cancellation").
    pub(super) cancel_pending: bool,
    /// True after a move by the user, until the agent has had the chance to read the new phase.
    is_unread: bool,
    /// The step in which the gate did not run, because its commands are not trusted.
    pub(super) untrusted_at: Option<u64>,
    /// The last call that needed the user's consent where nobody could be asked, and its step.
    pub(super) unasked: Option<(u64, Unasked)>,
    /// A step in which the gate ran and did not pass, and how often.
    failed_gates: Option<(u64, u64)>,
    /// What the run has used of its budgets, if it has any: the entries have it from the end of a turn on.
    spending: Option<Spending>,
    /// The work of the agent that is not counted yet.
    work: Option<Work>,
}

/// The definitions of a run, with its values as bounds.
fn filled(catalog: &Arc<Catalog>, progress: &RunProgress) -> Arc<Catalog> {
    let number = |workflow: &str, subject: &Subject| {
        let path = progress.state.current_path.scope_of(workflow);
        let path = path.unwrap_or_else(|| Path::root(workflow, 0));
        let value = progress.data.value(subject, &path, catalog)?;
        let whole = |number: f64| format!("{number:.0}").parse().ok();
        // What is no such number is the strictest bound.
        Some(value.as_f64().and_then(whole).unwrap_or(1))
    };
    let filled = catalog.with_bounds(&progress.state.workflow_key, number);
    filled.map_or_else(|| Arc::clone(catalog), Arc::new)
}

impl ActiveRun {
    /// Counts the checks of a gate that ran, and the gate if one of them failed.
    pub(crate) fn count_gate(&mut self, reports: &[Report]) {
        let failed = self.memory.tally.failed;
        self.memory.tally.count_checks(reports);
        if self.memory.tally.failed > failed {
            let step = self.step();
            let before = self.memory.failed_gates.filter(|(at, _)| *at == step);
            self.memory.failed_gates = Some((step, before.map_or(1, |(_, times)| times + 1)));
        }
    }

    /// How often the gate of the phase failed, behind its status line.
    pub(crate) fn gate_failures(&self) -> String {
        match self.memory.failed_gates {
            Some((at, 1)) if at == self.step() => " · gate failed once".to_owned(),
            Some((at, times)) if at == self.step() => format!(" · gate failed {times} times"),
            _ => String::new(),
        }
    }

    /// Creates a run that is not stored yet, and in which nothing has happened.
    fn new(
        progress: RunProgress,
        in_force: InForce,
        index: Option<&[Listing]>,
        settings: &Settings,
        mut budgets: Budgets,
    ) -> Self {
        let state = &progress.state;
        let filled = filled(&in_force.catalog, &progress);
        let catalog = &filled;
        budgets.adopt(spending::limits(state, catalog));
        let held = in_force.held(settings);
        let files = &in_force.files.catalog;
        let commands_of_files = ProjectCommands::of(&state.workflow_key, files, index);
        let mut run = Self {
            budgets,
            phase: ResolvedPhase::of(&progress, catalog, held, settings),
            project_commands: if Arc::ptr_eq(&in_force.catalog, &in_force.files.catalog) {
                commands_of_files.clone()
            } else {
                // A stored definition says nothing of who wrote it.
                ProjectCommands::of(&state.workflow_key, catalog, None)
            },
            commands_of_files,
            record: StoredRun::default(),
            stored: BTreeMap::new(),
            has_stored_data: false,
            catalog: filled,
            progress,
            in_force,
            declined: None,
            definition_persisted: false,
            baseline: None,
            answered: None,
            user_answer: None,
            replaced: None,
            memory: RunMemory::default(),
        };
        run.note_stored(&StoredRun::default());
        run.note_stored(&RunValues::default());
        run.note_stored(&Tally::default());
        run
    }

    /// What is remembered of the run beside its entries.
    pub(crate) fn memory(&self) -> RunMemory {
        RunMemory {
            task_id: Some(self.progress.state.task_id.clone()),
            spending: self.budgets.spending(),
            work: self.budgets.work,
            ..self.memory.clone()
        }
    }

    /// Adopts the memory of another process. Returns false if it is about another run.
    pub(crate) fn recall(&mut self, mut memory: RunMemory) -> bool {
        let is_same = memory.task_id.as_ref() == Some(&self.progress.state.task_id);
        if is_same {
            self.budgets
                .recall(memory.spending.take(), memory.work.take());
            self.memory = memory;
        }
        is_same
    }

    /// Starts a run. It is persisted when its first phase is entered.
    pub(crate) fn start(progress: RunProgress, loaded: &Loaded) -> Self {
        let (index, settings) = (&loaded.index, &loaded.settings);
        let in_force = InForce::of(Terms::of(loaded, None));
        let budgets = Budgets::default();
        Self::new(progress, in_force, Some(index), settings, budgets)
    }

    /// Restores a run with the definitions that it continues with (behaviour: "Definition gone").
    ///
    /// `before` is the run until now, if the session was open.
    pub(crate) fn restore(
        restored: RestoredRun,
        before: Option<&Self>,
        loaded: &Loaded,
        project_trusted: bool,
        problems: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let settings = &loaded.settings;
        let state = restored.state.filter(RunState::matters)?;
        let definition = restored.definition;
        // The newest stored definition counts, so this one is stored again behind one of a later version.
        let known = definition
            .as_ref()
            .filter(|_| !restored.is_of_later_version);
        let persisted = known.map(|stored| (stored.hash.clone(), stored.terms.guards.clone()));
        let is_same = |run: &&Self| run.is_active() && run.progress.state.task_id == state.task_id;
        let (agreed, declined) = match before.filter(is_same) {
            Some(run) => (Some(run.in_force.agreed.clone()), run.declined.clone()),
            None => definition.map_or((None, None), |stored| (Some(stored.terms), stored.declined)),
        };
        let known = agreed.as_ref().map(|agreed| &agreed.guards);
        let files = Terms::of(loaded, known);
        let in_force = match agreed {
            Some(agreed) => InForce::choose(&state, agreed, files, project_trusted, problems),
            None => InForce::of(files),
        };
        let definition_persisted = persisted.is_some_and(|(hash, guards)| {
            let agreed = &in_force.agreed;
            let stored = StoredDefinition::of(&state.workflow_key, &agreed.catalog);
            guards == agreed.guards && stored.hash == hash
        });
        let mut record = restored.run;
        let data = std::mem::take(&mut record.data);
        let from_files = Arc::ptr_eq(&in_force.files.catalog, &loaded.catalog);
        let index = from_files.then_some(&*loaded.index);
        let progress = RunProgress { state, data };
        let budgets = Budgets::restored(restored.spending);
        let mut run = Self::new(progress, in_force, index, settings, budgets);
        if let (Err(stale), true) = (&run.phase, run.progress.state.active) {
            problems.push(definition_lost(&run.progress.state, stale));
        }
        (run.baseline, run.record, run.declined) = (restored.baseline, record, declined);
        run.definition_persisted = definition_persisted;
        run.memory.tally = restored.tally;
        let (now, values) = (run.to_be_stored(), run.progress.data.values.clone());
        run.note_stored(&now);
        run.note_stored(&values);
        run.note_stored(&restored.tally);
        run.has_stored_data = !now.data.is_empty();
        // The next move is another one than that of an entry whose state is not stored, and must not be taken for it.
        for entry in restored.unmade {
            run.stored.remove(entry);
        }
        Some(run)
    }

    /// The changes of the files that the user has not agreed to.
    pub(crate) fn changes(&self) -> &Changes {
        &self.in_force.changes
    }

    /// What a new run of a workflow with these files has differently from what the user agreed to, for display.
    pub(crate) fn changes_by(&self, workflow: &str, loaded: &Loaded) -> Changes {
        let agreed = &self.in_force.agreed;
        let is_same = workflow == self.progress.state.workflow_key && self.is_active();
        let mut files = Terms::of(loaded, Some(&agreed.guards));
        if !is_same {
            files.catalog = Arc::clone(&agreed.catalog);
        }
        Changes::between(agreed, &files, &self.progress.state.workflow_key)
    }

    /// Continues with the changed files alone, to which the user agreed.
    pub(crate) fn adopt_files(&mut self, settings: &Settings, out: &mut Effects) {
        self.in_force = InForce::of(self.in_force.files.clone());
        self.declined = None;
        self.project_commands = self.commands_of_files.clone();
        self.resolve(settings);
        self.definition_persisted = false;
        self.persist_definition(out);
    }

    /// Remembers that the user declined files with this digest.
    pub(crate) fn decline_changes(&mut self, digest: String, out: &mut Effects) {
        self.declined = Some(digest);
        self.definition_persisted = false;
        self.persist_definition(out);
    }

    /// Resolves the phase anew.
    pub(crate) fn resolve(&mut self, settings: &Settings) {
        self.catalog = filled(&self.in_force.catalog, &self.progress);
        let (held, catalog) = (self.in_force.held(settings), &self.catalog);
        self.budgets
            .adopt(spending::limits(&self.progress.state, catalog));
        self.phase = ResolvedPhase::of(&self.progress, catalog, held, settings);
    }

    pub(crate) fn state(&self) -> &RunState {
        &self.progress.state
    }

    pub(crate) fn progress(&self) -> &RunProgress {
        &self.progress
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The position, if the run fits its definitions.
    pub(crate) fn position(&self) -> Option<Position<'_>> {
        Position::of(&self.progress.state, &self.catalog).ok()
    }

    pub(crate) fn is_active(&self) -> bool {
        self.progress.state.active
    }

    /// The phase, if the run is active and fits its definitions.
    pub(crate) fn phase(&self) -> Option<&ResolvedPhase> {
        let phase = self.phase.as_ref().ok();
        phase.filter(|_| self.progress.state.active)
    }

    /// The name of the phase; empty without one.
    pub(crate) fn phase_name(&self) -> &str {
        self.phase().map_or("", |phase| &phase.phase.name)
    }

    /// Moves to another state: resolves its phase, and persists it. A move by a person ends its owner's pause.
    pub(crate) fn enter(
        &mut self,
        progress: RunProgress,
        moved_by: Option<UserMove>,
        settings: &Settings,
        out: &mut Effects,
    ) {
        let path = &self.progress.state.current_path;
        self.budgets.enter(path, &progress.state.current_path);
        let mut items = self.progress.data.items_around(path);
        let starts = &self.progress.data.item_starts;
        let now = &progress.data.item_starts;
        // An item that begins anew has lost its start.
        items.retain(|item| starts.contains_key(item) == now.contains_key(item));
        self.progress = progress;
        let begins_item = self.begin_items(&items);
        self.resolve(settings);
        self.memory.cancel_pending = false;
        self.memory.is_unread = moved_by.is_some();
        self.count_overridden(moved_by.as_ref());
        self.record = StoredRun {
            counters: ContinueCounters {
                paused_by_owner: self.record.counters.paused_by_owner && moved_by.is_none(),
                ..ContinueCounters::default()
            },
            moved_by,
            ..StoredRun::default()
        };
        self.user_answer = None;
        self.replaced = None;
        self.answered = None;
        self.baseline = None;
        self.persist(out);
        self.take_baseline(begins_item, out);
    }

    /// Takes over what a call of `next` hands over, so that the gate and the question can use it. A question about another
    /// outcome or other outputs is dropped.
    pub(crate) fn hand_over(
        &mut self,
        handed_over: HandedOver,
        settings: &Settings,
        out: &mut Effects,
    ) {
        let Some(phase) = self.phase() else { return };
        let key = phase.output_key();
        let data = &mut self.progress.data;
        let before = std::mem::replace(&mut data.handed_over, handed_over);
        if before == HandedOver::default() && self.replaced.is_none() {
            self.replaced = data.values.outputs.get(&key).cloned();
        }
        // A summary leads nowhere.
        let now = &data.handed_over;
        let is_same = (&now.outcome, &now.outputs) == (&before.outcome, &before.outputs);
        if !data.take_over(key) && is_same {
            return;
        }
        self.drop_approval(out);
        self.resolve(settings);
        // Otherwise the move stores it.
        if self.phase().is_some_and(ResolvedPhase::is_left_later) {
            self.persist_counters(out);
        }
    }

    /// Forgets the outputs that were handed over, because what follows cannot begin with them: those of an earlier visit count.
    pub(crate) fn drop_outputs(&mut self, settings: &Settings, out: &mut Effects) {
        let Some(phase) = self.phase() else { return };
        let key = phase.output_key();
        let data = &mut self.progress.data;
        let replaced = self.replaced.clone().unwrap_or_default();
        let dropped = std::mem::replace(&mut data.handed_over.outputs, replaced);
        let is_changed = data.take_over(key);
        data.handed_over.outputs.clear();
        if is_changed || !dropped.is_empty() {
            self.resolve(settings);
            self.persist_counters(out);
        }
    }

    /// Returns true if the run is active, and only a person may cancel it.
    pub(crate) fn is_cancelled_by_user(&self) -> bool {
        let root = &self.progress.state.workflow_key;
        self.is_active() && self.catalog.is_cancelled_by_user(root)
    }

    /// What is wrong with the outputs of the phase that loops are over.
    pub(crate) fn wrong_outputs(&self, phase: &str, outputs: &Values) -> Vec<String> {
        let position = self.position();
        let scopes = position.iter().flat_map(Position::scopes).copied();
        let scopes: Vec<ScopeLevel<'_>> = scopes.collect();
        let lists = outputs.iter().filter_map(|(name, value)| {
            let (phase, shown, name) = (phase.to_owned(), name, name.clone());
            let subject = Subject::Output { phase, name };
            let most = item_limit(&scopes, &subject, self.catalog())?;
            Some(format!("Output `{shown}` {}.", wrong_list(value, most)?))
        });
        lists.collect()
    }

    /// The number of the visit of the phase, where it has a limit.
    pub(crate) fn visit_note(&self) -> Option<String> {
        let (visits, most) = self.visits()?;
        Some(if visits > most {
            format!("This is visit {visits}, which the user allowed beyond the limit of {most}.")
        } else {
            format!("This is visit {visits} of {most}.")
        })
    }

    /// The number of the visit of the phase and its limit, where it has one.
    pub(crate) fn visits(&self) -> Option<(u32, u32)> {
        let phase = &self.phase()?.phase;
        let most = phase.max_visits.filter(|most| *most != u32::MAX)?;
        let RunProgress { state, data } = &self.progress;
        Some((data.visits(&state.current_path, &phase.id), most))
    }

    /// Counts the check that failed, and resolves the phase, whose texts say so. Returns its limit if it is reached. What
    /// follows stores the count.
    pub(crate) fn count_failure(
        &mut self,
        reports: &[Report],
        settings: &Settings,
    ) -> Option<ReachedLimit> {
        let failed = failed_check(reports)?;
        let phase = &self.phase()?.phase;
        let (id, check) = (phase.id.clone(), phase.gate.get(failed)?.clone());
        let most = check.tries?;
        let path = &self.progress.state.current_path;
        let what = check.check.called(shown);
        let count = self.progress.data.count_failure(path, &id, failed);
        let depth = path.depth();
        self.resolve(settings);
        (count >= most).then(|| ReachedLimit {
            to: check.on_limit.unwrap_or(Target::Pause),
            depth,
            why: format!(
                "{what} has failed {}, which is its limit",
                text::times(count)
            ),
            reason: PauseReason::Tries,
        })
    }

    /// The number of the try of a check that failed, and its limit.
    pub(crate) fn try_note(&self, reports: &[Report]) -> Option<String> {
        let phase = &self.phase()?.phase;
        let failed = failed_check(reports)?;
        let RunProgress { state, data } = &self.progress;
        let times = data.failures_of(&state.current_path, &phase.id, failed);
        let most = phase.gate.get(failed)?.tries;
        let most = most.filter(|most| *most != u32::MAX)?;
        Some(format!("Try {times} of {most}."))
    }

    /// Allows the visit that the run waits for. Returns true if it waits for one.
    pub(crate) fn allow_visit(&mut self) -> bool {
        let refused = self.progress.data.refused_visit.take();
        if let Some(key) = &refused {
            self.progress.data.allowed_visits.insert(key.clone());
        }
        refused.is_some()
    }

    /// Resolves the phase again, under other settings. Guards that these change hold as they were and as they are.
    pub(crate) fn adopt_settings(
        &mut self,
        settings: &Settings,
        project_trusted: bool,
        problems: &mut Vec<Diagnostic>,
    ) {
        if self.is_active() {
            let InForce { agreed, files, .. } = self.in_force.clone();
            let guards = StoredGuards::of(settings, Some(&agreed.guards));
            let before = agreed.guards.clone();
            let files = Terms { guards, ..files };
            let state = &self.progress.state;
            self.in_force = InForce::choose(state, agreed, files, project_trusted, problems);
            self.definition_persisted &= before == self.in_force.agreed.guards;
        }
        self.resolve(settings);
    }

    /// The times that jumps may lead into a phase without a limit of its own, if the settings say this.
    pub(crate) fn jumps(&self, of_settings: u32) -> u32 {
        of_settings.min(self.in_force.agreed.guards.jumps())
    }

    /// Ends the run as this state says. Its phase stays resolved for the messages about the end.
    pub(crate) fn end(&mut self, state: RunState) {
        self.progress.state = state;
    }

    /// Ends the run by a person's move. The entry that announces the end records it.
    pub(crate) fn end_by_user(&mut self, state: RunState, moved_by: UserMove) {
        self.progress.state = state;
        self.record.counters = ContinueCounters::default();
        self.count_overridden(Some(&moved_by));
        self.record.moved_by = Some(moved_by);
    }

    fn count_overridden(&mut self, moved_by: Option<&UserMove>) {
        let number = moved_by.map_or(0, |moved| moved.overrode.len() as u64);
        self.memory.tally.overridden = self.memory.tally.overridden.saturating_add(number);
    }

    /// Marks the end as announced, and persists it.
    pub(crate) fn mark_announced(&mut self, out: &mut Effects) {
        self.progress.state.completion_notified = true;
        self.persist(out);
    }

    /// The commands that the user must trust before the gate of the phase runs.
    pub(crate) fn commands_to_trust(&self) -> &[RunCheck] {
        let is_command = |gate: &Gate| gate.check.command().is_some();
        match self.phase() {
            Some(phase) if phase.phase.gate.iter().any(is_command) => {
                self.project_commands.needed_for(&phase.workflow_key)
            }
            Some(_) | None => &[],
        }
    }

    pub(crate) fn counters(&self) -> ContinueCounters {
        self.record.counters
    }

    /// Sets the counts of reminders, which are persisted with what follows.
    pub(crate) fn set_counters(&mut self, counters: ContinueCounters) {
        self.record.counters = counters;
    }

    /// Notes that the agent has had the chance to read the phase. Returns true if it had none before.
    pub(crate) fn mark_read(&mut self) -> bool {
        std::mem::take(&mut self.memory.is_unread)
    }
}
