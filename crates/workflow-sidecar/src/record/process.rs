//! A sidecar that some command starts: an older release, a fork, a debug build.
//!
//! It gets the definitions in a temporary directory; the paths in lines are translated. A request after each line, which
//! every JSON-RPC server refuses, marks the end of what follows from the line. Must not know what is expected of it.

use std::collections::VecDeque;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::Value;
use tempfile::TempDir;
use workflow_core::definition::Tier;

use super::definitions::{FileContent, Problem, RecordedDirectory};
use super::results::ReportedEvent;
use super::sidecar::{Sent, Sidecar, SidecarError};
use super::transcript_loader::TranscriptLoader;
use crate::server::MAX_LINE_LIMIT;

/// The time without a line after which a command counts as stuck.
const LINE_TIMEOUT: Duration = Duration::from_secs(10);

/// The time to wait for the last lines of an ended command.
const LAST_LINES_TIME: Duration = Duration::from_millis(500);

/// The number of lines that may follow from one.
const MAX_LINES: usize = 100_000;

/// The number of bytes of a line.
const MAX_LINE: u64 = 256 << 20;

/// The number of lines of standard error that are kept, and of bytes of one.
const COMPLAINTS: usize = 5;
const MAX_ERROR_LINE: u64 = 1 << 10;

/// A program and its arguments.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
}

/// A running command, and the directories of its definitions.
#[derive(Debug)]
pub(super) struct SidecarProcess {
    child: Child,
    /// None once its standard input is closed.
    input: Option<Sender<Vec<u8>>>,
    lines: Receiver<String>,
    complaints: Complaints,
    asked: u64,
    ended: Option<ExitStatus>,
    loader: Arc<TranscriptLoader>,
    root: TempDir,
    directories: Vec<NamedDirectory>,
}

/// The last lines on its standard error.
#[derive(Debug)]
struct Complaints {
    last: Arc<Mutex<VecDeque<String>>>,
    /// Closed when there will be no more.
    more: Receiver<()>,
}

/// A directory that the host named.
#[derive(Debug)]
struct NamedDirectory {
    tier: Tier,
    named: String,
    path: PathBuf,
}

