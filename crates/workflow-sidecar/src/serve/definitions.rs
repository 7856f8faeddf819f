//! Where a session's definitions come from.
//!
//! Owns which directories are looked into, and when. Must not know what stands in the files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use workflow_core::definition::{
    Loaded, Needed, Tier, TierSettings, load_for, load_reached, load_while,
};
use workflow_core::diagnostic::{Code, Diagnostic, Place, Severity};

use crate::disk::{Disk, user_agent_dir};

/// For how long it is good enough to know what the files said: as long as somebody types a name.
const RECENT: Duration = Duration::from_secs(1);

/// Reads what the directories of a user and of a project hold.
pub(crate) trait Loader: std::fmt::Debug + Send + Sync {
    /// What the files say now. What is needed is read first.
    fn load(&self, agent_dir: &Path, cwd: &Path, needed: &Needed) -> Loaded;

    /// The same of settings and of what is needed, where the rest can be read later.
    fn load_reached(&self, agent_dir: &Path, cwd: &Path, needed: &Needed) -> Loaded {
        self.load(agent_dir, cwd, needed)
    }

    /// All of it, as long as it is to go on.
    fn load_while(
        &self,
        agent_dir: &Path,
        cwd: &Path,
        needed: &Needed,
        _go_on: &mut dyn FnMut() -> bool,
    ) -> Loaded {
        self.load(agent_dir, cwd, needed)
    }
}

/// The directories of the disk, all at once.
#[derive(Debug)]
pub(crate) struct OnDisk;

impl Loader for OnDisk {
    fn load(&self, agent_dir: &Path, cwd: &Path, needed: &Needed) -> Loaded {
        from_disk(agent_dir, cwd, |disk| load_for(disk, needed))
    }
}

/// The directories of the disk; what no run reaches can be read later.
#[derive(Debug)]
pub(super) struct OnDiskByAndBy;

impl Loader for OnDiskByAndBy {
    fn load(&self, agent_dir: &Path, cwd: &Path, needed: &Needed) -> Loaded {
        OnDisk.load(agent_dir, cwd, needed)
    }

    fn load_reached(&self, agent_dir: &Path, cwd: &Path, needed: &Needed) -> Loaded {
        from_disk(agent_dir, cwd, |disk| load_reached(disk, needed))
    }

    fn load_while(
        &self,
        agent_dir: &Path,
        cwd: &Path,
        needed: &Needed,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Loaded {
        from_disk(agent_dir, cwd, |disk| load_while(disk, needed, go_on))
    }
}

fn from_disk(agent_dir: &Path, cwd: &Path, load: impl FnOnce(&Disk) -> Loaded) -> Loaded {
    let mut loaded = load(&Disk::new(agent_dir.to_path_buf(), cwd.to_path_buf()));
    if !cwd.is_dir() {
        loaded.diagnostics.push(no_project(cwd));
    }
    loaded
}

/// The definitions of one user.
#[derive(Debug)]
pub(super) struct Definitions {
    /// The directory of the user's own definitions.
    agent: Arc<Path>,
    /// Where the host runs: the project of a session that names no other.
    cwd: Arc<Path>,
    loader: Arc<dyn Loader>,
    last: Option<Last>,
    /// What was loaded last of what runs reach.
    last_reached: Option<Arc<Loaded>>,
    /// What the settings files of these directories said when they could last be read.
    settings: HashMap<(Tier, PathBuf), TierSettings>,
}

/// Whose project is looked into.
#[derive(Debug, Clone, Copy)]
pub(super) enum ProjectOf<'a> {
    /// A session's.
    Session(&'a Path),
    /// The host's, for a session that names no other.
    Host,
    /// None: the user does not trust what is there.
    Nobody,
}

/// What was loaded last.
#[derive(Debug)]
struct Last {
    cwd: PathBuf,
    at: Instant,
    loaded: Arc<Loaded>,
}

impl Definitions {
    /// Looks where the host says, and in the usual place of what it leaves out.
    pub(super) fn new(loader: Arc<dyn Loader>, agent: Option<&str>, cwd: &str) -> Self {
        Self {
            agent: user_agent_dir(agent).into(),
            cwd: Path::new(cwd).into(),
            loader,
            last: None,
            last_reached: None,
            settings: HashMap::new(),
        }
    }

    /// The directory of the user's own definitions.
    pub(super) fn agent_dir(&self) -> &Arc<Path> {
        &self.agent
    }

    /// Where the host runs.
    pub(super) fn cwd(&self) -> &Arc<Path> {
        &self.cwd
    }

    /// The directory to look into. That of the user's own definitions is nobody's project.
    pub(super) fn directory<'a>(&'a self, project: &ProjectOf<'a>) -> &'a Path {
        match project {
            ProjectOf::Session(cwd) => cwd,
            ProjectOf::Host => &self.cwd,
            ProjectOf::Nobody => &self.agent,
        }
    }

