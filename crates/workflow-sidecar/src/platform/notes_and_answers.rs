//! The thread that talks to the store while no answer waits for it: it notes runs for the index, and looks for answers and orders.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Instant;
use std::{iter, mem};

use parking_lot::Mutex;

use super::answers::notify::Notice;
use super::answers::open_requests::OpenRequests;
use super::open_sessions::OpenSessions;
use crate::store::{Counts, RunNote, of_agent_dir};
use crate::threads::spawn;

/// The thread that writes, started with the first note, and what it is sent.
#[derive(Debug, Default)]
pub(super) struct NotesAndAnswers(Mutex<Option<(Sender<Note>, JoinHandle<()>)>>);

/// The agent directory of a store, and what is noted there.
type Note = (PathBuf, RunNote);

impl NotesAndAnswers {
    /// Has a note of a session written. `answers` are looked for from the first note on, and reported to their sessions.
    pub(super) fn write(
        &self,
        (agent_dir, session): (&Path, &str),
        note: RunNote,
        answers: &Arc<OpenRequests>,
        sessions: &OpenSessions,
    ) {
        if let Some(run) = &note.run {
            answers.note(session, run);
        }
        let mut writer = self.0.lock();
        if writer.is_none() {
            let (sender, notes) = channel();
            let (answers, sessions) = (Arc::clone(answers), sessions.clone());
            match spawn("notes-answers", move || work(&notes, &answers, &sessions)) {
                Ok(thread) => *writer = Some((sender, thread)),
                Err(error) => tracing::warn!("runs are not listed: {error}"),
            }
        }
        if let Some((sender, _)) = &*writer {
            // A thread that panicked has logged that.
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

/// Writes notes until there is no sender any more.
fn work(notes: &Receiver<Note>, answers: &OpenRequests, sessions: &OpenSessions) {
    let mut known: Option<PathBuf> = None;
    // What was counted in notes that could not be written. All are of one host.
    let mut left = Counts::default();
    let mut looked = Instant::now();
    loop {
        let interval = known.as_ref().and_then(|known| answers.interval(known));
        let first = match interval {
            None => notes.recv().map_err(RecvTimeoutError::from),
            Some(time) => notes.recv_timeout(time.saturating_sub(looked.elapsed())),
        };
        match first {
            Ok(first) => {
                let notes = latest(iter::once(first).chain(notes.try_iter()));
                for ((agent_dir, ..), mut note) in notes {
                    let store = of_agent_dir(&agent_dir);
                    note.counts.merge(mem::take(&mut left));
                    let result = store.and_then(|store| {
                        let notice = note
                            .run
                            .as_ref()
                            .and_then(|run| Notice::of_change(&agent_dir, &store, run, &note.cwd));
                        let result = store.note_run(&note);
                        if let Some(notice) = notice {
                            notice.tell(&agent_dir);
                        }
                        result
                    });
                    if let Err(error) = result {
                        tracing::warn!("a run is not listed: {error}");
                        left = note.counts;
                    }
                    known = Some(agent_dir);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        // Also between notes, of which an agent may cause many.
        if let (Some(agent_dir), Some(time)) = (&known, interval)
            && looked.elapsed() >= time
        {
            answers.look(agent_dir, sessions);
            looked = Instant::now();
        }
    }
}

/// Returns the last note of each run, with what was counted in all of them: else the others do not count any more.
fn latest(
    notes: impl Iterator<Item = Note>,
) -> HashMap<(PathBuf, String, Option<String>), RunNote> {
    let mut latest: HashMap<_, RunNote> = HashMap::new();
    for (agent_dir, mut note) in notes {
        let task_id = note.run.as_ref().map(|run| run.task_id.clone());
        let of = (agent_dir, note.host.clone(), task_id);
        if let Some(before) = latest.remove(&of) {
            if let (Some(run), Some(before)) = (&mut note.run, before.run)
                && run.phase.is_empty()
            {
                // The store would have kept the phase of the note that this one replaces.
                run.phase = before.phase;
            }
            note.counts.merge(before.counts);
        }
        latest.insert(of, note);
    }
    latest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Run, RunQuery};

    fn note(task_id: &str, phase: &str) -> RunNote {
        RunNote {
            host: "pi".to_owned(),
            run: Some(Run {
                task_id: task_id.to_owned(),
                workflow: "w".to_owned(),
                phase: phase.to_owned(),
                task: String::new(),
                status: String::new(),
                state: "active".to_owned(),
                waiting: String::new(),
                is_active: true,
            }),
            memory: String::new(),
            cwd: PathBuf::new(),
            file: None,
            counts: Counts::default(),
            now: 0,
        }
    }

    #[test]
    fn only_the_last_note_of_a_run_is_written() {
        let notes = (0..1000).map(|number| {
            let mut note = note("wf-1", &number.to_string());
            note.counts.add(["w", "phase", "x"], 1, number);
            note
        });
        let notes = notes.chain([note("wf-2", "x"), note("wf-2", "")]);
        let latest = latest(notes.map(|note| (PathBuf::from("/a"), note)));
        let runs = latest.values().flat_map(|note| &note.run);
        let mut phases: Vec<&str> = runs.map(|run| &*run.phase).collect();
        phases.sort_unstable();
        assert_eq!(phases, ["999", "x"]);
        let mut all = Counts::default();
        all.add(["w", "phase", "x"], 1000, 999 * 500);
        assert!(latest.values().any(|note| note.counts == all));
    }

    #[test]
    fn notes_that_wait_are_written_before_the_end() {
        let agent = tempfile::tempdir().unwrap();
        let notes = NotesAndAnswers::default();
        let (answers, sessions) = (Arc::default(), OpenSessions::default());
        notes.write((agent.path(), "s"), note("wf-1", "x"), &answers, &sessions);
        notes.finish();
        let store = of_agent_dir(agent.path()).unwrap();
        assert_eq!(store.runs(&RunQuery::default()).unwrap().len(), 1);
    }
}
