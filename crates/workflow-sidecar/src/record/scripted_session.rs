//! Scripted sessions: the lines of a host or of a transcript against the engine in memory.
//!
//! Nothing is expected and nothing outside is touched: definitions, results of the platform and time are lines. Must not
//! know the meaning of a line.

use std::path::Path;
use std::sync::Arc;

use super::definitions::DefinitionsLine;
use super::format::{ProtocolLine, Transcript, TranscriptEntry, TranscriptLine};
use super::player::ReplayOptions;
use super::replay::{blessed, replay};
use super::replay_platform::ReplayPlatform;
use super::transcript_loader::TranscriptLoader;
use crate::platform::PlatformReport;
use crate::server::{InMemoryServer, ServerConfig};

/// The seed of task ids in a script.
const SEED: u64 = 7;

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
#[must_use]
pub fn run_script(text: &[u8]) -> Vec<Exchange> {
    let script = Script::default();
    let mut exchanges: Vec<Exchange> = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        exchanges.extend(script.take(line));
        if exchanges.last().is_some_and(|last| last.is_over) {
            return exchanges;
        }
    }
    exchanges.push(script.end());
    exchanges
}

struct Script {
    loader: Arc<TranscriptLoader>,
    platform: Arc<ReplayPlatform>,
    sidecar: InMemoryServer,
}

impl Default for Script {
    fn default() -> Self {
        let loader = Arc::<TranscriptLoader>::default();
        let platform = Arc::<ReplayPlatform>::default();
        let config = ServerConfig::repeatable(Arc::clone(&loader) as _, SEED);
        let sidecar = InMemoryServer::with_config(config.on_platform(Arc::clone(&platform) as _));
        Self {
            loader,
            platform,
            sidecar,
        }
    }
}

impl Script {
    fn take(&self, line: &[u8]) -> Option<Exchange> {
        let received = match TranscriptLine::parse(0, line).map(|line| line.entry) {
            Ok(TranscriptEntry::Definitions(DefinitionsLine::Embedded(directories))) => {
                self.loader.embed(directories);
                return None;
            }
            Ok(TranscriptEntry::Result(result)) => {
                self.platform.add(result);
                return None;
            }
            Ok(
                TranscriptEntry::Definitions(DefinitionsLine::Named(_))
                | TranscriptEntry::Header(_)
                | TranscriptEntry::Note(_)
                | TranscriptEntry::Out(_)
                | TranscriptEntry::Torn(_),
            ) => return None,
            Ok(TranscriptEntry::Event(reported)) => self.sidecar.report(PlatformReport {
                session: reported.session,
                event: reported.event,
                trigger: None,
            }),
            Ok(TranscriptEntry::End) => self.sidecar.finish(),
            Ok(TranscriptEntry::In(ProtocolLine::TooLong(limit))) => {
                self.sidecar.send_long_line(limit)
            }
            Ok(TranscriptEntry::In(ProtocolLine::Bytes(line))) => return Some(self.send(&line)),
            Ok(TranscriptEntry::In(sent @ ProtocolLine::Json(_))) => {
                return Some(self.send(sent.text().unwrap_or_default().as_bytes()));
            }
            Err(_) => return Some(self.send(line)),
        };
        Some(self.exchange(None, received))
    }

    /// Sends a line of the host.
    fn send(&self, line: &[u8]) -> Exchange {
        let received = self.sidecar.send(line);
        self.exchange(Some(line.to_vec()), received)
    }

    fn exchange(&self, sent: Option<Vec<u8>>, received: Vec<String>) -> Exchange {
        self.platform.clear();
        Exchange {
            sent,
            received,
            is_over: self.sidecar.is_over(),
        }
    }

    /// Closes the host's side.
    fn end(&self) -> Exchange {
        Exchange {
            sent: None,
            received: self.sidecar.finish(),
            is_over: true,
        }
    }
}

/// A transcript with the engine's lines as they are now; `None` if it cannot be read or played.
#[must_use]
pub fn bless_text(text: &str) -> Option<String> {
    let transcript = read(text)?;
    let blessed = blessed(&transcript, text, &ReplayOptions::default()).ok()?;
    Some(blessed.unwrap_or_else(|| text.to_owned()))
}

/// The number of differences between a transcript and the engine; `None` if it cannot be read or played.
#[must_use]
pub fn differences_of_text(text: &str) -> Option<usize> {
    let replayed = replay(&read(text)?, &ReplayOptions::default()).ok()?;
    Some(replayed.differences.len())
}

fn read(text: &str) -> Option<Transcript> {
    Transcript::parse(Path::new("transcript.jsonl"), text.as_bytes()).ok()
}
