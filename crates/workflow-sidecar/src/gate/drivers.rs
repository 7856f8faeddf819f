//! Which programs a repository's own configuration has git run on files.
//!
//! Git runs a filter by itself whenever it compares a file, and a merge driver when it brings changes back. What the
//! user's own configuration names (as Git LFS does) is the user's. But a repository that was unpacked or copied brings
//! a configuration of its own along: its programs need the user's trust, as the commands at gates do.
//!
//! Owns what counts as such a program, and where the user's trust in one is looked up.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use workflow_core::definition::{ExpectedExit, RunCheck};

use super::Obstacle;
use super::git::ask;
use super::output::one_line;
use super::watch::Watch;
use crate::trust::{Trust, TrustStore, hash_of};

/// What git is asked to do, and so what it may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Errand {
    /// Files are compared.
    Compare,
    /// Changes are brought back.
    Restore,
}

/// What the repository around a directory has git run, each as a command: the name of the setting, and what it says.
///
/// Fails where nobody can tell.
pub(crate) fn drivers(cwd: &Path) -> Result<Vec<RunCheck>, String> {
    let over = AtomicBool::new(false);
    let mut told = |_| {};
    let watch = &mut Watch::new(&over, &mut told);
    let named = configured(Errand::Restore, cwd, TIME, watch).map_err(|(_, reason)| reason)?;
    Ok(named.iter().map(Driver::as_command).collect())
}

/// How long git may take to read its configuration.
const TIME: Duration = Duration::from_secs(10);

/// Whether everything that git would run for this errand is the user's, or trusted by the user.
///
/// `agent_dir` is where the trust is kept; without it nothing is trusted.
pub(super) fn allowed(
    errand: Errand,
    cwd: &Path,
    agent_dir: Option<&Path>,
    time: Duration,
    watch: &mut Watch<'_>,
) -> Result<(), (Obstacle, String)> {
    let is_trusted = |driver: &Driver| {
        let hash = hash_of([&driver.as_command()]);
        let store = agent_dir.map(TrustStore::in_agent_dir);
        store.is_some_and(|store| {
            store
                .look_up(cwd, &hash)
                .is_ok_and(|trust| trust == Trust::Trusted)
        })
    };
    let named = configured(errand, cwd, time.min(TIME), watch)?;
    let Some(stranger) = named.iter().find(|driver| !is_trusted(driver)) else {
        return Ok(());
    };
    let key = one_line(&stranger.key);
    let cure = if agent_dir.is_some() {
        "`workflow-sidecar trust` shows and allows it"
    } else {
        "the user does not trust the project in this host"
    };
    let reason = format!(
        "git would do what the repository's own configuration says in `{key}`, which is not trusted: {cure}"
    );
    Err((Obstacle::NotTrusted, reason))
}

/// A setting that has git run something, or work elsewhere.
#[derive(Debug, PartialEq, Eq)]
struct Driver {
    key: String,
    value: String,
}

impl Driver {
    fn as_command(&self) -> RunCheck {
        RunCheck {
            command: vec![self.key.clone(), self.value.clone()],
            shell: false,
            timeout: 1,
            exit: ExpectedExit::Code(0),
            stdout: None,
        }
    }
}

fn configured(
    errand: Errand,
    cwd: &Path,
    time: Duration,
    watch: &mut Watch<'_>,
) -> Result<Vec<Driver>, (Obstacle, String)> {
    let list = ["config", "--list", "--show-scope", "--includes", "-z"];
    let said = ask(time, &list, cwd, watch)?;
    if said.code != 0 {
        return Err(said.refusal());
    }
    if said.is_cut {
        let reason = "the configuration of the repository is too long to be looked at";
        return Err((Obstacle::TooMuchOutput, reason.to_owned()));
    }
    Ok(read(&said.text)
        .filter(|driver| is_run(errand, driver))
        .collect())
}

/// The settings that come from the repository: a scope, then a name and a value on the next line.
fn read(listed: &str) -> impl Iterator<Item = Driver> {
    let mut parts = listed.split_terminator('\0');
    std::iter::from_fn(move || Some((parts.next()?, parts.next()?)))
        .filter(|(scope, _)| !matches!(*scope, "system" | "global" | "command"))
        .map(|(_, setting)| {
            let (key, value) = setting.split_once('\n').unwrap_or((setting, ""));
            Driver {
                key: key.to_owned(),
                value: value.to_owned(),
            }
        })
}

/// Whether git runs it for this errand. Git writes the first and the last part of a name in lower case.
fn is_run(errand: Errand, driver: &Driver) -> bool {
    let (section, rest) = driver.key.split_once('.').unwrap_or_default();
    let last = rest.rsplit('.').next().unwrap_or_default();
    let restores = errand == Errand::Restore;
    let is_program = match section {
        "filter" => matches!(last, "clean" | "smudge" | "process"),
        "merge" => restores && rest.contains('.') && last == "driver",
        // Not a program, but it says whose files are overwritten.
        "core" => restores && rest == "worktree",
        _ => false,
    };
    is_program && !driver.value.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(errand: Errand, listed: &str) -> Vec<String> {
        read(listed)
            .filter(|driver| is_run(errand, driver))
            .map(|driver| driver.key)
            .collect()
    }

    #[test]
    fn what_comes_from_the_repository_and_is_run_counts() {
        let listed = "global\0filter.lfs.clean\ngit-lfs clean\0local\0filter.a.b.clean\na\nb\0worktree\0filter.x.process\np\0local\0filter.x.required\ntrue\0local\0merge.ours.driver\ntrue\0local\0merge.ff\nonly\0local\0core.worktree\n/home\0local\0filter.off.smudge\n\0local\0core.bare\0";
        assert_eq!(
            keys(Errand::Compare, listed),
            ["filter.a.b.clean", "filter.x.process"]
        );
        assert_eq!(
            keys(Errand::Restore, listed),
            [
                "filter.a.b.clean",
                "filter.x.process",
                "merge.ours.driver",
                "core.worktree"
            ]
        );
    }
}
