//! The file: one JSON object a line.
//!
//! `{"transcript":1,…}` begins a recording: which sidecar, which clock. `{"at":ms,"in":…}` is a line of
//! the host, `{"at":ms,"out":…}` one of the sidecar, each as JSON or, as it stands, in a string.
//! `{"definitions":…}` says what directories hold from here on, `{"note":…}` is for people,
//! `{"end":true}` is the host closing its side. `{"world":…}` is what the world answers to what happens
//! next, `{"gate":…}` what is told of a gate. `"out":"*"` is any line; where `"out":"?"` follows, what
//! follows is not compared.
//!
//! Owns reading; what is written equals what is read. Must not know what any of it means.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use workflow_core::types::Millis;

use super::definitions::{Definitions, from_hex};
use super::world::{Answer, GateLine, TriggerLine};
use crate::session_file::is_session;

/// The version of the format.
pub(crate) const VERSION: u32 = 1;

/// How the first line of a recording begins.
const BEGINNING: &str = "{\"transcript\":";

/// What stands for any line of the sidecar.
pub(super) const ANY: &str = "\"*\"";

/// What stands for lines of the sidecar of which nobody knows how they would come out again.
pub(super) const UNKNOWN: &str = "\"?\"";

/// A transcript, read.
#[derive(Debug)]
pub(crate) struct Transcript {
    pub(crate) path: PathBuf,
    pub(crate) lines: Vec<Line>,
}

/// A line of a transcript.
#[derive(Debug)]
pub(crate) struct Line {
    /// Counted from 1.
    pub(crate) number: usize,
    /// The time by the session's clock, where it is said: milliseconds since 1970.
    pub(crate) at: Option<Millis>,
    pub(crate) entry: Entry,
}

/// What a line of a transcript says.
#[derive(Debug)]
pub(crate) enum Entry {
    /// A sidecar starts, and its recording with it.
    Header(Header),
    /// For people.
    Note(Box<RawValue>),
    /// What directories hold from here on.
    Definitions(Definitions),
    /// What the world answers to what happens next.
    World(Answer),
    /// What is told of a gate.
    Gate(GateLine),
    /// What a trigger has.
    Trigger(TriggerLine),
    /// A line of the host.
    In(Said),
    /// A line of the sidecar.
    Out(Said),
    /// The host closes its side.
    End,
    /// A line that was not written to its end, because whoever wrote it was ended.
    Torn(String),
}

/// How a recording begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Header {
    /// The version of the format.
    pub(crate) transcript: u32,
    /// Who recorded.
    pub(crate) server: Server,
    /// The version of the protocol that is spoken.
    pub(crate) protocol_version: u32,
    /// What task ids and start times follow from, unless the host asks for a virtual clock.
    pub(crate) clock: Clock,
    /// Where the user's own definitions are if the host does not say.
    pub(crate) agent_dir: String,
    /// What `~` stands for.
    pub(crate) home: String,
}

/// Who recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) version: String,
}

/// The clock of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Clock {
    /// When the recording began, in milliseconds since 1970.
    pub(crate) now: Millis,
    /// What task ids are made from.
    pub(crate) seed: u64,
}

/// A line that one side said.
#[derive(Debug, Clone)]
pub(crate) enum Said {
    /// A JSON value; a string holds the line as it stands, anything else is the line.
    Json(Box<RawValue>),
    /// Bytes that are no text.
    Bytes(Vec<u8>),
    /// A line longer than this, which was not taken.
    TooLong(usize),
}

/// Why a file is no transcript, or cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{} is a session of pi, not a recording: `workflow-sidecar show` tells it", .0.display())]
    Session(PathBuf),
    #[error("{}:{line}: {why}", path.display())]
    Line {
        path: PathBuf,
        line: usize,
        why: String,
    },
    #[error("{}: there is no line in it: a transcript has lines like {{\"in\":…}} and {{\"out\":…}}", .0.display())]
    Empty(PathBuf),
}

/// A line as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written<'a> {
    at: Option<Millis>,
    #[serde(borrow)]
    r#in: Option<&'a RawValue>,
    #[serde(borrow)]
    out: Option<&'a RawValue>,
    bytes: Option<Cow<'a, str>>,
    #[serde(rename = "tooLong")]
    too_long: Option<usize>,
    #[serde(borrow)]
    note: Option<&'a RawValue>,
    #[serde(borrow)]
    definitions: Option<&'a RawValue>,
    #[serde(borrow)]
    world: Option<&'a RawValue>,
    #[serde(borrow)]
    gate: Option<&'a RawValue>,
    #[serde(borrow)]
    trigger: Option<&'a RawValue>,
    end: Option<bool>,
}

