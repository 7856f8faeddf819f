//! Checks of the definitions of several projects and of the user, each once.
//!
//! Selects the files and shortens their paths. The loader finds the problems, and the command line prints them.

mod advice;
mod explanation;
mod fixes;
mod github;
mod missing;
mod print;
mod stray;
mod target;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::env;
use std::path::{Path, PathBuf};

use workflow_core::definition::{
    FilePath, FileProblem, Files, LoadOutcome, Root, Show, Tier, TierEntry, load_located,
};
use workflow_core::diagnostic::{Diagnostic, Severity};

use advice::advice;
pub(crate) use explanation::explanation;
pub(crate) use fixes::{Corrected, Edit, Edits, correct};
pub(crate) use github::annotation;
pub(crate) use missing::{merged, missing};
pub(crate) use print::CheckJson;
use stray::strays;
use target::{Target, is_plain_file, relative};

use crate::files::repository_root;
use crate::install::installed_hosts;
use crate::platform::disk::{Disk, HOST_DIRECTORY, WORKFLOWS};
use crate::platform::paths::lexical;
use crate::share::drift;

/// The result of a check.
#[derive(Debug, Default)]
pub(crate) struct CheckReport {
    /// The diagnostics, project by project, with paths relative to the working directory.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Set if there is any workflow, including broken ones.
    pub(crate) has_workflows: bool,
    /// The workflows that can run: the project of each, and its key.
    running: BTreeSet<(Option<PathBuf>, String)>,
    /// Set if one of them can be started.
    has_start: bool,
    /// Files that are in no project's directory of definitions.
    passed_over: Vec<PathBuf>,
    /// Where there are no workflows, in words.
    pub(crate) empty: Vec<String>,
}

impl CheckReport {
    /// Counts the workflows that can run.
    pub(crate) fn workflows(&self) -> usize {
        self.running.len()
    }

    /// Counts the diagnostics of a severity.
    pub(crate) fn number(&self, severity: Severity) -> usize {
        let found = self.diagnostics.iter();
        found.filter(|found| found.severity == severity).count()
    }
}

/// Checks what paths name: projects, or single workflows by a path in one.
///
/// The limits of hosts are checked for those that hooks are installed in, and for the named ones.
pub(crate) fn check(
    paths: &[PathBuf],
    agent_dir: &Path,
    named: &[String],
    edits: &Edits,
) -> anyhow::Result<CheckReport> {
    let here = env::current_dir()?;
    let agent_dir = std::path::absolute(agent_dir)?;
    let mut report = CheckReport::default();
    // Files among many, as a shell's `*` finds them, are no projects; a single one is a mistake.
    let is_project = |path: &&PathBuf| paths.len() == 1 || !is_plain_file(path, &here, &agent_dir);
    let (wanted, passed_over): (Vec<&PathBuf>, Vec<&PathBuf>) = paths.iter().partition(is_project);
    report.passed_over = passed_over.into_iter().cloned().collect();
    for target in Target::all(wanted, &here, &agent_dir)? {
        let files = Located {
            disk: Disk::new(
                agent_dir.clone(),
                target.project.clone().unwrap_or_default(),
            ),
            project: target.project.clone(),
            here: here.clone(),
            edits,
            read: RefCell::default(),
        };
        check_target(&target, &files, named, &mut report);
    }
    Ok(report)
}

