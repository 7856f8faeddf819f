//! How things stood when a phase was entered.
//!
//! Owns what is remembered of a file, and how two such memories compare.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use workflow_core::definition::{Check, FileCheck, Gate, GitCheck};

use super::Obstacle;
use super::git::{self, Found, Head};
use super::output::one_line;
use super::watch::Watch;
use crate::plain_file;

/// How long looking may take: the host waits for it. What is not read by then counts as too long to be read.
const TIME: Duration = Duration::from_secs(2);
/// How much of a file is read. Of a longer one its length and the time of its last change are compared.
const READ: u64 = 16 * 1024 * 1024;

/// How things stood when a phase was entered, as far as its gate asks for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Baseline {
    /// The files whose change is asked for, by their path as it is written.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, FileState>,
    /// Where the repository stood, if a new commit is asked for and that could be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Head>,
}

/// What is remembered of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FileState {
    /// There was none.
    Absent,
    /// It said this, as SHA-256.
    Content(String),
    /// It was too long to be read.
    Long {
        /// Its length in bytes.
        length: u64,
        /// When it was last changed, in nanoseconds since 1970.
        changed: u128,
    },
    /// There was a directory, a pipe or a device.
    NoFile,
    /// It could not be read.
    Unreadable,
}

impl Baseline {
    /// Looks at what the checks will be held against. Starts git if one asks for a new commit,
    /// reads at most 16 MiB of each file; otherwise does nothing. Takes two seconds at most, as far as files
    /// can be opened at all.
    #[must_use]
    pub fn take(gates: &[Gate], cwd: &Path) -> Self {
        Self::take_until(Instant::now() + TIME, gates, cwd)
    }

    pub(super) fn take_until(end: Instant, gates: &[Gate], cwd: &Path) -> Self {
        let mut baseline = Self::default();
        for gate in gates {
            match &gate.check {
                Check::File(FileCheck { path, changed }) if changed.is_some() => {
                    let state = FileState::of(&cwd.join(path), Some(end));
                    let state = state.unwrap_or(FileState::Unreadable);
                    baseline.files.insert(path.clone(), state);
                }
                Check::Git(GitCheck::NewCommit) if baseline.head.is_none() => {
                    let over = AtomicBool::new(false);
                    let time = end.saturating_duration_since(Instant::now());
                    baseline.head = git::head(time, cwd, &mut Watch::new(&over, &mut |_| ()));
                }
                Check::Run(_) | Check::File(_) | Check::Git(_) => {}
            }
        }
        baseline
    }

    /// Whether nothing needs to be remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.head.is_none()
    }
}

impl FileState {
    /// How a file stands. Never waits for a pipe or a device, and reads no longer than until then.
    pub(crate) fn of(path: &Path, end: Option<Instant>) -> io::Result<Self> {
        let file = match plain_file::open(path) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(Self::NoFile),
            Err(error) if is_absence(&error) => return Ok(Self::Absent),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        let hash = if metadata.len() <= READ {
            hash(file, end)?
        } else {
            None
        };
        Ok(hash.map_or_else(|| Self::long(&metadata), Self::Content))
    }

    /// How a file stands, told so that it can be compared with how it stood.
    fn like(before: Option<&Self>, path: &Path) -> io::Result<Self> {
        let now = Self::of(path, None)?;
        if let (Some(Self::Long { .. }), Self::Content(_)) = (before, &now) {
            return Ok(Self::long(&path.metadata()?));
        }
        Ok(now)
    }

    fn long(metadata: &Metadata) -> Self {
        Self::Long {
            length: metadata.len(),
            changed: nanoseconds(metadata),
        }
    }
}

fn is_absence(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

fn nanoseconds(metadata: &Metadata) -> u128 {
    let changed = metadata.modified().ok();
    let since = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_nanos())
}

/// What a file says, unless it is too long, or reading it takes too long.
fn hash(file: File, end: Option<Instant>) -> io::Result<Option<String>> {
    let mut file = file.take(READ + 1);
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        if end.is_some_and(|end| Instant::now() >= end) {
            return Ok(None);
        }
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => hasher.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let is_whole = file.limit() > 0;
    Ok(is_whole.then(|| format!("{:x}", hasher.finalize())))
}

/// Whether a file is there, and has changed or not, as is expected.
pub(super) fn check_file(check: &FileCheck, baseline: &Baseline, cwd: &Path) -> Found {
    let name = one_line(&check.path);
    let before = baseline.files.get(&check.path);
    let now = match FileState::like(before, &cwd.join(&check.path)) {
        Ok(state) => state,
        Err(error) => {
            let reason = format!("{name} cannot be read: {error}");
            return Found::could_not_run((Obstacle::Start, reason));
        }
    };
    let failed = |reason: String| Found::failed(reason, String::new());
    match (check.changed, before, &now) {
        (None | Some(true), _, FileState::Absent) => failed(format!("there is no {name}")),
        (None | Some(true), _, FileState::NoFile) => failed(format!("{name} is no regular file")),
        (Some(_), None | Some(FileState::Unreadable), _) => Found::could_not_run((
            Obstacle::NoBaseline,
            format!("what {name} said when the phase was entered is not known"),
        )),
        (Some(true), Some(before), now) if before == now => failed(format!(
            "{name} has not changed since the phase was entered"
        )),
        (Some(false), Some(before), now) if before != now => {
            failed(format!("{name} has changed since the phase was entered"))
        }
        // What is expected not to change may be absent, as it was.
        (None, _, _) | (Some(_), Some(_), _) => Found::passed(),
    }
}
