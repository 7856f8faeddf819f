//! Checks of repositories in which something hides a change.

use super::repositories::{commit, repository};
use super::*;
use crate::platform::answers::trust_store::{TrustStore, hash_of};
use crate::platform::git::config_commands;

const CLEAN: Check = Check::Git(GitCheck::Clean);
const NEW_COMMIT: Check = Check::Git(GitCheck::NewCommit);

/// Enters a phase in a clean repository, and returns the report on it after these shell lines.
fn after(line: &str) -> Report {
    let mut project = repository();
    commit(&project, "one");
    project.enter(CLEAN);
    assert_eq!(project.check(CLEAN).verdict, PASSED);
    sh(&project, line);
    project.check(CLEAN)
}

fn sh(project: &TestProject, line: &str) {
    let mut sh = Command::new("sh");
    sh.args(["-euc", line]).current_dir(project.path());
    for who in ["AUTHOR", "COMMITTER"] {
        sh.env(format!("GIT_{who}_NAME"), "Somebody");
        sh.env(format!("GIT_{who}_EMAIL"), "somebody@example.com");
    }
    let output = sh.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{line}: {output:?}");
}

/// Asserts that the check fails and shows this change, although `git status` lists nothing.
fn assert_seen(line: &str, change: &str) {
    let report = after(line);
    assert_eq!(report.verdict, FAILED, "{line}: {report:?}");
    let mut shown = report.tail.lines();
    assert!(shown.any(|shown| shown == change), "{line}: {report:?}");
    assert!(
        report.reason.contains("hidden from `git status`"),
        "{report:?}"
    );
}

#[test]
fn a_mark_in_the_index_hides_no_change() {
    assert_seen(
        "git update-index --assume-unchanged file.txt; echo x > file.txt",
        " M file.txt",
    );
    assert_seen(
        "git update-index --skip-worktree file.txt; echo x > file.txt",
        " M file.txt",
    );
    assert_seen(
        "git update-index --skip-worktree file.txt; rm file.txt",
        " D file.txt",
    );
}

#[test]
fn checking_out_a_part_of_the_files_after_the_phase_was_entered_hides_no_deletion() {
    assert_seen(
        "git sparse-checkout set --no-cone /nothing; test ! -e file.txt",
        " D file.txt",
    );
}

#[test]
fn a_repository_of_which_a_part_is_checked_out_is_clean() {
    let mut project = repository();
    project.write("far/away.txt", "");
    commit(&project, "one");
    sh(&project, "git sparse-checkout set --cone near");
    assert!(!project.path().join("far").exists());
    project.enter(CLEAN);
    assert_eq!(project.check(CLEAN).verdict, PASSED);
    project.write("file.txt", "two");
    assert_eq!(project.check(CLEAN).verdict, FAILED);
}

#[test]
fn recorded_times_hide_no_change() {
    // git compares the seconds of the times: all of this happens in one second.
    let project = |line: &str| {
        let at_once = "python3 -c 'import time; time.sleep(1 - time.time() % 1)'";
        let line = format!(
            "{at_once}; touch -d '2001-01-01' file.txt; git update-index --refresh; {line}"
        );
        assert_seen(&line, " M file.txt");
    };
    project(
        "git config core.checkStat minimal; git config core.trustctime false; git update-index --refresh; printf two > file.txt; touch -d '2001-01-01' file.txt; \
         test -z \"$(git status --porcelain)\"",
    );
    // An index that says of the changed file that it is the committed one.
    project(
        "printf two > file.txt; touch -d '2001-01-01' file.txt; before=$(git rev-parse HEAD:file.txt); git add file.txt; \
         now=$(git rev-parse :file.txt | sed 's/../\\\\x&/g'); before=$(echo $before | sed 's/../\\\\x&/g'); \
         python3 -c \"import hashlib;p='.git/index';d=open(p,'rb').read()[:-20].replace(b'$now',b'$before');open(p,'wb').write(d+hashlib.sha1(d).digest())\"; \
         test -z \"$(git status --porcelain)\"",
    );
}

#[test]
fn settings_of_the_repository_hide_no_change() {
    assert_seen(
        "git config core.fileMode false; chmod +x file.txt",
        " M file.txt",
    );
    assert_seen(
        "git config core.ignoreCase true; echo x > FILE.TXT",
        "?? FILE.TXT",
    );
    let mut project = repository();
    std::os::unix::fs::symlink("target", project.path().join("link")).unwrap();
    commit(&project, "one");
    project.enter(CLEAN);
    sh(
        &project,
        "git config core.symlinks false; rm link; printf target > link",
    );
    let report = project.check(CLEAN);
    assert_eq!((report.verdict, &*report.tail), (FAILED, " T link"));
}

#[test]
fn a_list_of_ignored_files_that_is_not_committed_hides_no_file() {
    assert_seen("echo '*' >> .git/info/exclude; touch new.txt", "?? new.txt");
    assert_seen(
        "echo '*' > .git/list; git config core.excludesFile .git/list; touch new.txt",
        "?? new.txt",
    );
    assert_seen(
        "echo '[core]\nexcludesFile = .git/list' > .git/more; echo '*' > .git/list; git config include.path more; touch new.txt",
        "?? new.txt",
    );
    assert_seen("echo '*' > .gitignore; touch new.txt", "?? .gitignore");
    assert_seen(
        "mkdir sub; touch sub/a; git add sub; git commit -qm a; printf '/.gitignore\\n/new.txt\\n' > sub/.gitignore; touch sub/new.txt",
        "?? sub/.gitignore",
    );
}

