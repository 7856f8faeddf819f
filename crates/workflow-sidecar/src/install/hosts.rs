//! The files of each host, and our part of them.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::directories::Directories;
use super::file_change::InstallError;
use super::own;
use super::target_file::{Edit, Owner, TargetFile, any_command_of};
use crate::hook_hosts::{EventName, HookHost};

/// The files that configure a host, and the program that it is to run.
#[derive(Debug)]
pub(crate) struct InstallTarget<'a> {
    pub(crate) directories: &'a Directories,
    /// The project; `None` for all projects of the user.
    pub(crate) project: Option<&'a Path>,
    /// This program.
    pub(crate) program: &'a Path,
    /// The directory of the store, if it is not the user's.
    pub(crate) state: Option<&'a Path>,
}

/// Seconds for a hook, which answers after three at the latest.
const TIMEOUT: u64 = 30;
/// Codex shortens the time of this one, and says so each time.
const TIMEOUT_OF_INTERRUPT: u64 = 3;
/// Seconds for a call of `workflow_step`: a gate has limits of its own.
const TIMEOUT_OF_STEP: u64 = 86_400;

/// The command file of Claude Code. The prompt reaches the hook, which answers it.
const CLAUDE_COMMAND: &str = "\
---
description: Start or control a workflow (workflow-sidecar)
argument-hint: NAME TASK | status | next | pause | resume | skip | goto PHASE | approve CHOICE | cancel
---

workflow $ARGUMENTS
";

/// The command file of Gemini CLI.
const GEMINI_COMMAND: &str = "\
description = \"Start or control a workflow (workflow-sidecar): NAME TASK, status, next, pause, resume, skip, goto, approve, cancel\"
prompt = \"workflow {{args}}\"
";

/// The files of a host.
pub(super) fn files(
    host: &'static HookHost,
    target: &InstallTarget<'_>,
) -> Result<Vec<TargetFile>, InstallError> {
    let directories = target.directories;
    let in_project_or =
        |name: &str, of_user: PathBuf| target.project.map_or(of_user, |project| project.join(name));
    let hooks = |path: PathBuf, edits| TargetFile {
        path,
        edits,
        is_own: false,
        owner: Owner::Hook(host.name),
    };
    let own = |path: PathBuf, text: String| TargetFile {
        path,
        edits: vec![Edit::Text(text)],
        is_own: true,
        owner: Owner::Hook(host.name),
    };
    let server = |path: PathBuf, edit| TargetFile {
        path,
        edits: vec![edit],
        is_own: false,
        owner: Owner::Server,
    };
    Ok(match host.name {
        "codex" => {
            let codex = in_project_or(".codex", directories.codex());
            vec![
                hooks(codex.join("hooks.json"), hook_edits(host, target)),
                server(codex.join("config.toml"), codex_server(target)),
            ]
        }
        "claude" => {
            let claude = in_project_or(".claude", directories.claude());
            let servers = in_project_or(".mcp.json", directories.claude_servers());
            vec![
                hooks(claude.join("settings.json"), hook_edits(host, target)),
                server(servers, json_server(target, &json!({}))),
                own(
                    claude.join("commands/workflow.md"),
                    CLAUDE_COMMAND.to_owned(),
                ),
            ]
        }
        "copilot" if target.project.is_some() => {
            let why = "Copilot CLI reads MCP servers from the home directory only: install without --project";
            return Err(InstallError::NoProject(why));
        }
        "copilot" => {
            let mut edits = vec![Edit::Initial {
                path: vec!["version"],
                value: "1".to_owned(),
            }];
            edits.extend(hook_edits(host, target));
            let copilot = directories.copilot();
            let file = hooks(copilot.join("hooks/workflow-sidecar.json"), edits);
            vec![
                TargetFile {
                    is_own: true,
                    ..file
                },
                server(
                    copilot.join("mcp-config.json"),
                    json_server(target, &json!({ "type": "local", "tools": ["*"] })),
                ),
            ]
        }
        _ => {
            let mut edits = hook_edits(host, target);
            let timeout = TIMEOUT_OF_STEP * 1000;
            edits.push(json_server(
                target,
                &json!({ "trust": true, "timeout": timeout }),
            ));
            let gemini = in_project_or(".gemini", directories.gemini());
            let mut file = hooks(gemini.join("settings.json"), edits);
            // Both parts are in one file.
            file.owner = Owner::Both(host.name);
            let command = gemini.join("commands/workflow.toml");
            vec![file, own(command, GEMINI_COMMAND.to_owned())]
        }
    })
}