    /// What the files say now of settings and of what is needed, where the rest can be read later.
    pub(super) fn load_reached(&mut self, project: &ProjectOf<'_>, needed: &Needed) -> Arc<Loaded> {
        let cwd = self.directory(project).to_path_buf();
        let mut loaded = self.loader.load_reached(&self.agent, &cwd, needed);
        self.hold_to_settings(&cwd, &mut loaded);
        let loaded = shared(self.last_reached.take(), loaded);
        self.last_reached = Some(Arc::clone(&loaded));
        loaded
    }

    /// The definitions as the files stand now. What is needed is read first.
    pub(super) fn load(&mut self, project: &ProjectOf<'_>, needed: &Needed) -> Arc<Loaded> {
        let cwd = self.directory(project).to_path_buf();
        let mut loaded = self.loader.load(&self.agent, &cwd, needed);
        self.hold_to_settings(&cwd, &mut loaded);
        let loaded = shared(self.last.take().map(|last| last.loaded), loaded);
        self.last = Some(Last {
            cwd,
            at: Instant::now(),
            loaded: Arc::clone(&loaded),
        });
        loaded
    }

    /// A settings file that breaks under a session takes none of its guards away: what it said before holds.
    fn hold_to_settings(&mut self, cwd: &Path, loaded: &mut Loaded) {
        for (tier, directory) in [(Tier::Global, &*self.agent), (Tier::Project, cwd)] {
            let key = (tier, directory.to_path_buf());
            let now = &loaded.tiers[tier as usize];
            if now.is_whole() {
                self.settings.insert(key, now.clone());
            } else if let Some(before) = self.settings.get(&key) {
                loaded.hold_to(tier, before.clone());
            }
        }
    }

    /// The definitions as the files stood a moment ago, for what is asked at every keystroke.
    pub(super) fn recent(&mut self, project: &ProjectOf<'_>, needed: &Needed) -> Arc<Loaded> {
        let cwd = self.directory(project);
        match &self.last {
            Some(last) if last.cwd == cwd && last.at.elapsed() < RECENT => Arc::clone(&last.loaded),
            _ => self.load(project, needed),
        }
    }
}

/// Sessions of a project whose files have not changed share what they say.
fn shared(last: Option<Arc<Loaded>>, loaded: Loaded) -> Arc<Loaded> {
    match last {
        Some(last) if *last == loaded => last,
        _ => Arc::new(loaded),
    }
}

/// Says that a project is not there: it would pass for one without workflows.
pub(crate) fn no_project(cwd: &Path) -> Diagnostic {
    let message = "the project is not a directory: only your own workflows are read";
    Diagnostic::new(Code::Unreadable, Severity::Warning, message)
        .at(Place::file(&cwd.display().to_string()))
        .with_help("name a directory in `cwd`")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

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

    #[test]
    fn what_has_not_changed_is_shared_and_what_has_is_seen() {
        let project = tempfile::tempdir().unwrap();
        write(project.path(), "One");
        let mut definitions = Definitions::new(Arc::new(OnDisk), Some("/nowhere"), "/nowhere");
        let mut load = || definitions.load(&ProjectOf::Session(project.path()), &Needed::default());
        let (first, second) = (load(), load());
        assert!(Arc::ptr_eq(&first, &second));
        write(project.path(), "Two");
        assert_eq!(name(&load()), "Two");
        assert_eq!(name(&first), "One");
    }

    #[test]
    fn what_was_loaded_a_moment_ago_is_good_enough_for_a_keystroke() {
        let (project, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write(project.path(), "One");
        write(other.path(), "Other");
        let mut definitions = Definitions::new(Arc::new(OnDisk), Some("/nowhere"), "/nowhere");
        let first = definitions.recent(&ProjectOf::Session(project.path()), &Needed::default());
        assert!(Arc::ptr_eq(
            &first,
            &definitions.recent(&ProjectOf::Session(project.path()), &Needed::default())
        ));
        assert_eq!(
            name(&definitions.recent(&ProjectOf::Session(other.path()), &Needed::default())),
            "Other"
        );
        write(project.path(), "Two");
        definitions.load(&ProjectOf::Session(project.path()), &Needed::default());
        assert_eq!(
            name(&definitions.recent(&ProjectOf::Session(project.path()), &Needed::default())),
            "Two"
        );
    }

    #[test]
    fn a_project_that_is_not_there_is_said_and_the_users_own_workflows_are_read() {
        let agent = tempfile::tempdir().unwrap();
        write(agent.path(), "Own");
        let agent_dir = agent.path().join(".pi");
        let mut definitions = Definitions::new(Arc::new(OnDisk), agent_dir.to_str(), "/nowhere");
        let loaded = definitions.load(&ProjectOf::Host, &Needed::default());
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
