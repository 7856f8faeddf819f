//! Writing down what passes, as it passes.
//!
//! What belongs together, the definitions that were read, a line of the host and what followed from it,
//! is written at once, so that whatever ends the process leaves a file that replays. Recording must not
//! change what is answered: what cannot be written is told once, and the session goes on without.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use jiff::Timestamp;
use serde_json::value::RawValue;
use workflow_core::types::Millis;
use workflow_protocol::{Kind, PROTOCOL_VERSION};

use super::definitions::{Definitions, Directory, to_hex};
use super::format::{ANY, Clock, Header, Server, VERSION};
use super::json_text::{at, quoted};
use super::payload::Payload;
use super::secrets::Secrets;
use super::watched::{Load, Watched};
use super::world::{Answer, GateLine, TriggerLine, WatchedWorld};
use crate::platform::disk::user_agent_dir;
use crate::serve::{GateName, GateNews, Loader, TriggerName, TriggerNews, World};

/// How big a recording may become unless something else is asked for.
pub(crate) const DEFAULT_LIMIT: u64 = 256 << 20;

/// What the note takes that says that the limit is reached.
const LAST_NOTE: u64 = 128;

/// What is recorded, and how much of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) payload: Payload,
    /// How many bytes a recording may have.
    pub(crate) limit: u64,
}

/// What came from the host.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HostLine<'a> {
    Line(&'a [u8]),
    /// A line over the limit of this many bytes.
    TooLong(usize),
    /// The host closed its side.
    End,
}

/// What lines of the sidecar follow from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cause<'a> {
    Host {
        line: HostLine<'a>,
        /// Whether what is decided hangs on what tools are given or give back.
        hangs_on_payload: bool,
    },
    Time,
    Gate(&'a GateName, &'a GateNews),
    Trigger(&'a TriggerName, &'a TriggerNews),
}

/// Why nothing is recorded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BeginError {
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{} is neither a file nor a directory", .0.display())]
    NotAFile(PathBuf),
}

/// A recording that goes on.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// None once it could not be written, or is as big as it may be.
    file: Option<File>,
    path: PathBuf,
    /// How many bytes the file has.
    length: u64,
    extent: Extent,
    seed: u64,
    loads: Arc<Mutex<Vec<Load>>>,
    answers: Arc<Mutex<Vec<Answer>>>,
    secrets: Secrets,
    /// What each directory held when that was last written down.
    noted: HashMap<String, Directory>,
}

impl Recorder {
    /// Begins to record into a file, behind what it holds, or into a new file of a directory. While
    /// another process records into the file, it is one beside it.
    pub(crate) fn begin(path: &Path, extent: Extent) -> Result<Self, BeginError> {
        let now = now();
        // Whole in a JavaScript number, so that any program may rewrite a transcript.
        let seed = RandomState::new().hash_one(now) >> 11;
        Self::begin_at(now, seed, path, extent)
    }

    /// The same at a moment and with a seed that are known before.
    pub(crate) fn begin_at(
        now: Millis,
        seed: u64,
        path: &Path,
        extent: Extent,
    ) -> Result<Self, BeginError> {
        if names_directory(path) {
            fs::create_dir_all(path).map_err(|error| BeginError::Io {
                path: path.to_path_buf(),
                error,
            })?;
        }
        let path = if path.is_dir() {
            path.join(file_name(now))
        } else {
            path.to_path_buf()
        };
        let (path, file) = open(path)?;
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        let mut recorder = Self {
            file: Some(file),
            path,
            length,
            extent,
            seed,
            loads: Arc::default(),
            answers: Arc::default(),
            secrets: Secrets::default(),
            noted: HashMap::new(),
        };
        let header = recorder.header(now);
        recorder.append(&header);
        Ok(recorder)
    }

    /// What task ids are made from while this is recorded.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Reads definitions so that this recording learns of them.
    pub(crate) fn loader(&self) -> Arc<dyn Loader> {
        Arc::new(Watched(Arc::clone(&self.loads)))
    }

