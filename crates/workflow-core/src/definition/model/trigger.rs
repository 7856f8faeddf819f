//! Triggers that wake the agent. They are a guard: any mistake is an error. A trigger with a mistake is left out; the others
//! of the file stay.

use serde::{Deserialize, Serialize};

use crate::definition::schema::{
    FromMap, KeyType, MapReader, Reader, Section, Shape, Written, section,
};
use crate::definition::syntax::{Kind, Span};
use crate::definition::tier::Tier;
use crate::definition::value::{FilledText, ListOf, Map, Template, Whole};
use crate::diagnostic::{Code, Finding, visible};
use crate::template::{self, TemplateKind};

/// Triggers of a settings file. Each takes a thread or a port as long as a session is open.
const MAX_TRIGGERS: usize = 32;

section! {
    Section { alternatives: &["file", "http"], ..Section::guard("a trigger") };
    /// An external event that wakes the agent.
    pub struct Trigger {
        /// The event.
        pub on: TriggerOn,
        /// A file that is read and then emptied. In your own settings it is an absolute path or `~/…`, in the settings of a project a path inside the project.
        #[key("file": FilledText, default: Described("required: one of `file`, `http`"), example: r#""notes/trigger.txt""#)]
        const file;
        /// A port that accepts requests from this machine: on 127.0.0.1 and ::1 only.
        #[key("http": Map<Http>, default: Described("required: one of `file`, `http`"), example: r#"{"port": 3333, "tokenEnv": "WEBHOOK_TOKEN"}"#)]
        const http;
        /// The message to the agent. `{content}` and `{body}` are the received text.
        #[key("prompt": Template, template: Some(TemplateKind::Trigger), default: Required, example: r#""Somebody says: {content}""#)]
        pub prompt: String,
        /// The source of its settings.
        pub tier: Tier,
        /// Its location, as `file:line`.
        pub source?: String,
    }
}

section! {
    Section { expected: "a map with `port` and `token`", alternatives: &["token", "tokenEnv"], ..Section::guard("`http`") };
    /// A port and the token of its requests.
    pub(crate) struct Http {
        /// The port number.
        #[key("port": Whole<1, 65535, u16>, default: Required, no_value: Refuse, example: "3333", hint: Some("write `port: 3333`, for example"))]
        const port;
        /// The token of a request: `Authorization: Bearer <token>`.
        #[key("token": FilledText, default: Described("required: one of `token`, `tokenEnv`"), example: r#""a long random text""#)]
        const text;
        /// The environment variable that contains the token, so that no file does.
        #[key("tokenEnv": FilledText, default: Described("required: one of `token`, `tokenEnv`"), example: r#""WEBHOOK_TOKEN""#)]
        const variable;
        /// Port and token.
        pub on: TriggerOn,
    }
}

/// The triggers of a settings file.
pub(crate) struct Triggers;

impl KeyType for Triggers {
    type Value = Vec<Trigger>;
    const SHAPE: Shape = ListOf::<Trigger>::SHAPE;

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<Trigger>> {
        if let Kind::List(items) = written.kind()
            && let Some(first) = items.get(MAX_TRIGGERS)
        {
            let message = format!(
                "more than {MAX_TRIGGERS} triggers: this one and those below are not watched"
            );
            let help =
                "combine triggers: several senders can write to one file or send to one port";
            let finding = Finding::error(Code::OverLimit, first.start(), message);
            reader.report(finding.help(help));
        }
        Some(ListOf::read_first(MAX_TRIGGERS, reader, written)?.all)
    }
}

impl FromMap for Trigger {
    fn from_map(keys: &mut MapReader<'_, '_, '_>) -> Option<Self> {
        let has_one = check_alternatives(keys);
        let (file, span) = (keys.get(&Self::file), keys.span_of(&Self::file));
        let file = file.filter(|file| check_file(keys.reader, file, span));
        let http = keys.get(&Self::http);
        let prompt = keys.get(&Self::prompt);
        let on = file.map(TriggerOn::File).or(http.map(|http| http.on));
        Some(Self {
            on: on.filter(|_| has_one)?,
            prompt: prompt?,
            tier: keys.reader.tier,
            source: keys.reader.file_and_line(keys.start),
        })
    }
}

