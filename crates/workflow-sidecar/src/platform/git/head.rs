//! The commit that a repository is at.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::execution::{FATAL, git};
use crate::platform::process::{Failure, Monitor};

/// The commit that a repository is at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Head {
    /// There was no commit yet, or no repository.
    NoCommit,
    /// At this commit.
    Commit(String),
}

/// Answer to the question for the current commit.
pub(in crate::platform) enum HeadLookup {
    Head(Head),
    NoRepository(Failure),
}

/// Reads the current commit.
pub(in crate::platform) fn look_up_head(
    time: Duration,
    cwd: &Path,
    monitor: &mut Monitor<'_>,
) -> Result<HeadLookup, Failure> {
    let parse = ["rev-parse", "--verify", "--quiet", "HEAD"];
    let output = git(time, &parse, cwd, monitor)?;
    match output.code {
        0 => Ok(HeadLookup::Head(Head::Commit(
            output.text.trim().to_owned(),
        ))),
        FATAL if output.tail.contains("not a git repository") => {
            Ok(HeadLookup::NoRepository(output.failure()))
        }
        FATAL => Err(output.failure()),
        _ => Ok(HeadLookup::Head(Head::NoCommit)),
    }
}
