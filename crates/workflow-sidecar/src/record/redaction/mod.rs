//! Redaction: the strings of a session that a recording leaves out or shortens.
//!
//! The envelope, names, ids and numbers stay, so that a redacted recording replays; an answer that depends on
//! text that is left out becomes a line that is not compared.

mod free_text;
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
use workflow_core::session::NOT_DELIVERED;
use workflow_protocol::Kind;

use free_text::{each_string, replace_free_text};

use super::definitions::{FileContent, RecordedDirectory};
use super::format::{ANY, UNKNOWN};
use super::results::{PlatformResult, QueryResult};

/// Replaces a string that is left out.
const REDACTED: &str = "[redacted]";

/// Replaces a code that proves that an answer comes from the person.
const CODE: &str = "[code]";

/// The number of bytes that a string of a tool may have in a recording.
const MAX_STRING: usize = 16 << 10;

/// The number of texts that are looked for in later lines.
const MAX_SEARCHED_TEXTS: usize = 64;

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

/// The redaction of one recording, with the texts that are looked for in the lines that follow.
#[derive(Debug, Default)]
pub(crate) struct Redaction {
    /// True if no string of what tools are given and give back is recorded. Otherwise long ones lose their middle.
    pub(super) is_on: bool,
    tails: VecDeque<String>,
    excerpts: VecDeque<String>,
    /// The messages of triggers to the agent.
    messages: VecDeque<String>,
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
                for report in reports.iter_mut().filter(|report| !report.tail.is_empty()) {
                    keep(&mut self.tails, &report.tail);
                    report.tail = hidden(&report.tail).to_owned();
                }
            }
            PlatformEvent::Triggered { text } if is_on => {
                keep(&mut self.messages, text);
                REDACTED.clone_into(text);
            }
            PlatformEvent::GateFinished { .. }
            | PlatformEvent::Triggered { .. }
            | PlatformEvent::BaselineTaken { .. }
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
            PlatformResult::Query(QueryResult::Excerpt(text))
                if is_on && !text.trim().is_empty() =>
            {
                keep(&mut self.excerpts, text.trim());
                PlatformResult::Query(QueryResult::Excerpt(REDACTED.to_owned()))
            }
            // Paths are arguments of tools.
            PlatformResult::Query(QueryResult::Path { .. } | QueryResult::ApprovalStore { .. })
                if is_on =>
            {
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
            return whole;
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
            self.redact(&mut message, &before);
            if depends {
                self.note_call(&message);
            }
        } else {
            replace_free_text(&mut message, &cut);
        }
        match refusal {
            _ if message == before && (is_exact || !is_on) => whole,
            None => replaced(message.to_string(), None),
            Some(_) if is_on => replaced(envelope(line), Some(ANY)),
            Some(_) => replaced(message.to_string(), Some(ANY)),
        }
    }

    /// Leaves out the free text of a message of the host, and what a command of the host printed.
    fn redact(&mut self, message: &mut Value, before: &Value) {
        replace_free_text(message, &|text| REDACTED.clone_into(text));
        each_string("", message, &mut |_, text| {
            if self.is_of_a_trigger(text) {
                REDACTED.clone_into(text);
            }
        });
        let is_response = message.get("method").is_none();
        let id = message.get("id").filter(|_| is_response);
        if id.is_some_and(|id| self.commands.remove(&id.to_string())) {
            redact_output(message, before);
        }
    }

    /// Remembers a call with an answer that depends on what is left out.
    fn note_call(&mut self, message: &Value) {
        if let Some("hook/tool_call" | "hook/tool_result") = message["method"].as_str() {
            self.is_call = true;
            self.calls.extend(message.get("id").map(Value::to_string));
        }
    }

    fn is_of_a_trigger(&self, text: &str) -> bool {
        self.messages.iter().any(|message| message == text)
    }

    /// A line of the sidecar as it is recorded.
    pub(super) fn sidecar_line<'l>(&mut self, line: &'l str) -> Cow<'l, str> {
        let mut line = Cow::Borrowed(line);
        for code in &self.codes {
            if line.contains(&**code) {
                line = Cow::Owned(line.replace(&**code, CODE));
            }
        }
        if !self.is_on {
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
        // The rules of a phase may have changed what the platform reported.
        each_string("", &mut message, &mut |name, text| {
            if name == "tail" {
                keep(&mut self.tails, text);
            }
        });
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
            line
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

/// The replacement of the end of a gate's output. Code fences in it decide the fences around a quote.
fn hidden(tail: &str) -> &'static str {
    if tail.contains("```") {
        "[redacted] ```"
    } else {
        REDACTED
    }
}

/// Leaves out what a command of the host printed. Both streams become one text, as in the report on the command. An
/// answer that is not as the protocol has it is left out as a whole.
fn redact_output(message: &mut Value, before: &Value) {
    let printed = ["stdout", "stderr"].map(|name| before["result"][name].as_str());
    let printed: String = printed.into_iter().flatten().collect();
    let stdout = match printed.trim() {
        "" => "",
        _ => hidden(&printed),
    };
    match message.get_mut("result") {
        Some(Value::Object(members)) => {
            for (name, text) in [("stdout", stdout), ("stderr", "")] {
                if let Some(Value::String(stream)) = members.get_mut(name) {
                    text.clone_into(stream);
                }
            }
        }
        Some(result) => *result = REDACTED.into(),
        None => {}
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
