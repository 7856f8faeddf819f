//! The platform of this machine.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::value::{RawValue, to_raw_value};
use workflow_core::definition::{Gate, Tier, Trigger};
use workflow_core::diagnostic::visible;
use workflow_core::effect::{ApprovalRequest, Effect, GateRun, TriggerOutcome};
use workflow_core::event::{
    ApprovalDecision, PlatformEvent, RestoreOutcome, SnapshotError, WatchReport,
};
use workflow_core::policy::rules::Paths;
use workflow_core::types::{GateRunId, RestoreId, Snapshot};

use super::ancestry::Judgement;
#[cfg(unix)]
use super::answer_socket::AnswerSocket;
use super::answer_socket::{Answer, Reply, Request};
use super::approvals::{Approvals, RequestFile, StoredRequest};
use super::effects::{Listener, Platform, PlatformReport, Project, SessionContext};
use super::file_excerpt::{self, ShownFile};
use super::gates::{self, Baseline, Job, SupervisorBinary};
use super::git::{self, RestoreEvent};
use super::open_requests::{OpenRequests, ShownCode};
use super::paths::LocalPaths;
use super::restore_reports::{self, RestoreNote};
use super::run_notes::RunNotes;
use super::stored_answers::StoredAnswers;
use super::triggers::{self, ActiveTrigger, TriggerEvent};
use super::trust_store::{CommandsHash, Trust, TrustStore, hash_of, hash_of_triggers};
use crate::run_condition::run_of;
use crate::store::{AnswerRight, RunNote, now};

/// This machine.
#[derive(Default)]
pub(crate) struct RealPlatform {
    listener: Arc<Mutex<Option<Listener>>>,
    /// The gate that each session runs.
    gates: Mutex<HashMap<String, (GateRunId, gates::Running)>>,
    /// The triggers that are watched for each session.
    triggers: Mutex<HashMap<String, Vec<WatchedTrigger>>>,
    /// The number of triggers that were ever watched.
    numbers: AtomicU64,
    /// The threads that restore code.
    restores: Mutex<Vec<JoinHandle<()>>>,
    /// The directories in which code is being restored: their files are in no defined state.
    restoring: Arc<Mutex<Vec<PathBuf>>>,
    /// The approval requests of all sessions.
    requests: Arc<Mutex<OpenRequests>>,
    /// Open from the first session on.
    #[cfg(unix)]
    answers: Mutex<Option<AnswerSocket>>,
    /// The session that began last.
    newest: Arc<Mutex<String>>,
    /// The directories of the sessions.
    directories: Arc<Mutex<HashMap<String, PathBuf>>>,
    /// The directories in which git was too slow, and when it is tried again: every session waits for it.
    slow: Mutex<HashMap<PathBuf, Instant>>,
    notes: RunNotes,
}

struct WatchedTrigger {
    trigger: Trigger,
    cwd: PathBuf,
    number: u64,
    /// Ends the watching when it is dropped.
    _active: ActiveTrigger,
}

const BEING_RESTORED: &str = "the code is being restored";
/// No restore of a session has this number.
const OF_ANOTHER_SESSION: RestoreId = RestoreId(0);
const TOO_SLOW: &str = "git does not answer in time here, and is asked again in a minute";
/// Time in which git is not asked for a checkpoint again.
const PAUSE_OF_SLOW_GIT: Duration = Duration::from_secs(60);

impl fmt::Debug for RealPlatform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RealPlatform").finish_non_exhaustive()
    }
}

impl RealPlatform {
    /// Sets the receiver of reports. They come on other threads.
    pub(crate) fn listen(
        &self,
        listener: impl Fn(PlatformReport) -> Option<TriggerOutcome> + Send + Sync + 'static,
    ) {
        *lock(&self.listener) = Some(Arc::new(listener));
    }

    /// Takes no more answers, and waits until no code is being restored.
    pub(crate) fn finish(&self) {
        #[cfg(unix)]
        drop(lock(&self.answers).take());
        self.notes.finish();
        let restores = std::mem::take(&mut *lock(&self.restores));
        for thread in restores {
            // A panic was logged by the thread itself.
            let _ = thread.join();
        }
    }

