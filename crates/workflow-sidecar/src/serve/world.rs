//! What a session needs to know of the world, and what it does in it, beyond reading definitions.
//!
//! Owns the port. The process answers from its machine; a replay answers from a transcript, a dry run
//! from what somebody says. Must not know methods or lines.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use serde_json::value::{RawValue, to_raw_value};
use workflow_core::definition::{Gate, RunCheck, Tier, Trigger};
use workflow_core::effect::TriggerOutcome as Heard;
use workflow_core::event::{
    ApprovalDecision as Word, RestoreOutcome as Restored, SnapshotError as NoSnapshot,
    WatchReport as Watched,
};
use workflow_core::policy::gate::Report;
use workflow_core::policy::rules::Paths;
use workflow_core::types::{GateRunId, Snapshot};

use crate::platform::approvals::Approvals;
pub(crate) use crate::platform::approvals::StoredRequest as Awaited;
use crate::platform::file_excerpt;
use crate::platform::gates::{self, Baseline, Job, Running, SupervisorBinary};
use crate::platform::git::{self, RestoreEvent};
use crate::platform::paths::LocalPaths;
use crate::platform::triggers::{self, ActiveTrigger, TriggerEvent};
use crate::platform::trust_store::{CommandsHash, Trust, TrustStore, hash_of, hash_of_triggers};

/// The world around sessions.
pub(crate) trait World: fmt::Debug + Send + Sync {
    /// Where paths lead.
    fn paths<'p>(&self, project: &Project<'p>) -> Box<dyn Paths + 'p>;

    /// How things stand, for the checks of a gate.
    fn baseline(&self, gates: &[Gate], cwd: &Path) -> Box<RawValue>;

    /// Whether the user trusts these commands of a project.
    fn is_trusted(&self, project: &Project<'_>, commands: &[RunCheck]) -> bool;

    /// The user trusts these commands of a project.
    fn trust(&self, project: &Project<'_>, commands: &[RunCheck]);

    /// What the user said outside of the host about this.
    fn word(&self, agent_dir: &Path, awaited: &Awaited) -> Option<Word>;

    /// A run waits for the user, who may answer outside of the host.
    ///
    /// Where nobody could, as in a replay, nothing is kept.
    fn await_word(&self, _agent_dir: &Path, _awaited: &Awaited) {}

    /// Nobody waits for the user's word about this run any more.
    fn forget_word(&self, agent_dir: &Path, task_id: &str);

    /// The beginning of a file that is shown with a question.
    fn excerpt(&self, path: &str, cwd: &Path) -> String;

    /// How such a file stands, to be compared.
    fn shown(&self, path: &str, cwd: &Path) -> String;

    /// Whether such a file still stands as it did.
    fn is_as_shown(&self, path: &str, cwd: &Path, shown: &str) -> bool {
        self.shown(path, cwd) == shown
    }

    /// Starts the checks of a gate. What becomes of them is told on another thread; the error is what came of
    /// them if they could not be started.
    fn start_gate(&self, told: GateName, job: GateJob<'_>) -> Result<GateHandle, Vec<Report>>;

    /// Keeps the code as it stands.
    fn keep_code(&self, project: &Project<'_>) -> Result<Snapshot, NoSnapshot>;

    /// Begins to bring the code back to how it stood. What becomes of it is told on another thread, unless it is
    /// given back at once.
    fn restore_code(
        &self,
        told: GateName,
        snapshot: &Snapshot,
        project: &Project<'_>,
    ) -> Option<Restored>;

    /// Watches these triggers, and none of a session's others; those of the project only if the user trusts them.
    /// What one has is told on another thread.
    fn watch(
        &self,
        session: &str,
        project: &Project<'_>,
        triggers: &[Trigger],
        watch: &mut TriggerWatch,
    ) -> Watched;

    /// The user trusts these triggers of a project.
    fn trust_triggers(&self, project: &Project<'_>, triggers: &[Trigger]);
}

/// A project, and the user whose project it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Project<'a> {
    pub(crate) agent_dir: &'a Path,
    pub(crate) cwd: &'a Path,
}

/// Which gate, or way back of the code, is told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GateName {
    pub(crate) session: String,
    pub(crate) gate: GateRunId,
}

/// The checks of a gate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GateJob<'a> {
    pub(crate) gates: &'a [Gate],
    pub(crate) cwd: &'a Path,
    pub(crate) baseline: Option<&'a RawValue>,
    /// Where the user's trust is kept; `None` where nothing of the project is trusted.
    pub(crate) agent_dir: Option<&'a Path>,
}

/// A gate that runs; it is called off when this is dropped.
#[derive(Debug)]
pub(crate) struct GateHandle(
    #[expect(dead_code, reason = "it is held, and let go of")] Option<Running>,
);

impl GateHandle {
    /// A gate that nobody runs.
    pub(crate) fn none() -> Self {
        Self(None)
    }
}

/// What is told of a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GateNews {
    /// It goes on: what it is at, as people read it.
    Progress(String),
    /// It is over.
    Over(Vec<Report>),
    /// It was a way back of the code, and this came of it.
    Restored(Restored),
}