    /// A world that answers as this one does, and of which this recording learns.
    pub(crate) fn world(&self, world: Arc<dyn World>) -> Arc<dyn World> {
        Arc::new(WatchedWorld::new(world, Arc::clone(&self.answers)))
    }

    /// Writes down what happened, and the lines that followed from it.
    pub(crate) fn write(&mut self, at: Millis, cause: Cause<'_>, followed: &[u8]) {
        let loads = taken(&self.loads);
        let answers = taken(&self.answers);
        if self.file.is_none() {
            return;
        }
        let payload = self.extent.payload;
        let mut text = String::new();
        self.push_definitions(at, loads, &mut text);
        if payload == Payload::Redacted {
            self.secrets.learn(cause, &answers);
        }
        for answer in answers
            .into_iter()
            .filter_map(|answer| answer.recorded(payload))
        {
            let json = serde_json::to_string(&answer).expect("names are strings");
            let _ = writeln!(text, "{{\"at\":{at},\"world\":{json}}}");
        }
        let mut is_whole = true;
        match cause {
            Cause::Host {
                line,
                hangs_on_payload,
            } => {
                let payload = if hangs_on_payload {
                    payload.whole()
                } else {
                    payload
                };
                let without_texts;
                let line = match line {
                    HostLine::Line(bytes) if payload == Payload::Redacted => {
                        without_texts = self.secrets.without_texts(bytes);
                        HostLine::Line(&without_texts)
                    }
                    line => line,
                };
                is_whole = push_host_line(at, line, payload, &mut text);
            }
            Cause::Gate(name, news) => {
                let line = GateLine::of(name, news).recorded(payload);
                let json = serde_json::to_string(&line).expect("names are strings");
                let _ = writeln!(text, "{{\"at\":{at},\"gate\":{json}}}");
            }
            Cause::Trigger(name, news) => {
                let line = TriggerLine::of(name, news).recorded(payload);
                let json = serde_json::to_string(&line).expect("names are strings");
                let _ = writeln!(text, "{{\"at\":{at},\"trigger\":{json}}}");
            }
            Cause::Time => {}
        }
        for line in String::from_utf8_lossy(followed).lines() {
            let line = match payload {
                // Such an error quotes what it cannot take.
                _ if !is_whole && is_invalid_params(line) => Cow::Borrowed(ANY),
                Payload::Kept | Payload::Whole => Cow::Borrowed(line),
                Payload::Redacted => self.secrets.hidden_in(line),
            };
            let _ = writeln!(text, "{{\"at\":{at},\"out\":{line}}}");
        }
        self.append(&text);
    }

    /// What directories held, where it is not what is known of them.
    fn push_definitions(&mut self, at: Millis, loads: Vec<Load>, text: &mut String) {
        let changed: Vec<(String, Directory)> = loads
            .into_iter()
            .filter(|load| {
                let noted = self.noted.get(&load.name);
                !load
                    .reads
                    .agree_with(noted.unwrap_or(&Directory::default()))
            })
            .map(|load| (load.name, load.reads.into_directory()))
            .collect();
        if changed.is_empty() {
            return;
        }
        self.noted.extend(changed.iter().cloned());
        let mut changed: BTreeMap<String, Directory> = changed.into_iter().collect();
        if self.extent.payload == Payload::Redacted {
            changed.values_mut().for_each(Directory::hide_tokens);
        }
        let definitions = Definitions::Embedded(changed);
        let json = serde_json::to_string(&definitions).expect("names are strings");
        let _ = writeln!(text, "{{\"at\":{at},\"definitions\":{json}}}");
    }

