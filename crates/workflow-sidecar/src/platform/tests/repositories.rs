//! Checks of repositories: clean, changed, without a commit, with a hostile configuration.

use super::*;

const CLEAN: Check = Check::Git(GitCheck::Clean);
const NEW_COMMIT: Check = Check::Git(GitCheck::NewCommit);

pub(super) fn git(project: &TestProject, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(project.path()).args(arguments);
    for who in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{who}_NAME"), "Somebody");
        git.env(format!("GIT_{who}_EMAIL"), "somebody@example.com");
    }
    let output = git.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

pub(super) fn commit(project: &TestProject, text: &str) {
    project.write("file.txt", text);
    git(project, &["add", "."]);
    git(project, &["commit", "--quiet", "--message", text]);
}

pub(super) fn repository() -> TestProject {
    let project = TestProject::new();
    git(&project, &["init", "--quiet"]);
    project
}

#[test]
fn all_committed_is_clean_and_any_change_is_not() {
    let project = repository();
    commit(&project, "one");
    assert_eq!(project.check(CLEAN).verdict, PASSED);
    project.write("file.txt", "two");
    project.write("new.txt", "");
    let report = project.check(CLEAN);
    assert_eq!(report.verdict, FAILED);
    assert_eq!(report.reason, "2 changes are not committed");
    assert_eq!(report.tail, " M file.txt\n?? new.txt");
    git(&project, &["add", "."]);
    assert_eq!(
        project.check(CLEAN).verdict,
        FAILED,
        "staged is not committed"
    );
}

#[test]
fn ignored_files_are_clean_and_files_hidden_by_settings_are_not() {
    let project = repository();
    project.write(".gitignore", "target\n");
    commit(&project, "one");
    project.write("target/x", "");
    assert_eq!(project.check(CLEAN).verdict, PASSED);
    git(&project, &["config", "status.showUntrackedFiles", "no"]);
    project.write("new.txt", "");
    assert_eq!(project.check(CLEAN).verdict, FAILED);
}

#[test]
fn a_check_without_a_repository_could_not_run() {
    for check in [CLEAN, NEW_COMMIT] {
        let mut project = TestProject::new();
        project.enter(check.clone());
        let report = project.check(check);
        assert_eq!(report.verdict, could_not_run(CheckError::Missing));
        assert_eq!(report.reason, "this is not a git repository");
    }
}

#[test]
fn a_commit_since_the_phase_was_entered_passes() {
    let mut project = repository();
    commit(&project, "one");
    project.enter(NEW_COMMIT);
    let report = project.check(NEW_COMMIT);
    assert_eq!(report.verdict, FAILED);
    assert!(report.reason.contains("nothing was committed"));
    commit(&project, "two");
    assert_eq!(project.check(NEW_COMMIT).verdict, PASSED);
}

#[test]
fn the_first_commit_is_a_new_one() {
    let mut project = repository();
    project.enter(NEW_COMMIT);
    let report = project.check(NEW_COMMIT);
    assert_eq!(report.reason, "there is no commit yet");
    commit(&project, "one");
    assert_eq!(project.check(NEW_COMMIT).verdict, PASSED);
}

#[test]
fn the_first_commit_of_a_new_repository_is_a_new_one() {
    let mut project = TestProject::new();
    project.enter(NEW_COMMIT);
    git(&project, &["init", "--quiet"]);
    commit(&project, "one");
    assert_eq!(project.check(NEW_COMMIT).verdict, PASSED);
}

#[test]
fn a_reset_is_not_a_new_commit_and_amending_is_one() {
    let mut project = repository();
    commit(&project, "one");
    commit(&project, "two");
    project.enter(NEW_COMMIT);
    git(&project, &["reset", "--quiet", "--hard", "HEAD~1"]);
    assert_eq!(project.check(NEW_COMMIT).verdict, FAILED);
    git(&project, &["reset", "--quiet", "--hard", "HEAD@{1}"]);
    git(
        &project,
        &["commit", "--quiet", "--amend", "--message", "three"],
    );
    assert_eq!(project.check(NEW_COMMIT).verdict, PASSED);
}

#[test]
fn a_new_commit_cannot_be_checked_without_a_baseline() {
    let project = repository();
    commit(&project, "one");
    let report = project.check(NEW_COMMIT);
    assert_eq!(report.verdict, could_not_run(CheckError::NoBaseline));
}

#[test]
fn a_monitor_or_pager_of_the_repository_does_not_run() {
    let mut project = repository();
    commit(&project, "one");
    let ran = project.path().join(".git/ran");
    let hostile = format!("touch '{}'; false", ran.display());
    for key in [
        "core.fsmonitor",
        "core.pager",
        "pager.status",
        "core.editor",
    ] {
        git(&project, &["config", key, &hostile]);
    }
    project.enter(NEW_COMMIT);
    project.check(CLEAN);
    project.check(NEW_COMMIT);
    assert!(!ran.exists());
    // Proves the setup: with the usual options git runs it.
    let mut usual = Command::new("git");
    usual
        .arg("status")
        .current_dir(project.path())
        .output()
        .unwrap();
    assert!(ran.exists());
}

#[test]
fn a_filter_of_the_repository_does_not_run() {
    let project = repository();
    project.write(".gitattributes", "*.txt filter=evil\n");
    commit(&project, "one");
    let ran = project.path().join(".git/ran");
    let hostile = format!("touch '{}'; cat", ran.display());
    git(&project, &["config", "filter.evil.clean", &hostile]);
    // Git compares the content only if the times differ.
    project.write("file.txt", "two");
    let report = project.check(CLEAN);
    assert_eq!(report.verdict, could_not_run(CheckError::NotTrusted));
    assert!(
        report.reason.contains("`filter.evil.clean`"),
        "{}",
        report.reason
    );
    assert!(report.reason.contains("`workflow-sidecar trust`"));
    assert!(!ran.exists());
    let mut usual = Command::new("git");
    usual
        .arg("status")
        .current_dir(project.path())
        .output()
        .unwrap();
    assert!(ran.exists(), "with the usual options git runs it");
}

/// Returns a repository with a submodule that configures a filter, and the file that the filter creates.
pub(super) fn with_hostile_submodule() -> (TestProject, PathBuf) {
    let inner = repository();
    commit(&inner, "one");
    let project = repository();
    commit(&project, "one");
    let path = inner.path().display().to_string();
    let add = ["submodule", "--quiet", "add", &path, "sub"];
    let add = [&["-c", "protocol.file.allow=always"], &add[..]].concat();
    git(&project, &add);
    git(&project, &["commit", "--quiet", "--message", "sub"]);
    let ran = project.path().join(".git/ran");
    let hostile = format!("touch '{}'; cat", ran.display());
    project.write(".git/modules/sub/info/attributes", "* filter=evil\n");
    let config = project.path().join(".git/modules/sub/config");
    let config = config.display().to_string();
    let name = ["config", "--file", &config, "filter.evil.clean", &hostile];
    git(&project, &name);
    // Git compares the content only if the times differ and the length is the same.
    project.write("sub/file.txt", "two");
    (project, ran)
}

#[test]
fn the_configuration_of_a_submodule_runs_nothing() {
    let (project, ran) = with_hostile_submodule();
    assert_eq!(project.check(CLEAN).verdict, PASSED);
    git(&project, &["config", "submodule.sub.ignore", "none"]);
    assert_eq!(project.check(CLEAN).verdict, PASSED);
    assert!(!ran.exists());
    let mut usual = Command::new("git");
    usual
        .arg("status")
        .current_dir(project.path())
        .output()
        .unwrap();
    assert!(ran.exists(), "with the usual options git runs it");
}
