//! Checks the definitions of several projects and of the user, each once.
//!
//! Owns what is looked at and how a file is named to people, from where they are. What is wrong is the
//! loader's to say; how it is printed is the command line's.

mod advice;
mod github;
mod sarif;
mod stray;
mod target;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::env;
use std::path::{Path, PathBuf};

use workflow_core::definition::{FilePath, FileProblem, Files, Outcome, Tier, TierEntry, load};
use workflow_core::diagnostic::{Diagnostic, Severity};

use advice::advice;
pub(crate) use github::annotation;
pub(crate) use sarif::log;
use stray::strays;
use target::{Target, is_plain_file, nearer, plain};

use crate::platform::disk::{Disk, HOST_DIRECTORY, WORKFLOWS};

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Everything that is wrong, project by project. Files are named from where the person is.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Whether there is any workflow, broken ones included.
    has_workflows: bool,
    /// The workflows that can run: the project of each, and its key.
    running: BTreeSet<(Option<PathBuf>, String)>,
    /// Files that are in no project's directory of definitions.
    pub(crate) passed_over: Vec<PathBuf>,
    /// The projects in which there is none, and where above each there are some.
    pub(crate) empty: Vec<Empty>,
}

/// A project without workflows.
#[derive(Debug)]
pub(crate) struct Empty {
    /// Where they were looked for, from where the person is.
    pub(crate) looked_into: String,
    /// A directory above it that has some.
    pub(crate) above: Option<String>,
}

impl Report {
    /// Whether there is any workflow, broken ones included.
    pub(crate) fn has_workflows(&self) -> bool {
        self.has_workflows
    }

    /// How many workflows can run.
    pub(crate) fn workflows(&self) -> usize {
        self.running.len()
    }

    /// How many diagnostics there are of a severity.
    pub(crate) fn number(&self, severity: Severity) -> usize {
        let found = self.diagnostics.iter();
        found.filter(|found| found.severity == severity).count()
    }
}

/// Checks what paths name: projects, or single workflows by a path in one.
pub(crate) fn check(paths: &[PathBuf], agent_dir: &Path) -> anyhow::Result<Report> {
    let here = env::current_dir()?;
    let agent_dir = std::path::absolute(agent_dir)?;
    let mut report = Report::default();
    // Files among many, as a shell's `*` finds them, are no projects; a single one is a mistake.
    let is_project = |path: &&PathBuf| paths.len() == 1 || !is_plain_file(path, &here, &agent_dir);
    let (wanted, passed_over): (Vec<&PathBuf>, Vec<&PathBuf>) = paths.iter().partition(is_project);
    report.passed_over = passed_over.into_iter().cloned().collect();
    for target in Target::all(wanted, &here, &agent_dir)? {
        check_target(&target, &here, &agent_dir, &mut report);
    }
    Ok(report)
}

fn check_target(target: &Target, here: &Path, agent_dir: &Path, report: &mut Report) {
    let files = Located {
        disk: Disk::new(
            agent_dir.to_path_buf(),
            target.project.clone().unwrap_or_default(),
        ),
        project: target.project.clone(),
        here: here.to_path_buf(),
        read: RefCell::default(),
    };
    let loaded = load(&files);
    let has_own = |tier| loaded.index.iter().any(|listing| listing.tier == tier);
    if let Some(project) = target.project.as_ref().filter(|_| target.only.is_empty()) {
        if !has_own(Tier::Project) {
            report.empty.push(Empty::of(project, here));
        }
        let base = project.join(HOST_DIRECTORY);
        report.diagnostics.extend(
            strays(&base, &files.read.borrow())
                .into_iter()
                .map(|found| nearby(found, here)),
        );
    }
    let advice = advice(&files, &loaded);
    for found in loaded.diagnostics.into_iter().chain(advice) {
        // The user's own definitions are those of every project.
        if is_about(&found, target, &files) && !report.diagnostics.contains(&found) {
            report.diagnostics.push(found);
        }
    }
    for listing in loaded.index {
        report.has_workflows = true;
        let project = match listing.tier {
            Tier::Global => None,
            Tier::Project => target.project.clone(),
        };
        let wanted = target.only.is_empty()
            || target.only.contains(&listing.key) && project == target.project;
        if wanted && listing.outcome == Outcome::Loaded {
            report.running.insert((project, listing.key));
        }
    }
}

