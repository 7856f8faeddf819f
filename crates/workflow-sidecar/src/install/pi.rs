//! The extension for pi, which pi installs itself.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::files::{expanded_home, json};
use crate::platform::disk::{HOST_DIRECTORY, user_agent_dir};

/// The name of the host.
pub(crate) const NAME: &str = "pi";
/// The package of the extension.
pub(crate) const PACKAGE: &str = "workflow-sidecar";

const PROGRAM: &str = if cfg!(windows) { "pi.cmd" } else { "pi" };

/// Has pi install or remove the package.
pub(super) fn run(command: &str, for_project: bool, dry_run: bool) -> anyhow::Result<()> {
    let program = std::env::current_exe().context("the path of this program is not known")?;
    let settings_dir = if for_project {
        PathBuf::from(HOST_DIRECTORY)
    } else {
        user_agent_dir(None)
    };
    let installed = (command == "remove").then(|| installed_source(&settings_dir));
    let source = installed.flatten().unwrap_or_else(|| source(&program));
    let local = for_project.then_some("-l");
    let arguments = [command, &source].into_iter().chain(local);
    let line = format!("pi {}", arguments.clone().collect::<Vec<_>>().join(" "));
    anstream::println!("{line}");
    if dry_run {
        anstream::println!("Dry run: nothing was changed.");
        return Ok(());
    }
    match Command::new(PROGRAM).args(arguments).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => bail!(
            "`{line}` failed. With a checkout of the repository, `pi {command} <checkout>/protocol/typescript` needs no registry"
        ),
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "pi is not on the PATH. Install it with `npm install -g @earendil-works/pi-coding-agent`, then run `{line}`"
        ),
        Err(error) => Err(error).context("pi cannot be started"),
    }
}

/// The package as pi knows it: the one that this program came with, or the registry's.
fn source(program: &Path) -> String {
    let program = program.canonicalize();
    let program = program.as_deref().unwrap_or(Path::new(""));
    let beside = ["node_modules/workflow-sidecar", "protocol/typescript"];
    let packages = program
        .ancestors()
        .flat_map(|directory| beside.map(|package| directory.join(package)));
    let mut found = packages.filter(|package| package.join("package.json").is_file());
    found.next().map_or_else(
        || "npm:workflow-sidecar".to_owned(),
        |package| package.display().to_string(),
    )
}

/// The source of the extension in the settings in a directory, as `pi remove` finds it from elsewhere.
fn installed_source(settings_dir: &Path) -> Option<String> {
    let mut packages = packages(settings_dir).into_iter();
    let found = packages.find(|package| package.name == PACKAGE)?;
    if found.source.starts_with("npm:") {
        return Some(found.source);
    }
    Some(found.directory.display().to_string())
}

/// A package that pi loads.
pub(crate) struct Package {
    /// The source, as the settings name it.
    pub(crate) source: String,
    pub(crate) name: String,
    /// The directory of the package.
    pub(crate) directory: PathBuf,
    /// `None` if it is not known, or not installed.
    pub(crate) version: Option<String>,
}

/// Returns the packages of the settings in a directory. Settings that cannot be read have none: pi reports them itself.
pub(crate) fn packages(directory: &Path) -> Vec<Package> {
    let settings = json(&directory.join("settings.json")).unwrap_or_default();
    let listed = settings["packages"].as_array().cloned().unwrap_or_default();
    let sources = listed.iter().filter_map(|entry| {
        let source = entry.as_str().or_else(|| entry["source"].as_str());
        source.and_then(|source| package(source, directory))
    });
    sources.collect()
}

/// Resolves a source of the settings in a directory. Packages from a repository are not resolved.
fn package(source: &str, settings_dir: &Path) -> Option<Package> {
    let package = |name: &str, directory: &Path, version| Package {
        source: source.to_owned(),
        name: name.to_owned(),
        directory: directory.to_path_buf(),
        version,
    };
    if let Some(named) = source.strip_prefix("npm:") {
        // A scoped name starts with an `@`.
        let at = named.char_indices().skip(1).find(|&(_, c)| c == '@');
        let (name, requested) = at.map_or((named, None), |(at, _)| {
            (&named[..at], Some(&named[at + 1..]))
        });
        let directory = settings_dir.join("npm/node_modules").join(name);
        let version = manifest(&directory).map(|(_, version)| version);
        let version = version.or(requested.map(str::to_owned));
        return Some(package(name, &directory, version));
    }
    let directory = settings_dir.join(expanded_home(source));
    let (name, version) = manifest(&directory)?;
    Some(package(&name, &directory, Some(version)))
}

/// Returns name and version of the package in a directory.
fn manifest(directory: &Path) -> Option<(String, String)> {
    let manifest = json(&directory.join("package.json"))?;
    let text = |key: &str| manifest[key].as_str().map(str::to_owned);
    Some((text("name")?, text("version")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_that_is_installed_is_removed() {
        let directory = tempfile::tempdir().expect("a directory");
        let settings = directory.path().join("settings.json");
        let installed = |source: &str| {
            let text = format!("{{\"packages\": [\"npm:other\", \"{source}\"]}}");
            std::fs::write(&settings, text).expect("a file");
            installed_source(directory.path())
        };
        let package = directory.path().join("own");
        std::fs::create_dir(&package).expect("a directory");
        let manifest = "{\"name\": \"workflow-sidecar\", \"version\": \"1\"}";
        std::fs::write(package.join("package.json"), manifest).expect("a file");
        let npm = "npm:workflow-sidecar@1.2.3";
        assert_eq!(installed(npm).as_deref(), Some(npm));
        assert_eq!(installed("own"), Some(package.display().to_string()));
        assert_eq!(installed("npm:more"), None);
    }

    #[test]
    fn the_package_that_the_program_came_with_is_installed_before_that_of_the_registry() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().canonicalize().expect("a real path");
        let bin = root.join("node_modules/workflow-sidecar-linux-x64/bin");
        std::fs::create_dir_all(&bin).expect("directories");
        let program = bin.join("workflow-sidecar");
        std::fs::write(&program, "").expect("a file");
        assert_eq!(source(&program), "npm:workflow-sidecar");
        let package = root.join("node_modules/workflow-sidecar");
        std::fs::create_dir(&package).expect("a directory");
        std::fs::write(package.join("package.json"), "{}").expect("a file");
        assert_eq!(source(&program), package.display().to_string());
    }
}
