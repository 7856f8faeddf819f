//! Writers on a server that are killed while they write.

use std::env;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use workflow_store::{Saved, open};

use super::server::Server;
use super::{key, run, save};

/// The address of the server, for a process that writes.
const ADDRESS: &str = "WORKFLOW_SIDECAR_TEST_SERVER";
const SESSION: &str = "killed";
const WRITERS: u32 = 4;
const ROUNDS: u32 = 5;

/// Writes until it is killed. It does nothing in a run of all tests.
#[test]
#[ignore = "a process that another test starts and kills"]
fn a_writer() {
    let Ok(url) = env::var(ADDRESS) else { return };
    let directory = PathBuf::from(env::var_os("HOME").unwrap());
    let store = open(directory, Some(&url)).unwrap();
    loop {
        let from = store.load(&key(SESSION)).unwrap().version;
        save(&store, SESSION, from, Some(run("wf-1", "Fix", true)), from);
    }
}

fn start_writer(server: &Server) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "--ignored", "killed_writers::a_writer"])
        .env(ADDRESS, server.url("agent"))
        .env("HOME", server.directory("writers"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn writers_that_are_killed_leave_every_change_whole() {
    let Some(server) = Server::start() else {
        return;
    };
    let store = server.store("agent", "a");
    let version = || store.load(&key(SESSION)).unwrap().version;
    for round in 0..ROUNDS {
        let mut writers: Vec<Child> = (0..WRITERS).map(|_| start_writer(&server)).collect();
        let (before, end) = (version(), Instant::now() + Duration::from_secs(60));
        while version() < before + u64::from(WRITERS) {
            assert!(Instant::now() < end, "nothing is written");
        }
        for writer in &mut writers {
            // At another moment of its work each time.
            thread::sleep(Duration::from_millis(u64::from(3 * round + 1)));
            writer.kill().unwrap();
            writer.wait().unwrap();
        }
        // The server may still carry out the last statement of a writer.
        let stored = store.load(&key(SESSION)).unwrap();
        assert_eq!(stored.entries.len() as u64, stored.version);
    }
    let deadline = Instant::now() + Duration::from_secs(10);
    let saved = || save(&store, SESSION, version(), None, 1) == Saved::Stored;
    while !saved() {
        assert!(Instant::now() < deadline, "a writer that is gone blocks");
    }
}
