//! Hooks that the configuration names, which git runs since version 2.54, whatever `core.hooksPath` says.
//!
//! They are switched off one by one, because git has no setting for all of them. The settings are passed in variables: an
//! option `-c` would end the name of a hook at its first `=`.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use super::execution::GitLimits;
use crate::platform::process::{CheckError, Failure, Monitor};

/// Returns the variables that switch off every hook of any configuration file that git reads in a directory.
pub(super) fn switched_off(
    time: Duration,
    cwd: &Path,
    monitor: &mut Monitor<'_>,
) -> Result<Vec<(String, String)>, Failure> {
    let list = [
        "config",
        "--null",
        "--name-only",
        "--get-regexp",
        r"^hook\.",
    ];
    // `git config` runs no hook itself.
    let output = GitLimits::usual(time).run(&list, &[], cwd, monitor)?;
    if output.is_cut {
        let reason = "the configuration of the repository names too many hooks";
        return Err((CheckError::TooMuchOutput, reason.to_owned()));
    }
    // 1: there are none.
    match output.code {
        0 => Ok(variables(&output.text)),
        1 => Ok(Vec::new()),
        _ => Err(output.failure()),
    }
}

fn variables(keys: &str) -> Vec<(String, String)> {
    let names: BTreeSet<&str> = keys.split_terminator('\0').filter_map(name_of).collect();
    let settings = names.iter().enumerate().flat_map(|(index, name)| {
        [
            (
                format!("GIT_CONFIG_KEY_{index}"),
                format!("hook.{name}.enabled"),
            ),
            (format!("GIT_CONFIG_VALUE_{index}"), "false".to_owned()),
        ]
    });
    let count = ("GIT_CONFIG_COUNT".to_owned(), names.len().to_string());
    std::iter::once(count).chain(settings).collect()
}

/// Returns the name of a hook in the key of a setting; `None` for a setting of all hooks.
fn name_of(key: &str) -> Option<&str> {
    let (name, _) = key.strip_prefix("hook.")?.rsplit_once('.')?;
    Some(name)
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;
    use std::sync::atomic::AtomicBool;

    use super::super::command::git;
    use super::*;

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
}
