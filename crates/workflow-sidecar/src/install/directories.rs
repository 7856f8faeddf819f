//! The directories in which hosts look for a user's configuration, by their own environment variables.

use std::path::{Path, PathBuf};

/// A user's home directory, and the directories and files of hosts in it, or where the environment says instead.
#[derive(Debug, Clone)]
pub(crate) struct Directories {
    pub(crate) home: PathBuf,
    pub(crate) codex: PathBuf,
    pub(crate) claude: PathBuf,
    /// The file with Claude Code's MCP servers, which is beside its directory unless that is named.
    pub(crate) claude_servers: PathBuf,
    pub(crate) copilot: PathBuf,
    pub(crate) gemini: PathBuf,
    /// The file with the folders that Gemini CLI trusts.
    pub(crate) gemini_trusted_folders: PathBuf,
    pub(crate) qwen: PathBuf,
    /// The file with the folders that Qwen Code trusts.
    pub(crate) qwen_trusted_folders: PathBuf,
    pub(super) opencode: PathBuf,
    /// True for those of an administrator, who configures hosts for all users of the machine.
    pub(crate) is_managed: bool,
}

impl Directories {
    /// The directories by the environment of this process.
    pub(crate) fn of_process(home: &Path) -> Self {
        Self::new(home, |name| std::env::var_os(name).map(PathBuf::from))
    }

    /// The directories by these variables.
    pub(crate) fn new(home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> Self {
        let named = |name| {
            let value = variable(name).filter(|value| !value.as_os_str().is_empty())?;
            // A host takes a relative one from the directory that it starts in.
            Some(std::path::absolute(&value).unwrap_or(value))
        };
        let named_or = |name, in_home: &str| named(name).unwrap_or_else(|| home.join(in_home));
        let gemini = named_or("GEMINI_CLI_HOME", "").join(".gemini");
        let qwen = named_or("QWEN_HOME", ".qwen");
        Self {
            home: home.to_path_buf(),
            codex: named_or("CODEX_HOME", ".codex"),
            claude: named_or("CLAUDE_CONFIG_DIR", ".claude"),
            claude_servers: named_or("CLAUDE_CONFIG_DIR", "").join(".claude.json"),
            copilot: named_or("COPILOT_HOME", ".copilot"),
            gemini_trusted_folders: named("GEMINI_CLI_TRUSTED_FOLDERS_PATH")
                .unwrap_or_else(|| gemini.join("trustedFolders.json")),
            gemini,
            qwen_trusted_folders: named("QWEN_CODE_TRUSTED_FOLDERS_PATH")
                .unwrap_or_else(|| qwen.join("trustedFolders.json")),
            qwen,
            opencode: named_or("XDG_CONFIG_HOME", ".config").join("opencode"),
            is_managed: false,
        }
    }

    /// Those of an administrator, below the root directory or another one.
    pub(crate) fn managed(root: &Path) -> Self {
        let of = |on_macos: &str, elsewhere: &str| {
            if cfg!(target_os = "macos") {
                root.join("Library/Application Support").join(on_macos)
            } else {
                root.join("etc").join(elsewhere)
            }
        };
        Self {
            codex: root.join("etc/codex"),
            claude: of("ClaudeCode", "claude-code"),
            gemini: of("GeminiCli", "gemini-cli"),
            qwen: of("QwenCode", "qwen-code"),
            is_managed: true,
            ..Self::new(root, |_| None)
        }
    }
}
