//! The loading of definitions while a session is recorded: it notes all reads of the disk.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use workflow_core::definition::{FilePath, FileProblem, Files, Loaded, Tier, TierEntry, load};

use super::definitions::{FileContent, PROJECT, RecordedDirectory, project_name};
use crate::platform::disk::Disk;
use crate::server::{Loader, no_project};

/// Loads from the disk.
#[derive(Debug, Default)]
pub(super) struct RecordingLoader(pub(super) Arc<Mutex<Vec<ReadDirectory>>>);

/// A directory, by its name in a transcript, with the files that were read.
pub(super) type ReadDirectory = (String, RecordedDirectory);

impl Loader for RecordingLoader {
    fn load(&self, agent_dir: &Path, cwd: &Path) -> Arc<Loaded> {
        let files = RecordingFiles {
            disk: Disk::new(agent_dir.to_path_buf(), cwd.to_path_buf()),
            directories: RefCell::default(),
        };
        let mut loaded = load(&files);
        let [mut global, mut project] = files.directories.into_inner();
        global.tidy();
        project.tidy();
        if !cwd.is_dir() {
            let missing = FileContent::problem(&FileProblem::Missing);
            project.0.insert(PROJECT.to_owned(), missing);
            loaded.diagnostics.push(no_project(cwd));
        }
        self.0.lock().extend([
            (agent_dir.to_string_lossy().into_owned(), global),
            (project_name(&cwd.to_string_lossy()), project),
        ]);
        Arc::new(loaded)
    }
}

/// The disk, for one load.
struct RecordingFiles {
    disk: Disk,
    directories: RefCell<[RecordedDirectory; 2]>,
}

impl Files for RecordingFiles {
    fn entries(&self, tier: Tier) -> Result<Vec<TierEntry>, FileProblem> {
        let entries = self.disk.entries(tier);
        self.directories.borrow_mut()[tier as usize].note_entries(&entries);
        entries
    }

    fn read(&self, path: &FilePath, max_bytes: u32) -> Result<Vec<u8>, FileProblem> {
        let read = self.disk.read(path, max_bytes);
        self.directories.borrow_mut()[path.tier() as usize].note_file(path, &read);
        read
    }

    fn shown(&self, path: &FilePath) -> String {
        self.disk.shown(path)
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
        let recording = RecordingLoader::default();
        let loaded = recording.load(&agent, &cwd);
        assert!(!loaded.diagnostics.is_empty());
        let read = std::mem::take(&mut *recording.0.lock());
        let [(_, global), (name, project)] = read.try_into().unwrap();
        assert_eq!(global, RecordedDirectory::default());
        let names: Vec<&str> = project.0.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "workflows/_shared/b.md",
                "workflows/empty/",
                "workflows/w/a.md",
                "workflows/w/workflow.yaml"
            ]
        );
        recording.load(&agent, &cwd);
        assert_eq!(recording.0.lock()[1].1, project);
        let transcript = super::super::transcript_loader::TranscriptLoader::default();
        transcript.define([(name, project)].into());
        assert_eq!(transcript.load(&agent, &cwd), loaded);
    }
}
