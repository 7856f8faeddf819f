//! The files of each host, and our part of them.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::{Value, json};

use super::directories::Directories;
use super::json_text::{Ours, Place};
use super::target_file::{Edit, TargetFile};
use crate::files::{STATE_DIRECTORY, home_dir};
use crate::hook_hosts::{EventName, HookHost};
use crate::store::{MARKER, MARKERS, OF_ALL};

/// The files that configure a host, and the program that it is to run.
#[derive(Debug, Clone)]
pub(crate) struct InstallTarget {
    pub(crate) directories: Directories,
    /// The project; `None` for all projects of the user.
    pub(crate) project: Option<PathBuf>,
    /// This program.
    pub(crate) program: PathBuf,
    /// The directory of a plugin for Claude Code, instead of its configuration.
    pub(crate) plugin: Option<PathBuf>,
    /// The directory of the store, if it is not the user's.
    pub(crate) state: Option<PathBuf>,
}

impl InstallTarget {
    /// This program, for a project or for all projects of the user.
    pub(crate) fn of_process(project: Option<&Path>) -> anyhow::Result<Self> {
        let home = home_dir().context("the home directory is not known: set HOME")?;
        Ok(Self {
            directories: Directories::of_process(&home),
            project: project.map(Path::to_path_buf),
            program: std::env::current_exe().context("the path of this program is not known")?,
            plugin: None,
            state: None,
        })
    }

    /// This program, for all users of the machine; the files are below a directory, if one is named.
    pub(crate) fn managed(root: Option<&Path>) -> anyhow::Result<Self> {
        let root = root.unwrap_or(Path::new("/"));
        Ok(Self {
            directories: Directories::managed(root),
            ..Self::of_process(None)?
        })
    }

    /// This program for all users of the machine, for the user, and for a project.
    pub(crate) fn all(project: Option<&Path>) -> Vec<Self> {
        let of_project = project.map(|project| Self::of_process(Some(project)));
        let all = [Self::managed(None), Self::of_process(None)].into_iter();
        let mut all: Vec<Self> = all.chain(of_project).flatten().collect();
        // In the home directory both are the same files.
        all.retain(|target| target.project.as_ref() != Some(&target.directories.home));
        all
    }

    /// A directory of the host in the project, or the user's.
    pub(super) fn in_project_or(&self, name: &str, of_user: &Path) -> PathBuf {
        let project = self.project.as_ref();
        project.map_or_else(|| of_user.to_path_buf(), |project| project.join(name))
    }
}

/// Seconds for a hook, which answers after three at the latest.
const TIMEOUT: u64 = 30;
/// Codex shortens the time of this one, and says so each time.
const TIMEOUT_OF_INTERRUPT: u64 = 3;
/// Seconds for a call of `workflow_step`: a gate has limits of its own.
const TIMEOUT_OF_STEP: u64 = 86_400;
/// Seconds in Gemini CLI, which waits as long for the start of the server: it has one setting for both.
const TIMEOUT_OF_GEMINI: u64 = 7200;

/// The command file of Claude Code. The prompt reaches the hook, which answers it.
const CLAUDE_COMMAND: &str = include_str!("claude_command.md");

/// The manifest of the plugin for Claude Code.
const CLAUDE_PLUGIN: &str = concat!(
    "{\n  \"name\": \"workflow-sidecar\",\n  \"version\": \"",
    env!("CARGO_PKG_VERSION"),
    "\",\n  \"description\": \"Makes the agent follow a workflow\"\n}\n"
);

/// The command file of Gemini CLI.
const GEMINI_COMMAND: &str = include_str!("gemini_command.toml");

/// The command file of Qwen Code.
const QWEN_COMMAND: &str = include_str!("qwen_command.md");

