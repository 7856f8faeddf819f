//! The generated files on disk are what the code says.
//!
//! `scripts/gen` runs this with `UPDATE=1`, which writes them instead.

use std::path::{Path, PathBuf};

use crate::generate;

const README: &str = "protocol/README.md";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn on_disk(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_default()
}

/// Compares a file with what it should hold, or writes it.
fn check(path: &str, expected: &str) {
    let found = on_disk(path);
    if found == expected {
        return;
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(root().join(path), expected).expect("a writable working copy");
        return;
    }
    let line = 1 + found
        .lines()
        .zip(expected.lines())
        .take_while(|(found, expected)| found == expected)
        .count();
    panic!("{path} is not what the code says, from line {line} on: run scripts/gen");
}

#[test]
fn generated_files_are_up_to_date() {
    for file in generate::files() {
        check(file.path, &file.text);
    }
}

#[test]
fn the_tables_of_the_readme_are_up_to_date() {
    let readme = on_disk(README);
    match generate::in_readme(&readme) {
        Ok(expected) => check(README, &expected),
        Err(missing) => panic!("{README}: {missing}"),
    }
}

#[test]
fn generated_files_end_with_one_newline_and_name_no_directory_of_a_machine() {
    for file in generate::files() {
        assert!(
            file.text.ends_with('\n') && !file.text.ends_with("\n\n"),
            "{}",
            file.path
        );
        assert!(
            !file.text.contains(env!("CARGO_MANIFEST_DIR")),
            "{}",
            file.path
        );
    }
}
