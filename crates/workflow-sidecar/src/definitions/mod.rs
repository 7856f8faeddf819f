//! The source of a session's definitions.
//!
//! Decides which directories are read, and when. Must not know the content of the files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use workflow_core::definition::{Loaded, Tier, TierSettings, load};
use workflow_core::diagnostic::{Code, Diagnostic, Location, Severity};

mod observed;

use self::observed::{Observations, Observed};
use crate::platform::disk::{Disk, user_agent_dir};

/// Loads the definitions of a user and of a project.
pub(crate) trait Loader: Send + Sync {
    /// Loads the files as they are now.
    fn load(&self, agent_dir: &Path, cwd: &Path) -> Arc<Loaded>;

    /// Loads the files as they were at most [`RECENT`] ago.
    fn load_recent(&self, agent_dir: &Path, cwd: &Path) -> Arc<Loaded> {
        self.load(agent_dir, cwd)
    }
}

/// The age of a result that still serves a completion: each key that the user types asks for one.
const RECENT: Duration = Duration::from_secs(1);

/// The directories of the disk. The last result is used again as long as no file has changed.
#[derive(Default)]
pub(crate) struct OnDisk {
    last: Mutex<Option<Cached>>,
}

/// The result of a load, and the files that it depends on.
struct Cached {
    directories: [PathBuf; 2],
    has_project: bool,
    /// Checked against the disk at this time.
    checked: Instant,
    observations: Observations,
    loaded: Arc<Loaded>,
}

impl Cached {
    fn is_of(&self, agent_dir: &Path, cwd: &Path) -> bool {
        self.directories[0] == agent_dir && self.directories[1] == cwd
    }
}

impl Loader for OnDisk {
    fn load(&self, agent_dir: &Path, cwd: &Path) -> Arc<Loaded> {
        let has_project = cwd.is_dir();
        let mut last = self.last.lock();
        let checked = Instant::now();
        if let Some(cached) = &mut *last
            && cached.is_of(agent_dir, cwd)
            && cached.has_project == has_project
            && cached.observations.are_current()
        {
            cached.checked = checked;
            return Arc::clone(&cached.loaded);
        }
        let files = Observed::new(Disk::new(agent_dir.to_path_buf(), cwd.to_path_buf()));
        let mut loaded = load(&files);
        if !has_project {
            loaded.diagnostics.push(no_project(cwd));
        }
        let loaded = Arc::new(loaded);
        *last = files.finish().map(|observations| Cached {
            directories: [agent_dir, cwd].map(Path::to_path_buf),
            has_project,
            checked,
            observations,
            loaded: Arc::clone(&loaded),
        });
        loaded
    }

    fn load_recent(&self, agent_dir: &Path, cwd: &Path) -> Arc<Loaded> {
        if let Some(cached) = &*self.last.lock()
            && cached.is_of(agent_dir, cwd)
            && cached.checked.elapsed() < RECENT
        {
            return Arc::clone(&cached.loaded);
        }
        self.load(agent_dir, cwd)
    }
}

/// The definitions of one user.
pub(crate) struct Definitions {
    /// The directory of the user's own definitions.
    pub(crate) agent_dir: Arc<Path>,
    /// The host's directory: the project of a session that names no other.
    pub(crate) cwd: Arc<Path>,
    loader: Arc<dyn Loader>,
    /// The settings of these directories as they were last readable.
    settings: HashMap<(Tier, PathBuf), TierSettings>,
}

impl Definitions {
    /// The directories that the host names, with the usual directory of the user if it names none.
    pub(crate) fn new(loader: Arc<dyn Loader>, agent: Option<&str>, cwd: &str) -> Self {
        Self {
            agent_dir: user_agent_dir(agent).into(),
            cwd: Path::new(cwd).into(),
            loader,
            settings: HashMap::new(),
        }
    }

    /// Loads the definitions as the files are now.
    pub(crate) fn load(&mut self, project: &Path) -> Arc<Loaded> {
        let mut loaded = self.loader.load(&self.agent_dir, project);
        self.keep_last_known_good(project.to_path_buf(), &mut loaded);
        loaded
    }

    /// Loads the definitions for a completion, which may be a moment old.
    pub(crate) fn load_recent(&self, project: &Path) -> Arc<Loaded> {
        self.loader.load_recent(&self.agent_dir, project)
    }

