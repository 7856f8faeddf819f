//! The loading of definitions while a session is recorded.
//!
//! Notes all reads of the disk. Must not know how they are used.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use workflow_core::definition::{FilePath, FileProblem, Files, Loaded, Tier, TierEntry, load};

use super::definitions::{Content, Directory};
use super::transcript_loader::project_name;
use crate::platform::disk::Disk;
use crate::server::{Loader, no_project};

/// Loads from the disk and notes the reads.
#[derive(Debug)]
pub(super) struct RecordingLoader(pub(super) Arc<Mutex<Vec<Load>>>);

/// The reads of one directory.
#[derive(Debug)]
pub(super) struct Load {
    /// The directory, as a transcript names it.
    pub(super) name: String,
    pub(super) reads: Reads,
}

/// The results of reads in a directory.
#[derive(Debug, Default)]
pub(super) struct Reads {
    /// True if the project that it belongs to does not exist.
    is_missing: bool,
    entries: Option<Result<Vec<TierEntry>, FileProblem>>,
    /// By the name in a transcript; `None` is a file that is not there.
    files: BTreeMap<String, Option<Content>>,
}

impl Loader for RecordingLoader {
    fn load(&self, agent_dir: &Path, cwd: &Path) -> Arc<Loaded> {
        let files = RecordingFiles {
            disk: Disk::new(agent_dir.to_path_buf(), cwd.to_path_buf()),
            reads: RefCell::default(),
        };
        let mut loaded = load(&files);
        let [global, mut project] = files.reads.into_inner();
        project.is_missing = !cwd.is_dir();
        if project.is_missing {
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
struct RecordingFiles {
    disk: Disk,
    reads: RefCell<[Reads; 2]>,
}

impl Files for RecordingFiles {
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
    /// True if a directory with this content would have given the same results.
    pub(super) fn agree_with(&self, directory: &Directory) -> bool {
        let same_entries = self
            .entries
            .as_ref()
            .is_none_or(|entries| alike(entries, &directory.entries()));
        let mut files = self.files.iter();
        let same_project = directory.has_project() != self.is_missing;
        same_project
            && same_entries
            && files.all(|(name, content)| directory.0.get(name) == content.as_ref())
    }

    /// A directory that gives the same results.
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
        if self.is_missing {
            directory.note_no_project();
        }
        directory
    }
}

/// True if two results are the same in a transcript.
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
    fn a_recorded_directory_loads_the_same_definitions() {
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
        let loaded = RecordingLoader(Arc::clone(&loads)).load(&agent, &cwd);
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
        RecordingLoader(Arc::clone(&again)).load(&agent, &cwd);
        let again = again.lock().unwrap();
        assert!(again[1].reads.agree_with(&directory));
        let transcript = super::super::transcript_loader::TranscriptLoader::default();
        transcript.embed([(project.name, directory)].into());
        assert_eq!(transcript.load(&agent, &cwd), loaded);
    }
}
