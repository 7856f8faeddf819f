//! The start of a run: what is asked before it, and the first phase.

use std::sync::Arc;

use super::commands::{NewRun, PendingStart, StartAwaits, confirmation, session_name};
use super::context::SentContext;
use super::controls::{Answered, CommandOutcome};
use super::questions::Topic;
use super::run::ActiveRun;
use super::{Session, controls, inputs};
use crate::definition::{Loaded, Parameter};
use crate::effect::{Action, Delivery, Effect, Notice};
use crate::event::Answer;
use crate::types::RequestId;

impl Session {
    /// Handles `/workflow`; `arguments` is the text after the command's name: lists, refuses, asks, or starts.
    pub fn handle_workflow_command(
        &mut self,
        request: RequestId,
        arguments: &str,
        loaded: Arc<Loaded>,
    ) {
        let outcome = NewRun::parse(arguments, loaded)
            .and_then(|run| self.proceed_with_start(Some(request), run));
        controls::end_command(request, None, outcome, &mut self.out);
    }

    /// Asks for the next input that is missing, then for the confirmation that another run is replaced, then starts.
    pub(super) fn proceed_with_start(
        &mut self,
        request: Option<RequestId>,
        run: NewRun,
    ) -> CommandOutcome {
        if self.questions.can_ask()
            && let Some(input) = run.missing_input()
        {
            return Ok(self.ask_for_input(request, run, input, None));
        }
        let run = run.completed()?;
        let Some(active) = self.active() else {
            // After a tool call the agent is busy.
            self.start(&run, request.is_none().then_some(Delivery::Steer));
            return Ok(Answered::Now);
        };
        let cannot_ask = "this host cannot ask whether to replace it";
        if let Some(why) = self.questions.cannot_confirm(cannot_ask) {
            let message =
                format!("A workflow is already active, and {why}. Run /cancel-workflow first.");
            return Err(Notice::warning(message));
        }
        let question = confirmation(active, &run);
        let pending = PendingStart {
            request,
            awaits: StartAwaits::Confirmation(active.state().task_id.clone()),
            run,
        };
        self.ask(Topic::Start(pending), question);
        Ok(Answered::Later)
    }

    /// Asks for the value of an input, with the problem of the value before.
    fn ask_for_input(
        &mut self,
        request: Option<RequestId>,
        run: NewRun,
        input: Parameter,
        problem: Option<&str>,
    ) -> Answered {
        let name = run.workflow().map_or("", |workflow| &workflow.name);
        let question = inputs::question(name, &input, problem);
        let pending = PendingStart {
            request,
            run,
            awaits: StartAwaits::Input(input),
        };
        self.ask(Topic::Start(pending), question);
        Answered::Later
    }

    /// Takes an answer of a person to a question about a start.
    pub(super) fn on_start_answer(&mut self, pending: PendingStart, answer: Answer<'_>) {
        let (request, mut run) = (pending.request, pending.run);
        let since = Some(self.out.mark());
        let outcome = match (pending.awaits, answer) {
            (StartAwaits::Input(input), Answer::Chosen(text)) => {
                match inputs::read_answer(&input, text) {
                    Err(problem) => Ok(self.ask_for_input(request, run, input, Some(&problem))),
                    Ok(value) => {
                        run.inputs.insert(input.name, value);
                        self.proceed_with_start(request, run)
                    }
                }
            }
            (StartAwaits::Input(_), _) => {
                let usage = run.workflow().map(inputs::usage).unwrap_or_default();
                Err(Notice::info(format!("Nothing was started.\n\n{usage}")))
            }
            (StartAwaits::Confirmation(replaces), Answer::Confirmed(true)) => {
                let is_it = |run: &ActiveRun| run.state().task_id == replaces;
                if self.active().is_some_and(is_it) {
                    self.start(&run, None);
                    Ok(Answered::Now)
                } else {
                    let message = "The active workflow has changed in the meantime. Run /workflow again to replace it.";
                    Err(Notice::warning(message))
                }
            }
            (StartAwaits::Confirmation(_), _) => Ok(Answered::Now),
        };
        controls::end_command(request, since, outcome, &mut self.out);
    }

    /// Starts a run. Its first message reaches a busy agent as `deliver_as` says.
    pub(super) fn start(&mut self, new: &NewRun, deliver_as: Option<Delivery>) {
        let Some(workflow) = new.workflow() else {
            return;
        };
        let now = self.out.now();
        let progress = match new.progress(workflow, self.ids.task(now), now) {
            Ok(progress) => progress,
            Err(why) => return self.out.warn(format!("Nothing was started: {why}")),
        };
        if !progress.state.active {
            return self.out.warn(format!(
                "Every phase of {} would be skipped, because its condition (`when`) is not met at the start. Nothing was started.",
                workflow.name
            ));
        }
        let mut first_message = new.initial_message(workflow, &progress);
        if new.by_settings {
            let told = format!(
                "The workflow \"{}\" was started, as the settings say.",
                workflow.name
            );
            first_message = format!("[workflow] {told}\n\n{first_message}");
            self.out.inform(told);
        }
        let triggers = std::mem::take(&mut self.settings.triggers);
        self.adopt_settings(&new.loaded.settings);
        self.auto_continue.reminded = None;
        self.door.forget();
        self.with_run(ActiveRun::clear_approval);
        let run = ActiveRun::start(progress.clone(), &new.loaded);
        if let Some(replaced) = self.run.replace(run) {
            self.unloaded(&replaced);
        }
        // Whatever this response did to the replaced run, it has not moved the new one.
        self.turn_moved = self.turn_moved.map(|_| false);
        self.sent_context = SentContext::default();
        self.enter(progress, None);
        if self.settings.triggers != triggers {
            self.watch_triggers();
        }
        if new.has_hints() && !self.host.abilities.hints {
            let message = "This host cannot set the model, the thinking level or the visible tools, so `model`, `thinking` and `activeTools` have no effect here.";
            self.out.inform(message);
        }
        self.close_start_trust();
        let commands = self.run.as_ref().map(|run| run.project_commands.all());
        let commands = commands.unwrap_or_default().to_vec();
        if !commands.is_empty() {
            self.out.perform(Effect::CheckTrust { commands });
        }
        let name = session_name(workflow, &new.description);
        self.out.act(Action::SetSessionName { name });
        self.send_to_agent(first_message, deliver_as);
    }
}
