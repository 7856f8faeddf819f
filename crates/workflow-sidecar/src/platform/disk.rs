//! Definitions and settings on disk.
//!
//! Owns the locations of the roots and the second half of path safety: a file is opened only if its real path is below
//! the real root or below the real directory of its workflow. Must not know what a definition contains.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use workflow_core::definition::{
    FilePath, FileProblem, Files, Root, SETTINGS_FILE, Tier, TierEntry,
};

use crate::files::regular_file::ContainedFile;
use crate::files::{home_dir, if_present, read_at_most};

/// The directories of one user and one project.
pub(crate) struct Disk {
    agent_dir: PathBuf,
    cwd: PathBuf,
    /// The real paths of the workflows directories, resolved once.
    real_roots: [OnceCell<PathBuf>; 3],
}

/// The directory of the host's files in a project, and in a home directory.
pub(crate) const HOST_DIRECTORY: &str = ".pi";
/// The directory of a project that other hosts read as well; it has no settings.
pub(crate) const AGENTS_DIRECTORY: &str = ".agents";
/// The directory of workflows in both.
pub(crate) const WORKFLOWS: &str = "workflows";

/// Returns the host's directory for the user, from its variable and the home directory (B30).
///
/// Follows the host: an empty value counts as not set, `~` and `~/` mean the home directory.
pub(crate) fn agent_dir(variable: Option<&OsStr>, home: &Path) -> PathBuf {
    match variable.filter(|value| !value.is_empty()) {
        None => home.join(HOST_DIRECTORY).join("agent"),
        Some(value) => match Path::new(value).strip_prefix("~") {
            Ok(rest) => home.join(rest),
            Err(_) => PathBuf::from(value),
        },
    }
}

/// Variable with the directory of the user's definitions, as in pi.
const AGENT_DIR_VARIABLE: &str = "PI_CODING_AGENT_DIR";

/// Returns the directory of the user's definitions: the given one, or the default of pi (B30).
pub(crate) fn user_agent_dir(given: Option<&str>) -> PathBuf {
    // A relative path would let a project act as the user's directory; only the administrator writes to the root.
    let home = home_dir().unwrap_or_else(|| PathBuf::from("/"));
    let variable = std::env::var_os(AGENT_DIR_VARIABLE);
    let given = given.filter(|given| !given.is_empty()).map(OsStr::new);
    agent_dir(given.or(variable.as_deref()), &home)
}

impl Disk {
    /// Global workflows and settings are in `agent_dir`, those of a project in `<cwd>/.pi`, and workflows also in
    /// `<cwd>/.agents`.
    pub(crate) fn new(agent_dir: PathBuf, cwd: PathBuf) -> Self {
        Self {
            agent_dir,
            cwd,
            real_roots: Default::default(),
        }
    }

    fn base(&self, root: Root) -> PathBuf {
        match root {
            Root::User => self.agent_dir.clone(),
            Root::Agents => self.cwd.join(AGENTS_DIRECTORY),
            Root::Project => self.cwd.join(HOST_DIRECTORY),
        }
    }

    fn workflows(&self, root: Root) -> PathBuf {
        self.base(root).join(WORKFLOWS)
    }

    /// Returns the path of a file, before links are resolved.
    pub(crate) fn unresolved(&self, path: &FilePath) -> PathBuf {
        match path.directory() {
            None => self.base(path.root()).join(path.relative()),
            Some(_) => self.workflows(path.root()).join(path.relative()),
        }
    }

    /// Resolves links, and checks the real path (B25 to B28).
    fn locate(&self, path: &FilePath) -> Result<ContainedFile, FileProblem> {
        let Some(directory) = path.directory() else {
            return self.locate_settings(path);
        };
        let root = self.real_root(path.root())?;
        let real = canonical(&root.join(path.relative()))?;
        if let Some(file) = ContainedFile::below(root, &real) {
            return Ok(file);
        }
        // A workflow may be a link to a directory elsewhere, and use the files there.
        let directory = canonical(&root.join(directory)).map_err(|_| FileProblem::Escapes)?;
        ContainedFile::below(&directory, &real).ok_or(FileProblem::Escapes)
    }

