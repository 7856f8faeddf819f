//! `notify` of the user's settings: who tells the user of runs. The platform reads it as well.

use core::net::IpAddr;
use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::definition::schema::{KeyType, Reader, Shape, Written, one_or_list};
use crate::diagnostic::Code;

/// What tells the user of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notifier {
    /// A program and its arguments, which reads a text on its standard input.
    Program(Vec<String>),
    /// A web address.
    Address(Box<NotifierAddress>),
    /// The sound of the terminal.
    Bell,
    /// A notice of the terminal.
    Osc9,
}

/// A web address that notices are sent to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotifierAddress {
    /// The address. Without TLS it is on this machine.
    pub url: String,
    /// The form of what is sent.
    #[serde(default)]
    pub template: NoticeTemplate,
    /// Headers of the request.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// What is said of the run.
    #[serde(default)]
    pub say: NoticeText,
    /// The events that are told.
    on: Option<Vec<RunEvent>>,
    /// The address of a board, to which notices link.
    pub link: Option<String>,
}

/// The form of a notice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoticeTemplate {
    /// A JSON object.
    #[default]
    Json,
    /// A message of Slack.
    Slack,
    /// A message of ntfy.
    Ntfy,
    /// A card of Teams.
    Teams,
}

/// What a notice says of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoticeText {
    /// The names of workflow and phase.
    #[default]
    Name,
    /// The task and the question as well.
    Task,
}

/// What happened to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunEvent {
    /// It waits for a person.
    Waits,
    /// It is paused, or stopped at a limit.
    Paused,
    /// It is over.
    Ends,
}

impl RunEvent {
    /// The event with which a run comes to a state of the index.
    pub fn of(state: &str) -> Option<Self> {
        match state {
            "waits" => Some(Self::Waits),
            "paused" | "stopped" => Some(Self::Paused),
            "complete" | "cancelled" | "ended" => Some(Self::Ends),
            _ => None,
        }
    }
}

impl Notifier {
    /// Reads the setting: one notifier or a list of them. A list that begins with the name of a program is one.
    pub fn read(setting: Value) -> Result<Vec<Self>, String> {
        match setting {
            Value::Array(items) if !items.first().is_some_and(is_program) => {
                let of = |(at, item)| Self::of(item).map_err(|why| format!("entry {at}: {why}"));
                (1..).zip(items).map(of).collect()
            }
            one => Ok(vec![Self::of(one)?]),
        }
    }

    fn of(value: Value) -> Result<Self, String> {
        match value {
            Value::Array(_) => {
                let command: Vec<String> = read(value)?;
                let is_empty = |text: &String| text.trim().is_empty();
                if command.is_empty() || command.iter().any(is_empty) {
                    return Err("a program needs a name, and no empty argument".to_owned());
                }
                Ok(Self::Program(command))
            }
            Value::String(word) if word == "bell" => Ok(Self::Bell),
            Value::String(word) if word == "osc9" => Ok(Self::Osc9),
            Value::String(url) => read::<NotifierAddress>(json!({ "url": url }))?.checked(),
            Value::Object(_) => read::<NotifierAddress>(value)?.checked(),
            _ => Err("a list, an address, a word or a map is expected".to_owned()),
        }
    }
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// Returns true if a list begins with a program, and not with another notifier.
fn is_program(first: &Value) -> bool {
    let text = first.as_str();
    text.is_some_and(|text| !matches!(text, "bell" | "osc9") && !text.contains("://"))
}

impl NotifierAddress {
    fn checked(self) -> Result<Notifier, String> {
        let is_sign = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        let is_sent = |(name, value): (&String, &String)| {
            !name.is_empty() && name.chars().all(is_sign) && !value.contains(char::is_control)
        };
        let why = match (host_of(&self.url), &self.link) {
            (None, _) => "`url` is no address like https://example.org/x, without a user",
            (Some(host), _) if self.url.starts_with("http:") && !is_loopback(host) => {
                "`url` needs https: notices have codes"
            }
            (_, Some(link)) if host_of(link).is_none() => "`link` is no address of a board",
            _ if !self.headers.iter().all(is_sent) => "`headers` has one that cannot be sent",
            _ => return Ok(Notifier::Address(Box::new(self))),
        };
        Err(why.to_owned())
    }

