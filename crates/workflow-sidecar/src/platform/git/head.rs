//! The commit that a repository is at.

use super::execution::{FATAL, Git, no_repository};
use super::location::Location;
use crate::platform::process::Failure;

/// Reads the current commit; `None` if there is none yet.
pub(in crate::platform) fn head(git: Git<'_>) -> Result<Option<String>, Failure> {
    let output = git.run(&["rev-parse", "--verify", "--quiet", "HEAD"])?;
    if output.code != FATAL {
        Location::of(git.cwd).ok_or_else(no_repository)?;
    }
    match output.code {
        0 => Ok(Some(output.text.trim().to_owned())),
        FATAL => Err(output.failure()),
        _ => Ok(None),
    }
}
