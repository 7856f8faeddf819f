//! Real repositories: clean, changed, without a commit, with a hostile configuration.

use super::*;

const CLEAN: Check = Check::Git(GitCheck::Clean);
const NEW_COMMIT: Check = Check::Git(GitCheck::NewCommit);

pub(super) fn git(place: &Place, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(place.path()).args(arguments);
    for who in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{who}_NAME"), "Somebody");
        git.env(format!("GIT_{who}_EMAIL"), "somebody@example.com");
    }
    let output = git.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

pub(super) fn commit(place: &Place, text: &str) {
    place.write("file.txt", text);
    git(place, &["add", "."]);
    git(place, &["commit", "--quiet", "--message", text]);
}

pub(super) fn repository() -> Place {
    let place = Place::new();
    git(&place, &["init", "--quiet"]);
    place
}

#[test]
fn all_committed_is_clean_and_any_change_is_not() {
    let place = repository();
    commit(&place, "one");
    assert_eq!(place.check(CLEAN).verdict, PASSED);
    place.write("file.txt", "two");
    place.write("new.txt", "");
    let report = place.check(CLEAN);
    assert_eq!(report.verdict, FAILED);
    assert_eq!(report.reason, "2 changes are not committed");
    assert_eq!(report.tail, " M file.txt\n?? new.txt");
    git(&place, &["add", "."]);
    assert_eq!(
        place.check(CLEAN).verdict,
        FAILED,
        "staged is not committed"
    );
}

#[test]
fn what_git_ignores_is_clean_and_what_its_settings_hide_is_not() {
    let place = repository();
    place.write(".gitignore", "target\n");
    commit(&place, "one");
    place.write("target/x", "");
    assert_eq!(place.check(CLEAN).verdict, PASSED);
    git(&place, &["config", "status.showUntrackedFiles", "no"]);
    place.write("new.txt", "");
    assert_eq!(place.check(CLEAN).verdict, FAILED);
}

#[test]
fn where_there_is_no_repository_it_could_not_run() {
    for check in [CLEAN, NEW_COMMIT] {
        let mut place = Place::new();
        place.enter(check.clone());
        let report = place.check(check);
        assert_eq!(report.verdict, could_not(Obstacle::Missing));
        assert_eq!(report.reason, "this is not a git repository");
    }
}

#[test]
fn a_commit_since_the_phase_was_entered_passes() {
    let mut place = repository();
    commit(&place, "one");
    place.enter(NEW_COMMIT);
    let report = place.check(NEW_COMMIT);
    assert_eq!(report.verdict, FAILED);
    assert!(report.reason.contains("nothing was committed"));
    commit(&place, "two");
    assert_eq!(place.check(NEW_COMMIT).verdict, PASSED);
}

#[test]
fn the_first_commit_is_a_new_one() {
    let mut place = repository();
    place.enter(NEW_COMMIT);
    assert_eq!(place.baseline.head, Some(Head::NoCommit));
    let report = place.check(NEW_COMMIT);
    assert_eq!(report.reason, "there is no commit yet");
    commit(&place, "one");
    assert_eq!(place.check(NEW_COMMIT).verdict, PASSED);
}

#[test]
fn the_first_commit_of_a_repository_that_was_made_since_is_a_new_one() {
    let mut place = Place::new();
    place.enter(NEW_COMMIT);
    git(&place, &["init", "--quiet"]);
    commit(&place, "one");
    assert_eq!(place.check(NEW_COMMIT).verdict, PASSED);
}

#[test]
fn going_back_is_no_new_commit_and_amending_is_one() {
    let mut place = repository();
    commit(&place, "one");
    commit(&place, "two");
    place.enter(NEW_COMMIT);
    git(&place, &["reset", "--quiet", "--hard", "HEAD~1"]);
    assert_eq!(place.check(NEW_COMMIT).verdict, FAILED);
    git(&place, &["reset", "--quiet", "--hard", "HEAD@{1}"]);
    git(
        &place,
        &["commit", "--quiet", "--amend", "--message", "three"],
    );
    assert_eq!(place.check(NEW_COMMIT).verdict, PASSED);
}

#[test]
fn without_a_memory_nothing_is_said_of_a_new_commit() {
    let place = repository();
    commit(&place, "one");
    let report = place.check(NEW_COMMIT);
    assert_eq!(report.verdict, could_not(Obstacle::NoBaseline));
}

#[test]
fn what_a_repository_names_as_its_monitor_or_pager_does_not_run() {
    let mut place = repository();
    commit(&place, "one");
    let ran = place.path().join(".git/ran");
    let hostile = format!("touch '{}'; false", ran.display());
    for key in [
        "core.fsmonitor",
        "core.pager",
        "pager.status",
        "core.editor",
    ] {
        git(&place, &["config", key, &hostile]);
    }
    place.enter(NEW_COMMIT);
    place.check(CLEAN);
    place.check(NEW_COMMIT);
    assert!(!ran.exists());
    // The trap is one: git that is asked as usual falls into it.
    let mut usual = Command::new("git");
    usual
        .arg("status")
        .current_dir(place.path())
        .output()
        .unwrap();
    assert!(ran.exists());
}

#[test]
fn a_filter_that_the_repository_brings_along_does_not_run() {
    let place = repository();
    place.write(".gitattributes", "*.txt filter=evil\n");
    commit(&place, "one");
    let ran = place.path().join(".git/ran");
    let hostile = format!("touch '{}'; cat", ran.display());
    git(&place, &["config", "filter.evil.clean", &hostile]);
    // Git compares the file only if it looks changed.
    place.write("file.txt", "two");
    let report = place.check(CLEAN);
    assert_eq!(report.verdict, could_not(Obstacle::NotTrusted));
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
        .current_dir(place.path())
        .output()
        .unwrap();
    assert!(ran.exists(), "the trap is one");
}

/// A repository with a submodule whose own configuration names a filter, and the mark of that filter.
pub(super) fn with_hostile_submodule() -> (Place, PathBuf) {
    let inner = repository();
    commit(&inner, "one");
    let place = repository();
    commit(&place, "one");
    let path = inner.path().display().to_string();
    let add = ["submodule", "--quiet", "add", &path, "sub"];
    let add = [&["-c", "protocol.file.allow=always"], &add[..]].concat();
    git(&place, &add);
    git(&place, &["commit", "--quiet", "--message", "sub"]);
    let ran = place.path().join(".git/ran");
    let hostile = format!("touch '{}'; cat", ran.display());
    place.write(".git/modules/sub/info/attributes", "* filter=evil\n");
    let config = place.path().join(".git/modules/sub/config");
    let config = config.display().to_string();
    let name = ["config", "--file", &config, "filter.evil.clean", &hostile];
    git(&place, &name);
    // Git compares the file only if it looks changed, and is as long as before.
    place.write("sub/file.txt", "two");
    (place, ran)
}

#[test]
fn the_configuration_of_a_submodule_runs_nothing() {
    let (place, ran) = with_hostile_submodule();
    assert_eq!(place.check(CLEAN).verdict, PASSED);
    git(&place, &["config", "submodule.sub.ignore", "none"]);
    assert_eq!(place.check(CLEAN).verdict, PASSED);
    assert!(!ran.exists());
    let mut usual = Command::new("git");
    usual
        .arg("status")
        .current_dir(place.path())
        .output()
        .unwrap();
    assert!(ran.exists(), "the trap is one");
}
