//! What lies where somebody may think that it is read, and is not.
//!
//! The loader looks into its own places only. Owns the places beside them: a misspelt directory, settings with
//! another ending, definitions that lie too high or too deep, phase files that no workflow names.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use workflow_core::diagnostic::{Code, Diagnostic, Location, Severity};

/// Names of a directory of workflows that nothing looks into.
const DIRECTORIES: [&str; 2] = ["workflow", "Workflows"];
/// Names of settings that nothing reads.
const SETTINGS: [&str; 4] = [
    "workflow-sidecar.json",
    "workflow-sidecar.yaml",
    "workflow-sidecar.yml",
    "workflow-sidecar.jsonc",
];
/// More of one kind are not told of.
const MOST: usize = 20;

/// What is not read, in a directory that holds workflows and settings; `read` are the files that are.
pub(super) fn strays(base: &Path, read: &HashSet<PathBuf>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for name in DIRECTORIES {
        let path = base.join(name);
        // Where case makes no difference it is the directory that is read.
        if path.is_dir() && !same(&path, &base.join("workflows")) {
            found.push(unread(
                &path,
                "nothing looks into this directory",
                "name it `workflows`",
            ));
        }
    }
    for name in SETTINGS {
        let path = base.join(name);
        if path.is_file() {
            found.push(unread(
                &path,
                "this file is not read",
                "name it `workflow-sidecar.json5`",
            ));
        }
    }
    let workflows = base.join("workflows");
    for path in entries(&workflows)
        .filter(|path| path.is_file() && is_definition(path))
        .take(MOST)
    {
        let cure = "put it into a directory of its own, as `workflow.yaml` or `workflow.json5`";
        found.push(unread(&path, "this definition is not read", cure));
    }
    let directories = entries(&workflows).filter(|path| path.is_dir());
    for directory in directories {
        found.extend(strays_of(&directory, read));
    }
    found
}

/// What is not read in a workflow's directory.
fn strays_of(directory: &Path, read: &HashSet<PathBuf>) -> Vec<Diagnostic> {
    let is_workflow = read
        .iter()
        .any(|file| file.parent() == Some(directory) && is_definition(file));
    let mut found = Vec::new();
    for path in entries(directory).take(1000) {
        if path.is_dir() {
            let nested = ["workflow.yaml", "workflow.json5"].map(|name| path.join(name));
            if let Some(nested) = nested.iter().find(|nested| nested.is_file()) {
                let cure = "move its directory up: workflows are looked for one level deep";
                found.push(unread(nested, "this definition is not read", cure));
            }
        } else if is_workflow && !read.contains(&path) && is_phase(&path) {
            let message = "no workflow names this phase file";
            let stray = Diagnostic::new(Code::EntrySkipped, Severity::Info, message);
            found.push(
                stray
                    .at(Location::file(&shown(&path)))
                    .with_help("name it under `phases`, or remove it"),
            );
        }
    }
    found.truncate(MOST);
    found
}

fn unread(path: &Path, message: &str, cure: &str) -> Diagnostic {
    Diagnostic::new(Code::MisnamedDefinition, Severity::Warning, message)
        .at(Location::file(&shown(path)))
        .with_help(cure)
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// What lies in a directory, in order.
fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let listed = fs::read_dir(directory).into_iter().flatten();
    let mut paths: Vec<PathBuf> = listed
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    paths.into_iter()
}

fn is_definition(path: &Path) -> bool {
    has_ending(path, &["yaml", "yml", "json5", "json"])
}

/// A Markdown file that begins as a phase does.
fn is_phase(path: &Path) -> bool {
    use std::io::Read;
    let mut beginning = [0; 3];
    let mut read = || fs::File::open(path)?.read_exact(&mut beginning);
    has_ending(path, &["md"]) && path.is_file() && read().is_ok() && beginning == *b"---"
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| endings.contains(&ending))
}
