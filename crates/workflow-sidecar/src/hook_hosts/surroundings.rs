//! What the environment variables of a hook say.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;

use super::host::{HookHost, Variables};
use super::hosts::host;
use crate::platform::version_in;
use crate::store::SessionKey;

/// The variable with the session whose agent started a host in its shell, as `claude:ID`.
const PARENT: &str = "WORKFLOW_SIDECAR_PARENT";

/// Variables that a host sets for the shell of its agent, each with the host that sets it for its own hooks as well.
const SHELL_MARKS: [(&str, Option<&str>); 10] = [
    ("CODEX_THREAD_ID", None),
    ("CODEX_SESSION_ID", None),
    ("CODEX_TOOL_CALL_ID", None),
    ("COPILOT_AGENT_SESSION_ID", None),
    ("GEMINI_CLI", None),
    ("QWEN_CODE", None),
    ("OPENCODE", None),
    ("PI_CODING_AGENT", None),
    ("CLAUDECODE", Some("claude")),
    ("COPILOT_CLI", Some("copilot")),
];

/// Those of them that have the session of the agent, with the host.
const SHELL_SESSIONS: [(&str, &str); 2] = [
    ("codex", "CODEX_SESSION_ID"),
    ("copilot", "COPILOT_AGENT_SESSION_ID"),
];

/// What the variables of a hook say.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    /// The host's version, if hooks are told.
    pub(super) version: Option<String>,
    /// True if the event comes from the shell of an agent.
    pub(super) is_from_shell: bool,
    /// The session whose agent started the host in its shell, if the shell names it.
    pub(super) parent: Option<SessionKey>,
    /// True if the host asks the user about a call.
    pub(super) asks: bool,
    /// The file that sets variables for the shell of the agent.
    shell_file: Option<PathBuf>,
}

impl Surroundings {
    /// Has the shell of the agent name its session to the hosts that it starts. Without it, they have rules of their own only.
    pub(super) fn name_session(&self, own: &SessionKey) -> io::Result<()> {
        let Some(file) = &self.shell_file else {
            return Ok(());
        };
        let SessionKey { host, session } = self.parent.as_ref().unwrap_or(own);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if !session.chars().all(is_plain) {
            return Ok(());
        }
        let mut file = OpenOptions::new().append(true).create(true).open(file)?;
        file.write_all(format!("export {PARENT}='{host}:{session}'\n").as_bytes())
    }
}

impl HookHost {
    /// Reads the variables of a hook.
    pub(super) fn surroundings(&self, variable: &Variables<'_>) -> Surroundings {
        let parent = variable(PARENT);
        // The agent may have started this host in the shell of another one.
        let mut marks = SHELL_MARKS.iter();
        let is_marked = marks
            .any(|(mark, in_hooks_of)| *in_hooks_of != Some(self.name) && variable(mark).is_some());
        let is_from_shell = parent.is_some() || is_marked;
        let key = |host: &str, session: &str| SessionKey {
            host: host.to_owned(),
            session: session.to_owned(),
        };
        let named = parent.and_then(|parent| {
            let (name, session) = parent.split_once(':')?;
            Some(key(host(name)?.name, session))
        });
        let in_mark = |(host, mark): &(&str, &str)| Some(key(host, &variable(mark)?));
        let parent = named.or_else(|| SHELL_SESSIONS.iter().find_map(in_mark));
        let version = self.version_variable.and_then(variable);
        let version = version.and_then(|it| version_in(&it.replace('-', ".")).map(str::to_owned));
        let asks = |version: &String| self.asks.is_some_and(|asks| asks(version, variable));
        Surroundings {
            is_from_shell,
            parent,
            // The agent may answer for the user in a host that it started.
            asks: !is_from_shell && version.as_ref().is_some_and(asks),
            version,
            shell_file: self.shell_file.and_then(variable).map(PathBuf::from),
        }
    }
}
