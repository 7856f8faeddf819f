//! The replay of many transcripts, a few at a time.
//!
//! Must not know how the results are shown.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use parking_lot::Mutex;
use serde::Serialize;

use super::difference::Difference;
use super::format::Transcript;
use super::loaders::Tiers;
use super::replay::{blessed, replay};
use crate::files::write_atomically;
use crate::sessions::read_file;

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
        error: String,
    },
}

/// A transcript and its result.
#[derive(Debug, Serialize)]
pub(crate) struct ReplayRow {
    pub(crate) file: String,
    #[serde(flatten)]
    pub(crate) result: TranscriptResult,
}

/// The files to replay: the one named, or those of the directory named.
fn transcripts(named: &Path) -> Result<Vec<PathBuf>> {
    if !named.is_dir() {
        return Ok(vec![named.to_path_buf()]);
    }
    let unreadable = || format!("{} cannot be read", named.display());
    let entries = named.read_dir().with_context(unreadable)?;
    let paths = entries.map(|entry| Ok(entry.with_context(unreadable)?.path()));
    let mut found: Vec<PathBuf> = paths.collect::<Result<_>>()?;
    found.retain(|path| path.is_file() && path.extension().is_some_and(|end| end == "jsonl"));
    found.sort();
    if found.is_empty() {
        bail!("there is no `*.jsonl` file in {}", named.display());
    }
    Ok(found)
}

/// Replays files, and those of directories, a few at a time, with definitions that replace theirs if there are any.
pub(crate) fn replay_all(
    named: &[PathBuf],
    instead: &Tiers,
    bless: bool,
) -> Result<Vec<ReplayRow>> {
    let paths = named.iter().map(|path| transcripts(path));
    let paths = paths.collect::<Result<Vec<_>>>()?.concat();
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    let next = Mutex::new(paths.iter().enumerate());
    let played = Mutex::<BTreeMap<usize, ReplayRow>>::default();
    let play_next = || {
        let (at, path) = next.lock().next()?;
        let result = play(path, instead, bless);
        let file = path.display().to_string();
        played.lock().insert(at, ReplayRow { file, result });
        Some(())
    };
    std::thread::scope(|scope| {
        for _ in 0..at_once.min(paths.len()) {
            scope.spawn(|| while play_next().is_some() {});
        }
    });
    Ok(played.into_inner().into_values().collect())
}

/// Replays one. An error in it does not affect the others.
fn play(path: &Path, instead: &Tiers, bless: bool) -> TranscriptResult {
    let play = || {
        let bytes = read_file(path)?;
        let transcript = Transcript::parse(path, &bytes)?;
        if bless {
            let text = String::from_utf8_lossy(&bytes);
            let Some(blessed) = blessed(path, &text, instead)? else {
                return Ok(TranscriptResult::Same { torn: None });
            };
            let unwritten = || format!("{}: it cannot be written", path.display());
            write_atomically(path, &blessed).with_context(unwritten)?;
            return Ok(TranscriptResult::Blessed);
        }
        let (differences, torn) = replay(&transcript, instead)?;
        Ok(if differences.is_empty() {
            TranscriptResult::Same { torn }
        } else {
            TranscriptResult::Differs { differences }
        })
    };
    let panicked = || {
        let path = path.display();
        anyhow!("{path}: it fails unexpectedly: this is a mistake in workflow-sidecar")
    };
    let result = std::panic::catch_unwind(play).unwrap_or_else(|_| Err(panicked()));
    result.unwrap_or_else(|error| TranscriptResult::Failed {
        error: format!("{error:#}"),
    })
}
