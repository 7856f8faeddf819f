//! The commit that a repository is at.

use std::path::Path;
use std::time::Duration;

use super::execution::{FATAL, git, no_repository};
use super::location::Location;
use crate::platform::process::{Failure, Monitor};

/// Reads the current commit; `None` if there is none yet.
pub(in crate::platform) fn head(
    time: Duration,
    cwd: &Path,
    monitor: &mut Monitor<'_>,
) -> Result<Option<String>, Failure> {
    let parse = ["rev-parse", "--verify", "--quiet", "HEAD"];
    let output = git(time, &parse, cwd, monitor)?;
    if output.code != FATAL {
        Location::of(cwd).ok_or_else(no_repository)?;
    }
    match output.code {
        0 => Ok(Some(output.text.trim().to_owned())),
        FATAL => Err(output.failure()),
        _ => Ok(None),
    }
}
