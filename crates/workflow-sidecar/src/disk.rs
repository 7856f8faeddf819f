//! Definitions and settings on a disk: the only file access of the engine's side.
//!
//! Owns where the roots are and the second half of path safety: a file is opened by its real path, and
//! only if that lies in the real root or in the real directory of its own workflow. It must not know
//! what a definition means.

mod whole;

use std::cell::{OnceCell, RefCell};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use workflow_core::definition::{FilePath, FileProblem, Files, SETTINGS_FILE, Tier, TierEntry};

pub(crate) use whole::write_atomically;

/// The directories of one user and one project, for one load: where links lead is remembered.
#[derive(Debug)]
pub(crate) struct Disk {
    agent_dir: PathBuf,
    cwd: PathBuf,
    /// The real paths of the workflows directories.
    real_roots: [OnceCell<PathBuf>; 2],
    /// The directories looked at last, if there was no link among them.
    without_links: RefCell<PathBuf>,
}

/// The directory of the host's own files in a project, and in a home directory.
pub(crate) const HOST_DIRECTORY: &str = ".pi";
/// The directory of the workflows in it.
pub(crate) const WORKFLOWS: &str = "workflows";

/// The host's directory for the user, from its variable and the home directory (B30).
///
/// As the host: an empty value counts as none, `~` and `~/` stand for the home directory.
#[must_use]
fn agent_dir(variable: Option<&OsStr>, home: &Path) -> PathBuf {
    match variable.filter(|value| !value.is_empty()) {
        None => home.join(HOST_DIRECTORY).join("agent"),
        Some(value) => match Path::new(value).strip_prefix("~") {
            Ok(rest) => home.join(rest),
            Err(_) => PathBuf::from(value),
        },
    }
}

/// Names the directory of the user's own definitions, as pi does.
const AGENT_DIR_VARIABLE: &str = "PI_CODING_AGENT_DIR";

/// The directory of the user's own definitions; what nobody says is where pi has it (B30).
#[must_use]
pub(crate) fn user_agent_dir(said: Option<&str>) -> PathBuf {
    let home = std::env::home_dir().unwrap_or_default();
    let variable = std::env::var_os(AGENT_DIR_VARIABLE);
    let said = said.filter(|said| !said.is_empty()).map(OsStr::new);
    agent_dir(said.or(variable.as_deref()), &home)
}

impl Disk {
    /// Global workflows and settings are in `agent_dir` itself, a project's in `<cwd>/.pi`.
    #[must_use]
    pub(crate) fn new(agent_dir: PathBuf, cwd: PathBuf) -> Self {
        Self {
            agent_dir,
            cwd,
            real_roots: [OnceCell::new(), OnceCell::new()],
            without_links: RefCell::default(),
        }
    }

    fn base(&self, tier: Tier) -> PathBuf {
        match tier {
            Tier::Global => self.agent_dir.clone(),
            Tier::Project => self.cwd.join(HOST_DIRECTORY),
        }
    }

    fn workflows(&self, tier: Tier) -> PathBuf {
        self.base(tier).join(WORKFLOWS)
    }

    /// The path a file is wanted at, before links are followed.
    fn wanted(&self, path: &FilePath) -> PathBuf {
        match path.directory() {
            None => self.base(path.tier()).join(path.relative()),
            Some(_) => self.workflows(path.tier()).join(path.relative()),
        }
    }

    /// The real path of a file and what is there: what is checked, and what is opened (B25 to B28).
    fn real(&self, path: &FilePath) -> Result<(PathBuf, Metadata), FileProblem> {
        let Some(directory) = path.directory() else {
            return with_metadata(self.real_settings(path)?);
        };
        let root = self.real_root(path.tier())?;
        let (parents, name) = path
            .relative()
            .rsplit_once('/')
            .unwrap_or(("", path.relative()));
        if self.has_no_links(root, parents)? {
            let real = root.join(parents).join(name);
            let metadata = fs::symlink_metadata(&real).map_err(|error| problem(&error))?;
            // Without a link on the way, the path is the real one.
            if !metadata.is_symlink() {
                return Ok((real, metadata));
            }
        }
        with_metadata(followed(
            &root.join(path.relative()),
            root,
            &root.join(directory),
        )?)
    }

    /// Whether all of these directories are real ones. The answer for the last ones is remembered:
    /// a workflow's files lie together.
    fn has_no_links(&self, root: &Path, parents: &str) -> Result<bool, FileProblem> {
        let directories = root.join(parents);
        if *self.without_links.borrow() == directories {
            return Ok(true);
        }
        let mut at = root.to_owned();
        for part in parents.split('/') {
            at.push(part);
            let metadata = fs::symlink_metadata(&at).map_err(|error| problem(&error))?;
            if metadata.is_symlink() {
                return Ok(false);
            }
        }
        self.without_links.replace(directories);
        Ok(true)
    }

    fn real_root(&self, tier: Tier) -> Result<&Path, FileProblem> {
        let cell = &self.real_roots[tier as usize];
        if let Some(root) = cell.get() {
            return Ok(root);
        }
        let root = fs::canonicalize(self.workflows(tier)).map_err(|error| problem(&error))?;
        Ok(cell.get_or_init(|| root))
    }

    /// The user's own settings may be a link to anywhere; a project's may not lead out of it.
    fn real_settings(&self, path: &FilePath) -> Result<PathBuf, FileProblem> {
        let canonical = |path: &Path| fs::canonicalize(path).map_err(|error| problem(&error));
        let wanted = self.wanted(path);
        let real = canonical(&wanted).map_err(|problem| match problem {
            // Somebody says something here: it is not as if there were no settings.
            FileProblem::Missing if wanted.is_symlink() => {
                FileProblem::Unreadable("it is a link that leads nowhere".to_owned())
            }
            problem => problem,
        })?;
        match path.tier() {
            Tier::Global => Ok(real),
            Tier::Project if real.starts_with(canonical(&self.cwd)?) => Ok(real),
            Tier::Project => Err(FileProblem::Escapes),
        }
    }
}

