//! The code is kept without a trace, and comes back.

use workflow_core::checkpoint::{NoSnapshot, Restored, Snapshot};

use super::super::{keep_code, restore_code};
use super::repositories::{commit, git, repository};
use super::*;

fn keep(place: &Place) -> Snapshot {
    keep_code(place.path()).unwrap()
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

fn restored(put_aside: bool, has_commits_since: bool) -> Restored {
    Restored {
        put_aside,
        has_commits_since,
        problem: None,
    }
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
    assert_eq!(
        keep_code(Place::new().path()),
        Err(NoSnapshot::NoRepository)
    );
    assert_eq!(
        keep_code(repository().path()),
        Err(NoSnapshot::NoRepository)
    );
    let gone = Place::new().path().join("gone");
    assert!(matches!(keep_code(&gone), Err(NoSnapshot::Failed(_))));
}

#[test]
fn it_is_kept_while_another_git_holds_the_index_and_from_below() {
    let place = repository();
    commit(&place, "one");
    place.write("file.txt", "two");
    place.write(".git/index.lock", "");
    place.write("src/deep/x", "");
    let kept = keep_code(&place.path().join("src/deep")).unwrap();
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
    assert_eq!(restore_code(&kept, place.path()), restored(true, false));
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
    assert!(matches!(
        keep_code(place.path()),
        Err(NoSnapshot::Failed(_))
    ));
}

#[test]
fn changed_code_comes_back_and_what_was_changed_since_is_in_the_stash() {
    let place = repository();
    commit(&place, "one");
    place.write("file.txt", "two");
    let kept = keep(&place);
    place.write("file.txt", "three");
    place.write("untracked.txt", "stays");
    assert_eq!(restore_code(&kept, place.path()), restored(true, false));
    assert_eq!(text(&place, "file.txt"), "two");
    assert_eq!(text(&place, "untracked.txt"), "stays");
    assert!(said(&place, &["stash", "list"]).contains("before the code went back"));
    assert_eq!(said(&place, &["show", "stash@{0}:file.txt"]), "three");
}

#[test]
fn unchanged_code_comes_back_as_well() {
    let place = repository();
    commit(&place, "one");
    let kept = keep(&place);
    place.write("file.txt", "two");
    assert_eq!(restore_code(&kept, place.path()), restored(true, false));
    assert_eq!(text(&place, "file.txt"), "one");
    assert_eq!(
        restore_code(&kept, place.path()),
        restored(false, false),
        "it is as it was"
    );
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
    assert_eq!(restore_code(&kept, place.path()), restored(false, true));
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
    let came = restore_code(&kept, place.path());
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
    let came = restore_code(&kept, place.path());
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
        let came = restore_code(&snapshot, place.path());
        assert!(came.problem.unwrap().contains(why));
        assert!(!came.put_aside);
        assert_eq!(text(&place, "file.txt"), "two");
    }
}
