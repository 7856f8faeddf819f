//! Tool calls of hosts, under the names and with the arguments that rules are written for.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use workflow_core::policy::STEP_TOOL;

use super::host::{HookHost, ToolName};
use super::patch;

/// A call for the engine.
#[derive(Debug)]
pub(super) struct EngineCall<'a> {
    pub(super) tool: Cow<'a, str>,
    pub(super) input: Option<Cow<'a, RawValue>>,
}

impl HookHost {
    /// Returns true if this is the host's name of `workflow_step`.
    pub(super) fn is_step(&self, tool: &str) -> bool {
        tool == self.step_tool
    }

    /// The engine's name of a tool, for a result.
    pub(super) fn engine_tool<'a>(&self, tool: &'a str) -> &'a str {
        match self.tool(tool) {
            _ if self.is_step(tool) => STEP_TOOL,
            Some(ToolName::Is(name)) => name,
            Some(ToolName::Shell) => "bash",
            Some(ToolName::Patch) => "edit",
            None => tool,
        }
    }

    /// The calls that a call stands for. Each of them has to be allowed.
    pub(super) fn engine_calls<'a>(
        &self,
        tool: &'a str,
        input: Option<&'a RawValue>,
    ) -> Vec<EngineCall<'a>> {
        let same = EngineCall {
            tool: self.engine_tool(tool).into(),
            input: input.map(Cow::Borrowed),
        };
        let command = || {
            let input: Value = serde_json::from_str(input?.get()).ok()?;
            Some(input.get("command")?.as_str()?.to_owned())
        };
        match self.tool(tool) {
            Some(ToolName::Patch) => match patch_of(input) {
                Some(patch) => patched(&patch),
                None => vec![same],
            },
            Some(ToolName::Shell) => {
                let command = command().filter(|command| patch::contains_patch(command));
                let patched = command.as_deref().map(patched);
                std::iter::once(same)
                    .chain(patched.into_iter().flatten())
                    .collect()
            }
            Some(ToolName::Is(_)) | None => vec![same],
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
    let patch = texts.into_iter().find(|text| patch::contains_patch(text))?;
    Some(patch.to_owned())
}

fn patched(patch: &str) -> Vec<EngineCall<'static>> {
    let calls = patch::calls(patch).into_iter();
    calls
        .map(|(tool, input)| EngineCall {
            tool: tool.into(),
            input: Some(Cow::Owned(
                to_raw_value(&input).expect("a JSON value is JSON"),
            )),
        })
        .collect()
}
