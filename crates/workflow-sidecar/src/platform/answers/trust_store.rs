//! The user's trust in projects, in the store.
//!
//! A definition of a project can contain commands, and a project may come from anyone. So the user is asked once for
//! each set of commands of a project. The answer is a row of the store, which a project cannot change: the project's real
//! path, the hash of the commands, and the time.
//!
//! The command lines are trusted, not the files that they run. This is a guard rail: a program that runs as the user can
//! write a local store as well.
//!
//! Must not know where commands are defined, or how the user is asked.

use std::fs;
use std::path::Path;

use anyhow::{Result, anyhow};
use sha2::{Digest, Sha256};
use workflow_core::definition::{RunCheck, Token, Trigger, TriggerOn};

use crate::platform::effects::Project;
use crate::store::{Store, StoreError, of_agent_dir};
use crate::time::wall_time;

/// Sets of commands that are stored for a project: each workflow has one, and branches differ.
const MAX_SETS: u32 = 256;

/// The SHA-256 of all commands of a project, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
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

/// The user's decisions.
#[derive(Debug)]
pub(crate) struct TrustStore(Store);

/// Says that an error of the store means that nothing is trusted.
fn of_store<T>(result: Result<T, StoreError>) -> Result<T> {
    result.map_err(|error| {
        anyhow!("no project is trusted, because the store cannot be used: {error}")
    })
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
    /// Returns the decisions of the user with this agent directory.
    pub(crate) fn in_agent_dir(agent_dir: &Path) -> Result<Self> {
        of_store(of_agent_dir(agent_dir)).map(Self)
    }

    /// Looks up the decision about these commands of a project.
    pub(crate) fn look_up(&self, project: &Path, commands: &CommandsHash) -> Result<Trust> {
        let sets = of_store(self.0.trusted(&key(project)?))?;
        Ok(if sets.contains(&commands.0) {
            Trust::Trusted
        } else if sets.is_empty() {
            Trust::Unknown
        } else {
            Trust::Changed
        })
    }

    /// Stores that these commands of a project may run.
    pub(crate) fn trust(&self, project: &Path, commands: &CommandsHash) -> Result<()> {
        let project = key(project)?;
        let (commands, now) = (&commands.0, wall_time());
        of_store(self.0.trust(&project, commands, now, MAX_SETS))
    }

    /// Removes all decisions about a project, so that its commands may not run.
    pub(crate) fn revoke(&self, project: &Path) -> Result<()> {
        of_store(self.0.revoke(&key(project)?))
    }
}

/// Returns the key of a project: its real path, so that a link does not make it another project.
fn key(project: &Path) -> Result<String> {
    let real = fs::canonicalize(project);
    let real = real.map_err(|error| anyhow!("{}: {error}", project.display()))?;
    let text = real.into_os_string().into_string();
    text.map_err(|real| {
        let real = Path::new(&real).display();
        anyhow!("the path of the project is no text: {real}")
    })
}

/// Returns whether the user trusts these commands of a project. What cannot be read is not trusted.
pub(crate) fn is_trusted(agent_dir: &Path, cwd: &Path, hash: &CommandsHash) -> bool {
    let store = TrustStore::in_agent_dir(agent_dir);
    match store.and_then(|store| store.look_up(cwd, hash)) {
        Ok(trust) => trust == Trust::Trusted,
        Err(error) => {
            tracing::warn!("{error}");
            false
        }
    }
}

/// Remembers that the user trusts these commands of a project.
pub(crate) fn trust(project: &Project<'_>, hash: &CommandsHash) {
    let store = TrustStore::in_agent_dir(project.agent_dir);
    if let Err(error) = store.and_then(|store| store.trust(project.cwd, hash)) {
        tracing::warn!("the user's trust cannot be remembered: {error}");
    }
}

#[cfg(test)]
mod tests;