    /// Returns true if an event is told.
    pub fn tells(&self, event: RunEvent) -> bool {
        self.on.as_ref().is_none_or(|on| on.contains(&event))
    }

    /// Its server, for messages: the rest of the address may be a secret.
    pub fn host(&self) -> &str {
        host_of(&self.url).unwrap_or_default()
    }
}

/// The server in an address; `None` if it is none that can be used as it is written.
fn host_of(url: &str) -> Option<&str> {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let is_plain = url.chars().all(|c| c.is_ascii_graphic()) && !authority.contains(['@', '\\']);
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port),
        _ => (authority, ""),
    };
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
    (is_plain && is_port && !host.is_empty()).then_some(host)
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// The type of the setting.
pub(crate) struct Notifiers;

impl KeyType for Notifiers {
    type Value = Vec<Notifier>;
    const SHAPE: Shape = Shape::new(schema, "program, address, `bell`, `osc9`, or a list");

    fn read(reader: &mut Reader<'_>, written: Written<'_>) -> Option<Vec<Notifier>> {
        match Notifier::read(written.entry.value.value()) {
            Ok(notifiers) => Some(notifiers),
            Err(why) => {
                let message = format!("`{}` cannot be used: {why}", written.key.name);
                let finding = written.wrong(Code::InvalidValue, written.span(), message);
                reader.refuse(finding)
            }
        }
    }
}

fn schema() -> Value {
    let url = json!({"type": "string", "pattern": "^https?://"});
    let event = json!({"enum": ["waits", "paused", "ends"]});
    let properties = json!({
        "url": url,
        "template": {"enum": ["json", "slack", "ntfy", "teams"]},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
        "say": {"enum": ["name", "task"]},
        "on": {"type": "array", "items": event},
        "link": url,
    });
    one_or_list(&json!({"anyOf": [
        {"type": "array", "minItems": 1, "items": {"type": "string", "pattern": "\\S"}},
        url,
        {"enum": ["bell", "osc9"]},
        {"type": "object", "properties": properties, "required": ["url"], "additionalProperties": false},
    ]}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(setting: Value) -> Result<Vec<Notifier>, String> {
        Notifier::read(setting)
    }

    #[test]
    fn a_program_is_told_from_a_list_of_notifiers() {
        let program = |words: &[&str]| {
            Notifier::Program(words.iter().map(|word| (*word).to_owned()).collect())
        };
        assert_eq!(
            of(json!(["tell", "bell"])).unwrap(),
            [program(&["tell", "bell"])]
        );
        let several = json!([["tell", "me"], "bell", "osc9", "https://h/x"]);
        let several = of(several).unwrap();
        assert_eq!(
            several[..3],
            [program(&["tell", "me"]), Notifier::Bell, Notifier::Osc9]
        );
        assert!(matches!(&several[3], Notifier::Address(it) if it.tells(RunEvent::Ends)));
        assert_eq!(of(json!("bell")).unwrap(), [Notifier::Bell]);
        for wrong in [
            json!([""]),
            json!([[]]),
            json!(["tell", 1]),
            json!("tell"),
            json!(5),
            json!({}),
            json!({"url": "https://h", "tmplate": "slack"}),
            json!({"url": "https://h", "template": "sms"}),
            json!({"url": "https://h", "on": ["always"]}),
        ] {
            assert!(of(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_address_is_safe_to_use_as_it_is_written() {
        for url in [
            "https://h",
            "https://h:8443/x?y={z}#a@b",
            "http://localhost:1/x",
            "http://127.0.0.9",
            "http://[::1]:80/",
        ] {
            assert!(of(json!(url)).is_ok(), "{url}");
        }
        for url in [
            "http://h",
            "http://localhost.h/",
            "http://127.0.0.1.h/",
            "https://",
            "https://:80/",
            "https://user:secret@h/",
            "http://127.0.0.1\\@h/",
            "https://h/a b",
            "https://h/\n",
            "ftp://h",
        ] {
            assert!(of(json!(url)).is_err(), "{url:?}");
        }
        for (name, value) in [("A b", ""), ("", "x"), ("@f", "x"), ("A", "x\r\nB: y")] {
            let headers = json!({ name: value });
            assert!(of(json!({"url": "https://h", "headers": headers})).is_err());
        }
    }
}