    /// Replaces settings that can no longer be read by those that were last read, so that no guard is lost.
    fn keep_last_known_good(&mut self, cwd: PathBuf, loaded: &mut Arc<Loaded>) {
        for (tier, directory) in [
            (Tier::Global, self.agent_dir.to_path_buf()),
            (Tier::Project, cwd),
        ] {
            let key = (tier, directory);
            let now = &loaded.tiers[tier as usize];
            if now.is_loaded() {
                self.settings.insert(key, now.clone());
            } else if let Some(before) = self.settings.get(&key) {
                Arc::make_mut(loaded).keep_last_known_good(tier, before.clone());
            }
        }
    }
}

/// The diagnostic of a project that does not exist, which would pass for one without workflows.
pub(crate) fn no_project(cwd: &Path) -> Diagnostic {
    let message = "the project is not a directory: only your own workflows are read";
    Diagnostic::new(Code::Unreadable, Severity::Warning, message)
        .at(Location::file(&cwd.display().to_string()))
        .with_help("name a directory in `cwd`")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn definitions(agent_dir: Option<&str>) -> Definitions {
        Definitions::new(Arc::new(OnDisk::default()), agent_dir, "/nowhere")
    }

    /// A project with a workflow of this name.
    fn write(project: &Path, name: &str) {
        let directory = project.join(".pi/workflows/w");
        fs::create_dir_all(&directory).unwrap();
        let workflow =
            format!("name: {name}\ncommandName: w\ninitialMessage: Go\nphases: [a.md]\n");
        fs::write(directory.join("workflow.yaml"), workflow).unwrap();
        fs::write(
            directory.join("a.md"),
            "---\nid: a\nname: A\nemoji: a\n---\nGo.\n",
        )
        .unwrap();
    }

    fn name(loaded: &Loaded) -> &str {
        &loaded.catalog.get("w").unwrap().name
    }

    /// Makes the files look as if they had been written long ago.
    #[cfg(unix)]
    fn age(project: &Path) {
        use std::time::{Duration, SystemTime};

        let long_ago = SystemTime::now() - Duration::from_secs(3600);
        let root = project.join(".pi/workflows");
        for path in [".", "w", "w/workflow.yaml", "w/a.md"] {
            let file = fs::File::open(root.join(path)).unwrap();
            file.set_modified(long_ago).unwrap();
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_load_is_shared_until_a_file_changes() {
        let project = tempfile::tempdir().unwrap();
        write(project.path(), "One");
        age(project.path());
        let mut definitions = definitions(Some("/nowhere"));
        let mut load = || definitions.load(project.path());
        let (first, second) = (load(), load());
        assert!(Arc::ptr_eq(&first, &second));
        write(project.path(), "Two");
        assert_eq!(name(&load()), "Two");
        assert_eq!(name(&first), "One");
    }

    #[test]
    #[cfg(unix)]
    fn completions_within_a_second_look_at_no_file() {
        let project = tempfile::tempdir().unwrap();
        write(project.path(), "One");
        age(project.path());
        let mut definitions = definitions(Some("/nowhere"));
        let of = project.path();
        let loaded = definitions.load(of);
        write(project.path(), "Two");
        assert!(Arc::ptr_eq(&definitions.load_recent(of), &loaded));
        assert_eq!(name(&definitions.load(of)), "Two");
    }

    #[test]
    fn a_file_that_was_just_written_is_read_every_time() {
        let project = tempfile::tempdir().unwrap();
        write(project.path(), "One");
        let mut definitions = definitions(Some("/nowhere"));
        let mut load = || definitions.load(project.path());
        assert!(!Arc::ptr_eq(&load(), &load()));
    }

    #[test]
    fn another_project_is_loaded_for_itself() {
        let (project, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(project.path(), "One");
        write(other.path(), "Other");
        let mut definitions = definitions(Some("/nowhere"));
        let mut load = |project: &Path| definitions.load(project);
        assert_eq!(name(&load(project.path())), "One");
        assert_eq!(name(&load(other.path())), "Other");
    }

    #[test]
    fn a_missing_project_is_reported_and_the_users_workflows_are_read() {
        let agent = tempfile::tempdir().unwrap();
        write(agent.path(), "Own");
        let agent_dir = agent.path().join(".pi");
        let mut definitions = definitions(agent_dir.to_str());
        let loaded = definitions.load(Path::new("/nowhere"));
        assert_eq!(name(&loaded), "Own");
        let said: Vec<String> = loaded.diagnostics.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "/nowhere: the project is not a directory: only your own workflows are read (name a directory in `cwd`)"
            ]
        );
    }
}
