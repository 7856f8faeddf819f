//! Redaction: the strings of a session that a recording leaves out or shortens.
//!
//! A table says for each kind of message which members are free text of tools. Everything that the table does not know is
//! left out. The envelope, names, ids and numbers stay, so that a redacted recording replays; an answer that depends on
//! text that is left out becomes a line that is not compared.

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use workflow_core::definition::SETTINGS_FILE;
use workflow_core::event::PlatformEvent;
use workflow_core::session::NOT_DELIVERED;
use workflow_protocol::{Kind, METHODS};

use super::definitions::{Content, Directory};
use super::format::{ANY, UNKNOWN};
use super::results::{PlatformResult, QueryResult};

/// Replaces a string that is left out.
const REDACTED: &str = "[redacted]";

/// The number of bytes that a string of a tool may have in a recording.
const LONGEST: usize = 16 << 10;

/// The number of texts that are looked for in later lines.
const MOST: usize = 64;

/// The part of what tools are given and give back that is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payload {
    /// All of it; long strings lose their middle.
    Kept,
    /// No strings.
    Redacted,
}

/// Which strings of a value are free text.
enum Rule {
    /// None.
    Show,
    /// All, unless the value is a string itself.
    ShowString,
    /// All.
    Hide,
    /// A list with this rule for each element.
    Each(&'static Rule),
    /// An object with these rules for its members, and one for all others.
    Members(&'static [(&'static str, &'static Rule)], &'static Rule),
    /// An object with its kind in this member: the rules of the kinds, and one for all others.
    Kinds(
        &'static str,
        &'static [(&'static str, &'static Rule)],
        &'static Rule,
    ),
}

use Rule::{Each, Hide, Kinds, Members, Show, ShowString};

/// The content of a tool's result.
static CONTENT: Rule = Each(&Members(
    &[("type", &ShowString), ("mimeType", &ShowString)],
    &Hide,
));
/// A block of an assistant's message: the name of a called tool is shown.
static BLOCK: Rule = Kinds(
    "type",
    &[("toolCall", &CALL), ("tool_use", &CALL)],
    &Members(&[("arguments", &Hide), ("input", &Hide)], &Show),
);
static CALL: Rule = Members(&[("type", &Show), ("id", &Show), ("name", &Show)], &Hide);
/// The blocks of an assistant's message. Its last sentence may be a question, which stops the run: text is shown.
static BLOCKS: Rule = Each(&BLOCK);
static MESSAGE: Rule = Kinds(
    "role",
    &[
        ("assistant", &ASSISTANT),
        (
            "toolResult",
            &Members(
                &[
                    ("content", &CONTENT),
                    ("details", &Hide),
                    ("isError", &Hide),
                ],
                &Show,
            ),
        ),
        (
            "bashExecution",
            &Members(&[("command", &Hide), ("output", &Hide)], &Show),
        ),
    ],
    &Show,
);
static ASSISTANT: Rule = Members(&[("content", &BLOCKS)], &Show);
/// An entry of the session: a message, or an entry of ours with the reports of a gate.
static ENTRY: Rule = Members(
    &[
        ("message", &MESSAGE),
        ("data", &Members(&[("reports", &Each(&REPORT))], &Show)),
    ],
    &Show,
);
static REPORT: Rule = Members(&[("tail", &Hide)], &Show);
static CONTEXT: Rule = Members(&[("branch", &Each(&ENTRY))], &Show);
/// The parameters of a hook on a tool.
static TOOL_HOOK: Rule = Members(
    &[
        ("sessionId", &Show),
        ("context", &CONTEXT),
        (
            "event",
            &Members(
                &[
                    ("type", &ShowString),
                    ("toolName", &ShowString),
                    ("toolCallId", &ShowString),
                    ("content", &CONTENT),
                ],
                &Hide,
            ),
        ),
    ],
    &Hide,
);
/// The parameters of `tool/execute`: the answer depends on the action.
static EXECUTE: Rule = Members(
    &[
        ("context", &CONTEXT),
        ("arguments", &Members(&[("action", &Show)], &Hide)),
    ],
    &Show,
);
/// The parameters of any other method.
static PARAMS: Rule = Members(
    &[
        ("context", &CONTEXT),
        (
            "event",
            &Members(
                &[
                    ("message", &MESSAGE),
                    ("messages", &Each(&MESSAGE)),
                    ("toolResults", &Each(&MESSAGE)),
                ],
                &Show,
            ),
        ),
    ],
    &Show,
);

impl Rule {
    /// The rule for the parameters of a method.
    fn of_method(method: Option<&str>) -> &'static Self {
        match method {
            Some(method) if !METHODS.iter().any(|known| known.name == method) => &Hide,
            Some("tool/execute") => &EXECUTE,
            Some(method) if method.starts_with("hook/tool_") => &TOOL_HOOK,
            Some(_) => &PARAMS,
            None => &Hide,
        }
    }

