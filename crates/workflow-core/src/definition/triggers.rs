//! What the settings say about turns: what is kept of the code, and what wakes the agent from outside.
//!
//! Owns the types and how they are read. Both are guards: whatever is wrong is an error. A trigger with a mistake is
//! not there; the others of the file are.

use serde::{Deserialize, Serialize};

use super::findings::{Finding, Reader};
use super::keys::{self, listed};
use super::language::Level;
use super::model::Tier;
use super::node::{Kind, Map};
use super::source::Span;
use super::tool_rules::read_list;
use super::values::{
    check_template, choice, filled_text, given, place_of, required_text, whole_number, wrong_type,
};
use crate::diagnostic::{Code, Severity, visible};
use crate::template::{self, Place};

/// What is kept of the code at the start of each turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Checkpoint {
    /// What git would put aside.
    Git,
    /// Nothing, whatever is said further out.
    Off,
}

/// What wakes the agent from outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trigger {
    /// What is waited for.
    pub on: TriggerOn,
    /// What the agent is told, with the variables of what came in.
    pub prompt: String,
    /// Whose settings say so.
    pub tier: Tier,
    /// Where it stands, as `file:line`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// What a trigger waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TriggerOn {
    /// Something stands in this file.
    File(String),
    /// A request comes in at this port of the machine.
    Http {
        /// The port.
        port: u16,
        /// What a request must show.
        token: Token,
    },
}

/// What a request must show.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Token {
    /// This text. It is written down nowhere else.
    Text(#[serde(serialize_with = "unsaid")] String),
    /// What this environment variable holds.
    Environment(String),
}

fn unsaid<S: serde::Serializer>(_: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str("…")
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(_) => f.write_str("Text(…)"),
            Self::Environment(name) => write!(f, "Environment({name:?})"),
        }
    }
}

impl Trigger {
    /// What it waits for, as people read it.
    #[must_use]
    pub fn in_words(&self) -> String {
        match &self.on {
            TriggerOn::File(path) => format!("file {path}"),
            TriggerOn::Http { port, .. } => format!("http port {port}"),
        }
    }

    /// The same with what the agent is told and where it stands, all of it: a line that is safe to show.
    #[must_use]
    pub fn listed(&self) -> String {
        let (waits_for, prompt) = (self.in_words(), &self.prompt);
        let line = format!("{waits_for}: \"{prompt}\" ({})", self.source);
        visible(&line)
    }

    /// Whether both watch for the same and tell the agent the same, wherever they stand.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.on, &self.prompt, self.tier) == (&other.on, &other.prompt, other.tier)
    }

    /// What the agent is told when this came in.
    #[must_use]
    pub fn told(&self, came_in: &str) -> String {
        template::resolve(&self.prompt, |name| match name {
            "content" | "body" => Some(came_in),
            _ => None,
        })
    }
}

/// What a level says under `checkpoint`.
pub(super) fn read_checkpoint(reader: &mut Reader<'_>, map: &mut Map<'_>) -> Option<Checkpoint> {
    let entry = given(reader, map, "checkpoint")?;
    let words = [("git", Checkpoint::Git), ("off", Checkpoint::Off)];
    choice(reader, Severity::Error, &entry, &words)
}

/// What the settings file of a tier says under `triggers`.
pub(super) fn read_triggers(
    reader: &mut Reader<'_>,
    map: &mut Map<'_>,
    tier: Tier,
) -> Vec<Trigger> {
    let read = |reader: &mut Reader<'_>, map: Map<'_>, span: Option<Span>| {
        read_trigger(reader, map, span, tier)
    };
    read_list(reader, map, "triggers", read).all
}

fn read_trigger(
    reader: &mut Reader<'_>,
    mut map: Map<'_>,
    span: Option<Span>,
    tier: Tier,
) -> Option<Trigger> {
    keys::check(reader, Level::Trigger, &map);
    let span = map.first_key().or(span);
    let has_one = needs_one_of(reader, &map, ["file", "http"], "a trigger", span);
    let file = read_file(reader, &mut map, tier);
    let http = read_http(reader, &mut map);
    let prompt = required_text(reader, &mut map, Level::Trigger, "prompt", span);
    if let Some(prompt) = &prompt {
        check_template(reader, Place::Trigger, &prompt.value, prompt.span);
    }
    let on = file.map(TriggerOn::File).or(http).filter(|_| has_one)?;
    Some(Trigger {
        on,
        prompt: prompt?.value.into_owned(),
        tier,
        source: place_of(reader, span),
    })
}

