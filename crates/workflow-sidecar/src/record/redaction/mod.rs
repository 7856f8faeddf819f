//! Redaction: the strings of a session that a recording leaves out or shortens.
//!
//! The envelope, names, ids and numbers stay, so that a redacted recording replays: what is left is compared. An answer that
//! depends on text that is left out becomes a line that is not compared. Secrets with a known shape are in no recording.

mod free_text;
#[rustfmt::skip] // A row is a line.
mod table;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;
use serde_json::value::RawValue;
use workflow_core::definition::SETTINGS_FILE;
use workflow_core::event::PlatformEvent;
use workflow_core::reminders::is_question;
use workflow_core::{REDACTED, white_space, without_secrets};
use workflow_protocol::Kind;

use free_text::FreeText;
use table::{of_host, of_sidecar};

use super::definitions::{FileContent, RecordedDirectory};
use super::format::{ANY, UNKNOWN};
use super::platforms::{PlatformResult, QueryResult};
use crate::server::START_COMMAND;

/// Replaces a code that proves that an answer comes from the person.
const CODE: &str = "[code]";

/// The number of bytes that a string of a tool may have in a recording.
const MAX_STRING: usize = 16 << 10;

/// The number of texts that are looked for in later lines.
const MAX_SEARCHED_TEXTS: usize = 64;

/// Choices that no definition needs to name.
const USUAL_CHOICES: [&str; 4] = ["approve", "revise", "true", "false"];

/// The reason why the sidecar refused a line, if it could not be read.
fn refusal(answers: &[&str]) -> Option<Kind> {
    let mut codes = answers.iter().filter_map(|line| {
        let answer: Value = serde_json::from_str(line).ok()?;
        answer.pointer("/error/code")?.as_i64()
    });
    codes.find_map(|code| {
        let mut kinds = [Kind::ParseError, Kind::InvalidRequest, Kind::InvalidParams].into_iter();
        kinds.find(|kind| i64::from(kind.code()) == code)
    })
}

/// The redaction of one recording, with what the lines that follow are compared with.
#[derive(Debug, Default)]
pub(crate) struct Redaction {
    /// True if no free text is recorded. Otherwise long strings of tools lose their middle.
    pub(super) is_on: bool,
    /// The words of the definitions and the options of questions, which decisions depend on.
    names: HashSet<String>,
    /// What the sidecar said as the user would: a prompt may be a reminder.
    said: VecDeque<String>,
    /// The ids of tool calls with answers that depend on what is left out.
    calls: HashSet<String>,
    /// The ids of commands that the host runs: an answer of any shape is left out.
    commands: HashSet<String>,
    /// The codes that only the person is shown.
    codes: VecDeque<String>,
    /// True if the line that is answered now is such a call.
    is_call: bool,
}

impl Redaction {
    pub(crate) fn new(is_on: bool) -> Self {
        Self {
            is_on,
            ..Self::default()
        }
    }

    /// Forgets the call of the last line: something else happens.
    pub(super) fn forget_call(&mut self) {
        self.is_call = false;
    }

