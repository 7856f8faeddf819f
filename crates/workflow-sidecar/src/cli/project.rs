//! Directories of definitions, as options of a command.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use workflow_core::definition::{Loaded, load};

use crate::platform::disk::{Disk, user_agent_dir};
use crate::store::{Store, StoreError, of_agent_dir, open, state_directory};

/// The directories a command looks into.
#[derive(Debug, clap::Args)]
pub(super) struct Project {
    /// Directory of the project; its workflows are in `.pi/workflows` and `.agents/workflows`
    #[arg(long = "project", value_name = "DIR", default_value = ".")]
    pub(super) directory: PathBuf,
    #[command(flatten)]
    pub(super) user: UserDirectory,
}

/// The directory of the user's own definitions.
#[derive(Debug, clap::Args)]
pub(super) struct UserDirectory {
    /// Directory of your own workflows and settings [default: that of pi, ~/.pi/agent]
    #[arg(long, value_name = "DIR")]
    agent_dir: Option<String>,
}

/// The store of a command.
#[derive(Debug, clap::Args)]
pub(super) struct StoreLocation {
    /// The directory of the store, instead of ~/.local/state/workflow-sidecar
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    #[command(flatten)]
    user: UserDirectory,
}

impl StoreLocation {
    /// Returns the store: in the given directory, or that of the user.
    pub(super) fn open(&self) -> Result<Store, StoreError> {
        let agent_dir = self.user.directory();
        match &self.state {
            Some(state) => open(state_directory(Some(state))?, &agent_dir),
            None => of_agent_dir(&agent_dir),
        }
    }
}

impl Project {
    /// Loads the definitions.
    pub(super) fn load(&self) -> anyhow::Result<Loaded> {
        Ok(load(&self.disk()?))
    }

    /// Returns the files of both directories.
    pub(super) fn disk(&self) -> anyhow::Result<Disk> {
        self.user.disk(&self.directory)
    }
}

impl UserDirectory {
    /// Returns the files of a project and the user's.
    pub(super) fn disk(&self, project: &Path) -> anyhow::Result<Disk> {
        ensure!(project.is_dir(), "{} is not a directory", project.display());
        Ok(Disk::new(self.directory(), project.to_path_buf()))
    }

    /// Returns the directory of the user's definitions.
    pub(super) fn directory(&self) -> PathBuf {
        user_agent_dir(self.agent_dir.as_deref())
    }
}
