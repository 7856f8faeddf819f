//! Definitions and settings on a disk: the only file access of the engine's side.
//!
//! Owns where the roots are and the second half of path safety: a file is opened by its real path, and
//! only if that lies in the real root or in the real directory of its own workflow. It must not know
//! what a definition means.

#[cfg(unix)]
mod beneath;
mod whole;

use std::cell::OnceCell;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use workflow_core::definition::{FilePath, FileProblem, Files, SETTINGS_FILE, Tier, TierEntry};

#[cfg(unix)]
use beneath::{Beneath, Found};
pub(crate) use whole::write_atomically;

/// The directories of one user and one project, for one load: what was opened on the way to a file is kept.
#[derive(Debug)]
pub(crate) struct Disk {
    agent_dir: PathBuf,
    cwd: PathBuf,
    /// The real paths of the workflows directories.
    real_roots: [OnceCell<PathBuf>; 2],
    /// The same, opened: files are looked for from there.
    #[cfg(unix)]
    opened_roots: [OnceCell<Option<Beneath>>; 2],
    /// How the paths of the workflows directories are shown, up to the name of an entry.
    shown_roots: [OnceCell<String>; 2],
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
    // A relative path would make a project the user's own place; in the root only its owner writes.
    let home = crate::home::home_dir().unwrap_or_else(|| PathBuf::from("/"));
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
            real_roots: Default::default(),
            #[cfg(unix)]
            opened_roots: Default::default(),
            shown_roots: Default::default(),
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
    pub(crate) fn wanted(&self, path: &FilePath) -> PathBuf {
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
        let wanted = root.join(path.relative());
        with_metadata(followed(&wanted, root, &root.join(directory))?)
    }

    fn real_root(&self, tier: Tier) -> Result<&Path, FileProblem> {
        let cell = &self.real_roots[tier as usize];
        if let Some(root) = cell.get() {
            return Ok(root);
        }
        let root = fs::canonicalize(self.workflows(tier)).map_err(|error| problem(&error))?;
        Ok(cell.get_or_init(|| root))
    }

    /// The bytes of a file to which no link leads, in few steps; `None` where the long way has to tell.
    #[cfg(unix)]
    fn read_beneath(
        &self,
        path: &FilePath,
        max_bytes: u32,
    ) -> Option<Result<Vec<u8>, FileProblem>> {
        path.directory()?;
        let root = self.real_root(path.tier()).ok()?;
        let opened =
            self.opened_roots[path.tier() as usize].get_or_init(|| Beneath::open(root).ok());
        match opened.as_ref()?.find(path.relative()) {
            Found::File(file, length) => Some(bytes_of(file, length, max_bytes)),
            Found::Nothing => Some(Err(FileProblem::Missing)),
            Found::Other => None,
        }
    }

    #[cfg(not(unix))]
    fn read_beneath(&self, _: &FilePath, _: u32) -> Option<Result<Vec<u8>, FileProblem>> {
        None
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

    fn read(&self, path: &FilePath, max_bytes: u32) -> Result<Vec<u8>, FileProblem> {
        if let Some(read) = self.read_beneath(path, max_bytes) {
            return read;
        }
        let found = self.real(path);
        let (real, metadata) = found.map_err(|problem| of_link(problem, &self.wanted(path)))?;
        // Looked at before it is opened: opening a pipe would wait for someone to write to it.
        if !metadata.is_file() {
            return Err(FileProblem::NotAFile);
        }
        let file = File::open(&real).map_err(|error| problem(&error))?;
        bytes_of(file, metadata.len(), max_bytes)
    }

    fn shown(&self, path: &FilePath) -> String {
        // Where a person in the project would look for it.
        let base = match path.tier() {
            Tier::Global => &self.agent_dir,
            Tier::Project => Path::new(HOST_DIRECTORY),
        };
        if path.directory().is_none() {
            return base.join(SETTINGS_FILE).display().to_string();
        }
        let root = self.shown_roots[path.tier() as usize]
            // Nothing more behind it: a path that ends with what stands between its parts.
            .get_or_init(|| base.join(WORKFLOWS).join("").display().to_string());
        [root, path.relative()].concat()
    }
}

/// The bytes of a file that was seen to have so many, if it has no more than allowed.
fn bytes_of(mut file: File, length: u64, max_bytes: u32) -> Result<Vec<u8>, FileProblem> {
    let limit = u64::from(max_bytes);
    let expected = usize::try_from(length.min(limit)).unwrap_or_default();
    // One byte more than expected tells a file that grew since it was looked at.
    let mut bytes = vec![0; expected + 1];
    let mut count = loop {
        match file.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => break read.map_err(|error| problem(&error))?,
        }
    };
    bytes.truncate(count);
    if count != expected {
        let more = (limit + 1).saturating_sub(count as u64);
        let read = file.take(more).read_to_end(&mut bytes);
        count += read.map_err(|error| problem(&error))?;
    }
    if count > max_bytes as usize {
        return Err(FileProblem::TooLarge { limit: max_bytes });
    }
    Ok(bytes)
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
