//! Tool calls of hosts, under the names and with the arguments that rules are written for.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use workflow_core::policy::STEP_TOOL;
use workflow_core::policy::rules::{contains_patch, directory_of_patch, path_in};

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
        match self.tool(tool) {
            Some(ToolName::Patch) => match patch_of(input) {
                Some(patch) => patched(&patch, Some("")),
                None => vec![same],
            },
            Some(ToolName::Shell) => {
                let of_line = patched_by_line(input).unwrap_or_default();
                std::iter::once(same).chain(of_line).collect()
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
