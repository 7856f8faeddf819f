//! The difference in meaning between two answers, for an agent and a person.
//!
//! With other definitions nearly every line differs somewhere: the definition is stored in the session. What is
//! asked then is what a change does: which call is blocked, which text is read. Owns what a message says in these
//! terms. Must not know where the messages come from.

use serde_json::Value;
use workflow_core::run::entry_type;

use super::difference::Change;

/// The subject of a fact, in order of importance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum About {
    /// The decision on a call.
    Call,
    /// The answer of `workflow_step`.
    Answer,
    Error,
    Context,
    Told,
    Shown,
    Asked,
    Notice,
    Status,
    Widget,
    Named,
    /// The stored entries, which follow from all else.
    Stored,
    /// Anything else.
    Other,
}

/// Everything there is, in order.
const ALL: [About; 13] = [
    About::Call,
    About::Answer,
    About::Error,
    About::Context,
    About::Told,
    About::Shown,
    About::Asked,
    About::Notice,
    About::Status,
    About::Widget,
    About::Named,
    About::Stored,
    About::Other,
];

impl About {
    /// Its name for people.
    fn noun(self) -> &'static str {
        match self {
            Self::Call => "the call",
            Self::Answer => "the answer to the agent",
            Self::Error => "the error",
            Self::Context => "the text in the context",
            Self::Told => "what the agent is told",
            Self::Shown => "what the person is shown",
            Self::Asked => "the question",
            Self::Notice => "the notice",
            Self::Status => "the status",
            Self::Widget => "the widget",
            Self::Named => "the session's name",
            Self::Stored => "what is stored",
            Self::Other => "something else in the answer",
        }
    }
}

/// A fact in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fact {
    about: About,
    /// The result of a call: blocked, allowed, answered or refused.
    verdict: Option<&'static str>,
    text: String,
}

/// The differences in meaning between the expected lines and the actual ones, after a line of the host.
pub(super) fn changes(asked: Option<&str>, expected: &[String], heard: &[String]) -> Vec<Change> {
    let [expected, heard] = [expected, heard].map(|lines| {
        let facts = lines.iter().flat_map(|line| facts(asked, line));
        facts.collect::<Vec<_>>()
    });
    let differing = |about: &About| {
        let [one, other] = [&expected, &heard].map(|facts| of(*about, facts));
        change(*about, &one, &other)
    };
    let (follows, matters): (Vec<About>, Vec<About>) = ALL
        .into_iter()
        .partition(|about| matches!(about, About::Stored | About::Other));
    let found: Vec<Change> = matters.iter().filter_map(differing).collect();
    if found.is_empty() {
        return follows.iter().filter_map(differing).collect();
    }
    found
}

fn of(about: About, facts: &[Fact]) -> Vec<&Fact> {
    facts.iter().filter(|fact| fact.about == about).collect()
}

/// The first fact of a kind that differs.
fn change(about: About, expected: &[&Fact], heard: &[&Fact]) -> Option<Change> {
    let length = expected.len().max(heard.len());
    let at = (0..length).find(|at| expected.get(*at) != heard.get(*at))?;
    let (one, other) = (expected.get(at), heard.get(at));
    let verdicts = one
        .and_then(|fact| fact.verdict)
        .zip(other.and_then(|fact| fact.verdict));
    let what = match (verdicts, one, other) {
        (Some((was, is)), _, _) if was != is => format!("was {was}, is {is}"),
        (Some(("blocked", _)), _, _) => "is blocked for another reason".to_owned(),
        (_, Some(_), Some(_)) => format!("{} is another", about.noun()),
        (_, None, _) => format!("{} is new", about.noun()),
        (_, _, None) => format!("{} is gone", about.noun()),
    };
    let text = |fact: Option<&&Fact>| {
        let text = fact.map(|fact| fact.text.clone());
        text.filter(|text| !text.is_empty())
    };
    Some(Change {
        what,
        expected: text(one),
        heard: text(other),
    })
}

