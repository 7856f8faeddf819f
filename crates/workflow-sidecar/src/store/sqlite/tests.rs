//! Tests of the store in `SQLite`.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;
use serde_json::value::to_raw_value;

use super::super::Run;
use super::*;
use crate::store::has_active_runs;

fn key(session: &str) -> SessionKey {
    SessionKey {
        host: "codex".to_owned(),
        session: session.to_owned(),
    }
}

fn entry(number: u64) -> StoredEntry {
    StoredEntry {
        custom_type: "workflow:state".to_owned(),
        data: to_raw_value(&json!({ "number": number })).unwrap(),
    }
}

fn run(is_active: bool) -> Run {
    Run {
        task_id: "wf-1".to_owned(),
        workflow: "Bugfix".to_owned(),
        phase: "Analyze".to_owned(),
        task: "the export".to_owned(),
        status: "Analyze 1/2".to_owned(),
        state: if is_active { "active" } else { "complete" }.to_owned(),
        waiting: String::new(),
        is_active,
    }
}

fn save(store: &SqliteStore, session: &str, from: u64, run: Option<Run>) -> Saved {
    let change = SessionChange {
        from,
        entries: &[entry(from)],
        memory: "{}",
        run,
        cwd: Path::new("/project"),
        now: 1000 + from,
    };
    store.save(&key(session), &change).unwrap()
}

fn ticket(session: &str) -> Ticket {
    Ticket {
        key: key(session),
        cwd: PathBuf::from("/project"),
        expires: 100,
    }
}

#[test]
fn a_session_is_loaded_as_it_was_stored() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::new(directory.path().join("state"));
    assert_eq!(store.load(&key("a")).unwrap().version, 0);
    assert!(
        !directory.path().join("state").exists(),
        "reading creates nothing"
    );
    assert_eq!(save(&store, "a", 0, None), Saved::Stored);
    assert_eq!(save(&store, "a", 1, None), Saved::Stored);
    let loaded = store.load(&key("a")).unwrap();
    let data: Vec<&str> = loaded
        .entries
        .iter()
        .map(|entry| entry.data.get())
        .collect();
    assert_eq!((loaded.version, &*loaded.memory), (2, "{}"));
    assert_eq!(data, [r#"{"number":0}"#, r#"{"number":1}"#]);
    assert!(store.load(&key("b")).unwrap().entries.is_empty());
}

#[test]
fn a_change_of_an_older_version_stores_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::new(directory.path().to_path_buf());
    save(&store, "a", 0, None);
    assert_eq!(save(&store, "a", 0, None), Saved::Conflict);
    assert_eq!(save(&store, "a", 7, None), Saved::Conflict);
    assert_eq!(store.load(&key("a")).unwrap().entries.len(), 1);
}

#[test]
fn a_ticket_is_taken_once_and_in_time() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::new(directory.path().to_path_buf());
    assert_eq!(store.take("unknown", 0).unwrap(), None);
    store.issue("one", &ticket("a"), 0).unwrap();
    store.issue("two", &ticket("b"), 0).unwrap();
    assert_eq!(store.take("one", 100).unwrap(), Some(ticket("a")));
    assert_eq!(store.take("one", 100).unwrap(), None);
    assert_eq!(store.take("two", 101).unwrap(), None);
}

#[test]
fn the_marker_exists_while_a_run_is_active() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::new(directory.path().to_path_buf());
    save(&store, "a", 0, Some(run(true)));
    save(&store, "b", 0, Some(run(true)));
    save(&store, "a", 1, Some(run(false)));
    assert!(has_active_runs(directory.path()));
    save(&store, "b", 1, None);
    assert!(!has_active_runs(directory.path()));
}

#[test]
fn runs_are_listed_newest_first_and_removed_when_they_are_old() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::new(directory.path().to_path_buf());
    save(&store, "a", 0, Some(run(true)));
    save(&store, "b", 0, None);
    save(&store, "c", 0, Some(run(false)));
    save(&store, "a", 1, Some(run(true)));
    let runs = store.runs(&RunQuery::default()).unwrap();
    let sessions: Vec<&str> = runs.iter().map(|run| &*run.key.session).collect();
    assert_eq!(sessions, ["a", "c"]);
    assert_eq!(runs[0].run, run(true));
    assert_eq!(store.prune(1001).unwrap(), 2);
    assert_eq!(store.runs(&RunQuery::default()).unwrap().len(), 1);
    assert_eq!(store.prune(5000).unwrap(), 1);
    assert!(!has_active_runs(directory.path()));
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_the_store() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    let store = SqliteStore::new(state.clone());
    save(&store, "a", 0, None);
    let _open = store.open().unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&state), 0o700);
    for file in fs::read_dir(&state).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn a_newer_or_damaged_database_is_an_error_that_names_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::new(directory.path().to_path_buf());
    save(&store, "a", 0, None);
    let connection = Connection::open(store.file()).unwrap();
    connection
        .pragma_update(None, "user_version", FORMAT + 1)
        .unwrap();
    drop(connection);
    let error = store.load(&key("a")).unwrap_err().to_string();
    assert!(error.contains("newer") && error.contains(FILE), "{error}");
    fs::write(
        store.file(),
        "this is no database, and long enough to be seen as one",
    )
    .unwrap();
    let error = store.load(&key("a")).unwrap_err().to_string();
    assert!(error.contains(FILE), "{error}");
}

#[test]
fn many_writers_at_once_lose_nothing() {
    const WRITERS: u64 = 16;
    const CHANGES: u64 = 5;
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::new(directory.path().to_path_buf());
    let conflicts = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                for _ in 0..CHANGES {
                    while {
                        let from = store.load(&key("a")).unwrap().version;
                        save(&store, "a", from, Some(run(true))) == Saved::Conflict
                    } {
                        conflicts.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let loaded = store.load(&key("a")).unwrap();
    assert_eq!(loaded.version, WRITERS * CHANGES, "{conflicts:?} conflicts");
    assert_eq!(loaded.entries.len() as u64, WRITERS * CHANGES);
}
