//! `checkpoint`: what is kept of the code at the start of each turn, and the way back to it (pi-hooks: "Git Checkpointing").
//!
//! Owns which checkpoint belongs to a point of the conversation, and the question whether to go back to it. What is
//! kept, and how, the process knows. Every checkpoint is an entry of the session, so that it goes where the session goes.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::Session;
use crate::definition::Checkpoint;
use crate::effect::{Action, DeferredReply, Effect, Effects, Question, Reply};
use crate::event::{Answer, Entry, RestoreOutcome, RestoredFiles, SnapshotError};
use crate::run::entry_type;
use crate::session::{Waiting, notify};
use crate::types::{Millis, RequestId, RestoreId, Severity, Snapshot};

/// The version of [`StoredCheckpoint`] that this code writes and reads.
const VERSION: u32 = 1;
/// How many are remembered of one session.
const REMEMBERED: usize = 1000;
/// How long the host waits for git before it goes back.
const PATIENCE: Millis = 3_000;

const YES: &str = "Yes, restore code to that point";
const NO: &str = "No, keep current code";

/// What was kept of the code, as an entry of the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredCheckpoint {
    /// The version of this entry's shape.
    pub version: u32,
    /// Which checkpoint of the branch it is, from 1.
    pub number: u64,
    /// The turn that began, as the host counts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_index: Option<u64>,
    /// What was kept.
    #[serde(flatten)]
    pub snapshot: Snapshot,
    /// When, in milliseconds since 1970.
    pub at: Millis,
    /// The run that was active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
}

/// The checkpoints of a session's branch, and what was said about them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Checkpoints {
    kept: Vec<StoredCheckpoint>,
    /// The turn that a checkpoint is being made for.
    turn: Option<u64>,
    /// The problem that was told last.
    told: Option<SnapshotError>,
    /// The way back that is being gone.
    going_back: Option<GoingBack>,
}

/// The code is being brought back.
#[derive(Debug, Clone)]
struct GoingBack {
    id: RestoreId,
    /// The request that waits for it, and for how long.
    asked: Option<(RequestId, Millis)>,
    in_widget: bool,
}

/// The question whether to go back.
#[derive(Debug, Clone)]
pub(crate) struct PendingRestore {
    pub(crate) request: RequestId,
    snapshot: Snapshot,
}

