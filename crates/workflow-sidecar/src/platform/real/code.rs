//! The code of the projects: its checkpoints, and their restoration on threads of their own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use workflow_core::event::{PlatformEvent, RestoreOutcome, SnapshotError};
use workflow_core::types::{RestoreId, Snapshot};

use crate::platform::effects::SessionContext;
use crate::platform::git;
use crate::platform::open_sessions::OpenSessions;
use crate::platform::restore_reports::{OF_ANOTHER_SESSION, RestoreNote};
use crate::threads::spawn;

const BEING_RESTORED: &str = "the code is being restored";
const TOO_SLOW: &str = "git does not answer in time here, and is asked again in a minute";
/// Time in which git is not asked for a checkpoint again.
const PAUSE_OF_SLOW_GIT: Duration = Duration::from_secs(60);

/// Facts about the directories with code.
#[derive(Debug, Default)]
pub(super) struct CodeRestores {
    /// The threads that restore code.
    restores: Mutex<Vec<JoinHandle<()>>>,
    /// The directories in which code is being restored: their files are in no defined state.
    restoring: Arc<Mutex<Vec<PathBuf>>>,
    /// The directories in which git was too slow, and when it is tried again: every session waits for it.
    slow: Mutex<HashMap<PathBuf, Instant>>,
}

impl CodeRestores {
    /// Waits until no code is being restored.
    pub(super) fn finish(&self) {
        let restores = std::mem::take(&mut *self.restores.lock());
        for thread in restores {
            // A panic was logged by the thread itself.
            let _ = thread.join();
        }
    }

    /// Records a checkpoint, unless the code is being restored or git was too slow a moment ago.
    pub(super) fn record(&self, session: &SessionContext) -> Result<Snapshot, SnapshotError> {
        let SessionContext { agent_dir, cwd, .. } = session;
        if self.is_being_restored(cwd) {
            return Err(SnapshotError::Failed(BEING_RESTORED.to_owned()));
        }
        let began = Instant::now();
        let paused = self.slow.lock().get(&**cwd).copied();
        if paused.is_some_and(|until| began < until) {
            return Err(SnapshotError::Failed(TOO_SLOW.to_owned()));
        }
        let recorded = git::record_checkpoint(cwd, agent_dir);
        let mut slow = self.slow.lock();
        if recorded.is_err() && began.elapsed() >= git::TIME_TO_RECORD {
            let until = Instant::now() + PAUSE_OF_SLOW_GIT;
            slow.insert(cwd.to_path_buf(), until);
            return Err(SnapshotError::Failed(TOO_SLOW.to_owned()));
        }
        slow.remove(&**cwd);
        recorded
    }

    /// Starts to restore the code; gives the outcome if that fails at once.
    pub(super) fn restore(
        &self,
        session: &SessionContext,
        restore: RestoreId,
        snapshot: Snapshot,
        sessions: &OpenSessions,
    ) -> Option<RestoreOutcome> {
        let cwd = &session.cwd;
        if self.is_being_restored(cwd) {
            return Some(RestoreOutcome::failed(BEING_RESTORED));
        }
        self.restoring.lock().push(cwd.to_path_buf());
        let (restoring, directory) = (Arc::clone(&self.restoring), cwd.to_path_buf());
        let (sessions, asked_by) = (sessions.clone(), session.id.clone());
        let agent_dir = session.agent_dir.to_path_buf();
        let note = RestoreNote::begin(&agent_dir, cwd);
        let work = move || {
            // The conversation may continue in another session of the directory, or in another process.
            let addressee = || {
                let session = sessions.this_or_other_in(&asked_by, &directory);
                let is_other = session.as_ref().is_some_and(|session| *session != asked_by);
                let of_other = is_other.then_some(OF_ANOTHER_SESSION);
                (session, of_other.unwrap_or(restore))
            };
            let on_progress = |step, elapsed: Duration| {
                let text = format!("Restoring the code: {step} ({} s)", elapsed.as_secs());
                let (session, restore) = addressee();
                let session = session.as_ref().unwrap_or(&asked_by);
                sessions.report(session, PlatformEvent::RestoreProgress { restore, text });
            };
            let outcome =
                git::restore_with_progress(&snapshot, &directory, &agent_dir, on_progress);
            let (session, restore) = addressee();
            restoring.lock().retain(|other| *other != directory);
            if let Some(note) = note.filter(|_| session.is_none()) {
                note.leave(&outcome);
            }
            let session = session.as_ref().unwrap_or(&asked_by);
            sessions.report(session, PlatformEvent::CodeRestored { restore, outcome });
        };
        match spawn("restore", work) {
            Ok(thread) => {
                let mut restores = self.restores.lock();
                restores.retain(|thread| !thread.is_finished());
                restores.push(thread);
                None
            }
            Err(error) => {
                self.restoring.lock().retain(|other| **other != **cwd);
                let problem = format!("it could not be started: {error}");
                Some(RestoreOutcome::failed(problem))
            }
        }
    }

    fn is_being_restored(&self, cwd: &Path) -> bool {
        self.restoring.lock().iter().any(|other| other == cwd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::session_in;

    #[cfg(unix)]
    #[test]
    fn a_git_that_is_too_slow_is_not_asked_again_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let code = CodeRestores::default();
        let session = session_in(directory.path(), directory.path());
        let until = Instant::now() + PAUSE_OF_SLOW_GIT;
        code.slow
            .lock()
            .insert(directory.path().to_path_buf(), until);
        let too_slow = SnapshotError::Failed(TOO_SLOW.to_owned());
        assert_eq!(code.record(&session), Err(too_slow));
        code.slow
            .lock()
            .insert(directory.path().to_path_buf(), Instant::now());
        let answered = code.record(&session);
        assert_eq!(answered, Err(SnapshotError::NoRepository));
        assert!(code.slow.lock().is_empty());
    }

    #[test]
    fn code_that_is_being_restored_is_neither_recorded_nor_restored_again() {
        let directory = tempfile::tempdir().unwrap();
        let context = session_in(directory.path(), directory.path());
        let (code, sessions) = (CodeRestores::default(), OpenSessions::default());
        let record = || code.record(&context);
        let restore = || {
            let snapshot = Snapshot {
                reference: None,
                head: "0".repeat(40),
            };
            code.restore(&context, RestoreId(1), snapshot, &sessions)
        };
        let being_restored = SnapshotError::Failed(BEING_RESTORED.to_owned());
        code.restoring.lock().push(directory.path().to_path_buf());
        assert_eq!(record(), Err(being_restored));
        let again = restore().unwrap();
        assert_eq!(again.problem.as_deref(), Some(BEING_RESTORED));
        code.restoring.lock().clear();
        // The listener blocks, so that the thread of the restore is still there.
        let (go_on, wait) = std::sync::mpsc::channel::<()>();
        let wait = Mutex::new(wait);
        let (reported, reports) = std::sync::mpsc::channel();
        sessions.listen(move |report| {
            reported.send(report.event).unwrap();
            let _ = wait.lock().recv();
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
        code.finish();
    }
}
