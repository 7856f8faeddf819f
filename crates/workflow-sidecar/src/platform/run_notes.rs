//! The thread that talks to the store while no answer waits for it: it notes runs for the index, and looks for answers.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::answers::open_requests::OpenRequests;
use crate::store::{RunNote, of_agent_dir};

/// The thread that writes, started with the first note.
#[derive(Debug, Default)]
pub(super) struct RunNotes {
    writer: Mutex<Option<JoinHandle<()>>>,
    queue: Arc<Queue>,
}

/// The notes that are not written yet.
#[derive(Debug, Default)]
struct Queue {
    pending: Mutex<Pending>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Pending {
    /// Only the last note of a run counts, so a store that is slow does not fill the memory.
    notes: Notes,
    is_closed: bool,
}

type Notes = HashMap<NotedRun, RunNote>;

/// A run in the store of an agent directory.
#[derive(Debug, PartialEq, Eq, Hash)]
struct NotedRun {
    agent_dir: PathBuf,
    host: String,
    task_id: String,
}

impl RunNotes {
    /// Has a note written. `answers` are looked for from the first note on.
    pub(super) fn write(&self, agent_dir: &Path, note: RunNote, answers: Arc<OpenRequests>) {
        self.queue.push(agent_dir, note);
        let mut writer = self.writer.lock();
        if writer.is_none() {
            let queue = Arc::clone(&self.queue);
            let thread = thread::Builder::new().name("run-notes".to_owned());
            match thread.spawn(move || work(&queue, &answers)) {
                Ok(thread) => *writer = Some(thread),
                Err(error) => tracing::warn!("runs are not listed: {error}"),
            }
        }
    }

    /// Waits until all notes are written.
    pub(super) fn finish(&self) {
        self.queue.close();
        let writer = self.writer.lock().take();
        if let Some(thread) = writer {
            // A panic was logged by the thread itself.
            let _ = thread.join();
        }
    }
}

impl Queue {
    fn push(&self, agent_dir: &Path, mut note: RunNote) {
        let run = NotedRun {
            agent_dir: agent_dir.to_path_buf(),
            host: note.host.clone(),
            task_id: note.run.task_id.clone(),
        };
        let mut pending = self.pending.lock();
        if let Some(before) = pending
            .notes
            .get(&run)
            .filter(|_| note.run.phase.is_empty())
        {
            // The store would have kept the phase of the note that this one replaces.
            note.run.phase.clone_from(&before.run.phase);
        }
        pending.notes.insert(run, note);
        drop(pending);
        self.changed.notify_one();
    }

    fn close(&self) {
        self.pending.lock().is_closed = true;
        self.changed.notify_one();
    }

    /// Waits for notes, for ever or for this time: then there are none. `None` once the queue is closed and empty.
    fn take(&self, at_most: Option<Duration>) -> Option<Notes> {
        let mut pending = self.pending.lock();
        let is_idle = |pending: &mut Pending| pending.notes.is_empty() && !pending.is_closed;
        match at_most {
            None => self.changed.wait_while(&mut pending, is_idle),
            Some(time) => {
                self.changed.wait_while_for(&mut pending, is_idle, time);
            }
        }
        let notes = std::mem::take(&mut pending.notes);
        (!notes.is_empty() || !pending.is_closed).then_some(notes)
    }
}

fn work(queue: &Queue, answers: &OpenRequests) {
    let mut known: Option<PathBuf> = None;
    loop {
        let interval = known.as_ref().and_then(|known| answers.interval(known));
        let Some(notes) = queue.take(interval) else {
            return;
        };
        if let (Some(agent_dir), true) = (&known, notes.is_empty()) {
            answers.look(agent_dir);
        }
        for (run, note) in notes {
            let written = of_agent_dir(&run.agent_dir).and_then(|store| store.note_run(&note));
            if let Err(error) = written {
                tracing::warn!("a run is not listed: {error}");
            }
            known = Some(run.agent_dir);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Run;

    fn note(task_id: &str, phase: &str) -> RunNote {
        RunNote {
            host: "pi".to_owned(),
            run: Run {
                task_id: task_id.to_owned(),
                workflow: "w".to_owned(),
                phase: phase.to_owned(),
                task: String::new(),
                status: String::new(),
                state: "active".to_owned(),
                waiting: String::new(),
                is_active: true,
            },
            cwd: PathBuf::new(),
            file: None,
            now: 0,
        }
    }

    #[test]
    fn only_the_last_note_of_a_run_waits() {
        let queue = Queue::default();
        for number in 0..1000 {
            queue.push(Path::new("/a"), note("wf-1", &number.to_string()));
        }
        queue.push(Path::new("/a"), note("wf-2", "x"));
        let notes = queue.take(None).unwrap();
        let mut phases: Vec<&str> = notes.values().map(|note| &*note.run.phase).collect();
        phases.sort_unstable();
        assert_eq!(phases, ["999", "x"]);
    }

    #[test]
    fn notes_that_wait_are_taken_before_the_end() {
        let queue = Queue::default();
        assert!(queue.take(Some(Duration::ZERO)).unwrap().is_empty());
        queue.push(Path::new("/a"), note("wf-1", "x"));
        queue.close();
        assert_eq!(queue.take(None).unwrap().len(), 1);
        assert!(queue.take(None).is_none());
    }
}