    /// Gives a function that reports events of a session.
    fn reporter(
        &self,
        session: &str,
        trigger: Option<u64>,
    ) -> impl Fn(PlatformEvent) -> Option<TriggerOutcome> + Send + Sync + 'static {
        let listener = Arc::clone(&self.listener);
        let session = session.to_owned();
        move |event| {
            let listener = lock(&listener).clone()?;
            listener(PlatformReport {
                session: session.clone(),
                event,
                trigger,
            })
        }
    }

    /// Opens the socket for answers, once.
    #[cfg(unix)]
    fn open_socket(&self, agent_dir: &Path) {
        let mut answers = lock(&self.answers);
        if answers.is_some() {
            return;
        }
        let (requests, listener) = (Arc::clone(&self.requests), Arc::clone(&self.listener));
        let approvals = match Approvals::in_agent_dir(agent_dir) {
            Ok(approvals) => approvals,
            Err(error) => {
                tracing::warn!("answers from a terminal cannot be taken while this runs: {error}");
                return;
            }
        };
        let newest = Arc::clone(&self.newest);
        let directories = Arc::clone(&self.directories);
        let handle = move |request: Request, by| {
            let settled = request.clone();
            // Reported without the lock: the server may wait for it while it holds its own.
            let (reply, shown) = reply(request, by, &mut lock(&requests), &approvals);
            if let Some(shown) = shown {
                show_code(shown, &lock(&newest), &listener);
            }
            if reply == Reply::Noted {
                let reports = reports_of(settled, &requests, &directories);
                let listener = lock(&listener).clone();
                for report in reports {
                    listener.as_ref().map(|listener| listener(report));
                }
            }
            reply
        };
        match AnswerSocket::open(agent_dir, handle) {
            Ok(socket) => *answers = Some(socket),
            Err(error) => {
                tracing::warn!("answers from a terminal cannot be taken while this runs: {error}");
            }
        }
    }

    /// Stores an approval request, and opens it for answers.
    fn request_approval(
        &self,
        session: &SessionContext<'_>,
        request: ApprovalRequest,
    ) -> Option<PlatformEvent> {
        let agent_dir = session.project.agent_dir;
        // A relative directory is a name in a transcript.
        if !agent_dir.is_absolute() {
            return None;
        }
        let known = request.seal.clone();
        let known_to_session = known.is_some();
        let request = stored_request(session, request)?;
        let approvals = match Approvals::in_agent_dir(agent_dir) {
            Ok(approvals) => approvals,
            Err(error) => {
                let reason = error.to_string();
                return Some(PlatformEvent::ApprovalNotStored { reason });
            }
        };
        let opened = lock(&self.requests).open(session.id, &request, known, &approvals);
        let made = opened.unwrap_or_else(|error| {
            tracing::warn!("no code can be made: {error}");
            None
        });
        // Made in an earlier process, or before the session was restored.
        let choice = lock(&self.requests).choice(&request.task_id);
        let answered = choice
            .clone()
            .map(|choice| PlatformEvent::ApprovalAnswered {
                nonce: request.nonce.clone(),
                choice,
                is_earlier: true,
            });
        let file = RequestFile {
            seal: lock(&self.requests).seal(&request.task_id),
            sidecar: self.socket_name(),
            choice,
            request,
        };
        if let Err(error) = approvals.store_request(&file) {
            tracing::warn!("what a run waits for cannot be kept for the user: {error}");
            return Some(PlatformEvent::ApprovalNotStored {
                reason: error.to_string(),
            });
        }
        if known_to_session && answered.is_some() {
            return answered;
        }
        let (seal, code) = made?;
        if !session.session.has_dialogs() {
            tracing::warn!("a run waits for `workflow-sidecar approve`; the code is {code}");
        }
        Some(PlatformEvent::ApprovalRequested { seal, code })
    }

    #[cfg(unix)]
    fn socket_name(&self) -> Option<String> {
        lock(&self.answers)
            .as_ref()
            .map(|socket| socket.name().to_owned())
    }

    #[cfg(not(unix))]
    fn socket_name(&self) -> Option<String> {
        None
    }

    fn read_approval(
        &self,
        session: &SessionContext<'_>,
        request: ApprovalRequest,
    ) -> Option<(Option<ApprovalDecision>, Option<String>)> {
        let known = request.seal.clone();
        let request = stored_request(session, request)?;
        let mut requests = lock(&self.requests);
        let approvals = Approvals::in_agent_dir(session.project.agent_dir);
        if let Ok(approvals) = approvals
            && (cfg!(not(unix)) || approvals.answer_right() == AnswerRight::MayRead)
        {
            requests.take_stored(&request, known.as_deref(), &approvals);
        }
        let decision = requests.decision(&request);
        Some((decision, requests.comment(&request.task_id)))
    }

    fn run_gate(&self, session: &SessionContext<'_>, run: GateRun) -> Option<PlatformEvent> {
        let GateRun {
            id: gate,
            gates,
            baseline,
            commands,
        } = run;
        let may_run = commands.is_empty()
            || session.is_trusted && is_trusted(&session.project, &hash_of(&commands));
        if !may_run {
            return Some(PlatformEvent::GateNotTrusted { gate });
        }
        // A gate of commands that the host runs: only trust was asked for.
        if gates.is_empty() {
            let reports = Vec::new();
            return Some(PlatformEvent::GateFinished { gate, reports });
        }
        // A baseline that cannot be read is a check that could not be run, which the check reports.
        let baseline = baseline.and_then(|baseline| serde_json::from_str(baseline.get()).ok());
        let job = Job {
            gates,
            cwd: session.project.cwd.to_path_buf(),
            baseline: baseline.unwrap_or_default(),
            agent_dir: session
                .is_trusted
                .then(|| session.project.agent_dir.to_path_buf()),
        };
        let report = self.reporter(session.id, None);
        let started = gates::start(&SupervisorBinary::this_binary(), job, move |event| {
            report(match event {
                gates::Event::Progress(progress) => PlatformEvent::GateProgress {
                    gate,
                    text: progress_text(&progress),
                },
                gates::Event::Finished(reports) => PlatformEvent::GateFinished { gate, reports },
            });
        });
        match started {
            Ok(running) => {
                lock(&self.gates).insert(session.id.to_owned(), (gate, running));
                None
            }
            Err(reports) => Some(PlatformEvent::GateFinished { gate, reports }),
        }
    }

    /// Drops a gate run, which ends its commands.
    fn drop_gate(&self, session: &str, gate: GateRunId) {
        let mut gates = lock(&self.gates);
        if gates.get(session).is_some_and(|(id, _)| *id == gate) {
            gates.remove(session);
        }
    }

    fn record_checkpoint(&self, project: &Project<'_>) -> Result<Snapshot, SnapshotError> {
        if self.is_being_restored(project.cwd) {
            return Err(SnapshotError::Failed(BEING_RESTORED.to_owned()));
        }
        let began = Instant::now();
        if lock(&self.slow)
            .get(project.cwd)
            .is_some_and(|until| began < *until)
        {
            return Err(SnapshotError::Failed(TOO_SLOW.to_owned()));
        }
        let recorded = git::record_checkpoint(project.cwd, project.agent_dir);
        let mut slow = lock(&self.slow);
        if recorded.is_err() && began.elapsed() >= git::TIME_TO_RECORD {
            slow.insert(
                project.cwd.to_path_buf(),
                Instant::now() + PAUSE_OF_SLOW_GIT,
            );
            return Err(SnapshotError::Failed(TOO_SLOW.to_owned()));
        }
        slow.remove(project.cwd);
        recorded
    }

    /// Starts to restore the code; gives the outcome if that fails at once.
    fn restore_code(
        &self,
        session: &SessionContext<'_>,
        restore: RestoreId,
        snapshot: Snapshot,
    ) -> Option<RestoreOutcome> {
        let cwd = session.project.cwd;
        if self.is_being_restored(cwd) {
            return Some(RestoreOutcome {
                problem: Some(BEING_RESTORED.to_owned()),
                ..RestoreOutcome::default()
            });
        }
        lock(&self.restoring).push(cwd.to_path_buf());
        let listener = Arc::clone(&self.listener);
        let (restoring, directory) = (Arc::clone(&self.restoring), cwd.to_path_buf());
        let (sessions, asked_by) = (Arc::clone(&self.directories), session.id.to_owned());
        let note = Mutex::new(RestoreNote::begin(session.project.agent_dir, cwd));
        let on_event = move |event| {
            // The conversation may continue in another session of the directory, or in another process.
            let session = session_in(&lock(&sessions), &asked_by, &directory);
            let restore = match &session {
                Some(session) if *session != asked_by => OF_ANOTHER_SESSION,
                _ => restore,
            };
            let event = match event {
                RestoreEvent::Progress { step, elapsed_ms } => {
                    let seconds = elapsed_ms / 1000;
                    let text = format!("Restoring the code: {step} ({seconds} s)");
                    PlatformEvent::RestoreProgress { restore, text }
                }
                RestoreEvent::Finished(outcome) => {
                    lock(&restoring).retain(|other| *other != directory);
                    if let Some(note) = lock(&note).take().filter(|_| session.is_none()) {
                        note.leave(outcome.clone());
                    }
                    PlatformEvent::CodeRestored { restore, outcome }
                }
            };
            let listener = lock(&listener).clone();
            if let Some(listener) = listener {
                listener(PlatformReport {
                    session: session.unwrap_or_else(|| asked_by.clone()),
                    event,
                    trigger: None,
                });
            }
        };
        match git::start_restore(snapshot, cwd, session.project.agent_dir, on_event) {
            Ok(thread) => {
                let mut restores = lock(&self.restores);
                restores.retain(|thread| !thread.is_finished());
                restores.push(thread);
                None
            }
            Err(outcome) => {
                lock(&self.restoring).retain(|other| other != cwd);
                Some(outcome)
            }
        }
    }

    /// Reports the restores that outlived their sessions.
    fn report_restores(&self, session: &SessionContext<'_>) {
        let report = self.reporter(session.id, None);
        let (sessions, id) = (Arc::clone(&self.directories), session.id.to_owned());
        restore_reports::report_of_others(
            session.project.agent_dir,
            session.project.cwd,
            move || lock(&sessions).contains_key(&id),
            move |outcome| {
                let restore = OF_ANOTHER_SESSION;
                report(PlatformEvent::CodeRestored { restore, outcome });
            },
        );
    }

    fn is_being_restored(&self, cwd: &Path) -> bool {
        lock(&self.restoring).iter().any(|other| other == cwd)
    }

    /// Watches these triggers for a session, and no others. Those that are watched already stay.
    fn watch(&self, session: &SessionContext<'_>, triggers: &[Trigger]) -> WatchReport {
        let project = session.project;
        let of_project = || {
            triggers
                .iter()
                .filter(|trigger| trigger.tier == Tier::Project)
        };
        let untrusted =
            of_project().next().is_some() && !is_trusted(&project, &hash_of_triggers(of_project()));
        let wanted = triggers
            .iter()
            .filter(|trigger| !untrusted || trigger.tier == Tier::Global);
        let mut report = WatchReport {
            untrusted,
            ..WatchReport::default()
        };
        let mut watched = lock(&self.triggers);
        let watched = watched.entry(session.id.to_owned()).or_default();
        // A trigger that ends frees its port before another one starts.
        watched.retain(|running| {
            let is_same = |wanted: &Trigger| wanted.is_same(&running.trigger);
            running.cwd == project.cwd && wanted.clone().any(is_same)
        });
        for trigger in wanted {
            if watched
                .iter()
                .any(|running| running.trigger.is_same(trigger))
            {
                continue;
            }
            match self.watch_one(session.id, trigger, project.cwd) {
                Ok(running) => {
                    report.started.push(trigger.describe());
                    watched.push(running);
                }
                Err(problem) => report.problems.push(problem),
            }
        }
        report
    }

    fn watch_one(
        &self,
        session: &str,
        trigger: &Trigger,
        cwd: &Path,
    ) -> Result<WatchedTrigger, String> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let report = self.reporter(session, Some(number));
        let on_event = move |event| {
            report(match event {
                TriggerEvent::Text(text) => PlatformEvent::Triggered { text },
                TriggerEvent::Problem(problem) => PlatformEvent::TriggersWatched {
                    report: WatchReport {
                        problems: vec![problem],
                        ..WatchReport::default()
                    },
                },
            })
        };
        Ok(WatchedTrigger {
            trigger: trigger.clone(),
            cwd: cwd.to_path_buf(),
            number,
            _active: triggers::start(trigger, cwd, on_event)?,
        })
    }
}

