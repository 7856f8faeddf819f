//! The recorded state of all files of a project that a glob matches.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use workflow_core::definition::ProjectGlob;

use super::{FileState, hash};

impl FileState {
    /// Reads the states of the files that a glob matches, as one: absent without a match, unreadable after the deadline.
    ///
    /// Follows no links. Leaves out what tools install and generate: it is large, and no work of the project.
    pub(crate) fn of_all(root: &Path, glob: &ProjectGlob, end: Option<Instant>) -> Self {
        let mut found = BTreeMap::new();
        let mut directories = vec![String::new()];
        while let Some(directory) = directories.pop() {
            // A directory that cannot be listed is left out now and later.
            let entries = fs::read_dir(root.join(&directory)).into_iter().flatten();
            for entry in entries.flatten() {
                if end.is_some_and(|end| Instant::now() >= end) {
                    return Self::Unreadable;
                }
                let Ok(name) = entry.file_name().into_string() else {
                    continue;
                };
                let path = format!("{directory}{name}");
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !is_generated(&entry.path(), &name) => {
                        directories.push(format!("{path}/"));
                    }
                    Ok(kind) if kind.is_file() && glob.matches(&path) => {
                        let state = Self::of(&entry.path(), None).unwrap_or(Self::Unreadable);
                        found.insert(path, state);
                    }
                    Ok(_) | Err(_) => {}
                }
            }
        }
        if found.is_empty() {
            return Self::Absent;
        }
        let text = serde_json::to_vec(&found).expect("paths and states can be serialized");
        Self::Content(hash(text))
    }
}

/// Returns true for the repository, for installed packages, and for a directory that its tool marks as a cache.
fn is_generated(directory: &Path, name: &str) -> bool {
    let has = |file: &str| directory.join(file).exists();
    matches!(name, ".git" | "node_modules" | "__pycache__")
        || has("CACHEDIR.TAG")
        || has("pyvenv.cfg")
}