    /// Replaces the strings that are free text. A value of an unexpected type has nothing else.
    fn apply(&self, value: &mut Value, replace: &dyn Fn(&mut String)) {
        let find = |rules: &[(&str, &'static Self)], name: &str| {
            let found = rules.iter().find(|(known, _)| *known == name);
            found.map(|(_, rule)| *rule)
        };
        match (self, value) {
            (Show, _) | (ShowString, Value::String(_)) => {}
            (Each(rule), Value::Array(elements)) => {
                for element in elements {
                    rule.apply(element, replace);
                }
            }
            (Members(rules, others), Value::Object(members)) => {
                for (name, value) in members {
                    find(rules, name).unwrap_or(others).apply(value, replace);
                }
            }
            (Kinds(member, rules, others), value @ Value::Object(_)) => {
                match value.get(member) {
                    Some(Value::String(kind)) => find(rules, kind).unwrap_or(others),
                    Some(_) | None => &Hide,
                }
                .apply(value, replace);
            }
            (_, value) => each_string("", value, &mut |_, text| replace(text)),
        }
    }
}

/// Visits all strings of a value that are not names, with the name of the member that they are the value of.
fn each_string(name: &str, value: &mut Value, visit: &mut dyn FnMut(&str, &mut String)) {
    match value {
        Value::String(text) => visit(name, text),
        Value::Array(elements) => {
            for element in elements {
                each_string("", element, visit);
            }
        }
        Value::Object(members) => {
            for (name, value) in members {
                each_string(name, value, visit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A line of the host as it is recorded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RedactedLine<'a> {
    pub(super) text: Cow<'a, [u8]>,
    pub(super) answers: Answers,
}

/// The form of the recorded answers to a line of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answers {
    /// As they are.
    Compared,
    /// A refusal quotes what is left out: it is recorded as any line.
    AnyRefusal,
    /// They are not compared.
    Unknown,
}

/// The refusal of a line by the sidecar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    /// It is not a message.
    Line,
    /// The parameters cannot be read.
    Params,
}

impl Refusal {
    fn of(answers: &[&str]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Refused {
            error: Code,
        }
        #[derive(Deserialize)]
        struct Code {
            code: i32,
        }
        let mut codes = answers.iter().filter_map(|line| {
            let refused: Refused = serde_json::from_str(line).ok()?;
            Some(refused.error.code)
        });
        codes.find_map(|code| match code {
            code if code == Kind::ParseError.code() => Some(Self::Line),
            code if code == Kind::InvalidRequest.code() => Some(Self::Line),
            code if code == Kind::InvalidParams.code() => Some(Self::Params),
            _ => None,
        })
    }
}

/// The members of a message that decide how it is handled.
#[derive(Deserialize, Serialize)]
struct Envelope<'a> {
    jsonrpc: &'a RawValue,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: &'a RawValue,
    #[serde(skip_deserializing)]
    params: &'static str,
}

/// The redaction of one recording, with the texts that are looked for in the lines that follow.
#[derive(Debug)]
pub(super) struct Redaction {
    payload: Payload,
    tails: VecDeque<String>,
    excerpts: VecDeque<String>,
    /// The messages of triggers to the agent.
    messages: VecDeque<String>,
    /// The ids of tool calls with answers that depend on what is left out.
    calls: HashSet<String>,
    /// True if the line that is answered now is such a call.
    is_call: bool,
}

impl Redaction {
    pub(super) fn new(payload: Payload) -> Self {
        Self {
            payload,
            tails: VecDeque::new(),
            excerpts: VecDeque::new(),
            messages: VecDeque::new(),
            calls: HashSet::new(),
            is_call: false,
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.payload == Payload::Redacted
    }

    /// Something happens that is not a line of the host.
    pub(super) fn begin(&mut self) {
        self.is_call = false;
    }

    /// A report of the platform as it is recorded.
    pub(super) fn event(&mut self, event: &PlatformEvent) -> PlatformEvent {
        let mut event = event.clone();
        if !self.is_on() {
            return event;
        }
        match &mut event {
            PlatformEvent::GateFinished { reports, .. } => {
                for report in reports.iter_mut().filter(|report| !report.tail.is_empty()) {
                    keep(&mut self.tails, &report.tail);
                    report.tail = hidden(&report.tail).to_owned();
                }
            }
            PlatformEvent::Triggered { text } => {
                keep(&mut self.messages, text);
                REDACTED.clone_into(text);
            }
            PlatformEvent::BaselineTaken { .. }
            | PlatformEvent::GateNotTrusted { .. }
            | PlatformEvent::GateProgress { .. }
            | PlatformEvent::ApprovalNotStored { .. }
            | PlatformEvent::ApprovalRead { .. }
            | PlatformEvent::CheckpointRecorded { .. }
            | PlatformEvent::CheckpointFailed { .. }
            | PlatformEvent::RestoreProgress { .. }
            | PlatformEvent::CodeRestored { .. }
            | PlatformEvent::TriggersWatched { .. } => {}
        }
        event
    }

    /// A result of the platform as it is recorded; `None` if it is not recorded.
    pub(super) fn result(&mut self, result: PlatformResult) -> Option<PlatformResult> {
        match result {
            PlatformResult::Effect(event) => Some(PlatformResult::Effect(self.event(&event))),
            PlatformResult::Query(query) => self.query_result(query).map(PlatformResult::Query),
        }
    }

    /// The answer to a query as it is recorded; `None` if it is not recorded.
    fn query_result(&mut self, result: QueryResult) -> Option<QueryResult> {
        match result {
            QueryResult::Excerpt(text) if self.is_on() && !text.trim().is_empty() => {
                keep(&mut self.excerpts, text.trim());
                Some(QueryResult::Excerpt(REDACTED.to_owned()))
            }
            // Paths are arguments of tools.
            QueryResult::Path(_) | QueryResult::ApprovalStore(_) if self.is_on() => None,
            result => Some(result),
        }
    }

    /// A line of the host as it is recorded. `depends` says that decisions depend on the payload.
    pub(super) fn host_line<'a>(
        &mut self,
        line: &'a [u8],
        answers: &[&str],
        depends: bool,
    ) -> RedactedLine<'a> {
        self.is_call = false;
        let refusal = Refusal::of(answers);
        let whole = RedactedLine {
            text: Cow::Borrowed(line),
            answers: Answers::Compared,
        };
        match self.payload {
            Payload::Kept if depends || line.len() <= LONGEST => whole,
            Payload::Kept => shortened(line, refusal).unwrap_or(whole),
            Payload::Redacted => self.redacted(line, refusal, depends).unwrap_or(whole),
        }
    }

    /// The line without free text; `None` if it has none.
    fn redacted(
        &mut self,
        line: &[u8],
        refusal: Option<Refusal>,
        depends: bool,
    ) -> Option<RedactedLine<'static>> {
        let replaced = |text: String, answers| {
            Some(RedactedLine {
                text: Cow::Owned(text.into_bytes()),
                answers,
            })
        };
        if refusal == Some(Refusal::Line) {
            return replaced(REDACTED.to_owned(), Answers::AnyRefusal);
        }
        let Some((mut message, is_exact)) = parse(line) else {
            return match envelope(line) {
                Some(envelope) => replaced(envelope, Answers::Unknown),
                None => replaced(REDACTED.to_owned(), Answers::Unknown),
            };
        };
        let before = message.clone();
        self.redact(&mut message);
        if depends {
            self.note_call(&message);
        }
        if message == before && is_exact {
            return None;
        }
        match refusal {
            Some(Refusal::Params) => match envelope(line) {
                Some(envelope) => replaced(envelope, Answers::AnyRefusal),
                None => replaced(REDACTED.to_owned(), Answers::AnyRefusal),
            },
            Some(Refusal::Line) | None => replaced(message.to_string(), Answers::Compared),
        }
    }

