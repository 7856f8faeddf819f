//! The state of files and repository when a phase was entered.
//!
//! Owns the comparison of a file with its recorded state.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use workflow_core::definition::{Check, FileCheck, Gate};

use super::report::{Checked, NotPassed};
use crate::files::FileState;
use crate::platform::git::{Git, RepositoryState, record_files};
use crate::platform::process::{CheckError, one_line};

/// Time for recording: the host waits for it. A file that is not read by then counts as too long to be read.
const TIME: Duration = Duration::from_secs(2);

/// The state of files and repository when a phase was entered: the parts that its gate compares.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Baseline {
    /// The files that a check compares, by their path as written in the definition.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) files: BTreeMap<String, FileState>,
    /// The repository, if a check is about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) repository: Option<RepositoryState>,
}

impl Baseline {
    /// Records what the checks will compare with. Starts git if a check wants a new commit, and reads at most 16 MiB
    /// of each file. Takes at most two seconds, unless opening a file blocks.
    pub fn take(gates: &[Gate], cwd: &Path) -> Self {
        let end = Instant::now() + TIME;
        let mut baseline = Self::default();
        for gate in gates {
            if let Check::File(check) = &gate.check
                && check.changed.is_some()
            {
                // The check of an unreadable file reports that its state is unknown.
                let state = match check.glob() {
                    Some(glob) => FileState::of_all(cwd, &glob, Some(end)),
                    None => FileState::of(&cwd.join(&check.path), Some(end))
                        .unwrap_or(FileState::Unreadable),
                };
                baseline.files.insert(check.path.clone(), state);
            }
        }
        let mut checks = gates.iter().map(|gate| &gate.check);
        if checks.any(|check| matches!(check, Check::Git(_))) {
            let left = end.saturating_duration_since(Instant::now());
            baseline.repository = Some(RepositoryState::read(Git::within(left, cwd)));
        }
        baseline
    }
}

/// Records the files at the start of a run, or an item of a loop. Where that is not possible in time, the commit stands for them;
/// `None` if there is none.
pub(crate) fn start_files(cwd: &Path, agent_dir: &Path) -> Option<String> {
    let commit = || Git::within(TIME, cwd).head().ok().flatten();
    record_files(cwd, agent_dir).ok().or_else(commit)
}

/// Checks that a file exists, and that it has changed or not, as expected.
pub(super) fn check_file(check: &FileCheck, baseline: &Baseline, cwd: &Path) -> Checked {
    let name = one_line(&check.path);
    let before = baseline.files.get(&check.path);
    let now = match check.glob() {
        Some(glob) => Ok(FileState::of_all(cwd, &glob, None)),
        None => FileState::comparable_with(before, &cwd.join(&check.path)),
    };
    let now =
        now.map_err(|error| (CheckError::Start, format!("{name} cannot be read: {error}")))?;
    let failed = |reason: String| Err(NotPassed::failed(reason));
    match (check.changed, before, &now) {
        (None | Some(true), _, FileState::Absent) => failed(format!("there is no {name}")),
        (None | Some(true), _, FileState::NoFile) => {
            failed(format!("{name} is not a regular file"))
        }
        (Some(_), None | Some(FileState::Unreadable), _) => {
            let reason = format!("the content of {name} when the phase was entered is not known");
            Err((CheckError::NoBaseline, reason).into())
        }
        (Some(true), Some(before), now) if before == now => failed(format!(
            "{name} has not changed since the phase was entered"
        )),
        (Some(false), Some(before), now) if before != now => {
            failed(format!("{name} has changed since the phase was entered"))
        }
        // A file that must not change may be absent as before.
        (None, _, _) | (Some(_), Some(_), _) => Ok(()),
    }
}
