//! Calls of tools: decisions, changed results, and tickets for `workflow_step`.

use std::path::Path;

use serde_json::Value;
use serde_json::value::RawValue;
use workflow_core::effect::{Reply, ToolDecision};
use workflow_core::policy::rules::Call;
use workflow_core::types::Millis;

use super::HookError;
use crate::driver::RestoredSession;
use crate::hook_hosts::answer::HookDecision;
use crate::hook_hosts::tool_result;
use crate::hook_hosts::{HookHost, TICKET_ARGUMENT};
use crate::platform::paths::LocalPaths;
use crate::store::{SessionKey, Store, Ticket};
use crate::time::wall_time;

/// The time for which a ticket counts.
const TICKET_VALID_FOR: Millis = 60_000;

/// Decides about a tool call that is made in a directory: each call that it stands for has to be allowed.
pub(super) fn judge(
    host: &HookHost,
    session: &mut RestoredSession,
    cwd: &Path,
    tool: &str,
    input: Option<&RawValue>,
) -> HookDecision {
    let directories = session.driver.directories.clone();
    // From the project if it is inside, as paths are shown.
    let opened_in = cwd
        .strip_prefix(&directories.cwd)
        .unwrap_or(cwd)
        .to_string_lossy();
    let paths = LocalPaths::new(&directories.cwd, &directories.agent_dir, None);
    let paths = paths.with_protected(host.files_about_hooks(&directories.cwd));
    for (number, part) in host.engine_calls(tool, input).iter().enumerate() {
        let call = Call::new(&part.tool, part.input.as_deref(), &paths).opened_in(&opened_in);
        let call = if number == 0 { call } else { call.as_part() };
        let (_, answer) =
            session.request(|session, request| session.handle_tool_call(request, &call));
        match answer {
            Some(Reply::ToolCall(ToolDecision::Allow)) => {}
            Some(Reply::ToolCall(ToolDecision::Block(block))) => {
                return HookDecision::Deny(block.reason);
            }
            Some(Reply::Step(_) | Reply::Command | Reply::Branch(_)) | None => {
                let reason =
                    "[workflow] The user has to decide about this call, and this host cannot ask.";
                return HookDecision::Deny(reason.to_owned());
            }
        }
    }
    HookDecision::GoOn
}

/// Returns the text that the model reads instead of a result, if a rule changes it.
pub(super) fn rewritten(
    host: &HookHost,
    session: &mut RestoredSession,
    tool: &str,
    result: &RawValue,
) -> Option<String> {
    let tool = host.engine_tool(tool);
    tool_result::rewritten(result, &mut |content| {
        session.handle(|session| session.handle_tool_result(tool, Some(content), false))
    })
}

/// Issues a ticket for a call of `workflow_step`, and adds it to the arguments.
pub(super) fn issue_ticket(
    store: &Store,
    key: &SessionKey,
    session: &RestoredSession,
    input: Option<&RawValue>,
) -> Result<HookDecision, HookError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| HookError::NoTicket)?;
    let id = format!("{:032x}", u128::from_be_bytes(bytes));
    let now = wall_time();
    let ticket = Ticket {
        key: key.clone(),
        cwd: session.driver.directories.cwd.to_path_buf(),
        expires: now.saturating_add(TICKET_VALID_FOR),
    };
    store.issue(&id, &ticket, now)?;
    let input = input.and_then(|input| serde_json::from_str(input.get()).ok());
    let mut input = match input {
        Some(Value::Object(input)) => input,
        _ => serde_json::Map::new(),
    };
    input.insert(TICKET_ARGUMENT.to_owned(), Value::String(id));
    Ok(HookDecision::Input(Value::Object(input)))
}
