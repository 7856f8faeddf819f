//! The used fields of the events of hosts.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{HookHost, transcript};
use crate::store::SessionKey;

/// The meaning of an event's name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum EventName {
    SessionStart,
    Prompt,
    ToolCall,
    ToolResult,
    Stop,
    Interrupt,
    /// The conversation is about to lose messages.
    Compaction,
    /// It loses messages if it has become too long, or if the user asks for it.
    CompactionCheck,
    /// An event that changes nothing here.
    Unused,
    /// The event could not be read.
    #[default]
    Unknown,
}

/// An event as the host sends it. The hosts share the names of these fields; all others are ignored.
#[serde_with::apply(Option<&RawValue> => #[serde(borrow)])]
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct EventPayload<'a> {
    pub(super) hook_event_name: Option<String>,
    /// The name of the event in another host's envelope.
    #[serde(rename = "hookEventName")]
    foreign_name: Option<IgnoredAny>,
    timestamp: Option<IgnoredAny>,
    pub(super) session_id: Option<String>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) transcript_path: Option<PathBuf>,
    /// The sub-agent, in events of one.
    pub(super) agent_id: Option<String>,
    /// The session of the main agent, where a sub-agent has one of its own.
    pub(super) parent_agent_id: Option<String>,
    /// What starts a session, or who gives a prompt.
    pub(super) source: Option<String>,
    /// Who asks for a compaction.
    pub(super) trigger: Option<String>,
    pub(super) prompt: Option<String>,
    /// What the user has typed, in hosts that mark it.
    pub(super) submitted_prompt: Option<String>,
    /// The id of the prompt (Claude Code).
    pub(super) prompt_id: Option<String>,
    /// The id of the turn that it begins or changes (Codex).
    pub(super) turn_id: Option<String>,
    pub(super) tool_name: Option<String>,
    pub(super) tool_input: Option<&'a RawValue>,
    pub(super) tool_response: Option<&'a RawValue>,
    pub(super) tool_result: Option<&'a RawValue>,
    pub(super) last_assistant_message: Option<String>,
    pub(super) prompt_response: Option<String>,
    /// The work that continues in the background when the agent stops.
    pub(super) background_tasks: Vec<Value>,
}

/// An event.
#[derive(Clone, Copy)]
pub(super) struct HookEvent<'a> {
    pub(super) name: EventName,
    /// The session of the main agent.
    pub(super) session: &'a str,
    /// True if a sub-agent causes it.
    pub(super) is_of_subagent: bool,
    pub(super) cwd: &'a Path,
    pub(super) payload: &'a EventPayload<'a>,
}

impl<'a> EventPayload<'a> {
    /// Reads an event.
    pub(super) fn parse(text: &'a [u8]) -> Result<Self, String> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        serde_json::from_slice(text).map_err(|error| format!("the event is not valid: {error}"))
    }

    /// The meaning of the event's name in a table.
    pub(super) fn name(&self, table: &[(&str, EventName)]) -> EventName {
        let name = self.hook_event_name.as_deref();
        let mut known = table.iter().filter(|(known, _)| Some(*known) == name);
        match known.next() {
            Some((_, event)) => *event,
            None if !self.is_foreign() => EventName::Unused,
            None if self.prompt.is_some() => EventName::Prompt,
            None => EventName::Unknown,
        }
    }

    /// True if none of our hosts writes such an event: Grok adds names in another case to those of Claude Code.
    pub(super) fn is_foreign(&self) -> bool {
        self.foreign_name.is_some() || self.hook_event_name.is_none()
    }

    /// True if Copilot CLI writes such an event. Claude Code says no time, and has another transcript.
    pub(super) fn is_of_copilot(&self) -> bool {
        let is_its = |transcript: &Path| transcript.ends_with("events.jsonl");
        self.timestamp.is_some() && self.transcript_path.as_deref().is_none_or(is_its)
    }

    /// The event.
    pub(super) fn event(&'a self, name: EventName) -> Result<HookEvent<'a>, String> {
        let session = self.parent_agent_id.as_deref();
        let session = session.or(self.session_id.as_deref());
        let session = session.filter(|session| !session.is_empty());
        // A call may be made in another directory than that of the session.
        let cwd = self.cwd.as_deref().filter(|cwd| cwd.is_absolute());
        // Rules are about names, so a call without one would pass most of them.
        if name == EventName::ToolCall && self.tool().is_empty() {
            return Err("the event names no tool".to_owned());
        }
        // It stops for now, and continues when the work in the background is done.
        let runs = |task: &Value| task.get("status").is_none_or(|status| status == "running");
        let stops_for_now = name == EventName::Stop && self.background_tasks.iter().any(runs);
        Ok(HookEvent {
            name: if stops_for_now {
                EventName::Unused
            } else {
                name
            },
            session: session.ok_or("the event names no session")?,
            is_of_subagent: self.agent_id.is_some(),
            cwd: cwd.ok_or("the event names no absolute directory in cwd")?,
            payload: self,
        })
    }

    /// The text of a prompt, as the user has typed it.
    pub(super) fn prompt(&self) -> &str {
        let typed = self.submitted_prompt.as_deref();
        typed.or(self.prompt.as_deref()).unwrap_or_default()
    }

    /// What tells this prompt from another one with the same text, and the text; `None` if the host says no such thing.
    pub(super) fn prompt_id(&self) -> Option<String> {
        // Qwen Code counts `SESSION########0` anew in each process.
        let prompt = self.prompt_id.as_ref().filter(|id| !id.contains('#'));
        let id = prompt.or(self.turn_id.as_ref())?;
        Some(format!("{id} {}", self.prompt()))
    }

    /// What tells this stop of a turn from another one: the agent says something in between.
    pub(super) fn stop_id(&self) -> Option<String> {
        let length = transcript::length(self.transcript_path.as_deref()?)?;
        Some(format!("{} {length}", self.turn_id.as_ref()?))
    }

    /// True if the host says that neither the user nor a program of the user gives the prompt: the agent may have scheduled it.
    pub(super) fn is_of_host(&self) -> bool {
        !matches!(self.source.as_deref(), None | Some("user" | "sdk"))
    }

    pub(super) fn tool(&self) -> &str {
        self.tool_name.as_deref().unwrap_or_default()
    }

    /// The result of a tool.
    pub(super) fn result(&self) -> Option<&'a RawValue> {
        self.tool_response.or(self.tool_result)
    }

    /// The agent's last text, if the host sends it.
    pub(super) fn last_text(&self) -> Option<&str> {
        let last = self.last_assistant_message.as_deref();
        last.or(self.prompt_response.as_deref())
    }

    /// True if `codex exec` causes the event, which prints nothing of a prompt that is blocked.
    pub(super) fn is_of_exec(&self) -> bool {
        let turn = self.transcript_path.as_ref().zip(self.turn_id.as_ref());
        turn.is_some_and(|(path, turn)| transcript::is_exec(path, turn))
    }

    /// True if the session starts because the conversation has lost messages.
    pub(super) fn is_shortened(&self) -> bool {
        matches!(self.source.as_deref(), Some("compact" | "clear"))
    }
}

impl HookEvent<'_> {
    /// Its session, in the store.
    pub(super) fn key(&self, host: &HookHost) -> SessionKey {
        SessionKey {
            host: host.name.to_owned(),
            session: self.session.to_owned(),
        }
    }
}

impl EventName {
    /// The host's name of the event; empty for an event without one.
    pub(super) fn of(self, table: &[(&'static str, Self)]) -> &'static str {
        let known = table.iter().find(|(_, event)| *event == self);
        known.map_or("", |(name, _)| name)
    }
}
