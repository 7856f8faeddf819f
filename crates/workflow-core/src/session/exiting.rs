//! Leaving a phase: trust in the gate's commands, the gate, and the approval of the user.
//!
//! The user approves in the host's dialog, or outside of the host. Either decision is about one approval request, which
//! has an id, and about the file that was shown.

use serde_json::json;

use super::controls::{Answered, Control, settle};
use super::handover::{UserAnswer, asked_and_chose};
use super::last_shown::LastShown;
use super::phase::ResolvedPhase;
use super::phase_exit::{Awaited, Exit, ExitBy, ExitOutcome};
use super::questions::{DISAGREED, TIMED_OUT, Topic};
use super::run::ActiveRun;
use super::step_answers::{not_advanced, with_comment};
use super::{Session, controls, step_answers};
use crate::approval::{Decision, Request};
use crate::definition::{Approval, Gate, RunCheck};
use crate::diagnostic::{shown, visible};
use crate::effect::{Action, Effect, GateRun, Notice, Question, Reply, ToolAnswer};
use crate::event::Answer;
use crate::policy::STEP_TOOL;
use crate::policy::gate_report::{CheckError, CheckVerdict, Report};
use crate::policy::results::Results;
use crate::reminders::PauseReason;
use crate::run::{Actor, MeasuredChange};
use crate::types::{GateRunId, Millis, RequestId, Severity};
use crate::white_space::trim;

/// The time for which the result of a gate is valid while the user decides. After that the gate runs again.
pub const GATE_VALID_FOR: Millis = 10 * 60 * 1000;

const UNANSWERED: &str = "no answer in time";
const CHANGED: &str =
    "Your earlier answer does not count, because what it was about has changed. Please look again.";
const DISMISSED: &str = "the question was closed without an answer";

/// The next step of an exit: what it waits for, or how it ends.
type Next = Result<Awaited, ExitOutcome>;

impl Session {
    /// Starts to leave the phase.
    pub(super) fn begin_exit(&mut self, by: ExitBy) {
        let mut exit = Exit::new(by);
        let next = self.first_step(&mut exit);
        self.follow_exit(exit, next);
    }

    fn first_step(&mut self, exit: &mut Exit) -> Next {
        if self.exit.condition().is_some() {
            let text = "Not advanced: an earlier call of workflow_step is still leaving this phase. Wait for its answer.";
            return Err(ExitOutcome::Stay(not_advanced(text)));
        }
        self.with_run(|run, out| {
            run.user_answer = None;
            if run.memory.untrusted_at.take().is_some() {
                run.reset_counters(out);
            }
        });
        let phase = self.phase().map(|resolved| &resolved.phase);
        if phase.is_some_and(|phase| !phase.gate.is_empty()) {
            self.run_gate(self.commands_to_trust())
        } else if phase.is_some_and(|phase| phase.approve.is_some()) {
            exit.checked = Some(self.out.now());
            self.need_approval(exit)
        } else {
            Err(ExitOutcome::Advance(Vec::new()))
        }
    }

    /// Has the exit wait, or acts on its end, before which the change is measured that conditions are about.
    fn follow_exit(&mut self, mut exit: Exit, next: Next) {
        let outcome = match next {
            Ok(awaited) => return self.exit.wait(exit, awaited),
            Err(outcome) => outcome,
        };
        let measure = self.run.as_ref().and_then(ActiveRun::measure_change);
        match (outcome, measure) {
            (outcome @ (ExitOutcome::Advance(_) | ExitOutcome::NotPassed(_)), Some(measure)) => {
                let has_passed = matches!(outcome, ExitOutcome::Advance(_));
                if let ExitOutcome::Advance(reports) | ExitOutcome::NotPassed(reports) = outcome {
                    exit.reports = reports;
                }
                self.out.perform(measure);
                self.exit.wait(exit, Awaited::Change { has_passed });
            }
            (outcome, _) => self.finish_exit(&exit, outcome),
        }
    }