fn check_target(target: &Target, files: &Located<'_>, named: &[String], report: &mut CheckReport) {
    let here = &*files.here;
    let loaded = load_located(files);
    let has_own = |tier| loaded.index.iter().any(|listing| listing.tier == tier);
    if let Some(project) = target.project.as_ref().filter(|_| target.only.is_empty()) {
        if !has_own(Tier::Project) {
            report.empty.push(without_workflows(project, here));
        }
        let left_out = loaded.index.iter().filter(|listing| {
            listing.tier == Tier::Project && listing.outcome == LoadOutcome::LeftOut
        });
        let broken = left_out.map(|listing| &*listing.key).collect();
        let strays = strays(project, here, &files.read.borrow(), &broken);
        report.diagnostics.extend(strays);
        let shown = |path: &Path| relative(path, here);
        let drift = drift(project, &files.read.borrow(), shown);
        report.diagnostics.extend(drift);
    }
    let mut hosts = installed_hosts(target.project.as_deref());
    hosts.extend(named.iter().map(|name| &**name));
    hosts.sort_unstable();
    hosts.dedup();
    let advice = advice(&loaded, &hosts);
    let project = target.project.as_ref();
    let missing = project.map_or_else(Vec::new, |project| missing(&loaded, project));
    // The user's own definitions are those of every project.
    let is_wanted = |found: &Diagnostic| is_about(found, target, files);
    let found = loaded.diagnostics.into_iter().chain(advice);
    let missing = merged(missing.into_iter().filter(is_wanted));
    for found in found.filter(is_wanted).chain(missing) {
        if !report.diagnostics.contains(&found) {
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
        if wanted && listing.outcome == LoadOutcome::Loaded {
            report.has_start |= listing.show == Show::User;
            report.running.insert((project, listing.key));
        }
    }
}

/// Says that a project has no workflows: the directory that was searched, and one of an ancestor that has some.
fn without_workflows(project: &Path, here: &Path) -> String {
    let workflows = |project: &Path| project.join(HOST_DIRECTORY).join(WORKFLOWS);
    let name = |path: &Path| match relative(path, here) {
        here if here.as_os_str().is_empty() => ".".to_owned(),
        path => path.display().to_string(),
    };
    let mut above = project.ancestors().skip(1);
    let above = above.find(|above| workflows(above).is_dir()).map(name);
    let above = above.map(|above| format!("; {above} has some: check that"));
    let looked_into = name(&workflows(project));
    format!("no workflows in {looked_into}{}", above.unwrap_or_default())
}

/// Returns true if a diagnostic is about a selected workflow of a target.
fn is_about(found: &Diagnostic, target: &Target, files: &Located<'_>) -> bool {
    if target.only.is_empty() {
        return true;
    }
    let roots: &[Root] = match target.project {
        None => &[Root::User],
        Some(_) => &[Root::Agents, Root::Project],
    };
    let Some(location) = &found.location else {
        return false;
    };
    let file = files.full(&location.file);
    let under = |path: &FilePath| file.starts_with(files.full(&files.shown(path)));
    let about = found.workflow.as_ref();
    let is_of = |key: &String, root: Root| {
        under(&FilePath::entry(root, key))
            || about == Some(key) && under(&FilePath::workflows(root))
    };
    let mut keys = target.only.iter();
    keys.any(|key| roots.iter().any(|root| is_of(key, *root)))
}

/// The files of a project and the user, with paths relative to the working directory.
struct Located<'e> {
    disk: Disk,
    /// The project; `None` for the user's files only.
    project: Option<PathBuf>,
    /// The working directory.
    here: PathBuf,
    /// The files that have another content.
    edits: &'e Edits,
    /// The files that were read.
    read: RefCell<HashSet<PathBuf>>,
}

impl Located<'_> {
    /// Returns the full path of a file from its shown one.
    fn full(&self, shown: &str) -> PathBuf {
        lexical(&self.here.join(shown))
    }

    fn has(&self, tier: Tier) -> bool {
        tier == Tier::Global || self.project.is_some()
    }
}

impl Files for Located<'_> {
    fn entries(&self, root: Root) -> Result<Vec<TierEntry>, FileProblem> {
        if self.has(root.tier()) {
            self.disk.entries(root)
        } else {
            Ok(Vec::new())
        }
    }

    fn read(&self, path: &FilePath, max_bytes: u32) -> Result<Vec<u8>, FileProblem> {
        if !self.has(path.tier()) {
            return Err(FileProblem::Missing);
        }
        let full = self.full(&self.shown(path));
        let edit = self.edits.get(&full);
        self.read.borrow_mut().insert(full);
        match edit {
            None => self.disk.read(path, max_bytes),
            Some(Edit::Renamed(_)) => Err(FileProblem::Missing),
            Some(Edit::Text(text)) => Ok(text.clone().into_bytes()),
        }
    }

    fn shown(&self, path: &FilePath) -> String {
        let shown = self.disk.shown(path);
        match &self.project {
            Some(project) if path.tier() == Tier::Project => {
                relative(&project.join(shown), &self.here)
                    .display()
                    .to_string()
            }
            _ => shown,
        }
    }
}

/// Returns the root of the repository, if it is known.
fn repository(here: &Path) -> PathBuf {
    let workspace = env::var_os("GITHUB_WORKSPACE").map(PathBuf::from);
    if let Some(workspace) = workspace.filter(|workspace| here.starts_with(workspace)) {
        return workspace;
    }
    repository_root(here).unwrap_or(here).to_path_buf()
}

/// Returns the path of a file in its repository, with `/` as the separator; `None` if it is outside.
fn in_repository(file: &str) -> Option<String> {
    let here = env::current_dir().ok()?;
    let file = lexical(&here.join(file));
    let inside = file.strip_prefix(repository(&here)).ok()?;
    let parts = inside.iter().map(|part| part.to_string_lossy());
    Some(parts.collect::<Vec<_>>().join("/"))
}
