//! Questions that the session asks of its own accord, answers to questions, and their end without one.

use super::controls::{answer, settle};
use super::questions::{TIMED_OUT, Topic, Unanswered};
use super::run::ActiveRun;
use super::{Session, checkpoints};
use crate::definition::{Tier, Trigger};
use crate::effect::{BlockKind, Effect, Effects, Notice, Question, Reply};
use crate::event::{Answer, Entry, WatchReport};
use crate::run::RunState;
use crate::types::{QuestionId, RequestId};

impl Session {
    /// Asks for trust in the commands of the run that has started, or says how to give it. Without trust the run continues
    /// up to the first gate that needs it.
    pub(super) fn ask_start_trust(&mut self, can_ask: bool) {
        let Some(commands) = self.active().map(|run| &run.project_commands) else {
            return;
        };
        match commands.start_question(self.host.trusts_project(), can_ask) {
            Ok(question) => {
                self.ask(Topic::StartTrust(commands.all().to_vec()), question);
            }
            Err(notice) => self.out.warn(notice),
        }
    }

    /// Handles the user's command to trust the commands of the run: asks, and shows all of them.
    pub fn handle_trust_command(&mut self, request: RequestId) {
        let since = Some(self.out.mark());
        let has_none = |run: &ActiveRun| run.project_commands.all().is_empty();
        match self.active().map(has_none) {
            None => self.out.inform("No workflow is active."),
            Some(true) => {
                let message = "The gates of this workflow run no commands that need your trust.";
                self.out.inform(message);
            }
            Some(false) => self.ask_start_trust(true),
        }
        self.out.answer(request, Reply::Command, since);
    }

    /// Asks about changed files of the run. Without dialogs the diagnostic says how to agree.
    pub(super) fn ask_about_changed_files(&mut self) {
        let is_it = |topic: &Topic| matches!(topic, Topic::ChangedFiles { .. });
        self.questions.close_all(is_it, &mut self.out);
        if let Some(run) = &self.run
            && let Some(question) = run.question_about_files()
            && self.questions.can_ask()
        {
            let topic = Topic::ChangedFiles {
                digest: run.changes().digest.clone(),
                state: run.state().clone(),
            };
            self.ask(topic, question);
        }
    }

    /// Reports what is watched, and asks for trust in the project's triggers.
    pub(super) fn on_triggers_watched(&mut self, report: &WatchReport) {
        if !report.started.is_empty() {
            let started = report.started.join(", ");
            self.out.inform(format!("[workflow] Watching {started}"));
        }
        for problem in &report.problems {
            self.out.warn(format!("[workflow] {problem}"));
        }
        let is_asked = |topic: &Topic| matches!(topic, Topic::Triggers(_));
        if !report.untrusted || self.triggers.declined || self.questions.is_open(is_asked) {
            return;
        }
        if let Some(why) = self.questions.cannot_ask("this host cannot ask") {
            return self.triggers.decline(why, &mut self.out);
        }
        let mut shown = self.settings.triggers.clone();
        shown.retain(|trigger| trigger.tier == Tier::Project);
        let question = Question::trust(
            "Watch the triggers of this project?",
            "The settings of this project send messages to the agent when one of these receives something. A watched file is emptied after it is read:",
            shown.iter().map(Trigger::listed),
        );
        self.ask(Topic::Triggers(shown), question);
    }

