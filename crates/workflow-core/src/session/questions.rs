//! Open questions to the host: ids, timeouts, late answers.
//!
//! A question carries what is needed to act on its answer, or on its end without one; `answers` does that.

use std::collections::BTreeMap;

use super::Abilities;
use super::call_guard::PendingCall;
use super::commands::{PendingDoor, PendingStart};
use super::controls::PendingMove;
use crate::definition::{RunCheck, Trigger};
use crate::effect::{Effects, Question};
use crate::run::RunState;
use crate::types::{Millis, QuestionId, RequestId, Snapshot};

/// The time that a person has to answer, unless the settings have another.
const TIMEOUT: Millis = 30 * 60 * 1000;
/// The reason why an answer is no longer expected.
pub(crate) const TIMED_OUT: &str = "there was no answer in time";
/// The reason where the user was asked after the answer, and refused.
pub(crate) const DISAGREED: &str = "the user did not agree";
/// The same where nobody answered.
const DISMISSED: &str = "nobody answered the dialog, and the request stays open";

/// An answer that waits for a user who was asked after it, once nobody has answered.
pub fn dismissed(text: &str) -> String {
    text.replace(DISAGREED, DISMISSED)
}

/// Questions of a session that may be open at once.
const MAX_OPEN: usize = 64;
const TOO_MANY: &str = "64 questions are already waiting for an answer";
/// Questions that are remembered, so that a late answer is recognized.
const REMEMBERED: usize = 64;

/// The questions that were sent to the host and not answered.
#[derive(Debug, Clone)]
pub(crate) struct QuestionTable {
    abilities: Abilities,
    /// The time that a person has to answer; `None` is without end.
    timeout: Option<Millis>,
    last: u64,
    asked: BTreeMap<QuestionId, AskedQuestion>,
}

/// A question that was sent to the host.
#[derive(Debug, Clone)]
struct AskedQuestion {
    title: String,
    /// The outcome without an answer.
    without_answer: &'static str,
    /// When it times out, if ever.
    due: Option<Millis>,
    /// `None` once the answer is no longer awaited.
    topic: Option<Topic>,
}

/// What a question is about.
#[derive(Debug, Clone)]
pub(crate) enum Topic {
    /// A workflow to start: an input that is missing, or the active run that it would replace.
    Start(PendingStart),
    /// A tool call.
    ToolCall(PendingCall),
    /// What to start, so that a call may run.
    Door(Box<PendingDoor>),
    /// Trust in these commands of a gate.
    Trust(Vec<RunCheck>),
    /// Trust in these commands of a run that has started.
    StartTrust(Vec<RunCheck>),
    /// Approval to leave a phase.
    Approval,
    /// The user's comment on this choice.
    Comment(String),
    /// A move of the run that passes gates or approvals over.
    Move(Box<PendingMove>),
    /// A restore of the code, before a conversation goes back.
    Restore {
        request: RequestId,
        snapshot: Snapshot,
    },
    /// Trust in these triggers of the project.
    Triggers(Vec<Trigger>),
    /// Files that changed during the run.
    ChangedFiles {
        digest: String,
        /// The state of the run that the question is about.
        state: RunState,
    },
    /// The end of the run, which the agent asks for.
    Cancel,
}

/// Why a question has no answer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unanswered<'a> {
    /// Nobody answered in time; the notice says so.
    TimedOut(&'a str),
    SessionEnded,
    /// It is withdrawn, for this reason.
    Withdrawn(&'a str),
}

impl<'a> Unanswered<'a> {
    pub(super) fn reason(self) -> &'a str {
        match self {
            Self::TimedOut(_) => TIMED_OUT,
            Self::SessionEnded => "the session ended",
            Self::Withdrawn(why) => why,
        }
    }
}

impl Topic {
    /// Returns true for what an exit from a phase waits for.
    pub(super) fn is_of_exit(&self) -> bool {
        matches!(self, Self::Trust(_) | Self::Approval | Self::Comment(_))
    }

    /// Returns true for the end of the run.
    pub(super) fn is_cancel(&self) -> bool {
        matches!(self, Self::Cancel)
    }

    /// The outcome without an answer.
    fn without_answer(&self) -> &'static str {
        match self {
            Self::Start(_) => "No workflow was started.",
            Self::ToolCall(_) | Self::Door(_) => "The call was not allowed.",
            Self::Trust(_) | Self::StartTrust(_) => "Nothing was trusted, and no command was run.",
            Self::Approval | Self::Comment(_) => "Nothing was approved.",
            Self::Move(_) => "The workflow was not moved.",
            Self::Restore { .. } => "The code was not changed.",
            Self::Triggers(_) => "The triggers of the project are not watched.",
            Self::ChangedFiles { .. } => "The run keeps its rules.",
            Self::Cancel => "The workflow is not cancelled.",
        }
    }
}

