//! The settings of the user that the sidecar reads itself. The engine checks the whole file; what it says elsewhere does not
//! matter here.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use workflow_core::definition::SETTINGS_FILE;

use crate::files::text;
use workflow_store::StoreError;

/// Reads a setting of those in an agent directory. What they say beside it does not matter, if they can be read.
pub(crate) fn user_setting<T: DeserializeOwned>(
    agent_dir: &Path,
    name: &str,
) -> Result<Option<T>, StoreError> {
    let path = agent_dir.join(SETTINGS_FILE);
    let text = text(&path).map_err(|error| StoreError::of_file(&path, error))?;
    let text = text.unwrap_or_default();
    // Almost no settings have it, and every hook reads them.
    if !text.contains(name) {
        return Ok(None);
    }
    let read = || -> anyhow::Result<_> {
        let mut settings: Map<String, Value> = json5::from_str(&text)?;
        let setting = settings.remove(name).unwrap_or_default();
        Ok(serde_json::from_value(setting)?)
    };
    let failed = |error| format!("the setting `{name}` cannot be read: {error}");
    read().map_err(|error| StoreError::of_file(&path, failed(error)))
}
