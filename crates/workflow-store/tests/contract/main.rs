//! The same tests for both databases, and what only one of them has.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[cfg(feature = "postgres")]
mod authority;
#[cfg(feature = "postgres")]
mod killed_writers;
#[cfg(feature = "postgres")]
mod on_server;
#[cfg(feature = "postgres")]
mod server;
mod sqlite;
#[cfg(feature = "postgres")]
mod tls;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use serde_json::json;
use serde_json::value::to_raw_value;

use workflow_store::{
    AnswerRight, Counts, DAY, Run, RunNote, RunQuery, Saved, SessionChange, SessionKey, Store,
    StoreError, StoredEntry, StoredRequest, Ticket, open,
};

fn key(session: &str) -> SessionKey {
    SessionKey {
        host: "codex".to_owned(),
        session: session.to_owned(),
    }
}

fn run(task_id: &str, phase: &str, is_active: bool) -> Run {
    Run {
        task_id: task_id.to_owned(),
        workflow: "bugfix".to_owned(),
        phase: phase.to_owned(),
        task: "the export".to_owned(),
        status: phase.to_owned(),
        state: if is_active { "active" } else { "complete" }.to_owned(),
        waiting: String::new(),
        is_active,
    }
}

/// The project of the sessions.
const CWD: &str = "/project";

/// Saves an entry with the number of the version.
fn save(store: &Store, session: &str, from: u64, run: Option<Run>, now: u64) -> Saved {
    save_in(store, Path::new(CWD), session, from, run, now)
}

/// Saves it in a session of another project.
fn save_in(
    store: &Store,
    cwd: &Path,
    session: &str,
    from: u64,
    run: Option<Run>,
    now: u64,
) -> Saved {
    let data = to_raw_value(&json!({ "number": from })).unwrap();
    let entry = StoredEntry {
        custom_type: "workflow:state".to_owned(),
        data,
        at: 0,
    };
    let mut counts = Counts::default();
    counts.add(["w", "saved", session], 1, from);
    let change = SessionChange {
        order: "",
        from,
        entries: &[entry],
        memory: "{}",
        run,
        counts: &counts,
        cwd,
        now,
    };
    store.save(&key(session), &change).unwrap()
}

fn numbers(store: &Store, session: &str) -> Vec<String> {
    let loaded = store.load(&key(session)).unwrap();
    let data = loaded.entries.iter().map(|entry| entry.data.get());
    data.map(str::to_owned).collect()
}

/// Stores a request with this text.
fn ask(store: &Store, task_id: &str, id: &str, now: u64) -> Result<(), StoreError> {
    store.put_request(task_id, id, &format!("{task_id}? {id}"), now)
}

fn answer(store: &Store, task_id: &str) -> Option<String> {
    store.request(task_id).unwrap().unwrap().answer
}

/// The behaviour of every store. `approver` is the store as a person's process has it.
fn does_what_a_store_does(store: &Store, approver: &Store) {
    sessions(store);
    tickets(store);
    runs(store);
    requests(store, approver);
    the_pulse_changes_with_runs_requests_and_answers(store, approver);
    trust(store, approver);
    many_writers(store);
    figures(store);
    prune(store, approver);
}