/// Which trigger has something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TriggerName {
    pub(crate) session: String,
    /// No other has the same, not even the same trigger watched again.
    pub(crate) number: u64,
}

/// What is told of a trigger.
pub(crate) type TriggerNews = TriggerEvent;

/// The triggers that are watched for a session; they are not any more when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct TriggerWatch {
    watched: Vec<WatchedTrigger>,
    /// Whether what is told is told of one that is watched, as where a transcript tells it.
    is_told: bool,
}

#[derive(Debug)]
struct WatchedTrigger {
    trigger: Trigger,
    cwd: PathBuf,
    number: u64,
    #[expect(dead_code, reason = "it is held, and let go of")]
    running: ActiveTrigger,
}

impl TriggerWatch {
    /// Whether the trigger of this number is watched.
    pub(crate) fn has(&self, number: u64) -> bool {
        self.is_told || self.watched.iter().any(|watched| watched.number == number)
    }

    /// Nothing is watched here, and all that is told is heard.
    pub(crate) fn tell(&mut self) {
        self.is_told = true;
    }
}

/// Takes what triggers have, and says what becomes of it.
type TriggerListener = Arc<dyn Fn(TriggerName, TriggerNews) -> Option<Heard> + Send + Sync>;

/// Takes what is told of gates.
type Listener = Arc<dyn Fn(GateName, GateNews) + Send + Sync>;

/// This machine.
#[derive(Default)]
pub(crate) struct Machine {
    listener: Arc<Mutex<Option<Listener>>>,
    trigger_listener: Arc<Mutex<Option<TriggerListener>>>,
    triggers: AtomicU64,
    /// Where code is being brought back.
    restoring: Mutex<Vec<JoinHandle<()>>>,
    /// The directories whose code it is.
    on_the_way_back: Arc<Mutex<OnTheWayBack>>,
}

/// Directories whose code is being brought back: what one finds there meanwhile is neither how it was nor how it will be.
#[derive(Debug, Default)]
struct OnTheWayBack(Vec<PathBuf>);

impl OnTheWayBack {
    fn begin(&mut self, cwd: &Path) -> bool {
        let is_free = !self.has(cwd);
        if is_free {
            self.0.push(cwd.to_path_buf());
        }
        is_free
    }

    fn has(&self, cwd: &Path) -> bool {
        self.0.iter().any(|other| other == cwd)
    }

    fn end(&mut self, cwd: &Path) {
        self.0.retain(|other| other != cwd);
    }
}

const BEING_BROUGHT_BACK: &str = "the code is being brought back";

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Machine")
    }
}

impl Machine {
    /// Has somebody told of gates from now on.
    pub(super) fn listen(&self, listener: impl Fn(GateName, GateNews) + Send + Sync + 'static) {
        *self.listener.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(listener));
    }

    /// Has somebody told of triggers from now on.
    pub(super) fn listen_to_triggers(
        &self,
        listener: impl Fn(TriggerName, TriggerNews) -> Option<Heard> + Send + Sync + 'static,
    ) {
        let listeners = &self.trigger_listener;
        *listeners.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(listener));
    }

    /// Takes what is told of a gate to who listens.
    fn tell_of(&self, name: GateName) -> impl Fn(GateNews) + Clone + Send + Sync + 'static {
        let listener = Arc::clone(&self.listener);
        move |news| {
            let listener = listener
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            if let Some(listener) = listener {
                listener(name.clone(), news);
            }
        }
    }

    /// Waits until no code is being brought back: it would be left half way.
    pub(super) fn finish(&self) {
        let restoring = std::mem::take(&mut *self.restoring());
        for thread in restoring {
            // Whether it panicked it has said itself.
            let _ = thread.join();
        }
    }

    fn on_the_way_back(&self) -> MutexGuard<'_, OnTheWayBack> {
        let back = self.on_the_way_back.lock();
        back.unwrap_or_else(PoisonError::into_inner)
    }

    fn restoring(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.restoring
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn watch_one(
        &self,
        session: &str,
        trigger: &Trigger,
        cwd: &Path,
    ) -> Result<WatchedTrigger, String> {
        let number = self.triggers.fetch_add(1, Ordering::Relaxed);
        let name = TriggerName {
            session: session.to_owned(),
            number,
        };
        let listener = Arc::clone(&self.trigger_listener);
        let tell = move |news| {
            let listener = listener
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            listener.and_then(|listener| listener(name.clone(), news))
        };
        Ok(WatchedTrigger {
            trigger: trigger.clone(),
            cwd: cwd.to_path_buf(),
            number,
            running: triggers::start(trigger, cwd, tell)?,
        })
    }

    fn has_trust(project: &Project<'_>, hash: &CommandsHash) -> bool {
        let store = TrustStore::in_agent_dir(project.agent_dir);
        match store.look_up(project.cwd, hash) {
            Ok(trust) => trust == Trust::Trusted,
            Err(error) => {
                tracing::warn!("{error}");
                false
            }
        }
    }

    fn remember_trust(project: &Project<'_>, hash: &CommandsHash) {
        let store = TrustStore::in_agent_dir(project.agent_dir);
        if let Err(error) = store.trust(project.cwd, hash) {
            tracing::warn!("the user's trust cannot be remembered: {error}");
        }
    }
}