impl Checkpoints {
    /// Takes over those of a branch. A host may ship the newest one only.
    pub(crate) fn adopt(&mut self, entries: &[Entry<'_>]) {
        let mut shipped = stored(entries);
        if let Some(last) = shipped.last()
            && let Some(known) = self.kept.iter().position(|kept| kept == last)
            && known + 1 > shipped.len()
        {
            self.kept.truncate(known + 1);
        } else {
            self.kept = std::mem::take(&mut shipped);
        }
        self.forget_old();
        self.turn = None;
    }

    /// When a host that waits for git is answered all the same.
    pub(crate) fn deadline(&self) -> Option<Millis> {
        let (_, until) = self.going_back.as_ref()?.asked?;
        Some(until)
    }

    fn forget_old(&mut self) {
        let surplus = self.kept.len().saturating_sub(REMEMBERED);
        self.kept.drain(..surplus);
    }

    /// The one of a point that the conversation goes back to; `None` if it does not go back past any.
    fn of_point(&self, turn: Option<u64>, branch: Option<&[Entry<'_>]>) -> Option<Snapshot> {
        let found = if let Some(entries) = branch {
            self.of_branch(stored(entries).pop())
        } else {
            let is_meant = |kept: &&StoredCheckpoint| turn.is_some() && kept.turn_index == turn;
            self.kept.iter().rev().find(is_meant).cloned()
        };
        found.map(|found| found.snapshot)
    }

    /// The first one made after a point is how the code stood there; without it, the last one before is as near as it gets.
    fn of_branch(&self, last: Option<StoredCheckpoint>) -> Option<StoredCheckpoint> {
        let numbered = |number: u64| self.kept.iter().find(|kept| kept.number == number);
        let Some(last) = last else {
            return numbered(1).cloned();
        };
        if self.kept.last() == Some(&last) {
            return None;
        }
        match numbered(last.number) {
            Some(same) if *same == last => numbered(last.number + 1).cloned(),
            Some(_) | None => Some(last),
        }
    }
}

/// The checkpoints among entries; one that cannot be read is none.
fn stored(entries: &[Entry<'_>]) -> Vec<StoredCheckpoint> {
    let ours = entries
        .iter()
        .filter(|entry| entry.custom_type == entry_type::CHECKPOINT);
    let read =
        ours.filter_map(|entry| serde_json::from_str::<StoredCheckpoint>(entry.data?.get()).ok());
    read.filter(|stored| stored.version <= VERSION).collect()
}

impl Session {
    /// Has the code kept, if anybody said so.
    pub(crate) fn keep_code(&mut self, turn: Option<u64>, out: &mut Effects) {
        let checkpoint = match self.standing() {
            Some((_, standing)) => standing.checkpoint,
            None => self.settings.checkpoint,
        };
        if checkpoint != Some(Checkpoint::Git) {
            return;
        }
        // Git runs what a repository's configuration says of its files.
        if !self.project_trusted {
            let why = "the project is not trusted".to_owned();
            return self.tell_problem(SnapshotError::Failed(why), out);
        }
        if self.checkpoints.going_back.is_some() {
            let why = "the code is being brought back".to_owned();
            return self.tell_problem(SnapshotError::Failed(why), out);
        }
        self.checkpoints.turn = turn;
        out.perform(Effect::RecordCheckpoint);
    }

    pub(crate) fn code_kept(
        &mut self,
        now: Millis,
        kept: Result<Snapshot, SnapshotError>,
        out: &mut Effects,
    ) {
        match kept {
            Ok(snapshot) => self.note_checkpoint(now, snapshot, out),
            Err(problem) => self.tell_problem(problem, out),
        }
    }

    fn note_checkpoint(&mut self, now: Millis, snapshot: Snapshot, out: &mut Effects) {
        let run = self.run.as_ref().filter(|run| run.state.active);
        let checkpoints = &mut self.checkpoints;
        let stored = StoredCheckpoint {
            version: VERSION,
            number: checkpoints
                .kept
                .last()
                .map_or(1, |last| last.number.saturating_add(1)),
            turn_index: checkpoints.turn.take(),
            snapshot,
            at: now,
            task_id: run.map(|run| run.state.task_id.clone()),
        };
        out.append_entry(entry_type::CHECKPOINT, &stored);
        checkpoints.told = None;
        checkpoints.kept.push(stored);
        checkpoints.forget_old();
    }

    /// The same problem is told once, not at every turn.
    fn tell_problem(&mut self, problem: SnapshotError, out: &mut Effects) {
        if self.checkpoints.told.as_ref() == Some(&problem) {
            return;
        }
        let why = match &problem {
            SnapshotError::NoRepository => "there is no git repository with a commit here",
            SnapshotError::Failed(why) => why,
        };
        let message = format!("[workflow] No checkpoint of the code is kept: {why}.");
        out.notify(Severity::Warning, message);
        self.checkpoints.told = Some(problem);
    }

    /// The conversation goes back: a person is asked whether the code goes as well.
    pub(crate) fn goes_back(
        &mut self,
        request: RequestId,
        turn: Option<u64>,
        branch: Option<&[Entry<'_>]>,
        out: &mut Effects,
    ) {
        self.forget_restore("you were asked again", out);
        if !self.can_ask() || !self.project_trusted {
            return;
        }
        if self.checkpoints.going_back.is_some() {
            let message =
                "[workflow] The code is still being brought back, and goes nowhere else meanwhile.";
            return out.notify(Severity::Warning, message);
        }
        let Some(snapshot) = self.checkpoints.of_point(turn, branch) else {
            return;
        };
        let id = self.next_question();
        out.questions.push(Question {
            id,
            title: "Restore code state?".to_owned(),
            message: String::new(),
            options: vec![YES.to_owned(), NO.to_owned()],
            show: None,
        });
        let restore = PendingRestore { request, snapshot };
        self.waiting.insert(id, Waiting::Restore(restore));
        out.reply = Reply::Later;
    }

    /// The conversation goes on without an answer: one that comes late is about another state of things.
    pub(crate) fn forget_restore(&mut self, why: &str, out: &mut Effects) {
        let asked = |waiting: &Waiting| matches!(waiting, Waiting::Restore(_));
        let ids: Vec<_> = self
            .waiting
            .iter()
            .filter(|(_, waiting)| asked(waiting))
            .map(|(id, _)| *id)
            .collect();
        for id in ids {
            if let Some(Waiting::Restore(restore)) = self.waiting.remove(&id) {
                let message = format!("[workflow] The code stays as it is: {why}.");
                out.deferred
                    .push(went_on(restore.request, Some((Severity::Info, message))));
            }
        }
    }

    pub(crate) fn restore_answered(
        &mut self,
        now: Millis,
        restore: PendingRestore,
        answer: Answer<'_>,
        out: &mut Effects,
    ) {
        let PendingRestore { request, snapshot } = restore;
        if answer != Answer::Chosen(YES) || !self.project_trusted {
            return out.deferred.push(went_on(request, None));
        }
        self.gates += 1;
        let id = RestoreId(self.gates);
        self.checkpoints.going_back = Some(GoingBack {
            id,
            asked: Some((request, now.saturating_add(PATIENCE))),
            in_widget: false,
        });
        out.perform(Effect::RestoreCode {
            restore: id,
            snapshot,
        });
    }

    /// Shows how far the way back is.
    pub(crate) fn restore_goes_on(&mut self, id: RestoreId, text: &str, out: &mut Effects) {
        let shows_widgets = self.shows_widgets();
        let going_back = self.checkpoints.going_back.as_mut();
        if let Some(going_back) = going_back.filter(|going_back| going_back.id == id)
            && shows_widgets
        {
            going_back.in_widget = true;
            let lines = Some(vec![format!("⏳ {text}")]);
            out.actions.push(Action::SetWidget { lines });
        }
    }

    /// The host waits for git no longer.
    pub(crate) fn give_up_waiting_for_code(&mut self, now: Millis, out: &mut Effects) {
        let asked = self.checkpoints.going_back.as_mut();
        let asked =
            asked.and_then(|going_back| going_back.asked.take_if(|(_, until)| *until <= now));
        if let Some((request, _)) = asked {
            let message = "[workflow] The code is still being brought back: wait before you change it. You are told when it is done.";
            let said = (Severity::Warning, message.to_owned());
            out.deferred.push(went_on(request, Some(said)));
        }
    }

    /// The session goes elsewhere: nobody waits for git, which goes on.
    pub(crate) fn leave_restore(&mut self, out: &mut Effects) {
        let Some(going_back) = &mut self.checkpoints.going_back else {
            return;
        };
        if let Some((request, _)) = going_back.asked.take() {
            out.deferred.push(went_on(request, None));
        }
        if std::mem::take(&mut going_back.in_widget) {
            out.actions.push(Action::SetWidget { lines: None });
        }
    }

    /// The code is as it was, or is not.
    ///
    /// Also told where the session has moved on since: the files are what they are.
    pub(crate) fn code_restored(
        &mut self,
        id: RestoreId,
        restored: &RestoreOutcome,
        out: &mut Effects,
    ) {
        let (level, message) = restored.in_words();
        let going_back = &mut self.checkpoints.going_back;
        let going_back = going_back.take_if(|going_back| going_back.id == id);
        if going_back
            .as_ref()
            .is_some_and(|going_back| going_back.in_widget)
        {
            out.actions.push(Action::SetWidget { lines: None });
        }
        match going_back.and_then(|going_back| going_back.asked) {
            Some((request, _)) => out.deferred.push(went_on(request, Some((level, message)))),
            None => out.actions.push(notify(level, message)),
        }
    }
}

impl RestoreOutcome {
    /// What a person is told of it.
    fn in_words(&self) -> (Severity, String) {
        let mut text = match (&self.problem, self.files) {
            (Some(problem), _) => format!("The code could not be restored: {problem}."),
            (None, RestoredFiles::Unchanged) => "The code is as it was at the checkpoint already: nothing was changed.".to_owned(),
            (None, RestoredFiles::NothingToRestore) => "Nothing was restored: there were no uncommitted changes at the checkpoint, and there are none now.".to_owned(),
            (None, RestoredFiles::Restored) if self.has_commits_since => "What was not committed is restored to checkpoint.".to_owned(),
            (None, RestoredFiles::Restored) => "Code restored to checkpoint.".to_owned(),
        };
        if let Some(commit) = &self.stashed {
            let short = commit.get(..12).unwrap_or(commit);
            let _ = write!(
                text,
                " What was changed since is kept: `git stash list` shows it, `git stash apply {short}` brings it back."
            );
        }
        if self.has_commits_since {
            text.push_str(" Commits made since stay.");
        }
        let level = match (&self.problem, self.files) {
            (Some(_), _) => Severity::Error,
            (None, RestoredFiles::NothingToRestore) => Severity::Warning,
            (None, RestoredFiles::Unchanged | RestoredFiles::Restored) => Severity::Info,
        };
        (level, text)
    }
}

/// The answer to a host that waits before it goes back.
pub(crate) fn went_on(request: RequestId, said: Option<(Severity, String)>) -> DeferredReply {
    DeferredReply {
        request,
        reply: Reply::None,
        actions: said
            .map(|(level, message)| notify(level, message))
            .into_iter()
            .collect(),
    }
}
