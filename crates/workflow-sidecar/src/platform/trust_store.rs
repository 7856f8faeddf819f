//! The store of the user's trust in projects.
//!
//! A definition of a project can contain commands, and a project may come from anyone. So the user is asked once for
//! each set of commands of a project. The answer is stored in the user's directory, which a project cannot change:
//!
//! ```json
//! {"version":1,"projects":{"/home/me/app":[{"commands":"5f2c…","at":1795190400}]}}
//! ```
//!
//! The command lines are trusted, not the files that they run. This is a guard rail: a program that runs as the user can
//! write this file as well.
//!
//! Owns the file: it is replaced atomically, by one writer at a time, readable by its owner only, and never deleted when
//! it cannot be parsed. Must not know where commands are defined, or how the user is asked.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;
use workflow_core::definition::{RunCheck, Token, Trigger, TriggerOn};

use super::private_file::{create_private_dir, read_limited, replace};

const DIRECTORY: &str = "workflow-sidecar";
const FILE: &str = "trust.json";
const LOCK: &str = "trust.lock";
const VERSION: u32 = 1;

/// Time to wait for another writer.
const LOCK_TIME: Duration = Duration::from_secs(5);
/// Sets of commands that are stored for a project: each workflow has one, and branches differ.
const MAX_SETS: usize = 256;

/// The SHA-256 of all commands of a project, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct CommandsHash(String);

/// The user's decision about a project's commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// They may run.
    Trusted,
    /// Other commands of the project are trusted; these are new.
    Changed,
    /// The user has not decided.
    Unknown,
}

/// The file with the user's decisions.
#[derive(Debug, Clone)]
pub(crate) struct TrustStore {
    directory: PathBuf,
}

/// An error of the store. In this case nothing is trusted.
#[derive(Debug, Error)]
pub(crate) enum TrustError {
    /// The file cannot be parsed.
    #[error("{file} is damaged, so no project is trusted: {problem}")]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The error of the parser.
        problem: serde_json::Error,
    },
    /// The file has a newer version.
    #[error("{file} is of version {version}, which is not known here, so no project is trusted")]
    Newer {
        /// The file.
        file: PathBuf,
        /// The version in the file.
        version: u32,
    },
    /// The project's path is not UTF-8.
    #[error("the path of the project is no text: {0}")]
    NotUtf8(PathBuf),
    /// Another program has locked the file.
    #[error("{0} is held by another program")]
    Busy(PathBuf),
    /// An error of the system.
    #[error("{path}: {problem}")]
    File {
        /// The file or directory.
        path: PathBuf,
        /// The error.
        problem: io::Error,
    },
}

#[derive(Debug, Serialize, Deserialize)]
struct Contents {
    version: u32,
    #[serde(default)]
    projects: BTreeMap<String, Vec<Entry>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    commands: CommandsHash,
    /// Seconds since 1970.
    at: u64,
}

/// Hashes all commands of a project. Their order, location and repetition do not matter; every argument does.
#[must_use]
pub(crate) fn hash_of<'a>(commands: impl IntoIterator<Item = &'a RunCheck>) -> CommandsHash {
    let commands = commands.into_iter();
    let mut commands: Vec<_> = commands
        .map(|run| (run.shell, &run.command, &run.cwd, &run.env))
        .collect();
    commands.sort_unstable();
    commands.dedup();
    let mut hasher = Sha256::new();
    for (shell, arguments, cwd, env) in commands {
        hasher.update([u8::from(shell)]);
        add_list(&mut hasher, arguments);
        // The hash of a command with neither is that of earlier versions.
        if cwd.is_some() || !env.is_empty() {
            hasher.update([2]);
            add_list(&mut hasher, cwd.as_slice());
            for (name, value) in env {
                add_list(&mut hasher, &[name.clone(), value.clone()]);
            }
        }
    }
    CommandsHash(format!("{:x}", hasher.finalize()))
}

/// Hashes all triggers of a project, as [`hash_of`] does its commands; the result is never one of those hashes.
#[must_use]
pub(crate) fn hash_of_triggers<'a>(
    triggers: impl IntoIterator<Item = &'a Trigger>,
) -> CommandsHash {
    let fields = |trigger: &'a Trigger| -> Vec<String> {
        let mut fields = match &trigger.on {
            TriggerOn::File(path) => vec!["file".to_owned(), path.clone()],
            TriggerOn::Http { port, token } => {
                let (kind, value) = match token {
                    Token::Text(text) => ("token", text),
                    Token::Environment(name) => ("tokenEnv", name),
                };
                vec![
                    "http".to_owned(),
                    port.to_string(),
                    kind.to_owned(),
                    value.clone(),
                ]
            }
        };
        fields.push(trigger.prompt.clone());
        fields
    };
    let mut triggers: Vec<Vec<String>> = triggers.into_iter().map(fields).collect();
    triggers.sort_unstable();
    triggers.dedup();
    let mut hasher = Sha256::new();
    hasher.update("triggers");
    for fields in &triggers {
        add_list(&mut hasher, fields);
    }
    CommandsHash(format!("{:x}", hasher.finalize()))
}

