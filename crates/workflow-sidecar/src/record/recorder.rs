//! The recorder of a session.
//!
//! The definitions that were read, a line of the host and the lines that follow are written at once, so that a process that
//! is killed leaves a file that replays. An error while recording is logged once, and the session continues without.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{anyhow, bail};
use parking_lot::Mutex;
use serde::Serialize;
use workflow_core::types::Millis;
use workflow_core::without_secrets;
use workflow_protocol::PROTOCOL_VERSION;

use super::definitions::{DefinitionsLine, RecordedDirectory};
use super::format::{Header, RecordedBy, RecordingClock, VERSION, line_value, written_line};
use super::loaders::{ReadDirectory, RecordingLoader};
use super::platforms::PlatformResult;
use super::platforms::RecordingPlatform;
use super::redaction::{Redaction, hide_tokens, line_without_secrets};
use crate::definitions::Loader;
use crate::files::home_dir;
use crate::platform::disk::user_agent_dir;
use crate::platform::{Platform, PlatformReport};
use crate::present::Moment;
use crate::rpc::Frame;
use crate::server::{Cause, ConnectionRecorder};
use crate::time::wall_time;

/// The environment variable with the path of `--record`, so that the sessions of any host can be recorded.
pub(crate) const RECORD_VARIABLE: &str = "WORKFLOW_SIDECAR_RECORD";

/// The size of a recording at most, by default.
pub(crate) const DEFAULT_LIMIT: u64 = 256 << 20;

/// The size of the note that says that the limit is reached.
const LAST_NOTE: u64 = 128;

/// A recording.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// `None` after an error, or at the limit.
    file: Option<File>,
    path: PathBuf,
    /// The number of bytes in the file.
    length: u64,
    /// The number of bytes at most.
    limit: u64,
    seed: u64,
    read: Arc<Mutex<Vec<ReadDirectory>>>,
    results: Arc<Mutex<Vec<PlatformResult>>>,
    redaction: Redaction,
    /// The directories as they were written last.
    written: HashMap<String, RecordedDirectory>,
}

impl ConnectionRecorder for Recorder {
    /// The seed of task ids while this is recorded.
    fn seed(&self) -> u64 {
        self.seed
    }

    /// A loader of definitions that records the reads.
    fn loader(&self) -> Arc<dyn Loader> {
        Arc::new(RecordingLoader(Arc::clone(&self.read)))
    }

    /// A platform with the results of this one, which are recorded.
    fn platform(&self, platform: Arc<dyn Platform>) -> Arc<dyn Platform> {
        Arc::new(RecordingPlatform {
            inner: platform,
            results: Arc::clone(&self.results),
        })
    }

    /// Writes what happened, and the lines that followed.
    fn write(&mut self, at: Millis, cause: Cause<'_>, followed: &[u8]) {
        let read = std::mem::take(&mut *self.read.lock());
        let results = std::mem::take(&mut *self.results.lock());
        if self.file.is_none() {
            return;
        }
        let mut lines = Lines(at, String::new());
        if let Some(definitions) = self.changed_definitions(read) {
            lines.push("definitions", &definitions);
        }
        for result in results {
            if let Some(result) = self.redaction.result(result) {
                lines.push("result", &result);
            }
        }
        self.redaction.forget_call();
        let followed = String::from_utf8_lossy(followed);
        let followed: Vec<&str> = followed.lines().collect();
        let mut answers = None;
        match cause {
            Cause::Host {
                line,
                depends_on_payload,
            } => answers = self.push_host_line(line, &followed, depends_on_payload, &mut lines),
            Cause::Platform(report) => lines.push(
                "event",
                &PlatformReport {
                    event: self.redaction.event(&report.event),
                    ..report.clone()
                },
            ),
            Cause::Time => {}
        }
        for line in followed {
            let line = match answers {
                Some(any) => any.into(),
                None => self.redaction.sidecar_line(line),
            };
            lines.push_json("out", &line);
        }
        self.append(&lines.1);
    }
}

