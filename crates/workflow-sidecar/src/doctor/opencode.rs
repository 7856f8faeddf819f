//! The plugin for opencode: what is installed.

use std::path::Path;

use super::hooks::version_of;
use super::result::{CheckSubject, InstallationCheck};
use crate::install::{FileChange, InstallTarget, opencode, plan};
use crate::platform::{ProgramVersion, version_in};

const SUBJECT: CheckSubject = CheckSubject(opencode::NAME);
const INSTALL: &str = "workflow-sidecar install opencode";

/// Checks the plugins that are installed, for the user or for the project; without one, that opencode is on the path.
pub(super) fn plugins(project: &Path) -> Vec<InstallationCheck> {
    let version = ProgramVersion::of(opencode::NAME);
    let targets = [None, Some(project)].map(InstallTarget::of_process);
    let mut rows: Vec<_> = targets.iter().flatten().filter_map(check).collect();
    let Some(version) = version else {
        return rows;
    };
    let is_installed = !rows.is_empty();
    let number = version.line.as_deref().and_then(version_in);
    let unusable = number.and_then(opencode::unusable);
    if !is_installed {
        let row = SUBJECT.ok("no plugin is installed");
        rows.push(match unusable {
            Some(_) => row,
            None => row.help(INSTALL),
        });
    }
    let fact = || match &unusable {
        Some(why) if is_installed => SUBJECT.fail(why, "install opencode 1"),
        Some(why) => SUBJECT.ok(why),
        None => version_of(SUBJECT, &version, is_installed),
    };
    let rows = rows.into_iter().map(|row| row.after(fact()));
    rows.collect()
}

/// Checks one installation. opencode skips a plugin silently if it cannot load it.
fn check(target: &InstallTarget) -> Option<InstallationCheck> {
    let loader = opencode::installed(target)?;
    let program = opencode::installed_program(&loader).filter(|program| program.is_file());
    let shown = loader.display();
    let Some(program) = program else {
        let text = format!("{shown} names a program that does not exist");
        return Some(SUBJECT.fail(text, INSTALL));
    };
    // A program or a store elsewhere is in the file that opencode loads, which is not compared therefore.
    let is_current = plan(None, target).is_ok_and(|changes| {
        let mut sources = changes.iter().filter(|change| change.path != loader);
        sources.all(FileChange::is_made)
    });
    if !is_current {
        let text = format!("the plugin beside {shown} is not that of this version");
        return Some(SUBJECT.warn(text, INSTALL));
    }
    let program = program.display();
    let text = format!("the plugin is installed in {shown}, and starts {program}");
    Some(SUBJECT.ok(text))
}