    /// Notes the files at the start of the run, or continues with what was changed since.
    pub(super) fn on_change_measured(
        &mut self,
        start: Option<String>,
        change: Option<MeasuredChange>,
    ) {
        if start.is_some() {
            self.with_run(|run, out| run.note_start(start, out));
            return;
        }
        let is_change = |awaited: &Awaited| matches!(awaited, Awaited::Change { .. });
        let Some((mut exit, awaited)) = self.exit.take(is_change, &mut self.out) else {
            return;
        };
        self.with_run(|run, _| run.note_change(change));
        let reports = std::mem::take(&mut exit.reports);
        let outcome = match awaited {
            Awaited::Change { has_passed: false } => ExitOutcome::NotPassed(reports),
            _ => ExitOutcome::Advance(reports),
        };
        self.finish_exit(&exit, outcome);
    }

    /// Acts on the end of an exit, and answers the call of `next` or the command.
    fn finish_exit(&mut self, exit: &Exit, outcome: ExitOutcome) {
        let request = match exit.by {
            ExitBy::Agent(request) => request,
            ExitBy::User { request, control } => {
                if self.finish_exit_by_user(request, control, outcome) == Answered::Now {
                    self.refresh_status();
                    controls::answer(request, exit.since, &mut self.out);
                }
                return;
            }
        };
        let answered = self.run.as_ref().and_then(|run| run.user_answer.as_ref());
        let comment = answered.and_then(|answer| answer.comment.clone());
        let answer = match outcome {
            ExitOutcome::Stay(answer) | ExitOutcome::Declined(answer) => answer,
            ExitOutcome::NotPassed(reports) => {
                with_comment(self.not_passed(&reports), comment.as_deref())
            }
            ExitOutcome::Advance(reports) => self.advance(&reports),
        };
        // With the answer, so that a host that waits for it hears nothing else before.
        self.refresh_status();
        self.out.answer(request, Reply::Step(answer), exit.since);
    }

    /// Stops the gate, withdraws the question, and answers the call of `next` or the command in progress.
    pub(super) fn cancel_exit(&mut self, why: &str) {
        let cancelled_exit = self.exit.take(|_| true, &mut self.out);
        if let Some((_, awaited)) = &cancelled_exit {
            if let Awaited::Gate { gate, .. } = *awaited {
                self.out.perform(Effect::CancelGate { gate });
            }
            self.close_question_of(awaited);
        }
        self.with_run(ActiveRun::clear_dialog_approval);
        match cancelled_exit.map(|(exit, _)| exit.by) {
            Some(ExitBy::Agent(request)) => self.out.reply(request, Reply::Step(cancelled(why))),
            Some(ExitBy::User { request, .. }) => {
                let notice = format!("The workflow was not moved: {why}.");
                settle(request, Notice::info(notice), &mut self.out);
            }
            None => {}
        }
    }

    /// Handles a call of `workflow_step` that the host cancels.
    pub fn handle_step_cancelled(&mut self, request: RequestId) {
        if self.exit.is_for(request) {
            self.cancel_exit("the call was cancelled");
            self.refresh_status();
        }
    }

    /// Takes the exit that waits for a gate.
    fn take_gate(&mut self, gate: GateRunId) -> Option<Exit> {
        let is_it = |awaited: &Awaited| awaited.is_gate(gate);
        Some(self.exit.take(is_it, &mut self.out)?.0)
    }

    /// Asks for trust in the commands of the gate, or reports that it cannot run.
    pub(super) fn on_gate_not_trusted(&mut self, gate: GateRunId) {
        let Some(mut exit) = self.take_gate(gate) else {
            return;
        };
        let cannot_ask = if self.host.trusts_project() {
            self.questions.cannot_ask("this host cannot ask")
        } else {
            Some("the user does not trust the project in this host")
        };
        let next = match cannot_ask {
            Some(why) => self.end_untrusted_gate(&mut exit, why),
            None => Ok(self.ask_trust()),
        };
        self.follow_exit(exit, next);
    }

    /// Continues with the result of the gate. A report of a gate that was cancelled changes nothing.
    pub(super) fn on_gate_finished(&mut self, gate: GateRunId, mut reports: Vec<Report>) {
        let Some(mut exit) = self.take_gate(gate) else {
            return;
        };
        // A gate without a report has not passed.
        if reports.is_empty() {
            let reason = "it ended without a result".to_owned();
            reports = self.could_not_run(|_| true, CheckError::Start, reason);
        }
        if let Some(phase) = self.phase() {
            redact(&mut reports, &phase.results);
        }
        let next = self.end_gate(&mut exit, reports);
        self.follow_exit(exit, next);
    }