/// The user's settings hold in every project, so that a path from the working directory would let each of them wake the
/// agent; a project's own word reaches no further than the project.
fn read_file(reader: &mut Reader<'_>, map: &mut Map<'_>, tier: Tier) -> Option<String> {
    let text = filled_text(reader, map, "file")?;
    let (message, help) = match tier {
        Tier::Global if !is_rooted(&text.value) => (
            "`file` starts nowhere: in each project it would be another one",
            "write the whole path, or `~/…`; a file of one project is for its `.pi/workflow-sidecar.json5`",
        ),
        Tier::Project if is_rooted(&text.value) || leads_out(&text.value) => (
            "`file` is not in this project",
            "name a file of the project, or move the trigger into your own settings",
        ),
        Tier::Global | Tier::Project => return Some(text.value.into_owned()),
    };
    reader.report(Finding::error(Code::PathRefused, text.span, message).help(help));
    None
}

/// Whether a path starts at the root of a file system, or at the user's home.
fn is_rooted(path: &str) -> bool {
    let has_drive = path.as_bytes().get(1) == Some(&b':');
    path.starts_with(['/', '\\']) || path.starts_with("~/") || has_drive
}

/// Whether a path goes up further than it went down.
fn leads_out(path: &str) -> bool {
    let mut depth = 0_usize;
    path.split(['/', '\\']).any(|part| match part {
        "" | "." => false,
        ".." => match depth.checked_sub(1) {
            Some(up) => {
                depth = up;
                false
            }
            None => true,
        },
        _ => {
            depth += 1;
            false
        }
    })
}

fn read_http(reader: &mut Reader<'_>, map: &mut Map<'_>) -> Option<TriggerOn> {
    let entry = given(reader, map, "http")?;
    let span = entry.value.span;
    let Kind::Map(mut http) = entry.value.kind else {
        let kind = &entry.value.kind;
        let expected = "a map with `port` and `token`";
        reader.report(wrong_type(Severity::Error, "http", expected, kind, span));
        return None;
    };
    keys::check(reader, Level::Http, &http);
    let span = http.first_key().or(span);
    let has_one = needs_one_of(reader, &http, ["token", "tokenEnv"], "`http`", span);
    let port = read_port(reader, &mut http, span);
    let token = filled_text(reader, &mut http, "token").map(|text| text.value.into_owned());
    let name = filled_text(reader, &mut http, "tokenEnv").map(|text| text.value.into_owned());
    let token = token.map(Token::Text).or(name.map(Token::Environment));
    let (port, token) = (port?, token.filter(|_| has_one)?);
    Some(TriggerOn::Http { port, token })
}

fn read_port(reader: &mut Reader<'_>, map: &mut Map<'_>, span: Option<Span>) -> Option<u16> {
    if map.entries.iter().all(|entry| entry.key != "port") {
        let finding = Finding::error(Code::MissingKey, span, "`port` is missing");
        reader.report(finding.help("write `port: 3333`, for example"));
        return None;
    }
    let entry = given(reader, map, "port")?;
    let port = whole_number(&entry.value).and_then(|port| u16::try_from(port).ok());
    let port = port.filter(|&port| port > 0);
    if port.is_none() {
        let message = "`port` must be a whole number from 1 to 65535";
        let finding = Finding::error(Code::InvalidValue, entry.value.span, message);
        reader.report(finding.help("write `port: 3333`, for example"));
    }
    port
}

fn needs_one_of(
    reader: &mut Reader<'_>,
    map: &Map<'_>,
    keys: [&'static str; 2],
    what: &str,
    span: Option<Span>,
) -> bool {
    let has = |key: &str| map.entries.iter().any(|entry| entry.key == key);
    let (code, message) = match keys.map(has) {
        [true, true] => (
            Code::BothLists,
            format!("{what} has only one of {}", listed(keys)),
        ),
        [false, false] => (
            Code::MissingKey,
            format!("{what} needs one of {}", listed(keys)),
        ),
        [true, false] | [false, true] => return true,
    };
    let help = format!("write either `{}` or `{}`", keys[0], keys[1]);
    reader.report(Finding::error(code, span, message).help(help));
    false
}
