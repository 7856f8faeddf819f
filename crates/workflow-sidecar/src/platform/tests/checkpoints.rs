//! Checkpoints are recorded without a trace, and restored.

use workflow_core::event::{RestoreOutcome, RestoredFiles, SnapshotError};
use workflow_core::types::Snapshot;

use super::super::git::{config_commands, record_checkpoint, restore_checkpoint};
use super::repositories::{commit, git, repository, with_hostile_submodule};
use super::*;
use crate::platform::answers::trust_store::{TrustStore, hash_of};

fn try_record(project: &TestProject) -> Result<Snapshot, SnapshotError> {
    record_checkpoint(project.path(), project.agent_dir.path())
}

fn restore(snapshot: &Snapshot, project: &TestProject) -> RestoreOutcome {
    restore_checkpoint(snapshot, project.path(), project.agent_dir.path(), &|_| ())
}

fn record(project: &TestProject) -> Snapshot {
    try_record(project).unwrap()
}

fn git_output(project: &TestProject, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(project.path())
        .args(arguments)
        .output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

fn text(project: &TestProject, path: &str) -> String {
    fs::read_to_string(project.path().join(path)).unwrap()
}

/// Returns the result of a restore without a problem.
fn result(restored: &RestoreOutcome) -> (RestoredFiles, bool, bool) {
    assert_eq!(restored.problem, None);
    let put_aside = restored.stashed.is_some();
    (restored.files, put_aside, restored.has_commits_since)
}

/// Returns the state of a repository without its objects, which recording must not change.
fn visible_state(project: &TestProject) -> (Vec<u8>, String, String) {
    let index = fs::read(project.path().join(".git/index")).unwrap();
    let status = git_output(project, &["status", "--porcelain=v1"]);
    (
        index,
        status,
        git_output(project, &["for-each-ref"]) + &git_output(project, &["reflog"]),
    )
}

#[test]
fn changes_are_recorded_without_a_trace() {
    let project = repository();
    commit(&project, "one");
    project.write("file.txt", "two");
    project.write("staged.txt", "new");
    git(&project, &["add", "staged.txt"]);
    project.write("untracked.txt", "not git's");
    let before = visible_state(&project);
    let recorded = record(&project);
    assert_eq!(visible_state(&project), before);
    let reference = recorded.reference.unwrap();
    assert_eq!(
        git_output(&project, &["show", &format!("{reference}:file.txt")]),
        "two"
    );
    assert_eq!(
        git_output(&project, &["show", &format!("{reference}:staged.txt")]),
        "new"
    );
    assert_eq!(
        git_output(&project, &["rev-parse", "HEAD"]).trim(),
        recorded.head
    );
}

#[test]
fn without_changes_the_commit_is_recorded() {
    let project = repository();
    commit(&project, "one");
    project.write("untracked.txt", "");
    let recorded = record(&project);
    assert_eq!(recorded.reference, None);
    assert_eq!(
        git_output(&project, &["rev-parse", "HEAD"]).trim(),
        recorded.head
    );
}

#[test]
fn without_a_repository_or_a_commit_nothing_is_recorded() {
    assert_eq!(
        try_record(&TestProject::new()),
        Err(SnapshotError::NoRepository)
    );
    assert_eq!(try_record(&repository()), Err(SnapshotError::NoRepository));
    let gone = TestProject::new().path().join("gone");
    assert!(matches!(
        record_checkpoint(&gone, &gone),
        Err(SnapshotError::Failed(_))
    ));
}

#[test]
fn recording_works_with_a_locked_index_and_in_a_subdirectory() {
    let project = repository();
    commit(&project, "one");
    project.write("file.txt", "two");
    project.write(".git/index.lock", "");
    project.write("src/deep/x", "");
    let recorded =
        record_checkpoint(&project.path().join("src/deep"), project.agent_dir.path()).unwrap();
    assert!(recorded.reference.is_some());
}

#[test]
fn hooks_of_the_repository_are_not_run() {
    let project = repository();
    commit(&project, "one");
    for hook in [
        "reference-transaction",
        "post-index-change",
        "post-checkout",
    ] {
        let mark = project.path().join("mark");
        project.script(
            &format!(".git/hooks/{hook}"),
            &format!("#!/bin/sh\ntouch {}\n", mark.display()),
        );
    }
    project.write("file.txt", "two");
    let recorded = record(&project);
    project.write("file.txt", "three");
    assert_eq!(
        result(&restore(&recorded, &project)),
        (RestoredFiles::Restored, true, false)
    );
    assert!(!project.path().join("mark").exists());
}

#[test]
fn a_conflict_cannot_be_recorded_and_has_a_reason() {
    let project = repository();
    commit(&project, "one");
    git(&project, &["checkout", "--quiet", "-b", "other"]);
    commit(&project, "two");
    git(&project, &["checkout", "--quiet", "-"]);
    commit(&project, "three");
    let mut merge = Command::new("git");
    assert!(
        !merge
            .current_dir(project.path())
            .args(["merge", "other"])
            .output()
            .unwrap()
            .status
            .success()
    );
    assert!(matches!(
        try_record(&project),
        Err(SnapshotError::Failed(_))
    ));
}

#[test]
fn changes_are_restored_and_later_ones_are_in_the_stash() {
    let project = repository();
    commit(&project, "one");
    project.write("file.txt", "two");
    let recorded = record(&project);
    project.write("file.txt", "three");
    project.write("untracked.txt", "stays");
    assert_eq!(
        result(&restore(&recorded, &project)),
        (RestoredFiles::Restored, true, false)
    );
    assert_eq!(text(&project, "file.txt"), "two");
    assert_eq!(text(&project, "untracked.txt"), "stays");
    assert!(
        git_output(&project, &["stash", "list"])
            .contains("before the code went back to a checkpoint")
    );
    assert_eq!(
        git_output(&project, &["show", "stash@{0}:file.txt"]),
        "three"
    );
}

#[test]
fn unchanged_code_is_restored() {
    let project = repository();
    commit(&project, "one");
    let recorded = record(&project);
    project.write("file.txt", "two");
    assert_eq!(
        result(&restore(&recorded, &project)),
        (RestoredFiles::Restored, true, false)
    );
    assert_eq!(text(&project, "file.txt"), "one");
    assert_eq!(
        result(&restore(&recorded, &project)),
        (RestoredFiles::Unchanged, false, false),
        "nothing has changed"
    );
}

#[test]
fn a_change_at_the_moment_of_a_commit_is_recorded() {
    let project = repository();
    commit(&project, "one");
    git(&project, &["config", "core.trustctime", "false"]);
    let path = |name: &str| project.path().join(name);
    let moment = fs::metadata(path("file.txt")).unwrap().modified().unwrap();
    let happened_then = |name: &str| {
        let file = fs::File::options().write(true).open(path(name)).unwrap();
        file.set_modified(moment).unwrap();
    };
    project.write("file.txt", "two");
    happened_then("file.txt");
    happened_then(".git/index");
    let recorded = record(&project);
    git(&project, &["checkout", "--quiet", "."]);
    assert_eq!(text(&project, "file.txt"), "one");
    assert_eq!(
        result(&restore(&recorded, &project)),
        (RestoredFiles::Restored, false, false)
    );
    assert_eq!(text(&project, "file.txt"), "two");
}

#[test]
fn later_commits_stay_and_are_reported() {
    let project = repository();
    commit(&project, "one");
    project.write("other.txt", "other");
    git(&project, &["add", "other.txt"]);
    let recorded = record(&project);
    git(&project, &["stash", "--quiet"]);
    commit(&project, "two");
    assert_eq!(
        result(&restore(&recorded, &project)),
        (RestoredFiles::Restored, false, true)
    );
    assert_eq!(
        (text(&project, "file.txt"), text(&project, "other.txt")),
        ("two".to_owned(), "other".to_owned())
    );
}

#[test]
fn conflicts_with_later_commits_are_named() {
    let project = repository();
    commit(&project, "one");
    project.write("file.txt", "two");
    let recorded = record(&project);
    git(&project, &["checkout", "--quiet", "."]);
    commit(&project, "three");
    let restored = restore(&recorded, &project);
    assert_eq!(
        restored.problem.as_deref(),
        Some("it conflicts in file.txt")
    );
    assert!(restored.has_commits_since);
}

#[test]
fn an_untracked_file_is_not_overwritten() {
    let project = repository();
    commit(&project, "one");
    project.write("new.txt", "kept");
    git(&project, &["add", "new.txt"]);
    let recorded = record(&project);
    git(&project, &["rm", "--quiet", "--cached", "new.txt"]);
    project.write("new.txt", "mine");
    let restored = restore(&recorded, &project);
    assert!(restored.problem.is_some());
    assert_eq!(text(&project, "new.txt"), "mine");
}

#[test]
fn a_missing_or_damaged_checkpoint_changes_nothing() {
    let project = repository();
    commit(&project, "one");
    project.write("file.txt", "two");
    for (reference, why) in [
        ("0123456789012345678901234567890123456789", "any more"),
        ("--index", "damaged"),
        ("HEAD", "damaged"),
    ] {
        let snapshot = Snapshot {
            reference: Some(reference.to_owned()),
            head: git_output(&project, &["rev-parse", "HEAD"])
                .trim()
                .to_owned(),
        };
        let restored = restore(&snapshot, &project);
        assert!(restored.problem.unwrap().contains(why));
        assert_eq!(restored.stashed, None);
        assert_eq!(text(&project, "file.txt"), "two");
    }
}

#[test]
fn nothing_to_restore_is_reported() {
    let project = repository();
    commit(&project, "one");
    let recorded = record(&project);
    commit(&project, "two");
    assert_eq!(
        result(&restore(&recorded, &project)),
        (RestoredFiles::NothingToRestore, false, true)
    );
    assert_eq!(text(&project, "file.txt"), "two");
}

#[test]
fn later_changes_are_in_the_stash_before_a_file_is_changed() {
    let project = repository();
    commit(&project, "one");
    let recorded = record(&project);
    project.write("file.txt", "two");
    project.write("new.txt", "new");
    git(&project, &["add", "new.txt"]);
    // Another git is running: nothing is changed.
    project.write(".git/index.lock", "");
    assert!(restore(&recorded, &project).problem.is_some());
    assert_eq!(
        (text(&project, "file.txt"), text(&project, "new.txt")),
        ("two".to_owned(), "new".to_owned())
    );
    fs::remove_file(project.path().join(".git/index.lock")).unwrap();
    // Git fails in the middle of it.
    project.write(".git/HEAD.lock", "");
    let restored = restore(&recorded, &project);
    assert!(restored.problem.is_some());
    let aside = restored.stashed.unwrap();
    assert_eq!(
        git_output(&project, &["rev-parse", "stash@{0}"]).trim(),
        aside
    );
    assert_eq!(
        git_output(&project, &["show", &format!("{aside}:new.txt")]),
        "new"
    );
}

#[test]
fn programs_of_the_repository_run_only_if_the_user_trusts_them() {
    let project = repository();
    project.write(".gitattributes", "*.txt filter=evil merge=evil\n");
    commit(&project, "one");
    let ran = project.path().join(".git/ran");
    let hostile = format!("touch '{}'; cat", ran.display());
    project.write("file.txt", "two");
    let recorded = record(&project);
    project.write("file.txt", "three");
    for (key, only_restoring) in [
        ("filter.evil.clean", false),
        ("filter.evil.smudge", false),
        ("filter.evil.process", false),
        ("merge.evil.driver", true),
    ] {
        git(&project, &["config", key, &hostile]);
        assert_eq!(try_record(&project).is_ok(), only_restoring, "{key}");
        let problem = restore(&recorded, &project).problem.unwrap();
        assert!(problem.contains(key), "{problem}");
        assert!(problem.contains("`workflow-sidecar trust`"), "{problem}");
        git(&project, &["config", "--unset", key]);
    }
    // An included file belongs to the repository's configuration.
    project.write(
        ".git/more",
        &format!("[filter \"evil\"]\n\tclean = \"{hostile}\"\n"),
    );
    git(&project, &["config", "include.path", "more"]);
    assert!(try_record(&project).is_err());
    assert!(!ran.exists());
    assert_eq!(text(&project, "file.txt"), "three");
    // Proves the setup: with the user's trust git runs it.
    let store = TrustStore::in_agent_dir(project.agent_dir.path()).unwrap();
    for command in config_commands(project.path()).unwrap() {
        store.trust(project.path(), &hash_of([&command])).unwrap();
    }
    assert!(try_record(&project).is_ok());
    assert!(ran.exists());
}

#[test]
fn a_program_of_the_user_finds_the_files_that_it_keeps_in_the_repository() {
    let project = repository();
    project.write(".gitattributes", "*.txt filter=kept\n");
    commit(&project, "one");
    let kept = "f=$(git rev-parse --git-path kept); tee \"$f\"";
    git(&project, &["config", "filter.kept.clean", kept]);
    let store = TrustStore::in_agent_dir(project.agent_dir.path()).unwrap();
    for command in config_commands(project.path()).unwrap() {
        store.trust(project.path(), &hash_of([&command])).unwrap();
    }
    project.write("file.txt", "two");
    record(&project);
    assert_eq!(text(&project, ".git/kept"), "two");
}

#[test]
fn files_of_another_work_tree_are_not_restored() {
    let project = repository();
    commit(&project, "one");
    let recorded = record(&project);
    let elsewhere = TestProject::new();
    elsewhere.write("file.txt", "mine");
    let path = elsewhere.path().display().to_string();
    git(&project, &["config", "core.worktree", &path]);
    project.write("file.txt", "two");
    assert_eq!(
        result(&restore(&recorded, &project)),
        (RestoredFiles::Restored, true, false)
    );
    assert_eq!(text(&project, "file.txt"), "one");
    assert_eq!(text(&elsewhere, "file.txt"), "mine");
}

#[test]
fn a_linked_work_tree_has_checkpoints_of_its_own() {
    let project = repository();
    commit(&project, "one");
    git(
        &project,
        &["worktree", "add", "--quiet", "linked", "-b", "other"],
    );
    let linked = project.path().join("linked");
    fs::write(linked.join("file.txt"), "two").unwrap();
    let recorded = record_checkpoint(&linked, project.agent_dir.path()).unwrap();
    fs::write(linked.join("file.txt"), "three").unwrap();
    let restored = restore_checkpoint(&recorded, &linked, project.agent_dir.path(), &|_| ());
    assert_eq!(result(&restored), (RestoredFiles::Restored, true, false));
    assert_eq!(fs::read_to_string(linked.join("file.txt")).unwrap(), "two");
    assert_eq!(text(&project, "file.txt"), "one");
    assert!(git_output(&project, &["stash", "list"]).contains("stash@{0}"));
}

#[test]
fn submodules_are_not_entered() {
    let set: [&[&str]; 4] = [
        &[],
        &["config", "submodule.sub.ignore", "none"],
        &[
            "config",
            "--file",
            ".gitmodules",
            "submodule.sub.ignore",
            "none",
        ],
        &["rm", "--quiet", "--cached", ".gitmodules"],
    ];
    for arguments in set {
        let (project, ran) = with_hostile_submodule();
        if !arguments.is_empty() {
            git(&project, arguments);
        }
        project.write("file.txt", "two");
        project.write("src/deep/x", "");
        let recorded =
            record_checkpoint(&project.path().join("src/deep"), project.agent_dir.path()).unwrap();
        assert!(recorded.reference.is_some());
        project.write("file.txt", "three");
        assert_eq!(
            result(&restore(&recorded, &project)),
            (RestoredFiles::Restored, true, false)
        );
        assert_eq!(text(&project, "file.txt"), "two");
        assert!(!ran.exists(), "{arguments:?}");
    }
}

#[test]
fn conflicts_are_named_without_entering_submodules() {
    let (project, ran) = with_hostile_submodule();
    git(&project, &["config", "submodule.sub.ignore", "none"]);
    project.write("file.txt", "two");
    let recorded = record(&project);
    git(
        &project,
        &["commit", "--quiet", "--all", "--message", "three"],
    );
    project.write("file.txt", "three");
    git(&project, &["add", "file.txt"]);
    git(&project, &["commit", "--quiet", "--message", "three"]);
    fs::remove_file(&ran).unwrap();
    project.write("sub/file.txt", "six");
    let problem = restore(&recorded, &project).problem.unwrap();
    assert!(problem.contains("file.txt"), "{problem}");
    assert!(!ran.exists());
}

#[test]
fn the_commit_of_a_submodule_is_not_changed() {
    let (project, _) = with_hostile_submodule();
    let inside = project.path().join("sub");
    let output = Command::new("git")
        .current_dir(&inside)
        .args([
            "-c",
            "user.name=S",
            "-c",
            "user.email=s@example.com",
            "commit",
            "--quiet",
            "--allow-empty",
            "--message",
            "on",
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let recorded = record(&project);
    assert_eq!(
        recorded.reference, None,
        "the commit of a submodule is not recorded"
    );
    assert_eq!(
        result(&restore(&recorded, &project)),
        (RestoredFiles::Unchanged, false, false)
    );
}