    /// Follows an answer that a person gave outside of the host. One that was given before this process ran is used when
    /// the agent calls `next` again, because restoring a session does not wake the agent.
    pub(super) fn on_approval_answered(&mut self, request: &str, choice: String, is_earlier: bool) {
        let Some(run) = &mut self.run else { return };
        if run.open_request().is_none_or(|open| open.id != request) {
            return;
        }
        let is_asked = self.exit.asks_for_approval();
        let is_leaving = self.exit.condition().is_some();
        let next = if is_asked {
            self.questions.please_close()
        } else if is_earlier {
            " Ask the agent to continue."
        } else {
            ""
        };
        let message = format!("Answered in a terminal: {}.{next}", visible(&choice));
        self.out.inform(message);
        if !is_asked && (is_earlier || is_leaving) {
            run.answered = Some(choice);
        } else {
            self.follow_answer_elsewhere(ExitBy::user(None, Control::Approve));
        }
    }

    /// Continues with the decision that was looked up.
    pub(super) fn on_approval_read(&mut self, decision: Option<Box<Decision>>, is_outdated: bool) {
        let is_decision = |awaited: &Awaited| matches!(awaited, Awaited::Decision { .. });
        let Some((mut exit, awaited)) = self.exit.take(is_decision, &mut self.out) else {
            return;
        };
        let next = match (decision, awaited) {
            (Some(_), _) if is_outdated => self.decide(&mut exit, Answer::Outdated, None),
            (Some(decision), _) => {
                let answer = Answer::Chosen(&decision.choice);
                self.decide(&mut exit, answer, decision.comment)
            }
            (
                None,
                Awaited::Decision {
                    or_pause: Some(why),
                },
            ) => Err(self.await_approval(why)),
            (None, _) => self.ask_approval(&exit, None),
        };
        self.follow_exit(exit, next);
    }

    /// Continues with the answer to the open question; `None` if it timed out.
    pub(super) fn on_exit_answer(&mut self, about: Topic, answer: Option<Answer<'_>>) {
        let is_question = |awaited: &Awaited| awaited.question().is_some();
        let Some((mut exit, _)) = self.exit.take(is_question, &mut self.out) else {
            return;
        };
        let next = match (about, answer) {
            (Topic::Trust(commands), Some(Answer::Confirmed(true))) => {
                // The yes is about the commands that were shown: if they changed since, the question is repeated.
                let mut untrusted = self.commands_to_trust();
                if untrusted == commands {
                    untrusted.clear();
                }
                self.out.perform(Effect::TrustCommands { commands });
                self.run_gate(untrusted)
            }
            (Topic::Trust(_), answer) => {
                let why = answer.map_or(TIMED_OUT, |_| DISAGREED);
                self.end_untrusted_gate(&mut exit, why)
            }
            // The decision is made; a dialog that is dismissed leaves out the comment only.
            (Topic::Comment(choice), answer) => {
                let comment = match answer {
                    Some(Answer::Chosen(comment)) => trim(comment),
                    _ => "",
                };
                let comment = (!comment.is_empty()).then(|| comment.to_owned());
                self.decide(&mut exit, Answer::Chosen(&choice), comment)
            }
            (_, Some(Answer::Chosen(choice))) if self.wants_comment(choice) => {
                Ok(self.ask_comment(choice))
            }
            (_, Some(answer)) => self.decide(&mut exit, answer, None),
            (_, None) => self.look_up(&exit, Some(UNANSWERED)),
        };
        self.follow_exit(exit, next);
    }

    /// Follows the decision that the user made by a command. Where no question is open, this begins an exit by this user, and
    /// the gate runs again.
    pub(super) fn follow_decision(&mut self, by: ExitBy, choice: &str, comment: Option<String>) {
        let mut exit = self.take_asked().unwrap_or_else(|| Exit::new(by));
        let next = self.decide(&mut exit, Answer::Chosen(choice), comment);
        self.follow_exit(exit, next);
    }

    /// Looks up the decision that the user made outside of the host. Where no question is open, this begins an exit by this
    /// user, and the gate runs again.
    pub(super) fn follow_answer_elsewhere(&mut self, by: ExitBy) {
        let (exit, or_pause) = match self.take_asked() {
            Some(exit) => (exit, None),
            None => (Exit::new(by), Some(UNANSWERED)),
        };
        let next = self.look_up(&exit, or_pause);
        self.follow_exit(exit, next);
    }

