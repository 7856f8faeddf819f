//! Calls of tools: decisions, changed results, and tickets for `workflow_step`.

use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use workflow_core::effect::{Reply, ToolDecision};
use workflow_core::policy::rules::Call;
use workflow_core::types::Millis;

use super::decided::HookError;
use crate::hook_hosts::answer::HookDecision;
use crate::hook_hosts::event::HookEvent;
use crate::hook_hosts::{HookHost, RestoredSession, TICKET_ARGUMENT, session_ticket};
use crate::platform::Project;
use crate::store::{SessionKey, Store, Ticket};
use crate::time::wall_time;

/// The time for which a ticket counts.
const TICKET_VALID_FOR: Millis = 60_000;

/// Decides about a tool call: each call that it stands for has to be allowed.
pub(super) fn judge(
    host: &HookHost,
    restored: &mut RestoredSession<'_>,
    tool: &str,
    input: Option<&RawValue>,
) -> HookDecision {
    let (agent_dir, cwd) = restored.directories();
    let project = Project {
        agent_dir: &agent_dir,
        cwd: &cwd,
        session_file: None,
    };
    let paths = restored.platform().paths(&project);
    for call in host.engine_calls(tool, input) {
        let request = restored.request();
        let call = Call::new(&call.tool, call.input.as_deref(), &*paths);
        let reply = restored.handle(|session, out| session.handle_tool_call(request, &call, out));
        match reply {
            Reply::Now(ToolDecision::Allow) => {}
            Reply::Now(ToolDecision::Block { reason, .. }) => return HookDecision::Deny(reason),
            Reply::Later => {
                let reason =
                    "[workflow] A person has to decide about this call, and this host cannot ask.";
                return HookDecision::Deny(reason.to_owned());
            }
        }
    }
    HookDecision::GoOn
}

/// Returns the text that the model reads instead of a result, if a rule changes it.
pub(super) fn rewritten(
    host: &HookHost,
    restored: &mut RestoredSession<'_>,
    tool: &str,
    text: Option<&str>,
    is_error: bool,
) -> Option<String> {
    let text = text?;
    let content = serde_json::json!([{ "type": "text", "text": text }]);
    let content = to_raw_value(&content).expect("a JSON value is JSON");
    let tool = host.engine_tool(tool);
    let rewritten = restored
        .handle(|session, out| session.handle_tool_result(tool, Some(&content), is_error, out))?;
    let parts: Vec<Value> = serde_json::from_str(rewritten.get()).unwrap_or_default();
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| part["text"].as_str())
        .collect();
    Some(texts.join("\n"))
}

/// Issues a ticket for a call of `workflow_step`, and adds it to the arguments.
pub(super) fn issue_ticket(
    host: &HookHost,
    store: &dyn Store,
    key: &SessionKey,
    event: &HookEvent<'_>,
    input: Option<&RawValue>,
) -> Result<HookDecision, HookError> {
    let id = if host.changes_arguments {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|_| HookError::NoTicket)?;
        format!("{:032x}", u128::from_be_bytes(bytes))
    } else {
        session_ticket(&key.host, &key.session)
    };
    let now = wall_time();
    if !host.changes_arguments {
        // The one of a call that was never made is of no use any more.
        store.take(&id, now)?;
    }
    let ticket = Ticket {
        key: key.clone(),
        cwd: event.cwd.clone(),
        expires: now.saturating_add(TICKET_VALID_FOR),
    };
    store.issue(&id, &ticket, now)?;
    if !host.changes_arguments {
        return Ok(HookDecision::GoOn);
    }
    let input = input.and_then(|input| serde_json::from_str(input.get()).ok());
    let mut input = match input {
        Some(Value::Object(input)) => input,
        _ => serde_json::Map::new(),
    };
    input.insert(TICKET_ARGUMENT.to_owned(), Value::String(id));
    Ok(HookDecision::Input(Value::Object(input)))
}