impl Platform for RealPlatform {
    fn perform(&self, session: &SessionContext<'_>, effect: Effect) -> Option<PlatformEvent> {
        let project = session.project;
        match effect {
            Effect::RunGate(run) => return self.run_gate(session, run),
            Effect::CancelGate { gate } => self.drop_gate(session.id, gate),
            Effect::TakeBaseline { gates } => {
                return Some(PlatformEvent::BaselineTaken {
                    baseline: baseline(&gates, project.cwd),
                });
            }
            Effect::TrustCommands { commands } => trust(&project, &hash_of(&commands)),
            Effect::TrustTriggers { triggers } => trust(&project, &hash_of_triggers(&triggers)),
            Effect::RequestApproval(request) => return self.request_approval(session, request),
            Effect::ReadApproval(request) => {
                let decided = self.read_approval(session, request);
                let (decision, comment) = decided.unwrap_or_default();
                return Some(PlatformEvent::ApprovalRead { decision, comment });
            }
            Effect::ClearApproval { task_id } => {
                lock(&self.requests).close(&task_id);
                match Approvals::in_agent_dir(project.agent_dir) {
                    Ok(approvals) => approvals.clear(&task_id),
                    Err(error) => tracing::warn!("{error}"),
                }
            }
            Effect::RecordCheckpoint => {
                return Some(match self.record_checkpoint(&project) {
                    Ok(snapshot) => PlatformEvent::CheckpointRecorded { snapshot },
                    Err(error) => PlatformEvent::CheckpointFailed { error },
                });
            }
            Effect::RestoreCode { restore, snapshot } => {
                let outcome = self.restore_code(session, restore, snapshot)?;
                return Some(PlatformEvent::CodeRestored { restore, outcome });
            }
            Effect::WatchTriggers { triggers } => {
                let report = self.watch(session, &triggers);
                return Some(PlatformEvent::TriggersWatched { report });
            }
            Effect::StopWatching => {
                lock(&self.triggers).remove(session.id);
            }
        }
        None
    }

