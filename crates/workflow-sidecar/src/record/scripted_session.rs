//! Scripted sessions: the lines of a host or of a transcript against the engine in memory.
//!
//! Nothing is expected and nothing outside is touched: definitions, results of the platform and time are lines. Must not
//! know the meaning of a line.

use std::path::Path;

use super::definitions::DefinitionsLine;
use super::format::{Transcript, TranscriptEntry, TranscriptLine};
use super::loaders::Tiers;
use super::player::Player;
use super::replay::{blessed, replay};
use super::steps::TranscriptStep;
use crate::rpc::Frame;

/// The seed of task ids in a script.
const SEED: u64 = 7;

/// The name of a transcript that is a text.
const NAME: &str = "transcript.jsonl";

/// An event of a script, and the lines that followed.
#[derive(Debug)]
pub struct Exchange {
    /// The line of the host, if it was one.
    pub sent: Option<Vec<u8>>,
    /// The lines of the sidecar.
    pub received: Vec<String>,
    /// True if the sidecar takes no more lines.
    pub is_over: bool,
}

/// Runs a script against the engine in memory, up to the end of either.
///
/// Lines of a transcript with definitions, results and events take effect; the lines of the sidecar in it are skipped, and any
/// other line is the host's.
///
/// ```
/// let exchanges = workflow_sidecar::run_script(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hook/turn_end\"}");
/// assert!(exchanges[0].received[0].contains("notInitialized"));
/// ```
pub fn run_script(text: &[u8]) -> Vec<Exchange> {
    let mut player = Player::new(Path::new(""), Some(SEED), &Tiers::default());
    let mut exchanges: Vec<Exchange> = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        exchanges.extend(exchange(&mut player, line));
        if exchanges.last().is_some_and(|last| last.is_over) {
            return exchanges;
        }
    }
    exchanges.push(Exchange {
        sent: None,
        received: player.hear(Frame::End),
        is_over: true,
    });
    exchanges
}

/// Plays a line of a script; `None` if nothing is to be done.
fn exchange(player: &mut Player, text: &[u8]) -> Option<Exchange> {
    let line = TranscriptLine::parse(0, text);
    let sent = match line.as_ref().map(|line| &line.entry) {
        Err(_) => Some(text.to_vec()),
        Ok(TranscriptEntry::In(sent)) => Some(sent.text().into_owned().into_bytes()),
        Ok(TranscriptEntry::Bytes(bytes)) => Some(bytes.clone()),
        Ok(
            TranscriptEntry::Definitions(DefinitionsLine::Named(_))
            | TranscriptEntry::Header(_)
            | TranscriptEntry::Note(_)
            | TranscriptEntry::Out(_)
            | TranscriptEntry::Torn(_),
        ) => return None,
        Ok(_) => None,
    };
    let received = if let Some(sent) = &sent {
        player.hear(Frame::Line(sent))
    } else {
        let line = line.ok()?;
        let pairs = player.play(&TranscriptStep::of(&line, None)).ok()?;
        pairs.into_iter().filter_map(|pair| pair.received).collect()
    };
    Some(Exchange {
        sent,
        received,
        is_over: player.sidecar().is_over(),
    })
}

/// A transcript with the engine's lines as they are now; `None` if it cannot be read or played.
pub fn bless_text(text: &str) -> Option<String> {
    let blessed = blessed(Path::new(NAME), text, &Tiers::default()).ok()?;
    Some(blessed.unwrap_or_else(|| text.to_owned()))
}

/// The number of differences between a transcript and the engine; `None` if it cannot be read or played.
pub fn differences_of_text(text: &str) -> Option<usize> {
    let transcript = Transcript::parse(Path::new(NAME), text.as_bytes()).ok()?;
    let (differences, _) = replay(&transcript, &Tiers::default()).ok()?;
    Some(differences.len())
}
