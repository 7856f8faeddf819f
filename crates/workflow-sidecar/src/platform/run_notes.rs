//! The thread that talks to the store while no answer waits for it: it notes runs for the index, and looks for the answers of
//! approvers.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};

use parking_lot::Mutex;

use super::stored_answers::{self, StoredAnswers};
use crate::store::{RunNote, of_agent_dir};

/// The thread that writes, started with the first note.
#[derive(Debug, Default)]
pub(super) struct RunNotes(Mutex<Option<(Sender<Note>, JoinHandle<()>)>>);

type Note = (PathBuf, RunNote);

impl RunNotes {
    /// Has a note written. `answers` are looked for from the first note on.
    pub(super) fn write(&self, agent_dir: &Path, note: RunNote, answers: StoredAnswers) {
        let mut writer = self.0.lock();
        if writer.is_none() {
            let (sender, notes) = channel();
            let thread = thread::Builder::new()
                .name("run-notes".to_owned())
                .spawn(move || work(&notes, &answers));
            match thread {
                Ok(thread) => *writer = Some((sender, thread)),
                Err(error) => tracing::warn!("runs are not listed: {error}"),
            }
        }
        if let Some((sender, _)) = &*writer {
            // The thread ends only with the sender.
            let _ = sender.send((agent_dir.to_path_buf(), note));
        }
    }

    /// Waits until all notes are written.
    pub(super) fn finish(&self) {
        let writer = self.0.lock().take();
        if let Some((sender, thread)) = writer {
            drop(sender);
            // A panic was logged by the thread itself.
            let _ = thread.join();
        }
    }
}

fn work(notes: &Receiver<Note>, answers: &StoredAnswers) {
    let mut known: Option<PathBuf> = None;
    loop {
        let waits = known.as_ref().filter(|known| answers.may_come(known));
        let first = match waits {
            None => notes.recv().map_err(RecvTimeoutError::from),
            Some(_) => notes.recv_timeout(stored_answers::INTERVAL),
        };
        match (first, waits) {
            (Ok(first), _) => {
                known = Some(first.0.clone());
                write_all(first, notes);
            }
            (Err(RecvTimeoutError::Timeout), Some(agent_dir)) => answers.look(agent_dir),
            (Err(_), _) => return,
        }
    }
}

/// Writes a note and those that have come meanwhile.
fn write_all(first: Note, notes: &Receiver<Note>) {
    let mut waiting = vec![first];
    waiting.extend(notes.try_iter());
    for (at, (agent_dir, note)) in waiting.iter().enumerate() {
        // Only the last note of a run counts.
        let is_outdated = waiting[at + 1..]
            .iter()
            .any(|(_, later)| later.run.task_id == note.run.task_id && later.host == note.host);
        if is_outdated {
            continue;
        }
        let written = of_agent_dir(agent_dir).and_then(|store| store.note_run(note));
        if let Err(error) = written {
            tracing::warn!("a run is not listed: {error}");
        }
    }
}
