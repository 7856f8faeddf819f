//! What the program is built from: why each crate is there, under which licence, for which Rust.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Every package that a build for this machine may take, as cargo knows it.
fn packages() -> Vec<Value> {
    let version = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let ask = |more: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["metadata", "--locked", "--format-version=1"]);
        cargo.args(["--filter-platform", host.unwrap()]).args(more);
        cargo.current_dir(root()).output().unwrap()
    };
    let mut metadata = ask(&["--offline"]);
    if !metadata.status.success() {
        // A build fetches no more than it needs, and this asks for all.
        metadata = ask(&[]);
    }
    assert!(metadata.status.success(), "{metadata:?}");
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn ours(packages: &[Value]) -> Vec<&Value> {
    let is_ours = |package: &&Value| package["source"].is_null();
    packages.iter().filter(is_ours).collect()
}

/// The crates that ours name, without ours.
fn direct(packages: &[Value]) -> BTreeSet<String> {
    let dependencies = ours(packages)
        .into_iter()
        .flat_map(|package| package["dependencies"].as_array().unwrap());
    let foreign = dependencies.filter(|dependency| dependency["path"].is_null());
    foreign
        .map(|dependency| dependency["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn every_dependency_has_a_reason() {
    let page = read("docs/DEPENDENCIES.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| "));
    let named = rows.filter_map(|row| row.split(" |").next());
    let named: BTreeSet<String> = named
        .filter(|name| !["Crate", "---"].contains(name))
        .map(ToOwned::to_owned)
        .collect();
    assert_eq!(named, direct(&packages()));
}

#[test]
fn every_dependency_is_used() {
    for package in ours(&packages()) {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        let mut code = String::new();
        for target in package["targets"].as_array().unwrap() {
            let source = Path::new(target["src_path"].as_str().unwrap());
            collect(source.parent().unwrap(), &mut code);
        }
        for dependency in package["dependencies"].as_array().unwrap() {
            let name = dependency["name"].as_str().unwrap().replace('-', "_");
            let uses = [format!("{name}::"), format!("use {name}")];
            let is_used = uses.iter().any(|form| code.contains(form));
            assert!(is_used, "{name} in {}", manifest.display());
        }
    }
}

fn collect(directory: &Path, code: &mut String) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, code);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            code.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn every_licence_is_one_that_is_allowed() {
    let deny = read("deny.toml");
    let allowed: Vec<&str> = deny
        .lines()
        .filter_map(|line| line.strip_prefix("  \"")?.strip_suffix("\","))
        .collect();
    let is_allowed = |licence: &str| allowed.contains(&licence.trim_matches([' ', '(', ')']));
    for package in packages() {
        let licence = package["license"].as_str().unwrap_or_default();
        let licence = licence.replace('/', " OR ");
        let fits = licence
            .split(" AND ")
            .all(|part| part.split(" OR ").any(is_allowed));
        assert!(fits, "{}: {licence}", package["name"]);
    }
}

#[test]
fn everything_comes_from_the_one_registry() {
    let lock = read("Cargo.lock");
    let sources = lock
        .lines()
        .filter_map(|line| line.strip_prefix("source = "));
    let sources: BTreeSet<&str> = sources.collect();
    assert_eq!(sources.len(), 1, "{sources:?}");
    assert!(
        sources
            .iter()
            .all(|source| source.starts_with("\"registry+"))
    );
}

#[test]
fn no_dependency_asks_for_a_newer_rust_than_is_stated() {
    let packages = packages();
    let asked = |package: &Value| package["rust_version"].as_str().map(version);
    let stated = asked(ours(&packages)[0]).unwrap();
    for package in &packages {
        let asked = asked(package).unwrap_or_default();
        assert!(asked <= stated, "{} wants {asked:?}", package["name"]);
    }
}

fn version(text: &str) -> Vec<u32> {
    text.split('.').map(|part| part.parse().unwrap()).collect()
}
