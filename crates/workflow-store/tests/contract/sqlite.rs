//! What only the database of one machine has: its files and its format.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use workflow_store::{Run, RunQuery, Saved, Store, has_active_runs, open};

use super::{key, numbers, run, save, save_in};

const FILE: &str = "store.sqlite3";

fn in_directory(directory: &Path) -> Store {
    open(PathBuf::from(directory), None).unwrap()
}

#[test]
fn reading_creates_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    let store = in_directory(&state);
    assert_eq!(store.load(&key("a")).unwrap().version, 0);
    assert_eq!(store.take("unknown", 0).unwrap(), None);
    assert_eq!(store.prune(1).unwrap(), 0);
    store.clear_request("wf-1").unwrap();
    assert!(!state.exists());
}

/// Returns true if a run may be active in the directory of [`save`].
fn is_marked(directory: &Path) -> bool {
    has_active_runs(directory, Path::new(super::CWD))
}

#[test]
fn the_marker_exists_while_a_run_is_active() {
    let directory = tempfile::tempdir().unwrap();
    let store = in_directory(directory.path());
    save(&store, "a", 0, Some(run("wf-1", "Fix", true)), 1);
    save(&store, "b", 0, Some(run("wf-2", "Fix", true)), 2);
    save(&store, "a", 1, Some(run("wf-1", "Fix", false)), 3);
    assert!(is_marked(directory.path()));
    assert!(
        directory.path().join("active").exists(),
        "for commands of before"
    );
    save(&store, "b", 1, None, 4);
    assert!(!is_marked(directory.path()));
    assert!(!directory.path().join("active").exists());
    assert!(
        !directory.path().join("running").exists(),
        "nothing is left"
    );
    save(&store, "b", 2, Some(run("wf-3", "Fix", true)), 5);
    assert!(is_marked(directory.path()));
    let earlier = 1;
    assert_eq!(store.prune(9).unwrap(), 2 + earlier);
    assert!(!is_marked(directory.path()));
}

#[test]
fn the_marker_of_a_run_is_that_of_its_project() {
    let directory = tempfile::tempdir().unwrap();
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let store = in_directory(directory.path());
    let [one, inner, two] = ["one's $x*", "one's $x*/inner", "two"].map(|name| root.join(name));
    fs::create_dir_all(&inner).unwrap();
    fs::create_dir(&two).unwrap();
    std::os::unix::fs::symlink(&one, root.join("link")).unwrap();
    let is_active = |cwd: &Path| has_active_runs(directory.path(), cwd);
    let paused = Run {
        state: "paused".to_owned(),
        ..run("wf-1", "Fix", true)
    };
    save_in(&store, &root.join("link"), "a", 0, Some(paused), 1);
    assert!(is_active(&one) && is_active(&inner) && is_active(&inner.join("gone")));
    assert!(!is_active(&two) && !is_active(&root));
    save_in(&store, &two, "b", 0, Some(run("wf-2", "Fix", true)), 2);
    store.mark_everywhere();
    assert!(is_active(Path::new("/")), "the agent left a project");
    save_in(&store, &root.join("link"), "a", 1, None, 3);
    fs::remove_file(directory.path().join("running/.active")).unwrap();
    assert!(!is_active(&inner) && is_active(&two));
    store.mark_everywhere();
    save_in(&store, &two, "b", 1, None, 4);
    assert!(!is_active(&two) && !is_active(Path::new("/")));
}

#[test]
fn a_run_of_a_project_that_has_no_marker_of_its_own_counts_everywhere() {
    use std::os::unix::ffi::OsStrExt;
    let directory = tempfile::tempdir().unwrap();
    let store = in_directory(directory.path());
    let odd = Path::new(std::ffi::OsStr::from_bytes(b"/p/\xff"));
    save_in(&store, odd, "a", 0, Some(run("wf-1", "Fix", true)), 1);
    assert!(has_active_runs(directory.path(), Path::new("/elsewhere")));
    save_in(&store, odd, "a", 1, None, 2);
    assert!(!has_active_runs(directory.path(), odd));
    // The name of the marker is taken.
    fs::create_dir_all(directory.path().join("running/p/.active/x")).unwrap();
    save_in(
        &store,
        Path::new("/p"),
        "a",
        2,
        Some(run("wf-1", "Fix", true)),
        3,
    );
    assert!(has_active_runs(directory.path(), Path::new("/elsewhere")));
}

#[test]
fn the_marker_stays_if_the_end_of_a_run_is_not_stored() {
    let directory = tempfile::tempdir().unwrap();
    let store = in_directory(directory.path());
    save(&store, "a", 0, Some(run("wf-1", "Fix", true)), 1);
    let other = rusqlite::Connection::open(directory.path().join(FILE)).unwrap();
    let fails = "CREATE TABLE fails (id REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED);
        CREATE TRIGGER fail AFTER DELETE ON sessions BEGIN INSERT INTO fails VALUES (-1); END";
    other.execute_batch(fails).unwrap();
    assert!(store.prune(9).is_err(), "only when it is to be stored");
    assert!(is_marked(directory.path()));
}