impl World for Machine {
    fn paths<'p>(&self, project: &Project<'p>) -> Box<dyn Paths + 'p> {
        Box::new(LocalPaths::new(project.cwd, project.agent_dir))
    }

    fn baseline(&self, gates: &[Gate], cwd: &Path) -> Box<RawValue> {
        let baseline = Baseline::take(gates, cwd);
        to_raw_value(&baseline).unwrap_or_else(|_| RawValue::NULL.to_owned())
    }

    fn is_trusted(&self, project: &Project<'_>, commands: &[RunCheck]) -> bool {
        Self::has_trust(project, &hash_of(commands))
    }

    fn trust(&self, project: &Project<'_>, commands: &[RunCheck]) {
        Self::remember_trust(project, &hash_of(commands));
    }

    fn word(&self, agent_dir: &Path, awaited: &Awaited) -> Option<Word> {
        let show = awaited.show.as_deref();
        let shown = show.map(|path| self.shown(path, &awaited.cwd));
        Approvals::in_agent_dir(agent_dir).decision(awaited, shown.as_deref())
    }

    fn await_word(&self, agent_dir: &Path, awaited: &Awaited) {
        // A directory that is no place, as in a transcript, is nobody's.
        if agent_dir.is_absolute()
            && let Err(error) = Approvals::in_agent_dir(agent_dir).store_request(awaited)
        {
            tracing::warn!("what a run waits for cannot be kept for the user: {error}");
        }
    }

    fn forget_word(&self, agent_dir: &Path, task_id: &str) {
        Approvals::in_agent_dir(agent_dir).clear(task_id);
    }

    fn excerpt(&self, path: &str, cwd: &Path) -> String {
        file_excerpt::excerpt(path, cwd)
    }

    fn shown(&self, path: &str, cwd: &Path) -> String {
        file_excerpt::state(path, cwd)
    }

    fn keep_code(&self, project: &Project<'_>) -> Result<Snapshot, NoSnapshot> {
        if self.on_the_way_back().has(project.cwd) {
            return Err(NoSnapshot::Failed(BEING_BROUGHT_BACK.to_owned()));
        }
        git::record_checkpoint(project.cwd, project.agent_dir)
    }

    fn restore_code(
        &self,
        told: GateName,
        snapshot: &Snapshot,
        project: &Project<'_>,
    ) -> Option<Restored> {
        if !self.on_the_way_back().begin(project.cwd) {
            return Some(Restored {
                problem: Some(BEING_BROUGHT_BACK.to_owned()),
                ..Restored::default()
            });
        }
        let tell = self.tell_of(told);
        let (back, cwd) = (Arc::clone(&self.on_the_way_back), project.cwd.to_path_buf());
        let started = git::start_restore(
            snapshot.clone(),
            project.cwd,
            project.agent_dir,
            move |event| {
                tell(match event {
                    RestoreEvent::Progress { step, elapsed_ms } => {
                        let seconds = elapsed_ms / 1000;
                        GateNews::Progress(format!("Bringing the code back: {step} ({seconds} s)"))
                    }
                    RestoreEvent::Finished(restored) => {
                        back.lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .end(&cwd);
                        GateNews::Restored(restored)
                    }
                });
            },
        );
        match started {
            Ok(thread) => {
                let mut restoring = self.restoring();
                restoring.retain(|thread| !thread.is_finished());
                restoring.push(thread);
                None
            }
            Err(restored) => {
                self.on_the_way_back().end(project.cwd);
                Some(restored)
            }
        }
    }

    fn watch(
        &self,
        session: &str,
        project: &Project<'_>,
        triggers: &[Trigger],
        watch: &mut TriggerWatch,
    ) -> Watched {
        let of_project = || {
            triggers
                .iter()
                .filter(|trigger| trigger.tier == Tier::Project)
        };
        let untrusted = of_project().next().is_some()
            && !Self::has_trust(project, &hash_of_triggers(of_project()));
        let mut watched = Watched {
            untrusted,
            ..Watched::default()
        };
        let wanted = triggers
            .iter()
            .filter(|trigger| !untrusted || trigger.tier == Tier::Global);
        // What ends gives its port free before another begins.
        let is_wanted = |running: &WatchedTrigger| {
            running.cwd == project.cwd
                && wanted
                    .clone()
                    .any(|wanted| wanted.is_same(&running.trigger))
        };
        watch.watched.retain(is_wanted);
        for trigger in wanted.clone() {
            if watch
                .watched
                .iter()
                .any(|running| running.trigger.is_same(trigger))
            {
                continue;
            }
            match self.watch_one(session, trigger, project.cwd) {
                Ok(running) => {
                    watched.started.push(trigger.describe());
                    watch.watched.push(running);
                }
                Err(problem) => watched.problems.push(problem),
            }
        }
        watched
    }

    fn trust_triggers(&self, project: &Project<'_>, triggers: &[Trigger]) {
        Self::remember_trust(project, &hash_of_triggers(triggers));
    }

    fn start_gate(&self, told: GateName, job: GateJob<'_>) -> Result<GateHandle, Vec<Report>> {
        let tell = self.tell_of(told);
        let baseline = job
            .baseline
            .and_then(|baseline| serde_json::from_str(baseline.get()).ok());
        let job = Job {
            gates: job.gates.to_vec(),
            cwd: job.cwd.to_path_buf(),
            baseline: baseline.unwrap_or_default(),
            agent_dir: job.agent_dir.map(Path::to_path_buf),
        };
        let started = gates::start(&SupervisorBinary::this_binary(), job, move |event| {
            tell(match event {
                gates::Event::Progress(progress) => GateNews::Progress(in_words(&progress)),
                gates::Event::Finished(reports) => GateNews::Over(reports),
            });
        });
        started.map(|running| GateHandle(Some(running)))
    }
}