impl Empty {
    fn of(project: &Path, here: &Path) -> Self {
        let workflows = |project: &Path| project.join(HOST_DIRECTORY).join(WORKFLOWS);
        let name = |path: &Path| nearer(path, here).display().to_string();
        let above = project
            .ancestors()
            .skip(1)
            .find(|above| workflows(above).is_dir());
        Self {
            looked_into: name(&workflows(project)),
            above: above.map(name),
        }
    }
}

/// The same diagnostic, with its file named from where the person is.
fn nearby(mut found: Diagnostic, here: &Path) -> Diagnostic {
    if let Some(place) = &mut found.location {
        place.file = nearer(Path::new(&*place.file), here)
            .display()
            .to_string()
            .into();
    }
    found
}

/// Whether a diagnostic is about what a target names.
fn is_about(found: &Diagnostic, target: &Target, files: &Located) -> bool {
    if target.only.is_empty() {
        return true;
    }
    let tier = match target.project {
        None => Tier::Global,
        Some(_) => Tier::Project,
    };
    let Some(place) = &found.location else {
        return false;
    };
    let file = files.full(&place.file);
    let under = |path: &FilePath| file.starts_with(files.full(&files.shown(path)));
    let about = found.workflow.as_ref();
    target.only.iter().any(|key| {
        under(&FilePath::entry(tier, key))
            || about == Some(key) && under(&FilePath::workflows(tier))
    })
}

/// The files of a project and the user's own, named from where the person is.
struct Located {
    disk: Disk,
    /// The project; `None` are the user's own files alone.
    project: Option<PathBuf>,
    /// Where the person is.
    here: PathBuf,
    /// The files that were read.
    read: RefCell<HashSet<PathBuf>>,
}

impl Located {
    /// The whole path of a file by the name it is shown with.
    fn full(&self, shown: &str) -> PathBuf {
        plain(&self.here.join(shown))
    }

    fn has(&self, tier: Tier) -> bool {
        tier == Tier::Global || self.project.is_some()
    }
}

impl Files for Located {
    fn entries(&self, tier: Tier) -> Result<Vec<TierEntry>, FileProblem> {
        if self.has(tier) {
            self.disk.entries(tier)
        } else {
            Ok(Vec::new())
        }
    }

    fn read(&self, path: &FilePath, max_bytes: u32) -> Result<Vec<u8>, FileProblem> {
        if self.has(path.tier()) {
            self.read.borrow_mut().insert(self.full(&self.shown(path)));
            self.disk.read(path, max_bytes)
        } else {
            Err(FileProblem::Missing)
        }
    }

    fn shown(&self, path: &FilePath) -> String {
        let shown = self.disk.shown(path);
        match &self.project {
            Some(project) if path.tier() == Tier::Project => {
                nearer(&project.join(shown), &self.here)
                    .display()
                    .to_string()
            }
            _ => shown,
        }
    }
}

/// The directory that programs name files from: the repository's, as far as it can be known.
fn repository(here: &Path) -> PathBuf {
    let workspace = env::var_os("GITHUB_WORKSPACE").map(PathBuf::from);
    if let Some(workspace) = workspace.filter(|workspace| here.starts_with(workspace)) {
        return workspace;
    }
    let root = here
        .ancestors()
        .find(|directory| directory.join(".git").exists());
    root.unwrap_or(here).to_path_buf()
}

/// A file's whole path.
fn whole(file: &str) -> String {
    let here = env::current_dir().unwrap_or_default();
    plain(&here.join(file)).display().to_string()
}

/// A file as it is named in its repository, with `/` between its parts; `None` is outside of it.
fn in_repository(file: &str) -> Option<String> {
    let here = env::current_dir().ok()?;
    let file = plain(&here.join(file));
    let inside = file.strip_prefix(repository(&here)).ok()?;
    let parts = inside.iter().map(|part| part.to_string_lossy());
    Some(parts.collect::<Vec<_>>().join("/"))
}
