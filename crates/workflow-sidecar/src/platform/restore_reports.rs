//! Reports on restored code that outlive their session: the conversation may continue in a new session, and in a new
//! process, before git is done.
//!
//! Owns these files: one for each restore, locked by its process while it runs, with its outcome if no session was there to
//! read it.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::{NamedTempFile, TempPath};
use workflow_core::event::{PlatformEvent, RestoreOutcome};
use workflow_core::types::RestoreId;
use workflow_store::create_private_dir;

use super::effects::SessionContext;
use super::open_sessions::OpenSessions;
use crate::files::hash;
use crate::threads::spawn;

/// No restore of a session has this number.
pub(super) const OF_ANOTHER_SESSION: RestoreId = RestoreId(0);

const DIRECTORY: &str = "workflow-sidecar/restores";
/// Age at which a report is of no further use.
const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const DIED: &str = "the process that restored it ended before it was done. Look at `git status` and `git stash list`";
const UNREADABLE: &str =
    "what its process wrote about it cannot be read. Look at `git status` and `git stash list`";

/// A restore of this process. Its file is removed when this is dropped, unless the outcome is left for a later session.
pub(super) struct RestoreNote {
    path: TempPath,
    locked: File,
}

impl RestoreNote {
    /// Notes that a restore begins. A note that cannot be written costs only the report to a later session.
    pub(super) fn begin(agent_dir: &Path, cwd: &Path) -> Option<Self> {
        // A relative directory is a name in a transcript.
        if !agent_dir.is_absolute() {
            return None;
        }
        let note = Self::write(&agent_dir.join(DIRECTORY), cwd);
        note.inspect_err(|error| {
            tracing::warn!("a restore cannot be noted for a later session: {error}");
        })
        .ok()
    }

    fn write(directory: &Path, cwd: &Path) -> io::Result<Self> {
        let mut directories = directory.ancestors().take(2);
        directories.try_for_each(create_private_dir)?;
        // It gets its name once it is locked.
        let new = NamedTempFile::new_in(directory)?;
        new.as_file().lock()?;
        let unique = new.path().file_name().unwrap_or_default();
        let path = directory.join(prefix(cwd) + &unique.to_string_lossy());
        Ok(Self {
            locked: new.persist(&path)?,
            path: TempPath::try_from_path(path)?,
        })
    }

    /// Leaves the outcome for the next session in the directory.
    pub(super) fn leave(mut self, outcome: &RestoreOutcome) {
        self.path.disable_cleanup(true);
        let outcome = serde_json::to_vec(outcome).map_err(io::Error::from);
        let written = outcome.and_then(|outcome| self.locked.write_all(&outcome));
        if let Err(error) = written {
            tracing::warn!("the result of a restore cannot be stored: {error}");
        }
    }
}

/// What the files of a directory's restores begin with.
fn prefix(cwd: &Path) -> String {
    hash(cwd.as_os_str().as_encoded_bytes()) + "-"
}

/// Reports the restores of other sessions in its directory to a session, now and as they end, while it is open.
pub(super) fn report_of_others(session: &SessionContext, sessions: &OpenSessions) {
    for path in pending(&session.agent_dir.join(DIRECTORY), &session.cwd) {
        let (sessions, id) = (sessions.clone(), session.id.clone());
        let wait = move || match outcome(&path) {
            // The one that removes it reports it.
            Ok(outcome) if sessions.is_open(&id) && fs::remove_file(&path).is_ok() => {
                let restore = OF_ANOTHER_SESSION;
                sessions.report(&id, PlatformEvent::CodeRestored { restore, outcome });
            }
            Ok(_) | Err(_) => {}
        };
        // On a thread of its own, because the caller has the lock of the server.
        if let Err(error) = spawn("restores", wait) {
            tracing::warn!("restores of other sessions cannot be reported: {error}");
        }
    }
}

/// The files of the restores in a directory. Those that are too old are removed, of whatever directory.
fn pending(restores: &Path, cwd: &Path) -> Vec<PathBuf> {
    let prefix = prefix(cwd);
    let entries = fs::read_dir(restores).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path()).filter(|path| {
        let changed = path.metadata().and_then(|metadata| metadata.modified());
        let age = changed.map(|changed| SystemTime::now().duration_since(changed));
        if matches!(age, Ok(Ok(age)) if age > MAX_AGE) {
            let _ = fs::remove_file(path);
            return false;
        }
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().starts_with(&prefix)
    });
    paths.collect()
}

