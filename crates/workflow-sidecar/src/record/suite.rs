//! The replay of many transcripts, a few at a time.
//!
//! Must not know how the results are shown.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use serde::{Serialize, Serializer};

use super::difference::Difference;
use super::format::{ReadError, Transcript};
use super::player::{ReplayError, ReplayOptions};
use super::replay::{Replayed, blessed, replay};
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