    fn redact(&self, message: &mut Value) {
        hide_payload(message, &|text| REDACTED.clone_into(text));
        if !self.messages.is_empty() {
            each_string("", message, &mut |_, text| {
                if self.is_of_a_trigger(text) {
                    REDACTED.clone_into(text);
                }
            });
        }
    }

    /// Remembers a call with an answer that depends on what is left out.
    fn note_call(&mut self, message: &Value) {
        if !matches!(
            message["method"].as_str(),
            Some("hook/tool_call" | "hook/tool_result")
        ) {
            return;
        }
        self.is_call = true;
        if let Some(id) = message.get("id") {
            self.calls.insert(id.to_string());
        }
    }

    fn is_of_a_trigger(&self, text: &str) -> bool {
        self.messages.iter().any(|message| message == text)
    }

    /// A line of the sidecar as it is recorded.
    pub(super) fn sidecar_line<'l>(&mut self, line: &'l str) -> Cow<'l, str> {
        if !self.is_on() {
            return Cow::Borrowed(line);
        }
        let Some((mut message, _)) = parse(line.as_bytes()) else {
            return Cow::Borrowed(ANY);
        };
        let id = message.get("id").map(Value::to_string);
        let is_request = message.get("method").is_some();
        let is_answer = !is_request && id.as_ref().is_some_and(|id| self.calls.remove(id));
        let is_question = is_request && self.is_call && id.is_some();
        if is_answer || is_question {
            return Cow::Borrowed(UNKNOWN);
        }
        // The rules of a phase may have changed what the platform reported.
        let mut tails = Vec::new();
        each_string("", &mut message, &mut |name, text| {
            if name == "tail" {
                tails.push(text.clone());
            }
        });
        for tail in tails {
            keep(&mut self.tails, &tail);
        }
        let mut is_changed = false;
        each_string("", &mut message, &mut |name, text| {
            if let Some(safe) = self.without_secrets(name, text) {
                *text = safe;
                is_changed = true;
            }
        });
        if is_changed {
            Cow::Owned(message.to_string())
        } else {
            Cow::Borrowed(line)
        }
    }

    /// The text of a member without what is left out; `None` if it has nothing of it.
    fn without_secrets(&self, name: &str, text: &str) -> Option<String> {
        match name {
            "tail" if self.tails.iter().any(|tail| tail == text) => {
                return Some(hidden(text).to_owned());
            }
            "content" if self.is_of_a_trigger(text) => return Some(REDACTED.to_owned()),
            "message" | "title" => {
                let mut excerpts = self.excerpts.iter();
                if let Some(shown) = excerpts.find_map(|excerpt| text.strip_suffix(&**excerpt)) {
                    return Some(format!("{shown}{REDACTED}"));
                }
            }
            _ => {}
        }
        if text.starts_with(NOT_DELIVERED) {
            return Some(format!("{NOT_DELIVERED}{REDACTED}"));
        }
        let mut safe = text.to_owned();
        for tail in &self.tails {
            for fence in ["```", "~~~~"] {
                let fenced = |text: &str| format!("\n{fence}\n{text}\n{fence}");
                safe = safe.replace(&fenced(tail.trim_end()), &fenced(hidden(tail)));
            }
        }
        (safe != text).then_some(safe)
    }
}

