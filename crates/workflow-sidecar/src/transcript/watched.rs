//! Reading definitions, and remembering what was read.
//!
//! Owns the port between the engine's loading and the disk while a session is recorded. Must not know
//! what is done with it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use workflow_core::definition::{FilePath, FileProblem, Files, Loaded, Tier, TierEntry, load};

use super::definitions::{Content, Directory};
use super::held::project_name;
use crate::platform::disk::Disk;
use crate::serve::{Loader, no_project};

/// Loads from the disk and leaves word of what was read.
#[derive(Debug)]
pub(super) struct Watched(pub(super) Arc<Mutex<Vec<Load>>>);

/// What was read of one directory.
#[derive(Debug)]
pub(super) struct Load {
    /// The directory, as a transcript names it.
    pub(super) name: String,
    pub(super) reads: Reads,
}

/// What a directory answered.
#[derive(Debug, Default)]
pub(super) struct Reads {
    /// Whether the project it belongs to is not there.
    is_nowhere: bool,
    entries: Option<Result<Vec<TierEntry>, FileProblem>>,
    /// By the name in a transcript; `None` is a file that is not there.
    files: BTreeMap<String, Option<Content>>,
}

impl Loader for Watched {
    fn load(&self, agent_dir: &Path, cwd: &Path) -> Arc<Loaded> {
        let files = WatchedFiles {
            disk: Disk::new(agent_dir.to_path_buf(), cwd.to_path_buf()),
            reads: RefCell::default(),
        };
        let mut loaded = load(&files);
        let [global, mut project] = files.reads.into_inner();
        project.is_nowhere = !cwd.is_dir();
        if project.is_nowhere {
            loaded.diagnostics.push(no_project(cwd));
        }
        let loads = [
            (agent_dir.to_string_lossy().into_owned(), global),
            (project_name(&cwd.to_string_lossy()), project),
        ];
        let loads = loads.map(|(name, reads)| Load { name, reads });
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(loads);
        Arc::new(loaded)
    }
}

/// The disk, for one load.
struct WatchedFiles {
    disk: Disk,
    reads: RefCell<[Reads; 2]>,
}

impl Files for WatchedFiles {
    fn entries(&self, tier: Tier) -> Result<Vec<TierEntry>, FileProblem> {
        let entries = self.disk.entries(tier);
        self.reads.borrow_mut()[tier as usize].entries = Some(entries.clone());
        entries
    }

    fn read(&self, path: &FilePath, max_bytes: u32) -> Result<Vec<u8>, FileProblem> {
        let read = self.disk.read(path, max_bytes);
        let content = match &read {
            Ok(bytes) => Some(Content::of(bytes)),
            Err(FileProblem::Missing) => None,
            Err(problem) => Some(Content::problem(problem)),
        };
        let files = &mut self.reads.borrow_mut()[path.tier() as usize].files;
        files.insert(Directory::name_of(path), content);
        read
    }

    fn shown(&self, path: &FilePath) -> String {
        self.disk.shown(path)
    }
}

impl Reads {
    /// Whether a directory that holds this would have answered the same.
    pub(super) fn agree_with(&self, held: &Directory) -> bool {
        let same_entries = self
            .entries
            .as_ref()
            .is_none_or(|entries| alike(entries, &held.entries()));
        let mut files = self.files.iter();
        let same_project = held.has_project() != self.is_nowhere;
        same_project
            && same_entries
            && files.all(|(name, content)| held.0.get(name) == content.as_ref())
    }

    /// A directory that answers the same.
    pub(super) fn into_directory(self) -> Directory {
        let mut directory = Directory::default();
        match &self.entries {
            Some(Ok(entries)) => entries.iter().for_each(|entry| directory.note_entry(entry)),
            Some(Err(problem)) => directory.note_closed(problem),
            None => {}
        }
        let files = self.files.into_iter();
        directory
            .0
            .extend(files.filter_map(|(name, content)| Some((name, content?))));
        directory.tidy();
        if self.is_nowhere {
            directory.note_no_project();
        }
        directory
    }
}

/// Whether two answers are the same, as far as a transcript can say it.
fn alike(
    one: &Result<Vec<TierEntry>, FileProblem>,
    other: &Result<Vec<TierEntry>, FileProblem>,
) -> bool {
    match (one, other) {
        (Err(one), Err(other)) => Content::problem(one) == Content::problem(other),
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_was_read_answers_the_same_again() {
        let root = tempfile::tempdir().unwrap();
        let (agent, cwd) = (root.path().join("agent"), root.path().join("project"));
        let workflows = cwd.join(".pi/workflows");
        for (path, text) in [
            ("w/workflow.yaml", &b"name: W\ncommandName: w\ninitialMessage: Go\nphases: [a.md, ../_shared/b.md, gone.md]\n"[..]),
            ("w/a.md", b"---\nid: a\nname: A\nemoji: a\n---\n\xff\n"),
            ("_shared/b.md", b"---\nid: b\nname: B\nemoji: b\n---\nGo.\n"),
            ("empty/nothing.txt", b""),
        ] {
            fs::create_dir_all(workflows.join(path).parent().unwrap()).unwrap();
            fs::write(workflows.join(path), text).unwrap();
        }
        let loads = Arc::default();
        let loaded = Watched(Arc::clone(&loads)).load(&agent, &cwd);
        assert!(!loaded.diagnostics.is_empty());
        let mut loads = std::mem::take(&mut *loads.lock().unwrap());
        let (project, global) = (loads.pop().unwrap(), loads.pop().unwrap());
        assert!(global.reads.agree_with(&Directory::default()));
        assert!(!project.reads.agree_with(&Directory::default()));
        let directory = project.reads.into_directory();
        let names: Vec<&str> = directory.0.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "workflows/_shared/b.md",
                "workflows/empty/",
                "workflows/w/a.md",
                "workflows/w/workflow.yaml"
            ]
        );
        let again = Arc::default();
        Watched(Arc::clone(&again)).load(&agent, &cwd);
        let again = again.lock().unwrap();
        assert!(again[1].reads.agree_with(&directory));
        let held = super::super::held::Held::default();
        held.embed([(project.name, directory)].into());
        assert_eq!(held.load(&agent, &cwd), loaded);
    }
}