/// The files of a host.
pub(super) fn files(
    host: &'static HookHost,
    target: &InstallTarget,
) -> anyhow::Result<Vec<TargetFile>> {
    let directories = &target.directories;
    let file = |path: PathBuf, edits| TargetFile {
        path,
        host: host.name,
        edits,
    };
    let text = |text: &str| vec![Edit::Text(text.to_owned())];
    let mut hooks = hook_edits(host, target);
    let server = json_edit(
        &["mcpServers", "workflow"],
        Ours::Whole,
        &server(host, target),
    );
    let mut files = match host.name {
        "copilot" if directories.is_managed => bail!(
            "Copilot CLI takes plugins and no hooks from an administrator: install without --managed, as each user"
        ),
        "claude" if directories.is_managed => {
            let settings = "managed-settings.d/workflow-sidecar.json";
            vec![file(directories.claude.join(settings), hooks)]
        }
        // The same files as a user's: Codex takes the hooks beside its configuration of the machine for managed ones.
        "codex" => {
            let codex = target.in_project_or(".codex", &directories.codex);
            vec![
                file(codex.join("hooks.json"), hooks),
                file(codex.join("config.toml"), vec![codex_server(target)]),
            ]
        }
        "claude" => {
            let command = text(CLAUDE_COMMAND);
            if let Some(plugin) = &target.plugin {
                vec![
                    file(
                        plugin.join(".claude-plugin/plugin.json"),
                        text(CLAUDE_PLUGIN),
                    ),
                    file(plugin.join("hooks/hooks.json"), hooks),
                    file(plugin.join(".mcp.json"), vec![server]),
                    file(plugin.join("commands/workflow.md"), command),
                ]
            } else {
                // A plugin has no status line, and that of a project would hide the user's own.
                if target.project.is_none() {
                    hooks.push(status_line(target));
                }
                let claude = target.in_project_or(".claude", &directories.claude);
                let servers = target.in_project_or(".mcp.json", &directories.claude_servers);
                vec![
                    file(claude.join("settings.json"), hooks),
                    file(servers, vec![server]),
                    file(claude.join("commands/workflow.md"), command),
                ]
            }
        }
        "copilot" if target.project.is_some() => bail!(
            "Copilot CLI reads MCP servers from the home directory only: install without --project"
        ),
        "copilot" => {
            hooks.splice(..0, text("{\"version\": 1}\n"));
            let copilot = &directories.copilot;
            vec![
                file(copilot.join("hooks/workflow-sidecar.json"), hooks),
                file(copilot.join("mcp-config.json"), vec![server]),
            ]
        }
        _ => {
            let (name, of_user, command, own) = if host.name == "qwen" {
                (".qwen", &directories.qwen, "workflow.md", QWEN_COMMAND)
            } else {
                let of_user = &directories.gemini;
                (".gemini", of_user, "workflow.toml", GEMINI_COMMAND)
            };
            hooks.push(server);
            let directory = target.in_project_or(name, of_user);
            vec![
                file(directory.join("settings.json"), hooks),
                file(directory.join("commands").join(command), text(own)),
            ]
        }
    };
    // Commands are read from the directory of a user only.
    files.retain(|file| !(directories.is_managed && matches!(file.edits[..], [Edit::Text(_)])));
    Ok(files)
}

fn hook_edits(host: &HookHost, target: &InstallTarget) -> Vec<Edit> {
    let edit = |(name, event): &(&'static str, EventName)| {
        let command = command(host, target, *event);
        let timeout = match event {
            EventName::Interrupt => TIMEOUT_OF_INTERRUPT,
            _ => TIMEOUT,
        };
        let mut hook = json!({ "type": "command", "command": command, "timeout": timeout });
        match host.name {
            "copilot" => {
                let hook = json!({ "type": "command", "bash": command, "timeoutSec": timeout });
                return json_edit(&["hooks", name], Ours::Elements, &hook);
            }
            "gemini" | "qwen" => {
                hook["name"] = json!("workflow-sidecar");
                hook["timeout"] = json!(timeout * 1000);
            }
            "claude" if *event == EventName::ToolCall => hook["onFailure"] = json!("block"),
            _ => {}
        }
        let hook = json!({ "hooks": [hook] });
        json_edit(&["hooks", name], Ours::Elements, &hook)
    };
    host.events.iter().map(edit).collect()
}