impl Transcript {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, ReadError> {
        let bytes = fs::read(path).map_err(|error| ReadError::Unreadable {
            path: path.to_path_buf(),
            error,
        })?;
        Self::parse(path, &bytes)
    }

    /// Reads what a file holds. A line that ends amid its text is told from one that is wrong by
    /// what follows: nothing, or a sidecar that starts.
    pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Self, ReadError> {
        if is_session(bytes) {
            return Err(ReadError::Session(path.to_path_buf()));
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
            let read = match Line::parse(*number, line) {
                Err(Wrong::Unfinished) if may_be_torn => Ok(Line {
                    number: *number,
                    at: None,
                    entry: Entry::Torn(String::from_utf8_lossy(line).into_owned()),
                }),
                read => read,
            };
            lines.push(read.map_err(|wrong| ReadError::Line {
                path: path.to_path_buf(),
                line: *number,
                why: wrong.to_string(),
            })?);
        }
        if lines.is_empty() {
            return Err(ReadError::Empty(path.to_path_buf()));
        }
        Ok(Self {
            path: path.to_path_buf(),
            lines,
        })
    }
}

/// What is wrong with a line.
#[derive(Debug, thiserror::Error)]
pub(super) enum Wrong {
    #[error("the line ends amid its JSON")]
    Unfinished,
    #[error("the line is not UTF-8")]
    NotUtf8,
    #[error(
        "version {0} of transcripts is not known here: this is written by a later workflow-sidecar"
    )]
    Version(u64),
    #[error("{0}")]
    Json(String),
    #[error(
        "a line has one of `in`, `out`, `bytes`, `tooLong`, `note`, `definitions`, `world`, `gate`, `trigger`, `end` or `transcript`"
    )]
    Kind,
    #[error("`bytes` are written as two digits each: \"6e6f\"")]
    Bytes,
    #[error(
        "`definitions` is the name of a directory beside this file, or an object: {{\"<directory>\":{{\"workflows/w/workflow.yaml\":\"…\"}}}} ({0})"
    )]
    Definitions(serde_json::Error),
    #[error(
        "`world` is what the world answers: {{\"baseline\":…}}, {{\"trusted\":true}}, {{\"word\":\"approve\"}}, {{\"excerpt\":\"…\"}}, {{\"path\":…}} ({0})"
    )]
    World(serde_json::Error),
    #[error(
        "`gate` is what is told of a gate: {{\"gate\":1,\"progress\":\"…\"}} or {{\"gate\":1,\"reports\":[…]}} ({0})"
    )]
    Gate(String),
    #[error("`trigger` is what a trigger has: {{\"text\":\"…\"}} or {{\"problem\":\"…\"}} ({0})")]
    Trigger(String),
    #[error("`end` is true or is left out")]
    End,
}

impl From<serde_json::Error> for Wrong {
    fn from(error: serde_json::Error) -> Self {
        if error.is_eof() {
            return Self::Unfinished;
        }
        let text = error.to_string();
        // A line has one line: only the column says something.
        Self::Json(text.replace(" at line 1 column ", ", at character "))
    }
}

impl Line {
    pub(super) fn parse(number: usize, line: &[u8]) -> Result<Self, Wrong> {
        let Ok(text) = std::str::from_utf8(line) else {
            // Where the writing stopped amid a character, it also stopped amid the JSON.
            let is_torn = std::str::from_utf8(line).is_err_and(|error| error.error_len().is_none());
            return Err(if is_torn {
                Wrong::Unfinished
            } else {
                Wrong::NotUtf8
            });
        };
        if text.starts_with(BEGINNING) {
            let header = header(text)?;
            return Ok(Self {
                number,
                at: Some(header.clock.now),
                entry: Entry::Header(header),
            });
        }
        let written: Written<'_> = serde_json::from_str(text)?;
        let at = written.at;
        let entry = written.entry()?;
        Ok(Self { number, at, entry })
    }
}

fn header(text: &str) -> Result<Header, Wrong> {
    #[derive(Deserialize)]
    struct Version {
        transcript: u64,
    }
    let version: Version = serde_json::from_str(text)?;
    if version.transcript != u64::from(VERSION) {
        return Err(Wrong::Version(version.transcript));
    }
    Ok(serde_json::from_str(text)?)
}

