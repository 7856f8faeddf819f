//! The settings of the user that the sidecar reads itself. The engine checks the whole file; what it says elsewhere does not
//! matter here.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use workflow_core::definition::SETTINGS_FILE;

use crate::files::private_file;

/// What only the user's own settings say.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct UserSettings {
    /// The server of the store.
    pub(crate) store: Option<String>,
    /// The program that shows a text to the user, and its arguments.
    pub(crate) notify: Option<Vec<String>>,
}

/// The settings of the user cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub(crate) struct Unreadable {
    pub(crate) path: PathBuf,
    pub(crate) reason: String,
}

impl UserSettings {
    /// Reads those in an agent directory.
    pub(crate) fn read(agent_dir: &Path) -> Result<Self, Unreadable> {
        let path = agent_dir.join(SETTINGS_FILE);
        let read = private_file::read_limited(&path).and_then(|bytes| {
            let text = bytes.map(String::from_utf8).transpose();
            text.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
        });
        let text = match read {
            Ok(text) => text.unwrap_or_default(),
            Err(error) => {
                let reason = error.to_string();
                return Err(Unreadable { path, reason });
            }
        };
        // Almost no settings have them, and every hook reads them.
        if !text.contains("store") && !text.contains("notify") {
            return Ok(Self::default());
        }
        json5::from_str(&text).map_err(|error| Unreadable {
            path,
            reason: format!("the settings cannot be read: {error}"),
        })
    }
}
