//! Checkpoints of the code, and the restore in progress (pi-hooks: "Git Checkpointing").
//!
//! Knows which checkpoint belongs to a point of the conversation. The platform records and restores. Every checkpoint is
//! an entry of the session, so that it is on the branch it belongs to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ids::Ids;
use crate::effect::{BranchMutation, Effect, Effects, Mark, Question, Reply};
use crate::event::{Answer, Entry, RestoreOutcome, RestoredFiles, SnapshotError};
use crate::run::entry_type;
use crate::types::{Millis, RequestId, RestoreId, Severity, Snapshot};

/// The version of [`StoredCheckpoint`] that this code writes and reads.
const VERSION: u32 = 1;
/// Checkpoints of a session that are remembered.
const REMEMBERED: usize = 1000;
/// The time that the host waits for git before the conversation goes back.
const TIMEOUT: Millis = 3_000;

const YES: &str = "Yes, restore code to that point";
const NO: &str = "No, keep current code";
const CODE_ONLY: &str = "Yes, restore only the code and keep the conversation";

/// A checkpoint, as an entry of the session.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredCheckpoint {
    /// The version of this entry's shape.
    pub version: u32,
    /// Its number on the branch, from 1.
    pub number: u64,
    /// The turn that began, as the host counts it.
    pub turn_index: Option<u64>,
    /// The recorded state.
    #[serde(flatten)]
    pub snapshot: Snapshot,
    /// When, in milliseconds since 1970.
    pub at: Millis,
    /// The run that was active.
    pub task_id: Option<String>,
}

/// The checkpoints of a session's branch.
#[derive(Debug, Clone, Default)]
pub(crate) struct Checkpoints {
    recorded: Vec<StoredCheckpoint>,
    /// Those of the current prompt by their turn: a host counts turns anew with each prompt.
    of_prompt: BTreeMap<u64, Snapshot>,
    /// The turn of the checkpoint that is being recorded.
    turn: Option<u64>,
    /// The problem that was reported last.
    reported: Option<SnapshotError>,
    restore: Option<RestoreInProgress>,
}

/// A restore of the code.
#[derive(Debug, Clone)]
struct RestoreInProgress {
    id: RestoreId,
    /// The request that waits for it, and until when.
    waiting: Option<(RequestId, Millis)>,
    /// True if the person wants the code back, and not the conversation.
    only_code: bool,
    in_widget: bool,
}

