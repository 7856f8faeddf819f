//! Texts that a host has no place for in its answer to an event.

use crate::hook_hosts::answer::{Answer, Verdict};
use crate::hook_hosts::event::{Event, Kind};
use crate::hook_hosts::{HookHost, HostMemory};

const READ_FIRST: &str = "[workflow] This call did not run, so that you read this first. Then make the call again, if it is still right.";
const TELL_USER: &str = "[workflow] Tell the user, word for word:";

/// Moves the texts of an answer that the host would drop to the next answer that can have them: the denial of a call, or
/// the reason to go on.
pub(super) fn in_reach(
    host: &HookHost,
    event: &Event<'_>,
    mut answer: Answer,
    memory: &mut HostMemory,
) -> Answer {
    if !host.injects {
        memory.for_agent.extend(answer.context.take());
    }
    if !host.answers_prompts
        && let Verdict::BlockPrompt(text) = &answer.verdict
    {
        memory.for_agent.push(format!("{TELL_USER}\n{text}"));
        answer.verdict = Verdict::GoOn;
    }
    let takes_texts = matches!(event.kind, Kind::ToolCall { .. } | Kind::Stop { .. });
    if memory.for_agent.is_empty() || !takes_texts || event.is_of_subagent {
        return answer;
    }
    let text = std::mem::take(&mut memory.for_agent).join("\n\n");
    answer.verdict = match (&event.kind, answer.verdict) {
        (Kind::Stop { .. }, Verdict::Continue(reminder)) => {
            Verdict::Continue(format!("{text}\n\n{reminder}"))
        }
        (Kind::Stop { .. }, verdict) => {
            let most = host.most_reminders.unwrap_or(u32::MAX);
            if memory.reminders >= most {
                memory.for_agent.push(text);
                verdict
            } else {
                memory.reminders += 1;
                Verdict::Continue(text)
            }
        }
        (_, Verdict::Deny(reason)) => Verdict::Deny(format!("{reason}\n\n{text}")),
        _ => Verdict::Deny(format!("{READ_FIRST}\n\n{text}")),
    };
    answer
}