impl Recorder {
    /// Begins to record at the end of a file, or into a new file of a directory. While
    /// another process records into the file, it is one beside it.
    pub(crate) fn begin(path: &Path, redaction: Redaction, limit: u64) -> anyhow::Result<Self> {
        let now = wall_time();
        // Whole in a JavaScript number, so that any program may rewrite a transcript.
        let seed = RandomState::new().hash_one(now) >> 11;
        Self::begin_at(now, seed, path, redaction, limit)
    }

    /// The same with a given time and seed.
    pub(crate) fn begin_at(
        now: Millis,
        seed: u64,
        path: &Path,
        redaction: Redaction,
        limit: u64,
    ) -> anyhow::Result<Self> {
        // A path that ends so must be a directory, even if it does not exist.
        if path.to_string_lossy().ends_with(std::path::is_separator) {
            fs::create_dir_all(path).map_err(|error| anyhow!("{}: {error}", path.display()))?;
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
            limit,
            seed,
            read: Arc::default(),
            results: Arc::default(),
            redaction,
            written: HashMap::new(),
        };
        let header = Header {
            transcript: VERSION,
            server: RecordedBy {
                name: env!("CARGO_PKG_NAME").to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            protocol_version: PROTOCOL_VERSION,
            clock: RecordingClock { now, seed },
            agent_dir: user_agent_dir(None).display().to_string(),
            home: home_dir().unwrap_or_default().display().to_string(),
            redacted: recorder.redaction.is_on,
        };
        let header = serde_json::to_string(&header).expect("names are strings");
        recorder.append(&(header + "\n"));
        Ok(recorder)
    }

    /// Writes a line of the host; gives the line that is recorded in place of its answers, if they depend on what is left out.
    fn push_host_line(
        &mut self,
        line: Frame<'_>,
        followed: &[&str],
        depends_on_payload: bool,
        lines: &mut Lines,
    ) -> Option<&'static str> {
        match line {
            Frame::End => lines.push("end", &true),
            Frame::TooLong(limit) => lines.push("tooLong", &limit),
            Frame::Line(line) if line.trim_ascii().is_empty() => {}
            Frame::Line(line) => {
                let redaction = &mut self.redaction;
                let (line, answers) = redaction.host_line(line, followed, depends_on_payload);
                match std::str::from_utf8(&line) {
                    Ok(text) => lines.push_json("in", &line_value(text)),
                    Err(_) => match without_secrets(&String::from_utf8_lossy(&line)) {
                        Cow::Borrowed(_) => lines.push("bytes", &line),
                        Cow::Owned(safe) => lines.push_json("in", &line_value(&safe)),
                    },
                }
                return answers;
            }
        }
        None
    }

    /// The directories that differ from those that were written last, if there are any.
    fn changed_definitions(&mut self, read: Vec<ReadDirectory>) -> Option<DefinitionsLine> {
        let mut changed = BTreeMap::new();
        for (name, mut directory) in read {
            let written = self.written.insert(name.clone(), directory.clone());
            if written.unwrap_or_default() != directory {
                if self.redaction.is_on {
                    self.redaction.note_names(&directory);
                    hide_tokens(&mut directory);
                }
                changed.insert(name, directory);
            }
        }
        (!changed.is_empty()).then_some(DefinitionsLine::Embedded(changed))
    }

    /// Appends lines at once, or logs once why nothing more is recorded.
    fn append(&mut self, text: &str) {
        let Some(file) = &mut self.file else { return };
        let length = self.length + text.len() as u64;
        let limit = self.limit;
        if length + LAST_NOTE > limit {
            tracing::warn!(path = %self.path.display(), limit, "the recording is as big as it may be and ends here");
            let note =
                format!("{{\"note\":\"The recording ends here: it may have {limit} bytes.\"}}\n");
            // If that fails too, the recording ends without a note.
            let _ = file.write_all(note.as_bytes());
            self.file = None;
            return;
        }
        if let Err(error) = file.write_all(text.as_bytes()) {
            tracing::warn!(path = %self.path.display(), %error, "the recording cannot be written and ends here");
            // A part of the lines would not replay.
            let _ = file.set_len(self.length);
            self.file = None;
            return;
        }
        self.length = length;
    }
}

/// Lines of a transcript with one time.
struct Lines(Millis, String);

