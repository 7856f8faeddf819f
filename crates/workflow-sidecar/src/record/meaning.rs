//! The difference in meaning between two answers, for an agent and a person.
//!
//! With other definitions nearly every line differs somewhere, because the definition is stored in the session. So the effects
//! are compared: which call is blocked, which text is read.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;
use workflow_core::run::entry_type;

use super::difference::Change;

/// The subject of facts: its place in the order of importance, and its name.
type FactSubject = (u8, &'static str);

const CALL: FactSubject = (0, "the call");
const ANSWER: FactSubject = (1, "the answer to the agent");
const ERROR: FactSubject = (2, "the error");
const CONTEXT: FactSubject = (3, "the text in the context");
const TO_AGENT: FactSubject = (4, "what the agent reads");
const SHOWN: FactSubject = (5, "what the user is shown");
const QUESTION: FactSubject = (6, "the question");
const NOTICE: FactSubject = (7, "the notice");
const STATUS: FactSubject = (8, "the status");
const WIDGET: FactSubject = (9, "the widget");
const SESSION_NAME: FactSubject = (10, "the session's name");
// The subjects that are named only if nothing else differs, because they follow from the others.
const STORED: FactSubject = (11, "what is stored");
const OTHER: FactSubject = (12, "something else in the answer");

/// The facts in messages, by their subjects.
type Facts = BTreeMap<FactSubject, Vec<Fact>>;

/// A fact in a message.
#[derive(Debug, PartialEq, Eq)]
struct Fact {
    /// The result of a call: blocked, allowed, answered or refused.
    verdict: Option<&'static str>,
    text: String,
}

/// The methods of the host's requests, by id. An answer belongs to one of them, also if it comes after other events.
#[derive(Debug, Default)]
pub(super) struct HostMethods(HashMap<String, String>);

impl HostMethods {
    /// Notes a line of the host, if it is a request.
    pub(super) fn note(&mut self, message: &Value) {
        if let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) {
            self.0.insert(id.to_string(), method.to_owned());
        }
    }

    /// The method of the request that a message answers.
    fn answered_by(&self, message: &Value) -> Option<&str> {
        let id = message.get("id")?;
        self.0.get(&id.to_string()).map(String::as_str)
    }
}

/// The differences in meaning between the expected lines and the actual ones, after an event.
pub(super) fn changes(
    requests: &HostMethods,
    expected: &[String],
    received: &[String],
) -> Vec<Change> {
    let [expected, received] = [expected, received].map(|lines| {
        let mut facts = Facts::default();
        for line in lines {
            add(&mut facts, requests, line);
        }
        facts
    });
    let subjects: BTreeSet<&FactSubject> = expected.keys().chain(received.keys()).collect();
    let changes = subjects.into_iter().filter_map(|subject| {
        let [one, other] =
            [&expected, &received].map(|facts| facts.get(subject).map_or(&[][..], Vec::as_slice));
        Some((subject, change(subject.1, one, other)?))
    });
    let (minor, found): (Vec<_>, Vec<_>) = changes.partition(|(subject, _)| **subject >= STORED);
    let found = if found.is_empty() { minor } else { found };
    found.into_iter().map(|(_, change)| change).collect()
}

/// The first fact of a kind that differs.
fn change(about: &str, expected: &[Fact], received: &[Fact]) -> Option<Change> {
    let length = expected.len().max(received.len());
    let at = (0..length).find(|at| expected.get(*at) != received.get(*at))?;
    let (one, other) = (expected.get(at), received.get(at));
    let verdicts = one
        .and_then(|fact| fact.verdict)
        .zip(other.and_then(|fact| fact.verdict));
    let what = match (verdicts, one, other) {
        (Some((was, is)), _, _) if was != is => format!("was {was}, is {is}"),
        (Some(("blocked", _)), _, _) => "is blocked for another reason".to_owned(),
        (_, Some(_), Some(_)) => format!("{about} differs"),
        (_, None, _) => format!("{about} is new"),
        (_, _, None) => format!("{about} is gone"),
    };
    let text = |fact: Option<&Fact>| {
        let text = fact.map(|fact| fact.text.clone());
        text.filter(|text| !text.is_empty())
    };
    Some(Change {
        what,
        expected: text(one),
        received: text(other),
    })
}

