//! The plugin for opencode: its sources are part of this program, so that both are of one version.
//!
//! opencode loads every file in `plugins/` of its configuration. The one that is written there names this program and
//! imports the sources beside it. No file of the user is changed.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use workflow_core::diagnostic::shown;

use super::hosts::InstallTarget;
use super::target_file::{Edit, TargetFile, WITH_PLUGIN};

/// The name of the host.
pub(crate) const NAME: &str = WITH_PLUGIN;

/// Says why a version of opencode does not load the plugin, if it does not.
pub(crate) fn unusable(version: &str) -> Option<String> {
    let major: u32 = version.split('.').next()?.parse().ok()?;
    (major >= 2).then(|| {
        let version = shown(version);
        format!("opencode {version} does not load plugins of this form, and would enforce nothing")
    })
}

/// The sources with their paths, as in the npm package.
macro_rules! sources {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../../../protocol/typescript/src/", $path)))),*]
    };
}

#[rustfmt::skip] // A list.
const SOURCES: &[(&str, &str)] = sources![
    "agent-shell.ts", "binary.ts", "branch.ts", "client.ts", "connection.ts", "entry-store.ts", "error.ts", "guard-status.ts", "lines.ts", "offline.ts",
    "types.ts", "pi/manifest.ts",
    "opencode/commands.ts", "opencode/host.ts", "opencode/plugin.ts", "opencode/prompt.ts", "opencode/questions.ts", "opencode/screen.ts",
    "opencode/session.ts", "opencode/sidecar.ts", "opencode/tools.ts",
];

/// The directory of the sources, in opencode's configuration.
const SOURCE_DIRECTORY: &str = "workflow-sidecar";
/// The file that opencode loads.
const LOADER: &str = "workflow-sidecar.ts";

/// The directory with the sources of the plugin.
pub(crate) fn source_directory(target: &InstallTarget) -> PathBuf {
    configuration(target).join(SOURCE_DIRECTORY)
}

/// The file that opencode loads, if it is installed.
pub(crate) fn installed(target: &InstallTarget) -> Option<PathBuf> {
    Some(loader(&configuration(target))).filter(|path| path.is_file())
}

/// The program that an installed plugin starts.
pub(crate) fn installed_program(loader: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(loader).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(SETTINGS))?;
    let settings: Value = serde_json::from_str(line.strip_suffix(';')?).ok()?;
    Some(PathBuf::from(settings["binary"].as_str()?))
}

const SETTINGS: &str = "const settings = ";

/// The sources and the file that opencode loads.
pub(super) fn files(target: &InstallTarget) -> Vec<TargetFile> {
    let base = configuration(target);
    let sources = base.join(SOURCE_DIRECTORY);
    let mut settings = json!({ "binary": target.program.to_string_lossy() });
    if let Some(state) = &target.state {
        settings["state"] = json!(state.join(NAME).to_string_lossy());
    }
    let text = format!(
        "// Written by `workflow-sidecar install opencode`; `workflow-sidecar uninstall opencode` removes it.\n\
         import {{ plugin }} from \"../{SOURCE_DIRECTORY}/opencode/plugin.ts\";\n\n\
         {SETTINGS}{settings};\n\n\
         export default {{ id: \"workflow-sidecar\", server: (input) => plugin(input, settings) }};\n"
    );
    let written = SOURCES
        .iter()
        .map(|(path, text)| (sources.join(path), (*text).to_owned()));
    // The sources first: a plugin whose imports are missing does not load, and opencode does not say so.
    let files = written.chain([(loader(&base), text)]);
    files
        .map(|(path, text)| TargetFile {
            path,
            host: NAME,
            edits: vec![Edit::Text(text)],
        })
        .collect()
}

fn configuration(target: &InstallTarget) -> PathBuf {
    target.in_project_or(".opencode", &target.directories.opencode)
}

fn loader(configuration: &Path) -> PathBuf {
    configuration.join("plugins").join(LOADER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::Directories;
    use crate::install::changes::apply;
    use crate::install::plan::{plan, plan_removal};

    fn target(directories: &Directories, program: &Path) -> InstallTarget {
        InstallTarget {
            directories: directories.clone(),
            project: None,
            program: program.to_path_buf(),
            plugin: None,
            state: None,
        }
    }

    #[test]
    fn the_sources_contain_all_that_they_import() {
        for (path, text) in SOURCES {
            let directory = Path::new(path).parent().expect("a path has a parent");
            for line in text.lines() {
                let Some((_, import)) = line.split_once("from \"./").map_or_else(
                    || {
                        line.split_once("from \"../")
                            .map(|(_, rest)| ("", format!("../{rest}")))
                    },
                    |(_, rest)| Some(("", rest.to_owned())),
                ) else {
                    continue;
                };
                let import = import.trim_end_matches("\";");
                let found = match import.strip_prefix("../") {
                    Some(above) => PathBuf::from(above),
                    None => directory.join(import),
                };
                assert!(
                    SOURCES.iter().any(|(path, _)| Path::new(path) == found),
                    "{path} imports {}",
                    found.display()
                );
            }
        }
    }

    #[test]
    fn what_is_installed_is_removed_again() {
        let home = tempfile::tempdir().expect("a directory");
        let program = Path::new("/opt/work \"flow\"/workflow-sidecar");
        let directories = Directories::new(home.path(), |_| None);
        let target = target(&directories, program);
        assert_eq!(installed(&target), None);
        for change in plan(None, &target).expect("a plan") {
            apply(&change).expect("it is written");
        }
        let loader = installed(&target).expect("it is installed");
        assert_eq!(installed_program(&loader).as_deref(), Some(program));
        let again = plan(None, &target).expect("a plan");
        assert!(again.iter().all(|change| change.before == change.after));
        for change in plan_removal(None, &target).expect("a plan") {
            apply(&change).expect("it is removed");
        }
        assert_eq!(installed(&target), None);
    }
}
