//! Calls of tools: the calls of the engine that they stand for, decisions, changed results, and tickets for `workflow_step`.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use workflow_core::effect::{Reply, ToolDecision};
use workflow_core::policy::STEP_TOOL;
use workflow_core::policy::rules::{Call, contains_patch, directory_of_patch, path_in};
use workflow_core::types::Millis;

use super::{EventHandler, HookError};
use crate::driver::RestoredSession;
use crate::hook_hosts::answer::HookDecision;
use crate::hook_hosts::event::{EventPayload, HookEvent};
use crate::hook_hosts::host::ToolName;
use crate::hook_hosts::patch;
use crate::hook_hosts::prompt::may_be_command;
use crate::hook_hosts::tool_result::{self, Replacement};
use crate::hook_hosts::{HookHost, TICKET_ARGUMENT};
use crate::platform::paths::LocalPaths;
use crate::store::{SessionKey, Ticket};
use crate::time::wall_time;

/// The time for which a ticket counts.
const TICKET_VALID_FOR: Millis = 60_000;

const NOT_ASKED: &str =
    "[workflow] The user has to decide about this call, and this host cannot ask.";

const SENT_AS_PROMPT: &str = "[workflow] This call is blocked: a text of it begins as a command of the workflow, and only the user gives those. \
    Begin it with another word, or ask the user.";

impl EventHandler<'_> {
    /// Decides about a tool call: each call that it stands for has to be allowed.
    pub(super) fn judge(
        &self,
        session: &mut RestoredSession,
        event: &HookEvent<'_>,
    ) -> HookDecision {
        let context = session.driver.context.clone();
        // From the project if it is inside, as paths are shown.
        let opened_in = event.cwd.strip_prefix(&context.cwd);
        let opened_in = opened_in.unwrap_or(event.cwd).to_string_lossy();
        let paths = LocalPaths::new(&context.cwd, &context.agent_dir, None);
        let paths = paths.with_protected(self.host.files_about_hooks(&context.cwd));
        let paths = paths.with_store(self.store.directory());
        if session.driver.session.is_at_door() {
            session.look_up_trust();
        }
        let mut questions = Vec::new();
        let (tool, input) = (event.payload.tool(), event.payload.tool_input);
        for (number, part) in self.host.engine_calls(tool, input).iter().enumerate() {
            let call = Call::new(&part.tool, part.input.as_deref(), &paths).opened_in(&opened_in);
            let call = if number == 0 { call } else { call.as_part() };
            let has_run = session.driver.session.view().is_some();
            let is_at_door = session.driver.session.is_at_door();
            if (has_run || is_at_door) && call.sent_texts().into_iter().any(may_be_command) {
                return HookDecision::Deny(SENT_AS_PROMPT.to_owned());
            }
            let loaded = is_at_door.then(|| Arc::clone(&session.loaded));
            let (_, answer) = session.request(|session, request| {
                session.handle_tool_call(request, &call, loaded.as_ref());
            });
            let (text, is_denied) = match answer {
                Some(Reply::ToolCall(ToolDecision::Allow)) => continue,
                Some(Reply::ToolCall(ToolDecision::Block(block))) => (block.reason, true),
                Some(Reply::Step(_) | Reply::Command | Reply::Branch(_)) | None => {
                    let Some(question) = session.take_questions().pop() else {
                        return HookDecision::Deny(NOT_ASKED.to_owned());
                    };
                    (question.message, false)
                }
            };
            let at_door = is_at_door.then(|| session.with_commands_as_prompts(&text));
            let text = at_door.unwrap_or(text);
            if is_denied {
                return HookDecision::Deny(text);
            }
            questions.push(text);
        }
        questions.dedup();
        let asked = (!questions.is_empty()).then(|| HookDecision::Ask(questions.join("\n\n")));
        asked.unwrap_or_default()
    }

    /// Keeps a decision that is not to go on.
    pub(super) fn keep(
        &self,
        session: &mut RestoredSession,
        payload: &EventPayload<'_>,
        decision: &HookDecision,
    ) {
        let tool = self.host.engine_tool(payload.tool());
        match decision {
            HookDecision::Deny(reason) => session.keep_decision(tool, reason, false),
            HookDecision::Ask(question) => session.keep_decision(tool, question, true),
            _ => {}
        }
    }

    /// Returns what the model gets instead of a result, if a rule changes it.
    pub(super) fn rewritten(
        &self,
        session: &mut RestoredSession,
        payload: &EventPayload<'_>,
    ) -> Option<Replacement> {
        let tool = self.host.engine_tool(payload.tool());
        tool_result::rewritten(payload.result()?, &mut |content| {
            session.with_effects(|session| session.handle_tool_result(tool, Some(content), false))
        })
    }

    /// Issues a ticket for a call of `workflow_step`, and adds it to the arguments, or leaves it for the process of the host.
    pub(super) fn issue_ticket(
        &self,
        key: &SessionKey,
        session: &RestoredSession,
        input: Option<&RawValue>,
    ) -> Result<HookDecision, HookError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|_| HookError::NoTicket)?;
        let random = || format!("{:032x}", u128::from_be_bytes(bytes));
        let id = self.process.clone().unwrap_or_else(random);
        let now = wall_time();
        let ticket = Ticket {
            key: key.clone(),
            cwd: session.driver.context.cwd.to_path_buf(),
            expires: now.saturating_add(TICKET_VALID_FOR),
        };
        self.store.issue(&id, &ticket, now)?;
        if self.process.is_some() {
            return Ok(HookDecision::GoOn);
        }
        let input = input.and_then(|input| serde_json::from_str(input.get()).ok());
        let mut input: Map<String, Value> = input.unwrap_or_default();
        input.insert(TICKET_ARGUMENT.to_owned(), Value::String(id));
        Ok(HookDecision::Input(Value::Object(input)))
    }
}