fn gate_line(json: &RawValue) -> Result<GateLine, Wrong> {
    let line: GateLine =
        serde_json::from_str(json.get()).map_err(|error| Wrong::Gate(error.to_string()))?;
    if line.news().is_none() {
        return Err(Wrong::Gate(
            "it has one of `progress` and `reports`".to_owned(),
        ));
    }
    Ok(line)
}

fn trigger_line(json: &RawValue) -> Result<TriggerLine, Wrong> {
    let line: TriggerLine =
        serde_json::from_str(json.get()).map_err(|error| Wrong::Trigger(error.to_string()))?;
    if line.news().is_none() {
        return Err(Wrong::Trigger(
            "it has one of `text` and `problem`".to_owned(),
        ));
    }
    Ok(line)
}

impl Written<'_> {
    fn entry(self) -> Result<Entry, Wrong> {
        let Self {
            at: _,
            r#in,
            out,
            bytes,
            too_long,
            note,
            definitions,
            world,
            gate,
            trigger,
            end,
        } = self;
        let others = [r#in, out, note, definitions].iter().any(Option::is_some)
            || bytes.is_some()
            || too_long.is_some()
            || end.is_some();
        match (world, gate, trigger) {
            (None, None, None) => {}
            _ if others => return Err(Wrong::Kind),
            (Some(world), None, None) => {
                let answer = serde_json::from_str(world.get()).map_err(Wrong::World)?;
                return Ok(Entry::World(answer));
            }
            (None, Some(gate), None) => return gate_line(gate).map(Entry::Gate),
            (None, None, Some(trigger)) => return trigger_line(trigger).map(Entry::Trigger),
            _ => return Err(Wrong::Kind),
        }
        let said = |json: &RawValue| Said::Json(json.to_owned());
        let entry = match (r#in, out, bytes, too_long, note, definitions, end) {
            (Some(line), None, None, None, None, None, None) => Entry::In(said(line)),
            (None, Some(line), None, None, None, None, None) => Entry::Out(said(line)),
            (None, None, Some(hex), None, None, None, None) => {
                Entry::In(Said::Bytes(from_hex(&hex).ok_or(Wrong::Bytes)?))
            }
            (None, None, None, Some(limit), None, None, None) => Entry::In(Said::TooLong(limit)),
            (None, None, None, None, Some(note), None, None) => Entry::Note(note.to_owned()),
            (None, None, None, None, None, Some(held), None) => {
                let held = serde_json::from_str(held.get()).map_err(Wrong::Definitions)?;
                Entry::Definitions(held)
            }
            (None, None, None, None, None, None, Some(true)) => Entry::End,
            (None, None, None, None, None, None, Some(false)) => return Err(Wrong::End),
            _ => return Err(Wrong::Kind),
        };
        Ok(entry)
    }
}

