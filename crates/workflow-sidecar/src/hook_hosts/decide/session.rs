//! The stored session of an event.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde_json::Value;

use crate::hook_hosts::event::{EventName, HookEvent};
use crate::store::{SessionChange, SessionKey, Store, StoreError, StoredSession};
use crate::time::wall_time;

/// The longest first line of a transcript that is read.
const MAX_FIRST_LINE: u64 = 1 << 20;

/// Loads the session. A fork continues with the entries of the session that it was made of.
pub(super) fn load(
    store: &Store,
    key: &SessionKey,
    event: &HookEvent<'_>,
) -> Result<StoredSession, StoreError> {
    let stored = store.load(key)?;
    let is_fork = event.name == EventName::SessionStart && event.payload.is_fork();
    let transcript = event.payload.transcript_path.as_deref();
    let parent = transcript.filter(|_| is_fork && stored.version == 0);
    let Some(session) = parent.and_then(forked_from) else {
        return Ok(stored);
    };
    let parent = SessionKey {
        session,
        ..key.clone()
    };
    let parent = store.load(&parent)?;
    if !parent.entries.is_empty() {
        let change = SessionChange {
            from: 0,
            entries: &parent.entries,
            memory: &parent.memory,
            run: None,
            cwd: event.cwd,
            now: wall_time(),
        };
        store.save(key, &change)?;
    }
    store.load(key)
}

/// The session that a fork was made of, from the first line of its transcript (Codex).
fn forked_from(transcript: &Path) -> Option<String> {
    let file = File::open(transcript).ok()?;
    let mut line = String::new();
    BufReader::new(file.take(MAX_FIRST_LINE))
        .read_line(&mut line)
        .ok()?;
    let line: Value = serde_json::from_str(&line).ok()?;
    let parent = line.pointer("/payload/forked_from_id");
    let parent = parent.or_else(|| line.get("forked_from_id"))?;
    Some(parent.as_str()?.to_owned())
}