/// A call for the engine.
pub(in crate::hook_hosts) struct EngineCall<'a> {
    pub(in crate::hook_hosts) tool: Cow<'a, str>,
    pub(in crate::hook_hosts) input: Option<Cow<'a, RawValue>>,
}

impl HookHost {
    /// Returns true if this is the host's name of `workflow_step`.
    pub(in crate::hook_hosts) fn is_step(&self, tool: &str) -> bool {
        self.tool(tool) == Some(ToolName::Step)
    }

    /// The engine's name of a tool, for a result.
    pub(in crate::hook_hosts) fn engine_tool<'a>(&self, tool: &'a str) -> &'a str {
        match self.tool(tool) {
            Some(ToolName::Step) => STEP_TOOL,
            Some(ToolName::Is(name)) => name,
            Some(ToolName::Shell) => "bash",
            Some(ToolName::Patch) => "edit",
            Some(ToolName::Free) | None => tool,
        }
    }

    /// The calls that a call stands for. Each of them has to be allowed.
    pub(in crate::hook_hosts) fn engine_calls<'a>(
        &self,
        tool: &'a str,
        input: Option<&'a RawValue>,
    ) -> Vec<EngineCall<'a>> {
        let same = EngineCall {
            tool: self.engine_tool(tool).into(),
            input: input.map(Cow::Borrowed),
        };
        match self.tool(tool) {
            Some(ToolName::Patch) => match patch_of(input) {
                Some(patch) => patched(&patch, Some("")),
                None => vec![same],
            },
            Some(ToolName::Shell) => {
                let of_line = patched_by_line(input).unwrap_or_default();
                std::iter::once(same).chain(of_line).collect()
            }
            Some(ToolName::Free) => Vec::new(),
            Some(ToolName::Step | ToolName::Is(_)) | None => vec![same],
        }
    }

    fn tool(&self, tool: &str) -> Option<ToolName> {
        let known = self.tools.iter().find(|(name, _)| *name == tool);
        known.map(|(_, name)| *name)
    }
}

/// The text of a patch in the arguments of a call, whatever its key.
fn patch_of(input: Option<&RawValue>) -> Option<String> {
    let input: Value = serde_json::from_str(input?.get()).ok()?;
    let texts = match &input {
        Value::String(text) => vec![text.as_str()],
        Value::Object(members) => members.values().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let patch = texts.into_iter().find(|text| contains_patch(text))?;
    Some(patch.to_owned())
}

/// The calls that a shell line with a patch stands for, beside the line itself.
fn patched_by_line(input: Option<&RawValue>) -> Option<Vec<EngineCall<'static>>> {
    let input: Value = serde_json::from_str(input?.get()).ok()?;
    let line = input.get("command")?.as_str()?;
    if !contains_patch(line) {
        return None;
    }
    let mut of_call = ["workdir", "cwd"]
        .iter()
        .filter_map(|key| input.get(key)?.as_str());
    let outer = of_call.next().unwrap_or_default();
    let directory = directory_of_patch(line).map(|inner| path_in(outer, inner));
    Some(patched(line, directory.as_deref()))
}

fn patched(patch: &str, directory: Option<&str>) -> Vec<EngineCall<'static>> {
    let calls = patch::calls(patch, directory).into_iter();
    calls
        .map(|(tool, input)| EngineCall {
            tool: tool.into(),
            input: Some(Cow::Owned(
                to_raw_value(&input).expect("a JSON value is JSON"),
            )),
        })
        .collect()
}
