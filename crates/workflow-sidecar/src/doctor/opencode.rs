//! The plugin for opencode: what is installed.

use std::path::Path;

use super::result::{CheckSubject, InstallationCheck};
use crate::install::{FileChange, InstallTarget, opencode, plan};
use crate::platform::on_path;

const INSTALL: &str = "workflow-sidecar install opencode";

/// Checks the plugins that are installed, for the user or for the project; without one, that opencode is on the path.
pub(super) fn plugins(project: &Path) -> Vec<InstallationCheck> {
    let targets = [None, Some(project)].map(InstallTarget::of_process);
    let installed: Vec<_> = targets.iter().flatten().filter_map(check).collect();
    if !installed.is_empty() {
        return installed;
    }
    let missing = on_path(opencode::NAME).map(|path| {
        let text = format!("{}; no plugin is installed", path.display());
        CheckSubject(opencode::NAME).ok(text).help(INSTALL)
    });
    missing.into_iter().collect()
}

/// Checks one installation. opencode skips a plugin silently if it cannot load it.
fn check(target: &InstallTarget) -> Option<InstallationCheck> {
    let loader = opencode::installed(target)?;
    let program = opencode::installed_program(&loader).filter(|program| program.is_file());
    let Some(program) = program else {
        let text = format!("{} names a program that does not exist", loader.display());
        return Some(CheckSubject(opencode::NAME).fail(text, INSTALL));
    };
    // A program or a store elsewhere is in the file that opencode loads, which is not compared therefore.
    let is_current = plan(None, target).is_ok_and(|changes| {
        let mut sources = changes.iter().filter(|change| change.path != loader);
        sources.all(FileChange::is_made)
    });
    if !is_current {
        let text = format!(
            "the plugin beside {} is not that of this version",
            loader.display()
        );
        return Some(CheckSubject(opencode::NAME).warn(text, INSTALL));
    }
    let text = format!(
        "the plugin is installed in {}, and starts {}",
        loader.display(),
        program.display()
    );
    Some(CheckSubject(opencode::NAME).ok(text))
}
