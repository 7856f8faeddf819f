//! Tests of the trust store with a real database.

use std::fs;
use std::path::Path;
use std::thread;

use tempfile::TempDir;
use workflow_core::definition::{ExpectedExit, OutputStream, RunCheck};

use super::*;

fn command(words: &[&str]) -> RunCheck {
    RunCheck {
        command: words.iter().map(|&word| word.to_owned()).collect(),
        shell: false,
        timeout: 60,
        exit: ExpectedExit::Code(0),
        stdout: None,
        stream: OutputStream::default(),
        cwd: None,
        env: Vec::new(),
        values: Vec::new(),
    }
}

struct Home {
    directory: TempDir,
    store: TrustStore,
}

impl Home {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = TrustStore::in_agent_dir(&directory.path().join("agent")).unwrap();
        fs::create_dir(directory.path().join("project")).unwrap();
        Self { directory, store }
    }

    fn project(&self) -> std::path::PathBuf {
        self.directory.path().join("project")
    }

    /// A file of the store.
    fn file(&self, name: &str) -> std::path::PathBuf {
        let store = self.directory.path().join("agent/workflow-sidecar");
        store.join(name)
    }

    fn is_trusted(&self, project: &Path, words: &[&str]) -> Result<bool> {
        self.store.is_trusted(project, &hash_of([&command(words)]))
    }

    fn trust(&self, words: &[&str]) {
        let hash = hash_of([&command(words)]);
        self.store.trust(&self.project(), &hash).unwrap();
    }
}

#[test]
fn trust_is_stored_and_can_be_revoked() {
    let home = Home::new();
    let project = home.project();
    assert!(!home.is_trusted(&project, &["make"]).unwrap());
    home.trust(&["make"]);
    assert!(home.is_trusted(&project, &["make"]).unwrap());
    assert!(home.store.revoke(&project).unwrap());
    assert!(!home.store.revoke(&project).unwrap());
    assert!(!home.is_trusted(&project, &["make"]).unwrap());
}

#[test]
fn other_commands_of_a_project_are_not_trusted_and_the_first_stay_trusted() {
    let home = Home::new();
    let project = home.project();
    home.trust(&["make"]);
    assert!(!home.is_trusted(&project, &["make", "install"]).unwrap());
    home.trust(&["make", "install"]);
    assert!(home.is_trusted(&project, &["make"]).unwrap());
}

#[test]
fn another_project_with_the_same_commands_is_not_trusted() {
    let home = Home::new();
    home.trust(&["make"]);
    let other = tempfile::tempdir().unwrap();
    assert!(!home.is_trusted(other.path(), &["make"]).unwrap());
}

#[cfg(unix)]
#[test]
fn a_project_is_identified_by_its_real_path() {
    let home = Home::new();
    home.trust(&["make"]);
    let link = home.directory.path().join("link");
    std::os::unix::fs::symlink(home.project(), &link).unwrap();
    assert!(home.is_trusted(&link, &["make"]).unwrap());
}

#[test]
fn the_hash_depends_on_every_argument_but_not_on_order_or_repetition() {
    let (test, lint) = (command(&["make", "test"]), command(&["make", "lint"]));
    assert_eq!(hash_of([&test, &lint]), hash_of([&lint, &test, &test]));
    let one_word = command(&["make test"]);
    let shell = RunCheck {
        shell: true,
        ..one_word.clone()
    };
    let moved = command(&["mak", "etest"]);
    let elsewhere = RunCheck {
        cwd: Some("a".to_owned()),
        ..test.clone()
    };
    let with_variable = RunCheck {
        env: vec![("PATH".to_owned(), "a".to_owned())],
        ..test.clone()
    };
    let all = [
        &test,
        &lint,
        &one_word,
        &shell,
        &moved,
        &elsewhere,
        &with_variable,
    ]
    .map(|run| hash_of([run]));
    for (at, hash) in all.iter().enumerate() {
        assert!(!all[..at].contains(hash), "number {at}");
    }
    let later = RunCheck {
        timeout: 9,
        ..test.clone()
    };
    assert_eq!(hash_of([&test]), hash_of([&later]));
}

#[test]
fn a_damaged_store_trusts_nothing() {
    let home = Home::new();
    home.trust(&["make"]);
    let database = home.file("store.sqlite3");
    for part in ["store.sqlite3-wal", "store.sqlite3-shm"] {
        let _ = fs::remove_file(home.file(part));
    }
    fs::write(database, "this is no database, and long enough for one").unwrap();
    let error = home.is_trusted(&home.project(), &["make"]).unwrap_err();
    assert!(
        error.to_string().contains("no project is trusted"),
        "{error}"
    );
}

#[test]
fn concurrent_writers_lose_nothing() {
    let home = Home::new();
    thread::scope(|scope| {
        for number in 0..8 {
            let home = &home;
            scope.spawn(move || home.trust(&["make", &number.to_string()]));
        }
    });
    for number in 0..8 {
        let words = ["make", &number.to_string()];
        let found = home.is_trusted(&home.project(), &words).unwrap();
        assert!(found, "{words:?}");
    }
}

#[test]
fn only_the_latest_sets_of_commands_are_stored() {
    let home = Home::new();
    for number in 0..=MAX_SETS {
        home.trust(&["make", &number.to_string()]);
    }
    let found = |number: u32| {
        let words = ["make", &number.to_string()];
        home.is_trusted(&home.project(), &words).unwrap()
    };
    assert!(!found(0));
    assert!(found(1));
    assert!(found(MAX_SETS));
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.trust(&["make"]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.file("store.sqlite3")), 0o600);
    assert_eq!(mode(&home.file("")), 0o700);
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn an_approver_trusts_what_a_session_needs_and_what_the_request_shows() {
    use crate::platform::answers::requests::tests::requests_of;
    use crate::platform::session_in;
    use crate::store::tests::server::Server;

    let Some(server) = Server::start() else {
        return;
    };
    let (agent_dir, of_agent) = requests_of(&server, "agent");
    let (_, of_approver) = requests_of(&server, "approver");
    let store = of_approver.store();
    let home = Home::new();
    let session = session_in(&agent_dir, &home.project());
    let needed = [command(&["make", "test"])];
    let in_untrusted = SessionContext {
        is_trusted: false,
        ..session.clone()
    };
    let wanted = || trust_requests(store).unwrap();
    assert!(!session_trusts(&in_untrusted, &needed));
    assert!(wanted().is_empty());
    assert!(!session_trusts(&session, &needed));
    let (commands, request) = wanted().remove(0);
    assert_eq!((&*commands, &*request.owner), (&needed[..], "agent"));
    let forged = TrustRequest {
        commands: serde_json::to_string(&[command(&["true"])]).unwrap(),
        ..request.clone()
    };
    of_agent
        .store()
        .request_trust(&forged, wall_time(), 0)
        .unwrap();
    assert!(wanted().is_empty(), "it shows other commands");
    decide(store, &forged, true).unwrap();
    assert!(!session_trusts(&session, &needed));
    assert_eq!(wanted().len(), 1, "an unreadable request is replaced");
    decide(store, &request, false).unwrap();
    assert!(wanted().is_empty());
    assert!(!session_trusts(&session, &needed));
    decide(store, &wanted().remove(0).1, true).unwrap();
    assert!(session_trusts(&session, &needed));
    assert!(wanted().is_empty());
}
