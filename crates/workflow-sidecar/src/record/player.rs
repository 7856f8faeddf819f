//! The host's part of a transcript, played.
//!
//! Time is virtual: where a recording ran on the system's clock, the host asks for a virtual one that starts when
//! the recording did, and it is advanced to the time of each line. So a session of an hour replays at once, with the same
//! result. Must not know what is expected.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use workflow_core::REDACTED;
use workflow_core::types::Millis;

use super::format::{Header, ProtocolLine, TranscriptEntry, TranscriptLine};
use super::loaders::{AGENT_DIR, ReplayLoader, Tiers};
use super::platforms::ReplayPlatform;
use super::redaction::hide_secrets;
use super::steps::{LinePair, TranscriptStep};
use crate::platform::disk::agent_dir;
use crate::rpc::Frame;
use crate::server::{InMemoryServer, ServerConfig};

/// The home directory in a transcript without a header.
const HOME: &str = "$HOME";
/// A session that does not exist: the effects of time are not part of the answer to its request.
const NO_SESSION: &str = "replay:nobody";
const ADVANCE: &str = "replay:advance";

/// Plays one transcript.
#[derive(Default)]
pub(super) struct Player {
    path: PathBuf,
    /// The seed of task ids, for a transcript that asks for no clock.
    seed: Option<u64>,
    pub(super) loader: Arc<ReplayLoader>,
    platform: Arc<ReplayPlatform>,
    sidecar: Option<InMemoryServer>,
    header: Option<Header>,
    /// The time of the replay's virtual clock; `None` if the transcript asks for one.
    now: Option<Millis>,
    /// Ids of the sidecar's requests: in the transcript, and here.
    ids: Vec<(Value, Value)>,
}

impl Player {
    /// A player with definitions that replace the transcript's, where there are any.
    pub(super) fn new(path: &Path, seed: Option<u64>, instead: &Tiers) -> Self {
        Self {
            path: path.to_path_buf(),
            seed,
            loader: Arc::new(ReplayLoader::instead(instead.clone())),
            ..Self::default()
        }
    }

