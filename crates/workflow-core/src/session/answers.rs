//! Questions that the session asks of its own accord, answers to questions, and their end without one.

use super::Session;
use super::changed_files;
use super::checkpoints::{self, PendingRestore};
use super::controls::settle;
use super::questions::{TIMED_OUT, Topic, Unanswered};
use crate::definition::{Tier, Trigger};
use crate::effect::{Effect, Effects, Notice, Question, Reply};
use crate::event::{Answer, Entry, WatchReport};
use crate::run::RunState;
use crate::types::{QuestionId, RequestId};

impl Session {
    /// Asks for trust in the commands of the run that has started, or says how to give it. Without trust the run continues
    /// up to the first gate that needs it.
    pub(super) fn on_commands_not_trusted(&mut self, out: &mut Effects) {
        let Some(run) = self.run.as_ref().filter(|run| run.is_active()) else {
            return;
        };
        let commands = run.project_commands();
        let can_ask = self.questions.can_ask();
        match commands.start_question(self.host.trusts_project(), can_ask) {
            Ok(question) => {
                let topic = Topic::StartTrust(commands.all().to_vec());
                self.questions.ask(topic, question, out);
            }
            Err(notice) => out.warn(notice),
        }
    }

    /// Asks about changed files of the run. Without dialogs the diagnostic says how to agree.
    pub(super) fn ask_about_changed_files(&mut self, out: &mut Effects) {
        self.questions
            .close_all(|topic| matches!(topic, Topic::ChangedFiles { .. }), out);
        if let Some(run) = &self.run
            && let Some(question) = changed_files::question(run)
            && self.questions.can_ask()
        {
            let topic = Topic::ChangedFiles {
                digest: run.changes().digest.clone(),
                state: run.state().clone(),
            };
            self.questions.ask(topic, question, out);
        }
    }

    /// Reports what is watched, and asks for trust in the project's triggers.
    pub(super) fn on_triggers_watched(&mut self, report: &WatchReport, out: &mut Effects) {
        if !report.started.is_empty() {
            let started = report.started.join(", ");
            out.inform(format!("[workflow] Watching {started}"));
        }
        for problem in &report.problems {
            out.warn(format!("[workflow] {problem}"));
        }
        let is_asked = |topic: &Topic| matches!(topic, Topic::Triggers(_));
        if !report.untrusted || self.triggers.are_declined() || self.questions.is_open(is_asked) {
            return;
        }
        if let Some(why) = self.questions.cannot_ask("this host cannot ask") {
            return self.triggers.decline(why, out);
        }
        let mut shown = self.settings.triggers.clone();
        shown.retain(|trigger| trigger.tier == Tier::Project);
        let question = Question::trust(
            "Watch the triggers of this project?",
            "The settings of this project send messages to the agent when one of these receives something. A watched file is emptied after it is read:",
            shown.iter().map(Trigger::listed),
        );
        self.questions.ask(Topic::Triggers(shown), question, out);
    }