fn in_words(progress: &gates::Progress) -> String {
    let seconds = progress.elapsed_ms / 1000;
    let (number, of, what) = (progress.check + 1, progress.of, &progress.what);
    format!("Checking {number} of {of}: {what} ({seconds} s)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn while_code_is_brought_back_it_is_neither_kept_nor_brought_back_again() {
        let place = tempfile::tempdir().unwrap();
        let project = Project {
            agent_dir: place.path(),
            cwd: place.path(),
        };
        let snapshot = Snapshot {
            reference: None,
            head: "0".repeat(40),
        };
        let name = || GateName {
            session: "s".to_owned(),
            gate: GateRunId(1),
        };
        let machine = Machine::default();
        assert!(machine.on_the_way_back().begin(project.cwd));
        assert_eq!(
            machine.keep_code(&project),
            Err(NoSnapshot::Failed(BEING_BROUGHT_BACK.to_owned()))
        );
        let again = machine.restore_code(name(), &snapshot, &project).unwrap();
        assert_eq!(again.problem.as_deref(), Some(BEING_BROUGHT_BACK));
        machine.on_the_way_back().end(project.cwd);
        // Its thread goes on for as long as somebody hears that it is over.
        let (go_on, wait) = std::sync::mpsc::channel::<()>();
        let wait = Mutex::new(wait);
        let (told, over) = std::sync::mpsc::channel();
        machine.listen(move |_, news| {
            told.send(news).unwrap();
            let _ = wait.lock().unwrap().recv();
        });
        assert_eq!(machine.restore_code(name(), &snapshot, &project), None);
        let news = over.recv().unwrap();
        assert!(matches!(news, GateNews::Restored(_)), "{news:?}");
        assert_eq!(
            machine.keep_code(&project),
            Err(NoSnapshot::NoRepository),
            "it is over as soon as that is told"
        );
        go_on.send(()).unwrap();
        machine.finish();
    }
}
