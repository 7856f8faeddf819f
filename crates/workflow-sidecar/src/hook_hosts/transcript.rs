//! What hosts say in the file of the conversation only. A file that cannot be read says nothing, and a pipe is not waited for.

use std::fs;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use serde::Deserialize;
use serde_json::Value;

use crate::files::regular_file;

/// The longest first line that is read.
const MAX_FIRST_LINE: u64 = 1 << 20;
/// The end of the file in which the last message, and the begin of a turn, are looked for.
const TAIL: u64 = 256 << 10;

/// How often, and after what time, a file is read again that is not complete yet.
const ATTEMPTS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// True if a turn runs in `codex exec`: as the turn says, or, where it is not written yet, the session.
pub(super) fn is_exec(transcript: &Path, turn: &str) -> bool {
    let of_session = || {
        let line = first_line(transcript)?;
        Some(line.pointer("/payload/source")?.as_str()?.to_owned())
    };
    let trigger = turn_trigger(transcript, turn).or_else(of_session);
    trigger.is_some_and(|trigger| trigger == "exec")
}

/// What started a turn (Codex).
fn turn_trigger(transcript: &Path, turn: &str) -> Option<String> {
    let tail = tail(transcript)?;
    let mut lines = tail.rsplit(|byte| *byte == b'\n');
    lines.find_map(|line| {
        let line: Value = serde_json::from_slice(line).ok()?;
        let attribution = line.pointer("/payload/turn_attribution")?;
        let trigger = attribution["turn_trigger"].as_str()?;
        (attribution["turn_id"] == turn).then(|| trigger.to_owned())
    })
}

fn first_line(transcript: &Path) -> Option<Value> {
    let file = regular_file::open(transcript).ok()??;
    let mut line = String::new();
    BufReader::new(file.take(MAX_FIRST_LINE))
        .read_line(&mut line)
        .ok()?;
    serde_json::from_str(&line).ok()
}

/// The end of the file.
fn tail(transcript: &Path) -> Option<Vec<u8>> {
    let mut file = regular_file::open(transcript).ok()??;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))
        .ok()?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail).ok()?;
    Some(tail)
}

/// The session that a fork was made of: in the first line (Codex), or in messages that were copied (Claude Code).
pub(super) fn forked_from(transcript: &Path, own: &str) -> Option<String> {
    let first = first_line(transcript)?;
    let parent = first.pointer("/payload/forked_from_id");
    if let Some(parent) = parent.or_else(|| first.get("forked_from_id")) {
        return parent.as_str().map(str::to_owned);
    }
    let tail = tail(transcript)?;
    let mut lines = tail.rsplit(|byte| *byte == b'\n');
    lines.find_map(|line| {
        let copied: CopiedMessage = serde_json::from_slice(line).ok()?;
        Some(copied.session).filter(|session| session != own)
    })
}

/// A message that names the session in which the model gave it.
#[derive(Deserialize)]
struct CopiedMessage {
    #[serde(rename = "requestSessionId")]
    session: String,
}

/// The last message of the main agent, which stops (Copilot CLI). The host writes some milliseconds late, so this waits for the
/// line that says that it stops.
pub(super) fn last_message(transcript: &Path) -> Option<String> {
    for _ in 0..ATTEMPTS {
        let tail = match tail(transcript) {
            // It is created late, too.
            None if !transcript.exists() => Vec::new(),
            tail => tail?,
        };
        let lines = tail.rsplit(|byte| *byte == b'\n');
        let mut lines = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
        // Lines about other things may follow, and the end of the hooks of an earlier stop must not.
        let is_hook = |line: &Value| line["data"].get("hookInvocationId").is_some();
        let last = lines.find(is_hook).unwrap_or_default();
        if last["type"] == "hook.start" && last["data"]["hookType"] == "agentStop" {
            return lines.find_map(|line| {
                let is_message = line["type"] == "assistant.message";
                let is_of_subagent = line["data"]["parentToolCallId"].is_string();
                let text = line["data"]["content"].as_str();
                let text = text.filter(|_| is_message && !is_of_subagent)?;
                Some(text.to_owned())
            });
        }
        thread::sleep(PAUSE);
    }
    None
}

/// When the file was made, in milliseconds since 1970, if the file system says so.
pub(super) fn made_at(transcript: &Path) -> Option<i64> {
    let made = fs::metadata(transcript).ok()?.created().ok()?;
    i64::try_from(made.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

/// The length of the file in bytes.
pub(super) fn length(transcript: &Path) -> Option<u64> {
    Some(fs::metadata(transcript).ok()?.len())
}