    fn accept(&self, report: &PlatformReport) -> bool {
        if let PlatformEvent::GateFinished { gate, .. } = report.event {
            self.drop_gate(&report.session, gate);
        }
        report.trigger.is_none_or(|number| {
            let triggers = lock(&self.triggers);
            let watched = triggers.get(&report.session);
            watched.is_some_and(|watched| watched.iter().any(|one| one.number == number))
        })
    }

    fn open_session(&self, session: &SessionContext<'_>) {
        session.id.clone_into(&mut lock(&self.newest));
        let cwd = session.project.cwd.to_path_buf();
        lock(&self.directories).insert(session.id.to_owned(), cwd);
        if session.project.agent_dir.is_absolute() {
            #[cfg(unix)]
            self.open_socket(session.project.agent_dir);
            self.report_restores(session);
        }
    }

    fn note_run(&self, session: &SessionContext<'_>, host: &str) {
        let project = session.project;
        // A relative directory is a name in a transcript.
        if !project.agent_dir.is_absolute() {
            return;
        }
        if let Some(run) = run_of(session.session) {
            let note = RunNote {
                host: host.to_owned(),
                run,
                cwd: project.cwd.to_path_buf(),
                file: project
                    .session_file
                    .map(|file| file.to_string_lossy().into_owned()),
                now: now(),
            };
            let answers = StoredAnswers::new(&self.requests, &self.listener);
            self.notes.write(project.agent_dir, note, answers);
        }
    }