#[test]
fn only_the_owner_can_read_the_store() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    let store = in_directory(&state);
    save(&store, "a", 0, None, 1);
    // SQLite removes the other files when the last connection ends.
    let open = rusqlite::Connection::open(state.join(FILE)).unwrap();
    save(&store, "a", 1, None, 2);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&state), 0o700);
    let files = fs::read_dir(&state).unwrap();
    let files = files.map(|file| file.unwrap().path());
    for path in files.filter(|path| path.is_file()) {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    drop(open);
}

#[test]
fn a_store_that_a_newer_build_changes_in_mid_run_is_an_error_that_names_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let store = in_directory(directory.path());
    let active = || Some(run("wf-1", "Fix", true));
    save(&store, "a", 0, active(), 1);
    let newer = rusqlite::Connection::open(directory.path().join(FILE)).unwrap();
    newer.pragma_update(None, "user_version", 9).unwrap();
    let error = store.load(&key("a")).unwrap_err().to_string();
    assert!(
        error.contains("newer") && error.contains("format (9; ") && error.contains(FILE),
        "{error}"
    );
    for refused in [
        store.runs(&RunQuery::default()).map(drop),
        super::ask(&store, "wf-1", "n", 10),
        store.revoke("/project").map(drop),
    ] {
        assert_eq!(refused.unwrap_err().to_string(), error);
    }
    assert!(is_marked(directory.path()), "so hooks block");
    newer.pragma_update(None, "user_version", 2).unwrap();
    let error = store.load(&key("a")).unwrap_err().to_string();
    assert!(error.contains("finish its runs"), "{error}");
    newer.pragma_update(None, "user_version", 4).unwrap();
    assert_eq!(numbers(&store, "a"), [r#"{"number":0}"#], "nothing is lost");
    assert_eq!(save(&store, "a", 1, active(), 2), Saved::Stored);
}

#[test]
fn a_store_of_format_3_is_upgraded_where_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let before = rusqlite::Connection::open(directory.path().join(FILE)).unwrap();
    before.pragma_update(None, "journal_mode", "wal").unwrap();
    before
        .execute_batch(include_str!("../../src/sqlite.sql"))
        .unwrap();
    before
        .execute_batch(
            r#"INSERT INTO sessions (id, host, session, version, memory, cwd, updated, task_id, workflow, phase, task, status, active, state)
                 VALUES (7, 'codex', 'a', 1, '{}', '/project', 5, 'wf-1', 'bugfix', 'Fix', 'it', 'Fix', 1, 'active');
             INSERT INTO entries VALUES (7, 1, 'workflow:state', '{"number":0}');
             INSERT INTO requests VALUES ('wf-1', 'n', '{}', 6);
             PRAGMA user_version = 3;"#,
        )
        .unwrap();
    let store = in_directory(directory.path());
    // Several processes may do it at once.
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(store.runs(&RunQuery::default()).unwrap().len(), 1));
        }
    });
    assert_eq!(store.requests(0).unwrap().len(), 1);
    assert_eq!(
        save(&store, "a", 1, Some(run("wf-1", "Fix", true)), 9),
        Saved::Stored
    );
    let loaded = store.load(&key("a")).unwrap();
    let times: Vec<u64> = loaded.entries.iter().map(|entry| entry.at).collect();
    assert_eq!(times, [0, 9], "that of before is not known");
    assert_eq!(store.figures(0, 1, "").unwrap().len(), 1);
    let format = before.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
    assert_eq!(format.unwrap(), 4);
}

#[test]
fn a_time_before_1970_leaves_the_other_runs_readable() {
    let directory = tempfile::tempdir().unwrap();
    let store = in_directory(directory.path());
    save(&store, "a", 0, Some(run("wf-1", "Fix", true)), 1);
    let other = rusqlite::Connection::open(directory.path().join(FILE)).unwrap();
    let set = "UPDATE sessions SET updated = -1, since = -1";
    other.execute_batch(set).unwrap();
    let runs = store.runs(&RunQuery::default()).unwrap();
    assert_eq!((runs[0].updated, runs[0].since), (0, 0));
}

#[test]
fn a_file_that_is_no_database_is_an_error_that_names_it() {
    let directory = tempfile::tempdir().unwrap();
    let text = "this is no database, and long enough to be seen as one";
    fs::write(directory.path().join(FILE), text).unwrap();
    let error = in_directory(directory.path()).load(&key("a")).unwrap_err();
    assert!(error.to_string().contains(FILE), "{error}");
}
