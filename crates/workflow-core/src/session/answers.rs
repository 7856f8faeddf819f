//! Answers to questions, and questions that nobody answers in time.

use super::Session;
use super::controls;
use super::questions::{QuestionTopic, TIMED_OUT};
use super::run::ActiveRun;
use crate::effect::{Effects, Reply};
use crate::event::Answer;
use crate::types::{QuestionId, Severity};

impl Session {
    /// Handles the answer to a question.
    pub fn handle_answer(&mut self, question: QuestionId, answer: Answer<'_>, out: &mut Effects) {
        let Some(asked) = self.questions.take(question) else {
            return;
        };
        let Some(topic) = asked.open_topic() else {
            if answer != Answer::Dismissed {
                let phase = self.phase().map(|phase| phase.phase.name.as_str());
                asked.report_late_answer(phase, out);
            }
            return;
        };
        let confirmed = answer == Answer::Confirmed(true);
        let since = out.mark();
        match topic {
            QuestionTopic::Start => {
                let active = self.run.as_ref().filter(|run| run.is_active());
                let questions = &mut self.questions;
                let next = self
                    .starts
                    .on_answer(question, answer, active, questions, out);
                if let Some((request, outcome)) = next
                    && self.start(outcome, out)
                {
                    out.answer(request, Reply::Command, since);
                }
            }
            QuestionTopic::ToolCall => {
                let is_allowed = self.calls.on_answer(question, answer, out);
                if !is_allowed {
                    self.count_blocked();
                }
            }
            QuestionTopic::Trust | QuestionTopic::Approval => {
                self.continue_exit(out, |exit, context, out| {
                    exit.on_answer(Some(answer), context, out)
                });
            }
            QuestionTopic::StartTrust => self.start_trust.on_answer(confirmed, out),
            QuestionTopic::Move => {
                let state = self.run.as_ref().map(ActiveRun::state);
                let confirmed = self.controls.on_answer(question, answer, state, out);
                if let Some((request, planned)) = confirmed {
                    self.move_by_user(&planned, out);
                    controls::answer(request, since, out);
                }
            }
            QuestionTopic::Restore => {
                let trusted = self.host.trusts_project();
                self.checkpoints
                    .on_answer(answer, trusted, &mut self.ids, out);
            }
            QuestionTopic::Triggers => {
                let (triggers, headless) = (&self.settings.triggers, self.host.is_headless());
                self.triggers.on_answer(answer, triggers, headless, out);
            }
            QuestionTopic::ChangedFiles => {
                let run = self.run.as_mut();
                if self.changed_files.on_answer(confirmed, run, out) {
                    self.adopt_changed_files(out);
                }
            }
            QuestionTopic::Cancel if confirmed => self.cancel_by_command(out),
            QuestionTopic::Cancel => self.go_on(out),
        }
        self.refresh_status(out);
    }

    /// Handles a question that was not answered in time.
    pub(super) fn on_question_timeout(
        &mut self,
        question: QuestionId,
        topic: QuestionTopic,
        out: &mut Effects,
    ) {
        let notice = self.questions.timeout_notice(question);
        match topic {
            QuestionTopic::Start => self.starts.end_question(question, notice, out),
            QuestionTopic::ToolCall => {
                self.calls.end_question(question, TIMED_OUT, out);
                self.count_blocked();
            }
            QuestionTopic::Trust | QuestionTopic::Approval => {
                self.continue_exit(out, |exit, context, out| exit.on_answer(None, context, out));
            }
            QuestionTopic::StartTrust => self.start_trust.on_answer(false, out),
            QuestionTopic::Move => {
                let notice = notice.unwrap_or_default();
                self.controls.end_question(question, notice, out);
            }
            QuestionTopic::Restore => self.checkpoints.end_question(notice, out),
            QuestionTopic::Triggers => self.triggers.decline(TIMED_OUT, out),
            QuestionTopic::ChangedFiles => self.changed_files.on_timeout(notice, out),
            // The run stays paused: an agent that goes on could ask again and again.
            QuestionTopic::Cancel => {
                let notice = notice.unwrap_or_default();
                let message = format!("{notice} The agent waits: any message resumes it.");
                out.notify(Severity::Info, message);
            }
        }
    }
}
