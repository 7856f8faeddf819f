//! The private directory with which git compares and restores files.
//!
//! The repository has the commits, the index and the references. All else that its work trees share comes from here:
//! configuration, hooks, attributes and the list of ignored files. What is not passed on has no effect, whatever a
//! future git makes of it.

use std::fs;
use std::io;

use tempfile::TempDir;

use super::config_commands::{Configuration, EXCLUDE, GitOperation};
use super::execution::{GitLimits, GitOutput};
use super::location::Location;
use crate::platform::process::{CheckError, Failure, Monitor};

/// The private directory of a repository.
pub(in crate::platform) struct PrivateDirectory {
    directory: TempDir,
    location: Location,
    environment: Vec<(String, String)>,
}

impl PrivateDirectory {
    /// Makes the directory for an operation on the repository of a configuration. The settings and lists of `left_out`
    /// have no effect.
    pub(in crate::platform) fn make(
        configuration: &Configuration,
        operation: GitOperation,
        left_out: &[&str],
    ) -> Result<Self, Failure> {
        let location = configuration.location()?.clone();
        let has_excludes = !left_out.contains(&EXCLUDE);
        let directory = fill(&location, &configuration.formats(), has_excludes);
        let directory = directory.map_err(|error| {
            let reason = format!("a private directory for git cannot be made: {error}");
            (CheckError::Start, reason)
        })?;
        let settings = configuration.in_effect(operation, left_out);
        let mut environment: Vec<(String, String)> = [
            ("GIT_DIR", &*location.git_dir),
            ("GIT_COMMON_DIR", directory.path()),
            (
                "GIT_OBJECT_DIRECTORY",
                &location.common_dir().join("objects"),
            ),
            ("GIT_WORK_TREE", &*location.root),
        ]
        .map(|(name, path)| (name.to_owned(), path.to_string_lossy().into_owned()))
        .to_vec();
        environment.push(("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string()));
        // In variables, because an option `-c` would end the name of a setting at its first `=`.
        for (index, (key, value)) in settings.into_iter().enumerate() {
            environment.push((format!("GIT_CONFIG_KEY_{index}"), key));
            environment.push((format!("GIT_CONFIG_VALUE_{index}"), value));
        }
        Ok(Self {
            directory,
            location,
            environment,
        })
    }

    /// Returns where the repository is.
    pub(super) fn location(&self) -> &Location {
        &self.location
    }

    /// Returns the path of an index that is removed with this directory.
    pub(super) fn own_index(&self) -> String {
        self.directory.path().join("index").display().to_string()
    }

    /// Runs a git command at the root of the repository.
    pub(in crate::platform) fn run(
        &self,
        limits: &GitLimits<'_>,
        arguments: &[&str],
        monitor: &mut Monitor<'_>,
    ) -> Result<GitOutput, Failure> {
        let own = self.environment.iter();
        let own = own.map(|(name, value)| (&**name, &**value));
        let limits = GitLimits {
            environment: &own
                .chain(limits.environment.iter().copied())
                .collect::<Vec<_>>(),
            ..*limits
        };
        limits.run(arguments, &self.location.root, monitor)
    }
}

fn fill(location: &Location, formats: &str, has_excludes: bool) -> io::Result<TempDir> {
    let directory = tempfile::tempdir()?;
    // Without these git does not accept the directory.
    for name in ["objects", "refs", "info"] {
        fs::create_dir(directory.path().join(name))?;
    }
    let core = "[core]\n\trepositoryFormatVersion = 1\n\tbare = false\n";
    let configuration = format!("{core}[extensions]\n{formats}");
    fs::write(directory.path().join("config"), configuration)?;
    let excludes = location.common_dir().join("info/exclude");
    if has_excludes && excludes.exists() {
        fs::copy(excludes, directory.path().join("info/exclude"))?;
    }
    Ok(directory)
}