    /// A report of the platform as it is recorded.
    pub(super) fn event(&mut self, event: &PlatformEvent) -> PlatformEvent {
        let is_on = self.is_on;
        let mut event = event.clone();
        match &mut event {
            PlatformEvent::ApprovalRequested { code, .. } => {
                keep(&mut self.codes, code);
                CODE.clone_into(code);
            }
            PlatformEvent::GateFinished { reports, .. } if is_on => {
                for text in reports
                    .iter_mut()
                    .flat_map(|it| [&mut it.tail, &mut it.reason])
                {
                    hide(text);
                }
            }
            PlatformEvent::ApprovalRead {
                decision: Some(decision),
                ..
            } if is_on => {
                decision.comment.iter_mut().for_each(hide);
                // What was asked is in the question.
                decision.asked = None;
            }
            PlatformEvent::Triggered { text } if is_on => hide(text),
            PlatformEvent::Ordered(order) if is_on => order.by = None,
            PlatformEvent::GateFinished { .. }
            | PlatformEvent::Ordered(_)
            | PlatformEvent::Triggered { .. }
            | PlatformEvent::BaselineTaken { .. }
            | PlatformEvent::ChangeMeasured { .. }
            | PlatformEvent::CommandsNotTrusted
            | PlatformEvent::GateNotTrusted { .. }
            | PlatformEvent::GateProgress { .. }
            | PlatformEvent::ApprovalNotStored { .. }
            | PlatformEvent::ApprovalRead { .. }
            | PlatformEvent::ApprovalAnswered { .. }
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
        let is_on = self.is_on;
        Some(match result {
            PlatformResult::Effect(event) => PlatformResult::Effect(self.event(&event)),
            PlatformResult::Query(QueryResult::Excerpt(mut text)) if is_on => {
                hide(&mut text);
                PlatformResult::Query(QueryResult::Excerpt(text))
            }
            // Paths are arguments of tools.
            PlatformResult::Query(
                QueryResult::Path { .. }
                | QueryResult::ApprovalStore { .. }
                | QueryResult::Protected(_),
            ) if is_on => {
                return None;
            }
            PlatformResult::Query(query) => PlatformResult::Query(query),
        })
    }

    /// A line of the host as it is recorded, and the line in place of each of its answers: `"*"` if a refusal quotes what is left out,
    /// `"?"` if they are not compared. `depends` says that decisions depend on what tools are given and give back.
    pub(super) fn host_line<'a>(
        &mut self,
        line: &'a [u8],
        answers: &[&str],
        depends: bool,
    ) -> (Cow<'a, [u8]>, Option<&'static str>) {
        self.is_call = false;
        let is_on = self.is_on;
        let whole = (Cow::Borrowed(line), None);
        if !is_on && (depends || line.len() <= MAX_STRING) {
            let has_secret = matches!(
                without_secrets(&String::from_utf8_lossy(line)),
                Cow::Owned(_)
            );
            if has_secret
                && depends
                && let Some((message, _)) = lenient_json(line)
            {
                self.note_call(&message);
            }
            let refusal = has_secret.then(|| refusal(answers)).flatten();
            return (whole.0, refusal.map(|_| ANY));
        }
        let replaced = |text: String, answers| (Cow::Owned(text.into_bytes()), answers);
        let refusal = refusal(answers);
        if let Some(Kind::ParseError | Kind::InvalidRequest) = refusal {
            let text = if is_on {
                REDACTED.to_owned()
            } else {
                left_out(line.len())
            };
            return replaced(text, Some(ANY));
        }
        let Some((mut message, is_exact)) = lenient_json(line) else {
            return if is_on {
                replaced(envelope(line), Some(UNKNOWN))
            } else {
                whole
            };
        };
        let before = message.clone();
        if is_on {
            self.redact(&mut message);
            if depends {
                self.note_call(&message);
            }
        } else {
            of_host(&mut message, &|whose, text| {
                if matches!(whose, FreeText::Tool) {
                    cut(text);
                }
            });
        }
        // Completions repeat what was typed.
        let repeats = message["method"] == "command/complete";
        match refusal {
            _ if message == before && (is_exact || !is_on) => whole,
            None => replaced(message.to_string(), repeats.then_some(UNKNOWN)),
            Some(_) if is_on => replaced(envelope(line), Some(ANY)),
            Some(_) => replaced(message.to_string(), Some(ANY)),
        }
    }

    /// Leaves out the free text of a message of the host, and what a command of the host printed.
    fn redact(&mut self, message: &mut Value) {
        let is_response = message.get("method").is_none();
        let id = message.get("id").filter(|_| is_response);
        let is_output = id.is_some_and(|id| self.commands.remove(&id.to_string()));
        let prompt = message["params"]["event"]["prompt"].as_str();
        let is_reminder =
            prompt.is_some_and(|prompt| self.said.iter().any(|said| prompt.contains(said)));
        of_host(message, &|whose, text| match whose {
            // The run is paused because of a question.
            FreeText::Said if is_question(text) => *text = format!("{REDACTED}?"),
            FreeText::Chosen if !is_output && self.knows(text) => {}
            _ => hide(text),
        });
        let is_start = message["params"]["name"] == START_COMMAND;
        let typed = match message["method"].as_str() {
            Some("command/run") => message.pointer_mut("/params/arguments"),
            Some("command/complete") => message.pointer_mut("/params/prefix"),
            _ => None,
        };
        if let Some(Value::String(typed)) = typed {
            *typed = self.names_in(typed, is_start);
        }
        // Without a prompt, a reminder that was sent counts as one.
        if is_reminder && let Some(prompt) = message.pointer_mut("/params/event/prompt") {
            *prompt = Value::Null;
        }
    }

