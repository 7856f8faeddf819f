//! Transcripts: one JSON object a line.
//!
//! `{"transcript":3,…}` begins a recording: which sidecar, which clock. `{"at":ms,"in":…}` is a line of
//! the host, `{"at":ms,"out":…}` one of the sidecar, each as JSON or, unchanged, in a string.
//! `{"definitions":…}` sets what directories contain from here on, `{"note":…}` is for people,
//! `{"end":true}` is the host closing its side. `{"result":…}` is what the platform answers to something that the next
//! line causes, `{"event":…}` what it reports by itself. `"out":"*"` is any line; where `"out":"?"` follows, what
//! follows is not compared.
//!
//! Must not know the meaning of a line.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use workflow_core::types::Millis;

use super::definitions::DefinitionsLine;
use super::platforms::PlatformResult;
use crate::platform::PlatformReport;
use crate::sessions::is_session;

/// The version of the format.
pub(crate) const VERSION: u32 = 3;

/// The beginning of the first line of a recording.
const BEGINNING: &str = "{\"transcript\":";

/// The value for any line of the sidecar.
pub(super) const ANY: &str = "\"*\"";

/// The value for lines of the sidecar that are not compared.
pub(super) const UNKNOWN: &str = "\"?\"";

/// A transcript, read.
#[derive(Debug)]
pub(crate) struct Transcript {
    pub(crate) path: PathBuf,
    pub(crate) lines: Vec<TranscriptLine>,
}

/// A line of a transcript.
#[derive(Debug)]
pub(crate) struct TranscriptLine {
    /// Counted from 1.
    pub(crate) number: usize,
    /// The time by the session's clock, where it is given: milliseconds since 1970.
    pub(crate) at: Option<Millis>,
    pub(crate) entry: TranscriptEntry,
}

/// The content of a line.
#[derive(Debug)]
pub(crate) enum TranscriptEntry {
    /// A sidecar starts, and its recording with it.
    Header(Header),
    /// A note for people.
    Note(Box<RawValue>),
    /// The content of directories from here on.
    Definitions(DefinitionsLine),
    /// The platform's answer to something that the next line causes.
    Result(PlatformResult),
    /// A report of the platform.
    Event(PlatformReport),
    /// A line of the host.
    In(ProtocolLine),
    /// A line of the host that is not UTF-8.
    Bytes(Vec<u8>),
    /// A line of the host that is longer than this, and was skipped.
    TooLong(usize),
    /// A line of the sidecar.
    Out(ProtocolLine),
    /// The host closes its side.
    End,
    /// A line that was cut off because the process that wrote it was ended.
    Torn(String),
}

/// The beginning of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Header {
    /// The version of the format.
    pub(crate) transcript: u32,
    /// The program that recorded.
    pub(crate) server: RecordedBy,
    /// The version of the protocol.
    pub(crate) protocol_version: u32,
    /// The source of task ids and start times, unless the host asks for a virtual clock.
    pub(crate) clock: RecordingClock,
    /// The directory of the user's own definitions if the host names none.
    pub(crate) agent_dir: String,
    /// The home directory.
    pub(crate) home: String,
    /// True if no free text is recorded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) redacted: bool,
}

/// The program that recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordedBy {
    pub(crate) name: String,
    pub(crate) version: String,
}

/// The clock of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordingClock {
    /// The beginning of the recording, in milliseconds since 1970.
    pub(crate) now: Millis,
    /// The seed of task ids.
    pub(crate) seed: u64,
}

/// A line that one side sent to the other, as JSON: a string contains the line, any other value is the line.
#[derive(Debug, Clone)]
pub(crate) struct ProtocolLine(Box<RawValue>);

impl Transcript {
    /// Reads the content of a file. A line that ends amid its text may be torn if nothing follows, or the start of a
    /// sidecar.
    pub(crate) fn parse(path: &Path, bytes: &[u8]) -> anyhow::Result<Self> {
        let name = path.display();
        if is_session(bytes) {
            bail!("{name} is a session of pi, not a recording: `workflow-sidecar show` shows it");
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let written: Vec<(usize, &[u8])> = bytes
            .split(|byte| *byte == b'\n')
            .enumerate()
            .map(|(at, line)| (at + 1, line.trim_ascii()))
            .filter(|(_, line)| !line.is_empty())
            .collect();
        let mut lines = Vec::with_capacity(written.len());
        for (at, (number, line)) in written.iter().enumerate() {
            let next = written.get(at + 1);
            let may_be_torn = at > 0
                && match next {
                    None => !bytes.ends_with(b"\n"),
                    Some((_, next)) => next.starts_with(BEGINNING.as_bytes()),
                };
            let read = match TranscriptLine::parse(*number, line) {
                Err(Wrong::Unfinished) if may_be_torn => Ok(TranscriptLine {
                    number: *number,
                    at: None,
                    entry: TranscriptEntry::Torn(String::from_utf8_lossy(line).into_owned()),
                }),
                read => read,
            };
            lines.push(read.map_err(|wrong| anyhow!("{name}:{number}: {wrong}"))?);
        }
        if lines.is_empty() {
            bail!(
                "{name}: there is no line in it: a transcript has lines like {{\"in\":…}} and {{\"out\":…}}"
            );
        }
        Ok(Self {
            path: path.to_path_buf(),
            lines,
        })
    }
}

/// An error in a line.
#[derive(Debug, thiserror::Error)]
pub(super) enum Wrong {
    #[error("the line ends amid its JSON")]
    Unfinished,
    #[error("{0}")]
    Other(String),
}

/// The members that a line may have.
const MEMBERS: &str =
    "`in`, `out`, `bytes`, `tooLong`, `note`, `definitions`, `result`, `event`, `end`";

impl Wrong {
    /// A line that has no member of an entry, or several.
    fn kind() -> Self {
        Self::Other(format!("a line has one of {MEMBERS} or `transcript`"))
    }
}

/// The value of a member, which has this form.
fn formed<T>(read: serde_json::Result<T>, form: &str) -> Result<T, Wrong> {
    read.map_err(|error| Wrong::Other(format!("{form} ({error})")))
}

impl From<serde_json::Error> for Wrong {
    fn from(error: serde_json::Error) -> Self {
        if error.is_eof() {
            return Self::Unfinished;
        }
        let text = error.to_string();
        // A line has one line: only the column says something.
        Self::Other(text.replace(" at line 1 column ", ", at character "))
    }
}

impl TranscriptLine {
    /// True if it sets the content of directories.
    pub(super) fn is_definitions(&self) -> bool {
        matches!(self.entry, TranscriptEntry::Definitions(_))
    }

