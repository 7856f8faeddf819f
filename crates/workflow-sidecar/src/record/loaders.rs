//! The loading of definitions while a session is recorded, which notes all reads of the disk, and in a replay, which answers
//! with what was noted.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use parking_lot::Mutex;
use workflow_core::definition::{
    FilePath, FileProblem, Files, Loaded, Root, Tier, TierEntry, load,
};

use super::definitions::{DefinitionsLine, FileContent, PROJECT, RecordedDirectory, project_name};
use crate::definitions::{Loader, no_project};
use crate::platform::disk::{AGENTS_DIRECTORY, Disk, HOST_DIRECTORY, WORKFLOWS};

/// Loads from the disk.
#[derive(Debug, Default)]
pub(super) struct RecordingLoader(pub(super) Arc<Mutex<Vec<ReadDirectory>>>);

/// A directory, by its name in a transcript, with the files that were read.
pub(super) type ReadDirectory = (String, RecordedDirectory);

impl Loader for RecordingLoader {
    fn load(&self, agent_dir: &Path, cwd: &Path) -> Arc<Loaded> {
        let files = RecordedFiles {
            disk: Disk::new(agent_dir.to_path_buf(), cwd.to_path_buf()),
            directories: RefCell::default(),
            is_replay: false,
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

/// The files of one load: those of the disk, which are noted, or those that were noted.
struct RecordedFiles {
    /// In a replay it is not read, and knows the names of files.
    disk: Disk,
    directories: RefCell<[RecordedDirectory; 2]>,
    is_replay: bool,
}

impl Files for RecordedFiles {
    fn entries(&self, root: Root) -> Result<Vec<TierEntry>, FileProblem> {
        let directory = &mut self.directories.borrow_mut()[root.tier() as usize];
        if self.is_replay {
            return directory.entries(root);
        }
        let entries = self.disk.entries(root);
        directory.note_entries(root, &entries);
        entries
    }

    fn read(&self, path: &FilePath, max_bytes: u32) -> Result<Vec<u8>, FileProblem> {
        let directory = &mut self.directories.borrow_mut()[path.tier() as usize];
        if self.is_replay {
            return directory.read(path, max_bytes).map(<[u8]>::to_vec);
        }
        let read = self.disk.read(path, max_bytes);
        directory.note_file(path, &read);
        read
    }

    fn shown(&self, path: &FilePath) -> String {
        self.disk.shown(path)
    }
}

/// Loads the definitions of a transcript.
#[derive(Debug, Default)]
pub(super) struct ReplayLoader {
    /// The definitions that replace all in the transcript.
    instead: Tiers,
    /// By name.
    directories: Mutex<HashMap<String, RecordedDirectory>>,
    /// The directories of `instead` that were used, by the names that they have in the transcript.
    replaced: Mutex<BTreeMap<String, RecordedDirectory>>,
}

/// The names of a host's directories in a transcript written by hand.
pub(super) const AGENT_DIR: &str = "$AGENT";
const CWD: &str = "$CWD";

/// The user's and the project's definitions in a directory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tiers([Option<RecordedDirectory>; 2]);

/// The paths of a user's and of a project's definitions in a directory, and which of them exist.
fn paths(directory: &Path) -> Result<([PathBuf; 2], [bool; 2])> {
    if !directory.is_dir() {
        bail!("there is no directory {}", directory.display());
    }
    let paths = ["agent", "project"].map(|name| directory.join(name));
    let has = paths.each_ref().map(|path| path.is_dir());
    let has_definitions = |project: &Path| {
        let of_agents = project.join(AGENTS_DIRECTORY).join(WORKFLOWS);
        project.join(HOST_DIRECTORY).is_dir() || of_agents.is_dir()
    };
    // A project may have directories of any name.
    if has_definitions(directory) {
        return Ok(([PathBuf::new(), directory.to_path_buf()], [false, true]));
    }
    let [_, project] = &paths;
    if has == [false, false] || has[1] && !has_definitions(project) {
        let empty = directory.display();
        bail!(
            "{empty} contains no definitions: it has no `.pi`, no `agent` and no `project` with a `.pi`"
        );
    }
    Ok((paths, has))
}

impl Tiers {
    /// Reads a project's directory with its `.pi`, or one that has an `agent` directory, a `project`, or both.
    pub(crate) fn read(directory: &Path) -> Result<Self> {
        let ([agent, project], has) = paths(directory)?;
        let recording = RecordingLoader::default();
        recording.load(&agent, &project);
        let read = std::mem::take(&mut *recording.0.lock());
        let mut read = read.into_iter().map(|(_, directory)| directory);
        Ok(Self(has.map(|has| read.next().filter(|_| has))))
    }

    /// Loads them alone, as they were read from a directory.
    pub(crate) fn loaded(&self, directory: &Path) -> Result<Loaded> {
        let ([agent, project], _) = paths(directory)?;
        let loaded = ReplayLoader::instead(self.clone()).load(&agent, &project);
        Ok(Arc::unwrap_or_clone(loaded))
    }

    /// The directories `$AGENT` and `$CWD` with them.
    fn directories(self) -> BTreeMap<String, RecordedDirectory> {
        let Self([agent, project]) = self;
        let named = [(AGENT_DIR.to_owned(), agent), (project_name(CWD), project)];
        let named = named.map(|(name, directory)| (name, directory.unwrap_or_default()));
        named.into()
    }

    /// True if there are any.
    pub(super) fn are_given(&self) -> bool {
        self.0.iter().any(Option::is_some)
    }

    /// The directory of this name beside a transcript, or among its definitions.
    fn beside(transcript: &Path, name: &str) -> Result<Self> {
        let parent = transcript.parent().unwrap_or(Path::new(""));
        let paths = [parent.join(name), parent.join("definitions").join(name)];
        let found = paths.iter().find(|path| path.is_dir());
        Self::read(found.unwrap_or(&paths[0]))
    }
}

impl DefinitionsLine {
    /// The directories that a line of this transcript sets.
    pub(super) fn directories(
        &self,
        transcript: &Path,
    ) -> Result<BTreeMap<String, RecordedDirectory>> {
        match self {
            Self::Named(name) => Ok(Tiers::beside(transcript, name)?.directories()),
            Self::Embedded(directories) => Ok(directories.clone()),
        }
    }
}

impl ReplayLoader {
    /// No definitions but these, where there are any.
    pub(super) fn instead(instead: Tiers) -> Self {
        Self {
            instead,
            ..Self::default()
        }
    }

    /// Forgets all directories: another recording begins.
    pub(super) fn clear(&self) {
        self.directories.lock().clear();
    }

    /// Sets the content of directories.
    pub(super) fn define(&self, directories: BTreeMap<String, RecordedDirectory>) {
        self.directories.lock().extend(directories);
    }

    /// The definitions that replaced the transcript's, by name.
    pub(super) fn replaced(&self) -> BTreeMap<String, RecordedDirectory> {
        self.replaced.lock().clone()
    }

    /// The content of a directory that the host named. It is noted if it replaces the transcript's.
    fn find(&self, tier: Tier, named: &str) -> RecordedDirectory {
        let name = match tier {
            Tier::Global => named.to_owned(),
            Tier::Project => project_name(named),
        };
        let Tiers(instead) = &self.instead;
        let Some(given) = &instead[tier as usize] else {
            let directories = self.directories.lock();
            return directories.get(&name).cloned().unwrap_or_default();
        };
        self.replaced.lock().insert(name, given.clone());
        given.clone()
    }
}

impl Loader for ReplayLoader {
    fn load(&self, agent_dir: &Path, cwd: &Path) -> Arc<Loaded> {
        let named = [(Tier::Global, agent_dir), (Tier::Project, cwd)];
        let directories = named.map(|(tier, path)| self.find(tier, &path.to_string_lossy()));
        let has_project = !directories[1].0.contains_key(PROJECT);
        let mut loaded = load(&RecordedFiles {
            disk: Disk::new(agent_dir.to_path_buf(), cwd.to_path_buf()),
            directories: directories.into(),
            is_replay: true,
        });
        if !has_project {
            loaded.diagnostics.push(no_project(cwd));
        }
        Arc::new(loaded)
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
            ("../../.agents/workflows/x/workflow.yaml", b"name: X\n"),
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
                "../.agents/workflows/x/workflow.yaml",
                "workflows/_shared/b.md",
                "workflows/empty/",
                "workflows/w/a.md",
                "workflows/w/workflow.yaml"
            ]
        );
        recording.load(&agent, &cwd);
        assert_eq!(recording.0.lock()[1].1, project);
        let transcript = ReplayLoader::default();
        transcript.define([(name, project)].into());
        assert_eq!(transcript.load(&agent, &cwd), loaded);
    }

    fn directory(json: &str) -> RecordedDirectory {
        serde_json::from_str(json).unwrap()
    }

    fn find(loader: &ReplayLoader, tier: Tier, named: &str) -> RecordedDirectory {
        loader.find(tier, named)
    }

    #[test]
    fn a_directory_is_found_by_its_name() {
        let loader = ReplayLoader::default();
        let all = directory(r#"{"workflows/a/":null}"#);
        loader.define(Tiers([None, Some(all.clone())]).directories());
        assert_eq!(find(&loader, Tier::Project, "$CWD"), all);
        let own = directory(r#"{"workflows/b/":null}"#);
        loader.define([("/p/.pi".to_owned(), own.clone())].into());
        assert_eq!(find(&loader, Tier::Project, "/p"), own);
        assert_eq!(find(&loader, Tier::Project, "/p/"), own);
        assert_ne!(find(&loader, Tier::Project, "/q"), own);
        assert_eq!(
            find(&loader, Tier::Global, "/p"),
            RecordedDirectory::default()
        );
        let instead = ReplayLoader::instead(Tiers([None, Some(all.clone())]));
        instead.define([("/p/.pi".to_owned(), own)].into());
        assert_eq!(find(&instead, Tier::Project, "/p"), all);
        loader.clear();
        assert_eq!(
            find(&loader, Tier::Project, "/p"),
            RecordedDirectory::default()
        );
    }

    #[test]
    fn definitions_are_a_project_or_what_is_called_agent_and_project() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| std::fs::create_dir_all(root.path().join(path)).unwrap();
        at("p/.pi/workflows/w");
        at("both/agent/workflows/a");
        at("both/project/.pi/workflows/w");
        at("nothing");
        let read = |name: &str| Tiers::read(&root.path().join(name));
        let Tiers([agent, project]) = read("p").unwrap();
        assert!(agent.is_none());
        assert_eq!(project, Some(directory(r#"{"workflows/w/":null}"#)));
        let Tiers([agent, project]) = read("both").unwrap();
        assert_eq!(agent, Some(directory(r#"{"workflows/a/":null}"#)));
        assert_eq!(project, Some(directory(r#"{"workflows/w/":null}"#)));
        let refused = |name: &str| read(name).unwrap_err().to_string();
        assert!(refused("nothing").ends_with("no `project` with a `.pi`"));
        assert!(refused("gone").starts_with("there is no directory "));
        at("bare/agent");
        at("bare/project/workflows");
        assert!(refused("bare").ends_with("no `project` with a `.pi`"));
        let beside = |name| Tiers::beside(&root.path().join("t.jsonl"), name);
        assert!(beside("p").is_ok() && beside("gone").is_err());
    }
}