    /// The arguments of a command up to where the user writes free text. To start a workflow, that is behind its name and the
    /// inputs.
    fn names_in(&self, arguments: &str, is_start: bool) -> String {
        let mut kept: Vec<String> = Vec::new();
        let mut words = arguments.split_whitespace().peekable();
        while let Some(word) = words.next() {
            let is_value = kept.last().is_some_and(|last| last.starts_with("--"));
            let may_be_name = !is_start || kept.is_empty() || is_value || word.starts_with("--");
            match word.split_once('=') {
                Some((name, value)) if self.knows(name) => {
                    let value = if self.knows(value) { value } else { REDACTED };
                    kept.push(format!("{name}={value}"));
                }
                _ if may_be_name && self.knows(word) => kept.push(word.to_owned()),
                _ => {
                    // A value, and the description.
                    let count = 1 + usize::from(is_value && words.peek().is_some());
                    kept.extend(vec![REDACTED.to_owned(); count]);
                    break;
                }
            }
        }
        kept.join(" ")
    }

    /// True if a text is a number, or a name that the definitions or the options of a question have.
    fn knows(&self, text: &str) -> bool {
        let text = text.trim_start_matches(['-', '+']);
        text.parse::<f64>().is_ok() || USUAL_CHOICES.contains(&text) || self.names.contains(text)
    }

    /// Notes the words of definitions.
    pub(super) fn note_names(&mut self, directory: &RecordedDirectory) {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        for (path, content) in &directory.0 {
            let FileContent::Text(text) = content else {
                continue;
            };
            let words = [path, text]
                .into_iter()
                .flat_map(|text| text.split(|c| !is_part(c)));
            let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
            self.names
                .extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
        }
    }

    /// Remembers a call with an answer that depends on what is left out.
    fn note_call(&mut self, message: &Value) {
        if let Some("hook/tool_call" | "hook/tool_result") = message["method"].as_str() {
            self.is_call = true;
            self.calls.extend(message.get("id").map(Value::to_string));
        }
    }

    /// A line of the sidecar as it is recorded.
    pub(super) fn sidecar_line<'l>(&mut self, line: &'l str) -> Cow<'l, str> {
        let mut line = Cow::Borrowed(line);
        for code in &self.codes {
            if line.contains(&**code) {
                line = Cow::Owned(line.replace(&**code, CODE));
            }
        }
        if !self.is_on && !self.is_call && self.calls.is_empty() {
            return line;
        }
        let Some((mut message, _)) = lenient_json(line.as_bytes()) else {
            return Cow::Borrowed(ANY);
        };
        let id = message.get("id").map(Value::to_string);
        let is_request = message.get("method").is_some();
        if message["method"] == "host/exec" {
            self.commands.extend(id.clone());
        }
        let is_answer = !is_request && id.as_ref().is_some_and(|id| self.calls.remove(id));
        let is_question = is_request && self.is_call && id.is_some();
        if is_answer || is_question {
            return Cow::Borrowed(UNKNOWN);
        }
        if !self.is_on {
            return line;
        }
        let elements = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let options = elements(&message["params"]["options"]).into_iter();
        self.names
            .extend(options.filter_map(|option| Some(option.as_str()?.to_owned())));
        let holder = if is_request { "params" } else { "result" };
        for action in elements(&message[holder]["actions"]) {
            if action["type"] == "sendUserMessage"
                && let Some(text) = action["content"].as_str().map(white_space::trim)
                && !text.is_empty()
            {
                keep(&mut self.said, text);
            }
        }
        let before = message.clone();
        of_sidecar(&mut message, &|whose, text| match whose {
            FreeText::Chosen if self.knows(text) => {}
            _ => hide(text),
        });
        if message == before {
            line
        } else {
            Cow::Owned(message.to_string())
        }
    }
}

