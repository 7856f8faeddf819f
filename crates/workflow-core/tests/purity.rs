//! The dependencies of the core. What it may not use of the standard library is in its `clippy.toml`.

#![expect(clippy::disallowed_methods, reason = "the test reads the manifest")]

use std::path::Path;

const ALLOWED: &[&str] = &[
    "annotate-snippets",
    "globset",
    "granit-parser",
    "jiff",
    "json5",
    "memchr",
    "percent-encoding",
    "regex",
    "schemars",
    "serde",
    "serde_json",
    "serde_with",
    "sha2",
    "strsim",
    "thiserror",
    "workflow-shell",
];

#[test]
fn only_pure_crates_are_dependencies() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).expect("the manifest is readable");
    let section = manifest
        .split("[dependencies]")
        .nth(1)
        .expect("there are dependencies");
    let section = section.split("\n[").next().unwrap_or_default();
    let names = section
        .lines()
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|name| !name.is_empty());
    let foreign: Vec<&str> = names.filter(|name| !ALLOWED.contains(name)).collect();
    assert!(foreign.is_empty(), "not allowed in the core: {foreign:?}");
}
