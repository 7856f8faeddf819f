//! The private directory with which git compares and restores files.
//!
//! The repository has the commits, the index and the references. All else that its work trees share comes from here:
//! configuration, hooks, attributes and the list of ignored files. What is not passed on has no effect, whatever a
//! future git makes of it.

use std::fs;
use std::io;
use std::path::Path;

use tempfile::TempDir;

use super::config_commands::{Configuration, EXCLUDE, GitOperation, key_of};
use super::execution::Git;
use super::location::Location;
use crate::platform::process::{Failure, failed};

/// Author of the commits of checkpoints, because the user may not have configured one.
const AUTHOR: &str = "workflow-sidecar";

/// The private directory of a repository.
pub(in crate::platform) struct PrivateDirectory {
    _directory: TempDir,
    pub(super) location: Location,
    /// The last variable names the index of its own.
    environment: Vec<(String, String)>,
    /// The path of an index that is removed with this directory.
    pub(super) own_index: String,
}

impl PrivateDirectory {
    /// Makes the directory for an operation, if the user trusts its programs. The trust store is in `agent_dir`.
    pub(in crate::platform) fn allowed(
        operation: GitOperation,
        git: Git<'_>,
        agent_dir: Option<&Path>,
    ) -> Result<Self, Failure> {
        let configuration = Configuration::read_allowed(operation, git, agent_dir)?;
        Self::make(&configuration, operation, &[])
    }

    /// Makes the directory to compare files, in which nothing that the user does not trust hides a change.
    pub(super) fn showing_all(git: Git<'_>, agent_dir: &Path) -> Result<Self, Failure> {
        let (operation, agent_dir) = (GitOperation::Compare, Some(agent_dir));
        let configuration = Configuration::read_allowed(operation, git, agent_dir)?;
        let hiding = configuration.untrusted_that_hide(git, agent_dir);
        let left_out: Vec<&str> = hiding.iter().map(key_of).collect();
        Self::make(&configuration, operation, &left_out)
    }

    /// Makes the directory for an operation on the repository of a configuration. The settings and lists of `left_out`
    /// have no effect.
    pub(in crate::platform) fn make(
        configuration: &Configuration,
        operation: GitOperation,
        left_out: &[&str],
    ) -> Result<Self, Failure> {
        let location = configuration.location.clone();
        let has_excludes = !left_out.contains(&EXCLUDE);
        let directory = fill(&location, &configuration.formats(), has_excludes);
        let reason = |error| format!("a private directory for git cannot be made: {error}");
        let directory = directory.map_err(|error| failed(reason(error)))?;
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        let settings = configuration.in_effect(operation, left_out);
        let mut environment = Vec::new();
        let mut set = |name: &str, value: String| environment.push((name.to_owned(), value));
        for person in ["GIT_AUTHOR", "GIT_COMMITTER"] {
            set(&format!("{person}_NAME"), AUTHOR.to_owned());
            set(&format!("{person}_EMAIL"), format!("{AUTHOR}@localhost"));
        }
        set("GIT_DIR", shown(&location.git_dir));
        set("GIT_COMMON_DIR", shown(directory.path()));
        let objects = location.common_dir().join("objects");
        set("GIT_OBJECT_DIRECTORY", shown(&objects));
        set("GIT_WORK_TREE", shown(&location.root));
        set("GIT_CONFIG_COUNT", settings.len().to_string());
        // In variables, because an option `-c` would end the name of a setting at its first `=`.
        for (index, (key, value)) in settings.into_iter().enumerate() {
            set(&format!("GIT_CONFIG_KEY_{index}"), key);
            set(&format!("GIT_CONFIG_VALUE_{index}"), value);
        }
        let own_index = shown(&directory.path().join("index"));
        environment.push(("GIT_INDEX_FILE".to_owned(), own_index.clone()));
        Ok(Self {
            own_index,
            _directory: directory,
            location,
            environment,
        })
    }

    /// Returns git at the root of the repository, with this directory.
    pub(in crate::platform) fn git<'a>(&'a self, git: Git<'a>) -> Git<'a> {
        Git {
            cwd: &self.location.root,
            environment: &self.environment[..self.environment.len() - 1],
            ..git
        }
    }

    /// The same, with an index of its own.
    pub(super) fn with_own_index<'a>(&'a self, git: Git<'a>) -> Git<'a> {
        Git {
            environment: &self.environment,
            ..self.git(git)
        }
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
