//! A session for its own sake: whatever is said, what follows is heard.
//!
//! Nothing is expected and nothing outside is touched: definitions, the world and time are lines. Owns which
//! line of a rehearsal is whose. Must not know what any of them means.

use std::path::Path;
use std::sync::Arc;

use super::definitions::Definitions;
use super::format::{Entry, Line, Said, Transcript};
use super::held::Held;
use super::player::Stage;
use super::replay::{blessed, replay};
use super::world::HeldWorld;
use crate::serve::{Memory, Surroundings};

/// What task ids of a rehearsal are made from.
const SEED: u64 = 7;

/// Something that happened in a rehearsal, and what followed.
#[derive(Debug)]
pub struct Exchange {
    /// The line of the host, where it was one.
    pub said: Option<Vec<u8>>,
    /// The lines of the sidecar.
    pub heard: Vec<String>,
    /// Whether the sidecar takes nothing any more.
    pub is_over: bool,
}

/// Plays a host against the engine in memory, up to the end of either.
///
/// Lines of a transcript that tell of definitions, the world, gates and triggers happen; what it heard is passed over,
/// and any other line is the host's, as it stands.
///
/// ```
/// let exchanges = workflow_sidecar::rehearse(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hook/turn_end\"}");
/// assert!(exchanges[0].heard[0].contains("notInitialized"));
/// ```
#[must_use]
pub fn rehearse(text: &[u8]) -> Vec<Exchange> {
    let rehearsal = Rehearsal::default();
    let mut exchanges: Vec<Exchange> = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        exchanges.extend(rehearsal.take(line));
        if exchanges.last().is_some_and(|last| last.is_over) {
            return exchanges;
        }
    }
    exchanges.push(rehearsal.end());
    exchanges
}

struct Rehearsal {
    held: Arc<Held>,
    world: Arc<HeldWorld>,
    sidecar: Memory,
}

impl Default for Rehearsal {
    fn default() -> Self {
        let (held, world) = (Arc::<Held>::default(), Arc::<HeldWorld>::default());
        let surroundings = Surroundings::repeatable(Arc::clone(&held) as _, SEED);
        let sidecar = Memory::within(surroundings.in_world(Arc::clone(&world) as _));
        Self {
            held,
            world,
            sidecar,
        }
    }
}

impl Rehearsal {
    fn take(&self, line: &[u8]) -> Option<Exchange> {
        let entry = Line::parse(0, line).map(|line| line.entry);
        let heard = match entry {
            Ok(Entry::Definitions(Definitions::Embedded(directories))) => {
                self.held.embed(directories);
                return None;
            }
            Ok(Entry::World(answer)) => {
                self.world.answer(answer);
                return None;
            }
            Ok(
                Entry::Definitions(Definitions::Named(_))
                | Entry::Header(_)
                | Entry::Note(_)
                | Entry::Out(_)
                | Entry::Torn(_),
            ) => return None,
            Ok(Entry::Gate(gate)) => gate
                .news()
                .map(|(name, news)| self.sidecar.hear_of_gate(&name, news)),
            Ok(Entry::Trigger(trigger)) => trigger
                .news()
                .map(|(name, news)| self.sidecar.hear_of_trigger(&name, news)),
            Ok(Entry::End) => Some(self.sidecar.finish()),
            Ok(Entry::In(Said::TooLong(limit))) => Some(self.sidecar.send_long_line(limit)),
            Ok(Entry::In(Said::Bytes(line))) => return Some(self.hear(&line)),
            Ok(Entry::In(said @ Said::Json(_))) => {
                return Some(self.hear(said.text().unwrap_or_default().as_bytes()));
            }
            Err(_) => return Some(self.hear(line)),
        };
        Some(self.happened(None, heard.unwrap_or_default()))
    }

    /// The host says a line.
    fn hear(&self, line: &[u8]) -> Exchange {
        let heard = self.sidecar.send(line);
        self.happened(Some(line.to_vec()), heard)
    }

    fn happened(&self, said: Option<Vec<u8>>, heard: Vec<String>) -> Exchange {
        self.world.forget();
        Exchange {
            said,
            heard,
            is_over: self.sidecar.is_over(),
        }
    }

    /// The host closes its side.
    fn end(&self) -> Exchange {
        Exchange {
            said: None,
            heard: self.sidecar.finish(),
            is_over: true,
        }
    }
}

/// A transcript with what the engine says now in place of what it says; `None` if it cannot be read or played.
#[must_use]
pub fn bless_text(text: &str) -> Option<String> {
    let transcript = read(text)?;
    let blessed = blessed(&transcript, text, &Stage::default()).ok()?;
    Some(blessed.unwrap_or_else(|| text.to_owned()))
}

/// In how many places the engine does not say what a transcript says; `None` if it cannot be read or played.
#[must_use]
pub fn differences_of_text(text: &str) -> Option<usize> {
    let replayed = replay(&read(text)?, &Stage::default()).ok()?;
    Some(replayed.differences.len())
}

fn read(text: &str) -> Option<Transcript> {
    Transcript::parse(Path::new("transcript.jsonl"), text.as_bytes()).ok()
}