/// The command of a hook. That of a tool call prints an answer only: nothing, an object, or a denial with its reason. Without
/// one the call is blocked while a run is active in a directory around it, or anywhere if the directory is gone. Every other
/// event goes on: Gemini CLI refuses a prompt whose hook fails. Grok runs no command with a variable that it does not know, so
/// theirs have none.
pub(super) fn command(host: &HookHost, target: &InstallTarget, event: EventName) -> String {
    let run = program(target, &format!("hook {}", host.name));
    let home = if target.directories.is_managed {
        "$HOME".to_owned()
    } else {
        format!("${{HOME:-{}}}", quoted(&target.directories.home))
    };
    let state = target.state.as_deref().map(quoted);
    let state = state.unwrap_or_else(|| format!("{home}/{STATE_DIRECTORY}"));
    let script = if event == EventName::ToolCall {
        format!(
            "o=$({run}); c=$?; case $c:$o in 0:) exit;; 0:{{*}}|2:*) printf \"%s\\n\" \"$o\"; exit $c;; esac; \
             s={state}; cd -P .; d=$PWD; case $d in \
             /*) until test -e \"$s/{MARKERS}$d/{MARKER}\"; do test \"$d\" || exit 0; d=${{d%/*}}; done;; \
             *) test -e \"$s/{OF_ALL}\" || exit 0;; esac; \
             echo \"workflow-sidecar cannot judge this call ($c), so it is blocked\" >&2; exit 2"
        )
    } else {
        format!("{run} || echo workflow-sidecar did not answer >&2")
    };
    // The host may run it with a shell of another grammar.
    format!("/bin/sh -c {}", quoted_text(&script))
}

/// This program with a subcommand, and with the store if it is not the user's.
fn program(target: &InstallTarget, subcommand: &str) -> String {
    let program = quoted(&target.program);
    let state = target.state.as_ref();
    let state = state.map_or_else(String::new, |state| format!(" --state {}", quoted(state)));
    format!("{program} {subcommand}{state}")
}

/// The line that Claude Code shows below its prompt.
fn status_line(target: &InstallTarget) -> Edit {
    let line = json!({ "type": "command", "command": program(target, "status --line") });
    json_edit(&["statusLine"], Ours::WholeIfFree, &line)
}

fn codex_server(target: &InstallTarget) -> Edit {
    let text = |text: &str| Value::from(text).to_string();
    let args: Vec<String> = server_args(target).iter().map(|arg| text(arg)).collect();
    Edit::Table(format!(
        "command = {}\nargs = [{}]\ntool_timeout_sec = {TIMEOUT_OF_STEP}\n",
        text(&target.program.to_string_lossy()),
        args.join(", ")
    ))
}

/// The MCP server, as a host names it in JSON.
pub(super) fn server(host: &HookHost, target: &InstallTarget) -> Value {
    let mut server = match host.name {
        "claude" => json!({ "alwaysLoad": true }),
        "copilot" => json!({ "type": "local", "tools": ["*"] }),
        "qwen" => {
            json!({ "trust": true, "timeout": TIMEOUT_OF_STEP * 1000, "alwaysLoadTools": true })
        }
        _ => json!({ "trust": true, "timeout": TIMEOUT_OF_GEMINI * 1000 }),
    };
    server["command"] = target.program.to_string_lossy().into();
    server["args"] = server_args(target).into();
    server
}

fn json_edit(path: &[&'static str], ours: Ours, value: &Value) -> Edit {
    let path = path.to_vec();
    Edit::Json {
        place: Place { path, ours },
        value: value.to_string(),
    }
}

fn server_args(target: &InstallTarget) -> Vec<String> {
    let state = target.state.iter();
    let state = state.flat_map(|state| ["--state".into(), state.to_string_lossy()]);
    let args = ["mcp".into()].into_iter().chain(state);
    args.map(Cow::into_owned).collect()
}

fn quoted(path: &Path) -> String {
    quoted_text(&path.to_string_lossy())
}

/// A text in single quotes, as every shell reads it.
pub(super) fn quoted_text(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