impl FromMap for Http {
    fn from_map(keys: &mut MapReader<'_, '_, '_>) -> Option<Self> {
        let has_one = check_alternatives(keys);
        let port = keys.get(&Self::port);
        let text = keys.get(&Self::text).map(Token::Text);
        let variable = keys.get(&Self::variable).map(Token::Environment);
        let (port, token) = (port?, text.or(variable).filter(|_| has_one)?);
        let on = TriggerOn::Http { port, token };
        Some(Self { on })
    }
}

/// Reports a map that does not have exactly one of its alternatives.
fn check_alternatives(keys: &mut MapReader<'_, '_, '_>) -> bool {
    let known = keys.section.alternatives;
    let help = format!("write either `{}`", known.join("` or `"));
    keys.first_of(known, help.clone()).is_some() && !keys.has_several(known, help)
}

/// Checks the path of a file. The user's settings apply in every project, where a path from the working directory would
/// let each of them wake the agent; those of a project may name a file of the project only.
fn check_file(reader: &mut Reader<'_>, path: &str, span: Option<Span>) -> bool {
    let (message, help) = match reader.tier {
        Tier::Global if !is_rooted(path) => (
            "`file` is a relative path, which would be another file in each project",
            "write an absolute path or `~/…`, or move the trigger to the `.pi/workflow-sidecar.json5` of a project",
        ),
        Tier::Project if is_rooted(path) || leads_out(path) => (
            "`file` is not in this project",
            "name a file of the project, or move the trigger to your own settings",
        ),
        Tier::Global | Tier::Project => return true,
    };
    reader.report(Finding::error(Code::PathRefused, span, message).help(help));
    false
}

/// Returns true if a path starts at the root of a file system, or at the user's home.
fn is_rooted(path: &str) -> bool {
    let has_drive = path.as_bytes().get(1) == Some(&b':');
    path.starts_with(['/', '\\']) || path.starts_with("~/") || has_drive
}

/// Returns true if a path goes up further than it went down.
fn leads_out(path: &str) -> bool {
    let mut depth = 0_i64;
    path.split(['/', '\\']).any(|part| {
        depth += match part {
            "" | "." => 0,
            ".." => -1,
            _ => 1,
        };
        depth < 0
    })
}

/// The event of a trigger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TriggerOn {
    /// This file is not empty.
    File(String),
    /// A request comes in at this port of the machine.
    Http {
        /// The port.
        port: u16,
        /// The token of a request.
        token: Token,
    },
}

/// The token of a request.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Token {
    /// This text. It is written down nowhere else.
    Text(#[serde(serialize_with = "unsaid")] String),
    /// The value of this environment variable.
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
    /// Describes the event, as people read it.
    pub fn describe(&self) -> String {
        match &self.on {
            TriggerOn::File(path) => format!("file {path}"),
            TriggerOn::Http { port, .. } => format!("http port {port}"),
        }
    }

    /// The event, the message and the location in full, as a line that is safe to show.
    pub(crate) fn listed(&self) -> String {
        let (waits_for, prompt) = (self.describe(), &self.prompt);
        let line = format!("{waits_for}: \"{prompt}\" ({})", self.source);
        visible(&line)
    }

    /// Returns true if event, message and source are equal, whatever the location.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.on, &self.prompt, self.tier) == (&other.on, &other.prompt, other.tier)
    }

    /// Returns the message for the agent, with the received text.
    pub fn message(&self, received: &str) -> String {
        template::resolve(&self.prompt, |name| match name {
            "content" | "body" => Some(received),
            _ => None,
        })
    }
}
