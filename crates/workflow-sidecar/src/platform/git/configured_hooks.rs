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
