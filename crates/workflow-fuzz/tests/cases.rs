//! Runs the targets with the cases that fuzzing found, the seeds, and mutated seeds.

mod mutate;

use std::fs;
use std::path::Path;

use workflow_fuzz::canary::{Sandbox, change, search};
use workflow_fuzz::{TARGETS, Target};

use mutate::mutated;

/// Mutated seeds per target.
const MUTATIONS: u64 = 250;
/// New lines of the shell.
const LINES: u64 = 4000;

fn target(name: &str) -> &'static Target {
    TARGETS
        .iter()
        .find(|target| target.name == name)
        .expect("the target exists")
}

fn cases(name: &str) -> Vec<(String, Vec<u8>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/cases");
    let entries = fs::read_dir(directory.join(name)).into_iter().flatten();
    entries
        .flatten()
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, fs::read(entry.path()).expect("a case is readable"))
        })
        .collect()
}

fn play(name: &str) {
    let target = target(name);
    for (case, input) in cases(name) {
        naming(&case, || (target.play)(&input));
    }
    let seeds = (target.seeds)();
    assert!(seeds.len() > 5, "{name} has seeds");
    for (number, seed) in seeds.iter().enumerate() {
        naming(&format!("seed {number}"), || (target.play)(seed));
    }
    for number in 0..MUTATIONS {
        let input = mutated(&seeds, number);
        naming(&format!("mutation {number}"), || (target.play)(&input));
    }
}

/// Prints the name of an input that fails.
fn naming(which: &str, play: impl FnOnce() + std::panic::UnwindSafe) {
    if let Err(panic) = std::panic::catch_unwind(play) {
        eprintln!("the input is {which}");
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn definitions_load_or_report_why_not() {
    play("definition");
}

#[test]
fn branches_are_restored_and_stored_the_same() {
    play("restore");
}

#[test]
fn each_request_of_a_session_is_answered_once() {
    play("session");
}

#[test]
fn a_line_is_answered_by_at_most_one_line() {
    play("line");
}

#[test]
fn shell_lines_are_read() {
    play("shell");
}

#[test]
fn templates_are_resolved() {
    play("template");
}

#[test]
fn transcripts_are_read_and_blessed() {
    play("transcript");
}

/// The lines that were holes, and new ones, run in bash if the analysis takes them for reading.
#[test]
fn a_line_that_counts_as_reading_changes_nothing() {
    let Some(mut sandbox) = Sandbox::new() else {
        println!("skipped: there is no bash 5");
        return;
    };
    for (case, input) in cases("canary") {
        let line = String::from_utf8(input).expect("a line is text");
        assert_eq!(change(&line, &mut sandbox), None, "{case}: {line:?}");
    }
    let found = search(1, 0..LINES, &mut sandbox, |hole| println!("{hole:?}"));
    assert!(found.reading > 20, "only {} lines ran", found.reading);
    assert!(found.holes.is_empty(), "{:?}", found.holes);
}

#[test]
fn each_target_has_a_wrapper_and_each_case_a_target() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    for target in TARGETS {
        let wrapper = fuzz.join(format!("fuzz_targets/{}.rs", target.name));
        assert!(wrapper.is_file(), "{}", wrapper.display());
    }
    for entry in fs::read_dir(fuzz.join("cases")).expect("there are cases") {
        let name = entry.expect("a directory is readable").file_name();
        if name != "canary" {
            target(&name.to_string_lossy());
        }
    }
}