#[test]
fn attributes_that_are_not_committed_hide_no_change() {
    let report = after(
        "printf 'a\nb\n' > file.txt; git commit -qam two; echo '* text' > .git/info/attributes; \
         printf 'a\r\nb\r\n' > file.txt; git add file.txt; test -z \"$(git status --porcelain)\"",
    );
    assert_eq!((report.verdict, &*report.tail), (FAILED, " M file.txt"));
}

#[test]
fn the_form_in_which_the_repository_stores_files_is_no_change() {
    let mut project = repository();
    sh(
        &project,
        "git config core.autocrlf true; printf 'a\r\nb\r\n' > crlf.txt",
    );
    commit(&project, "one");
    project.enter(CLEAN);
    let report = project.check(CLEAN);
    assert_eq!(report.verdict, PASSED, "{report:?}");
    for format in ["--object-format=sha256", "--ref-format=reftable"] {
        sh(
            &project,
            &format!(
                "rm -rf .git; git init -q {format} || git init -q; git add .; git commit -qm one"
            ),
        );
        project.enter(CLEAN);
        assert_eq!(project.check(CLEAN).verdict, PASSED, "{format}");
    }
}

#[test]
fn replaced_objects_hide_no_change() {
    let hidden = "echo x > file.txt; git add file.txt; \
         git replace HEAD $(git commit-tree $(git write-tree) -m one); test -z \"$(git status --porcelain)\"";
    assert_eq!(after(hidden).verdict, FAILED);
}

#[test]
fn another_work_tree_is_not_checked_instead() {
    let elsewhere = tempfile::tempdir().unwrap();
    let path = elsewhere.path().display();
    let line = format!("cp file.txt {path}; git config core.worktree {path}; echo x > file.txt");
    let report = after(&line);
    assert_eq!((report.verdict, &*report.tail), (FAILED, " M file.txt"));
}

#[test]
fn a_new_repository_at_the_path_of_the_old_one_is_not_checked() {
    let made_anew = "rm -rf .git; git init -q; echo x > file.txt; git add .; git commit -qm two";
    for wanted in [CLEAN, NEW_COMMIT] {
        let mut project = repository();
        commit(&project, "one");
        project.enter(wanted.clone());
        sh(&project, made_anew);
        let report = project.check(wanted);
        assert_eq!(report.verdict, could_not_run(CheckError::NoBaseline));
        assert!(
            report.reason.contains("not the repository of when"),
            "{report:?}"
        );
    }
}

#[test]
fn a_repository_inside_of_the_old_one_is_not_checked_instead() {
    let mut outer = repository();
    commit(&outer, "one");
    let inner = tempfile::TempDir::new_in(outer.path()).unwrap();
    outer.baseline = Baseline::take(&[gate(CLEAN)], inner.path());
    let objects = outer.path().join(".git/objects");
    let _outer = std::mem::replace(&mut outer.directory, inner);
    sh(&outer, "git init -q; git commit -q --allow-empty -m x");
    outer.write(
        ".git/objects/info/alternates",
        &format!("{}\n", objects.display()),
    );
    let report = outer.check(CLEAN);
    assert_eq!(report.verdict, could_not_run(CheckError::NoBaseline));
}

#[test]
fn a_commit_of_another_branch_is_not_new() {
    let mut project = repository();
    commit(&project, "one");
    sh(&project, "git checkout -q -b other");
    commit(&project, "two");
    sh(&project, "git checkout -q -");
    project.enter(NEW_COMMIT);
    sh(&project, "git checkout -q other");
    assert_eq!(project.check(NEW_COMMIT).verdict, FAILED);
    commit(&project, "three");
    assert_eq!(project.check(NEW_COMMIT).verdict, PASSED);
}

#[test]
fn what_hides_changes_counts_once_the_user_trusts_it() {
    let mut project = repository();
    commit(&project, "one");
    project.write(".git/info/exclude", "# notes\nnotes.md\n");
    project.write("notes.md", "");
    sh(
        &project,
        "git config core.fileMode false; chmod +x file.txt",
    );
    project.enter(CLEAN);
    let report = project.check(CLEAN);
    assert_eq!(report.tail, " M file.txt\n?? notes.md");
    let store = TrustStore::in_agent_dir(project.agent_dir.path()).unwrap();
    let commands = config_commands(project.path()).unwrap();
    assert_eq!(commands.len(), 2, "{commands:?}");
    for command in commands {
        store.trust(project.path(), &hash_of([&command])).unwrap();
    }
    assert_eq!(project.check(CLEAN).verdict, PASSED);
    project.write(".git/info/exclude", "notes.md\nother.md\n");
    assert_eq!(project.check(CLEAN).verdict, FAILED, "another list");
}

#[test]
fn ordinary_repositories_are_clean() {
    let mut project = repository();
    project.write(".gitignore", "target\n*.log\n");
    project.write("src/a.txt", "a");
    project.write("run.sh", "#!/bin/sh\n");
    sh(
        &project,
        "chmod +x run.sh; ln -s src link; printf 'a\\r\\n' > crlf.txt",
    );
    commit(&project, "one");
    project.enter(CLEAN);
    project.write("target/debug/x", "");
    project.write("x.log", "");
    // A cache that ignores itself, as those of Python's tools do.
    project.write(".venv/.gitignore", "*\n");
    project.write(".venv/bin/python", "");
    sh(
        &project,
        "touch -d '2001-01-01' src/a.txt; git config core.splitIndex true; git config core.untrackedCache true; git status",
    );
    sh(
        &project,
        "git branch x; git tag y; git stash list; git gc -q",
    );
    let report = project.check(CLEAN);
    assert_eq!(report.verdict, PASSED, "{report:?}");
    commit(&project, "two");
    sh(
        &project,
        "git worktree add -q .git/other; git submodule init",
    );
    assert_eq!(project.check(CLEAN).verdict, PASSED);
}
