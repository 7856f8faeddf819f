//! The files in which earlier versions kept requests for approval and trust. They are read once, when the store is created
//! or upgraded, and renamed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{RequestRow, TrustRow};

const APPROVALS: &str = "approvals";
const TRUST: &str = "trust.json";
const TRUST_LOCK: &str = "trust.lock";
const TRUST_VERSION: u64 = 1;
/// The end of the name of an answer's file.
const ANSWER: &str = ".word.json";
const REQUEST: &str = ".json";

/// The content of the files.
#[derive(Debug, Default)]
pub(super) struct OldFiles {
    pub(super) requests: Vec<RequestRow>,
    pub(super) trust: Vec<TrustRow>,
    /// The files and directories to rename, with the ends of their new names.
    read: Vec<(PathBuf, &'static str)>,
}

#[derive(Deserialize)]
struct Trusted {
    commands: String,
    /// Seconds since 1970.
    at: u64,
}

/// Returns true if there are such files.
pub(super) fn exist(directory: &Path) -> bool {
    directory.join(APPROVALS).is_dir() || directory.join(TRUST).is_file()
}

impl OldFiles {
    /// Reads the files. A file that cannot be read counts for nothing, and is kept.
    pub(super) fn read(directory: &Path) -> Self {
        let mut found = Self::default();
        let approvals = directory.join(APPROVALS);
        if approvals.is_dir() {
            let read = found.read_requests(&approvals);
            let suffix = match read {
                Ok(()) => "imported",
                Err(error) => {
                    tracing::warn!("{}: {error}", approvals.display());
                    "damaged"
                }
            };
            found.read.push((approvals, suffix));
        }
        let trust = directory.join(TRUST);
        if trust.is_file() {
            let suffix = match read_trust(&trust) {
                Ok(rows) => {
                    found.trust = rows;
                    "imported"
                }
                Err(error) => {
                    tracing::warn!(
                        "{} cannot be read, so nothing that it lists is trusted: {error}",
                        trust.display()
                    );
                    "damaged"
                }
            };
            found.read.push((trust, suffix));
        }
        found
    }

    fn read_requests(&mut self, directory: &Path) -> io::Result<()> {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let Some(task_id) = name
                .filter(|name| !name.ends_with(ANSWER))
                .and_then(|name| name.strip_suffix(REQUEST))
            else {
                continue;
            };
            let answer = directory.join(format!("{task_id}{ANSWER}"));
            let row = read_object(&path).and_then(|request| {
                let row = request_row(request, task_id)?;
                let answer = read_object(&answer)
                    .filter(|answer| answer.get("nonce").is_some_and(|nonce| *nonce == row.nonce));
                Some(RequestRow {
                    answer: answer.map(|answer| Value::Object(answer).to_string()),
                    changed: changed(&path),
                    ..row
                })
            });
            self.requests.extend(row);
        }
        Ok(())
    }

    /// Renames the files that were read, so that nothing is lost and nothing is read twice.
    pub(super) fn rename_read(self, directory: &Path) {
        for (path, suffix) in self.read {
            let extension = |number: u32| match number {
                1 => suffix.to_owned(),
                more => format!("{suffix}-{more}"),
            };
            let names = (1..).map(|number| {
                let mut name = path.clone().into_os_string();
                name.push(format!(".{}", extension(number)));
                PathBuf::from(name)
            });
            let free = names.into_iter().find(|name| !name.exists());
            if let Some(free) = free
                && let Err(error) = fs::rename(&path, free)
            {
                tracing::warn!("{}: {error}", path.display());
            }
        }
        // No process uses the lock any longer.
        let _ = fs::remove_file(directory.join(TRUST_LOCK));
    }
}

fn read_object(path: &Path) -> Option<Map<String, Value>> {
    let text = fs::read(path).ok()?;
    serde_json::from_slice(&text).ok()
}

fn request_row(mut request: Map<String, Value>, task_id: &str) -> Option<RequestRow> {
    let mut take = |name: &str| match request.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let (seal, sidecar, choice) = (take("seal"), take("sidecar"), take("choice"));
    if request.get("taskId")? != task_id {
        return None;
    }
    Some(RequestRow {
        task_id: task_id.to_owned(),
        nonce: request.get("nonce")?.as_str()?.to_owned(),
        request: Value::Object(request).to_string(),
        seal,
        sidecar,
        choice,
        ..RequestRow::default()
    })
}

fn read_trust(path: &Path) -> io::Result<Vec<TrustRow>> {
    #[derive(Deserialize)]
    struct TrustFile {
        version: u64,
        projects: BTreeMap<String, Vec<Trusted>>,
    }
    let contents: TrustFile = serde_json::from_slice(&fs::read(path)?)?;
    if contents.version != TRUST_VERSION {
        let version = contents.version;
        return Err(io::Error::other(format!("version {version} is not known")));
    }
    let rows = contents.projects.into_iter().flat_map(|(project, sets)| {
        sets.into_iter().map(move |set| TrustRow {
            project: project.clone(),
            commands: set.commands,
            at: set.at.saturating_mul(1000),
        })
    });
    Ok(rows.collect())
}

fn changed(path: &Path) -> u64 {
    let modified = path.metadata().and_then(|metadata| metadata.modified());
    let since = modified.ok().and_then(|modified| {
        let since = modified.duration_since(std::time::UNIX_EPOCH).ok()?;
        u64::try_from(since.as_millis()).ok()
    });
    since.unwrap_or_default()
}
