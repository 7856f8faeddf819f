//! Commands that a person types in a prompt.

use std::sync::Arc;

use workflow_core::Session;
use workflow_core::event::Answer as UsersAnswer;
use workflow_core::session::Control;
use workflow_core::white_space::split_first_word;

use super::begin_turn;
use crate::driver::RestoredSession;
use crate::hook_hosts::answer::HookAnswer;
use crate::hook_hosts::prompt::{self, PromptAction, PromptCommand};

const LEAVE_PHASE: &str = "[workflow] The user asks you to finish this phase now: call workflow_step with action='next' by itself.";

const TRUSTED: &str = "[workflow] The user trusts the commands of this project, as they are now. If a check could not run without that, call \
    workflow_step with action='next' again.";

/// Carries out a command of a prompt. A refusal changes nothing but what the user was shown. A start that succeeds is
/// followed by a warning, if there is one.
pub(super) fn carry_out(
    prompt: &str,
    command: &PromptCommand<'_>,
    session: &mut RestoredSession,
    warning: impl FnOnce() -> Option<String>,
) -> HookAnswer {
    let loaded = Arc::clone(&session.loaded);
    let (request, mut answer) = session.request(|session, request| match command.action {
        PromptAction::Start(arguments) => {
            session.handle_workflow_command(request, arguments, loaded);
        }
        PromptAction::Cancel => session.handle_cancel_command(Some(request)),
        PromptAction::Trust => session.handle_trust_command(request),
        PromptAction::Control(control, arguments) => {
            session.handle_control(request, control, arguments);
        }
    });
    if let Some(question) = session.take_questions().into_iter().next() {
        let was_shown = session.driver.session.was_shown(&question);
        if !(command.is_confirmed && was_shown) {
            session.finish();
            let (title, message) = (question.title, question.message);
            return HookAnswer::refused(session.with_commands_as_prompts(&format!(
                "{title}\n\n{message}\n\nTo do it: {}",
                prompt::confirmation(prompt, session.prompt_word)
            )));
        }
        let yes = question.options.get(1);
        let yes = yes.map_or(UsersAnswer::Confirmed(true), |yes| UsersAnswer::Chosen(yes));
        session.with_effects(|session| session.handle_answer(question.id, yes));
        if command.action == PromptAction::Trust {
            // As any other message of the user.
            let context = begin_turn(session, prompt).map(|message| message.content);
            session.memory.reminders = 0;
            session.take_texts();
            session.memory.add_notices(
                question
                    .listed()
                    .map(|command| format!("✓ trusted: {command}")),
            );
            let notice = session.memory.take_notices();
            session.finish();
            let context: Vec<String> = context.into_iter().chain([TRUSTED.to_owned()]).collect();
            return HookAnswer {
                notice,
                ..HookAnswer::for_model(context.join("\n\n"))
            };
        }
        answer = session.take_answer(request);
    }
    if answer.is_none() || session.driver.left_out.take().is_some() {
        // A gate may run for minutes and a hook may not, so the agent's call runs it. Nothing is stored of this.
        return match command.action {
            PromptAction::Control(Control::Approve, _) => HookAnswer::refused(
                "The result of the gate is too old to approve the phase with it. Ask the agent to call workflow_step with \
                 action='next' again, then approve.",
            ),
            PromptAction::Control(Control::Next, _) => HookAnswer::for_model(LEAVE_PHASE),
            _ => HookAnswer::refused(
                "This cannot be done while the workflow waits for something else.",
            ),
        };
    }
    session.memory.reminders = 0;
    let mut texts = session.take_texts();
    let answer = if texts.is_empty() {
        let text = session.memory.take_notices();
        let mut text = text.unwrap_or_else(|| "Done.".to_owned());
        if let PromptAction::Start(arguments) = command.action
            && let (name, rest) = split_first_word(arguments)
            && session.loaded.catalog.started_by(name).is_none()
        {
            if let Some(verb) = prompt::nearest_verb(name) {
                let meant = format!("{} {verb} {rest}", session.prompt_word);
                text = format!("{text}\n\nDid you mean `{}`?", meant.trim_end());
            }
            if rest.is_empty() {
                let commands = commands(session.prompt_word);
                text = format!("{text}\n\n{}", session.with_commands_as_prompts(&commands));
            }
        }
        HookAnswer::refused(text)
    } else {
        session.with_effects(Session::handle_agent_start);
        let context = session.driver.session.context_message();
        texts.extend(context.map(|message| message.content));
        if matches!(command.action, PromptAction::Start(_)) {
            session.memory.add_notices(warning());
        }
        HookAnswer {
            notice: session.memory.take_notices(),
            ..HookAnswer::for_model(texts.join("\n\n"))
        }
    };
    session.finish();
    answer
}

/// The commands beside the start of a workflow, a line each.
fn commands(word: &str) -> String {
    let controls =
        Control::ALL.map(|control| format!("  /{} — {}\n", control.word(), control.description()));
    format!(
        "Commands:\n{}  {word} quick — Start a run of one phase, for a small change\n  {word} trust — List the project's commands that gates run, to trust them\n  \
         {word} confirm — Do what was listed: {word} confirm trust\n  /cancel-workflow — End the run",
        controls.concat()
    )
}