fn sessions(store: &Store) {
    assert_eq!(store.load(&key("a")).unwrap().version, 0);
    assert_eq!(save(store, "a", 0, None, 1), Saved::Stored);
    assert_eq!(save(store, "a", 0, None, 2), Saved::Conflict);
    assert_eq!(save(store, "a", 1, None, 3), Saved::Stored);
    assert_eq!(save(store, "a", 7, None, 4), Saved::Conflict);
    assert_eq!(numbers(store, "a"), [r#"{"number":0}"#, r#"{"number":1}"#]);
    let loaded = store.load(&key("a")).unwrap();
    assert_eq!((loaded.version, &*loaded.memory), (2, "{}"));
    let times: Vec<u64> = loaded.entries.iter().map(|entry| entry.at).collect();
    assert_eq!(times, [1, 3]);
}

fn tickets(store: &Store) {
    let ticket = |session: &str| Ticket {
        key: key(session),
        cwd: PathBuf::from("/project"),
        expires: 100,
    };
    assert_eq!(store.take("unknown", 0).unwrap(), None);
    store.issue("one", &ticket("a"), 0).unwrap();
    store.issue("two", &ticket("b"), 0).unwrap();
    assert_eq!(store.take("one", 100).unwrap(), Some(ticket("a")));
    assert_eq!(store.take("one", 100).unwrap(), None);
    assert_eq!(store.take("two", 101).unwrap(), None);
}

fn runs(store: &Store) {
    save(store, "r1", 0, Some(run("wf-1", "Analyze", true)), 100);
    save(store, "r1", 1, Some(run("wf-1", "Analyze", true)), 200);
    save(store, "r2", 0, Some(run("wf-2", "Fix", true)), 300);
    let listed = store.runs(&RunQuery::default()).unwrap();
    let of: Vec<_> = listed
        .iter()
        .map(|found| (&*found.run.task_id, found.since, found.updated))
        .collect();
    assert_eq!(of, [("wf-2", 300, 300), ("wf-1", 100, 200)]);
    save(store, "r1", 2, Some(run("wf-1", "Fix", true)), 400);
    save(store, "r2", 1, None, 500);
    let active = RunQuery {
        only_active: true,
        ..RunQuery::default()
    };
    let active = store.runs(&active).unwrap();
    assert_eq!((active.len(), active[0].since), (1, 400));
    let of_session = |session: &str| store.active_run(&key(session)).unwrap();
    assert_eq!(of_session("r1").unwrap().run.task_id, "wf-1");
    assert!(of_session("r2").is_none() && of_session("r3").is_none());
    let by_id = RunQuery {
        task_id: "wf-2",
        limit: Some(1),
        ..RunQuery::default()
    };
    assert_eq!(store.runs(&by_id).unwrap()[0].run.state, "ended");
    let note = RunNote {
        host: "pi".to_owned(),
        run: Some(run("wf-3", "Analyze", true)),
        memory: "{}".to_owned(),
        cwd: PathBuf::from("/project"),
        file: Some("/sessions/a.jsonl".to_owned()),
        counts: Counts::default(),
        now: 600,
    };
    store.note_run(&note).unwrap();
    store.note_run(&note).unwrap();
    let noted = &store.runs(&RunQuery::default()).unwrap()[0];
    assert_eq!(noted.file.as_deref(), Some("/sessions/a.jsonl"));
    assert_eq!((noted.run.phase.as_str(), noted.since), ("Analyze", 600));
    runs_are_filtered(store);
    an_earlier_run_of_a_session_keeps_its_row(store);
}

fn runs_are_filtered(store: &Store) {
    let found = |query: RunQuery<'_>| {
        let runs = store.runs(&query).unwrap().into_iter();
        runs.map(|found| found.run.task_id).collect::<Vec<_>>()
    };
    let all = RunQuery::default;
    let host = Some("pi");
    assert_eq!(found(RunQuery { host, ..all() }), ["wf-3"]);
    let (states, host): (&[&str], _) = (&["active", "waits"], Some("codex"));
    assert_eq!(
        found(RunQuery {
            states,
            host,
            ..all()
        }),
        ["wf-1"]
    );
    let (project, task_id) = (Some(CWD), "wf-2");
    assert_eq!(
        found(RunQuery {
            project,
            task_id,
            ..all()
        }),
        ["wf-2"]
    );
    let (workflow, project) = (Some("bugfix' --"), Some("/"));
    assert!(found(RunQuery { workflow, ..all() }).is_empty());
    assert!(found(RunQuery { project, ..all() }).is_empty());
}

fn the_pulse_changes_with_runs_requests_and_answers(store: &Store, approver: &Store) {
    let mut known = vec![store.pulse().unwrap()];
    let mut changes = |what: &str| {
        let pulse = store.pulse().unwrap();
        assert!(!known.contains(&pulse), "{what}");
        known.push(pulse);
        assert_eq!(store.pulse().unwrap(), known[known.len() - 1]);
    };
    save(store, "p", 0, Some(run("wf-p", "Fix", true)), 5);
    changes("a run begins, by a clock that is late");
    save(store, "p", 1, Some(run("wf-p", "Fix", true)), 5);
    changes("a run goes on in the same millisecond");
    ask(store, "wf-p", "n", 5).unwrap();
    changes("a request");
    approver.put_answer("wf-p", "n", "yes").unwrap();
    changes("an answer");
    approver.put_answer("wf-p", "n", "never").unwrap();
    changes("another answer");
    save(store, "p", 2, Some(run("wf-p", "Fix", false)), 6);
    changes("a run ends");
    store.clear_request("wf-p").unwrap();
}

/// What [`save`] has counted in all the tests: of a session its changes, and the sum of the versions.
fn figures(store: &Store) {
    let found = store.figures(0, DAY, "").unwrap();
    let of = |name: &str| {
        let of_name = found.iter().find(|found| found.name == name).unwrap();
        (of_name.number, of_name.total)
    };
    assert_eq!(of("a"), (2, 1), "conflicts count nothing");
    assert_eq!(of("many"), (48, 47 * 48 / 2));
    // Four days after the first one of 1970 it was Monday.
    for (from, day) in [0, 2, 3, 4, 10, 11].into_iter().enumerate() {
        save(store, "weeks", from as u64, None, day * DAY);
    }
    let weeks = store.figures(DAY, 10 * DAY, "saved").unwrap();
    let weeks = weeks.into_iter().filter(|found| found.name == "weeks");
    let mut weeks: Vec<_> = weeks.map(|found| (found.day, found.number)).collect();
    weeks.sort_unstable();
    assert_eq!(weeks, [(2, 2), (4, 2)]);
    what_a_host_reports_stops_no_change(store);
}

fn what_a_host_reports_stops_no_change(store: &Store) {
    let mut counts = Counts::default();
    counts.add(["w", "tokens", "much"], u64::MAX, u64::MAX);
    counts.merge(counts.clone());
    let note = RunNote {
        host: "pi".to_owned(),
        run: None,
        memory: String::new(),
        cwd: PathBuf::from(CWD),
        file: None,
        counts,
        now: 12 * DAY,
    };
    store.note_run(&note).unwrap();
    store.note_run(&note).unwrap();
    let found = store.figures(12 * DAY, 12 * DAY, "").unwrap();
    assert_eq!((found[0].number, found[0].total), (1 << 41, 1 << 41));
}

fn an_earlier_run_of_a_session_keeps_its_row(store: &Store) {
    save(store, "several", 0, Some(run("wf-a1", "Fix", true)), 700);
    save(store, "several", 1, Some(run("wf-a1", "Fix", false)), 710);
    save(store, "several", 2, Some(run("wf-a2", "Fix", true)), 720);
    save(store, "several", 3, Some(run("wf-a3", "Fix", true)), 730);
    save(store, "several", 4, Some(run("wf-a3", "Fix", true)), 740);
    let query = RunQuery {
        task_id: "wf-a",
        ..RunQuery::default()
    };
    let listed = store.runs(&query).unwrap();
    assert!(listed.iter().all(|found| found.key == key("several")));
    let states: Vec<_> = listed
        .iter()
        .map(|found| (&*found.run.task_id, &*found.run.state, found.updated))
        .collect();
    let expected = [
        ("wf-a1", "complete", 710),
        ("wf-a2", "ended", 730),
        ("wf-a3", "active", 740),
    ];
    assert_eq!(states, expected);
}

fn requests(store: &Store, approver: &Store) {
    assert_eq!(store.request("wf-1").unwrap(), None);
    ask(store, "wf-1", "n", 10).unwrap();
    ask(store, "wf-2", "n", 10).unwrap();
    let asked = Some(StoredRequest {
        request: "wf-1? n".to_owned(),
        answer: None,
    });
    assert_eq!(approver.request("wf-1").unwrap(), asked);
    assert!(approver.put_answer("wf-1", "n", "yes").unwrap());
    ask(store, "wf-1", "n", 10).unwrap();
    let answered = answer(store, "wf-1");
    assert_eq!(answered.as_deref(), Some("yes"), "it is the same");
    ask(store, "wf-1", "m", 10).unwrap();
    assert_eq!(answer(store, "wf-1"), None);
    let late = approver.put_answer("wf-1", "n", "yes");
    assert!(!late.unwrap(), "another one");
    assert_eq!(store.requests(0).unwrap().len(), 2);
    assert_eq!(store.requests(11).unwrap().len(), 0);
    store.clear_request("wf-1").unwrap();
    store.clear_request("wf-2").unwrap();
    ask(store, "wf-1", "n", 10).unwrap();
    let again = answer(store, "wf-1");
    assert_eq!(again, None, "an answer is removed with its request");
    store.clear_request("wf-1").unwrap();
}

fn prune(store: &Store, approver: &Store) {
    for (task_id, changed) in [("wf-old", 10), ("wf-new", 20)] {
        ask(store, task_id, "n", changed).unwrap();
        assert!(approver.put_answer(task_id, "n", "yes").unwrap());
    }
    store.prune(11).unwrap();
    assert_eq!(store.request("wf-old").unwrap(), None);
    assert_eq!(answer(store, "wf-new").as_deref(), Some("yes"));
    save(store, "last", 0, None, 30);
    assert!(store.prune(u64::MAX / 4).unwrap() > 0);
    assert!(store.requests(0).unwrap().is_empty());
    assert!(store.runs(&RunQuery::default()).unwrap().is_empty());
    assert!(store.figures(0, u64::MAX, "").unwrap().is_empty());
}

fn trust(store: &Store, approver: &Store) {
    for commands in ["a", "b", "a", "c"] {
        approver.trust("/project", commands, 1, 2).unwrap();
    }
    assert_eq!(store.trusted("/project").unwrap(), ["a", "c"]);
    assert!(store.trusted("/other").unwrap().is_empty());
    approver.revoke("/project").unwrap();
    assert!(store.trusted("/project").unwrap().is_empty());
}

fn many_writers(store: &Store) {
    const WRITERS: u64 = 16;
    const CHANGES: u64 = 3;
    let conflicts = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                for _ in 0..CHANGES {
                    while {
                        let from = store.load(&key("many")).unwrap().version;
                        save(store, "many", from, None, from) == Saved::Conflict
                    } {
                        conflicts.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let expected: Vec<String> = (0..WRITERS * CHANGES)
        .map(|number| format!("{{\"number\":{number}}}"))
        .collect();
    assert_eq!(numbers(store, "many"), expected, "in order");
}

#[test]
fn a_database_does_what_a_store_does() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path().to_path_buf(), None).unwrap();
    does_what_a_store_does(&store, &store);
    assert_eq!(store.answer_right().unwrap(), AnswerRight::NeedsProof);
}

#[cfg(not(feature = "postgres"))]
#[test]
fn a_build_without_a_client_names_the_feature_that_is_missing() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path().to_path_buf(), Some("postgres://me@h/w"));
    let error = store.unwrap_err().to_string();
    assert!(error.contains("the feature `postgres`"), "{error}");
}