    /// Takes the exit that waits for the user's approval, and closes its question.
    fn take_asked(&mut self) -> Option<Exit> {
        let (exit, awaited) = self.exit.take(Awaited::is_approval, &mut self.out)?;
        self.close_question_of(&awaited);
        Some(exit)
    }

    fn close_question_of(&mut self, awaited: &Awaited) {
        if let Some(question) = awaited.question() {
            self.questions.close(question, &mut self.out);
        }
    }

    /// Asks for trust in the commands of the gate.
    fn ask_trust(&mut self) -> Awaited {
        let commands = self.commands_to_trust();
        let location = self.phase().map(ResolvedPhase::location);
        let about = format!(
            "{}\n\nThis phase is left only after its checks, which run commands of this project.",
            location.unwrap_or_default()
        );
        let answers = "Yes: they run now and later, until one of them changes.\nNo: nothing runs, and the workflow stays in this phase.";
        let project = self.run.as_ref().map(|run| &run.project_commands);
        let text = project.map(|project| project.question(&about, answers));
        self.close_start_trust();
        let text = text.unwrap_or_default();
        let topic = Topic::Trust(commands);
        Awaited::Trust(self.questions.ask(topic, text, &mut self.out))
    }

    fn commands_to_trust(&self) -> Vec<RunCheck> {
        let run = self.run.as_ref();
        run.map(ActiveRun::commands_to_trust).unwrap_or_default()
    }

    /// Runs the gate; `commands` are those that need the user's trust.
    fn run_gate(&mut self, commands: Vec<RunCheck>) -> Next {
        let run = self.run.as_ref();
        let gate_of = |run: &ActiveRun| {
            let gates = run.phase()?.phase.gate.clone();
            Some((gates, run.baseline.clone(), run.start_commit()))
        };
        let (gates, baseline, start) = run.and_then(gate_of).ok_or_else(no_phase)?;
        let gate = GateRunId(self.ids.job());
        self.out.perform(Effect::RunGate(GateRun {
            id: gate,
            gates,
            baseline,
            start,
            commands,
        }));
        let in_widget = false;
        Ok(Awaited::Gate { gate, in_widget })
    }

    /// Stores the reports of the gate, and continues with the approval or the next phase if it passed.
    fn end_gate(&mut self, exit: &mut Exit, reports: Vec<Report>) -> Next {
        let run = self.run.as_mut().filter(|run| run.phase().is_some());
        let run = run.ok_or_else(no_phase)?;
        if !self.host.abilities.knows_gate {
            run.count_gate(&reports);
            run.store_gate(&reports, &mut self.out);
        }
        let has_passed = !reports.is_empty() && reports.iter().all(Report::has_passed);
        if !has_passed {
            // The code will change.
            run.drop_approval(&mut self.out);
            return Err(ExitOutcome::NotPassed(reports));
        }
        if run.approval().is_none() || exit.approved {
            return Err(ExitOutcome::Advance(reports));
        }
        exit.reports = reports;
        exit.checked = Some(self.out.now());
        self.need_approval(exit)
    }

    /// Ends a gate with commands that are not trusted.
    fn end_untrusted_gate(&mut self, exit: &mut Exit, why: &str) -> Next {
        let is_command = |gate: &&Gate| gate.check.command().is_some();
        let reason = format!(
            "the commands of this project are not trusted, and {why}. The user can trust them with `workflow-sidecar trust` once this session is closed"
        );
        let reports = self.could_not_run(is_command, CheckError::NotTrusted, reason);
        // Nothing is left for the agent to do, so it is not reminded until the user says something.
        self.with_run(|run, out| {
            run.memory.untrusted_at = Some(run.step());
            run.pause(PauseReason::Question, out);
        });
        self.end_gate(exit, reports)
    }

    /// The report on the first check of the gate that fits.
    fn could_not_run(
        &self,
        fits: impl FnMut(&&Gate) -> bool,
        error: CheckError,
        reason: String,
    ) -> Vec<Report> {
        let gates = self.phase().map_or(&[][..], |phase| &phase.phase.gate);
        let gate = gates.iter().find(fits);
        let report = gate.map(|gate| Report::new(gate, CheckVerdict::CouldNotRun(error), reason));
        report.into_iter().collect()
    }

