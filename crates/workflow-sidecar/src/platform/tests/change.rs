//! What was changed since the start of a run, in real repositories.

use workflow_core::run::MeasuredChange;

use super::repositories::{commit, git, repository};
use super::*;
use crate::platform::git::{measure_change, record_files};

fn record(project: &TestProject) -> String {
    record_files(project.path(), project.agent_dir.path()).unwrap()
}

fn measure(project: &TestProject, start: &str, globs: &[Vec<String>]) -> MeasuredChange {
    measure_change(project.path(), project.agent_dir.path(), start, globs).unwrap()
}

fn numbers(project: &TestProject, start: &str) -> (u64, u64) {
    let change = measure(project, start, &[]);
    (change.files, change.lines)
}

#[test]
fn what_was_changed_before_the_run_or_is_ignored_does_not_count() {
    let project = repository();
    project.write(".gitignore", "target\n");
    project.write("gone.txt", "1\n");
    commit(&project, "one\ntwo\n");
    project.write("file.txt", "one\n2\n");
    project.write("untracked.txt", "a\nb\nc\n");
    std::fs::remove_file(project.path().join("gone.txt")).unwrap();
    let start = record(&project);
    project.write("target/x", "1\n");
    assert_eq!(numbers(&project, &start), (0, 0));
    // A committed change is one, and one of what was dirty counts from how it was.
    project.write("new/a.txt", "1\n2\n3");
    project.write("untracked.txt", "a\nb\n");
    git(&project, &["add", "."]);
    commit(&project, "one\n2\n3\n");
    assert_eq!(numbers(&project, &start), (3, 3 + 1 + 1));
    std::fs::remove_file(project.path().join("new/a.txt")).unwrap();
    project.write("gone.txt", "1\n");
    assert_eq!(numbers(&project, &start), (3, 1 + 1 + 1));
}

#[test]
fn a_text_that_is_declared_binary_has_lines_and_a_binary_file_has_none() {
    let project = repository();
    commit(&project, "one\n");
    project.write("code.rs", "1\n");
    git(&project, &["add", "."]);
    commit(&project, "two\n");
    let start = record(&project);
    project.write(".gitattributes", "*.rs -diff\n");
    project.write("code.rs", "1\n2\n3\n");
    project.write("image.png", "\0\n\n\n");
    assert_eq!(numbers(&project, &start), (3, 1 + 3));
}

#[test]
fn paths_are_relative_to_the_project_and_files_outside_match_nothing() {
    let project = repository();
    commit(&project, "one\n");
    project.write("app/a.rs", "1\n");
    let start = record(&project);
    project.write("app/migrations/x y.sql", "1\n");
    project.write("outside.txt", "1\n");
    let lists = ["migrations/**", "**", "outside.txt"].map(|glob| vec![glob.to_owned()]);
    let app = project.path().join("app");
    let change = measure_change(&app, project.agent_dir.path(), &start, &lists).unwrap();
    let paths = ["migrations/x y.sql", "../outside.txt"].map(str::to_owned);
    assert_eq!(change, MeasuredChange::new(2, &paths, &lists));
}

#[test]
fn without_git_or_with_a_repository_inside_the_change_is_not_known() {
    let project = TestProject::new();
    let agent_dir = project.agent_dir.path();
    assert!(record_files(project.path(), agent_dir).is_err());
    git(&project, &["init", "--quiet"]);
    let start = record(&project);
    assert_eq!(numbers(&project, &start), (0, 0), "a commit is not needed");
    let unknown = "0".repeat(40);
    assert!(measure_change(project.path(), agent_dir, &unknown, &[]).is_err());
    git(&project, &["init", "--quiet", "inner"]);
    project.write("inner/a.txt", "1\n");
    git(&project, &["-C", "inner", "add", "."]);
    git(
        &project,
        &["-C", "inner", "commit", "--quiet", "--message", "x"],
    );
    assert!(measure_change(project.path(), agent_dir, &start, &[]).is_err());
}

