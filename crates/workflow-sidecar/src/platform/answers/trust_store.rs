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

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Result, anyhow};
use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use workflow_core::definition::{RunCheck, Token, Trigger, TriggerOn};

use super::requests::{oldest, read};
use crate::platform::effects::SessionContext;
use crate::store::{AnswerRight, Store, StoreError, TrustRequest, of_agent_dir};
use crate::time::wall_time;

/// Sets of commands that are stored for a project: each workflow has one, and branches differ.
const MAX_SETS: u32 = 256;

/// Requests for trust that are listed of each login: an agent may write any number.
const MAX_REQUESTS: u32 = 20;

/// The SHA-256 of all commands of a project, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CommandsHash(String);

/// Hashes things of a kind as JSON, by which different ones differ. Their order and repetition do not matter.
fn hash<T: Serialize>(kind: &str, things: impl IntoIterator<Item = T>) -> CommandsHash {
    let json = |thing| serde_json::to_string(&thing).expect("texts and numbers can be serialized");
    let things: BTreeSet<String> = things.into_iter().map(json).collect();
    let mut hasher = Sha256::new_with_prefix(kind);
    for thing in things {
        hasher.update("\n");
        hasher.update(thing);
    }
    CommandsHash(format!("{:x}", hasher.finalize()))
}

/// Hashes all commands of a project. Their location does not matter; every argument does.
pub(crate) fn hash_of<'a>(commands: impl IntoIterator<Item = &'a RunCheck>) -> CommandsHash {
    let commands = commands.into_iter();
    let trusted = |run: &'a RunCheck| {
        let command = (run.shell, &run.command, &run.cwd, &run.env);
        let values = Some(&run.values).filter(|values| !values.is_empty());
        values.map_or_else(|| json!(command), |values| json!([command, values]))
    };
    hash("commands", commands.map(trusted))
}

/// Hashes all triggers of a project; the result is never the hash of commands.
pub(crate) fn hash_of_triggers<'a>(
    triggers: impl IntoIterator<Item = &'a Trigger>,
) -> CommandsHash {
    let triggers = triggers.into_iter().map(|trigger| {
        // Nothing else writes this text down.
        let token = match &trigger.on {
            TriggerOn::Http {
                token: Token::Text(text),
                ..
            } => Some(text),
            TriggerOn::Http {
                token: Token::Environment(_),
                ..
            }
            | TriggerOn::File(_) => None,
        };
        (&trigger.on, token, &trigger.prompt)
    });
    hash("triggers", triggers)
}

/// The user's decisions.
pub(crate) struct TrustStore(Store);

/// Says that an error of the store means that nothing is trusted.
fn of_store<T>(result: Result<T, StoreError>) -> Result<T> {
    result.map_err(|error| {
        anyhow!("no project is trusted, because the store cannot be used: {error}")
    })
}

impl TrustStore {
    /// Returns the decisions of the user with this agent directory.
    pub(crate) fn in_agent_dir(agent_dir: &Path) -> Result<Self> {
        of_store(of_agent_dir(agent_dir)).map(Self)
    }

    /// Returns true if the user trusts these commands of a project.
    pub(crate) fn is_trusted(&self, project: &Path, commands: &CommandsHash) -> Result<bool> {
        let sets = of_store(self.0.trusted(&key(project)?))?;
        Ok(sets.contains(&commands.0))
    }

    /// Stores that these commands of a project may run.
    pub(crate) fn trust(&self, project: &Path, commands: &CommandsHash) -> Result<()> {
        let project = key(project)?;
        let (commands, now) = (&commands.0, wall_time());
        of_store(self.0.trust(&project, commands, now, MAX_SETS))
    }

    /// Asks approvers to trust commands with this hash, if there are approvers.
    fn request(&self, project: &Path, hash: CommandsHash, commands: &[RunCheck]) -> Result<()> {
        if self.0.answer_right()? == AnswerRight::MayRead {
            let wanted = TrustRequest {
                project: key(project)?,
                id: hash.0,
                commands: serde_json::to_string(commands)?,
                owner: String::new(),
            };
            self.0.request_trust(&wanted, wall_time(), oldest())?;
        }
        Ok(())
    }

    /// Removes all decisions about a project, so that its commands may not run; returns false if there are none.
    pub(crate) fn revoke(&self, project: &Path) -> Result<bool> {
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

/// Returns true if the user trusts these commands of a project. What cannot be read is not trusted.
pub(crate) fn is_trusted(agent_dir: &Path, cwd: &Path, hash: &CommandsHash) -> bool {
    let store = TrustStore::in_agent_dir(agent_dir);
    or_untrusted(store.and_then(|store| store.is_trusted(cwd, hash)))
}

fn or_untrusted(is_trusted: Result<bool>) -> bool {
    is_trusted.unwrap_or_else(|error| {
        tracing::warn!("{error}");
        false
    })
}

/// Returns true if the user trusts these commands of a session's project, and the project in the host. If not, approvers are
/// asked, where the store has some.
pub(crate) fn session_trusts(session: &SessionContext, commands: &[RunCheck]) -> bool {
    let SessionContext { agent_dir, cwd, .. } = session;
    let trusts = || {
        let store = TrustStore::in_agent_dir(agent_dir)?;
        let hash = hash_of(commands);
        let is_trusted = store.is_trusted(cwd, &hash)?;
        if !is_trusted {
            store.request(cwd, hash, commands)?;
        }
        Ok(is_trusted)
    };
    session.is_trusted && or_untrusted(trusts())
}

/// The commands of a request for trust; `None` if its id stands for others, whoever has written it.
fn commands_of(request: &TrustRequest) -> Option<Vec<RunCheck>> {
    let commands: Option<Vec<RunCheck>> = read(&request.commands);
    commands.filter(|commands| hash_of(commands).0 == request.id)
}

/// What approvers are asked to trust, with all logins that ask.
pub(crate) fn trust_requests(
    store: &Store,
) -> Result<Vec<(Vec<RunCheck>, TrustRequest)>, StoreError> {
    let wanted = store.trust_requests((oldest(), wall_time()), MAX_REQUESTS)?;
    let wanted = wanted.into_iter();
    let wanted = wanted.filter_map(|request| Some((commands_of(&request)?, request)));
    let mut wanted: Vec<_> = wanted.collect();
    wanted.dedup_by(|(_, next), (_, first)| {
        let is_same = (&next.project, &next.id) == (&first.project, &first.id);
        if is_same {
            first.owner = format!("{}, {}", first.owner, next.owner);
        }
        is_same
    });
    Ok(wanted)
}

/// Stores the decision of an approver about commands, which may be of another machine.
pub(crate) fn decide(store: &Store, wanted: &TrustRequest, trusts: bool) -> Result<(), StoreError> {
    if trusts && commands_of(wanted).is_some() {
        store.trust(&wanted.project, &wanted.id, wall_time(), MAX_SETS)?;
    }
    store.clear_trust_request(wanted)
}

/// Remembers that the user trusts these commands of a project.
pub(crate) fn trust(session: &SessionContext, hash: &CommandsHash) {
    let store = TrustStore::in_agent_dir(&session.agent_dir);
    if let Err(error) = store.and_then(|store| store.trust(&session.cwd, hash)) {
        tracing::warn!("the user's trust cannot be remembered: {error}");
    }
}

#[cfg(test)]
mod tests;
