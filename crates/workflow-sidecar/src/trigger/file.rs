//! A file that wakes the agent when something stands in it, and is emptied then.
//!
//! It is looked at once a second: that sees what editors do that put another file in its place, and works on file systems
//! that tell of nothing. What stands in the file waits for the agent, also if it was written while nobody watched. Nothing
//! is taken out of the file before it was handed over, and nothing that was not: what is written meanwhile stays.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, SystemTime};

use workflow_core::effect::TriggerOutcome as Heard;

use super::{LONGEST, News, Tell, as_text};

/// How often the file is looked at.
const PAUSE: Duration = Duration::from_secs(1);
/// For how long it must stand still: whoever writes is not interrupted.
const STILL: Duration = Duration::from_millis(200);

/// Where a file is.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    /// The directory, by its real path, that it must not leave.
    pub(super) within: Option<PathBuf>,
}

impl Place {
    /// Where it is now; `None` if there is no such directory.
    fn real(&self) -> io::Result<Option<PathBuf>> {
        let Some(within) = &self.within else {
            return Ok(Some(self.path.clone()));
        };
        let (Some(parent), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return Err(io::Error::other("it is no plain file"));
        };
        let parent = match parent.canonicalize() {
            Ok(parent) => parent,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if !parent.starts_with(within) {
            return Err(io::Error::other("it is not in this project"));
        }
        Ok(Some(parent.join(name)))
    }
}

/// Watches a file until it is dropped.
#[derive(Debug)]
pub(super) struct Watcher {
    _lifeline: Sender<()>,
}

impl Watcher {
    pub(super) fn start(place: Place, tell: Tell) -> Result<Self, String> {
        let (lifeline, end) = channel();
        let shown = place.path.display().to_string();
        let thread = thread::Builder::new().name("trigger".to_owned());
        let mut watched = Watched {
            place,
            tell,
            end,
            told: None,
            handed_over: None,
        };
        let spawned = thread.spawn(move || watched.watch());
        spawned.map_err(|error| format!("{shown:?} cannot be watched: {error}"))?;
        Ok(Self {
            _lifeline: lifeline,
        })
    }
}

struct Watched {
    place: Place,
    tell: Tell,
    end: Receiver<()>,
    /// The problem that was told last.
    told: Option<String>,
    /// What was handed over, and could not be taken out of the file.
    handed_over: Option<Stamp>,
}

/// By what a file that was written to is known.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
}

/// What stands in a file.
struct Found {
    file: File,
    stamp: Stamp,
    /// As much of it as is told.
    bytes: Vec<u8>,
}

/// Nobody watches any more.
struct Over;

impl Watched {
    fn watch(&mut self) {
        while let Ok(()) = self.watch_once() {}
    }

    /// Waits a moment, and tells what stands in the file.
    fn watch_once(&mut self) -> Result<(), Over> {
        self.wait(PAUSE)?;
        let done = match self.look() {
            Ok(None) => {
                self.told = None;
                Ok(())
            }
            Ok(Some(found)) => self.hand_over(found),
            Err(error) => Err(error),
        };
        if let Err(error) = done {
            self.complain(&error);
        }
        Ok(())
    }

    fn wait(&self, time: Duration) -> Result<(), Over> {
        match self.end.recv_timeout(time) {
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Ok(()) | Err(RecvTimeoutError::Disconnected) => Err(Over),
        }
    }

    /// What stands in the file, if it stands still.
    fn look(&self) -> io::Result<Option<Found>> {
        let Some(path) = self.place.real()? else {
            return Ok(None);
        };
        let Some(before) = stamp(&path)? else {
            return Ok(None);
        };
        if self.wait(STILL).is_err() || stamp(&path)?.as_ref() != Some(&before) {
            return Ok(None);
        }
        read(&path)
    }

    /// Tells it, and takes it out of the file if somebody took it. If not, it is still there the next time.
    fn hand_over(&mut self, mut found: Found) -> io::Result<()> {
        if self.handed_over.as_ref() == Some(&found.stamp) {
            return Ok(());
        }
        let text = as_text(&found.bytes, found.stamp.length);
        let is_taken = text.is_empty()
            || matches!(
                (self.tell)(News::Text(text)),
                Some(Heard::Delivered | Heard::Queued)
            );
        if !is_taken {
            return Ok(());
        }
        let taken_out = found.take_out();
        self.handed_over = taken_out.is_err().then_some(found.stamp);
        taken_out
    }

