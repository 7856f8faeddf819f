//! The plans of an installation and a removal, and what is installed.

use std::path::{Path, PathBuf};

use anyhow::bail;

use super::changes::{FileChange, read, unfit};
use super::hosts::{self, InstallTarget};
use super::json_text::Ours;
use super::opencode;
use super::target_file::{Edit, TargetFile};
use crate::hook_hosts::{HOSTS, HookHost};
use crate::platform::installation::InstalledParts;

/// The files of a host; those of opencode without one.
fn files(
    host: Option<&'static HookHost>,
    target: &InstallTarget,
) -> anyhow::Result<Vec<TargetFile>> {
    match host {
        Some(host) => hosts::files(host, target),
        None => Ok(opencode::files(target)),
    }
}

/// Plans the installation for a host, or for opencode. What an earlier one wrote is replaced.
pub(crate) fn plan(
    host: Option<&'static HookHost>,
    target: &InstallTarget,
) -> anyhow::Result<Vec<FileChange>> {
    let paths = [&target.program, &target.directories.home];
    let mut paths = paths.into_iter().chain(&target.state);
    if let Some(path) = paths.find(|path| path.to_str().is_none()) {
        let path = path.display();
        bail!("{path} is not UTF-8, and the configuration of a host is: use another path");
    }
    let files = files(host, target)?.into_iter();
    files
        .map(|file| {
            let unfit = |reason: String| unfit(&file.path, &reason);
            let before = read(&file.path)?;
            if !before.as_ref().is_none_or(|text| file.may_replace(text)) {
                return Err(unfit("it is not ours: rename or remove it".to_owned()));
            }
            let text = before.as_deref().unwrap_or_default();
            let after = file.install(text).map_err(unfit)?;
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
    host: Option<&'static HookHost>,
    target: &InstallTarget,
) -> anyhow::Result<Vec<FileChange>> {
    let mut changes = Vec::new();
    for file in files(host, target)? {
        let Some(before) = read(&file.path)? else {
            continue;
        };
        if !file.may_replace(&before) {
            continue;
        }
        let after = file.remove(&before);
        let after = after.map_err(|reason| unfit(&file.path, &reason))?;
        changes.push(FileChange {
            path: file.path,
            before: Some(before),
            after: Some(after).filter(|after| !after.is_empty()),
        });
    }
    Ok(changes)
}

/// What an installation leaves in the files, without which the host has no rules.
pub(super) fn installed_parts(
    host: Option<&'static HookHost>,
    target: &InstallTarget,
) -> anyhow::Result<InstalledParts> {
    let parts = files(host, target)?.into_iter();
    let parts = parts.map(|file| (file.parts(), file.path));
    let parts = parts.filter(|(parts, _)| !parts.is_empty());
    Ok(parts.map(|(parts, path)| (path, parts)).collect())
}

/// Our part of a host's configuration, as it is.
#[derive(Debug, Default)]
pub(crate) struct Installed {
    /// The command of each event, by the host's name of it.
    pub(crate) commands: Vec<(&'static str, String)>,
    /// The file of the hooks.
    pub(crate) hooks: PathBuf,
}

/// Reads what is installed for a host; `None` if no hook is.
pub(crate) fn installed(host: &'static HookHost, target: &InstallTarget) -> Option<Installed> {
    let mut installed = Installed::default();
    for file in hosts::files(host, target).ok()? {
        // A file that cannot be read has nothing of ours that works.
        let text = read(&file.path).ok().flatten().unwrap_or_default();
        for edit in &file.edits {
            if let Edit::Json { place, .. } = edit
                && place.ours == Ours::Elements
            {
                let values = place.values(&text).unwrap_or_default();
                let command = values.iter().find_map(|value| file.command_of(value));
                let command = command.map(|command| (place.path[1], command));
                installed.commands.extend(command);
                installed.hooks.clone_from(&file.path);
            }
        }
    }
    (!installed.commands.is_empty()).then_some(installed)
}

/// Returns true if the MCP server is registered in the files of a host.
pub(crate) fn has_server(host: &'static HookHost, target: &InstallTarget) -> bool {
    let files = hosts::files(host, target).unwrap_or_default();
    files.iter().any(|file| {
        let text = read(&file.path).ok().flatten().unwrap_or_default();
        file.edits.iter().any(|edit| {
            let is_server = match edit {
                Edit::Json { place, .. } => place.ours == Ours::Whole,
                Edit::Table(_) => true,
                Edit::Text(_) => false,
            };
            let without = file.remove_edit(&text, edit);
            is_server && without.is_ok_and(|without| without != text)
        })
    })
}

/// The hosts that hooks or the plugin are installed in, for all users of the machine, the user or a project.
pub(crate) fn installed_hosts(project: Option<&Path>) -> Vec<&'static str> {
    let targets = InstallTarget::all(project);
    let is_installed = |host: &&'static HookHost| {
        let mut targets = targets.iter();
        targets.any(|target| installed(host, target).is_some())
    };
    let with_hooks = HOSTS.into_iter().filter(is_installed);
    let mut targets = targets.iter();
    let has_plugin = targets.any(|target| opencode::installed(target).is_some());
    let with_plugin = has_plugin.then_some(opencode::NAME);
    let with_hooks = with_hooks.map(|host| host.name);
    with_hooks.chain(with_plugin).collect()
}