/// The facts in a line. One that is not a message is a fact itself.
fn facts(asked: Option<&str>, line: &str) -> Vec<Fact> {
    let mut found = Vec::new();
    match serde_json::from_str(line) {
        Ok(Value::Object(message)) => of_message(asked, &Value::Object(message), &mut found),
        Ok(_) | Err(_) => push(&mut found, About::Other, line.to_owned()),
    }
    found
}

fn push(found: &mut Vec<Fact>, about: About, text: String) {
    found.push(Fact {
        about,
        verdict: None,
        text,
    });
}

fn of_message(asked: Option<&str>, message: &Value, found: &mut Vec<Fact>) {
    match message["method"].as_str() {
        Some("host/apply") => of_actions(&message["params"]["actions"], found),
        Some(_) => {
            let params = &message["params"];
            let told = [text(&params["title"]), text(&params["message"])];
            push(found, About::Asked, told.join(": "));
        }
        None if message.get("error").is_some() => {
            push(found, About::Error, text(&message["error"]["message"]));
        }
        None => of_result(asked, &message["result"], found),
    }
}

fn of_result(asked: Option<&str>, result: &Value, found: &mut Vec<Fact>) {
    if asked == Some("hook/tool_call") {
        let reason = &result["block"]["reason"];
        found.push(Fact {
            about: About::Call,
            verdict: Some(if reason.is_null() {
                "allowed"
            } else {
                "blocked"
            }),
            text: text(reason),
        });
    }
    let mut rest = result.clone();
    let members = rest.as_object_mut();
    for (name, value) in result.as_object().into_iter().flatten() {
        match name.as_str() {
            "block" if asked == Some("hook/tool_call") => {}
            "inject" => push(found, About::Context, text(&value["content"])),
            "content" if asked == Some("tool/execute") => found.push(Fact {
                about: About::Answer,
                verdict: Some(if result["isError"] == true {
                    "refused"
                } else {
                    "answered"
                }),
                text: text(&value[0]["text"]),
            }),
            "actions" => of_actions(value, found),
            _ => {}
        }
    }
    if let Some(members) = members {
        for known in ["block", "inject", "content", "actions"] {
            members.remove(known);
        }
        if !members.is_empty() {
            push(found, About::Other, rest.to_string());
        }
    }
}

fn of_actions(actions: &Value, found: &mut Vec<Fact>) {
    for action in actions.as_array().into_iter().flatten() {
        let (about, said) = match action["type"].as_str().unwrap_or_default() {
            // It is what was changed.
            "appendEntry" if action["customType"] == entry_type::DEFINITION => continue,
            "appendEntry" => (About::Stored, action["data"].to_string()),
            "sendMessage" => (About::Shown, text(&action["message"]["content"])),
            "sendUserMessage" => (About::Told, text(&action["content"])),
            "setSessionName" => (About::Named, text(&action["name"])),
            "setStatus" => (About::Status, text(&action["text"])),
            "setWidget" => (About::Widget, text(&action["lines"])),
            "notify" => (About::Notice, text(&action["message"])),
            _ => (About::Other, action.to_string()),
        };
        push(found, about, said);
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

    fn summary(asked: &str, expected: &[&str], heard: &[&str]) -> Vec<String> {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        let [expected, heard]: [Vec<String>; 2] = [owned(expected), owned(heard)];
        let found = changes(Some(asked), &expected, &heard);
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
            ["the status is another"]
        );
    }

    #[test]
    fn new_and_missing_messages_are_named_by_their_content() {
        let push = r#"{"method":"host/apply","params":{"actions":[{"type":"sendUserMessage","content":"Go on."},{"type":"appendEntry","customType":"workflow:run","data":{}}]}}"#;
        let answer = r#"{"id":1,"result":{}}"#;
        let ends = |one: &[&str], other: &[&str]| summary("hook/agent_end", one, other);
        assert_eq!(
            ends(&[answer], &[answer, push]),
            ["what the agent is told is new"]
        );
        assert_eq!(
            ends(&[push, answer], &[answer]),
            ["what the agent is told is gone"]
        );
        assert_eq!(
            ends(&["nope"], &["no"]),
            ["something else in the answer is another"]
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
            ["the answer to the agent is another"]
        );
        assert_eq!(
            step(&next("Fix", false), &next("No", true)),
            ["was answered, is refused"]
        );
    }
}
