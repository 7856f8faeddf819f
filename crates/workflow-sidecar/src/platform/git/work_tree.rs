//! The files of a commit, in another directory.

use std::path::Path;

use super::checkpoint::is_commit_name;
use super::execution::{Git, LIST_BOUND, LONG_TIMEOUT, failed};
use super::hidden_changes::changes;
use super::private_directory::PrivateDirectory;
use crate::platform::process::{CheckError, Failure};

/// A file that is not as in a commit.
pub(in crate::platform) struct ChangedFile {
    /// Its path, relative to the root of the repository.
    pub(in crate::platform) path: String,
    pub(in crate::platform) is_gone: bool,
}

impl PrivateDirectory {
    /// Lists the files that are not as in a commit, also those that git does not track and does not ignore.
    pub(in crate::platform) fn changed_since(
        &self,
        git: Git<'_>,
        commit: &str,
    ) -> Result<Vec<ChangedFile>, Failure> {
        let git = self.long(git);
        let object = format!("{commit}^{{commit}}");
        if !is_commit_name(commit) || git.run(&["cat-file", "-e", &object])?.code != 0 {
            let reason = "git does not have the commit at the start of the run";
            return Err((CheckError::NoBaseline, reason.to_owned()));
        }
        let listed = changes(git, &self.own_index, Some(commit), "all")?;
        let changed = listed.iter().filter_map(|line| {
            let (state, path) = line.split_at_checked(3)?;
            let state = *state.as_bytes().get(1)?;
            (state != b' ').then(|| ChangedFile {
                path: path.to_owned(),
                is_gone: state == b'D',
            })
        });
        Ok(changed.collect())
    }

    /// Writes the files of the commit of [`PrivateDirectory::changed_since`] into a directory; returns their paths.
    pub(in crate::platform) fn check_out(
        &self,
        git: Git<'_>,
        directory: &Path,
    ) -> Result<Vec<String>, Failure> {
        let git = Git {
            index: Some(&self.own_index),
            ..self.long(git)
        };
        let Some(directory) = directory.to_str() else {
            return Err(failed("the name of the directory is not UTF-8"));
        };
        let prefix = format!("--prefix={directory}/");
        git.text(&["checkout-index", "--all", "--force", "--quiet", &prefix])?;
        let listed = git.run(&["ls-files", "-z"])?;
        let listed = listed.whole("the list of the repository's files")?;
        Ok(listed.split_terminator('\0').map(str::to_owned).collect())
    }

    /// Returns those paths, relative to the root of the repository, that git ignores.
    pub(in crate::platform) fn ignored(
        &self,
        git: Git<'_>,
        paths: &[String],
    ) -> Result<Vec<String>, Failure> {
        let paths = paths.iter().map(String::as_str);
        let arguments: Vec<&str> = ["-c", "core.quotePath=false", "check-ignore", "--"]
            .into_iter()
            .chain(paths)
            .collect();
        let output = self.long(git).run(&arguments)?;
        let listed = output.text.lines();
        Ok(listed.map(str::to_owned).collect())
    }

    fn long<'a>(&'a self, git: Git<'a>) -> Git<'a> {
        self.git(Git {
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