/// A line as a value, and whether the value is exactly the line. `None` if it is not JSON, or too deep.
pub(crate) fn lenient_json(line: &[u8]) -> Option<(Value, bool)> {
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

/// The envelope of a message without its parameters. Nothing is left of what is not a call.
fn envelope(line: &[u8]) -> String {
    let members: HashMap<String, &RawValue> = serde_json::from_slice(line).unwrap_or_default();
    if !members.contains_key("jsonrpc") || !members.contains_key("method") {
        return REDACTED.to_owned();
    }
    let shown = ["jsonrpc", "id", "method"].into_iter();
    let shown = shown.filter_map(|name| Some(format!("\"{name}\":{},", members.get(name)?)));
    format!("{{{}\"params\":\"{REDACTED}\"}}", shown.collect::<String>())
}

/// Leaves out the middle of a text, if it is longer than allowed.
fn cut(text: &mut String) {
    if text.len() <= MAX_STRING {
        return;
    }
    let boundary = |at: usize| (0..=at).rev().find(|&at| text.is_char_boundary(at));
    let head = boundary(MAX_STRING / 2).unwrap_or(0);
    let tail = boundary(text.len() - MAX_STRING / 2).unwrap_or(text.len());
    text.replace_range(head..tail, &left_out(tail - head));
}

fn left_out(bytes: usize) -> String {
    format!("[… {bytes} bytes left out …]")
}

/// Leaves out a text.
fn hide(text: &mut String) {
    if !text.is_empty() {
        REDACTED.clone_into(text);
    }
}

/// A line of a recording without the secrets that are known by their shape.
pub(super) fn line_without_secrets(json: &str) -> Cow<'_, str> {
    let safe = match lenient_json(json.as_bytes()) {
        Some((mut value, _)) => hide_secrets(&mut value).then_some(value),
        // Too deep for a value: the line as a text.
        None => match without_secrets(json) {
            Cow::Borrowed(_) => None,
            Cow::Owned(safe) => Some(Value::from(safe)),
        },
    };
    safe.map_or(Cow::Borrowed(json), |safe| Cow::Owned(safe.to_string()))
}

/// Hides the secrets in all strings and names of a value. True if there were any.
pub(super) fn hide_secrets(value: &mut Value) -> bool {
    match value {
        Value::String(text) => {
            let Cow::Owned(safe) = without_secrets(text) else {
                return false;
            };
            *text = safe;
            true
        }
        Value::Array(elements) => {
            let found = elements.iter_mut().map(hide_secrets);
            found.filter(|found| *found).count() > 0
        }
        Value::Object(members) => {
            let is_secret = |name: &String| matches!(without_secrets(name), Cow::Owned(_));
            let has_one = members.keys().any(is_secret);
            if has_one {
                let named = std::mem::take(members).into_iter();
                let named = named.map(|(name, value)| (without_secrets(&name).into_owned(), value));
                members.extend(named);
            }
            let found = members.values_mut().map(hide_secrets);
            found.filter(|found| *found).count() > 0 || has_one
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Removes the tokens of triggers from the settings of a directory.
pub(super) fn hide_tokens(directory: &mut RecordedDirectory) {
    match directory.0.get_mut(SETTINGS_FILE) {
        Some(FileContent::Text(text)) => *text = without_tokens(text).into_owned(),
        // Tokens cannot be found in it.
        Some(FileContent::Bytes { bytes }) => bytes.clear(),
        Some(FileContent::Unreadable { .. } | FileContent::Empty(())) | None => {}
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
    if texts.len() == MAX_SEARCHED_TEXTS {
        texts.pop_front();
    }
    texts.push_back(text.to_owned());
}