    fn complain(&mut self, error: &io::Error) {
        let problem = format!(
            "The trigger {:?} cannot be read and emptied: {error}.",
            self.place.path.display()
        );
        if self.told.as_ref() != Some(&problem) {
            (self.tell)(News::Problem(problem.clone()));
            self.told = Some(problem);
        }
    }
}

impl Found {
    /// Takes out of the file what was handed over. What has been added stays, and so does what stands there instead.
    fn take_out(&mut self) -> io::Result<()> {
        let now = Stamp::of(&self.file.metadata()?);
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

    /// Moves what stands behind what was handed over to the beginning.
    fn shift(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; LONGEST];
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

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            length: metadata.len(),
            modified: metadata.modified().ok(),
        }
    }
}

/// By what the file is known now; `None` if it is not there, or empty.
fn stamp(path: &Path) -> io::Result<Option<Stamp>> {
    match path.symlink_metadata() {
        Ok(metadata) => {
            check(&metadata)?;
            Ok(Some(Stamp::of(&metadata)).filter(|stamp| stamp.length > 0))
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

/// Reads the file; `None` if somebody writes meanwhile.
fn read(path: &Path) -> io::Result<Option<Found>> {
    let mut file = open(path)?;
    let metadata = file.metadata()?;
    check(&metadata)?;
    let stamp = Stamp::of(&metadata);
    let mut bytes = Vec::new();
    (&mut file).take(LONGEST as u64).read_to_end(&mut bytes)?;
    let is_still = Stamp::of(&file.metadata()?) == stamp;
    Ok(is_still.then_some(Found { file, stamp, bytes }))
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::sync::{Arc, Mutex};

    /// A trigger's file that was looked at, and what somebody answers who is told of it.
    fn hand_over(
        text: &str,
        heard: Option<Heard>,
        meanwhile: impl Fn(&Path) + Send + Sync + 'static,
    ) -> (Vec<News>, String) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trigger.txt");
        fs::write(&path, text).unwrap();
        let news = Arc::new(Mutex::new(Vec::new()));
        let (heard_of, written) = (Arc::clone(&news), path.clone());
        let (_lifeline, end) = channel();
        let mut watched = Watched {
            place: Place {
                path: path.clone(),
                within: None,
            },
            tell: Box::new(move |news| {
                heard_of.lock().unwrap().push(news);
                meanwhile(&written);
                heard
            }),
            end,
            told: None,
            handed_over: None,
        };
        let found = watched.look().unwrap().unwrap();
        watched.hand_over(found).unwrap();
        let news = news.lock().unwrap().clone();
        (news, fs::read_to_string(path).unwrap())
    }

    #[test]
    fn only_what_was_handed_over_is_taken_out() {
        let append = |path: &Path| {
            let mut file = File::options().append(true).open(path).unwrap();
            file.write_all(b"two\n").unwrap();
        };
        let replace = |path: &Path| fs::write(path, "other").unwrap();
        let nothing = |_: &Path| ();
        let left = |heard, meanwhile: fn(&Path)| hand_over("one\n", heard, meanwhile).1;
        assert_eq!(left(Some(Heard::Delivered), nothing), "");
        assert_eq!(left(Some(Heard::Queued), nothing), "");
        assert_eq!(left(Some(Heard::Delivered), append), "two\n");
        assert_eq!(left(Some(Heard::Delivered), replace), "other");
        assert_eq!(left(Some(Heard::Refused), nothing), "one\n");
        assert_eq!(left(None, nothing), "one\n", "the session ended");
    }

    #[test]
    fn what_is_nothing_is_taken_out_unsaid() {
        let (news, left) = hand_over(" \n\u{7}", None, |_| ());
        assert!(news.is_empty());
        assert_eq!(left, "");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_on_the_way_does_not_lead_out_of_the_project() {
        let project = tempfile::tempdir().unwrap();
        let within = project.path().canonicalize().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::create_dir(within.join("notes")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), within.join("out")).unwrap();
        std::os::unix::fs::symlink("notes", within.join("in")).unwrap();
        let real = |path: &str| {
            let place = Place {
                path: within.join(path),
                within: Some(within.clone()),
            };
            place.real().map_err(|error| error.to_string())
        };
        assert_eq!(real("in/x"), Ok(Some(within.join("notes/x"))));
        assert_eq!(real("none/x"), Ok(None));
        assert_eq!(real("out/x"), Err("it is not in this project".to_owned()));
        assert_eq!(real("../x"), Err("it is not in this project".to_owned()));
    }
}
