//! Leaving a phase: trust in the gate's commands, and the gate. The approval of the user is in `approving`.

use super::approving::UNANSWERED;
use super::controls::{Answered, settle};
use super::phase::ResolvedPhase;
use super::phase_exit::{Awaited, Exit, ExitBy, ExitOutcome, Next};
use super::questions::{DISAGREED, TIMED_OUT, Topic};
use super::run::ActiveRun;
use super::step_answers::{not_advanced, with_comment};
use super::{Session, controls, step_answers};
use crate::definition::{Gate, RunCheck};
use crate::effect::{Effect, GateRun, Notice, Reply};
use crate::event::Answer;
use crate::policy::STEP_TOOL;
use crate::policy::gate_report::{CheckError, CheckVerdict, Report};
use crate::policy::results::Results;
use crate::reminders::PauseReason;
use crate::run::MeasuredChange;
use crate::types::{GateRunId, RequestId};
use crate::white_space::trim;

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
    pub(super) fn follow_exit(&mut self, exit: Exit, next: Next) {
        let outcome = match next {
            Ok(awaited) => return self.exit.wait(exit, awaited),
            Err(outcome) => outcome,
        };
        let measure = self.run.as_ref().and_then(ActiveRun::measure_change);
        match (&outcome, measure) {
            (ExitOutcome::Advance(_) | ExitOutcome::NotPassed(_), Some(measure)) => {
                self.out.perform(measure);
                self.exit.wait(exit, Awaited::Change(outcome));
            }
            _ => self.finish_exit(&exit, outcome),
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
        let is_change = |awaited: &Awaited| matches!(awaited, Awaited::Change(_));
        if let Some((exit, Awaited::Change(outcome))) = self.exit.take(is_change, &mut self.out) {
            self.with_run(|run, _| run.note_change(change));
            self.finish_exit(&exit, outcome);
        }
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
        if let Some((_, Awaited::Gate { gate, .. })) = cancelled_exit {
            self.out.perform(Effect::CancelGate { gate });
        }
        self.questions.close_all(Topic::is_of_exit, &mut self.out);
        self.with_run(ActiveRun::clear_dialog_approval);
        match cancelled_exit.map(|(exit, _)| exit.by) {
            Some(ExitBy::Agent(request)) => self
                .out
                .reply(request, Reply::Step(step_answers::not_left(why))),
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
        let is_it =
            |awaited: &Awaited| matches!(awaited, Awaited::Gate { gate: of, .. } if *of == gate);
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

    /// Continues with the answer to the open question; `None` if it timed out.
    pub(super) fn on_exit_answer(&mut self, about: Topic, answer: Option<Answer<'_>>) {
        let Some((mut exit, _)) = self.exit.take(Awaited::is_question, &mut self.out) else {
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
        self.ask(topic, text);
        Awaited::Trust
    }

    pub(super) fn commands_to_trust(&self) -> Vec<RunCheck> {
        let commands = self.run.as_ref().map(ActiveRun::commands_to_trust);
        commands.unwrap_or_default().to_vec()
    }

    /// Runs the gate; `commands` are those that need the user's trust.
    pub(super) fn run_gate(&mut self, commands: Vec<RunCheck>) -> Next {
        let run = self.run.as_ref();
        let gate_of = |run: &ActiveRun| {
            let gates = run.phase()?.phase.gate.clone();
            Some((gates, run.baseline.clone(), run.start_files()))
        };
        let (gates, baseline, start) = run.and_then(gate_of).ok_or_else(ExitOutcome::no_phase)?;
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
        let run = run.ok_or_else(ExitOutcome::no_phase)?;
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
