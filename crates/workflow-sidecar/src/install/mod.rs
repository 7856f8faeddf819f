//! Our part of the configuration of hook hosts: written, removed, found.
//!
//! Edits are made in the text, so everything that is not ours stays byte for byte, and removing what was written gives the
//! text of before.

pub(crate) mod codex_trust;
mod directories;
mod hosts;
mod json_text;
pub(crate) mod opencode;
mod own;
mod toml_block;
mod yaml_entry;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use self::hosts::{Edit, TargetFile};
use crate::files::{home_dir, write_atomically};
use crate::hook_hosts::{HOSTS, HookHost};

pub(crate) use self::directories::Directories;
pub(crate) use self::hosts::Place;

/// A file, as it is and as it becomes.
#[derive(Debug)]
pub(crate) struct FileChange {
    pub(crate) path: PathBuf,
    /// `None` if the file does not exist.
    pub(crate) before: Option<String>,
    /// `None` if the file is to be removed.
    pub(crate) after: Option<String>,
}

/// A configuration that cannot be changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InstallError {
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{}: {reason}: nothing was changed", path.display())]
    Unfit { path: PathBuf, reason: String },
    #[error("the home directory is not known: set HOME")]
    NoHome,
    #[error("{0}")]
    NoProject(&'static str),
}

/// Plans the installation for a host. What an earlier one wrote is replaced.
pub(crate) fn plan(
    host: &'static HookHost,
    place: &Place<'_>,
) -> Result<Vec<FileChange>, InstallError> {
    let files = hosts::files(host, place)?.into_iter();
    files
        .map(|file| {
            let before = read(&file.path)?;
            if !before.as_ref().is_none_or(|text| file.may_replace(text)) {
                let reason = "it is not ours: rename or remove it".to_owned();
                return Err(unfit(&file.path, reason));
            }
            if before.as_ref().is_some_and(|text| file.is_current(text)) {
                return Ok(FileChange {
                    path: file.path,
                    after: before.clone(),
                    before,
                });
            }
            let others = before.clone().filter(|_| !file.is_own);
            let text = others.unwrap_or_default();
            let unfit = |reason| unfit(&file.path, reason);
            let without = file.remove(&text).map_err(unfit)?;
            let after = file.insert(&without).map_err(unfit)?;
            Ok(FileChange {
                path: file.path,
                before,
                after: Some(after),
            })
        })
        .collect()
}

/// Plans the removal of what was installed. A file that has nothing else is removed.
pub(crate) fn plan_removal(
    host: &'static HookHost,
    place: &Place<'_>,
) -> Result<Vec<FileChange>, InstallError> {
    let mut changes = Vec::new();
    // A file is only ours if it is what the program that installed it has written.
    let commands = installed(host, place).map(|installed| installed.commands);
    let commands = commands.unwrap_or_default();
    let mut origins = commands
        .iter()
        .filter_map(|(_, command)| own::origin(command, host.name));
    let (program, state) = origins
        .next()
        .unwrap_or_else(|| (place.program.to_path_buf(), None));
    let place = &Place {
        program: &program,
        state: state.as_deref().or(place.state),
        ..*place
    };
    for file in hosts::files(host, place)? {
        let Some(before) = read(&file.path)? else {
            continue;
        };
        if !file.may_replace(&before) {
            continue;
        }
        let unfit = |reason| unfit(&file.path, reason);
        let is_only_ours = file.is_own || file.insert("").map_err(unfit)? == before;
        let after = file.remove(&before).map_err(unfit)?;
        changes.push(FileChange {
            path: file.path.clone(),
            after: (!is_only_ours && !after.is_empty()).then_some(after),
            before: Some(before),
        });
    }
    Ok(changes)
}

