//! A file of a host, and the edits that add and remove our part of it.

use std::path::PathBuf;

use serde_json::Value;

use super::json_text::{Ours, Place};
use super::{own, toml_block};
use crate::files::hash;

/// The host that loads a plugin, from a directory of ours.
pub(super) const WITH_PLUGIN: &str = "opencode";

/// A file of a host.
pub(super) struct TargetFile {
    pub(super) path: PathBuf,
    /// The name of the host.
    pub(super) host: &'static str,
    pub(super) edits: Vec<Edit>,
}

/// An edit of a file.
pub(super) enum Edit {
    /// A value in JSON: a hook in an array, the server, or the status line.
    Json { place: Place, value: String },
    /// The keys of our table in TOML.
    Table(String),
    /// The whole text of a file of ours, or what it has before the hooks.
    Text(String),
}

impl TargetFile {
    /// Returns true if a text of a file of ours may be replaced: no one else wrote it.
    pub(super) fn may_replace(&self, text: &str) -> bool {
        let is_own = matches!(self.edits[..], [Edit::Text(_), ..]);
        !is_own || self.host == WITH_PLUGIN || text.contains("workflow-sidecar")
    }

    /// The text with our part as it is written now. What an earlier installation wrote is replaced.
    pub(super) fn install(&self, text: &str) -> Result<String, String> {
        if self.edits.iter().all(|edit| self.is_current(text, edit)) {
            return Ok(text.to_owned());
        }
        let others = self.remove(text)?;
        self.edits.iter().try_fold(others, |text, edit| match edit {
            Edit::Json { place, value } => place.insert(&text, value),
            Edit::Table(keys) => toml_block::insert(&text, keys),
            Edit::Text(own) if text.is_empty() => Ok(own.clone()),
            Edit::Text(_) => Ok(text),
        })
    }

    /// Returns true if what an edit adds is there as it would be written.
    fn is_current(&self, text: &str, edit: &Edit) -> bool {
        match edit {
            Edit::Json { place, value } => {
                let parsed = |value: &str| serde_json::from_str(value).unwrap_or(Value::Null);
                let values = place.values(text).unwrap_or_default();
                let is_ours = |value: &&str| self.is_ours(place, value);
                if place.ours == Ours::WholeIfFree && !values.iter().all(is_ours) {
                    return true;
                }
                let ours = values.into_iter().filter(is_ours);
                // A host that rewrites its file changes the text of the value.
                ours.map(parsed).eq([parsed(value)])
            }
            Edit::Table(keys) => toml_block::has(text, keys),
            Edit::Text(own) => text == own || self.has_hooks() && !text.is_empty(),
        }
    }

    /// Removes our part.
    pub(super) fn remove(&self, text: &str) -> Result<String, String> {
        // The last one first, so that what an edit created is empty when its turn comes.
        let mut edits = self.edits.iter().rev();
        edits.try_fold(text.to_owned(), |text, edit| self.remove_edit(&text, edit))
    }

    /// Removes what one of the edits adds.
    pub(super) fn remove_edit(&self, text: &str, edit: &Edit) -> Result<String, String> {
        match edit {
            Edit::Json { place, .. } => place.remove(text, |value| self.is_ours(place, value)),
            Edit::Table(_) => Ok(toml_block::remove(text)),
            // What a user adds to the hooks stays.
            Edit::Text(own) if self.has_hooks() && text != own => Ok(text.to_owned()),
            Edit::Text(_) => Ok(String::new()),
        }
    }

    /// Returns true if there are hooks in the file, which others may add theirs to.
    fn has_hooks(&self) -> bool {
        self.edits.len() > 1
    }

    /// The parts without which the host has no rules, with their places: the hooks, or the hash of a text of the plugin.
    pub(super) fn parts(&self) -> Vec<(String, Value)> {
        let parts = self.edits.iter().filter_map(|edit| match edit {
            Edit::Json { place, value } if place.ours == Ours::Elements => {
                let value = serde_json::from_str(value).ok()?;
                Some((format!("/{}", place.path.join("/")), value))
            }
            Edit::Text(text) if self.host == WITH_PLUGIN => {
                Some((String::new(), hash(text.as_bytes()).into()))
            }
            Edit::Json { .. } | Edit::Table(_) | Edit::Text(_) => None,
        });
        parts.collect()
    }

    /// Returns true if a value at a place is a hook, server or status line of ours.
    fn is_ours(&self, place: &Place, value: &str) -> bool {
        match place.ours {
            Ours::Elements => self.command_of(value).is_some(),
            Ours::Whole => own::is_server(value),
            Ours::WholeIfFree => own::is_status_line(value),
        }
    }

    /// The command of a hook of ours; `None` if it is somebody else's.
    pub(super) fn command_of(&self, element: &str) -> Option<String> {
        let element: Value = serde_json::from_str(element).ok()?;
        let hooks = element["hooks"].as_array().into_iter().flatten();
        let mut commands = hooks.chain([&element]).filter_map(|hook| {
            let command = hook.get("command").or_else(|| hook.get("bash"))?;
            command.as_str()
        });
        let command = commands.next()?;
        own::is_hook_command(command, self.host).then(|| command.to_owned())
    }
}
