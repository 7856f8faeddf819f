//! What a session needs to know of the world, and what it does in it, beyond reading definitions.
//!
//! Owns the port. The process answers from its machine; a replay answers from a transcript, a dry run
//! from what somebody says. Must not know methods or lines.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::value::{RawValue, to_raw_value};
use workflow_core::definition::{Gate, RunCheck};
use workflow_core::guard::gate::Report;
use workflow_core::guard::rules::Paths;
use workflow_core::output::GateId;

use crate::approval::Approvals;
use crate::gate::{self, Baseline, Job, Keeper, Running};
use crate::paths::LocalPaths;
use crate::trust::{Trust, TrustStore, hash_of};

/// How much of a file is shown with a question, in bytes.
const SHOWN: u64 = 4096;

/// The world around sessions.
pub(crate) trait World: fmt::Debug + Send + Sync {
    /// Where paths lead.
    fn paths(&self, cwd: &Path) -> Box<dyn Paths>;

    /// How things stand, for the checks of a gate.
    fn baseline(&self, gates: &[Gate], cwd: &Path) -> Box<RawValue>;

    /// Whether the user trusts these commands of a project.
    fn is_trusted(&self, project: &Project<'_>, commands: &[RunCheck]) -> bool;

    /// The user trusts these commands of a project.
    fn trust(&self, project: &Project<'_>, commands: &[RunCheck]);

    /// What the user said beforehand about leaving a phase.
    fn word(&self, agent_dir: &Path, place: &PhasePlace<'_>) -> Option<String>;

    /// What the user said beforehand has been used.
    fn forget_word(&self, agent_dir: &Path, task_id: &str);

    /// The beginning of a file that is shown with a question.
    fn excerpt(&self, path: &str, cwd: &Path) -> String;

    /// Starts the checks of a gate. What becomes of them is told on another thread.
    fn start_gate(&self, told: GateName, job: GateJob<'_>) -> GateHandle;
}

/// A project, and the user whose project it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Project<'a> {
    pub(crate) agent_dir: &'a Path,
    pub(crate) cwd: &'a Path,
}

/// Where a run stands, so that a word about it is about nothing else.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PhasePlace<'a> {
    pub(crate) task_id: &'a str,
    pub(crate) step: u64,
}

/// Which gate is told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GateName {
    pub(crate) session: String,
    pub(crate) gate: GateId,
}

/// The checks of a gate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GateJob<'a> {
    pub(crate) gates: &'a [Gate],
    pub(crate) cwd: &'a Path,
    pub(crate) baseline: Option<&'a RawValue>,
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
}

/// Takes what is told of gates.
type Listener = Arc<dyn Fn(GateName, GateNews) + Send + Sync>;

/// This machine.
#[derive(Default)]
pub(crate) struct Machine {
    listener: Arc<Mutex<Option<Listener>>>,
}

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
}

impl World for Machine {
    fn paths(&self, cwd: &Path) -> Box<dyn Paths> {
        Box::new(LocalPaths::new(cwd))
    }

    fn baseline(&self, gates: &[Gate], cwd: &Path) -> Box<RawValue> {
        let baseline = Baseline::take(gates, cwd);
        to_raw_value(&baseline).unwrap_or_else(|_| RawValue::NULL.to_owned())
    }

    fn is_trusted(&self, project: &Project<'_>, commands: &[RunCheck]) -> bool {
        let store = TrustStore::in_agent_dir(project.agent_dir);
        match store.look_up(project.cwd, &hash_of(commands)) {
            Ok(trust) => trust == Trust::Trusted,
            Err(error) => {
                tracing::warn!("{error}");
                false
            }
        }
    }

    fn trust(&self, project: &Project<'_>, commands: &[RunCheck]) {
        let store = TrustStore::in_agent_dir(project.agent_dir);
        if let Err(error) = store.trust(project.cwd, &hash_of(commands)) {
            tracing::warn!("the user's trust cannot be remembered: {error}");
        }
    }

    fn word(&self, agent_dir: &Path, place: &PhasePlace<'_>) -> Option<String> {
        Approvals::in_agent_dir(agent_dir).word(place.task_id, place.step)
    }

    fn forget_word(&self, agent_dir: &Path, task_id: &str) {
        Approvals::in_agent_dir(agent_dir).forget(task_id);
    }

    fn excerpt(&self, path: &str, cwd: &Path) -> String {
        excerpt(&cwd.join(path))
            .unwrap_or_else(|error| format!("({path} cannot be shown: {error})"))
    }

    fn start_gate(&self, told: GateName, job: GateJob<'_>) -> GateHandle {
        let listener = Arc::clone(&self.listener);
        let tell = move |news| {
            let listener = listener
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            if let Some(listener) = listener {
                listener(told.clone(), news);
            }
        };
        let baseline = job
            .baseline
            .and_then(|baseline| serde_json::from_str(baseline.get()).ok());
        let job = Job {
            gates: job.gates.to_vec(),
            cwd: job.cwd.to_path_buf(),
            baseline: baseline.unwrap_or_default(),
        };
        let at_once = tell.clone();
        let started = gate::start(&Keeper::this_binary(), job, move |event| {
            tell(match event {
                gate::Event::Progress(progress) => GateNews::Progress(in_words(&progress)),
                gate::Event::Over(reports) => GateNews::Over(reports),
            });
        });
        match started {
            Ok(running) => GateHandle(Some(running)),
            Err(reports) => {
                // Whoever asked holds the pen: told by another thread, it is heard afterwards.
                std::thread::spawn(move || at_once(GateNews::Over(reports)));
                GateHandle::none()
            }
        }
    }
}

fn in_words(progress: &gate::Progress) -> String {
    let seconds = progress.elapsed_ms / 1000;
    let (number, of, what) = (progress.check + 1, progress.of, &progress.what);
    format!("Checking {number} of {of}: {what} ({seconds} s)")
}

/// The beginning of a file, if it is one.
fn excerpt(path: &Path) -> std::io::Result<String> {
    use std::io::Read;
    if !path.metadata()?.is_file() {
        return Err(std::io::Error::other("it is no file"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?
        .take(SHOWN + 1)
        .read_to_end(&mut bytes)?;
    let is_cut = bytes.len() as u64 > SHOWN;
    bytes.truncate(usize::try_from(SHOWN).unwrap_or(usize::MAX));
    let text = String::from_utf8_lossy(&bytes);
    let visible = |c: char| c == '\n' || c == '\t' || !c.is_control();
    let text: String = text.chars().filter(|&c| visible(c)).collect();
    Ok(if is_cut { format!("{text}\n…") } else { text })
}