    fn close_session(&self, session: &str) {
        lock(&self.directories).remove(session);
        // Bound to names, so that what they end is not ended under the locks.
        let _gate = lock(&self.gates).remove(session);
        let _triggers = lock(&self.triggers).remove(session);
    }

    fn paths<'p>(&self, project: &Project<'p>) -> Box<dyn Paths + 'p> {
        let paths = LocalPaths::new(project.cwd, project.agent_dir);
        Box::new(paths.with_session_file(project.session_file))
    }

    fn excerpt(&self, path: &str, cwd: &Path) -> String {
        file_excerpt::excerpt(path, cwd)
    }

    fn fingerprint(&self, path: &str, cwd: &Path) -> String {
        file_excerpt::state(path, cwd)
    }
}

/// The session that reads about a restore: the one that asked for it, or another one in the directory.
fn session_in(
    sessions: &HashMap<String, PathBuf>,
    asked_by: &str,
    directory: &Path,
) -> Option<String> {
    if sessions.contains_key(asked_by) {
        return Some(asked_by.to_owned());
    }
    let there = sessions.iter().find(|(_, cwd)| *cwd == directory);
    there.map(|(session, _)| session.clone())
}

fn baseline(gates: &[Gate], cwd: &Path) -> Box<RawValue> {
    to_raw_value(&Baseline::take(gates, cwd)).expect("a baseline has string keys only")
}