impl QuestionTable {
    /// An empty table for a host with these abilities.
    pub(crate) fn new(abilities: Abilities) -> Self {
        Self {
            abilities,
            timeout: Some(TIMEOUT),
            last: 0,
            asked: BTreeMap::new(),
        }
    }

    /// The request to close the dialog of a question that was settled outside of the host; empty if the host closes it.
    pub(crate) fn please_close(&self) -> &'static str {
        if self.abilities.dismissal {
            ""
        } else {
            " Close the dialog that still asks for it: its answer does not count."
        }
    }

    /// Sets the time in seconds that a person has to answer questions from now on; 0 is without end.
    pub(crate) fn adopt_timeout(&mut self, seconds: Option<u32>) {
        self.timeout = match seconds {
            None => Some(TIMEOUT),
            Some(0) => None,
            Some(seconds) => Some(Millis::from(seconds) * 1000),
        };
    }

    /// The reason why no question to a person is possible: `without_dialogs`, or the number of open questions. `None` where
    /// it is possible: the host says that it has dialogs, whatever it shows (A14).
    pub(crate) fn cannot_ask(&self, without_dialogs: &'static str) -> Option<&'static str> {
        if !self.abilities.dialogs {
            let after = self.abilities.asks_afterwards;
            return Some(if after { DISAGREED } else { without_dialogs });
        }
        let open = self.asked.values().filter(|asked| asked.topic.is_some());
        (open.count() >= MAX_OPEN).then_some(TOO_MANY)
    }

    /// True if questions to a person are possible.
    pub(crate) fn can_ask(&self) -> bool {
        self.cannot_ask("").is_none()
    }

    /// The reason why the user cannot confirm a command, neither in a dialog nor by giving it again.
    pub(crate) fn cannot_confirm(&self, without_dialogs: &'static str) -> Option<&'static str> {
        let why = self.cannot_ask(without_dialogs);
        why.filter(|_| !self.abilities.confirmations)
    }

    /// Asks a question.
    pub(crate) fn ask(&mut self, topic: Topic, mut question: Question, out: &mut Effects) {
        self.last += 1;
        question.id = QuestionId(self.last);
        let asked = AskedQuestion {
            title: question.title.clone(),
            without_answer: topic.without_answer(),
            due: self.timeout.map(|after| out.now().saturating_add(after)),
            topic: Some(topic),
        };
        self.asked.insert(question.id, asked);
        while self.asked.len() > REMEMBERED {
            let mut closed = self.asked.iter().filter(|(_, asked)| asked.topic.is_none());
            let Some((&oldest, _)) = closed.next() else {
                break;
            };
            self.asked.remove(&oldest);
        }
        out.questions.push(question);
    }

    /// Closes the open questions whose topics fit, oldest first, and has the host close their dialogs. A late answer to one
    /// is recognized.
    pub(crate) fn close_all(
        &mut self,
        fits: impl Fn(&Topic) -> bool,
        out: &mut Effects,
    ) -> Vec<Topic> {
        let mut closed = Vec::new();
        for (id, asked) in &mut self.asked {
            if let Some(topic) = asked.topic.take_if(|topic| fits(topic)) {
                out.withdrawn.push(*id);
                closed.push(topic);
            }
        }
        closed
    }

    /// Closes the questions that timed out. Returns the topic of each, with a notification about it and its outcome.
    pub(crate) fn close_overdue(&mut self, out: &mut Effects) -> Vec<(Topic, String)> {
        let mut closed = Vec::new();
        for (id, asked) in &mut self.asked {
            let is_due = asked.due.is_some_and(|due| due <= out.now());
            if let Some(topic) = asked.topic.take_if(|_| is_due) {
                out.withdrawn.push(*id);
                let (title, without_answer) = (&asked.title, asked.without_answer);
                let notice = format!("[workflow] \"{title}\": {TIMED_OUT}. {without_answer}");
                closed.push((topic, notice));
            }
        }
        closed
    }

    /// Takes a question that was answered out of the table: its topic, or what is said of an answer that came too late.
    pub(crate) fn take(&mut self, id: QuestionId) -> Option<Result<Topic, String>> {
        let asked = self.asked.remove(&id)?;
        let (title, without_answer) = (asked.title, asked.without_answer);
        Some(asked.topic.ok_or_else(|| {
            format!(
                "[workflow] Your answer to \"{title}\" came too late and has no effect. {without_answer}"
            )
        }))
    }

    /// Returns true if a question is open whose topic fits.
    pub(crate) fn is_open(&self, fits: impl Fn(&Topic) -> bool) -> bool {
        let mut topics = self.asked.values().filter_map(|asked| asked.topic.as_ref());
        topics.any(fits)
    }

    /// When the first open question times out.
    pub(crate) fn deadline(&self) -> Option<Millis> {
        let open = self.asked.values().filter(|asked| asked.topic.is_some());
        open.filter_map(|asked| asked.due).min()
    }
}
