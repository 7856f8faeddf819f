//! The settings of the user that the sidecar reads itself. The engine checks the whole file; what it says elsewhere does not
//! matter here.

use std::io::{self, Read};
use std::path::Path;

use serde::Deserialize;
use workflow_core::definition::SETTINGS_FILE;

use crate::files::{if_present, regular_file};
use workflow_store::StoreError;

/// Maximum number of bytes read.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// What only the user's own settings say.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct UserSettings {
    /// The server of the store.
    pub(crate) store: Option<String>,
    /// The program that shows a text to the user, and its arguments.
    pub(crate) notify: Option<Vec<String>>,
}

/// Reads the beginning of a file; there is no text if it does not exist.
fn read_text(path: &Path) -> io::Result<String> {
    let Some(file) = if_present(regular_file::open(path))? else {
        return Ok(String::new());
    };
    let file = file.ok_or_else(|| io::Error::other("it is not a regular file"))?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

impl UserSettings {
    /// Reads those in an agent directory.
    pub(crate) fn read(agent_dir: &Path) -> Result<Self, StoreError> {
        let path = agent_dir.join(SETTINGS_FILE);
        let settings = read_text(&path).and_then(|text| {
            // Almost no settings have them, and every hook reads them.
            if !text.contains("store") && !text.contains("notify") {
                return Ok(Self::default());
            }
            let failed = |error| io::Error::other(format!("the settings cannot be read: {error}"));
            json5::from_str(&text).map_err(failed)
        });
        settings.map_err(|error| StoreError::of_file(&path, error))
    }
}
