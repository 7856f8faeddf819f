//! Stray files: definitions and settings that look as if they were read, but are not.
//!
//! Finds misspelled directories, settings with another extension, definitions at the wrong depth, and phase files that
//! no workflow names.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use workflow_core::diagnostic::{Code, Diagnostic, Location, Severity};

use super::target::relative;
use crate::platform::disk::{AGENTS_DIRECTORY, HOST_DIRECTORY, WORKFLOWS};

/// Misspelt names of the workflows directory.
const DIRECTORIES: [&str; 2] = ["workflow", "Workflows"];
/// Misspelt names of the settings file.
const SETTINGS: [&str; 4] = [
    "workflow-sidecar.json",
    "workflow-sidecar.yaml",
    "workflow-sidecar.yml",
    "workflow-sidecar.jsonc",
];
/// Maximum number of reports of one kind.
const MAX_LISTED: usize = 20;

/// Finds stray files among the workflows and settings of a project; `here` is the working directory, `read` are the files that were
/// read, `broken` the directories of workflows with errors, which may name more.
pub(super) fn strays(
    project: &Path,
    here: &Path,
    read: &HashSet<PathBuf>,
    broken: &HashSet<&str>,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut note =
        |path: &Path, message: &str, help: &str| found.push(unread(path, here, message, help));
    let bases = [HOST_DIRECTORY, AGENTS_DIRECTORY].map(|base| project.join(base));
    let [base, _] = &bases;
    for path in DIRECTORIES.map(|name| base.join(name)) {
        // A file system may ignore case: then it is the directory that is read.
        if path.is_dir() && !same(&path, &base.join(WORKFLOWS)) {
            let help = "name it `workflows`";
            note(&path, "nothing looks into this directory", help);
        }
    }
    for path in SETTINGS.map(|name| base.join(name)) {
        if path.is_file() {
            let help = "name it `workflow-sidecar.json5`";
            note(&path, "this file is not read", help);
        }
    }
    let inside: Vec<PathBuf> = bases
        .iter()
        .flat_map(|base| entries(base.join(WORKFLOWS)))
        .collect();
    let definitions = inside
        .iter()
        .filter(|path| path.is_file() && is_definition(path));
    for path in definitions.take(MAX_LISTED) {
        let help = "move it into a separate directory, as `workflow.yaml` or `workflow.json5`";
        note(path, "this definition is not read", help);
    }
    for directory in inside.iter().filter(|path| path.is_dir()) {
        let name = directory.file_name().and_then(OsStr::to_str);
        let is_broken = name.is_some_and(|name| broken.contains(name));
        found.extend(strays_of(directory, here, read, is_broken));
    }
    found
}

/// Finds stray files in a workflow's directory.
fn strays_of(
    directory: &Path,
    here: &Path,
    read: &HashSet<PathBuf>,
    is_broken: bool,
) -> Vec<Diagnostic> {
    let is_workflow = read
        .iter()
        .any(|file| file.parent() == Some(directory) && is_definition(file));
    let mut found = Vec::new();
    for path in entries(directory).take(1000) {
        if path.is_dir() {
            let nested = ["workflow.yaml", "workflow.json5"].map(|name| path.join(name));
            if let Some(nested) = nested.iter().find(|nested| nested.is_file()) {
                let help = "move its directory up: only one level of directories is searched";
                found.push(unread(nested, here, "this definition is not read", help));
            }
        } else if is_workflow && !is_broken && !read.contains(&path) && is_phase(&path) {
            let message = "no workflow names this phase file";
            let stray = Diagnostic::new(Code::EntrySkipped, Severity::Info, message);
            found.push(
                stray
                    .at(file(&path, here))
                    .with_help("name it under `phases`, or remove it"),
            );
        }
    }
    found.truncate(MAX_LISTED);
    found
}

fn unread(path: &Path, here: &Path, message: &str, help: &str) -> Diagnostic {
    Diagnostic::new(Code::MisnamedDefinition, Severity::Warning, message)
        .at(file(path, here))
        .with_help(help)
}

fn file(path: &Path, here: &Path) -> Location {
    Location::file(&relative(path, here).to_string_lossy())
}

fn same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Returns the entries of a directory in order. The loader reports a directory that cannot be read.
fn entries(directory: impl AsRef<Path>) -> impl Iterator<Item = PathBuf> {
    let listed = fs::read_dir(directory).into_iter().flatten();
    let mut paths: Vec<PathBuf> = listed
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    paths.into_iter()
}

fn is_definition(path: &Path) -> bool {
    has_extension(path, &["yaml", "yml", "json5", "json"])
}

/// Returns true for a Markdown file with frontmatter.
fn is_phase(path: &Path) -> bool {
    use std::io::Read;
    let mut beginning = [0; 3];
    let mut read = || fs::File::open(path)?.read_exact(&mut beginning);
    has_extension(path, &["md"]) && path.is_file() && read().is_ok() && beginning == *b"---"
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| extensions.contains(&extension))
}