/// The command of one of our hooks; `None` if it is somebody else's.
pub(super) fn command_of(element: &str, host: &HookHost) -> Option<String> {
    any_command_of(element).filter(|command| own::is_hook_command(command, host.name))
}

/// The commands that are to be installed for a host, by the host's names of the events.
pub(super) fn commands(host: &HookHost, target: &InstallTarget<'_>) -> Vec<String> {
    let events = host.events.iter();
    events
        .map(|(_, event)| command(host, target, *event))
        .collect()
}

fn hook_edits(host: &HookHost, target: &InstallTarget<'_>) -> Vec<Edit> {
    let edit = |(name, event): &(&'static str, EventName)| {
        let command = command(host, target, *event);
        let timeout = match event {
            EventName::Interrupt => TIMEOUT_OF_INTERRUPT,
            _ => TIMEOUT,
        };
        let value = match host.name {
            "copilot" => json!({ "type": "command", "bash": command, "timeoutSec": timeout }),
            "gemini" => json!({ "hooks": [{
                "name": "workflow-sidecar",
                "type": "command",
                "command": command,
                "timeout": timeout * 1000,
            }] }),
            "claude" if *event == EventName::ToolCall => json!({ "hooks": [{
                "type": "command",
                "command": command,
                "timeout": timeout,
                "onFailure": "block",
            }] }),
            _ => {
                json!({ "hooks": [{ "type": "command", "command": command, "timeout": timeout }] })
            }
        };
        Edit::Element {
            path: vec!["hooks", name],
            value: value.to_string(),
        }
    };
    host.events.iter().map(edit).collect()
}

/// The command of a hook. If the program is missing or crashes before a tool call, the call is blocked while a run is
/// active; an exit code of its own is passed on.
fn command(host: &HookHost, target: &InstallTarget<'_>, event: EventName) -> String {
    let program = quoted(target.program);
    let state = target
        .state
        .map_or_else(String::new, |state| format!(" --state {}", quoted(state)));
    let run = format!("{program} hook {}{state}", host.name);
    if event != EventName::ToolCall {
        return run;
    }
    let marker = match target.state {
        Some(state) => quoted(&state.join("active")),
        None => "\"$HOME/.local/state/workflow-sidecar/active\"".to_owned(),
    };
    let script = format!(
        "{run}; c=$?; case $c in 0|2) exit $c;; esac; test -e {marker} || exit 0; \
         echo \"workflow-sidecar cannot judge this call ($c), so it is blocked\" >&2; exit 2"
    );
    // The host may run it with a shell of another grammar.
    format!("/bin/sh -c {}", quoted_text(&script))
}

fn codex_server(target: &InstallTarget<'_>) -> Edit {
    let text = |text: &str| Value::from(text).to_string();
    let args: Vec<String> = server_args(target).iter().map(|arg| text(arg)).collect();
    Edit::Block {
        header: "[mcp_servers.workflow]",
        body: format!(
            "command = {}\nargs = [{}]\ntool_timeout_sec = {TIMEOUT_OF_STEP}\n",
            text(&target.program.to_string_lossy()),
            args.join(", ")
        ),
    }
}

fn json_server(target: &InstallTarget<'_>, more: &Value) -> Edit {
    let mut server = json!({
        "command": target.program.to_string_lossy(),
        "args": server_args(target),
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        server[name] = value.clone();
    }
    Edit::Member {
        path: vec!["mcpServers", "workflow"],
        value: server.to_string(),
    }
}

fn server_args(target: &InstallTarget<'_>) -> Vec<String> {
    let mut args = vec!["mcp".to_owned()];
    if let Some(state) = target.state {
        args.push("--state".to_owned());
        args.push(state.to_string_lossy().into_owned());
    }
    args
}

fn quoted(path: &Path) -> String {
    quoted_text(&path.to_string_lossy())
}

/// A text in single quotes, as every shell reads it.
fn quoted_text(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