/// A line as a value, and whether the value is exactly the line. `None` if it is not JSON, or too deep.
fn parse(line: &[u8]) -> Option<(Value, bool)> {
    static SURROGATE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?s)\\(?:[uU][dD][89a-fA-F][0-9a-fA-F]{2}|.)").expect("it is an expression")
    });
    if let Ok(value) = serde_json::from_slice(line) {
        return Some((value, true));
    }
    // Half a character, as JavaScript cuts them off, is in no string here.
    let text = std::str::from_utf8(line).ok()?;
    let text = SURROGATE.replace_all(text, |found: &Captures<'_>| match &found[0] {
        escape if escape.len() == 6 => "\\ufffd".to_owned(),
        escape => escape.to_owned(),
    });
    Some((serde_json::from_str(&text).ok()?, false))
}

/// The envelope of a message without its parameters; `None` if it is not a call.
fn envelope(line: &[u8]) -> Option<String> {
    let envelope: Envelope<'_> = serde_json::from_slice(line).ok()?;
    let envelope = Envelope {
        params: REDACTED,
        ..envelope
    };
    Some(serde_json::to_string(&envelope).expect("names are strings"))
}

/// Replaces the strings of a message that are free text of tools.
fn hide_payload(message: &mut Value, replace: &dyn Fn(&mut String)) {
    let Value::Object(members) = message else {
        return Hide.apply(message, replace);
    };
    let method = members.get("method").and_then(Value::as_str);
    let params = Rule::of_method(method);
    for (name, value) in members {
        let rule = match name.as_str() {
            "jsonrpc" | "id" | "method" | "result" => &Show,
            "params" => params,
            _ => &Hide,
        };
        rule.apply(value, replace);
    }
}

