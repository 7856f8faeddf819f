//! Which projects' commands may run.
//!
//! A definition of a project can name commands, and a project may come from anybody. So a person is
//! asked once for each set of commands of a project; the answer is kept in the user's own directory,
//! where a project has no say:
//!
//! ```json
//! {"version":1,"projects":{"/home/me/app":[{"commands":"5f2c…","at":1795190400}]}}
//! ```
//!
//! What is trusted are the command lines, not the files that they run. And it is a guard rail: a
//! program that runs as the user can write this file as well.
//!
//! Owns the file: it is replaced whole, by one writer at a time, readable by its owner only, and never
//! thrown away when it is not understood. Must not know where commands stand, or whom to ask.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;
use workflow_core::definition::{RunCheck, Token, Trigger, TriggerOn};

use crate::private::create_private;

const DIRECTORY: &str = "workflow-sidecar";
const FILE: &str = "trust.json";
const LOCK: &str = "trust.lock";
const VERSION: u32 = 1;

/// How long another writer is waited for, who needs a moment only.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many sets of commands are remembered for a project: each workflow has its own, and branches differ.
const REMEMBERED: usize = 256;
/// A longer file is not this one.
const LONGEST: u64 = 4 * 1024 * 1024;

/// The commands of a project, all of them, in one number: SHA-256 in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandsHash(String);

/// What was said of a project's commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// They may run.
    Trusted,
    /// Others of this project may run; these are new.
    Changed,
    /// Nobody said anything.
    Unknown,
}

/// The file that remembers.
#[derive(Debug, Clone)]
pub struct TrustStore {
    directory: PathBuf,
}

/// Why nothing can be said, or remembered. Nothing is trusted then.
#[derive(Debug, Error)]
pub enum TrustError {
    /// It is not what was written.
    #[error("{file} is damaged, so no project is trusted: {problem}")]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: serde_json::Error,
    },
    /// A newer program has written it.
    #[error("{file} is of version {version}, which is not known here, so no project is trusted")]
    Newer {
        /// The file.
        file: PathBuf,
        /// What it says of itself.
        version: u32,
    },
    /// The project's path cannot be written down.
    #[error("the path of the project is no text: {0}")]
    NoText(PathBuf),
    /// Another program does not let go of the file.
    #[error("{0} is held by another program")]
    Busy(PathBuf),
    /// The system has something against it.
    #[error("{path}: {problem}")]
    File {
        /// The file or directory.
        path: PathBuf,
        /// What the system says.
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

/// One number for all commands of a project that would run. Neither their order nor where they stand
/// matters, nor how often one is named; every word does.
#[must_use]
pub fn hash_of<'a>(commands: impl IntoIterator<Item = &'a RunCheck>) -> CommandsHash {
    let commands = commands.into_iter();
    let mut commands: Vec<_> = commands.map(|run| (run.shell, &run.command)).collect();
    commands.sort_unstable();
    commands.dedup();
    let mut hasher = Sha256::new();
    for (shell, words) in commands {
        hasher.update([u8::from(shell)]);
        hasher.update((words.len() as u64).to_le_bytes());
        for word in words {
            hasher.update((word.len() as u64).to_le_bytes());
            hasher.update(word);
        }
    }
    CommandsHash(format!("{:x}", hasher.finalize()))
}

/// One number for all triggers of a project, as [`hash_of`] is for its commands; it is never the same as one of those.
#[must_use]
pub fn hash_of_triggers<'a>(triggers: impl IntoIterator<Item = &'a Trigger>) -> CommandsHash {
    let words = |trigger: &'a Trigger| -> Vec<String> {
        let mut words = match &trigger.on {
            TriggerOn::File(path) => vec!["file".to_owned(), path.clone()],
            TriggerOn::Http { port, token } => {
                let (kind, word) = match token {
                    Token::Text(text) => ("token", text),
                    Token::Environment(name) => ("tokenEnv", name),
                };
                vec![
                    "http".to_owned(),
                    port.to_string(),
                    kind.to_owned(),
                    word.clone(),
                ]
            }
        };
        words.push(trigger.prompt.clone());
        words
    };
    let mut triggers: Vec<Vec<String>> = triggers.into_iter().map(words).collect();
    triggers.sort_unstable();
    triggers.dedup();
    let mut hasher = Sha256::new();
    hasher.update("triggers");
    for words in triggers {
        hasher.update((words.len() as u64).to_le_bytes());
        for word in words {
            hasher.update((word.len() as u64).to_le_bytes());
            hasher.update(word);
        }
    }
    CommandsHash(format!("{:x}", hasher.finalize()))
}

