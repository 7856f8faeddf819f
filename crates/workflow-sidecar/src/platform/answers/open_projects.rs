//! Which projects have an open session: each is a file that its sidecar has locked.
//!
//! While one is open, `workflow-sidecar trust` is refused: the user answers in the host, where no process of the agent does.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use workflow_store::create_private_dir;

use crate::files::{hash, if_present};
use crate::store::directory_of;

const DIRECTORY: &str = "open";
/// Attempts to lock the file of a project, and the time between two of them.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// Marks a project as open, as long as the returned file exists.
pub(crate) fn mark(agent_dir: &Path, project: &Path) -> io::Result<File> {
    let path = path_of(agent_dir, project)?;
    let mut directories = path.ancestors().skip(1).take(2);
    directories.try_for_each(create_private_dir)?;
    let file = File::options().append(true).create(true).open(&path)?;
    // `trust` holds the file for a moment. Whoever holds it longer does not stop a session, and is one for `trust`.
    for _ in 1..ATTEMPTS {
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            result => return Ok(result.map(|()| file)?),
        }
    }
    file.try_lock_shared()?;
    Ok(file)
}

/// Returns true if a session of a project is open.
pub(crate) fn is_open(agent_dir: &Path, project: &Path) -> io::Result<bool> {
    let Some(file) = if_present(File::open(path_of(agent_dir, project)?))? else {
        return Ok(false);
    };
    match file.try_lock() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The file of a project, by its real path.
fn path_of(agent_dir: &Path, project: &Path) -> io::Result<PathBuf> {
    let real = project.canonicalize()?;
    let directory = directory_of(agent_dir).map_err(io::Error::other)?;
    let name = hash(real.as_os_str().as_encoded_bytes());
    Ok(directory.join(DIRECTORY).join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_open_as_long_as_one_of_its_sessions() {
        let (agent, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let is_open = || is_open(agent.path(), project.path()).unwrap();
        assert!(!is_open());
        let mark = || mark(agent.path(), project.path()).unwrap();
        let (first, second) = (mark(), mark());
        assert!(is_open());
        drop(first);
        assert!(is_open());
        drop(second);
        assert!(!is_open());
    }
    #[test]
    fn a_file_that_another_process_holds_stops_no_session_and_counts_as_one() {
        let (agent, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        drop(mark(agent.path(), project.path()).unwrap());
        let path = path_of(agent.path(), project.path()).unwrap();
        let held = File::options().append(true).open(path).unwrap();
        held.lock().unwrap();
        assert!(mark(agent.path(), project.path()).is_err());
        assert!(is_open(agent.path(), project.path()).unwrap());
    }
}