/// The line with the middle of long strings left out; `None` if there are none.
fn shortened(line: &[u8], refusal: Option<Refusal>) -> Option<RedactedLine<'static>> {
    let (text, answers) = if refusal == Some(Refusal::Line) {
        (left_out(line.len()), Answers::AnyRefusal)
    } else {
        let (before, _) = parse(line)?;
        let mut message = before.clone();
        hide_payload(&mut message, &cut);
        if message == before {
            return None;
        }
        let answers = match refusal {
            Some(_) => Answers::AnyRefusal,
            None => Answers::Compared,
        };
        (message.to_string(), answers)
    };
    Some(RedactedLine {
        text: Cow::Owned(text.into_bytes()),
        answers,
    })
}

/// Leaves out the middle of a text, if it is longer than allowed.
fn cut(text: &mut String) {
    if text.len() <= LONGEST {
        return;
    }
    let boundary = |at: usize| (0..=at).rev().find(|&at| text.is_char_boundary(at));
    let head = boundary(LONGEST / 2).unwrap_or(0);
    let tail = boundary(text.len() - LONGEST / 2).unwrap_or(text.len());
    text.replace_range(head..tail, &left_out(tail - head));
}

fn left_out(bytes: usize) -> String {
    format!("[… {bytes} bytes left out …]")
}

/// The replacement of the end of a gate's output. Code fences in it decide the fences around a quote.
fn hidden(tail: &str) -> &'static str {
    if tail.contains("```") {
        "[redacted] ```"
    } else {
        REDACTED
    }
}

/// Removes the tokens of triggers from the settings of a directory.
pub(super) fn hide_tokens(directory: &mut Directory) {
    match directory.0.get_mut(SETTINGS_FILE) {
        Some(Content::Text(text)) => *text = without_tokens(text).into_owned(),
        // Tokens cannot be found in it.
        Some(Content::Bytes { hex }) => hex.clear(),
        Some(Content::Unreadable { .. } | Content::Empty(())) | None => {}
    }
}

/// The text of a settings file without the tokens of triggers. It may not be settings at all.
fn without_tokens(text: &str) -> Cow<'_, str> {
    const GAP: &str = r"(?:\s|/\*.*?\*/|//[^\n]*\n)*";
    const TEXT: &str = r#""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'"#;
    let pattern = format!(r#"(?s)(\btoken["']?{GAP}:{GAP})(?:{TEXT})"#);
    let pattern = Regex::new(&pattern).expect("it is a regular expression");
    pattern.replace_all(text, format!("${{1}}\"{REDACTED}\""))
}

fn keep(texts: &mut VecDeque<String>, text: &str) {
    if texts.iter().any(|kept| kept == text) {
        return;
    }
    if texts.len() == MOST {
        texts.pop_front();
    }
    texts.push_back(text.to_owned());
}

#[cfg(test)]
mod tests {
    use workflow_core::policy::gate_report::{CheckVerdict, Report};
    use workflow_core::types::GateRunId;

    use super::*;