fn with_metadata(real: PathBuf) -> Result<(PathBuf, Metadata), FileProblem> {
    let metadata = fs::metadata(&real).map_err(|error| problem(&error))?;
    Ok((real, metadata))
}

/// The real path of what a link leads to, if it lies in the root or in its own workflow's directory.
fn followed(wanted: &Path, root: &Path, directory: &Path) -> Result<PathBuf, FileProblem> {
    let real = fs::canonicalize(wanted).map_err(|error| problem(&error))?;
    let inside = |directory: &Path| real.starts_with(directory) && real != directory;
    let allowed = inside(root) || fs::canonicalize(directory).is_ok_and(|real| inside(&real));
    allowed.then_some(real).ok_or(FileProblem::Escapes)
}

impl Files for Disk {
    fn entries(&self, tier: Tier) -> Result<Vec<TierEntry>, FileProblem> {
        let root = self.workflows(tier);
        let listed = match fs::read_dir(&root) {
            Ok(listed) => listed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(FileProblem::Unreadable(error.to_string())),
        };
        let mut entries = Vec::new();
        for entry in listed {
            let entry = entry.map_err(|error| problem(&error))?;
            let file_type = entry.file_type().map_err(|error| problem(&error))?;
            // Only a link costs a second look.
            let kept = if file_type.is_symlink() {
                link(&entry.path())
            } else {
                file_type.is_dir().then_some(Ok(()))
            };
            if let Some(kept) = kept {
                entries.push((entry.file_name(), kept));
            }
        }
        entries.sort_by(|(a, _), (b, _)| a.as_encoded_bytes().cmp(b.as_encoded_bytes()));
        Ok(entries
            .into_iter()
            .map(|(name, kept)| tier_entry(&name, kept))
            .collect())
    }

    fn entry(&self, tier: Tier, name: &str) -> Result<Option<TierEntry>, FileProblem> {
        // Who may not list a directory finds nothing in it.
        match fs::read_dir(self.workflows(tier)) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(FileProblem::Unreadable(error.to_string())),
        }
        let mut parts = Path::new(name).components();
        let is_name = parts.next() == Some(Component::Normal(OsStr::new(name)));
        if is_name && parts.next().is_none() {
            let real = self.real_root(tier)?.join(name);
            match fs::symlink_metadata(&real) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                // Some file systems find it under another name as well.
                Ok(found)
                    if found.is_dir()
                        && fs::canonicalize(&real).is_ok_and(|found| found == real) =>
                {
                    return Ok(Some(TierEntry::Directory(name.to_owned())));
                }
                _ => {}
            }
        }
        self.listed(tier, name)
    }

    fn read(&self, path: &FilePath, max_bytes: u32) -> Result<Vec<u8>, FileProblem> {
        let found = self.real(path);
        let (real, metadata) = found.map_err(|problem| of_link(problem, &self.wanted(path)))?;
        // Looked at before it is opened: opening a pipe would wait for someone to write to it.
        if !metadata.is_file() {
            return Err(FileProblem::NotAFile);
        }
        let file = File::open(&real).map_err(|error| problem(&error))?;
        let limit = u64::from(max_bytes);
        let expected = usize::try_from(metadata.len().min(limit)).unwrap_or_default();
        let mut bytes = Vec::with_capacity(expected + 1);
        // One byte more than allowed tells a file that grew since it was looked at.
        file.take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| problem(&error))?;
        if bytes.len() > max_bytes as usize {
            return Err(FileProblem::TooLarge { limit: max_bytes });
        }
        Ok(bytes)
    }

    fn shown(&self, path: &FilePath) -> String {
        let shown = match path.tier() {
            Tier::Global => self.wanted(path),
            // Where a person in the project would look for it.
            Tier::Project => match path.directory() {
                None => Path::new(HOST_DIRECTORY).join(SETTINGS_FILE),
                Some(_) => Path::new(HOST_DIRECTORY)
                    .join(WORKFLOWS)
                    .join(path.relative()),
            },
        };
        shown.display().to_string()
    }
}

/// What a link in a workflows directory is: a directory, something to skip and say so, or a file.
fn link(path: &Path) -> Option<Result<(), FileProblem>> {
    match fs::metadata(path) {
        Ok(metadata) => metadata.is_dir().then_some(Ok(())),
        Err(error) => Some(Err(problem(&error))),
    }
}

fn tier_entry(name: &OsStr, kept: Result<(), FileProblem>) -> TierEntry {
    let lossy = || name.to_string_lossy().into_owned();
    match (name.to_str(), kept) {
        (Some(name), Ok(())) => TierEntry::Directory(name.to_owned()),
        (None, Ok(())) => TierEntry::Skipped {
            name: lossy(),
            problem: FileProblem::NameNotUtf8,
        },
        (_, Err(problem)) => TierEntry::Skipped {
            name: lossy(),
            problem,
        },
    }
}

/// A link to what is not there was meant to be a file: its workflow must not be missing in silence.
fn of_link(problem: FileProblem, path: &Path) -> FileProblem {
    let is_link = || fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    match problem {
        FileProblem::Missing if is_link() => {
            FileProblem::Unreadable("it is a link to what is not there".to_owned())
        }
        problem => problem,
    }
}

fn problem(error: &io::Error) -> FileProblem {
    match error.kind() {
        // A file where a directory is expected: there is nothing at the end of that path.
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FileProblem::Missing,
        io::ErrorKind::IsADirectory => FileProblem::NotAFile,
        _ => FileProblem::Unreadable(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
