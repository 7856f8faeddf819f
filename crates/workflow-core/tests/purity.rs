//! The core stays pure: what it may depend on, and what it may not name.

use std::path::{Path, PathBuf};

const ALLOWED: &[&str] = &[
    "annotate-snippets",
    "globset",
    "granit-parser",
    "jiff",
    "json5",
    "regex",
    "serde",
    "serde_json",
    "sha2",
    "strsim",
    "thiserror",
    "workflow-shell",
];

const FORBIDDEN: &[&str] = &[
    "std::fs",
    "std::net",
    "std::process",
    "std::thread",
    "std::env",
    "SystemTime",
    "Instant::now",
    "tokio",
    "jsonrpsee",
    "async fn",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn only_pure_crates_are_dependencies() {
    let manifest =
        std::fs::read_to_string(root().join("Cargo.toml")).expect("the manifest is readable");
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

#[test]
fn no_source_names_the_world_outside() {
    let mut found = Vec::new();
    let mut check = |path: &Path, text: &str| {
        for (number, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
        {
            for word in FORBIDDEN.iter().filter(|word| line.contains(**word)) {
                found.push(format!("{}:{}: {word}", path.display(), number + 1));
            }
        }
    };
    visit(&root().join("src"), &mut check);
    visit(&root().join("../workflow-shell/src"), &mut check);
    assert!(found.is_empty(), "{found:#?}");
}

fn visit(directory: &Path, check: &mut dyn FnMut(&Path, &str)) {
    for entry in std::fs::read_dir(directory).expect("sources are readable") {
        let path = entry.expect("sources are readable").path();
        if path.is_dir() {
            visit(&path, check);
        } else {
            check(
                &path,
                &std::fs::read_to_string(&path).expect("sources are text"),
            );
        }
    }
}
