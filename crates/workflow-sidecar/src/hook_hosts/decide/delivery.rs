//! Texts that a host has no place for in its answer to an event.

use crate::hook_hosts::HookHost;
use crate::hook_hosts::answer::HookAnswer;

const TELL_USER: &str = "[workflow] Tell the user, word for word:";

/// Has the agent pass on a notice that the host does not show.
pub(super) fn pass_on_notice(host: &HookHost, answer: &mut HookAnswer) {
    if !host.shows_notices
        && let Some(notice) = answer.notice.take()
    {
        let context = answer.context.take().into_iter();
        let texts: Vec<String> = context.chain([format!("{TELL_USER}\n{notice}")]).collect();
        answer.context = Some(texts.join("\n\n"));
    }
}
