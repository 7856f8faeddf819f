//! Tests of the hooks of a configuration: git runs none of them.

use std::path::Path;
use std::process::Command;

use super::config_commands::{Configuration, GitOperation};
use super::execution::Git;
use super::private_directory::PrivateDirectory;
use crate::platform::process::Monitor;

fn run(cwd: &Path, arguments: &[&str], environment: &[(String, String)]) -> String {
    let mut git = Command::new("git");
    git.current_dir(cwd).args(arguments);
    git.envs(environment.iter().map(|(name, value)| (name, value)));
    let output = git.env("GIT_CONFIG_GLOBAL", "/dev/null").output();
    let output = output.expect("git runs");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
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
    let git = Git::new(cwd, Monitor::idle());
    let configuration = Configuration::read(git).unwrap();
    let directory = PrivateDirectory::make(&configuration, GitOperation::Compare, &[]).unwrap();
    let mark = ["update-index", "--assume-unchanged", "a"];
    let output = directory.git(git).run(&mark).unwrap();
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
