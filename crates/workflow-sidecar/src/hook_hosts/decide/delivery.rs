//! Texts that a host has no place for in its answer to an event.

use crate::hook_hosts::answer::{HookAnswer, HookDecision};
use crate::hook_hosts::event::{EventKind, HookEvent};
use crate::hook_hosts::{HookHost, HostMemory};

const READ_FIRST: &str = "[workflow] This call did not run, so that you read this first. Then make the call again, if it is still right.";
const TELL_USER: &str = "[workflow] Tell the user, word for word:";

/// Moves the texts of an answer that the host would drop to the next answer that can have them: the denial of a call, or
/// the reason to continue.
pub(super) fn postpone_texts(
    host: &HookHost,
    event: &HookEvent<'_>,
    mut answer: HookAnswer,
    memory: &mut HostMemory,
) -> HookAnswer {
    if !host.shows_notices
        && let Some(notice) = answer.notice.take()
    {
        let context = answer.context.take().into_iter();
        let texts: Vec<String> = context.chain([format!("{TELL_USER}\n{notice}")]).collect();
        answer.context = Some(texts.join("\n\n"));
    }
    if !host.injects {
        memory.for_agent.extend(answer.context.take());
    }
    if !host.answers_prompts
        && let HookDecision::BlockPrompt(text) = &answer.decision
    {
        memory.for_agent.push(format!("{TELL_USER}\n{text}"));
        answer.decision = HookDecision::GoOn;
    }
    let takes_texts = matches!(
        event.kind,
        EventKind::ToolCall { .. } | EventKind::Stop { .. }
    );
    if memory.for_agent.is_empty() || !takes_texts || event.is_of_subagent {
        return answer;
    }
    let text = std::mem::take(&mut memory.for_agent).join("\n\n");
    answer.decision = match (&event.kind, answer.decision) {
        (EventKind::Stop { .. }, HookDecision::Continue(reminder)) => {
            HookDecision::Continue(format!("{text}\n\n{reminder}"))
        }
        (EventKind::Stop { .. }, decision) => {
            let most = host.most_reminders.unwrap_or(u32::MAX);
            if memory.reminders >= most {
                memory.for_agent.push(text);
                decision
            } else {
                memory.reminders += 1;
                HookDecision::Continue(text)
            }
        }
        (_, HookDecision::Deny(reason)) => HookDecision::Deny(format!("{reason}\n\n{text}")),
        _ => HookDecision::Deny(format!("{READ_FIRST}\n\n{text}")),
    };
    answer
}