    /// Plays a step, and pairs the lines that follow with those of the transcript.
    pub(super) fn play<'a>(&mut self, step: &TranscriptStep<'a>) -> Result<Vec<LinePair<'a>>> {
        let TranscriptLine { number, at, entry } = step.line;
        let (before, mut then) = match entry {
            TranscriptEntry::Header(header) => {
                self.start(header.clone());
                (Vec::new(), Vec::new())
            }
            TranscriptEntry::Definitions(definitions) => {
                let place = || format!("{}:{number}", self.path.display());
                let directories = definitions.directories(&self.path).with_context(place)?;
                self.loader.define(directories);
                return Ok(step.pairs(Vec::new(), Vec::new()));
            }
            TranscriptEntry::Result(result) => {
                self.platform.add(result.clone());
                return Ok(step.pairs(Vec::new(), Vec::new()));
            }
            TranscriptEntry::Note(_) | TranscriptEntry::Torn(_) => return Ok(Vec::new()),
            TranscriptEntry::Out(_) => (Vec::new(), self.advance_clock(*at)),
            TranscriptEntry::In(sent) => (self.advance_clock(*at), self.send(sent, step)),
            TranscriptEntry::Bytes(bytes) => (self.advance_clock(*at), self.send_text(bytes)),
            TranscriptEntry::TooLong(limit) => {
                let before = self.advance_clock(*at);
                (before, self.hear(Frame::TooLong(*limit)))
            }
            TranscriptEntry::End => (self.advance_clock(*at), self.hear(Frame::End)),
            TranscriptEntry::Event(report) => {
                (self.advance_clock(*at), self.sidecar().report(report))
            }
        };
        self.platform.clear();
        if step.is_unknown() {
            self.dismiss(&then);
        } else {
            self.use_names_of(step, &mut then);
        }
        Ok(step.pairs(before, then))
    }

    /// Begins anew: one process follows another.
    fn start(&mut self, header: Header) {
        self.loader.clear();
        self.platform.start(&header.home);
        self.header = Some(header);
        self.sidecar = None;
        self.now = None;
        self.ids.clear();
    }

    /// The sidecar, which starts with the first line.
    pub(super) fn sidecar(&mut self) -> &InMemoryServer {
        self.sidecar.get_or_insert_with(|| {
            InMemoryServer::with_config(ServerConfig {
                loader: Arc::clone(&self.loader) as _,
                seed: self.seed,
                platform: Arc::clone(&self.platform) as _,
                ..ServerConfig::default()
            })
        })
    }

    /// Hands over a line of the host as it is.
    pub(super) fn hear(&mut self, line: Frame<'_>) -> Vec<String> {
        let received = self.sidecar().handle_line(line);
        self.platform.clear();
        received
    }

    /// Sends a text; in a transcript it may have several lines.
    fn send_text(&mut self, text: &[u8]) -> Vec<String> {
        let sidecar = self.sidecar();
        text.split(|byte| *byte == b'\n')
            .flat_map(|line| sidecar.send(line))
            .collect()
    }

    /// Lets time pass until then.
    fn advance_clock(&mut self, until: Option<Millis>) -> Vec<String> {
        let later = self.now.zip(until).filter(|(now, until)| until > now);
        let Some((now, until)) = later else {
            return Vec::new();
        };
        self.now = Some(until);
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":"{ADVANCE}","method":"clock/advance","params":{{"sessionId":"{NO_SESSION}","ms":{}}}}}"#,
            until - now
        );
        let mut received = self.send_text(line.as_bytes());
        received.retain(|line| message(line)["id"] != ADVANCE);
        received
    }

    fn send(&mut self, sent: &ProtocolLine, step: &TranscriptStep<'_>) -> Vec<String> {
        let line = sent.text();
        let message = message(&line);
        let method = message["method"].as_str();
        // The system's clock was not advanced by this in the recording. The clock here would be.
        if self.now.is_some() && method == Some("clock/advance") {
            let followed = step.followed.iter();
            return followed.map(|(_, sent)| sent.text().into_owned()).collect();
        }
        // There may be no such question here; if there is, it is dismissed.
        if method.is_none() && step.is_unknown() {
            return Vec::new();
        }
        let mut ours = message.clone();
        match method {
            None => {
                let mut ids = self.ids.iter().rev();
                if let Some((_, id)) = ids.find(|(theirs, _)| *theirs == message["id"]) {
                    ours["id"] = id.clone();
                }
            }
            Some("initialize") => self.introduce(&mut ours, step.line.at),
            Some(_) => {}
        }
        if ours != message {
            return self.send_text(ours.to_string().as_bytes());
        }
        self.send_text(line.as_bytes())
    }

    /// Gives the host's introduction a clock that can be advanced, and the agent directory of the recording.
    fn introduce(&mut self, message: &mut Value, now: Option<Millis>) {
        let params = message.get_mut("params");
        let Some(params) = params.filter(|params| params.is_object()) else {
            return;
        };
        let clock = params.get("clock");
        if let Some(header) = &self.header
            && clock.is_none_or(|clock| clock == "system")
            && let Some(now) = now
        {
            params["clock"] = json!({ "virtual": { "now": now, "seed": header.clock.seed } });
            self.now = Some(now);
        }
        let named = params.get("agentDir").unwrap_or(&Value::Null);
        if named.is_string() || named.is_null() {
            params["agentDir"] = self.agent_dir(named.as_str()).into();
        }
    }

    /// The agent directory of the machine where the recording was made.
    fn agent_dir(&self, dir: Option<&str>) -> String {
        let [usual, home] = match &self.header {
            Some(header) => [&*header.agent_dir, &*header.home],
            None => [AGENT_DIR, HOME],
        };
        let dir = dir.filter(|dir| !dir.is_empty()).unwrap_or(usual);
        let dir = agent_dir(Some(dir.as_ref()), Path::new(home));
        dir.to_string_lossy().into_owned()
    }

    /// Dismisses the questions among these lines, so that they do not stay open.
    fn dismiss(&mut self, lines: &[String]) {
        for message in lines.iter().map(|line| message(line)) {
            let method = message["method"].as_str().unwrap_or_default();
            if method.starts_with("ui/") {
                let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": null });
                // The lines that follow are not compared either.
                self.send_text(answer.to_string().as_bytes());
            }
        }
    }

    /// Gives the lines the names that the transcript has, of the sidecar and of its requests, and leaves out what a recording
    /// leaves out.
    fn use_names_of(&mut self, step: &TranscriptStep<'_>, lines: &mut [String]) {
        for ((_, expected), line) in step.followed.iter().zip(lines) {
            let Some(expected) = expected.message() else {
                continue;
            };
            let mut received = message(line);
            let before = received.clone();
            if let Some(header) = &self.header {
                hide_secrets(&mut received);
                leave_out(&expected, &mut received, header.redacted);
            }
            // A different release is not a difference.
            let ours = received.pointer_mut("/result/server");
            if let Some((theirs, ours)) = expected.pointer("/result/server").zip(ours) {
                ours.clone_from(theirs);
            }
            if let (Some(theirs), Some(ours)) = (request_id(&expected), request_id(&received))
                && theirs != ours
            {
                self.ids.push((theirs.clone(), ours.clone()));
                received["id"] = theirs.clone();
            }
            if received != before {
                *line = received.to_string();
            }
        }
    }
}

/// Leaves out the texts that a redacted recording leaves out, and the end of a text that was cut behind a secret that is longer
/// than its replacement.
fn leave_out(expected: &Value, received: &mut Value, is_redacted: bool) {
    match (expected, received) {
        (Value::String(text), Value::String(received)) => {
            let before = text.trim_end_matches('…');
            let is_cut = before.contains(REDACTED)
                && (before != text || text.ends_with(REDACTED))
                && received.starts_with(before);
            if is_cut || is_redacted && text == REDACTED {
                received.clone_from(text);
            }
        }
        (Value::Array(expected), Value::Array(received)) => {
            let both = expected.iter().zip(received);
            both.for_each(|(expected, received)| leave_out(expected, received, is_redacted));
        }
        (Value::Object(expected), Value::Object(received)) => {
            for (name, received) in received {
                if let Some(expected) = expected.get(name) {
                    leave_out(expected, received, is_redacted);
                }
            }
        }
        _ => {}
    }
}

/// A line as a value; null if it is not JSON.
fn message(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_default()
}

/// The id of a message that is a request.
fn request_id(message: &Value) -> Option<&Value> {
    message.get("method")?;
    message.get("id")
}