impl Lines {
    fn push(&mut self, name: &str, value: &impl Serialize) {
        let json = serde_json::to_string(value).expect("names are strings");
        self.push_json(name, &json);
    }

    fn push_json(&mut self, name: &str, json: &str) {
        self.1 += &written_line(Some(self.0), name, &line_without_secrets(json));
        self.1.push('\n');
    }
}

/// A file name with the time and the process: `workflow-20261120T153000Z-4711.jsonl`.
fn file_name(now: Millis) -> String {
    let time = Moment::from(now).formatted("%Y%m%dT%H%M%SZ");
    format!("workflow-{time}-{}.jsonl", std::process::id())
}

/// Opens a file to append to, which no other process records into.
fn open(path: PathBuf) -> anyhow::Result<(PathBuf, File)> {
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

/// Opens a file to append to; false if another process records into it.
fn open_one(path: &Path) -> anyhow::Result<(File, bool)> {
    // Looked at before it is opened: opening a pipe would wait for someone to read it.
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        bail!("{} is neither a file nor a directory", path.display());
    }
    let open = || -> io::Result<(File, bool)> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            // It contains what the agent saw.
            options.mode(0o600);
        }
        let mut file = options.open(path)?;
        // Where files cannot be locked, other processes are not noticed.
        let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        if !is_taken {
            end_last_line(&mut file)?;
        }
        Ok((file, !is_taken))
    };
    open().map_err(|error| anyhow!("{}: {error}", path.display()))
}

/// Ends a line that was cut off.
fn end_last_line(file: &mut File) -> io::Result<()> {
    let mut last = *b"\n";
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last != *b"\n" {
        file.write_all(b"\n")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(path: &Path, limit: u64) -> anyhow::Result<Recorder> {
        Recorder::begin(path, Redaction::new(false), limit)
    }

    fn say(recorder: &mut Recorder, line: &str) {
        let cause = Cause::Host {
            line: Frame::Line(line.as_bytes()),
            depends_on_payload: false,
        };
        recorder.write(7, cause, b"{}\n");
    }

    #[test]
    fn a_line_is_written_as_it_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let mut recorder = begin(directory.path(), 1 << 20).unwrap();
        for (line, expected) in [
            (&b"{\"id\": 1.50}"[..], r#""in":{"id": 1.50}"#),
            (b" {}", r#""in":" {}""#),
            (b"\"a\"", r#""in":"\"a\"""#),
            (b"nope", r#""in":"nope""#),
            (b"[1]", r#""in":[1]"#),
            (b"a\xff", r#""bytes":[97,255]"#),
        ] {
            let mut lines = Lines(3, String::new());
            let line = Frame::Line(line);
            recorder.push_host_line(line, &[], false, &mut lines);
            assert_eq!(lines.1, format!("{{\"at\":3,{expected}}}\n"));
        }
    }

    #[test]
    fn a_recording_is_appended_to_an_existing_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.jsonl");
        std::fs::write(&path, "{\"torn").unwrap();
        let mut recorder = begin(&path, 1 << 20).unwrap();
        let beside = begin(&path, 1 << 20).unwrap();
        let name = format!("r-{}.jsonl", std::process::id());
        assert_eq!(beside.path, directory.path().join(name));
        say(&mut recorder, "{}");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("{\"torn\n{\"transcript\":3,"), "{text}");
        assert!(
            text.ends_with("}\n{\"at\":7,\"in\":{}}\n{\"at\":7,\"out\":{}}\n"),
            "{text}"
        );
    }

    #[test]
    fn a_recording_that_is_big_enough_ends_with_a_note() {
        let directory = tempfile::tempdir().unwrap();
        let recordings = directory.path().join("not/there/");
        let mut recorder = begin(&recordings, 2000).unwrap();
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
        let refused = begin(Path::new("/dev/full"), 1 << 20).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "/dev/full is neither a file nor a directory"
        );
        let mut recorder = begin(tempfile::tempdir().unwrap().path(), 1 << 20).unwrap();
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
        let recorder = begin(directory.path(), 1 << 20).unwrap();
        let mode = recorder.path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