/// Our part of a host's configuration, as it is.
#[derive(Debug, Default)]
pub(crate) struct Installed {
    /// The command of each event, by the host's name of it.
    pub(crate) commands: Vec<(&'static str, String)>,
    /// True if the MCP server is registered.
    pub(crate) has_server: bool,
    /// The file of the hooks.
    pub(crate) hooks: PathBuf,
}

/// Reads what is installed for a host; `None` if no hook is.
pub(crate) fn installed(host: &'static HookHost, place: &Place<'_>) -> Option<Installed> {
    let mut installed = Installed {
        has_server: true,
        ..Installed::default()
    };
    for file in hosts::files(host, place).ok()? {
        // A file that cannot be read has nothing of ours that works.
        let text = read(&file.path).ok().flatten().unwrap_or_default();
        for edit in &file.edits {
            match edit {
                Edit::Element { path, .. } => {
                    let elements = json_text::elements(&text, path).unwrap_or_default();
                    let mut commands = elements.iter();
                    let command = commands.find_map(|element| hosts::command_of(element, host));
                    let event = path.last().copied().unwrap_or_default();
                    installed
                        .commands
                        .extend(command.map(|command| (event, command)));
                    installed.hooks.clone_from(&file.path);
                }
                Edit::Member { .. } | Edit::Block { .. } | Edit::Entry { .. } => {
                    let without = file.remove_edit(&text, edit);
                    installed.has_server &= without.is_ok_and(|without| without != text);
                }
                Edit::Initial { .. } | Edit::Text(_) => {}
            }
        }
    }
    (!installed.commands.is_empty()).then_some(installed)
}

/// The commands that `install` writes for the hooks of a host.
pub(crate) fn commands(host: &HookHost, place: &Place<'_>) -> Vec<String> {
    hosts::commands(host, place)
}

/// The hosts that hooks are installed in, for the user or for a project.
pub(crate) fn installed_hosts(project: Option<&Path>) -> Vec<&'static HookHost> {
    let Some(home) = home_dir() else {
        return Vec::new();
    };
    let directories = Directories::of_process(&home);
    let is_installed = |host: &&'static HookHost| {
        let place = |project| Place {
            directories: &directories,
            project,
            program: Path::new(""),
            state: None,
        };
        let has_hooks = |project| installed(host, &place(project)).is_some();
        has_hooks(None) || project.is_some_and(|project| has_hooks(Some(project)))
    };
    HOSTS.into_iter().filter(is_installed).collect()
}

/// Writes a change.
pub(crate) fn apply(change: &FileChange) -> Result<(), InstallError> {
    let failed = |error| InstallError::Io {
        path: change.path.clone(),
        error,
    };
    match &change.after {
        _ if change.before == change.after => Ok(()),
        Some(text) => {
            if let Some(parent) = change.path.parent() {
                fs::create_dir_all(parent).map_err(failed)?;
            }
            write_atomically(&change.path, text).map_err(failed)
        }
        None => {
            fs::remove_file(&change.path).map_err(failed)?;
            remove_own_directories(&change.path);
            Ok(())
        }
    }
}

/// Removes the directories of a plugin of ours once they are empty.
fn remove_own_directories(file: &Path) {
    const OWN: &str = "plugins/workflow-sidecar";
    let is_own = |directory: &&Path| {
        let mut above = directory.ancestors().take(2);
        above.any(|directory| directory.ends_with(OWN))
    };
    for directory in file.ancestors().skip(1).take_while(is_own) {
        if let Err(error) = fs::remove_dir(directory) {
            tracing::debug!("{} stays: {error}", directory.display());
        }
    }
}

fn read(path: &Path) -> Result<Option<String>, InstallError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(InstallError::Io {
            path: path.to_path_buf(),
            error,
        }),
    }
}

fn unfit(path: &Path, reason: String) -> InstallError {
    InstallError::Unfit {
        path: path.to_path_buf(),
        reason,
    }
}

impl TargetFile {
    /// Adds our part.
    fn insert(&self, text: &str) -> Result<String, String> {
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
                Edit::Entry { key, name, members } => yaml_entry::insert(&text, key, name, members),
                Edit::Text(text) => Ok(text.clone()),
            })
    }

    /// Returns true if our part is there as it would be written.
    fn is_current(&self, text: &str) -> bool {
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
            Edit::Entry { key, name, members } => yaml_entry::has(text, key, name, members),
            Edit::Initial { .. } => true,
            Edit::Text(own) => text == own,
        })
    }

    /// Removes our part.
    fn remove(&self, text: &str) -> Result<String, String> {
        // The last one first, so that what an edit created is empty when its turn comes.
        let mut edits = self.edits.iter().rev();
        edits.try_fold(text.to_owned(), |text, edit| self.remove_edit(&text, edit))
    }

    fn remove_edit(&self, text: &str, edit: &Edit) -> Result<String, String> {
        match edit {
            Edit::Element { path, .. } => {
                json_text::remove_elements(text, path, |element| self.is_ours(element))
            }
            Edit::Member { path, .. } => {
                json_text::remove_member(text, path, |value| self.is_ours(value))
            }
            Edit::Block { header, .. } => Ok(toml_block::remove(text, header)),
            Edit::Entry { key, name, .. } => Ok(yaml_entry::remove(text, key, name, |entry| {
                self.is_ours(entry)
            })),
            Edit::Initial { .. } | Edit::Text(_) => Ok(text.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests;
