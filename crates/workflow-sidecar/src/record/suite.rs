//! The replay of many transcripts, a few at a time.
//!
//! Must not know how the results are shown.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use serde::{Serialize, Serializer};
use workflow_core::event::PlatformEvent;
use workflow_core::run::entry_type;

use super::definitions::DefinitionsLine;
use super::difference::Difference;
use super::format::{ProtocolLine, ReadError, Transcript, TranscriptEntry};
use super::player::{ReplayError, ReplayOptions};
use super::replay::{Replayed, blessed, replay};
use super::transcript_loader::{Tiers, runs_commands};
use crate::files::write_atomically;

/// The result for a transcript.
#[derive(Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "camelCase")]
pub(crate) enum TranscriptResult {
    /// The sidecar's lines are those of the transcript, up to where it was cut off if it was.
    Same {
        #[serde(skip_serializing_if = "Option::is_none")]
        torn: Option<String>,
    },
    Differs {
        differences: Vec<Difference>,
    },
    /// The transcript was updated.
    Blessed,
    /// It can be played in memory only, for this reason.
    Skipped {
        #[serde(rename = "skipped")]
        reason: &'static str,
    },
    /// It cannot be replayed.
    Failed {
        #[serde(serialize_with = "as_text")]
        error: Failed,
    },
}

fn as_text<S: Serializer>(error: &Failed, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(error)
}

/// The reason why a transcript cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error("{}: it cannot be written: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("{}: it fails unexpectedly: this is a mistake in workflow-sidecar", .0.display())]
    Panicked(PathBuf),
}

/// The reason why there is nothing to replay.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoTranscripts {
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("there is no `*.jsonl` file in {}", .0.display())]
    None(PathBuf),
}

/// The files to replay: each one named, and those of each directory named.
pub(crate) fn transcripts(named: &[PathBuf]) -> Result<Vec<PathBuf>, NoTranscripts> {
    let mut found = Vec::new();
    for path in named {
        if path.is_dir() {
            found.extend(inside(path)?);
        } else {
            found.push(path.clone());
        }
    }
    Ok(found)
}

fn inside(directory: &Path) -> Result<Vec<PathBuf>, NoTranscripts> {
    let unreadable = |error| NoTranscripts::Unreadable {
        path: directory.to_path_buf(),
        error,
    };
    let entries = directory.read_dir().map_err(unreadable)?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        if path.is_file()
            && path
                .extension()
                .is_some_and(|extension| extension == "jsonl")
        {
            found.push(path);
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(NoTranscripts::None(directory.to_path_buf()));
    }
    Ok(found)
}

/// Replays all of them, a few at a time, and reports after each one how many are done.
pub(crate) fn replay_all(
    paths: &[PathBuf],
    options: &ReplayOptions,
    bless: bool,
    done: impl Fn(usize) + Sync,
) -> Vec<TranscriptResult> {
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let played: Mutex<Vec<(usize, TranscriptResult)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..at_once.min(paths.len()) {
            scope.spawn(|| {
                while let Some((at, path)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    paths.get(at).map(|path| (at, path))
                } {
                    let result = play(path, options, bless);
                    let mut played = played.lock();
                    played.push((at, result));
                    drop(played);
                    done(finished.fetch_add(1, Ordering::Relaxed) + 1);
                }
            });
        }
    });
    let mut played = played.into_inner();
    played.sort_by_key(|(at, _)| *at);
    played.into_iter().map(|(_, played)| played).collect()
}

/// Replays one. An error in it does not affect the others.
fn play(path: &Path, options: &ReplayOptions, bless: bool) -> TranscriptResult {
    let play = || {
        if let (Some(_), Ok(transcript)) = (&options.against, Transcript::read(path))
            && let Some(reason) = needs_memory(&transcript, options)
        {
            return Ok(TranscriptResult::Skipped { reason });
        }
        if bless {
            play_and_write(path, options)
        } else {
            let transcript = Transcript::read(path)?;
            let Replayed { differences, torn } = replay(&transcript, options)?;
            Ok(if differences.is_empty() {
                TranscriptResult::Same { torn }
            } else {
                TranscriptResult::Differs { differences }
            })
        }
    };
    std::panic::catch_unwind(play)
        .unwrap_or_else(|_| Err(Failed::Panicked(path.to_path_buf())))
        .unwrap_or_else(|error| TranscriptResult::Failed { error })
}

fn play_and_write(path: &Path, options: &ReplayOptions) -> Result<TranscriptResult, Failed> {
    let bytes = std::fs::read(path).map_err(|error| ReadError::Unreadable {
        path: path.to_path_buf(),
        error,
    })?;
    let transcript = Transcript::parse(path, &bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let Some(blessed) = blessed(&transcript, &text, options)? else {
        return Ok(TranscriptResult::Same { torn: None });
    };
    write_atomically(path, &blessed).map_err(|error| Failed::Write {
        path: path.to_path_buf(),
        error,
    })?;
    Ok(TranscriptResult::Blessed)
}

/// The reason why a transcript is not played against a command; `None` if it can be.
///
/// A transcript, wherever it comes from, never makes another sidecar run a command.
fn needs_memory(transcript: &Transcript, options: &ReplayOptions) -> Option<&'static str> {
    const COMMANDS: &str =
        "its definitions have gates that run commands, and the other sidecar would run them";
    if options.instead.run_commands() {
        return Some(COMMANDS);
    }
    transcript.lines.iter().find_map(|line| match &line.entry {
        TranscriptEntry::Event(reported) => Some(match reported.event {
            PlatformEvent::Triggered { .. } | PlatformEvent::TriggersWatched { .. } => {
                "triggers woke the agent, and the other sidecar would watch its own"
            }
            _ => "gates were run, and the other sidecar would run its own",
        }),
        TranscriptEntry::Result(_) => Some(
            "the sidecar asked for more than definitions, and the other one would ask elsewhere",
        ),
        TranscriptEntry::Definitions(definitions) => {
            let run_commands = match definitions {
                DefinitionsLine::Named(name) => {
                    Tiers::beside(&transcript.path, name).is_ok_and(|tiers| tiers.run_commands())
                }
                DefinitionsLine::Embedded(directories) => directories.values().any(runs_commands),
            };
            run_commands.then_some(COMMANDS)
        }
        TranscriptEntry::In(host_line) => stores_gates(host_line).then_some(
            "a stored definition has gates, and the other sidecar would run their commands",
        ),
        TranscriptEntry::Header(_)
        | TranscriptEntry::Note(_)
        | TranscriptEntry::Out(_)
        | TranscriptEntry::End
        | TranscriptEntry::Torn(_) => None,
    })
}

/// True if a line of the host contains a stored definition with gates.
fn stores_gates(host_line: &ProtocolLine) -> bool {
    let text = match host_line.message() {
        Some(message) => message.to_string(),
        None => host_line.text().unwrap_or_default().into_owned(),
    };
    text.contains(entry_type::DEFINITION) && text.contains("\"gate\"")
}
