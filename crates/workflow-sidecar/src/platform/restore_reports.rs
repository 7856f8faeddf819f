//! Reports on restored code that outlive their session: the conversation may continue in a new session, and in a new
//! process, before git is done.
//!
//! Owns these files: one for each restore that runs, with its outcome if no session was there to read it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};
use workflow_core::event::RestoreOutcome;

use super::process::ProcessId;
use workflow_store::create_private_dir;

use crate::files::private_file::{read_json, replace};

const DIRECTORY: &str = "workflow-sidecar/restores";
/// Time between two looks at a restore of another process.
const INTERVAL: Duration = Duration::from_millis(200);
/// Time after which a restore of another process is not waited for any longer.
const MAX_WAIT: Duration = Duration::from_secs(15 * 60);
/// Age at which a report is of no further use.
const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const DIED: &str = "the process that restored it ended before it was done. Look at `git status` and `git stash list`";

/// The file of one restore.
#[derive(Debug, Serialize, Deserialize)]
struct RestoreFile {
    /// The directory whose code is restored.
    cwd: PathBuf,
    /// The process that restores it, where the system can tell.
    process: Option<ProcessId>,
    /// The result, once the restore has ended without a session.
    outcome: Option<RestoreOutcome>,
}

/// A restore of this process. Its file is removed when this is dropped, unless the outcome is left for a later session.
#[derive(Debug)]
pub(super) struct RestoreNote {
    path: PathBuf,
    file: RestoreFile,
}

impl Drop for RestoreNote {
    fn drop(&mut self) {
        if self.file.outcome.is_none() {
            remove(&self.path);
        }
    }
}

impl RestoreNote {
    /// Notes that a restore begins. A note that cannot be written costs only the report to a later session.
    pub(super) fn begin(agent_dir: &Path, cwd: &Path) -> Option<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        // A relative directory is a name in a transcript.
        if !agent_dir.is_absolute() {
            return None;
        }
        let pid = std::process::id();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let directory = agent_dir.join(DIRECTORY);
        let note = Self {
            path: directory.join(format!("{pid}-{number}.json")),
            file: RestoreFile {
                cwd: cwd.to_path_buf(),
                process: ProcessId::of(pid),
                outcome: None,
            },
        };
        let written = directory
            .ancestors()
            .take(2)
            .try_for_each(create_private_dir)
            .and_then(|()| note.write());
        match written {
            Ok(()) => Some(note),
            Err(error) => {
                tracing::warn!("a restore cannot be noted for a later session: {error}");
                None
            }
        }
    }

    /// Leaves the outcome for the next session in the directory.
    pub(super) fn leave(mut self, outcome: RestoreOutcome) {
        self.file.outcome = Some(outcome);
        if let Err(error) = self.write() {
            tracing::warn!("the result of a restore cannot be stored: {error}");
        }
    }

    fn write(&self) -> io::Result<()> {
        replace(&self.path, &serde_json::to_string(&self.file)?)
    }
}

/// Reports the restores of other sessions in a directory, now and as they end, while `is_open`.
pub(super) fn report_of_others(
    agent_dir: &Path,
    cwd: &Path,
    is_open: impl Fn() -> bool + Send + 'static,
    report: impl Fn(RestoreOutcome) + Send + 'static,
) {
    let mut pending = pending(&agent_dir.join(DIRECTORY), cwd);
    if pending.is_empty() {
        return;
    }
    let wait = move || {
        let until = Instant::now() + MAX_WAIT;
        while !pending.is_empty() && Instant::now() < until {
            pending.retain(|path| {
                if !is_open() {
                    return false;
                }
                let Some(outcome) = ended(path) else {
                    return path.exists();
                };
                // The one that removes it reports it.
                if fs::remove_file(path).is_ok() {
                    report(outcome);
                }
                false
            });
            if !pending.is_empty() {
                thread::sleep(INTERVAL);
            }
        }
    };
    // On a thread of its own, because the caller has the lock of the server.
    if let Err(error) = thread::Builder::new()
        .name("restores".to_owned())
        .spawn(wait)
    {
        tracing::warn!("restores of other sessions cannot be reported: {error}");
    }
}

/// The files of restores in a directory.
fn pending(directory: &Path, cwd: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path()).filter(|path| {
        let is_old = || {
            let changed = path.metadata().and_then(|metadata| metadata.modified());
            let age = changed.map(|changed| SystemTime::now().duration_since(changed));
            matches!(age, Ok(Ok(age)) if age > MAX_AGE)
        };
        if is_old() {
            remove(path);
            return false;
        }
        path.extension()
            .is_some_and(|extension| extension == "json")
            && read_json(path).is_some_and(|file: RestoreFile| file.cwd == cwd)
    });
    paths.collect()
}

/// The outcome of a restore that has ended.
fn ended(path: &Path) -> Option<RestoreOutcome> {
    let file: RestoreFile = read_json(path)?;
    if file.outcome.is_some() {
        return file.outcome;
    }
    if file.process?.is_running() {
        return None;
    }
    // Its last write may have come between.
    let outcome = read_json::<RestoreFile>(path)?.outcome;
    Some(outcome.unwrap_or_else(|| RestoreOutcome {
        problem: Some(DIED.to_owned()),
        ..RestoreOutcome::default()
    }))
}

fn remove(path: &Path) {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!("{}: {error}", path.display());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const SOON: Duration = Duration::from_secs(10);

    fn reports_in(agent: &Path, cwd: &Path) -> mpsc::Receiver<RestoreOutcome> {
        let (reported, reports) = mpsc::channel();
        report_of_others(
            agent,
            cwd,
            || true,
            move |outcome| {
                // The test may have ended.
                let _ = reported.send(outcome);
            },
        );
        reports
    }

    #[test]
    fn an_outcome_without_a_session_is_reported_once_to_the_next_one() {
        let agent = tempfile::tempdir().unwrap();
        let cwd = Path::new("/project");
        let note = RestoreNote::begin(agent.path(), cwd).unwrap();
        note.leave(RestoreOutcome::default());
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
        assert!(reports.recv_timeout(INTERVAL * 2).is_err());
        note.leave(RestoreOutcome::default());
        assert_eq!(reports.recv_timeout(SOON), Ok(RestoreOutcome::default()));
    }

    #[test]
    fn a_restore_that_its_session_reads_about_is_not_reported_again() {
        let agent = tempfile::tempdir().unwrap();
        let cwd = Path::new("/project");
        drop(RestoreNote::begin(agent.path(), cwd).unwrap());
        assert!(reports_in(agent.path(), cwd).recv().is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_died_during_a_restore_is_reported() {
        let agent = tempfile::tempdir().unwrap();
        let cwd = Path::new("/project");
        let mut note = RestoreNote::begin(agent.path(), cwd).unwrap();
        note.file.process = Some(ProcessId {
            pid: std::process::id(),
            started: 0,
        });
        note.write().unwrap();
        let outcome = reports_in(agent.path(), cwd).recv_timeout(SOON).unwrap();
        assert_eq!(outcome.problem.as_deref(), Some(DIED));
    }
}
