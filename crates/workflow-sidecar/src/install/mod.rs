//! Our part of the configuration of hook hosts: written, removed, found.
//!
//! Edits are made in the text, so everything that is not ours stays byte for byte, and removing what was written gives the
//! text of before.

pub(crate) mod codex_trust;
mod directories;
mod file_change;
mod hosts;
mod json_text;
pub(crate) mod opencode;
mod own;
mod target_file;
mod toml_block;

use std::path::{Path, PathBuf};

use self::file_change::{read, unfit};
use self::target_file::Edit;
use crate::files::home_dir;
use crate::hook_hosts::{HOSTS, HookHost};

pub(crate) use self::directories::Directories;
pub(crate) use self::file_change::{FileChange, InstallError, apply};
pub(crate) use self::hosts::InstallTarget;

/// Plans the installation for a host. What an earlier one wrote is replaced.
pub(crate) fn plan(
    host: &'static HookHost,
    target: &InstallTarget<'_>,
) -> Result<Vec<FileChange>, InstallError> {
    let files = hosts::files(host, target)?.into_iter();
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
    target: &InstallTarget<'_>,
) -> Result<Vec<FileChange>, InstallError> {
    let mut changes = Vec::new();
    // A file is only ours if it is what the program that installed it has written.
    let commands = installed(host, target).map(|installed| installed.commands);
    let commands = commands.unwrap_or_default();
    let mut origins = commands
        .iter()
        .filter_map(|(_, command)| own::origin(command, host.name));
    let (program, state) = origins
        .next()
        .unwrap_or_else(|| (target.program.to_path_buf(), None));
    let target = &InstallTarget {
        program: &program,
        state: state.as_deref().or(target.state),
        ..*target
    };
    for file in hosts::files(host, target)? {
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
pub(crate) fn installed(host: &'static HookHost, target: &InstallTarget<'_>) -> Option<Installed> {
    let mut installed = Installed {
        has_server: true,
        ..Installed::default()
    };
    for file in hosts::files(host, target).ok()? {
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
                Edit::Member { .. } | Edit::Block { .. } => {
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
pub(crate) fn commands(host: &HookHost, target: &InstallTarget<'_>) -> Vec<String> {
    hosts::commands(host, target)
}

/// The hosts that hooks are installed in, for the user or for a project.
pub(crate) fn installed_hosts(project: Option<&Path>) -> Vec<&'static HookHost> {
    let Some(home) = home_dir() else {
        return Vec::new();
    };
    let directories = Directories::of_process(&home);
    let is_installed = |host: &&'static HookHost| {
        let target = |project| InstallTarget {
            directories: &directories,
            project,
            program: Path::new(""),
            state: None,
        };
        let has_hooks = |project| installed(host, &target(project)).is_some();
        has_hooks(None) || project.is_some_and(|project| has_hooks(Some(project)))
    };
    HOSTS.into_iter().filter(is_installed).collect()
}

#[cfg(test)]
mod tests;
