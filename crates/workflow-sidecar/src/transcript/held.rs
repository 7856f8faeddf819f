//! Definitions as a transcript holds them, in place of a disk.
//!
//! Owns which directory of a transcript answers for one that the host named. Must not know what is in
//! the files, or when they change.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use workflow_core::definition::{
    Check, FilePath, FileProblem, Files, Loaded, PhaseEntry, Tier, TierEntry, load,
};

use super::definitions::Directory;
use super::watched::Watched;
use crate::platform::disk::{Disk, HOST_DIRECTORY};
use crate::serve::{Loader, no_project};

/// What the directories hold now.
#[derive(Debug, Default)]
pub(super) struct Held(Mutex<Now>);

#[derive(Debug, Default)]
struct Now {
    /// What takes the place of everything the transcript says.
    instead: Tiers,
    /// By name.
    directories: HashMap<String, Directory>,
    /// The names in whose place something else was given.
    replaced: BTreeMap<String, Tier>,
}

/// What a host calls its directories in a transcript written by hand.
pub(super) const AGENT_DIR: &str = "$AGENT";
const CWD: &str = "$CWD";

/// What a directory beside a transcript holds of a user's and of a project's definitions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tiers([Option<Directory>; 2]);

/// Why a directory holds no definitions.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoDefinitions {
    #[error("there is no directory {}", .0.display())]
    Missing(PathBuf),
    #[error("{} holds no definitions: there is neither a `.pi` in it nor an `agent` or a `project`", .0.display())]
    None(PathBuf),
    #[error("{} holds no definitions: a project's are in its `.pi/workflows`, and there is no `.pi` in it", .0.display())]
    NoHostDirectory(PathBuf),
}

/// Where a directory of definitions has a user's and a project's, and which of them it has.
fn places(directory: &Path) -> Result<([PathBuf; 2], [bool; 2]), NoDefinitions> {
    if !directory.is_dir() {
        return Err(NoDefinitions::Missing(directory.to_path_buf()));
    }
    let places = ["agent", "project"].map(|name| directory.join(name));
    let has = places.each_ref().map(|place| place.is_dir());
    let has_definitions = |project: &Path| project.join(HOST_DIRECTORY).is_dir();
    match (has, &places) {
        ([false, false], _) if has_definitions(directory) => {
            Ok(([PathBuf::new(), directory.to_path_buf()], [false, true]))
        }
        ([false, false], _) => Err(NoDefinitions::None(directory.to_path_buf())),
        ([_, true], [_, project]) if !has_definitions(project) => {
            Err(NoDefinitions::NoHostDirectory(project.clone()))
        }
        _ => Ok((places, has)),
    }
}

impl Tiers {
    /// Reads a project's directory with its `.pi`, or one that has an `agent` directory, a `project`, or both.
    pub(crate) fn read(directory: &Path) -> Result<Self, NoDefinitions> {
        let ([agent, project], has) = places(directory)?;
        let loads = Arc::default();
        Watched(Arc::clone(&loads)).load(&agent, &project);
        let mut loads = loads.lock().unwrap_or_else(PoisonError::into_inner);
        let mut read = loads.drain(..).map(|load| load.reads.into_directory());
        Ok(Self(has.map(|has| read.next().filter(|_| has))))
    }

    /// What comes of them alone, as they were read from a directory.
    pub(crate) fn loaded(&self, directory: &Path) -> Result<Loaded, NoDefinitions> {
        let ([agent, project], _) = places(directory)?;
        let loaded = Held::instead(self.clone()).load(&agent, &project);
        Ok(Arc::unwrap_or_clone(loaded))
    }

    /// What `$AGENT` and `$CWD` hold by them.
    pub(super) fn directories(self) -> BTreeMap<String, Directory> {
        let Self([agent, project]) = self;
        let named = [(AGENT_DIR.to_owned(), agent), (project_name(CWD), project)];
        let named = named.map(|(name, held)| (name, held.unwrap_or_default()));
        named.into()
    }

    /// Whether there are any.
    pub(super) fn are_given(&self) -> bool {
        self.0.iter().any(Option::is_some)
    }

    /// The directory of this name beside a transcript, or among its definitions.
    pub(super) fn beside(transcript: &Path, name: &str) -> Result<Self, NoDefinitions> {
        let parent = transcript.parent().unwrap_or(Path::new(""));
        let places = [parent.join(name), parent.join("definitions").join(name)];
        let [beside, _] = &places;
        let missing = NoDefinitions::Missing(beside.clone());
        let found = places.iter().find(|place| place.is_dir());
        found.ok_or(missing).and_then(|place| Self::read(place))
    }
}

impl Tiers {
    /// Whether a gate of these definitions runs commands.
    pub(super) fn run_commands(&self) -> bool {
        let Self(directories) = self;
        directories.iter().flatten().any(runs_commands)
    }
}

/// Whether a gate of the definitions in a directory runs commands.
pub(super) fn runs_commands(directory: &Directory) -> bool {
    let empty = Directory::default();
    let loaded = load(&HeldFiles {
        directories: [directory, &empty],
        names: Disk::new(PathBuf::from(AGENT_DIR), PathBuf::from(CWD)),
    });
    let phases = loaded.catalog.iter().flat_map(|workflow| &workflow.phases);
    let gates = phases.flat_map(|entry| match entry {
        PhaseEntry::Phase(phase) => phase.gate.as_slice(),
        PhaseEntry::Subworkflow(_) => &[],
    });
    gates
        .into_iter()
        .any(|gate| matches!(gate.check, Check::Run(_)))
}

