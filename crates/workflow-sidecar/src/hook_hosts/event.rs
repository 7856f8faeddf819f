//! The used fields of the events of hosts.

use std::borrow::Cow;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The meaning of an event's name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum EventName {
    SessionStart,
    Prompt,
    ToolCall,
    ToolResult,
    Stop,
    Interrupt,
    /// An event that changes nothing here.
    Unused,
    /// The event could not be read.
    #[default]
    Unknown,
}

/// The events of Claude Code, by its names.
pub(super) const CLAUDE_EVENTS: &[(&str, EventName)] = &[
    ("SessionStart", EventName::SessionStart),
    ("UserPromptSubmit", EventName::Prompt),
    ("PreToolUse", EventName::ToolCall),
    ("PostToolUse", EventName::ToolResult),
    ("Stop", EventName::Stop),
];

/// An event as the host sends it. The hosts share the names of these fields; all others are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct EventPayload<'a> {
    #[serde(borrow)]
    pub(super) hook_event_name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) session_id: Option<Cow<'a, str>>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) transcript_path: Option<PathBuf>,
    /// The sub-agent, in events of one.
    #[serde(borrow)]
    pub(super) agent_id: Option<Cow<'a, str>>,
    /// The session of the main agent, where a sub-agent has one of its own.
    #[serde(borrow)]
    pub(super) parent_agent_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) source: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) prompt: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) tool_name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) tool_input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tool_response: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tool_result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) last_assistant_message: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) prompt_response: Option<Cow<'a, str>>,
    /// The work that continues in the background when the agent stops.
    pub(super) background_tasks: Vec<Value>,
}

/// An event.
#[derive(Debug)]
pub(super) struct HookEvent<'a> {
    pub(super) name: EventName,
    /// The session of the main agent.
    pub(super) session: String,
    pub(super) cwd: PathBuf,
    pub(super) transcript: Option<PathBuf>,
    /// True if a sub-agent causes it.
    pub(super) is_of_subagent: bool,
    pub(super) kind: EventKind<'a>,
}

/// The content of an event.
#[derive(Debug)]
pub(super) enum EventKind<'a> {
    SessionStart(StartReason),
    Prompt(&'a str),
    ToolCall {
        tool: &'a str,
        input: Option<&'a RawValue>,
    },
    ToolResult {
        tool: &'a str,
        result: Option<&'a RawValue>,
        is_error: bool,
    },
    Stop {
        /// The agent's last text, if the host sends it.
        last: Option<&'a str>,
    },
    Interrupt,
    Unused,
}

/// The reason why a session starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StartReason {
    /// It is new, or continues its conversation.
    Startup,
    /// The conversation has lost messages.
    Shortened,
    /// It is a copy of another session.
    Fork,
}

impl<'a> EventPayload<'a> {
    /// Reads an event.
    pub(super) fn parse(text: &'a [u8]) -> Result<Self, String> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        serde_json::from_slice(text).map_err(|error| format!("the event is not valid: {error}"))
    }

    /// The meaning of the event's name in a table.
    pub(super) fn name(&self, table: &[(&str, EventName)]) -> EventName {
        let Some(name) = self.hook_event_name.as_deref() else {
            return EventName::Unknown;
        };
        let known = table.iter().find(|(known, _)| *known == name);
        known.map_or(EventName::Unused, |(_, event)| *event)
    }

    /// The event.
    pub(super) fn event(&'a self, name: EventName) -> Result<HookEvent<'a>, String> {
        let kind = self.kind(name);
        let session = self.parent_agent_id.as_deref();
        let session = session.or(self.session_id.as_deref());
        let session = session.filter(|session| !session.is_empty());
        // A call may be made in another directory than that of the session.
        let cwd = self.cwd.clone().filter(|cwd| cwd.is_absolute());
        // Rules are about names, so a call without one would pass most of them.
        if matches!(kind, EventKind::ToolCall { tool: "", .. }) {
            return Err("the event names no tool".to_owned());
        }
        Ok(HookEvent {
            name,
            session: session.ok_or("the event names no session")?.to_string(),
            cwd: cwd.ok_or("the event names no absolute directory in cwd")?,
            transcript: self.transcript_path.clone(),
            is_of_subagent: self.agent_id.is_some(),
            kind,
        })
    }

    pub(super) fn kind(&'a self, name: EventName) -> EventKind<'a> {
        match name {
            EventName::SessionStart => EventKind::SessionStart(match self.source.as_deref() {
                Some("compact" | "clear") => StartReason::Shortened,
                Some("fork") => StartReason::Fork,
                _ => StartReason::Startup,
            }),
            EventName::Prompt => EventKind::Prompt(self.prompt.as_deref().unwrap_or_default()),
            EventName::ToolCall => EventKind::ToolCall {
                tool: self.tool_name.as_deref().unwrap_or_default(),
                input: self.tool_input,
            },
            EventName::ToolResult => EventKind::ToolResult {
                tool: self.tool_name.as_deref().unwrap_or_default(),
                result: self.tool_response.or(self.tool_result),
                is_error: false,
            },
            // It stops for now, and continues when the work in the background is done.
            EventName::Stop if !self.background_tasks.is_empty() => EventKind::Unused,
            EventName::Stop => EventKind::Stop {
                last: self
                    .last_assistant_message
                    .as_deref()
                    .or(self.prompt_response.as_deref()),
            },
            EventName::Interrupt => EventKind::Interrupt,
            EventName::Unused | EventName::Unknown => EventKind::Unused,
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
