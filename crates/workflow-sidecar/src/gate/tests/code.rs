//! The code is kept without a trace, and comes back.

use workflow_core::event::{
    RestoreOutcome as Restored, RestoredFiles as Came, SnapshotError as NoSnapshot,
};
use workflow_core::types::Snapshot;

use super::super::code::restore_code;
use super::super::{drivers, keep_code};
use super::repositories::{commit, git, repository, with_hostile_submodule};
use super::*;
use crate::trust::{TrustStore, hash_of};

fn try_keep(place: &Place) -> Result<Snapshot, NoSnapshot> {
    keep_code(place.path(), place.agent_dir.path())
}

fn restore(snapshot: &Snapshot, place: &Place) -> Restored {
    restore_code(snapshot, place.path(), place.agent_dir.path(), &|_| ())
}

fn keep(place: &Place) -> Snapshot {
    try_keep(place).unwrap()
}

fn said(place: &Place, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(place.path())
        .args(arguments)
        .output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

fn text(place: &Place, path: &str) -> String {
    fs::read_to_string(place.path().join(path)).unwrap()
}

/// What is told of files that were brought back, or were as they had been already.
fn told(restored: &Restored) -> (Came, bool, bool) {
    assert_eq!(restored.problem, None);
    let put_aside = restored.stashed.is_some();
    (restored.files, put_aside, restored.has_commits_since)
}

/// All of a repository but its objects: who keeps something must not change it.
fn traces(place: &Place) -> (Vec<u8>, String, String) {
    let index = fs::read(place.path().join(".git/index")).unwrap();
    let status = said(place, &["status", "--porcelain=v1"]);
    (
        index,
        status,
        said(place, &["for-each-ref"]) + &said(place, &["reflog"]),
    )
}

#[test]
fn changes_are_kept_without_a_trace() {
    let place = repository();
    commit(&place, "one");
    place.write("file.txt", "two");
    place.write("staged.txt", "new");
    git(&place, &["add", "staged.txt"]);
    place.write("untracked.txt", "not git's");
    let before = traces(&place);
    let kept = keep(&place);
    assert_eq!(traces(&place), before);
    let reference = kept.reference.unwrap();
    assert_eq!(
        said(&place, &["show", &format!("{reference}:file.txt")]),
        "two"
    );
    assert_eq!(
        said(&place, &["show", &format!("{reference}:staged.txt")]),
        "new"
    );
    assert_eq!(said(&place, &["rev-parse", "HEAD"]).trim(), kept.head);
}

#[test]
fn where_nothing_is_changed_the_commit_is_noted() {
    let place = repository();
    commit(&place, "one");
    place.write("untracked.txt", "");
    let kept = keep(&place);
    assert_eq!(kept.reference, None);
    assert_eq!(said(&place, &["rev-parse", "HEAD"]).trim(), kept.head);
}

#[test]
fn without_a_repository_or_a_commit_nothing_is_kept() {
    assert_eq!(try_keep(&Place::new()), Err(NoSnapshot::NoRepository));
    assert_eq!(try_keep(&repository()), Err(NoSnapshot::NoRepository));
    let gone = Place::new().path().join("gone");
    assert!(matches!(
        keep_code(&gone, &gone),
        Err(NoSnapshot::Failed(_))
    ));
}

#[test]
fn it_is_kept_while_another_git_holds_the_index_and_from_below() {
    let place = repository();
    commit(&place, "one");
    place.write("file.txt", "two");
    place.write(".git/index.lock", "");
    place.write("src/deep/x", "");
    let kept = keep_code(&place.path().join("src/deep"), place.agent_dir.path()).unwrap();
    assert!(kept.reference.is_some());
}

#[test]
fn hooks_of_the_repository_are_not_run() {
    let place = repository();
    commit(&place, "one");
    for hook in [
        "reference-transaction",
        "post-index-change",
        "post-checkout",
    ] {
        let mark = place.path().join("mark");
        place.script(
            &format!(".git/hooks/{hook}"),
            &format!("#!/bin/sh\ntouch {}\n", mark.display()),
        );
    }
    place.write("file.txt", "two");
    let kept = keep(&place);
    place.write("file.txt", "three");
    assert_eq!(told(&restore(&kept, &place)), (Came::Restored, true, false));
    assert!(!place.path().join("mark").exists());
}

#[test]
fn what_conflicts_already_cannot_be_kept_and_says_why() {
    let place = repository();
    commit(&place, "one");
    git(&place, &["checkout", "--quiet", "-b", "other"]);
    commit(&place, "two");
    git(&place, &["checkout", "--quiet", "-"]);
    commit(&place, "three");
    let mut merge = Command::new("git");
    assert!(
        !merge
            .current_dir(place.path())
            .args(["merge", "other"])
            .output()
            .unwrap()
            .status
            .success()
    );
    assert!(matches!(try_keep(&place), Err(NoSnapshot::Failed(_))));
}

#[test]
fn changed_code_comes_back_and_what_was_changed_since_is_in_the_stash() {
    let place = repository();
    commit(&place, "one");
    place.write("file.txt", "two");
    let kept = keep(&place);
    place.write("file.txt", "three");
    place.write("untracked.txt", "stays");
    assert_eq!(told(&restore(&kept, &place)), (Came::Restored, true, false));
    assert_eq!(text(&place, "file.txt"), "two");
    assert_eq!(text(&place, "untracked.txt"), "stays");
    assert!(said(&place, &["stash", "list"]).contains("before the code went back to a checkpoint"));
    assert_eq!(said(&place, &["show", "stash@{0}:file.txt"]), "three");
}

#[test]
fn unchanged_code_comes_back_as_well() {
    let place = repository();
    commit(&place, "one");
    let kept = keep(&place);
    place.write("file.txt", "two");
    assert_eq!(told(&restore(&kept, &place)), (Came::Restored, true, false));
    assert_eq!(text(&place, "file.txt"), "one");
    assert_eq!(
        told(&restore(&kept, &place)),
        (Came::Unchanged, false, false),
        "it is as it was"
    );
}

#[test]
fn what_is_changed_in_the_moment_of_a_commit_is_kept_as_well() {
    let place = repository();
    commit(&place, "one");
    git(&place, &["config", "core.trustctime", "false"]);
    let path = |name: &str| place.path().join(name);
    let moment = fs::metadata(path("file.txt")).unwrap().modified().unwrap();
    let happened_then = |name: &str| {
        let file = fs::File::options().write(true).open(path(name)).unwrap();
        file.set_modified(moment).unwrap();
    };
    place.write("file.txt", "two");
    happened_then("file.txt");
    happened_then(".git/index");
    let kept = keep(&place);
    git(&place, &["checkout", "--quiet", "."]);
    assert_eq!(text(&place, "file.txt"), "one");
    assert_eq!(
        told(&restore(&kept, &place)),
        (Came::Restored, false, false)
    );
    assert_eq!(text(&place, "file.txt"), "two");
}

#[test]
fn commits_made_since_stay_and_are_told_of() {
    let place = repository();
    commit(&place, "one");
    place.write("other.txt", "other");
    git(&place, &["add", "other.txt"]);
    let kept = keep(&place);
    git(&place, &["stash", "--quiet"]);
    commit(&place, "two");
    assert_eq!(told(&restore(&kept, &place)), (Came::Restored, false, true));
    assert_eq!(
        (text(&place, "file.txt"), text(&place, "other.txt")),
        ("two".to_owned(), "other".to_owned())
    );
}

#[test]
fn what_conflicts_with_commits_made_since_is_named() {
    let place = repository();
    commit(&place, "one");
    place.write("file.txt", "two");
    let kept = keep(&place);
    git(&place, &["checkout", "--quiet", "."]);
    commit(&place, "three");
    let came = restore(&kept, &place);
    assert_eq!(came.problem.as_deref(), Some("it conflicts in file.txt"));
    assert!(came.has_commits_since);
}

#[test]
fn what_git_does_not_know_in_the_way_is_not_overwritten() {
    let place = repository();
    commit(&place, "one");
    place.write("new.txt", "kept");
    git(&place, &["add", "new.txt"]);
    let kept = keep(&place);
    git(&place, &["rm", "--quiet", "--cached", "new.txt"]);
    place.write("new.txt", "mine");
    let came = restore(&kept, &place);
    assert!(came.problem.is_some());
    assert_eq!(text(&place, "new.txt"), "mine");
}

#[test]
fn a_checkpoint_that_is_gone_or_is_none_changes_nothing() {
    let place = repository();
    commit(&place, "one");
    place.write("file.txt", "two");
    for (reference, why) in [
        ("0123456789012345678901234567890123456789", "any more"),
        ("--index", "damaged"),
        ("HEAD", "damaged"),
    ] {
        let snapshot = Snapshot {
            reference: Some(reference.to_owned()),
            head: said(&place, &["rev-parse", "HEAD"]).trim().to_owned(),
        };
        let came = restore(&snapshot, &place);
        assert!(came.problem.unwrap().contains(why));
        assert_eq!(came.stashed, None);
        assert_eq!(text(&place, "file.txt"), "two");
    }
}

#[test]
fn where_nothing_can_be_brought_back_that_is_told() {
    let place = repository();
    commit(&place, "one");
    let kept = keep(&place);
    commit(&place, "two");
    assert_eq!(
        told(&restore(&kept, &place)),
        (Came::NothingToRestore, false, true)
    );
    assert_eq!(text(&place, "file.txt"), "two");
}

#[test]
fn what_was_changed_since_is_in_the_stash_before_a_file_is_touched() {
    let place = repository();
    commit(&place, "one");
    let kept = keep(&place);
    place.write("file.txt", "two");
    place.write("new.txt", "new");
    git(&place, &["add", "new.txt"]);
    // Another git is at work: nothing is touched.
    place.write(".git/index.lock", "");
    assert!(restore(&kept, &place).problem.is_some());
    assert_eq!(
        (text(&place, "file.txt"), text(&place, "new.txt")),
        ("two".to_owned(), "new".to_owned())
    );
    fs::remove_file(place.path().join(".git/index.lock")).unwrap();
    // Git fails in the middle of it.
    place.write(".git/HEAD.lock", "");
    let came = restore(&kept, &place);
    assert!(came.problem.is_some());
    let aside = came.stashed.unwrap();
    assert_eq!(said(&place, &["rev-parse", "stash@{0}"]).trim(), aside);
    assert_eq!(said(&place, &["show", &format!("{aside}:new.txt")]), "new");
}

#[test]
fn what_a_repository_brings_along_is_run_only_if_the_user_trusts_it() {
    let place = repository();
    place.write(".gitattributes", "*.txt filter=evil merge=evil\n");
    commit(&place, "one");
    let ran = place.path().join(".git/ran");
    let hostile = format!("touch '{}'; cat", ran.display());
    place.write("file.txt", "two");
    let kept = keep(&place);
    place.write("file.txt", "three");
    for (key, only_restoring) in [
        ("filter.evil.clean", false),
        ("filter.evil.smudge", false),
        ("filter.evil.process", false),
        ("merge.evil.driver", true),
    ] {
        git(&place, &["config", key, &hostile]);
        assert_eq!(try_keep(&place).is_ok(), only_restoring, "{key}");
        let problem = restore(&kept, &place).problem.unwrap();
        assert!(problem.contains(key), "{problem}");
        assert!(problem.contains("`workflow-sidecar trust`"), "{problem}");
        git(&place, &["config", "--unset", key]);
    }
    // In a file that the configuration includes it is the repository's as well.
    place.write(
        ".git/more",
        &format!("[filter \"evil\"]\n\tclean = \"{hostile}\"\n"),
    );
    git(&place, &["config", "include.path", "more"]);
    assert!(try_keep(&place).is_err());
    assert!(!ran.exists());
    assert_eq!(text(&place, "file.txt"), "three");
    // The trap is one, and the user may say that it is none.
    let store = TrustStore::in_agent_dir(place.agent_dir.path());
    for driver in drivers(place.path()).unwrap() {
        store.trust(place.path(), &hash_of([&driver])).unwrap();
    }
    assert!(try_keep(&place).is_ok());
    assert!(ran.exists());
}

#[test]
fn files_elsewhere_are_not_brought_back() {
    let place = repository();
    commit(&place, "one");
    let kept = keep(&place);
    let elsewhere = Place::new();
    elsewhere.write("file.txt", "mine");
    let path = elsewhere.path().display().to_string();
    git(&place, &["config", "core.worktree", &path]);
    let problem = restore(&kept, &place).problem.unwrap();
    assert!(problem.contains("core.worktree"), "{problem}");
    assert_eq!(text(&elsewhere, "file.txt"), "mine");
}

#[test]
fn the_code_is_kept_and_comes_back_without_a_look_into_submodules() {
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
        let (place, ran) = with_hostile_submodule();
        if !arguments.is_empty() {
            git(&place, arguments);
        }
        place.write("file.txt", "two");
        place.write("src/deep/x", "");
        let kept = keep_code(&place.path().join("src/deep"), place.agent_dir.path()).unwrap();
        assert!(kept.reference.is_some());
        place.write("file.txt", "three");
        assert_eq!(told(&restore(&kept, &place)), (Came::Restored, true, false));
        assert_eq!(text(&place, "file.txt"), "two");
        assert!(!ran.exists(), "{arguments:?}");
    }
}

#[test]
fn conflicts_are_named_without_a_look_into_submodules() {
    let (place, ran) = with_hostile_submodule();
    git(&place, &["config", "submodule.sub.ignore", "none"]);
    place.write("file.txt", "two");
    let kept = keep(&place);
    git(
        &place,
        &["commit", "--quiet", "--all", "--message", "three"],
    );
    place.write("file.txt", "three");
    git(&place, &["add", "file.txt"]);
    git(&place, &["commit", "--quiet", "--message", "three"]);
    fs::remove_file(&ran).unwrap();
    place.write("sub/file.txt", "six");
    let problem = restore(&kept, &place).problem.unwrap();
    assert!(problem.contains("file.txt"), "{problem}");
    assert!(!ran.exists());
}

#[test]
fn a_submodule_that_is_elsewhere_stays_there() {
    let (place, _) = with_hostile_submodule();
    let inside = place.path().join("sub");
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
    let kept = keep(&place);
    assert_eq!(kept.reference, None, "what a submodule is at is not kept");
    assert_eq!(
        told(&restore(&kept, &place)),
        (Came::Unchanged, false, false)
    );
}