impl SidecarProcess {
    pub(super) fn start(
        program: &Program,
        loader: &Arc<TranscriptLoader>,
    ) -> Result<Self, SidecarError> {
        let root = tempfile::tempdir().map_err(SidecarError::Files)?;
        let mut command = Command::new(&program.program);
        command
            .args(&program.arguments)
            // A replay is not recorded.
            .env_remove(super::recorder::RECORD_VARIABLE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Several commands may write at once.
            .stderr(Stdio::piped());
        // A transcript may do on purpose what is worth a warning.
        if std::env::var_os(crate::log::LOG_VARIABLE).is_none() {
            command.env(crate::log::LOG_VARIABLE, "error");
        }
        let mut child = command.spawn().map_err(SidecarError::Start)?;
        let complaints = Complaints::of(child.stderr.take());
        let (input, waiting) = channel::<Vec<u8>>();
        let (say, lines) = sync_channel(1024);
        if let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) {
            // A full pipe must not delay the reading of answers.
            std::thread::spawn(move || {
                for bytes in waiting {
                    if stdin.write_all(&bytes).is_err() {
                        return;
                    }
                }
            });
            std::thread::spawn(move || {
                let mut stdout = BufReader::new(stdout);
                while let Some(line) = next_line(&mut stdout) {
                    if say.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        Ok(Self {
            child,
            input: Some(input),
            lines,
            complaints,
            asked: 0,
            ended: None,
            loader: Arc::clone(loader),
            root,
            directories: Vec::new(),
        })
    }

    fn send(&mut self, bytes: Vec<u8>) {
        if let Some(input) = &self.input {
            // That it has ended is found when its lines are read.
            let _ = input.send(bytes);
        }
    }

    /// Reads lines until the answer to this request, or until the end.
    fn listen(&mut self, until: Option<&str>) -> Result<Vec<String>, SidecarError> {
        let mut received = Vec::new();
        loop {
            match self.lines.recv_timeout(LINE_TIMEOUT) {
                Ok(line) if until.is_some_and(|id| is_answer(&line, id)) => return Ok(received),
                Ok(line) => received.push(self.as_named(line)),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(SidecarError::Silent(LINE_TIMEOUT.as_secs()));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.input = None;
                    self.ended = self.wait();
                    return Ok(received);
                }
            }
            if received.len() > MAX_LINES {
                return Err(SidecarError::Babbling);
            }
        }
    }

    fn wait(&mut self) -> Option<ExitStatus> {
        let started = Instant::now();
        while started.elapsed() < LINE_TIMEOUT {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        None
    }

    /// A line with the names that the host gave to directories.
    fn as_named(&self, line: String) -> String {
        // Backwards: the directory 11 begins like the directory 1.
        self.directories.iter().rev().fold(line, |line, directory| {
            let path = in_json(&directory.path.to_string_lossy());
            line.replace(&path, &in_json(&directory.named))
        })
    }
}

impl Complaints {
    fn of(stderr: Option<ChildStderr>) -> Self {
        let last = Arc::<Mutex<VecDeque<String>>>::default();
        let (ended, more) = channel();
        let keeps = Arc::clone(&last);
        std::thread::spawn(move || {
            // Dropped at the end.
            let _ended: Sender<()> = ended;
            let mut stderr = stderr.map(BufReader::new);
            while let Some(line) = stderr.as_mut().and_then(next_complaint) {
                let mut last = keeps.lock();
                last.push_back(line);
                if last.len() > COMPLAINTS {
                    last.pop_front();
                }
            }
        });
        Self { last, more }
    }

    /// All of them if the process has ended, else those read so far.
    fn last(&self, has_ended: bool) -> Vec<String> {
        if has_ended {
            // A child of it may still have the pipe open.
            let _ = self.more.recv_timeout(LAST_LINES_TIME);
        }
        let last = self.last.lock();
        last.iter().cloned().collect()
    }
}

/// The next line on standard error that is not empty, or a part of one that is too long.
fn next_complaint(from: &mut impl BufRead) -> Option<String> {
    loop {
        let mut line = Vec::new();
        let read = from.take(MAX_ERROR_LINE).read_until(b'\n', &mut line);
        if read.ok()? == 0 {
            return None;
        }
        if !line.trim_ascii().is_empty() {
            return Some(String::from_utf8_lossy(line.trim_ascii_end()).into_owned());
        }
    }
}

/// The next line, without its end; `None` at the end of the output, or if it is too long.
fn next_line(from: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    let read = from.take(MAX_LINE).read_until(b'\n', &mut line);
    let read = u64::try_from(read.ok()?).unwrap_or(MAX_LINE);
    if read == 0 || read == MAX_LINE {
        return None;
    }
    let line = line.strip_suffix(b"\n").unwrap_or(&line);
    Some(String::from_utf8_lossy(line).into_owned())
}

/// A text as it is in a JSON string.
fn in_json(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn is_answer(line: &str, id: &str) -> bool {
    line.contains(id)
        && serde_json::from_str::<Value>(line).is_ok_and(|message| message["id"] == id)
}

impl Sidecar for SidecarProcess {
    fn redefine(&mut self) -> Result<(), SidecarError> {
        for directory in &self.directories {
            directory.fill(&self.loader)?;
        }
        Ok(())
    }

    fn directory(&mut self, tier: Tier, named: &str) -> Result<String, SidecarError> {
        let known =
            |directory: &&NamedDirectory| directory.tier == tier && directory.named == named;
        if let Some(directory) = self.directories.iter().find(known) {
            return Ok(directory.path.to_string_lossy().into_owned());
        }
        let directory = NamedDirectory {
            tier,
            named: named.to_owned(),
            path: self.root.path().join(self.directories.len().to_string()),
        };
        directory.fill(&self.loader)?;
        let path = directory.path.to_string_lossy().into_owned();
        self.directories.push(directory);
        Ok(path)
    }

    fn send(&mut self, line: Sent<'_>) -> Result<Vec<String>, SidecarError> {
        let mut bytes = match line {
            Sent::Line(line) => line.to_vec(),
            // No sidecar accepts so much: the line would have to be made here.
            Sent::TooLong(limit) if limit > MAX_LINE_LIMIT => {
                return Err(SidecarError::Unplayable {
                    name: format!("a line over {limit} bytes"),
                    why: "it is too long to be made",
                });
            }
            Sent::TooLong(limit) => vec![b'x'; limit + 1],
        };
        self.asked += 1;
        let id = format!("replay:{}", self.asked);
        let question =
            format!("\n{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"replay/received\"}}\n");
        bytes.extend_from_slice(question.as_bytes());
        self.send(bytes);
        self.listen(Some(&id))
    }

    fn report(&mut self, _: &ReportedEvent) -> Result<Vec<String>, SidecarError> {
        Err(SidecarError::Unplayable {
            name: "an event of the platform".to_owned(),
            why: "a command has its own",
        })
    }

    fn end(&mut self) -> Result<Vec<String>, SidecarError> {
        self.input = None;
        self.listen(None)
    }

    fn failed_exit(&mut self) -> Option<String> {
        let status = self.ended.filter(|status| !status.success())?;
        Some(format!("the command ended with {status}"))
    }

    fn complaints(&self) -> Vec<String> {
        self.complaints.last(self.ended.is_some())
    }
}

impl Drop for SidecarProcess {
    fn drop(&mut self) {
        // One that has ended cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl NamedDirectory {
    /// Writes the content of the directory.
    fn fill(&self, loader: &TranscriptLoader) -> Result<(), SidecarError> {
        let directory = loader.directory(self.tier, &self.named);
        let base = match self.tier {
            Tier::Global => self.path.clone(),
            Tier::Project => self.path.join(".pi"),
        };
        if self.path.exists() {
            fs::remove_dir_all(&self.path).map_err(SidecarError::Files)?;
        }
        if !directory.has_project() {
            return Ok(());
        }
        fs::create_dir_all(&self.path).map_err(SidecarError::Files)?;
        write(&base, &directory)
    }
}

fn write(base: &Path, directory: &RecordedDirectory) -> Result<(), SidecarError> {
    fs::create_dir_all(base).map_err(SidecarError::Files)?;
    for (name, content) in &directory.0 {
        let unplayable = |why| SidecarError::Unplayable {
            name: name.clone(),
            why,
        };
        let inside = |part| matches!(part, Component::Normal(_));
        if !Path::new(name).components().all(inside) {
            return Err(unplayable("it is no path inside its directory"));
        }
        let path = base.join(name);
        match content {
            FileContent::Text(text) => write_file(&path, text.as_bytes()),
            FileContent::Bytes { hex } => write_file(&path, hex),
            FileContent::Empty(()) => fs::create_dir_all(&path),
            FileContent::Unreadable { problem } => match problem {
                Problem::NotAFile if !name.ends_with('/') => fs::create_dir_all(&path),
                Problem::NotAFile
                | Problem::Missing
                | Problem::Escapes
                | Problem::TooLarge
                | Problem::NameNotUtf8
                | Problem::System(_) => {
                    return Err(unplayable("it could not be read when this was recorded"));
                }
            },
        }
        .map_err(SidecarError::Files)?;
    }
    Ok(())
}

fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, bytes)
}