impl Said {
    /// The line, where it is text: what was said, byte for byte.
    pub(crate) fn text(&self) -> Option<Cow<'_, str>> {
        let Self::Json(json) = self else { return None };
        let held = json
            .get()
            .starts_with('"')
            .then(|| serde_json::from_str(json.get()));
        Some(match held {
            Some(Ok(text)) => Cow::Owned(text),
            Some(Err(_)) | None => Cow::Borrowed(json.get()),
        })
    }

    /// Whether it says that nothing is known of what is said here.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Self::Json(json) if json.get() == UNKNOWN)
    }

    /// Whether it stands for any line.
    pub(crate) fn is_any(&self) -> bool {
        matches!(self, Self::Json(json) if json.get() == ANY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Transcript, ReadError> {
        Transcript::parse(Path::new("t.jsonl"), text.as_bytes())
    }

    fn wrong(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    const HEADER: &str = r#"{"transcript":1,"server":{"name":"s","version":"1"},"protocolVersion":1,"clock":{"now":5,"seed":7},"agentDir":"/a","home":"/h"}"#;

    #[test]
    fn a_line_is_what_its_member_says() {
        let text = [
            HEADER,
            r#"{"note":["any",1]}"#,
            r#"{"definitions":"ordinary"}"#,
            r#"{"definitions":{"/a":{"workflows/w/a.md":"A"}}}"#,
            r#"{"at":6,"in":{"id": 1.50}}"#,
            r#"{"in":"nope\n"}"#,
            r#"{"bytes":"ff00"}"#,
            r#"{"tooLong":64}"#,
            r#"{"out":"*"}"#,
            r#"{"at":7,"end":true}"#,
            r#"{"world":{"trusted":true}}"#,
            r#"{"gate":{"gate":1,"progress":"a"}}"#,
        ]
        .join("\n");
        let lines = parse(&text).unwrap().lines;
        let kinds: Vec<String> = lines
            .iter()
            .map(|line| format!("{:?}", line.entry))
            .collect();
        let begins = [
            "Header",
            "Note",
            "Definitions(Named",
            "Definitions(Embedded",
            "In(Json",
            "In(Json",
            "In(Bytes([255, 0]",
            "In(TooLong(64",
            "Out(",
            "End",
            "World(Trusted(true",
            "Gate(GateLine",
        ];
        for (kind, begin) in kinds.iter().zip(begins) {
            assert!(kind.starts_with(begin), "{kind}");
        }
        assert_eq!(lines[4].at, Some(6));
        let said = |at: usize| match &lines[at].entry {
            Entry::In(said) | Entry::Out(said) => said.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(said(4).text().unwrap(), r#"{"id": 1.50}"#);
        assert_eq!(said(5).text().unwrap(), "nope\n");
        assert!(said(8).is_any() && !said(5).is_any());
    }

    #[test]
    fn what_is_wrong_names_the_line_and_the_cure() {
        for (text, expected) in [
            ("", "t.jsonl: there is no line in it"),
            (
                "{\"note\":1}\n\nnope\n",
                "t.jsonl:3: expected ident, at character 2",
            ),
            ("{}", "t.jsonl:1: a line has one of `in`"),
            ("{\"in\":{},\"out\":{}}", "t.jsonl:1: a line has one of"),
            (
                "{\"inn\":{}}",
                "t.jsonl:1: unknown field `inn`, expected one of `at`, `in`",
            ),
            ("{\"bytes\":\"f\"}", "t.jsonl:1: `bytes` are written"),
            (
                "{\"definitions\":7}",
                "t.jsonl:1: `definitions` is the name",
            ),
            ("{\"world\":{},\"gate\":{}}", "t.jsonl:1: a line has one of"),
            ("{\"world\":{},\"in\":{}}", "t.jsonl:1: a line has one of"),
            ("{\"world\":{\"a\":1}}", "t.jsonl:1: `world` is what"),
            ("{\"world\":7}", "t.jsonl:1: `world` is what"),
            ("{\"gate\":{}}", "t.jsonl:1: `gate` is what"),
            ("{\"gate\":{\"gate\":1}}", "t.jsonl:1: `gate` is what"),
            (
                "{\"gate\":{\"gate\":-1,\"reports\":[]}}",
                "t.jsonl:1: `gate` is what",
            ),
            ("{\"end\":false}", "t.jsonl:1: `end` is true"),
            (
                "{\"transcript\":2}",
                "t.jsonl:1: version 2 of transcripts is not known",
            ),
            ("{\"transcript\":1}", "t.jsonl:1: missing field `server`"),
        ] {
            let found = wrong(text);
            assert!(found.starts_with(expected), "{text}: {found}");
        }
    }

    #[test]
    fn only_the_last_line_of_a_sidecar_may_be_torn() {
        let torn = |text: &str| {
            let lines = parse(text).unwrap().lines;
            let torn = lines
                .iter()
                .filter(|line| matches!(line.entry, Entry::Torn(_)));
            torn.map(|line| line.number).collect::<Vec<_>>()
        };
        assert_eq!(torn(&format!("{HEADER}\n{{\"in\":{{\"id\"")), [2]);
        assert_eq!(torn(&format!("{HEADER}\n{{\"in\":\n{HEADER}\n")), [2]);
        assert_eq!(torn(&format!("{HEADER}\n{{\"in\":1}}")), [0; 0]);
        assert!(
            wrong(&format!("{HEADER}\n{{\"in\":\n{{\"note\":1}}\n")).contains(":2: the line ends")
        );
        assert!(wrong("{\"in\":").contains(":1: the line ends amid"));
        let mut half = format!("{HEADER}\n{{\"note\":\"é").into_bytes();
        half.pop();
        assert!(Transcript::parse(Path::new("t"), &half).is_ok());
    }

    #[test]
    fn depth_and_nonsense_cost_nothing() {
        let deep = "[".repeat(200_000);
        assert!(parse(&format!("{{\"in\":{deep}{}}}", "]".repeat(200_000))).is_ok());
        assert!(parse(&format!("{{\"definitions\":{deep}")).is_err());
        assert!(Transcript::parse(Path::new("t"), b"\xff\xfe\n").is_err());
    }
}
