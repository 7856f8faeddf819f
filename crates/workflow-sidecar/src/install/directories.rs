//! The directories in which hosts look for a user's configuration, by their own environment variables.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The variables of hosts, and of the systems that their directories follow.
const NAMES: [&str; 6] = [
    "CODEX_HOME",
    "CLAUDE_CONFIG_DIR",
    "COPILOT_HOME",
    "GEMINI_CLI_HOME",
    "GEMINI_CLI_TRUSTED_FOLDERS_PATH",
    "XDG_CONFIG_HOME",
];

/// A user's home directory, and what the environment says instead of it.
#[derive(Debug, Clone)]
pub(crate) struct Directories {
    pub(crate) home: PathBuf,
    variables: HashMap<&'static str, PathBuf>,
}

impl Directories {
    /// The directories by the home directory alone.
    #[cfg(test)]
    pub(crate) fn in_home(home: &Path) -> Self {
        Self::new(home, |_| None)
    }

    /// The directories by the environment of this process.
    pub(crate) fn of_process(home: &Path) -> Self {
        Self::new(home, |name| std::env::var_os(name).map(PathBuf::from))
    }

    pub(crate) fn new(home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> Self {
        let set = NAMES.iter().filter_map(|name| {
            let value = variable(name).filter(|value| !value.as_os_str().is_empty())?;
            // A host takes a relative one from the directory that it starts in.
            Some((*name, std::path::absolute(&value).unwrap_or(value)))
        });
        Self {
            home: home.to_path_buf(),
            variables: set.collect(),
        }
    }

    fn variable(&self, name: &str) -> Option<&Path> {
        self.variables.get(name).map(PathBuf::as_path)
    }

    /// The directory that a variable names, or one in the home directory.
    fn named_or(&self, name: &str, in_home: &str) -> PathBuf {
        self.variable(name)
            .map_or_else(|| self.home.join(in_home), Path::to_path_buf)
    }

    pub(crate) fn codex(&self) -> PathBuf {
        self.named_or("CODEX_HOME", ".codex")
    }

    pub(crate) fn claude(&self) -> PathBuf {
        self.named_or("CLAUDE_CONFIG_DIR", ".claude")
    }

    /// The file with Claude Code's MCP servers, which is beside its directory unless that is named.
    pub(super) fn claude_servers(&self) -> PathBuf {
        self.named_or("CLAUDE_CONFIG_DIR", "").join(".claude.json")
    }

    pub(crate) fn copilot(&self) -> PathBuf {
        self.named_or("COPILOT_HOME", ".copilot")
    }

    pub(crate) fn gemini(&self) -> PathBuf {
        self.named_or("GEMINI_CLI_HOME", "").join(".gemini")
    }

    /// The folders that Gemini CLI trusts.
    pub(crate) fn gemini_trusted_folders(&self) -> PathBuf {
        self.variable("GEMINI_CLI_TRUSTED_FOLDERS_PATH")
            .map_or_else(
                || self.gemini().join("trustedFolders.json"),
                Path::to_path_buf,
            )
    }

    pub(super) fn opencode(&self) -> PathBuf {
        self.named_or("XDG_CONFIG_HOME", ".config").join("opencode")
    }
}