    fn header(&self, now: Millis) -> String {
        let header = Header {
            transcript: VERSION,
            server: Server {
                name: env!("CARGO_PKG_NAME").to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            protocol_version: PROTOCOL_VERSION,
            clock: Clock {
                now,
                seed: self.seed,
            },
            agent_dir: user_agent_dir(None).display().to_string(),
            home: crate::platform::home::home_dir()
                .unwrap_or_default()
                .display()
                .to_string(),
        };
        serde_json::to_string(&header).expect("names are strings") + "\n"
    }

    /// Adds lines at once, or says once why no more is recorded.
    fn append(&mut self, text: &str) {
        let Some(file) = &mut self.file else { return };
        let length = self.length + text.len() as u64;
        if length + LAST_NOTE > self.extent.limit {
            let limit = self.extent.limit;
            tracing::warn!(path = %self.path.display(), limit, "the recording is as big as it may be and ends here");
            let note =
                format!("{{\"note\":\"The recording ends here: it may have {limit} bytes.\"}}\n");
            // Whether that can be written or not, nothing more will be.
            let _ = file.write_all(note.as_bytes());
            self.file = None;
            return;
        }
        if let Err(error) = file.write_all(text.as_bytes()) {
            tracing::warn!(path = %self.path.display(), %error, "the recording cannot be written and ends here");
            // Half of what belongs together says something wrong.
            let _ = file.set_len(self.length);
            self.file = None;
            return;
        }
        self.length = length;
    }
}

fn taken<T>(noted: &Mutex<Vec<T>>) -> Vec<T> {
    std::mem::take(&mut *noted.lock().unwrap_or_else(PoisonError::into_inner))
}

fn now() -> Millis {
    let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    wall.map_or(0, |since| {
        Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
    })
}

/// Whether a path can mean nothing but a directory, be it there or not.
fn names_directory(path: &Path) -> bool {
    let last = path.as_os_str().as_encoded_bytes().last();
    last.is_some_and(|byte| std::path::is_separator(char::from(*byte)))
}

/// A name that tells when and by whom: `workflow-20261120T153000Z-4711.jsonl`.
fn file_name(now: Millis) -> String {
    let time = i64::try_from(now)
        .ok()
        .and_then(|now| Timestamp::from_millisecond(now).ok());
    let time = time.unwrap_or_default().strftime("%Y%m%dT%H%M%SZ");
    format!("workflow-{time}-{}.jsonl", std::process::id())
}

/// Opens a file to add lines to it, to which nobody else writes.
fn open(path: PathBuf) -> Result<(PathBuf, File), BeginError> {
    let (file, is_alone) = open_one(&path)?;
    if is_alone {
        return Ok((path, file));
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("{stem}-{}.jsonl", std::process::id());
    let beside = path.with_file_name(name);
    let (file, _) = open_one(&beside)?;
    Ok((beside, file))
}

/// Opens a file to add lines to it, and says whether nobody else writes to it.
fn open_one(path: &Path) -> Result<(File, bool), BeginError> {
    // Looked at before it is opened: opening a pipe would wait for someone to read it.
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(BeginError::NotAFile(path.to_path_buf()));
    }
    let open = || -> io::Result<(File, bool)> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            // It holds what the agent saw.
            options.mode(0o600);
        }
        let mut file = options.open(path)?;
        // Where files cannot be locked, nothing is known of others.
        let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        if !is_taken {
            end_last_line(&mut file)?;
        }
        Ok((file, !is_taken))
    };
    open().map_err(|error| BeginError::Io {
        path: path.to_path_buf(),
        error,
    })
}

