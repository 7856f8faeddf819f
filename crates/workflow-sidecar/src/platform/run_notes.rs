//! Notes of runs for the index in the store, written on a thread of their own: no answer waits for them.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::store::{RunNote, of_agent_dir};

/// The thread that writes, started with the first note.
#[derive(Debug, Default)]
pub(super) struct RunNotes(Mutex<Option<(Sender<Note>, JoinHandle<()>)>>);

type Note = (PathBuf, RunNote);

impl RunNotes {
    /// Has a note written.
    pub(super) fn write(&self, agent_dir: &Path, note: RunNote) {
        let mut writer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if writer.is_none() {
            let (sender, notes) = channel();
            let thread = thread::Builder::new()
                .name("run-notes".to_owned())
                .spawn(move || write_all(&notes));
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
        let writer = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((sender, thread)) = writer {
            drop(sender);
            // A panic was logged by the thread itself.
            let _ = thread.join();
        }
    }
}

fn write_all(notes: &Receiver<Note>) {
    while let Ok(first) = notes.recv() {
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
}
