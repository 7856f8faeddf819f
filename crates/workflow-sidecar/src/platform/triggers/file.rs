//! File triggers: text in a file starts the agent, and is then removed from the file.
//!
//! The file is polled once a second. That works with editors that replace the file, and with file systems without
//! notifications. Text that was written before the trigger started is delivered as well. Text is removed only after it
//! was delivered, and text that is written in the meantime stays.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::{Deliver, MAX_TEXT, TriggerOutcome, as_text};
use crate::files::{FileVersion, if_present};
use crate::threads::spawn;

/// Interval of polling.
const INTERVAL: Duration = Duration::from_secs(1);
/// Time without a change before the file is read, so that a writer is not interrupted.
const QUIET_TIME: Duration = Duration::from_millis(200);

/// The location of a trigger's file.
pub(super) struct FileLocation {
    pub(super) path: PathBuf,
    /// The real path of the directory that must contain the file.
    pub(super) within: Option<PathBuf>,
}

impl FileLocation {
    /// Resolves links in the directory; `None` if it does not exist.
    fn resolve(&self) -> io::Result<Option<PathBuf>> {
        let Some(within) = &self.within else {
            return Ok(Some(self.path.clone()));
        };
        let (Some(parent), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return Err(io::Error::other("it is no plain file"));
        };
        let Some(parent) = if_present(parent.canonicalize())? else {
            return Ok(None);
        };
        if !parent.starts_with(within) {
            return Err(io::Error::other("it is not in this project"));
        }
        Ok(Some(parent.join(name)))
    }
}

/// Polls a file until the returned value is dropped.
pub(super) fn watch(location: FileLocation, deliver: Deliver) -> Result<Sender<()>, String> {
    let (stop, stopped) = channel();
    let shown = location.path.display().to_string();
    let mut poller = FilePoller {
        location,
        deliver,
        stopped,
        reported: None,
        delivered: None,
    };
    let spawned = spawn("trigger", move || poller.run());
    spawned.map_err(|error| format!("{shown:?} cannot be watched: {error}"))?;
    Ok(stop)
}

/// The polling thread's state.
struct FilePoller {
    location: FileLocation,
    deliver: Deliver,
    /// Disconnected when the trigger is dropped.
    stopped: Receiver<()>,
    /// The problem that was reported last.
    reported: Option<String>,
    /// Text that was delivered, and could not be removed from the file.
    delivered: Option<FileVersion>,
}

/// A file with text in it.
struct WrittenFile {
    file: File,
    stamp: FileVersion,
    /// The beginning of the file that is delivered.
    bytes: Vec<u8>,
}

impl FilePoller {
    /// Delivers the text of the file, at each interval.
    fn run(&mut self) {
        while self.wait(INTERVAL) {
            let done = match self.read_written() {
                Ok(None) => {
                    self.reported = None;
                    Ok(())
                }
                Ok(Some(written)) => self.deliver_text(written),
                Err(error) => Err(error),
            };
            if let Err(error) = done {
                self.report(&error);
            }
        }
    }

    /// Waits for some time. Returns false if the trigger was dropped.
    fn wait(&self, time: Duration) -> bool {
        self.stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
    }

    /// Reads the file if it has text and does not change.
    fn read_written(&self) -> io::Result<Option<WrittenFile>> {
        let Some(path) = self.location.resolve()? else {
            return Ok(None);
        };
        let Some(before) = stamp(&path)? else {
            return Ok(None);
        };
        if !self.wait(QUIET_TIME) || stamp(&path)?.as_ref() != Some(&before) {
            return Ok(None);
        }
        read(&path)
    }

    /// Delivers the text, and removes it from the file if it was accepted. Otherwise it is delivered again later.
    fn deliver_text(&mut self, mut written: WrittenFile) -> io::Result<()> {
        if self.delivered.as_ref() == Some(&written.stamp) {
            return Ok(());
        }
        let text = as_text(&written.bytes, written.stamp.length);
        let is_accepted = text.is_empty()
            || matches!(
                (self.deliver)(Ok(text)),
                Some(TriggerOutcome::Delivered | TriggerOutcome::Queued)
            );
        if !is_accepted {
            return Ok(());
        }
        let removed = written.remove_text();
        self.delivered = removed.is_err().then_some(written.stamp);
        removed
    }

    fn report(&mut self, error: &io::Error) {
        let problem = format!(
            "The trigger {:?} cannot be read and emptied: {error}.",
            self.location.path.display()
        );
        if self.reported.as_ref() != Some(&problem) {
            (self.deliver)(Err(problem.clone()));
            self.reported = Some(problem);
        }
    }
}

impl WrittenFile {
    /// Removes the delivered text. Text that was appended stays, and so does text that replaced it.
    fn remove_text(&mut self) -> io::Result<()> {
        let now = FileVersion::from(&self.file.metadata()?);
        if now == self.stamp {
            return self.file.set_len(0);
        }
        let mut beginning = Vec::new();
        self.file.rewind()?;
        let length = self.bytes.len() as u64;
        (&mut self.file).take(length).read_to_end(&mut beginning)?;
        if now.length < self.stamp.length || beginning != self.bytes {
            return Ok(());
        }
        self.shift()
    }