/// Adds the facts in a line. One that is not a message is a fact itself.
fn add(found: &mut Facts, requests: &HostMethods, line: &str) {
    match serde_json::from_str(line) {
        Ok(message @ Value::Object(_)) => of_message(requests, &message, found),
        Ok(_) | Err(_) => push(found, OTHER, line.to_owned()),
    }
}

fn push(found: &mut Facts, about: FactSubject, text: String) {
    judge(found, about, None, text);
}

fn judge(found: &mut Facts, about: FactSubject, verdict: Option<&'static str>, text: String) {
    found.entry(about).or_default().push(Fact { verdict, text });
}

fn of_message(requests: &HostMethods, message: &Value, found: &mut Facts) {
    match message["method"].as_str() {
        Some("host/apply") => of_actions(&message["params"]["actions"], found),
        Some(_) => {
            let params = &message["params"];
            let told = [text(&params["title"]), text(&params["message"])];
            push(found, QUESTION, told.join(": "));
        }
        None if message.get("error").is_some() => {
            push(found, ERROR, text(&message["error"]["message"]));
        }
        None => of_result(requests.answered_by(message), &message["result"], found),
    }
}

fn of_result(asked: Option<&str>, result: &Value, found: &mut Facts) {
    let reason = &result["block"]["reason"];
    match asked {
        Some("hook/tool_call") if reason.is_null() => {
            judge(found, CALL, Some("allowed"), String::new());
        }
        Some("hook/tool_call") => judge(found, CALL, Some("blocked"), text(reason)),
        Some("tool/execute") if !result["content"].is_null() => {
            let is_error = result["isError"] == true;
            let verdict = if is_error { "refused" } else { "answered" };
            let said = text(&result["content"][0]["text"]);
            judge(found, ANSWER, Some(verdict), said);
        }
        _ => {}
    }
    let mut others = serde_json::Map::new();
    for (name, value) in result.as_object().into_iter().flatten() {
        match name.as_str() {
            "inject" => push(found, CONTEXT, text(&value["content"])),
            "actions" => of_actions(value, found),
            "block" | "content" => {}
            _ => {
                others.insert(name.clone(), value.clone());
            }
        }
    }
    if !others.is_empty() {
        push(found, OTHER, Value::from(others).to_string());
    }
}

fn of_actions(actions: &Value, found: &mut Facts) {
    for action in actions.as_array().into_iter().flatten() {
        let (about, text) = match action["type"].as_str().unwrap_or_default() {
            // It is what was changed.
            "appendEntry" if action["customType"] == entry_type::DEFINITION => continue,
            // It follows from what is compared.
            "appendEntry" if action["customType"] == entry_type::TALLY => continue,
            "appendEntry" => (STORED, action["data"].to_string()),
            "sendMessage" => (SHOWN, text(&action["message"]["content"])),
            "sendUserMessage" => (TO_AGENT, text(&action["content"])),
            "setSessionName" => (SESSION_NAME, text(&action["name"])),
            "setStatus" => (STATUS, text(&action["text"])),
            "setWidget" => (WIDGET, text(&action["lines"])),
            "notify" => (NOTICE, text(&action["message"])),
            _ => (OTHER, action.to_string()),
        };
        push(found, about, text);
    }
}

