//! A file of a host, and the edits that add and remove our part of it.

use std::path::PathBuf;

use serde_json::Value;

use super::{json_text, own, toml_block};

/// The host that loads a plugin, from a directory of ours.
pub(super) const WITH_PLUGIN: &str = "opencode";

/// A file of a host.
#[derive(Debug)]
pub(super) struct TargetFile {
    pub(super) path: PathBuf,
    /// The name of the host.
    pub(super) host: &'static str,
    pub(super) edits: Vec<Edit>,
    /// True if the file is ours altogether.
    pub(super) is_own: bool,
}

/// An edit of a file.
#[derive(Debug)]
pub(super) enum Edit {
    /// An element of an array in JSON: a hook.
    Element {
        path: Vec<&'static str>,
        value: String,
    },
    /// A member of an object in JSON, which is the last name of the path: the server.
    Member {
        path: Vec<&'static str>,
        value: String,
    },
    /// A member of an object in JSON that only a new file gets.
    Initial {
        path: Vec<&'static str>,
        value: String,
    },
    /// A table in TOML.
    Block { header: &'static str, body: String },
    /// The whole text of a file of ours.
    Text(String),
}

impl TargetFile {
    /// Returns true if a text of a file of ours may be replaced: no one else wrote it.
    pub(super) fn may_replace(&self, text: &str) -> bool {
        !self.is_own || self.host == WITH_PLUGIN || text.contains("workflow-sidecar")
    }

    /// Returns true if an element is a hook of ours.
    fn is_our_hook(&self, element: &str) -> bool {
        any_command_of(element).is_some_and(|command| own::is_hook_command(&command, self.host))
    }

    /// The text with our part as it is written now. What an earlier installation wrote is replaced.
    pub(super) fn install(&self, text: &str) -> Result<String, String> {
        if self.edits.iter().all(|edit| self.is_current(text, edit)) {
            return Ok(text.to_owned());
        }
        let others = if self.is_own {
            String::new()
        } else {
            self.remove(text)?
        };
        self.edits.iter().try_fold(others, |text, edit| match edit {
            Edit::Element { path, value } => json_text::insert_element(&text, path, value),
            Edit::Member { path, value } => json_text::insert_member(&text, path, value),
            Edit::Initial { path, value } if text.trim().is_empty() => {
                json_text::insert_member(&text, path, value)
            }
            Edit::Initial { .. } => Ok(text),
            Edit::Block { header, body } => toml_block::insert(&text, header, body),
            Edit::Text(text) => Ok(text.clone()),
        })
    }

    /// Returns true if what an edit adds is there as it would be written.
    fn is_current(&self, text: &str, edit: &Edit) -> bool {
        match edit {
            Edit::Element { path, value } => {
                let elements = json_text::elements(text, path).unwrap_or_default();
                let mut ours = elements.iter().filter(|element| self.is_our_hook(element));
                ours.next() == Some(value) && ours.next().is_none()
            }
            Edit::Member { path, value } => {
                json_text::value(text, path).is_ok_and(|found| found == Some(value))
            }
            Edit::Block { header, body } => toml_block::has(text, header, body),
            Edit::Initial { .. } => true,
            Edit::Text(own) => text == own,
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
            Edit::Element { path, .. } => {
                json_text::remove_elements(text, path, |element| self.is_our_hook(element))
            }
            Edit::Member { path, .. } => json_text::remove_member(text, path, own::is_server),
            Edit::Block { header, .. } => Ok(toml_block::remove(text, header)),
            Edit::Initial { .. } | Edit::Text(_) => Ok(text.to_owned()),
        }
    }
}

/// The command of a hook.
pub(super) fn any_command_of(element: &str) -> Option<String> {
    let element: Value = serde_json::from_str(element).ok()?;
    let hooks = element["hooks"].as_array().into_iter().flatten();
    let mut commands = hooks.chain([&element]).filter_map(|hook| {
        let command = hook.get("command").or_else(|| hook.get("bash"))?;
        command.as_str()
    });
    commands.next().map(str::to_owned)
}
