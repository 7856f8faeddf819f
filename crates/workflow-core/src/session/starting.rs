//! The start of a run: what is asked before it, and the first phase.

use std::sync::Arc;

use super::Session;
use super::commands::{NewRun, PendingStart, StartAwaits, confirmation, nothing_applies};
use super::context::SentContext;
use super::controls::settle;
use super::inputs;
use super::questions::Topic;
use super::run::ActiveRun;
use crate::definition::{Loaded, Parameter};
use crate::effect::{Action, Delivery, Effect, Effects, Mark, Reply};
use crate::event::Answer;
use crate::types::{RequestId, Severity};

impl Session {
    /// Handles `/workflow`; `arguments` is the text after the command's name: lists, refuses, asks, or starts.
    pub fn handle_workflow_command(
        &mut self,
        request: RequestId,
        arguments: &str,
        loaded: Arc<Loaded>,
        out: &mut Effects,
    ) {
        match NewRun::parse(arguments, loaded) {
            Ok(run) => self.proceed_with_start(request, run, None, out),
            Err((severity, message)) => settle(Some(request), severity, message, out),
        }
    }

    /// Asks for the next input that is missing, then for the confirmation that another run is replaced, then starts.
    fn proceed_with_start(
        &mut self,
        request: RequestId,
        mut run: NewRun,
        since: Option<Mark>,
        out: &mut Effects,
    ) {
        if self.questions.can_ask()
            && let Some(input) = run.missing_input()
        {
            return self.ask_for_input(request, run, input, None, out);
        }
        if let Err(refusal) = run.complete_inputs() {
            return settle(Some(request), Severity::Warning, refusal, out);
        }
        let Some(active) = self.run.as_ref().filter(|run| run.is_active()) else {
            return self.start_run(request, &run, since, out);
        };
        let cannot_ask = "this host cannot ask whether to replace it";
        if let Some(why) = self.questions.cannot_confirm(cannot_ask) {
            let message =
                format!("A workflow is already active, and {why}. Run /cancel-workflow first.");
            return settle(Some(request), Severity::Warning, message, out);
        }
        let question = confirmation(active, &run);
        let pending = PendingStart {
            request,
            awaits: StartAwaits::Confirmation(active.state().task_id.clone()),
            run,
        };
        self.questions.ask(Topic::Start(pending), question, out);
    }

    /// Asks for the value of an input, with the problem of the value before.
    fn ask_for_input(
        &mut self,
        request: RequestId,
        run: NewRun,
        input: Parameter,
        problem: Option<&str>,
        out: &mut Effects,
    ) {
        let name = run.workflow().map_or("", |workflow| &workflow.name);
        let question = inputs::question(name, &input, problem);
        let awaits = StartAwaits::Input(input);
        let pending = PendingStart {
            request,
            run,
            awaits,
        };
        self.questions.ask(Topic::Start(pending), question, out);
    }

    /// Takes an answer of a person to a question about a start.
    pub(super) fn on_start_answer(
        &mut self,
        pending: PendingStart,
        answer: Answer<'_>,
        out: &mut Effects,
    ) {
        let PendingStart {
            request,
            mut run,
            awaits,
        } = pending;
        let since = Some(out.mark());
        match (awaits, answer) {
            (StartAwaits::Input(input), Answer::Chosen(text)) => {
                match inputs::read_answer(&input, text) {
                    Err(problem) => self.ask_for_input(request, run, input, Some(&problem), out),
                    Ok(value) => {
                        run.inputs.insert(input.name, value);
                        self.proceed_with_start(request, run, since, out);
                    }
                }
            }
            (StartAwaits::Input(_), _) => {
                let usage = run.workflow().map(inputs::usage).unwrap_or_default();
                let message = format!("Nothing was started.\n\n{usage}");
                settle(Some(request), Severity::Info, message, out);
            }
            (StartAwaits::Confirmation(replaces), Answer::Confirmed(true)) => {
                let active = self.run.as_ref().filter(|run| run.is_active());
                if active.is_some_and(|run| run.state().task_id == replaces) {
                    return self.start_run(request, &run, since, out);
                }
                let message = "The active workflow has changed in the meantime. Run /workflow again to replace it.";
                settle(Some(request), Severity::Warning, message, out);
            }
            (StartAwaits::Confirmation(_), _) => out.reply(request, Reply::Command),
        }
    }

    /// Starts a run, and answers the command. The actions since the mark belong to the answer, if it comes later than that.
    fn start_run(
        &mut self,
        request: RequestId,
        new: &NewRun,
        since: Option<Mark>,
        out: &mut Effects,
    ) {
        self.start(new, out);
        out.answer(request, Reply::Command, since);
    }

    fn start(&mut self, new: &NewRun, out: &mut Effects) {
        let Some(workflow) = new.workflow() else {
            return;
        };
        let progress = new.progress(workflow, self.ids.task(out.now()), out.now());
        if !progress.state.active {
            return out.notify(Severity::Warning, nothing_applies(workflow));
        }
        let triggers = std::mem::take(&mut self.settings.triggers);
        self.adopt_settings(&new.loaded.settings);
        self.auto_continue.forget_reminder();
        if let Some(run) = &mut self.run {
            run.clear_approval(out);
        }
        let run = ActiveRun::start(progress.clone(), &new.loaded);
        if let Some(replaced) = self.run.replace(run) {
            self.unloaded(&replaced, out);
        }
        // Whatever this response did to the replaced run, it has not moved the new one.
        self.turn_moved = self.turn_moved.map(|_| false);
        self.sent_context = SentContext::default();
        self.enter(progress, None, out);
        if self.settings.triggers != triggers {
            self.watch_triggers(out);
        }
        if new.has_hints() && !self.host.sets_hints() {
            let message = "This host cannot set the model, the thinking level or the visible tools, so `model`, `thinking` and `activeTools` have no effect here.";
            out.notify(Severity::Info, message);
        }
        self.close_start_trust(out);
        let commands = self.run.as_ref().map(|run| run.project_commands().all());
        if let Some(commands) = commands.filter(|commands| !commands.is_empty()) {
            let commands = commands.to_vec();
            out.perform(Effect::CheckTrust { commands });
        }
        out.act(Action::SetSessionName {
            name: new.session_name(workflow),
        });
        self.send_to_agent(new.initial_message(workflow), Delivery::IfIdle, out);
    }
}