/// Ends a line that whoever wrote it could not end.
fn end_last_line(file: &mut File) -> io::Result<()> {
    if file.metadata()?.len() == 0 {
        return Ok(());
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    if last != *b"\n" {
        file.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes down a line of the host, and says whether nothing of it was left out.
fn push_host_line(at: Millis, line: HostLine<'_>, payload: Payload, text: &mut String) -> bool {
    let mut is_whole = true;
    let member = match line {
        HostLine::End => "\"end\":true".to_owned(),
        HostLine::TooLong(limit) => format!("\"tooLong\":{limit}"),
        HostLine::Line(line) if line.trim_ascii().is_empty() => return true,
        HostLine::Line(line) => match std::str::from_utf8(line) {
            Err(_) => format!("\"bytes\":\"{}\"", to_hex(&payload.of_no_text(line))),
            Ok(line) => {
                let recorded = recorded(line, payload);
                is_whole = recorded == line;
                format!("\"in\":{}", written(&recorded))
            }
        },
    };
    let _ = writeln!(text, "{{\"at\":{at},{member}}}");
    is_whole
}

/// What is recorded of a line.
fn recorded(line: &str, payload: Payload) -> String {
    if is_json(line) {
        payload.of(line)
    } else {
        payload.of_no_json(line)
    }
}

/// A line as it is written down: as JSON if it is any, and in a string if it is none or that would change it.
fn written(line: &str) -> String {
    if !is_json(line) || line.starts_with('"') || line.trim_ascii().len() != line.len() {
        return quoted(line);
    }
    line.to_owned()
}

fn is_json(line: &str) -> bool {
    serde_json::from_str::<&RawValue>(line).is_ok()
}

/// Whether a line of the sidecar refuses parameters.
fn is_invalid_params(line: &str) -> bool {
    let code = at(line, &["error", "code"]).map(str::parse);
    code == Some(Ok(Kind::InvalidParams.code()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(limit: u64) -> Extent {
        Extent {
            payload: Payload::Kept,
            limit,
        }
    }

    fn say(recorder: &mut Recorder, line: &str) {
        let cause = Cause::Host {
            line: HostLine::Line(line.as_bytes()),
            hangs_on_payload: false,
        };
        recorder.write(7, cause, b"{}\n");
    }

    #[test]
    fn a_line_is_written_as_it_can_be_read_again() {
        for (line, expected) in [
            (&b"{\"id\": 1.50}"[..], r#""in":{"id": 1.50}"#),
            (b" {}", r#""in":" {}""#),
            (b"\"a\"", r#""in":"\"a\"""#),
            (b"nope", r#""in":"nope""#),
            (b"[1]", r#""in":[1]"#),
            (b"a\xff", r#""bytes":"61ff""#),
        ] {
            let mut text = String::new();
            push_host_line(3, HostLine::Line(line), Payload::Kept, &mut text);
            assert_eq!(text, format!("{{\"at\":3,{expected}}}\n"));
        }
        let mut text = String::new();
        push_host_line(3, HostLine::Line(b" \r"), Payload::Kept, &mut text);
        assert_eq!(text, "");
    }

    #[test]
    fn a_recording_goes_on_behind_what_is_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.jsonl");
        std::fs::write(&path, "{\"torn").unwrap();
        let mut recorder = Recorder::begin(&path, extent(1 << 20)).unwrap();
        let beside = Recorder::begin(&path, extent(1 << 20)).unwrap();
        let name = format!("r-{}.jsonl", std::process::id());
        assert_eq!(beside.path, directory.path().join(name));
        say(&mut recorder, "{}");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("{\"torn\n{\"transcript\":1,"), "{text}");
        assert!(
            text.ends_with("}\n{\"at\":7,\"in\":{}}\n{\"at\":7,\"out\":{}}\n"),
            "{text}"
        );
    }

    #[test]
    fn a_recording_that_is_big_enough_ends_with_a_note() {
        let directory = tempfile::tempdir().unwrap();
        let recordings = directory.path().join("not/there/");
        let mut recorder = Recorder::begin(&recordings, extent(2000)).unwrap();
        for _ in 0..100 {
            say(&mut recorder, "{}");
        }
        let name = recorder.path.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("workflow-20"), "{name}");
        let text = std::fs::read_to_string(&recorder.path).unwrap();
        assert!(text.len() <= 2000);
        assert!(
            text.ends_with(
                "out\":{}}\n{\"note\":\"The recording ends here: it may have 2000 bytes.\"}\n"
            ),
            "{text}"
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_cannot_be_written_ends_the_recording_and_nothing_else() {
        assert!(matches!(
            Recorder::begin(Path::new("/dev/full"), extent(1 << 20)),
            Err(BeginError::NotAFile(_))
        ));
        let mut recorder =
            Recorder::begin(tempfile::tempdir().unwrap().path(), extent(1 << 20)).unwrap();
        recorder.file = Some(OpenOptions::new().append(true).open("/dev/full").unwrap());
        say(&mut recorder, "{}");
        assert!(recorder.file.is_none());
        say(&mut recorder, "{}");
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_reads_a_recording() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let recorder = Recorder::begin(directory.path(), extent(1 << 20)).unwrap();
        let mode = recorder.path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
