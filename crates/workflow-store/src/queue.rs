//! Queues: of the processes that work on one session at once, and of those that write the database.
//!
//! Nothing depends on them: `Store::save` refuses the change of a session that another process changed meanwhile, and `SQLite`
//! locks the database. But `SQLite` looks at its lock again and again, at longer and longer intervals, so of many processes
//! some never find it free. Here the system wakes the next one. A process that has waited too long continues without its turn,
//! and so does one that cannot have a queue.

use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use crate::types::SessionKey;

/// The directory of the files that are locked, in the directory of the store.
const DIRECTORY: &str = "queue";
/// The number of the files for sessions. Sessions that share one wait for each other.
const FILES: u64 = 16;
/// The longest wait. Less than the time that a hook has for its answer.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// The turn of this process: a file that it has locked. The turn ends when this is dropped, and with the process.
pub type QueueTurn = File;

/// Waits until no other process of this machine has its turn at the session. `None` if it continues without.
pub(crate) fn wait_for_session(directory: &Path, key: &SessionKey) -> Option<QueueTurn> {
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one((&key.host, &key.session));
    wait(directory, &format!("session-{:x}", hash % FILES))
}

/// Waits until no other process has its turn at writing the database. `None` if it continues without.
pub(crate) fn wait_for_database(directory: &Path) -> Option<QueueTurn> {
    wait(directory, "database")
}

fn wait(directory: &Path, name: &str) -> Option<QueueTurn> {
    let file = open(directory, name)?;
    match file.try_lock() {
        Ok(()) => return Some(file),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(_)) => return None,
    }
    // The system's wait has no end, so a thread waits, which ends with the process.
    let (sender, locked) = channel();
    let waiting = thread::Builder::new().spawn(move || {
        if file.lock().is_ok() {
            // A file that nobody takes is closed, which ends the turn.
            let _ = sender.send(file);
        }
    });
    waiting.ok()?;
    locked.recv_timeout(MAX_WAIT).ok()
}

/// Opens the file of a queue. A store that does not exist yet has none.
fn open(directory: &Path, name: &str) -> Option<File> {
    let directory = directory.join(DIRECTORY);
    let path = directory.join(name);
    let open = || File::options().append(true).create(true).open(&path);
    open()
        .or_else(|_| fs::create_dir(&directory).and_then(|()| open()))
        .or_else(|_| open())
        .ok()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn key(session: &str) -> SessionKey {
        SessionKey {
            host: "codex".to_owned(),
            session: session.to_owned(),
        }
    }

    #[test]
    fn a_turn_begins_when_the_one_before_it_ends() {
        let directory = tempfile::tempdir().unwrap();
        let first = wait_for_session(directory.path(), &key("a")).unwrap();
        thread::scope(|scope| {
            let second = scope
                .spawn(|| wait_for_session(directory.path(), &key("a")).map(|_| Instant::now()));
            thread::sleep(Duration::from_millis(50));
            let end = Instant::now();
            drop(first);
            assert!(second.join().unwrap().unwrap() >= end);
        });
    }

    #[test]
    fn a_process_that_has_waited_too_long_continues_without_its_turn() {
        let directory = tempfile::tempdir().unwrap();
        let _first = wait_for_session(directory.path(), &key("a")).unwrap();
        assert!(wait_for_session(directory.path(), &key("a")).is_none());
    }

    #[test]
    fn a_store_that_does_not_exist_has_no_queue() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("missing");
        assert!(wait_for_session(&missing, &key("a")).is_none());
        assert!(!missing.exists());
    }
}
