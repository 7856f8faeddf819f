//! Questions to a person: how long each may be answered, and what becomes of an answer that comes too late.
//!
//! Owns the end of every question. What is asked, and what an answer does, is the matter of whoever asks.

use std::collections::BTreeMap;

use crate::Session;
use crate::effect::{Effects, Question};
use crate::event::Answer;
use crate::session::{Waiting, notify};
use crate::types::{Millis, QuestionId, Severity};

/// How long a person has to answer: as long as somebody is away, and not for ever.
const PATIENCE: Millis = 30 * 60 * 1000;
/// Why nobody's answer is waited for any more.
const TOO_LATE: &str = "nobody answered in half an hour";
/// Questions whose late answers are known for what they are.
const REMEMBERED: usize = 64;

/// The questions that were put to the host and not answered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked(BTreeMap<QuestionId, Put>);

#[derive(Debug, Clone)]
struct Put {
    title: String,
    due: Millis,
    /// What holds if nobody's answer counts.
    without: &'static str,
}

impl Waiting {
    /// What holds if nobody's answer counts.
    fn without(&self) -> &'static str {
        match self {
            Self::Start(_) => "No workflow was started.",
            Self::Call(_) => "The call was not allowed.",
            Self::Leave(leave) => leave.without(),
            Self::Restore(_) => "The code stays as it is.",
            Self::Triggers(_) => "The triggers of the project are not watched.",
        }
    }
}

impl Session {
    /// Notes what was asked just now.
    pub(crate) fn note_questions(&mut self, now: Millis, questions: &[Question]) {
        for question in questions {
            let Some(waiting) = self.waiting.get(&question.id) else {
                continue;
            };
            let put = Put {
                title: question.title.clone(),
                due: now.saturating_add(PATIENCE),
                without: waiting.without(),
            };
            self.asked.0.insert(question.id, put);
        }
        while self.asked.0.len() > REMEMBERED.max(self.waiting.len()) {
            let is_over = |id: &&QuestionId| !self.waiting.contains_key(id);
            let Some(oldest) = self.asked.0.keys().find(is_over).copied() else {
                break;
            };
            self.asked.0.remove(&oldest);
        }
    }

    /// When the first question ends that somebody waits for.
    pub(crate) fn questions_due(&self) -> Option<Millis> {
        let open = self.waiting.keys().filter_map(|id| self.asked.0.get(id));
        open.map(|put| put.due).min()
    }

    /// Ends the questions that nobody answered in time: the safe answer holds, and that is said.
    pub(crate) fn give_up_waiting(&mut self, now: Millis, out: &mut Effects) {
        let is_late = |id: &&QuestionId| self.asked.0.get(id).is_some_and(|put| put.due <= now);
        let late: Vec<QuestionId> = self.waiting.keys().filter(is_late).copied().collect();
        for id in late {
            match self.waiting.remove(&id) {
                Some(Waiting::Leave(leave)) => self.leave_unanswered(now, leave, TOO_LATE, out),
                Some(Waiting::Triggers(_)) => self.triggers_declined(TOO_LATE, out),
                Some(waiting) => self.settle_late(id, waiting, out),
                None => {}
            }
        }
    }

    /// Answers what waited for a person in vain. What becomes of a call the agent is told.
    fn settle_late(&self, id: QuestionId, waiting: Waiting, out: &mut Effects) {
        let is_call = matches!(waiting, Waiting::Call(_));
        let Some(mut settled) = waiting.unanswered(TOO_LATE) else {
            return;
        };
        if let Some(Put { title, without, .. }) = self.asked.0.get(&id).filter(|_| !is_call) {
            let message = format!("[workflow] \"{title}\": {TOO_LATE}. {without}");
            settled.actions.push(notify(Severity::Warning, message));
        }
        out.deferred.push(settled);
    }

    /// The host answered a question.
    pub(crate) fn answered(
        &mut self,
        now: Millis,
        question: QuestionId,
        answer: Answer<'_>,
        out: &mut Effects,
    ) {
        let put = self.asked.0.remove(&question);
        let confirmed = answer == Answer::Confirmed(true);
        match self.waiting.remove(&question) {
            None => {
                if let Some(put) = put.filter(|_| answer != Answer::Dismissed) {
                    self.say_late(&put, out);
                }
            }
            Some(Waiting::Start(start)) => self.start_answered(now, start, confirmed, out),
            Some(Waiting::Call(call)) => self.call_answered(call, confirmed, out),
            Some(Waiting::Leave(leave)) => self.leave_answered(now, leave, answer, out),
            Some(Waiting::Restore(restore)) => self.restore_answered(now, restore, answer, out),
            Some(Waiting::Triggers(shown)) => self.triggers_answered(shown, answer, out),
        }
    }

    /// Tells a person who answered that it came too late, and what stands.
    fn say_late(&self, put: &Put, out: &mut Effects) {
        let Put { title, without, .. } = put;
        let here = match self.standing() {
            Some((_, standing)) => format!(" The workflow is in {}.", standing.phase.name),
            None => String::new(),
        };
        let message = format!(
            "[workflow] Your answer to \"{title}\" came too late and counts for nothing. {without}{here}"
        );
        out.notify(Severity::Warning, message);
    }
}
