//! The files of a commit or tree, in another directory.

use std::path::Path;

use super::change::changed_path;
use super::checkpoint::is_commit_name;
use super::execution::{Git, words};
use super::hidden_changes::changes;
use super::private_directory::PrivateDirectory;
use crate::platform::process::{CheckError, Failure, failed};

impl PrivateDirectory {
    /// Lists the paths of files that are not as in a commit or tree, also those that git does not track and does not ignore.
    /// Returns also whether it is a commit.
    pub(in crate::platform) fn changed_since(
        &self,
        git: Git<'_>,
        start: &str,
    ) -> Result<(Vec<String>, bool), Failure> {
        let git = self.with_own_index(git);
        if !is_commit_name(start) || !git.has(&format!("{start}^{{tree}}"))? {
            let reason = "git does not have the files at the start of the run";
            return Err((CheckError::Missing, reason.to_owned()));
        }
        let listed = changes(git, Some(start), &["--untracked-files=all"])?;
        let paths = listed.iter().filter_map(|line| changed_path(line));
        Ok((paths.map(str::to_owned).collect(), git.has_commit(start)?))
    }

    /// Writes the files at the start of [`PrivateDirectory::changed_since`] into a directory.
    pub(in crate::platform) fn check_out(
        &self,
        git: Git<'_>,
        directory: &Path,
    ) -> Result<(), Failure> {
        let Some(directory) = directory.to_str() else {
            return Err(failed("the name of the directory is not UTF-8"));
        };
        let prefix = format!("--prefix={directory}/");
        let check_out = ["checkout-index", "--all", "--force", "--quiet", &prefix];
        let git = self.with_own_index(git);
        git.text(&check_out).map(drop)
    }

    /// Lists the files and whole directories that git ignores, relative to the root of the repository.
    pub(in crate::platform) fn ignored(&self, git: Git<'_>) -> Result<Vec<String>, Failure> {
        let others = words("ls-files -z --others --ignored --exclude-standard --directory");
        let mut listed = self.with_own_index(git).list(&others)?;
        for path in &mut listed {
            path.truncate(path.trim_end_matches('/').len());
        }
        Ok(listed)
    }

    /// Returns the root of the repository.
    pub(in crate::platform) fn root(&self) -> &Path {
        &self.location.root
    }
}