/// Adds a list of texts with their lengths, so that different lists have different input.
fn add_list(hasher: &mut Sha256, texts: &[String]) {
    hasher.update((texts.len() as u64).to_le_bytes());
    for text in texts {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
}

impl TrustStore {
    /// Returns the store in the user's directory.
    #[must_use]
    pub(crate) fn in_agent_dir(agent_dir: &Path) -> Self {
        Self {
            directory: agent_dir.join(DIRECTORY),
        }
    }

    /// Returns the path of the file.
    #[must_use]
    pub(crate) fn file(&self) -> PathBuf {
        self.directory.join(FILE)
    }

    /// Looks up the decision about these commands of a project.
    pub(crate) fn look_up(
        &self,
        project: &Path,
        commands: &CommandsHash,
    ) -> Result<Trust, TrustError> {
        let project = key(project)?;
        let contents = self.read()?;
        Ok(match contents.projects.get(&project).map(Vec::as_slice) {
            Some(entries) if entries.iter().any(|entry| entry.commands == *commands) => {
                Trust::Trusted
            }
            None | Some([]) => Trust::Unknown,
            Some(_) => Trust::Changed,
        })
    }

    /// Stores that these commands of a project may run.
    ///
    /// A damaged file is renamed first; the new path is returned.
    pub(crate) fn trust(
        &self,
        project: &Path,
        commands: &CommandsHash,
    ) -> Result<Option<PathBuf>, TrustError> {
        let project = key(project)?;
        let entry = Entry {
            commands: commands.clone(),
            at: now(),
        };
        self.change(|contents| {
            let entries = contents.projects.entry(project).or_default();
            entries.retain(|known| known.commands != entry.commands);
            let surplus = (entries.len() + 1).saturating_sub(MAX_SETS);
            entries.drain(..surplus);
            entries.push(entry);
        })
    }

    /// Removes all decisions about a project, so that its commands may not run.
    ///
    /// Renames a damaged file like [`TrustStore::trust`].
    pub(crate) fn revoke(&self, project: &Path) -> Result<Option<PathBuf>, TrustError> {
        let project = key(project)?;
        self.change(|contents| {
            contents.projects.remove(&project);
        })
    }

    fn read(&self) -> Result<Contents, TrustError> {
        let file = self.file();
        let problem = |problem| TrustError::File {
            path: file.clone(),
            problem,
        };
        let Some(text) = read_limited(&file).map_err(problem)? else {
            return Ok(empty());
        };
        let damaged = |problem| TrustError::Damaged {
            file: file.clone(),
            problem,
        };
        // The format of a newer version is unknown, except for its number.
        let head: Head = serde_json::from_slice(&text).map_err(damaged)?;
        if head.version != VERSION {
            return Err(TrustError::Newer {
                file,
                version: head.version,
            });
        }
        serde_json::from_slice(&text).map_err(damaged)
    }

    /// Reads, changes and replaces the file under the lock.
    fn change(&self, change: impl FnOnce(&mut Contents)) -> Result<Option<PathBuf>, TrustError> {
        let problem = |problem| TrustError::File {
            path: self.directory.clone(),
            problem,
        };
        create_private_dir(&self.directory).map_err(problem)?;
        let _lock = self.lock()?;
        let (mut contents, damaged) = match self.read() {
            Ok(contents) => (contents, None),
            Err(TrustError::Damaged { file, .. }) => (empty(), Some(file)),
            Err(other) => return Err(other),
        };
        change(&mut contents);
        let renamed = damaged.map(|file| rename_damaged(&file)).transpose();
        let renamed = renamed.map_err(problem)?;
        let mut text = serde_json::to_string(&contents).map_err(|error| problem(error.into()))?;
        text.push('\n');
        replace(&self.file(), &text).map_err(problem)?;
        Ok(renamed)
    }

    fn lock(&self) -> Result<File, TrustError> {
        let path = self.directory.join(LOCK);
        let problem = |problem| TrustError::File {
            path: path.clone(),
            problem,
        };
        let mut options = File::options();
        let options = options.create(true).truncate(false).write(true);
        let lock = options.open(&path).map_err(problem)?;
        let end = Instant::now() + LOCK_TIME;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::WouldBlock) if Instant::now() < end => {
                    thread::sleep(Duration::from_millis(10));
                }
                Err(TryLockError::WouldBlock) => return Err(TrustError::Busy(path)),
                Err(TryLockError::Error(error)) => return Err(problem(error)),
            }
        }
    }
}

#[derive(Debug, Deserialize)]
struct Head {
    version: u32,
}

fn empty() -> Contents {
    Contents {
        version: VERSION,
        projects: BTreeMap::new(),
    }
}

/// Returns the key of a project: its real path, so that a link does not make it another project.
fn key(project: &Path) -> Result<String, TrustError> {
    let real = fs::canonicalize(project).map_err(|problem| TrustError::File {
        path: project.to_path_buf(),
        problem,
    })?;
    let text = real.into_os_string().into_string();
    text.map_err(|real| TrustError::NotUtf8(real.into()))
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Renames a damaged file to an unused name.
fn rename_damaged(file: &Path) -> io::Result<PathBuf> {
    let names = (1..).map(|number: u32| file.with_extension(format!("damaged-{number}.json")));
    let free = names.into_iter().find(|name| !name.exists());
    let renamed = free.unwrap_or_else(|| file.with_extension("damaged.json"));
    fs::rename(file, &renamed)?;
    Ok(renamed)
}

#[cfg(test)]
mod tests;
