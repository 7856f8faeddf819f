//! Loads every directory of `tests/definitions` and compares what comes of it with a snapshot.
//!
//! A case is laid out as on a disk: `agent/workflows/<key>/…`, `agent/workflow-sidecar.json5` and
//! `project/.pi/workflows/<key>/…`. Its name says the behaviour.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads files, and the environment says if it writes them"
)]
#![expect(
    clippy::unwrap_used,
    reason = "a case that cannot be read fails the test"
)]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use workflow_core::definition::{
    LoadOutcome, Loaded, MemoryFiles, Root, SETTINGS_FILE, Workflow, load,
};
use workflow_core::diagnostic::{Code, Severity, render};

fn cases(kind: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/definitions");
    let mut cases: Vec<PathBuf> = fs::read_dir(root.join(kind))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.sort();
    assert!(!cases.is_empty());
    cases
}

fn name_of(case: &Path) -> &str {
    case.file_name().unwrap().to_str().unwrap()
}

fn load_case(case: &Path) -> Loaded {
    let roots = [
        (Root::User, case.join("agent")),
        (Root::Agents, case.join("project/.agents")),
        (Root::Project, case.join("project/.pi")),
    ];
    let mut files = MemoryFiles::new();
    for (root, directory) in roots {
        if let Ok(settings) = fs::read(directory.join(SETTINGS_FILE)) {
            files = files.with_settings(root.tier(), settings);
        }
        files = with_directory(files, root, &directory.join("workflows"), "");
    }
    load(&files)
}

fn with_directory(
    mut files: MemoryFiles,
    root: Root,
    directory: &Path,
    prefix: &str,
) -> MemoryFiles {
    let Ok(entries) = fs::read_dir(directory) else {
        return files;
    };
    for entry in entries {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            files = with_directory(files, root, &entry.path(), &format!("{name}/"));
        } else {
            files = files.with(root, &name, fs::read(entry.path()).unwrap());
        }
    }
    files
}

fn rendered(loaded: &Loaded) -> String {
    let texts = loaded.diagnostics.iter().map(|found| render(found, false));
    texts.collect::<Vec<_>>().join("\n\n")
}

fn outcome(loaded: &Loaded) -> Vec<String> {
    let lines = loaded.index.iter().map(|listing| {
        let shadows = if listing.shadows { ", shadows" } else { "" };
        let (tier, key, standing) = (listing.tier, &listing.key, listing.outcome);
        format!("{tier:?} {key}: {standing:?}{shadows}")
    });
    lines.collect()
}

/// The value without what is null or empty of such, so that a snapshot shows what was said.
fn without_nothing(value: Value) -> Value {
    match value {
        Value::Object(entries) => entries
            .into_iter()
            .map(|(key, value)| (key, without_nothing(value)))
            .filter(|(_, value)| !value.is_null() && *value != json!({}))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_nothing).collect(),
        value => value,
    }
}

#[test]
fn valid_directories_load_without_diagnostics() {
    for case in cases("valid") {
        let name = name_of(&case);
        let loaded = load_case(&case);
        assert_eq!(rendered(&loaded), "", "{name}");
        let workflows: Vec<&Workflow> = loaded.catalog.iter().collect();
        let content = json!({
            "index": outcome(&loaded),
            "settings": loaded.settings,
            "workflows": workflows,
        });
        let content = without_nothing(content);
        insta::with_settings!({ snapshot_suffix => name, prepend_module_to_snapshot => false }, {
            insta::assert_json_snapshot!("valid", content);
        });
    }
}

#[test]
fn invalid_directories_report_all_mistakes() {
    for case in cases("invalid") {
        let name = name_of(&case);
        let loaded = load_case(&case);
        assert!(!loaded.diagnostics.is_empty(), "{name}");
        for found in &loaded.diagnostics {
            let cured = found.help.as_ref().is_some_and(|help| !help.is_empty());
            assert!(cured && found.location.is_some(), "{name}: {found:?}");
        }
        let text = format!("{}\n\n{}", outcome(&loaded).join("\n"), rendered(&loaded));
        insta::with_settings!({ snapshot_suffix => name, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!("invalid", text);
        });
    }
}

#[test]
fn a_workflow_with_an_error_is_left_out() {
    for case in cases("invalid") {
        let loaded = load_case(&case);
        let errors = loaded
            .diagnostics
            .iter()
            .filter(|found| found.severity == Severity::Error);
        for key in errors.filter_map(|found| found.workflow.as_deref()) {
            let left_out = loaded
                .index
                .iter()
                .any(|listing| listing.key == key && listing.outcome == LoadOutcome::LeftOut);
            assert!(left_out, "{}: {key}", name_of(&case));
        }
    }
}

/// Mistakes of a disk, or of hundreds of lines, are in the pages of the command line; mistakes of a
/// session's entries in the tests of sessions.
#[test]
fn every_code_is_shown_by_some_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut shown = fs::read_to_string(root.join("../../tests/cli/check.md")).unwrap();
    for session in ["restoring.rs", "in_force.rs"] {
        shown += &fs::read_to_string(root.join("tests/session").join(session)).unwrap();
    }
    for entry in fs::read_dir(root.join("tests/snapshots")).unwrap() {
        shown += &fs::read_to_string(entry.unwrap().path()).unwrap();
    }
    let missing: Vec<&Code> = Code::ALL
        .iter()
        .filter(|code| !shown.contains(code.as_str()))
        .collect();
    assert!(missing.is_empty(), "in no test: {missing:?}");
}