impl Held {
    /// No definitions but these, where there are any.
    pub(super) fn instead(instead: Tiers) -> Self {
        Self(Mutex::new(Now {
            instead,
            ..Now::default()
        }))
    }

    /// Forgets what it holds: another recording begins.
    pub(super) fn clear(&self) {
        self.now().directories.clear();
    }

    /// From here on, `$AGENT` and `$CWD` hold this, and no other directory anything.
    pub(super) fn name(&self, tiers: Tiers) {
        self.now().directories = tiers.directories().into_iter().collect();
    }

    /// From here on, these directories hold this.
    pub(super) fn embed(&self, directories: BTreeMap<String, Directory>) {
        self.now().directories.extend(directories);
    }

    /// What took the place of the transcript's definitions so far, by name.
    pub(super) fn in_place(&self) -> BTreeMap<String, Directory> {
        let now = self.now();
        let Tiers(instead) = &now.instead;
        let replaced = now.replaced.iter();
        let given = replaced.map(|(name, tier)| (name, &instead[*tier as usize]));
        given
            .filter_map(|(name, given)| Some((name.clone(), given.clone()?)))
            .collect()
    }

    /// What a directory holds: an agent directory or the working directory of a project.
    pub(super) fn directory(&self, tier: Tier, named: &str) -> Directory {
        let mut now = self.now();
        now.note_replaced(tier, named);
        now.find(tier, named).cloned().unwrap_or_default()
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Now {
    /// Takes down the name of a directory in whose place something else is given.
    fn note_replaced(&mut self, tier: Tier, named: &str) {
        let Tiers(instead) = &self.instead;
        if instead[tier as usize].is_some() {
            let name = match tier {
                Tier::Global => named.to_owned(),
                Tier::Project => project_name(named),
            };
            self.replaced.insert(name, tier);
        }
    }

    fn find(&self, tier: Tier, named: &str) -> Option<&Directory> {
        let Tiers(instead) = &self.instead;
        instead[tier as usize].as_ref().or_else(|| match tier {
            Tier::Global => self.directories.get(named),
            Tier::Project => self.directories.get(&project_name(named)),
        })
    }
}

/// What the directory of a project's definitions is called, the same on every system.
pub(super) fn project_name(cwd: &str) -> String {
    match cwd.chars().last() {
        None | Some('/' | '\\') => format!("{cwd}.pi"),
        Some(_) => format!("{cwd}/.pi"),
    }
}

impl Loader for Held {
    fn load(&self, agent_dir: &Path, cwd: &Path) -> Arc<Loaded> {
        let mut now = self.now();
        now.note_replaced(Tier::Global, &agent_dir.to_string_lossy());
        now.note_replaced(Tier::Project, &cwd.to_string_lossy());
        let empty = Directory::default();
        let find = |tier, path: &Path| now.find(tier, &path.to_string_lossy()).unwrap_or(&empty);
        let project = find(Tier::Project, cwd);
        let files = HeldFiles {
            directories: [find(Tier::Global, agent_dir), project],
            names: Disk::new(agent_dir.to_path_buf(), cwd.to_path_buf()),
        };
        let mut loaded = load(&files);
        if !project.has_project() {
            loaded.diagnostics.push(no_project(cwd));
        }
        Arc::new(loaded)
    }
}

/// The directories of one load.
struct HeldFiles<'a> {
    directories: [&'a Directory; 2],
    /// A disk that is never read: it knows what files are called.
    names: Disk,
}

impl Files for HeldFiles<'_> {
    fn entries(&self, tier: Tier) -> Result<Vec<TierEntry>, FileProblem> {
        self.directories[tier as usize].entries()
    }

    fn read(&self, path: &FilePath, max_bytes: u32) -> Result<Vec<u8>, FileProblem> {
        let directory = self.directories[path.tier() as usize];
        directory.read(path, max_bytes).map(<[u8]>::to_vec)
    }

    fn shown(&self, path: &FilePath) -> String {
        self.names.shown(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(json: &str) -> Directory {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_directory_is_found_by_its_name() {
        let held = Held::default();
        let all = directory(r#"{"workflows/a/":null}"#);
        held.name(Tiers([None, Some(all.clone())]));
        assert_eq!(held.directory(Tier::Project, "$CWD"), all);
        let own = directory(r#"{"workflows/b/":null}"#);
        held.embed([("/p/.pi".to_owned(), own.clone())].into());
        assert_eq!(held.directory(Tier::Project, "/p"), own);
        assert_eq!(held.directory(Tier::Project, "/p/"), own);
        assert_ne!(held.directory(Tier::Project, "/q"), own);
        assert_eq!(held.directory(Tier::Global, "/p"), Directory::default());
        let instead = Held::instead(Tiers([None, Some(all.clone())]));
        instead.embed([("/p/.pi".to_owned(), own)].into());
        assert_eq!(instead.directory(Tier::Project, "/p"), all);
        held.clear();
        assert_eq!(held.directory(Tier::Project, "/p"), Directory::default());
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
        assert!(matches!(read("nothing"), Err(NoDefinitions::None(_))));
        assert!(matches!(read("gone"), Err(NoDefinitions::Missing(_))));
        at("bare/agent");
        at("bare/project/workflows");
        assert!(matches!(
            read("bare"),
            Err(NoDefinitions::NoHostDirectory(_))
        ));
        let beside = |name| Tiers::beside(&root.path().join("t.jsonl"), name);
        assert!(beside("p").is_ok() && beside("gone").is_err());
    }
}