#[test]
fn what_lists_of_ignored_files_hide_counts_or_the_change_is_not_known() {
    let project = repository();
    project.write(".gitignore", "target\n");
    project.write(".cache/.gitignore", "*\n");
    project.write("src/a.py", "1\n");
    git(&project, &["add", "src", ".gitignore"]);
    commit(&project, "one\n");
    let start = record(&project);
    let is_known = || {
        let agent_dir = project.agent_dir.path();
        measure_change(project.path(), agent_dir, &start, &[]).is_ok()
    };
    // What was there at the start may hide, and what is ignored as a whole is not looked at.
    project.write(".cache/a", "1\n");
    project.write("target/.gitignore", "*\n");
    assert_eq!(numbers(&project, &start), (0, 0));
    // The user has not trusted the list that is not committed.
    project.write(".git/info/exclude", "src/new/\n");
    project.write("src/new/b.py", "1\n2\n");
    assert_eq!(numbers(&project, &start), (1, 2));
    // What a new list hides counts, and so does the list.
    for path in ["src/new/.gitignore", "src/.gitignore"] {
        project.write(path, "*\n");
        assert_eq!(numbers(&project, &start), (2, 3), "{path}");
        std::fs::remove_file(project.path().join(path)).unwrap();
    }
    project.write(".gitignore", "*\n");
    assert!(!is_known());
}

#[test]
fn without_a_list_that_shows_files_the_change_is_not_known() {
    let project = repository();
    project.write(".gitignore", "*.gen.py\n");
    project.write("src/.gitignore", "!*.gen.py\n");
    git(&project, &["add", "."]);
    commit(&project, "one\n");
    let start = record(&project);
    std::fs::remove_file(project.path().join("src/.gitignore")).unwrap();
    project.write("src/x.gen.py", "1\n");
    let agent_dir = project.agent_dir.path();
    assert!(measure_change(project.path(), agent_dir, &start, &[]).is_err());
}

/// Other systems do not have such names.
#[cfg(target_os = "linux")]
#[test]
fn with_a_path_that_is_no_text_the_change_is_not_known() {
    use std::os::unix::ffi::OsStrExt as _;
    let project = repository();
    commit(&project, "one\n");
    let start = record(&project);
    let name = std::ffi::OsStr::from_bytes(b"\xff");
    let directory = project.path().join(name);
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join(".gitignore"), "*\n").unwrap();
    std::fs::write(directory.join("a.py"), "1\n").unwrap();
    let agent_dir = project.agent_dir.path();
    assert!(measure_change(project.path(), agent_dir, &start, &[]).is_err());
}

#[test]
fn the_caches_of_tools_that_appear_in_a_run_leave_the_change_known() {
    let project = repository();
    project.write("[a]/b.py", "1\n");
    git(&project, &["add", "."]);
    commit(&project, "one\n");
    let start = record(&project);
    project.write(".pytest_cache/.gitignore", "# Created by pytest.\n*\n");
    project.write(".pytest_cache/v/cache/lastfailed", "{}\n");
    project.write("[a]/__pycache__/b.pyc", "\0\n");
    project.write("[a]/.gitignore", "*.log\n");
    project.write("[a]/a.log", "1\n");
    assert_eq!(numbers(&project, &start), (5, 2 + 1 + 1 + 1));
}

#[test]
fn what_is_changed_inside_of_a_submodule_is_not_known() {
    let library = repository();
    commit(&library, "one\n");
    let project = repository();
    let from = library.path().to_str().unwrap();
    let add = ["-c", "protocol.file.allow=always", "submodule", "add"];
    git(&project, &[&add[..], &["--quiet", from, "lib"]].concat());
    commit(&project, "one\n");
    let start = record(&project);
    let agent_dir = project.agent_dir.path();
    assert!(measure_change(project.path(), agent_dir, &start, &[]).is_err());
    // One that is not checked out hides nothing.
    git(
        &project,
        &["submodule", "deinit", "--quiet", "--force", "lib"],
    );
    assert_eq!(numbers(&project, &start), (0, 0));
}