impl TrustStore {
    /// The one in the user's own directory.
    #[must_use]
    pub fn in_agent_dir(agent_dir: &Path) -> Self {
        Self {
            directory: agent_dir.join(DIRECTORY),
        }
    }

    /// Where it is kept.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.directory.join(FILE)
    }

    /// What was said of these commands of the project.
    pub fn look_up(&self, project: &Path, commands: &CommandsHash) -> Result<Trust, TrustError> {
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

    /// The projects of which some commands may run, by their real paths.
    pub fn projects(&self) -> Result<Vec<String>, TrustError> {
        Ok(self.read()?.projects.into_keys().collect())
    }

    /// Remembers that these commands of the project may run.
    ///
    /// A damaged file is put aside first; the path it has then is given back.
    pub fn trust(
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
            let surplus = (entries.len() + 1).saturating_sub(REMEMBERED);
            entries.drain(..surplus);
            entries.push(entry);
        })
    }

    /// Forgets all that was said of the project's commands: none may run any more.
    ///
    /// As with [`TrustStore::trust`], a damaged file is put aside.
    pub fn forget(&self, project: &Path) -> Result<Option<PathBuf>, TrustError> {
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
        let mut text = Vec::new();
        match File::open(&file) {
            Ok(opened) => opened
                .take(LONGEST)
                .read_to_end(&mut text)
                .map_err(problem)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(empty()),
            Err(error) => return Err(problem(error)),
        };
        let damaged = |problem| TrustError::Damaged {
            file: file.clone(),
            problem,
        };
        // What a newer version looks like is not known, but for its number.
        let head: Head = serde_json::from_slice(&text).map_err(damaged)?;
        if head.version != VERSION {
            return Err(TrustError::Newer {
                file,
                version: head.version,
            });
        }
        serde_json::from_slice(&text).map_err(damaged)
    }

    /// Reads, changes and replaces the file, as the only one who does.
    fn change(&self, change: impl FnOnce(&mut Contents)) -> Result<Option<PathBuf>, TrustError> {
        let problem = |problem| TrustError::File {
            path: self.directory.clone(),
            problem,
        };
        create_private(&self.directory).map_err(problem)?;
        let _lock = self.lock()?;
        let (mut contents, damaged) = match self.read() {
            Ok(contents) => (contents, None),
            Err(TrustError::Damaged { file, .. }) => (empty(), Some(file)),
            Err(other) => return Err(other),
        };
        change(&mut contents);
        let aside = damaged.map(|file| put_aside(&file)).transpose();
        let aside = aside.map_err(problem)?;
        self.replace(&contents).map_err(problem)?;
        Ok(aside)
    }

    fn replace(&self, contents: &Contents) -> io::Result<()> {
        // Such a file is readable by its owner only, from its beginning.
        let mut file = tempfile::NamedTempFile::new_in(&self.directory)?;
        serde_json::to_writer(&mut file, contents)?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        file.persist(self.file())?;
        Ok(())
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
        let end = Instant::now() + PATIENCE;
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

/// Under what a project is remembered: the path it really has, so that a link is no way around.
fn key(project: &Path) -> Result<String, TrustError> {
    let real = fs::canonicalize(project).map_err(|problem| TrustError::File {
        path: project.to_path_buf(),
        problem,
    })?;
    let text = real.into_os_string().into_string();
    text.map_err(|real| TrustError::NoText(real.into()))
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Renames a damaged file to a name that is free.
fn put_aside(file: &Path) -> io::Result<PathBuf> {
    let names = (1..).map(|number: u32| file.with_extension(format!("damaged-{number}.json")));
    let free = names.into_iter().find(|name| !name.exists());
    let aside = free.unwrap_or_else(|| file.with_extension("damaged.json"));
    fs::rename(file, &aside)?;
    Ok(aside)
}

#[cfg(test)]
mod tests;
