//! Programs that a repository's configuration makes git run.
//!
//! Git runs a filter whenever it compares a file, and a merge driver when it applies changes. Programs in the user's
//! configuration (such as Git LFS) belong to the user. But a repository that was unpacked or copied has its own
//! configuration: its programs need the user's trust, like the commands of gates.
//!
//! Owns the list of settings that count as such a program, and the check of the user's trust in them.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use workflow_core::definition::{ExpectedExit, OutputStream, RunCheck};

use super::{git, one_line};
use crate::platform::process::{CheckError, Failure, Monitor};
use crate::platform::trust_store::{Trust, TrustStore, hash_of};

/// An operation of git, which determines the programs that it may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GitOperation {
    /// Compares files.
    Compare,
    /// Restores files.
    Restore,
}

/// Finds the programs that the repository of a directory makes git run, each as a command: the name of the setting and
/// its value.
///
/// Fails if git cannot read its configuration.
pub(crate) fn config_commands(cwd: &Path) -> Result<Vec<RunCheck>, String> {
    let cancelled = AtomicBool::new(false);
    let mut ignore_groups = |_| {};
    let monitor = &mut Monitor::new(&cancelled, &mut ignore_groups);
    let settings = settings_that_run(GitOperation::Restore, cwd, TIME, monitor);
    let settings = settings.map_err(|(_, reason)| reason)?;
    Ok(settings.iter().map(ConfigCommand::to_check).collect())
}

/// Time for git to read its configuration.
const TIME: Duration = Duration::from_secs(10);

/// Checks that every program of an operation belongs to the user or is trusted by the user.
///
/// `agent_dir` is the directory of the trust store; without it nothing is trusted.
pub(crate) fn check_allowed(
    operation: GitOperation,
    cwd: &Path,
    agent_dir: Option<&Path>,
    time: Duration,
    monitor: &mut Monitor<'_>,
) -> Result<(), Failure> {
    let store = agent_dir.map(TrustStore::in_agent_dir);
    let is_trusted = |setting: &ConfigCommand| {
        let Some(store) = &store else { return false };
        match store.look_up(cwd, &hash_of([&setting.to_check()])) {
            Ok(trust) => trust == Trust::Trusted,
            Err(error) => {
                tracing::warn!("{error}");
                false
            }
        }
    };
    let settings = settings_that_run(operation, cwd, time.min(TIME), monitor)?;
    let Some(untrusted) = settings.iter().find(|setting| !is_trusted(setting)) else {
        return Ok(());
    };
    let key = one_line(&untrusted.key);
    let help = if agent_dir.is_some() {
        "`workflow-sidecar trust` shows and allows it"
    } else {
        "the user does not trust the project in this host"
    };
    let reason = format!(
        "git would do what the repository's own configuration says in `{key}`, which is not trusted: {help}"
    );
    Err((CheckError::NotTrusted, reason))
}

/// A setting that makes git run a program, or work in another directory.
#[derive(Debug, PartialEq, Eq)]
struct ConfigCommand {
    key: String,
    value: String,
}

impl ConfigCommand {
    fn to_check(&self) -> RunCheck {
        RunCheck {
            command: vec![self.key.clone(), self.value.clone()],
            shell: false,
            timeout: 1,
            exit: ExpectedExit::Code(0),
            stdout: None,
            stream: OutputStream::default(),
            cwd: None,
            env: Vec::new(),
        }
    }
}

fn settings_that_run(
    operation: GitOperation,
    cwd: &Path,
    time: Duration,
    monitor: &mut Monitor<'_>,
) -> Result<Vec<ConfigCommand>, Failure> {
    let list = ["config", "--list", "--show-scope", "--includes", "-z"];
    let output = git(time, &list, cwd, monitor)?;
    if output.code != 0 {
        return Err(output.failure());
    }
    if output.is_cut {
        let reason = "the configuration of the repository is too long to be looked at";
        return Err((CheckError::TooMuchOutput, reason.to_owned()));
    }
    Ok(repository_settings(&output.text)
        .filter(|setting| is_run(operation, setting))
        .collect())
}

/// Parses the settings of the repository: a scope, then a name and a value on the next line.
fn repository_settings(listed: &str) -> impl Iterator<Item = ConfigCommand> {
    let mut parts = listed.split_terminator('\0');
    std::iter::from_fn(move || Some((parts.next()?, parts.next()?)))
        .filter(|(scope, _)| !matches!(*scope, "system" | "global" | "command"))
        .map(|(_, setting)| {
            let (key, value) = setting.split_once('\n').unwrap_or((setting, ""));
            ConfigCommand {
                key: key.to_owned(),
                value: value.to_owned(),
            }
        })
}

/// Returns `true` if git runs the setting in an operation. Git writes the first and the last part of a name in lower case.
fn is_run(operation: GitOperation, setting: &ConfigCommand) -> bool {
    // A name without a section is not one of these.
    let (section, rest) = setting.key.split_once('.').unwrap_or_default();
    let last = rest.rsplit('.').next().unwrap_or_default();
    let restores = operation == GitOperation::Restore;
    let is_program = match section {
        "filter" => matches!(last, "clean" | "smudge" | "process"),
        "merge" => restores && rest.contains('.') && last == "driver",
        // Not a program, but it determines which files are overwritten.
        "core" => restores && rest == "worktree",
        _ => false,
    };
    is_program && !setting.value.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(operation: GitOperation, listed: &str) -> Vec<String> {
        repository_settings(listed)
            .filter(|setting| is_run(operation, setting))
            .map(|setting| setting.key)
            .collect()
    }

    #[test]
    fn only_programs_of_the_repository_configuration_count() {
        let listed = "global\0filter.lfs.clean\ngit-lfs clean\0local\0filter.a.b.clean\na\nb\0worktree\0filter.x.process\np\0local\0filter.x.required\ntrue\0local\0merge.ours.driver\ntrue\0local\0merge.ff\nonly\0local\0core.worktree\n/home\0local\0filter.off.smudge\n\0local\0core.bare\0";
        assert_eq!(
            keys(GitOperation::Compare, listed),
            ["filter.a.b.clean", "filter.x.process"]
        );
        assert_eq!(
            keys(GitOperation::Restore, listed),
            [
                "filter.a.b.clean",
                "filter.x.process",
                "merge.ours.driver",
                "core.worktree"
            ]
        );
    }
}
