//! Checks of files.

use super::*;

fn file(path: &str, changed: Option<bool>) -> Check {
    Check::File(FileCheck {
        path: path.to_owned(),
        changed,
    })
}

#[test]
fn an_existing_file_passes_inside_and_outside_of_the_project() {
    let project = TestProject::new();
    project.write("docs/plan.md", "plan");
    assert_eq!(project.check(file("docs/plan.md", None)).verdict, PASSED);
    let elsewhere = TestProject::new();
    let outside = project.path().join("docs/plan.md");
    let outside = outside.to_str().unwrap();
    assert_eq!(elsewhere.check(file(outside, None)).verdict, PASSED);
}

#[test]
fn a_missing_file_fails() {
    let project = TestProject::new();
    project.write("docs", "");
    for path in ["plan.md", "docs/plan.md"] {
        let report = project.check(file(path, None));
        assert_eq!(report.verdict, FAILED);
        assert_eq!(report.reason, format!("there is no {path}"));
    }
}

#[test]
fn a_directory_pipe_or_device_fails_and_is_not_waited_for() {
    let mut project = TestProject::new();
    fs::create_dir(project.path().join("directory")).unwrap();
    let pipe = project.path().join("pipe");
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    for path in ["directory", "pipe", "/dev/zero"] {
        project.enter(file(path, Some(true)));
        assert_eq!(project.baseline.files[path], FileState::NoFile);
        let report = project.check(file(path, Some(true)));
        assert_eq!(report.verdict, FAILED);
        assert_eq!(report.reason, format!("{path} is not a regular file"));
    }
}

#[test]
fn a_file_must_differ_from_when_the_phase_was_entered() {
    let mut project = TestProject::new();
    project.write("plan.md", "one");
    project.enter(file("plan.md", Some(true)));
    project.write("plan.md", "one");
    let report = project.check(file("plan.md", Some(true)));
    assert_eq!(report.verdict, FAILED);
    assert!(report.reason.contains("has not changed"));
    project.write("plan.md", "two");
    assert_eq!(project.check(file("plan.md", Some(true))).verdict, PASSED);
    fs::remove_file(project.path().join("plan.md")).unwrap();
    assert_eq!(project.check(file("plan.md", Some(true))).verdict, FAILED);
}

#[test]
fn a_new_file_has_changed() {
    let mut project = TestProject::new();
    project.enter(file("plan.md", Some(true)));
    project.write("plan.md", "");
    assert_eq!(project.check(file("plan.md", Some(true))).verdict, PASSED);
}

#[test]
fn a_file_that_must_not_change_passes_only_unchanged() {
    let mut project = TestProject::new();
    let unchanged = || file("lock", Some(false));
    project.enter(unchanged());
    assert_eq!(
        project.check(unchanged()).verdict,
        PASSED,
        "absent, as it was"
    );
    project.write("lock", "x");
    assert_eq!(project.check(unchanged()).verdict, FAILED);
    project.enter(unchanged());
    assert_eq!(project.check(unchanged()).verdict, PASSED);
    fs::remove_file(project.path().join("lock")).unwrap();
    assert_eq!(project.check(unchanged()).verdict, FAILED);
}

#[test]
fn a_change_cannot_be_checked_without_a_baseline() {
    let project = TestProject::new();
    project.write("plan.md", "");
    let report = project.check(file("plan.md", Some(true)));
    assert_eq!(report.verdict, could_not_run(CheckError::NoBaseline));
}

#[test]
fn a_long_file_is_compared_by_length_and_time() {
    let mut project = TestProject::new();
    let path = project.path().join("long.bin");
    let long = fs::File::create(&path).unwrap();
    long.set_len(20 * 1024 * 1024).unwrap();
    let changed = || file("long.bin", Some(true));
    project.enter(changed());
    assert!(matches!(
        project.baseline.files["long.bin"],
        FileState::Long {
            length: 20_971_520,
            ..
        }
    ));
    assert_eq!(project.check(changed()).verdict, FAILED);
    long.set_len(20 * 1024 * 1024 + 1).unwrap();
    assert_eq!(project.check(changed()).verdict, PASSED);
}

#[test]
fn a_baseline_survives_serialization() {
    let mut project = TestProject::new();
    project.write("a", "a");
    project.enter(file("a", Some(true)));
    let text = serde_json::to_string(&project.baseline).unwrap();
    let read: Baseline = serde_json::from_str(&text).unwrap();
    assert_eq!(read, project.baseline);
    assert_eq!(serde_json::to_string(&Baseline::default()).unwrap(), "{}");
}

#[test]
fn a_baseline_has_only_what_checks_compare() {
    let mut project = TestProject::new();
    project.write("a", "a");
    project.enter(file("a", None));
    assert_eq!(project.baseline, Baseline::default());
}

#[test]
fn a_glob_needs_a_file_that_matches() {
    let project = TestProject::new();
    project.write("src/latest.js", "");
    let check = || file("**/*.test.js", None);
    let report = project.check(check());
    assert_eq!(report.verdict, FAILED);
    assert_eq!(report.reason, "there is no **/*.test.js");
    project.write("src/a.test.js", "");
    assert_eq!(project.check(check()).verdict, PASSED);
}

#[test]
fn one_of_the_files_of_a_glob_must_differ_from_when_the_phase_was_entered() {
    let mut project = TestProject::new();
    let changed = || file("{tests/**,test_*.py}", Some(true));
    project.write("tests/a.py", "one");
    project.enter(changed());
    project.write("src/a.py", "not a test");
    let report = project.check(changed());
    assert_eq!(report.verdict, FAILED);
    assert!(report.reason.contains("has not changed"));
    project.write("tests/a.py", "two");
    assert_eq!(project.check(changed()).verdict, PASSED, "a change");
    project.enter(changed());
    project.write("x/test_b.py", "");
    assert_eq!(project.check(changed()).verdict, PASSED, "a new file");
}

#[test]
fn a_glob_leaves_out_installed_and_generated_files() {
    let mut project = TestProject::new();
    project.write("target/CACHEDIR.TAG", "");
    project.write("venv/pyvenv.cfg", "");
    let changed = || file("**/*.test.js", Some(true));
    project.enter(changed());
    for directory in ["node_modules/x", "target", "venv/lib", ".git"] {
        project.write(&format!("{directory}/a.test.js"), "");
    }
    assert_eq!(project.check(changed()).verdict, FAILED);
}
