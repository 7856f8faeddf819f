//! Every transcript, in memory and against the binary.

use std::path::{Path, PathBuf};
use std::sync::Once;

use crate::connection::{Connection, InMemory, Process};
use crate::transcript::Transcript;

/// The transcripts, by name. `UPDATE=1` writes down first what they come to now.
pub(crate) fn transcripts() -> Vec<PathBuf> {
    static BLESSED: Once = Once::new();
    let found = found();
    BLESSED.call_once(|| {
        if std::env::var_os("UPDATE").is_some() {
            for path in &found {
                Transcript::read(path).bless(&mut InMemory::default());
            }
        }
    });
    found
}

fn found() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/transcripts");
    let mut found: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        })
        .collect();
    found.sort();
    assert!(!found.is_empty());
    found
}

/// Replays all of them, so that one difference does not hide another.
fn replay_all(connect: impl Fn() -> Box<dyn Connection>) {
    let differences: Vec<String> = transcripts()
        .iter()
        .filter_map(|path| Transcript::read(path).replay(&mut *connect()).err())
        .collect();
    assert!(differences.is_empty(), "\n{}", differences.join("\n\n"));
}

#[test]
fn transcripts_replay_in_memory() {
    replay_all(|| Box::new(InMemory::default()));
}

#[test]
fn transcripts_replay_against_the_binary() {
    replay_all(|| Box::new(Process::start(&[])));
}
