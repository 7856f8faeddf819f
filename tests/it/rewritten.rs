//! Workflows of other systems, rewritten: `tests/rewritten`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::connection::Process;

/// The directory, the script, how it is started, and the exit code at its end: 0 for an end or an unfinished script, 4 at a limit.
#[rustfmt::skip] // A script a line.
const SCRIPTS: &[(&str, &str, &[&str], i32)] = &[
    ("team", "develop", &["develop", "sign in"], 0),
    ("team", "develop-stuck", &["develop", "sign in"], 0),
    ("team", "develop-limits", &["develop", "sign in"], 4),
    ("team", "improve", &["improve", "sign in"], 0),
    ("team", "debug", &["debug", "sign in"], 0),
    ("team", "doc-review", &["doc-review", "sign in"], 0),
    ("spec-kit", "happy", &["feature", "sign in"], 0),
    ("spec-kit", "unclear", &["feature", "sign in"], 0),
    ("spec-kit", "no-clarify", &["feature", "clarify=false", "sign in"], 0),
    ("spec-kit", "checkpoint-limit", &["feature", "sign in"], 4),
    ("openspec", "happy", &["change", "dark mode"], 0),
    ("openspec", "unhappy", &["change", "dark mode"], 0),
    ("openspec", "limit", &["change", "dark mode"], 0),
    ("openspec", "archive-no", &["change", "dark mode"], 0),
    ("superpowers", "happy", &["tdd", "mail"], 0),
    ("superpowers", "limits", &["tdd", "mail"], 4),
    ("superpowers", "exception", &["tdd", "mail"], 0),
];

fn rewritten() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/rewritten")
}

/// The files of a directory that end so.
fn files(directory: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, end));
        } else if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
    found
}

#[test]
fn each_way_through_a_rewritten_workflow_is_what_its_script_expects() {
    for (directory, script, start, code) in SCRIPTS {
        let project = rewritten().join(directory);
        let output = Process::command()
            .arg("simulate")
            .args(*start)
            .args(["--agent-dir", "none", "--project"])
            .arg(&project)
            .arg("--script")
            .arg(project.join(format!("steps/{script}.steps")))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        let found = output.status.code();
        assert_eq!(found, Some(*code), "{directory} {script}: {said}{errors}");
    }
    assert_eq!(files(&rewritten(), ".steps").len(), SCRIPTS.len());
}

#[test]
fn rewritten_workflows_have_no_errors() {
    for entry in fs::read_dir(rewritten()).unwrap() {
        let project = entry.unwrap().path();
        if project.is_dir() {
            let mut check = Process::command();
            let output = check.args(["check", "--agent-dir", "none"]).arg(&project);
            let output = output.output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{}: {said}", project.display());
        }
    }
}

/// The published configuration has 490 lines that are not empty in its workflows and phases.
#[test]
fn the_published_configuration_is_enforced_in_three_fifths_of_its_lines() {
    let definitions = files(&rewritten().join("team"), ".yaml");
    let text = |path: &PathBuf| fs::read_to_string(path).unwrap();
    let texts: Vec<String> = definitions.iter().map(text).collect();
    let lines = texts.iter().flat_map(|text| text.lines());
    let lines = lines.filter(|line| !line.trim().is_empty()).count();
    assert!(lines * 5 <= 490 * 3, "{lines}");
}
