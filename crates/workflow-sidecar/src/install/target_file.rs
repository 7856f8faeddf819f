//! A file of a host, and the edits that add and remove our part of it.

use std::path::PathBuf;

use serde_json::Value;

use super::{json_text, own, toml_block};

/// A file of a host.
#[derive(Debug)]
pub(super) struct TargetFile {
    pub(super) path: PathBuf,
    pub(super) edits: Vec<Edit>,
    /// True if the file is ours altogether.
    pub(super) is_own: bool,
    /// The recognition of our values.
    pub(super) owner: Owner,
}

/// The recognition of a value as ours.
#[derive(Debug)]
pub(super) enum Owner {
    /// It has a command of a hook of this host.
    Hook(&'static str),
    /// It starts our MCP server.
    Server,
    /// It is one of these.
    Both(&'static str),
}

/// An edit of a file.
#[derive(Debug)]
pub(super) enum Edit {
    /// An element of an array in JSON.
    Element {
        path: Vec<&'static str>,
        value: String,
    },
    /// A member of an object in JSON: the last name of the path.
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
        !self.is_own || text.contains("workflow-sidecar")
    }

    /// Returns true if a value is ours.
    fn is_ours(&self, value: &str) -> bool {
        let is_hook = |host| {
            any_command_of(value).is_some_and(|command| own::is_hook_command(&command, host))
        };
        match self.owner {
            Owner::Hook(host) => is_hook(host),
            Owner::Server => own::is_server(value),
            Owner::Both(host) => is_hook(host) || own::is_server(value),
        }
    }

    /// Adds our part.
    pub(super) fn insert(&self, text: &str) -> Result<String, String> {
        self.edits
            .iter()
            .try_fold(text.to_owned(), |text, edit| match edit {
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

    /// Returns true if our part is there as it would be written.
    pub(super) fn is_current(&self, text: &str) -> bool {
        self.edits.iter().all(|edit| match edit {
            Edit::Element { path, value } => {
                let elements = json_text::elements(text, path).unwrap_or_default();
                let mut ours = elements.iter().filter(|element| self.is_ours(element));
                ours.next() == Some(value) && ours.next().is_none()
            }
            Edit::Member { path, value } => {
                json_text::value(text, path).is_ok_and(|found| found == Some(value))
            }
            Edit::Block { header, body } => toml_block::has(text, header, body),
            Edit::Initial { .. } => true,
            Edit::Text(own) => text == own,
        })
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
                json_text::remove_elements(text, path, |element| self.is_ours(element))
            }
            Edit::Member { path, .. } => {
                json_text::remove_member(text, path, |value| self.is_ours(value))
            }
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
