//! A file that wakes the agent when something stands in it, and is emptied then.
//!
//! It is looked at once a second: that sees what editors do that put another file in its place, and works on file systems
//! that tell of nothing. What stands in the file waits for the agent, also if it was written while nobody watched.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, SystemTime};

use workflow_core::output::Heard;

use super::{LONGEST, News, Tell, as_text};

/// How often the file is looked at.
const PAUSE: Duration = Duration::from_secs(1);
/// For how long it must stand still: whoever writes is not interrupted.
const STILL: Duration = Duration::from_millis(200);

/// Watches a file until it is dropped.
#[derive(Debug)]
pub(super) struct Watcher {
    _lifeline: Sender<()>,
}

impl Watcher {
    pub(super) fn start(path: PathBuf, tell: Tell) -> Result<Self, String> {
        let (lifeline, end) = channel();
        let shown = path.display().to_string();
        let thread = thread::Builder::new().name("trigger".to_owned());
        let mut watched = Watched {
            path,
            tell,
            end,
            told: None,
        };
        let spawned = thread.spawn(move || watched.watch());
        spawned.map_err(|error| format!("{shown:?} cannot be watched: {error}"))?;
        Ok(Self {
            _lifeline: lifeline,
        })
    }
}

struct Watched {
    path: PathBuf,
    tell: Tell,
    end: Receiver<()>,
    /// The problem that was told last.
    told: Option<String>,
}

/// By what a file that was written to is known.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
}

/// Nobody watches any more.
struct Over;

impl Watched {
    fn watch(&mut self) {
        while let Ok(()) = self.watch_once() {}
    }

    /// Waits until something stands in the file, and tells it.
    fn watch_once(&mut self) -> Result<(), Over> {
        self.wait(PAUSE)?;
        match self.look() {
            Ok(None) => self.told = None,
            Ok(Some(text)) if text.is_empty() => {}
            Ok(Some(text)) => self.deliver(&text)?,
            Err(error) => self.complain(&error),
        }
        Ok(())
    }

    fn wait(&self, time: Duration) -> Result<(), Over> {
        match self.end.recv_timeout(time) {
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Ok(()) | Err(RecvTimeoutError::Disconnected) => Err(Over),
        }
    }

    /// What stood in the file, if it stands still.
    fn look(&self) -> io::Result<Option<String>> {
        let Some(before) = stamp(&self.path)? else {
            return Ok(None);
        };
        if self.wait(STILL).is_err() || stamp(&self.path)?.as_ref() != Some(&before) {
            return Ok(None);
        }
        take(&self.path)
    }

    /// Tells it until somebody takes it.
    fn deliver(&self, text: &str) -> Result<(), Over> {
        while let Some(Heard::Refused) = (self.tell)(News::Text(text.to_owned())) {
            self.wait(PAUSE)?;
        }
        Ok(())
    }

    fn complain(&mut self, error: &io::Error) {
        let problem = format!(
            "The trigger {:?} cannot be read: {error}.",
            self.path.display()
        );
        if self.told.as_ref() != Some(&problem) {
            (self.tell)(News::Problem(problem.clone()));
            self.told = Some(problem);
        }
    }
}

/// By what the file is known now; `None` if it is not there, or empty.
fn stamp(path: &Path) -> io::Result<Option<Stamp>> {
    match path.symlink_metadata() {
        Ok(metadata) => {
            check(&metadata)?;
            let stamp = Stamp {
                length: metadata.len(),
                modified: metadata.modified().ok(),
            };
            Ok(Some(stamp).filter(|stamp| stamp.length > 0))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A device never ends, and a link may lead to a file that nobody means to empty.
fn check(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    Err(io::Error::other("it is no plain file"))
}

/// Reads and empties the file; `None` if somebody writes meanwhile.
fn take(path: &Path) -> io::Result<Option<String>> {
    let mut file = open(path)?;
    let metadata = file.metadata()?;
    check(&metadata)?;
    let mut bytes = Vec::new();
    (&mut file).take(LONGEST as u64).read_to_end(&mut bytes)?;
    if file.metadata()?.len() != metadata.len() {
        return Ok(None);
    }
    file.set_len(0)?;
    Ok(Some(as_text(&bytes, metadata.len())))
}

/// Not what a link leads to, and never waiting for the other end of a pipe.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = open(path, flags, Mode::empty())?;
    // The mode of the file is not changed by opening it.
    Ok(File::from(opened))
}

#[cfg(windows)]
fn open(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).open(path)
}
