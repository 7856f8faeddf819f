//! Commands that a person types in a prompt.

use std::sync::Arc;

use workflow_core::Session;
use workflow_core::effect::Reply;
use workflow_core::event::Answer as PersonsAnswer;
use workflow_core::session::Control;

use super::decided::Decided;
use crate::hook_hosts::answer::{HookAnswer, HookDecision};
use crate::hook_hosts::prompt::{self, PromptAction, PromptCommand};
use crate::hook_hosts::{
    FinishedSession, HookPlatform, HostMemory, RestoredSession, with_commands_as_prompts,
};

const LEAVE_PHASE: &str = "[workflow] The user asks you to finish this phase now: call workflow_step with action='next' by itself.";

/// Carries out a command of a prompt.
pub(super) fn carry_out(
    prompt: &str,
    command: &PromptCommand<'_>,
    mut restored: RestoredSession<'_>,
    platform: &HookPlatform,
    memory: &mut HostMemory,
) -> Decided {
    let request = restored.request();
    let loaded = Arc::clone(&restored.loaded);
    restored.handle(|session, out| match command.action {
        PromptAction::Start(arguments) => {
            session.handle_workflow_command(request, arguments, loaded, out);
        }
        PromptAction::Cancel => {
            session.handle_cancel_command(out);
            out.reply(request, Reply::Command);
        }
        PromptAction::Control(control, arguments) => {
            session.handle_control(request, control, arguments, out);
        }
    });
    let is_exit = matches!(
        command.action,
        PromptAction::Control(Control::Next | Control::Approve, _)
    );
    let mut is_open = restored.take_answer(request).is_none();
    if let Some(question) = restored.take_questions().into_iter().next() {
        if !command.is_confirmed {
            let (title, message) = (question.title, question.message);
            return Decided::refused(with_commands_as_prompts(&format!(
                "{title}\n\n{message}\n\nTo do it: {}",
                prompt::confirmation(prompt)
            )));
        }
        let yes = question.options.get(1);
        let answer = yes.map_or(PersonsAnswer::Confirmed(true), |yes| {
            PersonsAnswer::Chosen(yes)
        });
        restored.handle(|session, out| session.handle_answer(question.id, answer, out));
        is_open = restored.take_answer(request).is_none();
    }
    if is_open || platform.wants_gate() {
        // A gate may run for minutes and a hook may not, so the agent's call runs it. Nothing is stored of this.
        return match command.action {
            PromptAction::Control(Control::Approve, _) => Decided::refused(
                "The result of the gate is too old to approve the phase with it. Ask the agent to call workflow_step with \
                 action='next' again, then approve.",
            ),
            _ if is_exit => Decided {
                answer: HookAnswer {
                    context: Some(LEAVE_PHASE.to_owned()),
                    ..HookAnswer::default()
                },
                ..Decided::default()
            },
            _ => {
                Decided::refused("This cannot be done while the workflow waits for something else.")
            }
        };
    }
    memory.reminders = 0;
    let outcome = restored.finish(memory);
    if !outcome.to_agent.is_empty() {
        restored.handle(Session::handle_agent_start);
    }
    let answer = if outcome.to_agent.is_empty() {
        let text = memory.take_notices();
        HookAnswer::of(HookDecision::BlockPrompt(
            text.unwrap_or_else(|| "Done.".to_owned()),
        ))
    } else {
        let context = restored.session.context_message();
        let texts = outcome.to_agent.into_iter();
        let texts: Vec<String> = texts
            .chain(context.map(|message| message.content))
            .collect();
        HookAnswer {
            context: Some(texts.join("\n\n")),
            notice: memory.take_notices(),
            ..HookAnswer::default()
        }
    };
    Decided {
        answer,
        change: FinishedSession::of(&restored, outcome.entries, memory),
    }
}