    /// Looks up a decision about the open approval request, or asks for one.
    fn need_approval(&mut self, exit: &Exit) -> Next {
        let run = self.run.as_ref();
        if run.is_some_and(|run| run.open_request().is_some()) {
            self.look_up(exit, None)
        } else {
            self.ask_approval(exit, None)
        }
    }

    /// Looks up a decision that was made outside of the host. Without one the run pauses for this reason, or the user is asked.
    fn look_up(&mut self, exit: &Exit, or_pause: Option<&'static str>) -> Next {
        let actor = exit.by.actor(self.jumps());
        let run = self.run.as_ref();
        let request = run.and_then(|run| run.approval_request(actor));
        self.out
            .perform(Effect::ReadApproval(request.ok_or_else(no_approval)?));
        Ok(Awaited::Decision { or_pause })
    }

    /// Asks for approval, in the host's dialog and outside of it.
    fn ask_approval(&mut self, exit: &Exit, note: Option<&str>) -> Next {
        let id = self.ids.approval();
        let actor = exit.by.actor(self.jumps());
        let run = self.run.as_mut();
        let (run, approval) = run.and_then(with_approval).ok_or_else(no_approval)?;
        run.request_approval(id, &exit.reports, actor, &mut self.out);
        self.last_shown.note(run.asks());
        let message = approval_message(run, &approval, &exit.reports, note, actor);
        if let Some(why) = self.questions.cannot_ask("this host has no dialogs") {
            let mut why = why.to_owned();
            if note.is_some() {
                why += ", and the earlier answer does not count, because what it was about has changed";
            }
            return Err(self.await_approval(&why));
        }
        let text = Question {
            options: approval.choices,
            show: approval.show,
            ..Question::new(approval.ask, message)
        };
        let question = self.questions.ask(Topic::Approval, text, &mut self.out);
        Ok(Awaited::Approval(question))
    }

    /// The open request for approval that the run waits for.
    pub fn awaited_approval(&self) -> Option<Request> {
        let run = self.run.as_ref();
        let run = run.filter(|run| run.is_paused_for(PauseReason::Approval));
        run?.approval_request(self.actor())
    }

    /// Shows the code of the open approval request to the user.
    pub(super) fn show_code(&mut self, code: &str) {
        let Some(phase) = self.phase() else { return };
        let (location, approval) = (phase.location(), phase.phase.approve.as_ref());
        let ask = approval.map_or("", |approval| &approval.ask);
        self.out.act(Action::Notify {
            message: format!(
                "{location} waits for your approval: {ask}\nAnswer here, or in a terminal with `workflow-sidecar approve {code}`. The code is for \
                 you alone: do not give it to the agent."
            ),
            level: Severity::Warning,
            secret: true,
        });
    }

    /// Returns true if the user who chooses this is asked for a comment.
    fn wants_comment(&self, choice: &str) -> bool {
        let approval = self.run.as_ref().and_then(ActiveRun::approval);
        let approval = approval.filter(|approval| approval.comment);
        let mut choices = approval.iter().flat_map(|approval| &approval.choices);
        choices.any(|known| known == choice) && self.questions.can_ask()
    }

    /// Asks the user who has answered for a comment.
    fn ask_comment(&mut self, choice: &str) -> Awaited {
        let title = format!("{choice}: your comment for the agent");
        let text = Question {
            placeholder: Some("may be empty".to_owned()),
            ..Question::new(title, String::new())
        };
        let topic = Topic::Comment(choice.to_owned());
        Awaited::Approval(self.questions.ask(topic, text, &mut self.out))
    }

