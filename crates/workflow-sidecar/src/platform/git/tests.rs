//! Tests of the hooks of a configuration: git runs none of them.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::command::git;
use super::configured_hooks::switched_off;
use crate::platform::process::Monitor;

fn run(cwd: &Path, arguments: &[&str], environment: &[(String, String)]) -> String {
    let mut git = Command::new("git");
    git.current_dir(cwd).args(arguments);
    git.envs(environment.iter().map(|(name, value)| (name, value)));
    let output = git.env("GIT_CONFIG_GLOBAL", "/dev/null").output();
    let output = output.expect("git runs");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn off(cwd: &Path) -> Vec<(String, String)> {
    let cancelled = AtomicBool::new(false);
    let mut groups = |_| ();
    let monitor = &mut Monitor::new(&cancelled, &mut groups);
    switched_off(Duration::from_secs(20), cwd, monitor).expect("git answers")
}

#[test]
fn every_hook_of_the_configuration_is_switched_off() {
    let repository = tempfile::tempdir().unwrap();
    let cwd = repository.path();
    run(cwd, &["init", "--quiet"], &[]);
    assert_eq!(off(cwd), []);
    let names = ["x", "a.b", "a=b", "With Capitals", "included"];
    for name in &names[..4] {
        run(cwd, &["config", &format!("hook.{name}.command"), "c"], &[]);
        run(
            cwd,
            &["config", &format!("hook.{name}.enabled"), "true"],
            &[],
        );
    }
    std::fs::write(cwd.join(".git/more"), "[hook \"included\"]\nevent = e\n").unwrap();
    run(cwd, &["config", "include.path", "more"], &[]);
    run(cwd, &["config", "hook.jobs", "2"], &[]);
    let off = off(cwd);
    assert_eq!(off[0].1, "5");
    for name in names {
        let read = ["config", "--get", &format!("hook.{name}.enabled")];
        assert_eq!(run(cwd, &read, &off), "false", "{name}");
    }
}

#[test]
fn a_hook_of_the_configuration_does_not_run() {
    let repository = tempfile::tempdir().unwrap();
    let cwd = repository.path();
    run(cwd, &["init", "--quiet"], &[]);
    std::fs::write(cwd.join("a"), "1").unwrap();
    run(cwd, &["add", "a"], &[]);
    let ran = cwd.join(".git/ran");
    let hostile = format!("touch '{}'", ran.display());
    for event in ["post-index-change", "reference-transaction"] {
        run(cwd, &["config", "--add", "hook.x.event", event], &[]);
    }
    run(cwd, &["config", "hook.x.command", &hostile], &[]);
    let cancelled = AtomicBool::new(false);
    let mut groups = |_| ();
    let monitor = &mut Monitor::new(&cancelled, &mut groups);
    let mark = ["update-index", "--assume-unchanged", "a"];
    let output = git(Duration::from_secs(20), &mark, cwd, monitor).unwrap();
    assert_eq!(output.code, 0);
    assert!(!ran.exists());
    run(cwd, &["update-index", "--no-assume-unchanged", "a"], &[]);
    // Proves the setup, where git has such hooks.
    let version = run(cwd, &["version"], &[]);
    let mut numbers = version
        .split(['.', ' '])
        .filter_map(|part| part.parse().ok());
    let version: (u32, u32) = (numbers.next().unwrap(), numbers.next().unwrap());
    assert_eq!(ran.exists(), version >= (2, 54), "{version:?}");
}