    /// Handles a conversation that is about to go back to a turn, or to these entries: asks whether to restore the code.
    pub fn handle_branch(
        &mut self,
        request: RequestId,
        turn: Option<u64>,
        entries: Option<&[Entry<'_>]>,
        out: &mut Effects,
    ) {
        self.withdraw_restore_question("you were asked again", out);
        let can_ask = self.questions.can_ask() && self.host.trusts_project();
        let since = out.mark();
        let snapshot = can_ask.then(|| self.checkpoints.to_restore(turn, entries, out));
        match snapshot.flatten() {
            Some(snapshot) => {
                let topic = Topic::Restore(PendingRestore { request, snapshot });
                self.questions.ask(topic, checkpoints::question(), out);
            }
            None => checkpoints::proceed(request, false, since, out),
        }
    }

    /// Withdraws the question whether to restore the code, because the conversation continues without an answer.
    pub(super) fn withdraw_restore_question(&mut self, why: &str, out: &mut Effects) {
        self.withdraw_all(|topic| matches!(topic, Topic::Restore(_)), why, out);
    }

    /// Withdraws the questions whose topics fit, for a reason.
    pub(super) fn withdraw_all(
        &mut self,
        fits: impl Fn(&Topic) -> bool,
        why: &str,
        out: &mut Effects,
    ) {
        for topic in self.questions.close_all(fits, out) {
            self.end_question(topic, Unanswered::Withdrawn(why), out);
        }
    }

    /// Handles the answer to a question.
    pub fn handle_answer(&mut self, question: QuestionId, answer: Answer<'_>, out: &mut Effects) {
        let topic = match self.questions.take(question) {
            Some(Ok(topic)) => topic,
            Some(Err(late)) if answer != Answer::Dismissed => {
                let place = self.phase().map_or_else(String::new, |phase| {
                    format!(" The workflow is in {}.", phase.phase.name)
                });
                return out.warn(format!("{late}{place}"));
            }
            Some(Err(_)) | None => return,
        };
        let confirmed = answer == Answer::Confirmed(true);
        match topic {
            Topic::Start(start) => self.on_start_answer(start, answer, out),
            Topic::ToolCall(call) => {
                if !self.calls.on_answer(&call, answer, out) {
                    self.count_blocked();
                }
            }
            Topic::Trust | Topic::Approval => self.on_exit_answer(Some(answer), out),
            Topic::StartTrust(commands) if confirmed => {
                out.perform(Effect::TrustCommands { commands });
            }
            Topic::Triggers(triggers) if confirmed => {
                out.perform(Effect::TrustTriggers { triggers });
                // The question is repeated for those that changed since.
                self.watch_triggers(out);
            }
            Topic::Triggers(_) => self.triggers.decline("you did not agree", out),
            Topic::Move(pending) => self.on_move_answer(&pending, answer, out),
            Topic::Restore(pending) => {
                let trusted = self.host.trusts_project();
                self.checkpoints
                    .on_answer(pending, answer, trusted, &mut self.ids, out);
            }
            Topic::ChangedFiles { digest, state } => {
                self.on_changes_answer(digest, &state, confirmed, out);
            }
            Topic::Cancel if confirmed => self.handle_cancel_command(out),
            Topic::Cancel => self.go_on(out),
            Topic::StartTrust(_) => decline_commands(out),
        }
        self.refresh_status(out);
    }

    /// Continues with the changed files alone if the user agreed, and the run is as it was.
    fn on_changes_answer(
        &mut self,
        digest: String,
        state: &RunState,
        agreed: bool,
        out: &mut Effects,
    ) {
        let Some(run) = &mut self.run else { return };
        if !agreed {
            run.decline_changes(digest, out);
            let message = "[workflow] The run keeps its rules. To use the changed files alone, end it with /cancel-workflow and start it \
                           again.";
            out.inform(message);
        } else if run.state() == state && run.changes().digest == digest {
            self.adopt_changed_files(out);
        } else {
            let message = "[workflow] The run has moved in the meantime, so it keeps its rules. Reload to be asked again.";
            out.warn(message);
        }
    }

    /// Ends a question that has no answer, and answers the request that waits for it.
    pub(super) fn end_question(&mut self, topic: Topic, why: Unanswered<'_>, out: &mut Effects) {
        use Unanswered::{SessionEnded, TimedOut, Withdrawn};
        match (topic, why) {
            (Topic::Start(start), TimedOut(notice)) => {
                settle(Some(start.request), Notice::warning(notice), out);
            }
            (Topic::Start(start), _) => out.reply(start.request, Reply::Command),
            (Topic::ToolCall(call), TimedOut(_)) => {
                self.calls.end_question(call, TIMED_OUT, out);
                self.count_blocked();
            }
            (Topic::ToolCall(call), SessionEnded) => {
                self.calls.end_question(call, "the session ended", out);
            }
            (Topic::ToolCall(call), Withdrawn(why)) => call.end(why, out),
            (Topic::Trust | Topic::Approval, TimedOut(_)) => self.on_exit_answer(None, out),
            (Topic::StartTrust(_), TimedOut(_)) => decline_commands(out),
            (Topic::Move(pending), TimedOut(notice)) => {
                settle(pending.request, Notice::warning(notice), out);
            }
            (Topic::Move(pending), Withdrawn(why)) => {
                settle(pending.request, Notice::info(why), out);
            }
            (Topic::Restore(pending), why) => {
                let since = out.mark();
                match why {
                    TimedOut(notice) => out.warn(notice),
                    SessionEnded => {}
                    Withdrawn(why) => {
                        out.inform(format!("[workflow] The code was not changed: {why}."));
                    }
                }
                checkpoints::proceed(pending.request, false, since, out);
            }
            (Topic::Triggers(_), TimedOut(_)) => self.triggers.decline(TIMED_OUT, out),
            (Topic::ChangedFiles { .. }, TimedOut(notice)) => out.warn(notice),
            // The run stays paused: an agent that goes on could ask again and again.
            (Topic::Cancel, TimedOut(notice)) => {
                out.inform(format!("{notice} The agent waits: any message resumes it."));
            }
            (
                Topic::Trust
                | Topic::Approval
                | Topic::StartTrust(_)
                | Topic::Move(_)
                | Topic::Triggers(_)
                | Topic::ChangedFiles { .. }
                | Topic::Cancel,
                SessionEnded | Withdrawn(_),
            ) => {}
        }
    }
}

fn decline_commands(out: &mut Effects) {
    out.warn(
        "[workflow] The gates of this workflow run commands of this project that you have not trusted. You are asked again at \
         the first gate that runs one of them.",
    );
}