    /// Applies the user's decision and its comment: the first choice approves.
    fn decide(&mut self, exit: &mut Exit, answer: Answer<'_>, comment: Option<String>) -> Next {
        let run = self.run.as_mut();
        let (run, approval) = run.and_then(with_approval).ok_or_else(no_approval)?;
        let choice = match answer {
            Answer::Chosen(choice) => approval.choices.iter().position(|known| known == choice),
            Answer::Outdated => {
                run.drop_approval(&mut self.out);
                return self.ask_approval(exit, Some(CHANGED));
            }
            Answer::Confirmed(_) | Answer::Dismissed => None,
        };
        let Some(choice) = choice else {
            return self.look_up(exit, Some(DISMISSED));
        };
        self.last_shown = LastShown::default();
        let target = approval.target(choice);
        let choice = &approval.choices[choice];
        run.note_answer(choice, comment.as_deref().unwrap_or_default());
        let Some(target) = target else {
            let (asked, name) = (asked_and_chose(&approval.ask, choice), run.phase_name());
            let mut answer = not_advanced(format!(
                "Not approved: {asked}. You are still in {name}. Change what the user wants changed, and ask if that is not clear. Then call \
                 workflow_step with action='next' again."
            ));
            answer.details["approval"] = json!(choice);
            run.drop_approval(&mut self.out);
            let answer = with_comment(answer, comment.as_deref());
            return Err(ExitOutcome::Declined(answer));
        };
        let checked = run.open_request().map(|open| open.checked);
        let is_onward = target.is_onward();
        run.user_answer = Some(UserAnswer {
            ask: approval.ask.clone(),
            choice: choice.clone(),
            target,
            comment,
        });
        let checked = exit
            .checked
            .or(checked.filter(|_| self.host.abilities.stored_gates));
        let age = checked.map(|at| self.out.now().saturating_sub(at));
        let is_valid = age.is_some_and(|age| age <= GATE_VALID_FOR);
        let phase = run.phase();
        let has_gate = phase.is_some_and(|phase| !phase.phase.gate.is_empty());
        // A way back or out does not need a fresh result.
        if is_onward && has_gate && !is_valid {
            exit.approved = true;
            return self.run_gate(self.commands_to_trust());
        }
        Err(ExitOutcome::Advance(std::mem::take(&mut exit.reports)))
    }

    /// Pauses the run until the user decides.
    fn await_approval(&mut self, why: &str) -> ExitOutcome {
        self.with_run(|run, out| run.pause(PauseReason::Approval, out));
        let Some(phase) = self.phase().map(|phase| &phase.phase) else {
            return no_phase();
        };
        let (name, ask) = (&phase.name, phase.approve.as_ref());
        let ask = ask.map(|approval| shown(&approval.ask)).unwrap_or_default();
        let same = if phase.outcomes.is_empty() && phase.outputs.is_empty() {
            ""
        } else {
            ", with the same outcome and outputs: the user is asked again about any other"
        };
        let text = format!(
            "⏸ Waiting for approval: {ask} ({why})\nYou are still in {name}. Stop here, and say what waits. The user answers in this session, or \
             in a terminal with `workflow-sidecar approve`. After that, call workflow_step with action='next' again{same}."
        );
        ExitOutcome::Stay(step_answers::waiting("approval", text))
    }
}

/// A run and the approval that its phase needs.
fn with_approval(run: &mut ActiveRun) -> Option<(&mut ActiveRun, Approval)> {
    let approval = run.approval()?.clone();
    Some((run, approval))
}

/// Redacts what checks report, because the reports are in the result of `workflow_step` and in the session.
fn redact(reports: &mut [Report], results: &Results) {
    let is_error = !reports.iter().all(Report::has_passed);
    for report in reports {
        for text in [&mut report.what, &mut report.reason, &mut report.tail] {
            if !text.is_empty() {
                results.redact_text(STEP_TOOL, is_error, text);
            }
        }
    }
}

/// The text of the question for approval: the place, what the agent hands over, and what each answer does.
fn approval_message(
    run: &ActiveRun,
    approval: &Approval,
    reports: &[Report],
    note: Option<&str>,
    actor: Actor,
) -> String {
    let mut lines: Vec<String> = note.map(str::to_owned).into_iter().collect();
    lines.extend(run.asks_about(reports));
    lines.push(String::new());
    let consequences = run.consequences(approval, actor).into_iter();
    lines.extend(consequences.map(|(choice, does)| format!("\"{choice}\" {does}.")));
    lines.join("\n")
}

fn no_phase() -> ExitOutcome {
    ExitOutcome::Stay(cancelled("the run is in no phase any more"))
}

fn no_approval() -> ExitOutcome {
    ExitOutcome::Stay(cancelled("the phase needs no approval any more"))
}

/// The answer to a call of `next` that was cancelled.
fn cancelled(why: &str) -> ToolAnswer {
    let text = format!("Leaving the phase was cancelled: {why}.");
    ToolAnswer::error(text, json!({ "advanced": false }))
}