    /// Handles a conversation that is about to go back to a turn, or to these entries: asks whether to restore the code.
    pub fn handle_branch(
        &mut self,
        request: RequestId,
        turn: Option<u64>,
        entries: Option<&[Entry<'_>]>,
    ) {
        self.withdraw_restore_question("you were asked again");
        let can_ask = self.questions.can_ask() && self.host.trusts_project();
        let since = self.out.mark();
        let snapshot = can_ask.then(|| self.checkpoints.to_restore(turn, entries, &mut self.out));
        match snapshot.flatten() {
            Some(snapshot) => {
                let topic = Topic::Restore { request, snapshot };
                self.ask(topic, checkpoints::question());
            }
            None => checkpoints::proceed(request, false, since, &mut self.out),
        }
    }

    /// Withdraws the question whether to restore the code, because the conversation continues without an answer.
    pub(super) fn withdraw_restore_question(&mut self, why: &str) {
        self.withdraw_all(|topic| matches!(topic, Topic::Restore { .. }), why);
    }

    /// Withdraws the questions whose topics fit, for a reason.
    pub(super) fn withdraw_all(&mut self, fits: impl Fn(&Topic) -> bool, why: &str) {
        for topic in self.questions.close_all(fits, &mut self.out) {
            self.end_question(topic, Unanswered::Withdrawn(why));
        }
    }

    /// Returns true if the user was shown this question alone, and so confirms it. Any other one is shown to the user now.
    pub fn was_shown(&mut self, question: &Question) -> bool {
        self.last_shown
            .is(format!("{}\n\n{}", question.title, question.message))
    }

    /// Handles the answer to a question.
    pub fn handle_answer(&mut self, question: QuestionId, answer: Answer<'_>) {
        let topic = match self.questions.take(question) {
            Some(Ok(topic)) => topic,
            Some(Err(late)) if answer != Answer::Dismissed => {
                let place = self.phase().map_or_else(String::new, |phase| {
                    format!(" The workflow is in {}.", phase.phase.name)
                });
                return self.out.warn(format!("{late}{place}"));
            }
            Some(Err(_)) | None => return,
        };
        let confirmed = answer == Answer::Confirmed(true);
        match topic {
            Topic::Start(start) => self.on_start_answer(start, answer),
            Topic::ToolCall(call) => {
                if !self.call_guard.on_answer(&call, answer, &mut self.out) {
                    self.count_blocked();
                }
                if let (Some(run), Some(likeness)) = (&mut self.run, call.allowed_in_run(answer)) {
                    run.allow_unknown(likeness, &mut self.out);
                }
            }
            Topic::Door(pending) => self.on_door_answer(&pending, answer),
            Topic::Trust(_) | Topic::Approval | Topic::Comment(_) => {
                self.on_exit_answer(topic, Some(answer));
            }
            Topic::StartTrust(commands) if confirmed => {
                self.out.perform(Effect::TrustCommands { commands });
            }
            Topic::Triggers(triggers) if confirmed => {
                self.out.perform(Effect::TrustTriggers { triggers });
                // The question is repeated for those that changed since.
                self.watch_triggers();
            }
            Topic::Triggers(_) => self.triggers.decline("you did not agree", &mut self.out),
            Topic::Move(pending) => self.on_move_answer(&pending, answer),
            Topic::Restore { request, snapshot } => {
                let trusted = self.host.trusts_project();
                let (ids, out) = (&mut self.ids, &mut self.out);
                let checkpoints = &mut self.checkpoints;
                checkpoints.on_answer(request, snapshot, answer, trusted, ids, out);
            }
            Topic::ChangedFiles { digest, state } => {
                self.on_changes_answer(digest, &state, confirmed);
            }
            Topic::Cancel if confirmed => self.cancel_by_user(),
            Topic::Cancel => self.go_on(),
            Topic::StartTrust(_) => decline_commands(&mut self.out),
        }
        self.refresh_status();
    }

    /// Continues with the changed files alone if the user agreed, and the run is as it was.
    fn on_changes_answer(&mut self, digest: String, state: &RunState, agreed: bool) {
        let Some(run) = &mut self.run else { return };
        if !agreed {
            run.decline_changes(digest, &mut self.out);
            let message = "[workflow] The run keeps its rules. To use the changed files alone, end it with /cancel-workflow and start it \
                           again.";
            self.out.inform(message);
        } else if run.state() == state && run.changes().digest == digest {
            self.adopt_changed_files();
        } else {
            let message = "[workflow] The run has moved in the meantime, so it keeps its rules. Reload to be asked again.";
            self.out.warn(message);
        }
    }

    /// Ends a question that has no answer, and answers the request that waits for it.
    pub(super) fn end_question(&mut self, topic: Topic, why: Unanswered<'_>) {
        use Unanswered::{SessionEnded, TimedOut, Withdrawn};
        match (topic, why) {
            (Topic::Start(start), TimedOut(notice)) => {
                settle(start.request, Notice::warning(notice), &mut self.out);
            }
            (Topic::Start(start), _) => answer(start.request, None, &mut self.out),
            (Topic::ToolCall(call), why) => {
                if !matches!(why, Withdrawn(_)) {
                    self.call_guard.count_answer(&call);
                }
                if let TimedOut(_) = why {
                    self.count_blocked();
                }
                let why = format!("The user did not decide about it: {}.", why.reason());
                call.block(BlockKind::Failure, &why, &mut self.out);
            }
            (Topic::Door(pending), TimedOut(_)) => {
                self.end_door_question(&pending, "The user did not decide about it.");
            }
            (Topic::Door(pending), SessionEnded) => {
                let (call, why) = (&pending.call, "The session ended.");
                call.block(BlockKind::User, why, &mut self.out);
            }
            (Topic::Door(pending), Withdrawn(why)) => {
                let why = format!("The user did not decide about it: {why}.");
                pending.call.block(BlockKind::User, &why, &mut self.out);
            }
            (topic @ (Topic::Trust(_) | Topic::Approval | Topic::Comment(_)), TimedOut(_)) => {
                self.on_exit_answer(topic, None);
            }
            (Topic::StartTrust(_), TimedOut(_)) => decline_commands(&mut self.out),
            (Topic::Move(pending), TimedOut(notice)) => {
                settle(pending.request, Notice::warning(notice), &mut self.out);
            }
            (Topic::Move(pending), Withdrawn(why)) => {
                settle(pending.request, Notice::info(why), &mut self.out);
            }
            (Topic::Restore { request, .. }, why) => {
                let since = self.out.mark();
                match why {
                    TimedOut(notice) => self.out.warn(notice),
                    SessionEnded => {}
                    Withdrawn(why) => {
                        self.out
                            .inform(format!("[workflow] The code was not changed: {why}."));
                    }
                }
                checkpoints::proceed(request, false, since, &mut self.out);
            }
            (Topic::Triggers(_), TimedOut(_)) => self.triggers.decline(TIMED_OUT, &mut self.out),
            (Topic::ChangedFiles { .. }, TimedOut(notice)) => self.out.warn(notice),
            // The run stays paused: an agent that goes on could ask again and again.
            (Topic::Cancel, TimedOut(notice)) => {
                self.out
                    .inform(format!("{notice} The agent waits: any message resumes it."));
            }
            (_, SessionEnded | Withdrawn(_)) => {}
        }
    }
}

fn decline_commands(out: &mut Effects) {
    out.warn(
        "[workflow] The gates of this workflow run commands of this project that you have not trusted. You are asked again at \
         the first gate that runs one of them.",
    );
}