impl Checkpoints {
    /// Adopts the checkpoints of a branch. A host may send the newest one only.
    pub(crate) fn adopt(&mut self, entries: &[Entry<'_>]) {
        let sent = stored(entries);
        let last = sent.last();
        match self.recorded.iter().position(|known| Some(known) == last) {
            Some(known) if known + 1 > sent.len() => self.recorded.truncate(known + 1),
            Some(_) | None => self.recorded = sent,
        }
        self.drop_oldest();
        self.turn = None;
        self.end_prompt();
    }

    /// Forgets the turns of a prompt that is over: the next prompt's have the same numbers.
    pub(crate) fn end_prompt(&mut self) {
        self.of_prompt.clear();
    }

    /// The time at which the host is answered even if the restore is still running.
    pub(crate) fn deadline(&self) -> Option<Millis> {
        let (_, until) = self.restore.as_ref()?.waiting?;
        Some(until)
    }

    /// Records a checkpoint for a turn.
    pub(crate) fn record(&mut self, turn: Option<u64>, project_trusted: bool, out: &mut Effects) {
        // Git runs commands that the repository's configuration names for its files.
        let problem = if !project_trusted {
            "the project is not trusted"
        } else if self.restore.is_some() {
            "the code is being restored"
        } else {
            self.turn = turn;
            return out.perform(Effect::RecordCheckpoint);
        };
        self.on_failed(SnapshotError::Failed(problem.to_owned()), out);
    }

    /// Stores a recorded checkpoint in the session.
    pub(crate) fn on_recorded(
        &mut self,
        snapshot: Snapshot,
        task_id: Option<String>,
        out: &mut Effects,
    ) {
        let last = self.recorded.last();
        let stored = StoredCheckpoint {
            version: VERSION,
            number: last.map_or(1, |last| last.number.saturating_add(1)),
            turn_index: self.turn.take(),
            snapshot,
            at: out.now(),
            task_id,
        };
        out.append_entry(entry_type::CHECKPOINT, &stored);
        self.reported = None;
        if let Some(turn) = stored.turn_index {
            self.of_prompt.insert(turn, stored.snapshot.clone());
        }
        if self.of_prompt.len() > REMEMBERED {
            self.of_prompt.pop_first();
        }
        self.recorded.push(stored);
        self.drop_oldest();
    }

    /// Reports that no checkpoint was recorded, once and not at every turn.
    pub(crate) fn on_failed(&mut self, error: SnapshotError, out: &mut Effects) {
        if self.reported.as_ref() == Some(&error) {
            return;
        }
        let why = match &error {
            SnapshotError::NoRepository => "this directory has no git repository with a commit",
            SnapshotError::Failed(why) => why,
        };
        out.warn(format!(
            "[workflow] No checkpoint of the code is recorded: {why}."
        ));
        self.reported = Some(error);
    }

    /// The code at the point that the conversation goes back to, if it can be restored.
    pub(crate) fn to_restore(
        &self,
        turn: Option<u64>,
        entries: Option<&[Entry<'_>]>,
        out: &mut Effects,
    ) -> Option<Snapshot> {
        if self.restore.is_some() {
            let message = "[workflow] The code is still being restored. It cannot be restored to another point at the same time.";
            out.warn(message);
            return None;
        }
        match (entries, turn) {
            (Some(entries), _) => self.after(stored(entries).last()),
            (None, Some(turn)) => self.of_prompt.get(&turn).cloned(),
            (None, None) => None,
        }
    }

    /// Restores the code if the person agreed.
    pub(crate) fn on_answer(
        &mut self,
        request: RequestId,
        snapshot: Snapshot,
        answer: Answer<'_>,
        project_trusted: bool,
        ids: &mut Ids,
        out: &mut Effects,
    ) {
        let only_code = answer == Answer::Chosen(CODE_ONLY);
        let restores = only_code || answer == Answer::Chosen(YES);
        if !restores || !project_trusted {
            return proceed(request, only_code, out.mark(), out);
        }
        let restore = RestoreId(ids.job());
        self.restore = Some(RestoreInProgress {
            id: restore,
            waiting: Some((request, out.now().saturating_add(TIMEOUT))),
            only_code,
            in_widget: false,
        });
        out.perform(Effect::RestoreCode { restore, snapshot });
    }

    /// Shows the progress of the restore.
    pub(crate) fn on_progress(
        &mut self,
        id: RestoreId,
        text: &str,
        shows_widgets: bool,
        out: &mut Effects,
    ) {
        let restore = self.restore.as_mut();
        if let Some(restore) = restore.filter(|restore| restore.id == id && shows_widgets) {
            restore.in_widget = true;
            out.show_widget(format!("⏳ {text}"));
        }
    }

    /// Answers the host's request, because git takes too long.
    pub(crate) fn poll_deadline(&mut self, out: &mut Effects) {
        let now = out.now();
        let Some(restore) = &mut self.restore else {
            return;
        };
        let waiting = restore.waiting.take_if(|(_, until)| *until <= now);
        if let Some((request, _)) = waiting {
            let message = "[workflow] The code is still being restored. Wait before you change it: a message follows when it is done.";
            let since = out.mark();
            out.warn(message);
            proceed(request, restore.only_code, since, out);
        }
    }

    /// Answers the host's request, because the session moves. The restore itself continues.
    pub(crate) fn detach_restore(&mut self, out: &mut Effects) {
        let Some(restore) = &mut self.restore else {
            return;
        };
        if let Some((request, _)) = restore.waiting.take() {
            proceed(request, restore.only_code, out.mark(), out);
        }
        if std::mem::take(&mut restore.in_widget) {
            out.clear_widget();
        }
    }

    /// Reports the result of a restore, also if the session has moved on since: the files are what they are.
    pub(crate) fn on_restored(
        &mut self,
        id: RestoreId,
        outcome: &RestoreOutcome,
        out: &mut Effects,
    ) {
        let (severity, message) = describe(outcome);
        let restore = self.restore.take_if(|restore| restore.id == id);
        if restore.as_ref().is_some_and(|restore| restore.in_widget) {
            out.clear_widget();
        }
        let since = out.mark();
        out.notify(severity, message);
        if let Some(restore) = restore
            && let Some((request, _)) = restore.waiting
        {
            proceed(request, restore.only_code, since, out);
        }
    }

    fn drop_oldest(&mut self) {
        let surplus = self.recorded.len().saturating_sub(REMEMBERED);
        self.recorded.drain(..surplus);
    }

    /// The code at the checkpoint after the last one of a branch: it was recorded at the point where the branch ends. Without
    /// it, the last one itself is the nearest. `None` if the branch ends at the newest one.
    fn after(&self, last: Option<&StoredCheckpoint>) -> Option<Snapshot> {
        let numbered = |number: u64| self.recorded.iter().find(|known| known.number == number);
        let found = match last {
            None => numbered(1),
            Some(last) if self.recorded.last() == Some(last) => None,
            Some(last) if numbered(last.number) == Some(last) => {
                last.number.checked_add(1).and_then(numbered)
            }
            Some(last) => Some(last),
        };
        found.map(|found| found.snapshot.clone())
    }
}

/// The checkpoints among entries, without those that cannot be read.
fn stored(entries: &[Entry<'_>]) -> Vec<StoredCheckpoint> {
    let ours = entries.iter();
    let ours = ours.filter(|entry| entry.custom_type == entry_type::CHECKPOINT);
    let read = ours.filter_map(|entry| serde_json::from_str(entry.data?.get()).ok());
    read.filter(|stored: &StoredCheckpoint| stored.version <= VERSION)
        .collect()
}

/// The question whether to restore the code.
pub(crate) fn question() -> Question {
    Question {
        options: [YES, NO, CODE_ONLY].map(str::to_owned).to_vec(),
        ..Question::new("Restore code state?", String::new())
    }
}

/// Answers a host that waits before the conversation goes back.
pub(crate) fn proceed(request: RequestId, only_code: bool, since: Mark, out: &mut Effects) {
    let answer = BranchMutation {
        skip_conversation_restore: only_code,
    };
    out.answer(request, Reply::Branch(answer), Some(since));
}

/// The result of a restore, as a person reads it.
fn describe(outcome: &RestoreOutcome) -> (Severity, String) {
    use RestoredFiles::{NothingToRestore, Restored, Unchanged};
    let RestoreOutcome {
        files,
        stashed,
        has_commits_since,
        problem,
    } = outcome;
    let mut text = match (problem, files) {
        (Some(problem), _) => format!("The code could not be restored: {problem}."),
        (None, Unchanged) => "The code is the same as at the checkpoint. Nothing was changed.".to_owned(),
        (None, NothingToRestore) => "Nothing was restored: there were no uncommitted changes at the checkpoint, and there are none now.".to_owned(),
        (None, Restored) if *has_commits_since => "The uncommitted changes of the checkpoint are restored.".to_owned(),
        (None, Restored) => "Code restored to checkpoint.".to_owned(),
    };
    if let Some(commit) = stashed {
        let short = commit.get(..12).unwrap_or(commit);
        text = format!(
            "{text} Later changes are in the stash: `git stash list` shows them, `git stash apply {short}` restores them."
        );
    }
    if *has_commits_since {
        text.push_str(" Later commits stay.");
    }
    let severity = match (problem, files) {
        (Some(_), _) => Severity::Error,
        (None, NothingToRestore) => Severity::Warning,
        (None, Unchanged | Restored) => Severity::Info,
    };
    (severity, text)
}