fn is_trusted(project: &Project<'_>, hash: &CommandsHash) -> bool {
    let store = TrustStore::in_agent_dir(project.agent_dir);
    match store.and_then(|store| store.look_up(project.cwd, hash)) {
        Ok(trust) => trust == Trust::Trusted,
        Err(error) => {
            tracing::warn!("{error}");
            false
        }
    }
}

fn trust(project: &Project<'_>, hash: &CommandsHash) {
    let store = TrustStore::in_agent_dir(project.agent_dir);
    if let Err(error) = store.and_then(|store| store.trust(project.cwd, hash)) {
        tracing::warn!("the user's trust cannot be remembered: {error}");
    }
}

/// Replies to a process that has been judged. Returns a code that is to be shown to the person.
fn reply(
    request: Request,
    by: Judgement,
    requests: &mut OpenRequests,
    approvals: &Approvals,
) -> (Reply, Option<ShownCode>) {
    match (request, by) {
        (Request::Judge, by) => (Reply::Judged(by), None),
        (Request::Answer(answer), by) => requests.answer(*answer, &by, approvals),
        (_, Judgement::Agent(why)) => (Reply::Refused(why), None),
        (Request::TrustCode { project }, by) => match (requests.trust_code(&project), by) {
            (Ok(shown), Judgement::Unclear(why)) => (Reply::CodeNeeded(why), shown),
            (Ok(_), _) => (Reply::Noted, None),
            (Err(error), _) => (
                Reply::Refused(format!("no code can be made: {error}")),
                None,
            ),
        },
        (Request::CheckTrust { project, code }, _) => (requests.check_trust(&project, &code), None),
        // Nothing is trusted by this: it has the store looked at again.
        (Request::Trusted { .. }, _) => (Reply::Noted, None),
    }
}

/// The reports about what a person has settled outside of the host.
fn reports_of(
    settled: Request,
    requests: &Mutex<OpenRequests>,
    directories: &Mutex<HashMap<String, PathBuf>>,
) -> Vec<PlatformReport> {
    let report = |session, event| PlatformReport {
        session,
        event,
        trigger: None,
    };
    match settled {
        Request::Answer(answer) => {
            let Answer {
                request, choice, ..
            } = *answer;
            let session = lock(requests).session(&request.task_id);
            let nonce = request.nonce;
            let event = PlatformEvent::ApprovalAnswered {
                nonce,
                choice,
                is_earlier: false,
            };
            session
                .map(|session| report(session, event))
                .into_iter()
                .collect()
        }
        Request::Trusted { project } => {
            let is_there = |cwd: &Path| {
                let real = cwd.canonicalize();
                real.is_ok_and(|real| real == Path::new(&project))
            };
            let directories = lock(directories);
            let there = directories.iter().filter(|(_, cwd)| is_there(cwd));
            there
                .map(|(session, _)| report(session.clone(), PlatformEvent::ProjectTrusted))
                .collect()
        }
        Request::Judge | Request::TrustCode { .. } | Request::CheckTrust { .. } => Vec::new(),
    }
}