    const PARAMS_REFUSED: &str =
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"S"}}"#;
    const LINE_REFUSED: &str =
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"S"}}"#;

    fn redaction() -> Redaction {
        Redaction::new(Payload::Redacted)
    }

    /// A line of the host as it is recorded, and how its answers are.
    fn host_line(redaction: &mut Redaction, line: &str, answers: &[&str]) -> (String, Answers) {
        let line = redaction.host_line(line.as_bytes(), answers, false);
        (
            String::from_utf8(line.text.into_owned()).unwrap(),
            line.answers,
        )
    }

    fn gate_finished(tail: &str) -> PlatformEvent {
        PlatformEvent::GateFinished {
            gate: GateRunId(1),
            reports: vec![Report {
                what: "test".to_owned(),
                source: String::new(),
                verdict: CheckVerdict::Failed,
                reason: String::new(),
                exit: Some(1),
                signal: None,
                duration_ms: 0,
                tail: tail.to_owned(),
            }],
        }
    }

    #[test]
    fn texts_of_tools_are_redacted_and_nothing_else() {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"hook/tool_call","params":{"event":{"toolName":"bash","input":{"command":"S","n":[1,"S"],"type":"S"},"toolCallId":"c"}}}"#,
            r#"{"method":"hook/tool_result","params":{"event":{"content":[{"type":"text","text":"S"},"S"],"details":"S","isError":true}}}"#,
            r#"{"params":{"event":{"messages":[{"role":"assistant","stopReason":"stop","content":[{"type":"toolCall","name":"bash","arguments":{"a":"S"}},{"type":"text","text":"Done?"}]},{"role":"toolResult","toolName":"bash","content":[{"type":"text","text":"S"}],"details":{"a":"S"}},{"role":"user","content":"hello"},{"role":"bashExecution","command":"S","output":"S"}]}},"method":"hook/agent_end"}"#,
            r#"{"method":"tool/execute","params":{"name":"workflow_step","arguments":{"action":"next","why":"S"}}}"#,
            r#"{"method":"tool/execute","params":{"name":"workflow_step","arguments":["S","S"]}}"#,
            r#"{"params":{"event":{"message":{"content":[{"partialJson":"S","type":"toolCall","id":"c","name":"bash"}],"role":"assistant"}}},"method":"hook/turn_end"}"#,
            r#"{"method":"hook/session_start","params":{"context":{"branch":[{"type":"message","message":{"role":"toolResult","content":"S"}},{"type":"custom","data":{"a":"kept"}}]}}}"#,
            r#"{"method":"hook/session_start","params":{"context":{"branch":[{"type":"custom","customType":"workflow:gate","data":{"reports":[{"what":"test","tail":"S"}]}}]}}}"#,
            r#"[{"a":"S"}]"#,
            r#"{"method":"hook/agent_start","later":"S"}"#,
        ] {
            let expected: Value =
                serde_json::from_str(&line.replace("\"S\"", "\"[redacted]\"")).unwrap();
            let (redacted, answers) = host_line(&mut redaction(), line, &[]);
            assert_eq!(serde_json::from_str::<Value>(&redacted).unwrap(), expected);
            assert_eq!(answers, Answers::Compared);
            let kept = host_line(&mut Redaction::new(Payload::Kept), line, &[]);
            assert_eq!(kept, (line.to_owned(), Answers::Compared));
        }
    }

    #[test]
    fn values_of_unexpected_types_are_redacted() {
        for line in [
            r#"{"method":"hook/tool_call","params":{"event":"S"}}"#,
            r#"{"method":"hook/tool_call","params":["S"]}"#,
            r#"{"method":"hook/agent_end","params":"S"}"#,
            r#"{"method":"hook/agent_end","params":{"event":["S"]}}"#,
            r#"{"method":"hook/tool_call","params":{"input":"S"}}"#,
            r#"{"method":"hook/tool_call","params":{"event":{"toolName":{"a":"S"},"later":"S","\ud800":"S"}}}"#,
            r#"{"method":"hook/tool_result","params":{"event":{"toolName":"bash","isError":"S"}}}"#,
            r#"{"method":"hook/tool_result","params":{"event":{"content":[{"type":["S"]}]}}}"#,
            r#"{"method":"hook/tool_later","params":{"event":{"toolName":"S"}}}"#,
            r#"{"method":"later","params":{"event":{"input":"S"}}}"#,
            r#"{"params":{"event":{"input":"S"}}}"#,
            r#"{"method":"hook/session_start","params":{"context":"S"}}"#,
            r#"{"method":"hook/session_start","params":{"context":{"branch":"S"}}}"#,
            r#"{"method":"hook/session_start","params":{"context":{"branch":["S",{"message":"S","data":"S"}]}}}"#,
            r#"{"method":"hook/agent_end","params":{"event":{"messages":"S","message":"S"}}}"#,
            r#"{"method":"hook/agent_end","params":{"event":{"messages":["S",{"content":"S"},{"role":["S"]}]}}}"#,
            r#"{"method":"hook/agent_end","params":{"event":{"messages":[{"role":"assistant","content":{"arguments":"S"}}]}}}"#,
            r#"{"method":"hook/agent_end","params":{"event":{"messages":[{"role":"toolResult","isError":"S"}]}}}"#,
            r#"{"method":"tool/execute","params":{"name":"workflow_step","arguments":"S"}}"#,
        ] {
            let (redacted, _) = host_line(&mut redaction(), line, &[]);
            assert!(!redacted.contains("\"S\""), "{redacted}");
        }
    }

    #[test]
    fn a_refused_line_is_left_out_and_its_refusal_is_any_line() {
        for (line, refusal, expected) in [
            ("S", LINE_REFUSED, REDACTED),
            (
                r#"{"method":"hook/tool_call","method":"session/state","params":"S"}"#,
                LINE_REFUSED,
                REDACTED,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"hook/tool_call","params":["S"]}"#,
                PARAMS_REFUSED,
                r#"{"jsonrpc":"2.0","id":1,"method":"hook/tool_call","params":"[redacted]"}"#,
            ),
        ] {
            let redacted = host_line(&mut redaction(), line, &[refusal]);
            assert_eq!(redacted, (expected.to_owned(), Answers::AnyRefusal));
        }
        let line = redaction()
            .host_line(b"a\xff", &[LINE_REFUSED], false)
            .text
            .into_owned();
        assert_eq!(line, REDACTED.as_bytes());
    }

    #[test]
    fn a_line_that_is_too_deep_keeps_its_envelope() {
        let deep = "[".repeat(200) + "\"S\"" + &"]".repeat(200);
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"hook/tool_call","params":{{"event":{{"input":{deep}}}}}}}"#
        );
        let expected =
            r#"{"jsonrpc":"2.0","id":1,"method":"hook/tool_call","params":"[redacted]"}"#;
        let redacted = host_line(&mut redaction(), &line, &[r#"{"id":1,"result":{}}"#]);
        assert_eq!(redacted, (expected.to_owned(), Answers::Unknown));
    }

    #[test]
    fn long_strings_of_tools_lose_their_middle() {
        let long = format!("a{}é{}b", "ä".repeat(10_000), "ö".repeat(10_000));
        let line = serde_json::json!({"method": "hook/tool_call", "params": {"event": {"toolName": "t", "input": {"a": long}}}});
        let mut kept = Redaction::new(Payload::Kept);
        let (text, _) = host_line(&mut kept, &line.to_string(), &[]);
        let value: Value = serde_json::from_str(&text).unwrap();
        let text = value["params"]["event"]["input"]["a"].as_str().unwrap();
        assert!(text.starts_with("aä") && text.ends_with("öb"));
        assert!(text.contains("bytes left out"), "{text}");
        assert!(text.len() <= LONGEST + 64);
        let prompt =
            serde_json::json!({"method": "hook/input", "params": {"event": {"text": long}}});
        let prompt = prompt.to_string();
        assert_eq!(host_line(&mut kept, &prompt, &[]).0, prompt);
        let line = line.to_string();
        let whole = kept.host_line(line.as_bytes(), &[], true);
        assert_eq!(whole.text, line.as_bytes());
        let nonsense = "S".repeat(2 * LONGEST);
        let (text, answers) = host_line(&mut kept, &nonsense, &[LINE_REFUSED]);
        assert!(text.len() < 100, "{text}");
        assert_eq!(answers, Answers::AnyRefusal);
    }

    #[test]
    fn the_output_of_a_gate_is_hidden_wherever_it_is_quoted() {
        let mut redaction = redaction();
        let PlatformEvent::GateFinished { reports, .. } = redaction.event(&gate_finished("S\n"))
        else {
            panic!("another event");
        };
        assert_eq!(reports[0].tail, REDACTED);
        let line = r#"{"a":[{"tail":"S\n"}],"text":"✗ test\n```\nS\n```\n\nS"}"#;
        let expected =
            r#"{"a":[{"tail":"[redacted]"}],"text":"✗ test\n```\n[redacted]\n```\n\nS"}"#;
        assert_eq!(redaction.sidecar_line(line), expected);
        redaction.event(&gate_finished("```"));
        let line = r#"{"tail":"```","text":"\n~~~~\n```\n~~~~"}"#;
        let expected = r#"{"tail":"[redacted] ```","text":"\n~~~~\n[redacted] ```\n~~~~"}"#;
        assert_eq!(redaction.sidecar_line(line), expected);
    }

    #[test]
    fn an_answer_that_depends_on_arguments_becomes_a_line_that_is_not_compared() {
        let mut redaction = redaction();
        let call = r#"{"id":7,"method":"hook/tool_call","params":{}}"#;
        let answer = r#"{"id":7,"result":{}}"#;
        host_line(&mut redaction, call, &[]);
        assert_eq!(redaction.sidecar_line(answer), answer);
        redaction.host_line(call.as_bytes(), &[], true);
        let question = r#"{"id":"s1","method":"ui/confirm"}"#;
        assert_eq!(redaction.sidecar_line(question), UNKNOWN);
        redaction.host_line(br#"{"id":"s1","result":true}"#, &[], true);
        let action = r#"{"method":"host/apply"}"#;
        assert_eq!(redaction.sidecar_line(action), action);
        assert_eq!(redaction.sidecar_line(answer), UNKNOWN);
        assert_eq!(redaction.sidecar_line(answer), answer);
    }

    #[test]
    fn the_message_of_a_trigger_is_hidden_in_both_directions() {
        let mut redaction = redaction();
        let text = "It says: S".to_owned();
        let event = redaction.event(&PlatformEvent::Triggered { text });
        assert!(matches!(event, PlatformEvent::Triggered { text } if text == REDACTED));
        let line = r#"{"content":"It says: S","x":"It says: S"}"#;
        let expected = r#"{"content":"[redacted]","x":"It says: S"}"#;
        assert_eq!(redaction.sidecar_line(line), expected);
        let line = format!(r#"{{"message":"{NOT_DELIVERED}It says"}}"#);
        let expected = format!(r#"{{"message":"{NOT_DELIVERED}[redacted]"}}"#);
        assert_eq!(redaction.sidecar_line(&line), expected);
        let prompt =
            r#"{"method":"hook/before_agent_start","params":{"event":{"prompt":"It says: S"}}}"#;
        let (redacted, _) = host_line(&mut redaction, prompt, &[]);
        assert!(!redacted.contains("It says"), "{redacted}");
    }

    #[test]
    fn a_shown_file_is_hidden_in_the_question() {
        let mut redaction = redaction();
        let excerpt = redaction.query_result(QueryResult::Excerpt(" S\n".to_owned()));
        assert_eq!(excerpt, Some(QueryResult::Excerpt(REDACTED.to_owned())));
        let line = r#"{"message":"S","options":["S"],"title":"OK?\n\nS"}"#;
        let expected = r#"{"message":"[redacted]","options":["S"],"title":"OK?\n\n[redacted]"}"#;
        assert_eq!(redaction.sidecar_line(line), expected);
    }

    #[test]
    fn a_token_of_a_trigger_is_left_out_however_it_is_written() {
        for (text, expected) in [
            (
                "{token: 'S', tokenEnv: 'E'}",
                r#"{token: "[redacted]", tokenEnv: 'E'}"#,
            ),
            (r#"{"token" : "a\"S"}"#, r#"{"token" : "[redacted]"}"#),
            (
                "{'token': /* S */ // S\n'S\\\nS'}",
                "{'token': /* S */ // S\n\"[redacted]\"}",
            ),
            ("{ broken token: 'S'", "{ broken token: \"[redacted]\""),
            ("{maxTokens: 1}", "{maxTokens: 1}"),
        ] {
            assert_eq!(without_tokens(text), expected);
        }
    }
}
