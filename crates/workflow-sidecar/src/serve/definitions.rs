//! Where a session's definitions come from.
//!
//! Owns which directories are looked into. Must not know what stands in the files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use workflow_core::definition::Loaded;

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
        let agent = agent.map_or_else(
            || usual_agent_dir(std::env::var_os(AGENT_DIR_VARIABLE), std::env::home_dir()),
            PathBuf::from,
        );
        let cwd = PathBuf::from(cwd);
        Self { agent, cwd }
    }
}

/// The definitions as the files stand now.
pub(super) fn definitions(directories: &Directories, cwd: Option<&Path>) -> Arc<Loaded> {
    let _ = (&directories.agent, cwd.unwrap_or(&directories.cwd));
    Arc::default()
}

/// Where pi keeps the user's own things: an empty variable is none, and `~` is the home directory (B30).
fn usual_agent_dir(variable: Option<OsString>, home: Option<PathBuf>) -> PathBuf {
    let home = home.unwrap_or_default();
    match variable.filter(|dir| !dir.is_empty()) {
        Some(dir) => match Path::new(&dir).strip_prefix("~") {
            Ok(below) => home.join(below),
            Err(_) => PathBuf::from(dir),
        },
        None => home.join(".pi").join("agent"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_definitions_are_where_pi_keeps_them() {
        let dir = |variable: Option<&str>| {
            usual_agent_dir(variable.map(OsString::from), Some(PathBuf::from("/home/u")))
        };
        assert_eq!(dir(None), Path::new("/home/u/.pi/agent"));
        assert_eq!(dir(Some("")), Path::new("/home/u/.pi/agent"));
        assert_eq!(dir(Some("~")), Path::new("/home/u"));
        assert_eq!(dir(Some("~/x")), Path::new("/home/u/x"));
        assert_eq!(dir(Some("/a/b")), Path::new("/a/b"));
        assert_eq!(dir(Some("~x")), Path::new("~x"));
    }
}
