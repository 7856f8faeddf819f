//! Dependencies: the reason, the licence and the Rust version of each crate. The compiler finds unused ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Every package that a build for this machine may take, as cargo knows it.
static PACKAGES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let version = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let metadata = |more: &[&str]| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["metadata", "--locked", "--format-version=1"]);
        cargo.args(["--filter-platform", host.unwrap()]).args(more);
        cargo.current_dir(root()).output().unwrap()
    };
    let mut output = metadata(&["--offline"]);
    if !output.status.success() {
        // A build fetches only what it needs, and cargo metadata needs all.
        output = metadata(&[]);
    }
    assert!(output.status.success(), "{output:?}");
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
});

/// The packages of this workspace.
fn ours() -> impl Iterator<Item = &'static Value> {
    PACKAGES
        .iter()
        .filter(|package| package["source"].is_null())
}

/// The crates that our manifests name, without our own.
fn direct() -> BTreeSet<String> {
    let dependencies = ours().flat_map(|package| package["dependencies"].as_array().unwrap());
    let foreign = dependencies.filter(|dependency| dependency["path"].is_null());
    foreign
        .map(|dependency| dependency["name"].as_str().unwrap().to_owned())
        .collect()
}

/// Each dependency of the manifest has a comment in the line above.
#[test]
fn every_dependency_has_a_reason() {
    let manifest = read("Cargo.toml");
    let lines: Vec<&str> = manifest.lines().collect();
    let commented = lines.windows(2).filter(|pair| pair[0].starts_with("# "));
    let names = commented.filter_map(|pair| Some(pair[1].split_once(" = ")?.0.to_owned()));
    let without: Vec<String> = direct().difference(&names.collect()).cloned().collect();
    assert_eq!(without, [""; 0]);
}

#[test]
fn every_licence_is_one_that_is_allowed() {
    let deny = read("deny.toml");
    let allowed: Vec<&str> = deny
        .lines()
        .filter_map(|line| line.strip_prefix("  \"")?.strip_suffix("\","))
        .collect();
    let is_allowed = |licence: &str| allowed.contains(&licence.trim_matches([' ', '(', ')']));
    for package in PACKAGES.iter() {
        let licence = package["license"].as_str().unwrap_or_default();
        let licence = licence.replace('/', " OR ");
        let fits = licence
            .split(" AND ")
            .all(|part| part.split(" OR ").any(is_allowed));
        assert!(fits, "{}: {licence}", package["name"]);
    }
}

#[test]
fn no_dependency_asks_for_a_newer_rust_than_is_stated() {
    let asked = |package: &Value| package["rust_version"].as_str().map(version);
    let stated = ours().find_map(asked).unwrap();
    for package in PACKAGES.iter() {
        let asked = asked(package).unwrap_or_default();
        assert!(asked <= stated, "{} wants {asked:?}", package["name"]);
    }
}

/// The three numbers of a version: `1.89` is `1.89.0`.
fn version(text: &str) -> Vec<u32> {
    let parts = text.split('.').map(|part| part.parse().unwrap());
    parts.chain(std::iter::repeat(0)).take(3).collect()
}