/// Shows a code to the person: in the host, and in the log.
fn show_code(shown: ShownCode, newest: &str, listener: &Mutex<Option<Listener>>) {
    let ShownCode {
        session,
        code,
        purpose,
    } = shown;
    let purpose = visible(&purpose);
    tracing::warn!("to {purpose} in a terminal, the code is {code}");
    let listener = lock(listener).clone();
    if let Some(listener) = listener {
        listener(PlatformReport {
            session: session.unwrap_or_else(|| newest.to_owned()),
            event: PlatformEvent::CodeNeeded { code, purpose },
            trigger: None,
        });
    }
}

/// An approval request with what the user must know of its run.
fn stored_request(session: &SessionContext<'_>, request: ApprovalRequest) -> Option<StoredRequest> {
    let view = session.session.view()?;
    let phase = view.phase.as_ref()?;
    let ApprovalRequest {
        approval, nonce, ..
    } = request;
    let cwd = session.project.cwd;
    let shown_file = approval.show.as_deref();
    let shown_file = shown_file.map(|path| ShownFile::read(path, cwd));
    Some(StoredRequest {
        task_id: view.state.task_id.clone(),
        step: view.state.global_step_count,
        nonce,
        workflow: phase.workflow_name.to_owned(),
        phase: phase.name.to_owned(),
        task: view.state.task_description.clone(),
        cwd: cwd.to_path_buf(),
        ask: approval.ask,
        choices: approval.choices,
        show: approval.show,
        shown_file,
    })
}

fn progress_text(progress: &gates::Progress) -> String {
    let seconds = progress.elapsed_ms / 1000;
    let (number, of, what) = (progress.check + 1, progress.of, &progress.what);
    format!("Checking {number} of {of}: {what} ({seconds} s)")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use workflow_core::Session;
    use workflow_core::session::Abilities;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_git_that_is_too_slow_is_not_asked_again_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let platform = RealPlatform::default();
        let project = Project {
            agent_dir: directory.path(),
            cwd: directory.path(),
            session_file: None,
        };
        let until = Instant::now() + PAUSE_OF_SLOW_GIT;
        lock(&platform.slow).insert(directory.path().to_path_buf(), until);
        let too_slow = SnapshotError::Failed(TOO_SLOW.to_owned());
        assert_eq!(platform.record_checkpoint(&project), Err(too_slow));
        lock(&platform.slow).insert(directory.path().to_path_buf(), Instant::now());
        let answered = platform.record_checkpoint(&project);
        assert_eq!(answered, Err(SnapshotError::NoRepository));
        assert!(lock(&platform.slow).is_empty());
    }

    #[test]
    fn code_that_is_being_restored_is_neither_recorded_nor_restored_again() {
        let directory = tempfile::tempdir().unwrap();
        let session = Session::new(Abilities::default(), 7);
        let context = SessionContext {
            id: "s",
            session: &session,
            project: Project {
                agent_dir: directory.path(),
                cwd: directory.path(),
                session_file: None,
            },
            is_trusted: true,
        };
        let platform = RealPlatform::default();
        let record = || platform.record_checkpoint(&context.project);
        let restore = || {
            let snapshot = Snapshot {
                reference: None,
                head: "0".repeat(40),
            };
            platform.restore_code(&context, RestoreId(1), snapshot)
        };
        let being_restored = SnapshotError::Failed(BEING_RESTORED.to_owned());
        lock(&platform.restoring).push(directory.path().to_path_buf());
        assert_eq!(record(), Err(being_restored));
        let again = restore().unwrap();
        assert_eq!(again.problem.as_deref(), Some(BEING_RESTORED));
        lock(&platform.restoring).clear();
        // The listener blocks, so that the thread of the restore is still there.
        let (go_on, wait) = std::sync::mpsc::channel::<()>();
        let wait = Mutex::new(wait);
        let (reported, reports) = std::sync::mpsc::channel();
        platform.listen(move |report| {
            reported.send(report.event).unwrap();
            let _ = lock(&wait).recv();
            None
        });
        assert_eq!(restore(), None);
        let event = reports.recv().unwrap();
        assert!(
            matches!(event, PlatformEvent::CodeRestored { .. }),
            "{event:?}"
        );
        assert_eq!(
            record(),
            Err(SnapshotError::NoRepository),
            "the restore is over as soon as that is reported"
        );
        go_on.send(()).unwrap();
        platform.finish();
    }
}