    pub(super) fn parse(number: usize, line: &[u8]) -> Result<Self, Wrong> {
        let text = std::str::from_utf8(line).map_err(|error| match error.error_len() {
            // Where the writing stopped amid a character, it also stopped amid the JSON.
            None => Wrong::Unfinished,
            Some(_) => Wrong::Other("the line is not UTF-8".to_owned()),
        })?;
        let mut members: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
        if let Some(version) = members.get("transcript") {
            if version.get() != VERSION.to_string() {
                return Err(Wrong::Other(format!(
                    "version {version} of transcripts is not known here: this workflow-sidecar reads version {VERSION}"
                )));
            }
            let header: Header = serde_json::from_str(text)?;
            return Ok(Self {
                number,
                at: Some(header.clock.now),
                entry: TranscriptEntry::Header(header),
            });
        }
        let at = members
            .remove("at")
            .map(|at| serde_json::from_str(at.get()));
        let at = at.transpose()?;
        let mut entries = members
            .into_iter()
            .map(|(name, member)| TranscriptEntry::parse(&name, member));
        let entry = entries.next().ok_or_else(Wrong::kind)??;
        if let Some(another) = entries.next() {
            another?;
            return Err(Wrong::kind());
        }
        Ok(Self { number, at, entry })
    }
}

impl TranscriptEntry {
    /// The entry of a member with this name.
    fn parse(name: &str, member: &RawValue) -> Result<Self, Wrong> {
        let json = member.get();
        Ok(match name {
            "in" => Self::In(ProtocolLine(member.to_owned())),
            "out" => Self::Out(ProtocolLine(member.to_owned())),
            "bytes" => Self::Bytes(formed(
                serde_json::from_str(json),
                "`bytes` are numbers: [110,111]",
            )?),
            "tooLong" => Self::TooLong(serde_json::from_str(json)?),
            "note" => Self::Note(member.to_owned()),
            "definitions" => Self::Definitions(formed(
                serde_json::from_str(json),
                "`definitions` is the name of a directory beside this file, or an object: \
                 {\"<directory>\":{\"workflows/w/workflow.yaml\":\"…\"}}",
            )?),
            "result" => Self::Result(formed(
                PlatformResult::parse(json),
                "`result` is what the platform answers: {\"baselineTaken\":…}, \
                 {\"gateNotTrusted\":{\"gate\":1}}, {\"approvalRead\":…}, {\"excerpt\":\"…\"}, {\"path\":…}",
            )?),
            "event" => Self::Event(formed(
                serde_json::from_str(json),
                "`event` is what the platform reports: {\"gateProgress\":{\"gate\":1,\"text\":\"…\"}}, \
                 {\"gateFinished\":{\"gate\":1,\"reports\":[…]}}, {\"triggered\":{\"text\":\"…\"}}",
            )?),
            "end" if json == "true" => Self::End,
            "end" => return Err(Wrong::Other("`end` is true or is left out".to_owned())),
            _ => {
                return Err(Wrong::Other(format!(
                    "unknown field `{name}`, expected one of `at`, {MEMBERS}"
                )));
            }
        })
    }
}

impl ProtocolLine {
    /// The line.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        let json = self.0.get();
        serde_json::from_str(json).map_or(Cow::Borrowed(json), Cow::Owned)
    }

    /// The line as a value, if it is a message.
    pub(crate) fn message(&self) -> Option<Value> {
        serde_json::from_str(&self.text()).ok()
    }

    /// True if the lines here are not compared.
    pub(super) fn is_unknown(&self) -> bool {
        self.0.get() == UNKNOWN
    }

    /// True if it matches any line.
    pub(crate) fn is_any(&self) -> bool {
        self.0.get() == ANY
    }
}

/// A line of one side as the value of its member: as it is, if it can be, or else in a string.
pub(super) fn line_value(line: &str) -> Cow<'_, str> {
    let is_value = serde_json::from_str::<&RawValue>(line).is_ok()
        && !line.starts_with('"')
        && line.trim_ascii().len() == line.len();
    if is_value {
        return Cow::Borrowed(line);
    }
    Cow::Owned(Value::from(line).to_string())
}

/// A line of a transcript with one member, which has this value, and its time.
pub(super) fn written_line(at: Option<Millis>, member: &str, json: &str) -> String {
    let time = at.map(|at| format!("\"at\":{at},"));
    format!("{{{}\"{member}\":{json}}}", time.unwrap_or_default())
}

#[cfg(test)]
mod tests;
