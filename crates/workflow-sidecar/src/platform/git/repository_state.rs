//! The state of a repository when a phase was entered, to find out later if it is still the same repository.

use serde::{Deserialize, Serialize};

use super::config_commands::Configuration;
use super::execution::{Git, no_repository, words};
use super::location::Location;
use crate::platform::process::{CheckError, Failure, one_line};

/// Lists the branches and tags that are remembered, the newest.
const TIPS: &str = "for-each-ref --sort=-committerdate --count=100 --format=%(objectname)";

/// The state of a repository when a phase was entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum RepositoryState {
    /// There was no repository.
    Absent,
    /// It could not be read.
    Unreadable,
    /// There was a repository.
    Present {
        /// The directory of its files.
        root: String,
        /// Its commit, if there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<String>,
        /// The commits of its other branches and tags.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tips: Vec<String>,
        /// Set if only a part of its files is checked out.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_sparse: bool,
        /// The hash of the user's own list of ignored files.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        ignored: String,
    },
}

impl RepositoryState {
    /// Reads the state of the repository of a directory.
    pub(crate) fn read(git: Git<'_>) -> Self {
        Self::try_read(git).unwrap_or_else(|(_, reason)| {
            tracing::debug!(reason, "the repository cannot be read");
            Self::Unreadable
        })
    }

    fn try_read(git: Git<'_>) -> Result<Self, Failure> {
        let Some(location) = Location::of(git.cwd) else {
            return Ok(Self::Absent);
        };
        let head = git.head()?;
        let tips = git.text(&words(TIPS))?;
        let mut tips: Vec<String> = tips.lines().map(str::to_owned).collect();
        tips.retain(|tip| head.as_ref() != Some(tip));
        tips.dedup();
        let configuration = Configuration::read(git)?;
        Ok(Self::Present {
            root: location.root.display().to_string(),
            head,
            tips,
            is_sparse: configuration.is_sparse(),
            ignored: configuration.user_ignores_hash(),
        })
    }

    /// Checks that the repository of a directory is this one.
    pub(crate) fn check_same(&self, git: Git<'_>) -> Result<(), Failure> {
        let other = |what: String| {
            let reason = format!(
                "this is not the repository of when the phase was entered: {what}. Bring that one back"
            );
            Err((CheckError::NoBaseline, reason))
        };
        let (before, head) = match self {
            Self::Absent => return Ok(()),
            Self::Unreadable => {
                let reason = "the repository could not be read when the phase was entered";
                return Err((CheckError::NoBaseline, reason.to_owned()));
            }
            Self::Present { root, head, .. } => (root, head),
        };
        let now = Location::of(git.cwd).ok_or_else(no_repository)?;
        let now = now.root.display().to_string();
        if now != *before {
            let (now, before) = (one_line(&now), one_line(before));
            return other(format!("its files are in {now}, not in {before}"));
        }
        if let Some(commit) = head
            && !git.has_commit(commit)?
        {
            let short = commit.get(..12).unwrap_or(commit);
            return other(format!("it does not have the commit {short}"));
        }
        Ok(())
    }

    /// Returns the commits that existed: the current one, and those of branches and tags.
    pub(crate) fn commits(&self) -> impl Iterator<Item = &String> {
        let (head, tips) = match self {
            Self::Present { head, tips, .. } => (head.as_ref(), &tips[..]),
            Self::Absent | Self::Unreadable => (None, &[][..]),
        };
        head.into_iter().chain(tips)
    }
}
