//! What pi has installed, from its settings: a list of packages, each by its source.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use workflow_core::diagnostic::shown;

use super::Check;
use crate::platform::disk::HOST_DIRECTORY;

/// The package that holds the extension.
const PACKAGE: &str = "workflow-sidecar";
/// The package it takes over from.
const RIVAL: &str = "@harms-haus/pi-workflows";

const SUBJECT: &str = "extension";

/// Whether pi has the extension, and whether that fits this binary.
pub(super) fn extension(agent_dir: &Path, project: &Path, has_pi: bool) -> Check {
    let found = packages(agent_dir, project)
        .into_iter()
        .find(|package| package.name == PACKAGE);
    let this = env!("CARGO_PKG_VERSION");
    match found {
        None if !has_pi => Check::ok(SUBJECT, "not installed, as there is no pi"),
        None => Check::warn(SUBJECT, "not installed in pi").cure("pi install npm:workflow-sidecar"),
        Some(Package {
            source, version, ..
        }) => {
            let source = shown(&source);
            match version.as_deref() {
                None => Check::warn(
                    SUBJECT,
                    format!("{source}, which is not there yet: its version is not known"),
                )
                .cure("start pi once: it installs what is missing"),
                Some(version) if version == this => {
                    Check::ok(SUBJECT, format!("{version}: {source}"))
                }
                Some(other) => {
                    let other = shown(other);
                    Check::fail(
                        SUBJECT,
                        format!("{other}, but this binary is {this}: {source}"),
                    )
                    .cure("install the same version of both: pi update --extensions")
                }
            }
        }
    }
}

/// Whether pi also has the package that this one takes over from: both would act.
pub(super) fn rival(agent_dir: &Path, project: &Path) -> Option<Check> {
    let packages = packages(agent_dir, project);
    let has = |name: &str| packages.iter().find(|package| package.name == name);
    let (Some(_), Some(rival)) = (has(PACKAGE), has(RIVAL)) else {
        return None;
    };
    let source = shown(&rival.source);
    let text = format!("{source} is installed as well: both would start workflows");
    Some(Check::fail(SUBJECT, text).cure(format!("pi remove {source}")))
}

/// A package that pi loads.
struct Package {
    /// What the settings say.
    source: String,
    name: String,
    /// `None` where it is not known, or not there.
    version: Option<String>,
}

/// The user's packages and the project's; what cannot be read has none.
fn packages(agent_dir: &Path, project: &Path) -> Vec<Package> {
    let places = [agent_dir.to_path_buf(), project.join(HOST_DIRECTORY)];
    let of = |place: &PathBuf| -> Vec<Package> {
        let settings = json(&place.join("settings.json")).unwrap_or_default();
        let listed = settings["packages"].as_array().cloned().unwrap_or_default();
        let sources = listed.iter().filter_map(|entry| {
            let source = entry.as_str().or_else(|| entry["source"].as_str());
            source.and_then(|source| package(source, place))
        });
        sources.collect()
    };
    places.iter().flat_map(of).collect()
}

/// A package by its source, which stands in the settings of a place. Those from a repository are of no interest.
fn package(source: &str, place: &Path) -> Option<Package> {
    let package = |name: &str, version| Package {
        source: source.to_owned(),
        name: name.to_owned(),
        version,
    };
    if let Some(named) = source.strip_prefix("npm:") {
        // The name may start with an `@` of its own.
        let at = named.char_indices().skip(1).find(|&(_, c)| c == '@');
        let (name, asked) = at.map_or((named, None), |(at, _)| {
            (&named[..at], Some(&named[at + 1..]))
        });
        let installed = manifest(&place.join("npm/node_modules").join(name));
        let version = installed.map(|(_, version)| version);
        return Some(package(name, version.or(asked.map(str::to_owned))));
    }
    let directory = match source.strip_prefix("~/") {
        Some(rest) => crate::platform::home::home_dir()?.join(rest),
        None => place.join(source),
    };
    let (name, version) = manifest(&directory)?;
    Some(package(&name, Some(version)))
}

/// Name and version of a package in a directory.
fn manifest(directory: &Path) -> Option<(String, String)> {
    let manifest = json(&directory.join("package.json"))?;
    let text = |key: &str| manifest[key].as_str().map(str::to_owned);
    Some((text("name")?, text("version")?))
}

fn json(path: &Path) -> Option<Value> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::super::Status;
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn agent_dir(packages: &str) -> TempDir {
        let place = tempfile::tempdir().unwrap();
        write(
            place.path(),
            "settings.json",
            &format!(r#"{{"packages": {packages}}}"#),
        );
        place
    }

    fn found(place: &TempDir) -> Check {
        extension(place.path(), Path::new("/nowhere"), true)
    }

    #[test]
    fn an_installed_package_has_the_version_of_its_manifest() {
        let place = agent_dir(r#"["npm:other", {"source": "npm:workflow-sidecar@0.0.1"}]"#);
        assert_eq!(found(&place).status, Status::Fail);
        let manifest = format!(
            r#"{{"name": "workflow-sidecar", "version": "{}"}}"#,
            env!("CARGO_PKG_VERSION")
        );
        write(
            place.path(),
            "npm/node_modules/workflow-sidecar/package.json",
            &manifest,
        );
        assert_eq!(found(&place).status, Status::Ok);
    }

    #[test]
    fn a_local_package_is_known_by_its_name() {
        let place = agent_dir(r#"["./here"]"#);
        assert_eq!(found(&place).status, Status::Warn);
        write(
            place.path(),
            "here/package.json",
            r#"{"name": "workflow-sidecar", "version": "0.0.1"}"#,
        );
        assert_eq!(found(&place).status, Status::Fail);
    }

    #[test]
    fn what_is_no_list_of_packages_has_none() {
        for packages in ["7", "[7, null, {}]", "{"] {
            assert_eq!(
                found(&agent_dir(packages)).status,
                Status::Warn,
                "{packages}"
            );
        }
    }

    #[test]
    fn the_package_it_takes_over_from_is_in_the_way() {
        let place = agent_dir(r#"["npm:workflow-sidecar", "npm:@harms-haus/pi-workflows@1.0.0"]"#);
        let rival = rival(place.path(), Path::new("/nowhere")).unwrap();
        assert_eq!(rival.status, Status::Fail);
    }
}
