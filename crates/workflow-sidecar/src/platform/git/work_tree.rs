//! The files of a commit, in another directory.

use std::path::Path;

use super::checkpoint::is_commit_name;
use super::execution::{Git, LIST_BOUND, LONG_TIMEOUT, failed};
use super::hidden_changes::changes;
use super::private_directory::PrivateDirectory;
use crate::platform::process::{CheckError, Failure};

impl PrivateDirectory {
    /// Lists the paths of files that are not as in a commit, also those that git does not track and does not ignore.
    pub(in crate::platform) fn changed_since(
        &self,
        git: Git<'_>,
        commit: &str,
    ) -> Result<Vec<String>, Failure> {
        let git = self.long(git);
        let object = format!("{commit}^{{commit}}");
        if !is_commit_name(commit) || git.run(&["cat-file", "-e", &object])?.code != 0 {
            let reason = "git does not have the commit at the start of the run";
            return Err((CheckError::NoBaseline, reason.to_owned()));
        }
        let listed = changes(git, &self.own_index, Some(commit), "all")?;
        // ` M path`: the second sign compares the file with the commit.
        let changed = listed
            .iter()
            .filter(|line| line.as_bytes().get(1) != Some(&b' '));
        let paths = changed.filter_map(|line| line.get(3..));
        Ok(paths.map(str::to_owned).collect())
    }

    /// Writes the files of the commit of [`PrivateDirectory::changed_since`] into a directory.
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
        self.long(git).text(&check_out).map(drop)
    }

    /// Lists the files and whole directories that git ignores, relative to the root of the repository.
    pub(in crate::platform) fn ignored(&self, git: Git<'_>) -> Result<Vec<String>, Failure> {
        let others = [
            "ls-files",
            "-z",
            "--others",
            "--ignored",
            "--exclude-standard",
            "--directory",
        ];
        let listed = self
            .long(git)
            .run(&others)?
            .whole("the list of ignored files")?;
        let paths = listed
            .split_terminator('\0')
            .map(|path| path.trim_end_matches('/'));
        Ok(paths.map(str::to_owned).collect())
    }

    /// Git with the index that [`PrivateDirectory::changed_since`] makes.
    fn long<'a>(&'a self, git: Git<'a>) -> Git<'a> {
        self.git(Git {
            index: Some(&self.own_index),
            timeout: LONG_TIMEOUT,
            bound: LIST_BOUND,
            ..git
        })
    }

    /// Returns the root of the repository.
    pub(in crate::platform) fn root(&self) -> &Path {
        &self.location.root
    }
}