    /// Moves the text after the delivered part to the beginning.
    fn shift(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; MAX_TEXT];
        let mut moved = 0;
        loop {
            self.file.seek(SeekFrom::Start(self.stamp.length + moved))?;
            let count = self.file.read(&mut buffer)?;
            if count == 0 {
                return self.file.set_len(moved);
            }
            self.file.seek(SeekFrom::Start(moved))?;
            self.file.write_all(&buffer[..count])?;
            moved += count as u64;
        }
    }
}

/// Returns the current state of the file; `None` if it does not exist or is empty.
fn stamp(path: &Path) -> io::Result<Option<FileVersion>> {
    let Some(metadata) = if_present(path.symlink_metadata())? else {
        return Ok(None);
    };
    check(&metadata)?;
    Ok(Some(FileVersion::from(&metadata)).filter(|stamp| stamp.length > 0))
}

/// Accepts regular files with one name only: a device never ends, and the file that a link leads to must not be emptied.
fn check(metadata: &Metadata) -> io::Result<()> {
    if !metadata.is_file() {
        return Err(io::Error::other("it is no plain file"));
    }
    // Not known elsewhere without opening the file.
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::nlink(metadata) > 1 {
        return Err(io::Error::other(
            "it is no plain file: it has another name (a hard link), and emptying it would empty that file",
        ));
    }
    Ok(())
}

/// Reads the file; `None` if it changes at the same time.
fn read(path: &Path) -> io::Result<Option<WrittenFile>> {
    let mut file = open(path)?;
    let metadata = file.metadata()?;
    check(&metadata)?;
    let stamp = FileVersion::from(&metadata);
    let mut bytes = Vec::new();
    (&mut file).take(MAX_TEXT as u64).read_to_end(&mut bytes)?;
    let is_unchanged = FileVersion::from(&file.metadata()?) == stamp;
    Ok(is_unchanged.then_some(WrittenFile { file, stamp, bytes }))
}

/// Opens the file without following a link, and without blocking on the writer of a pipe.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = open(path, flags, Mode::empty())?;
    Ok(File::from(opened))
}

#[cfg(windows)]
fn open(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::sync::{Arc, Mutex};

    /// Delivers a file with this text; returns the events and the text that is left in the file.
    fn deliver(
        text: &str,
        outcome: Option<TriggerOutcome>,
        during_delivery: impl Fn(&Path) + Send + Sync + 'static,
    ) -> (Vec<Result<String, String>>, String) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trigger.txt");
        fs::write(&path, text).unwrap();
        let events = Arc::new(Mutex::new(Vec::new()));
        let (received, file) = (Arc::clone(&events), path.clone());
        let (_stop, stopped) = channel();
        let location = FileLocation {
            path: path.clone(),
            within: None,
        };
        let callback = move |event| {
            received.lock().unwrap().push(event);
            during_delivery(&file);
            outcome
        };
        let mut poller = FilePoller {
            location,
            deliver: Box::new(callback),
            stopped,
            reported: None,
            delivered: None,
        };
        let written = poller.read_written().unwrap().unwrap();
        poller.deliver_text(written).unwrap();
        let events = events.lock().unwrap().clone();
        (events, fs::read_to_string(path).unwrap())
    }

    #[test]
    fn only_delivered_text_is_removed() {
        let append = |path: &Path| {
            let mut file = File::options().append(true).open(path).unwrap();
            file.write_all(b"two\n").unwrap();
        };
        let replace = |path: &Path| fs::write(path, "other").unwrap();
        let nothing = |_: &Path| ();
        let left = |outcome, during: fn(&Path)| deliver("one\n", outcome, during).1;
        assert_eq!(left(Some(TriggerOutcome::Delivered), nothing), "");
        assert_eq!(left(Some(TriggerOutcome::Queued), nothing), "");
        assert_eq!(left(Some(TriggerOutcome::Delivered), append), "two\n");
        assert_eq!(left(Some(TriggerOutcome::Delivered), replace), "other");
        assert_eq!(left(Some(TriggerOutcome::Refused), nothing), "one\n");
        assert_eq!(left(None, nothing), "one\n", "the session ended");
    }

    #[test]
    fn blank_text_is_removed_without_delivery() {
        let (events, left) = deliver(" \n\u{7}", None, |_| ());
        assert!(events.is_empty());
        assert_eq!(left, "");
    }

    #[cfg(unix)]
    #[test]
    fn a_linked_directory_outside_of_the_project_is_refused() {
        let project = tempfile::tempdir().unwrap();
        let within = project.path().canonicalize().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::create_dir(within.join("notes")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), within.join("out")).unwrap();
        std::os::unix::fs::symlink("notes", within.join("in")).unwrap();
        let resolve = |path: &str| {
            let location = FileLocation {
                path: within.join(path),
                within: Some(within.clone()),
            };
            location.resolve().map_err(|error| error.to_string())
        };
        assert_eq!(resolve("in/x"), Ok(Some(within.join("notes/x"))));
        assert_eq!(resolve("none/x"), Ok(None));
        assert_eq!(
            resolve("out/x"),
            Err("it is not in this project".to_owned())
        );
        assert_eq!(resolve("../x"), Err("it is not in this project".to_owned()));
    }
}
