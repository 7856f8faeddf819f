//! Where a session's definitions come from.
//!
//! Owns which directories are looked into. Must not know what stands in the files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use workflow_core::definition::{Loaded, load};

use crate::disk::{Disk, agent_dir};

/// Names the directory of the user's own definitions, as pi does.
const AGENT_DIR_VARIABLE: &str = "PI_CODING_AGENT_DIR";

/// Where to look for definitions.
#[derive(Debug, Clone)]
pub(super) struct Directories {
    /// The directory of the user's own definitions.
    agent: PathBuf,
    /// Where the host runs: the project of a session that names no other.
    cwd: PathBuf,
}

impl Directories {
    /// What the host says, and the usual place of what it leaves out.
    pub(super) fn new(agent: Option<&str>, cwd: &str) -> Self {
        let usual = || {
            let variable = std::env::var_os(AGENT_DIR_VARIABLE);
            agent_dir(
                variable.as_deref(),
                &std::env::home_dir().unwrap_or_default(),
            )
        };
        Self {
            agent: agent.map_or_else(usual, PathBuf::from),
            cwd: PathBuf::from(cwd),
        }
    }
}

/// The definitions as the files stand now.
pub(super) fn definitions(directories: &Directories, cwd: Option<&Path>) -> Arc<Loaded> {
    let Directories { agent, cwd: usual } = directories;
    let disk = Disk::new(agent.clone(), cwd.unwrap_or(usual).to_path_buf());
    Arc::new(load(&disk))
}