/// The outcome of a restore. Waits for the end of one whose process has the file locked.
fn outcome(path: &Path) -> io::Result<RestoreOutcome> {
    let mut file = File::open(path)?;
    file.lock_shared()?;
    let mut outcome = String::new();
    file.read_to_string(&mut outcome)?;
    Ok(serde_json::from_str(&outcome).unwrap_or_else(|_| {
        RestoreOutcome::failed(if outcome.is_empty() { DIED } else { UNREADABLE })
    }))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;
    use crate::platform::session_in;

    const SOON: Duration = Duration::from_secs(10);

    fn reports_in(agent: &Path, cwd: &Path) -> mpsc::Receiver<RestoreOutcome> {
        let (reported, reports) = mpsc::channel();
        let (session, sessions) = (session_in(agent, cwd), OpenSessions::default());
        sessions.open(&session, None);
        sessions.listen(move |report| {
            if let PlatformEvent::CodeRestored { outcome, .. } = report.event {
                // The test may have ended.
                let _ = reported.send(outcome);
            }
            None
        });
        report_of_others(&session, &sessions);
        reports
    }

    #[test]
    fn an_outcome_without_a_session_is_reported_once_to_the_next_one() {
        let agent = tempfile::tempdir().unwrap();
        let cwd = Path::new("/project");
        let note = RestoreNote::begin(agent.path(), cwd).unwrap();
        note.leave(&RestoreOutcome::default());
        let elsewhere = reports_in(agent.path(), Path::new("/elsewhere"));
        assert!(elsewhere.recv().is_err());
        let reports = reports_in(agent.path(), cwd);
        assert_eq!(reports.recv_timeout(SOON), Ok(RestoreOutcome::default()));
        assert!(reports_in(agent.path(), cwd).recv().is_err());
    }

    #[test]
    fn a_restore_that_still_runs_is_reported_when_it_ends() {
        let agent = tempfile::tempdir().unwrap();
        let cwd = Path::new("/project");
        let note = RestoreNote::begin(agent.path(), cwd).unwrap();
        let reports = reports_in(agent.path(), cwd);
        assert!(reports.recv_timeout(Duration::from_millis(200)).is_err());
        note.leave(&RestoreOutcome::default());
        assert_eq!(reports.recv_timeout(SOON), Ok(RestoreOutcome::default()));
    }

    #[test]
    fn a_restore_that_its_session_reads_about_is_not_reported_again() {
        let agent = tempfile::tempdir().unwrap();
        let cwd = Path::new("/project");
        let note = RestoreNote::begin(agent.path(), cwd).unwrap();
        let waiting = reports_in(agent.path(), cwd);
        drop(note);
        assert!(waiting.recv().is_err());
        assert!(reports_in(agent.path(), cwd).recv().is_err());
    }

    #[test]
    fn a_process_that_died_during_a_restore_is_reported() {
        let agent = tempfile::tempdir().unwrap();
        let cwd = Path::new("/project");
        let mut note = RestoreNote::begin(agent.path(), cwd).unwrap();
        // The system closes the files of a process that ends.
        note.path.disable_cleanup(true);
        drop(note);
        let outcome = reports_in(agent.path(), cwd).recv_timeout(SOON).unwrap();
        assert_eq!(outcome.problem.as_deref(), Some(DIED));
    }
    #[test]
    fn a_restore_that_still_runs_hides_no_other() {
        let agent = tempfile::tempdir().unwrap();
        let cwd = Path::new("/project");
        let running: Vec<_> = (0..4)
            .map(|_| RestoreNote::begin(agent.path(), cwd).unwrap())
            .collect();
        let ended = RestoreNote::begin(agent.path(), cwd).unwrap();
        ended.leave(&RestoreOutcome::default());
        let reports = reports_in(agent.path(), cwd);
        assert_eq!(reports.recv_timeout(SOON), Ok(RestoreOutcome::default()));
        drop(running);
    }

    #[test]
    fn what_cannot_be_read_is_said_and_what_is_old_is_removed() {
        let agent = tempfile::tempdir().unwrap();
        let cwd = Path::new("/project");
        let noted = || {
            let mut note = RestoreNote::begin(agent.path(), cwd).unwrap();
            note.path.disable_cleanup(true);
            note
        };
        let mut note = noted();
        note.locked.write_all(b"{\"files\":3}").unwrap();
        drop(note);
        let outcome = reports_in(agent.path(), cwd).recv_timeout(SOON).unwrap();
        assert_eq!(outcome.problem.as_deref(), Some(UNREADABLE));
        let old = noted();
        old.locked.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let path = old.path.to_path_buf();
        drop(old);
        assert!(
            reports_in(agent.path(), Path::new("/elsewhere"))
                .recv()
                .is_err()
        );
        assert!(!path.exists());
    }
}