/// A JSON text as text; anything else as it is written, and nothing for null.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request with the id 1.
    fn asked_first(method: &str) -> HostMethods {
        let mut requests = HostMethods::default();
        requests.note(&serde_json::json!({"id": 1, "method": method}));
        requests
    }

    fn summary(asked: &str, expected: &[&str], received: &[&str]) -> Vec<String> {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        let [expected, received]: [Vec<String>; 2] = [owned(expected), owned(received)];
        let found = changes(&asked_first(asked), &expected, &received);
        found.into_iter().map(|change| change.what).collect()
    }

    #[test]
    fn a_change_is_named_by_its_effect_and_a_stored_definition_is_not_named() {
        let blocked = r#"{"id":1,"result":{"block":{"reason":"No.","kind":"policy"}}}"#;
        let other = r#"{"id":1,"result":{"block":{"reason":"Never.","kind":"policy"}}}"#;
        let allowed = r#"{"id":1,"result":{}}"#;
        let call = |one, other| summary("hook/tool_call", &[one], &[other]);
        assert_eq!(call(blocked, allowed), ["was blocked, is allowed"]);
        assert_eq!(call(allowed, blocked), ["was allowed, is blocked"]);
        assert_eq!(call(blocked, other), ["is blocked for another reason"]);
        let stored = |data: &str, status: &str| {
            format!(
                r#"{{"id":1,"result":{{"actions":[{{"type":"appendEntry","customType":"workflow:state","data":1}},{{"type":"appendEntry","customType":"workflow:definition","data":{data}}},{{"type":"setStatus","key":"workflow","text":"{status}"}}]}}}}"#
            )
        };
        let run = |one: String, other: String| summary("command/run", &[&one], &[&other]);
        assert!(run(stored("1", "a"), stored("2", "a")).is_empty());
        assert_eq!(
            run(stored("1", "a"), stored("2", "b")),
            ["the status differs"]
        );
    }

    #[test]
    fn new_and_missing_messages_are_named_by_their_content() {
        let push = r#"{"method":"host/apply","params":{"actions":[{"type":"sendUserMessage","content":"Go on."},{"type":"appendEntry","customType":"workflow:run","data":{}}]}}"#;
        let answer = r#"{"id":1,"result":{}}"#;
        let ends = |one: &[&str], other: &[&str]| summary("hook/agent_end", one, other);
        assert_eq!(
            ends(&[answer], &[answer, push]),
            ["what the agent reads is new"]
        );
        assert_eq!(
            ends(&[push, answer], &[answer]),
            ["what the agent reads is gone"]
        );
        assert_eq!(
            ends(&["nope"], &["no"]),
            ["something else in the answer differs"]
        );
    }

    #[test]
    fn an_answer_to_the_agent_is_compared_with_its_success() {
        let next = |text: &str, is_error: bool| {
            format!(
                r#"{{"id":1,"result":{{"content":[{{"type":"text","text":"{text}"}}],"details":{{"to":"{text}"}},"isError":{is_error}}}}}"#
            )
        };
        let step = |one: &str, other: &str| summary("tool/execute", &[one], &[other]);
        assert_eq!(
            step(&next("Fix", false), &next("Verify", false)),
            ["the answer to the agent differs"]
        );
        assert_eq!(
            step(&next("Fix", false), &next("No", true)),
            ["was answered, is refused"]
        );
    }

    #[test]
    fn an_answer_that_comes_later_belongs_to_its_request() {
        let mut requests = HostMethods::default();
        requests.note(&serde_json::json!({"id": 1, "method": "tool/execute"}));
        requests.note(&serde_json::json!({"id": 2, "method": "hook/tool_call"}));
        // A person's answer has an id of the sidecar, and is no request.
        requests.note(&serde_json::json!({"id": "s1", "result": true}));
        let found = |one: &str, other: &str| {
            let changes = changes(&requests, &[one.to_owned()], &[other.to_owned()]);
            changes
                .into_iter()
                .map(|change| change.what)
                .collect::<Vec<_>>()
        };
        let step = |text: &str| {
            format!(r#"{{"id":1,"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#)
        };
        assert_eq!(
            found(&step("edit is blocked"), &step("all tools")),
            ["the answer to the agent differs"]
        );
        assert_eq!(
            found(
                r#"{"id":2,"result":{}}"#,
                r#"{"id":2,"result":{"block":{"reason":"No."}}}"#
            ),
            ["was allowed, is blocked"]
        );
    }
}