    /// Locates settings: the user's may be a link to anywhere; those of a project must be inside of it.
    fn locate_settings(&self, path: &FilePath) -> Result<ContainedFile, FileProblem> {
        let real = canonical(&self.unresolved(path))?;
        let directory = match path.tier() {
            Tier::Global => real.parent().unwrap_or(&real).to_path_buf(),
            Tier::Project => canonical(&self.cwd)?,
        };
        ContainedFile::below(&directory, &real).ok_or(FileProblem::Escapes)
    }

    fn real_root(&self, root: Root) -> Result<&Path, FileProblem> {
        let cell = &self.real_roots[root as usize];
        if let Some(root) = cell.get() {
            return Ok(root);
        }
        let real = canonical(&self.workflows(root))?;
        Ok(cell.get_or_init(|| real))
    }
}

fn canonical(path: &Path) -> Result<PathBuf, FileProblem> {
    fs::canonicalize(path).map_err(|error| problem(&error))
}

impl Files for Disk {
    fn entries(&self, root: Root) -> Result<Vec<TierEntry>, FileProblem> {
        let root = self.workflows(root);
        let listed = if_present(fs::read_dir(&root));
        let listed = listed.map_err(|error| FileProblem::Unreadable(error.to_string()))?;
        let mut entries = BTreeMap::new();
        for entry in listed.into_iter().flatten() {
            let entry = entry.map_err(|error| problem(&error))?;
            let file_name = entry.file_name();
            // Follows a link; one to nothing is an error to report.
            let problem = match fs::metadata(entry.path()) {
                Ok(metadata) if !metadata.is_dir() => continue,
                Ok(_) => (file_name.to_str().is_none()).then_some(FileProblem::NameNotUtf8),
                Err(error) => Some(problem(&error)),
            };
            let name = file_name.to_string_lossy().into_owned();
            entries.insert(file_name, TierEntry { name, problem });
        }
        Ok(entries.into_values().collect())
    }

    fn read(&self, path: &FilePath, max_bytes: u32) -> Result<Vec<u8>, FileProblem> {
        let located = self.locate(path).map_err(|problem| match problem {
            // A missing file would make its workflow, or the settings, disappear silently.
            FileProblem::Missing if self.unresolved(path).is_symlink() => {
                FileProblem::Unreadable("it is a link that leads nowhere".to_owned())
            }
            problem => problem,
        })?;
        let file = located.open().map_err(|error| problem(&error))?;
        read_bounded(file.ok_or(FileProblem::NotAFile)?, max_bytes)
    }

    fn shown(&self, path: &FilePath) -> String {
        let base = match path.root() {
            Root::User => &self.agent_dir,
            Root::Agents => Path::new(AGENTS_DIRECTORY),
            Root::Project => Path::new(HOST_DIRECTORY),
        };
        let shown = match path.directory() {
            None => base.join(SETTINGS_FILE),
            Some(_) => base.join(WORKFLOWS).join(path.relative()),
        };
        shown.display().to_string()
    }
}

/// Reads a file that has at most `max_bytes`.
pub(crate) fn read_bounded(file: File, max_bytes: u32) -> Result<Vec<u8>, FileProblem> {
    let read = read_at_most(file, max_bytes.into()).map_err(|error| problem(&error))?;
    read.ok_or(FileProblem::TooLarge { limit: max_bytes })
}

pub(crate) fn problem(error: &io::Error) -> FileProblem {
    match error.kind() {
        // A file instead of a directory: nothing exists at that path.
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FileProblem::Missing,
        io::ErrorKind::IsADirectory => FileProblem::NotAFile,
        _ => FileProblem::Unreadable(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
