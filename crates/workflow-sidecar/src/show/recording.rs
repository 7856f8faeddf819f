//! The timelines of a recording, one for each session.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use workflow_core::definition::Catalog;
use workflow_core::event::Entry;
use workflow_core::event::PlatformEvent;
use workflow_core::policy::STEP_TOOL;

use super::Timeline;
use crate::record::{ProtocolLine, Transcript, TranscriptEntry};

/// Builds the timelines of a recording's sessions, by id.
pub(crate) fn of_recording(
    transcript: &Transcript,
    known: Option<Arc<Catalog>>,
) -> BTreeMap<String, Timeline> {
    let mut reader = RecordingReader {
        known,
        ..RecordingReader::default()
    };
    for line in &transcript.lines {
        if let Some(at) = line.at {
            reader.now = i64::try_from(at).ok();
            reader.has_times = true;
        }
        match &line.entry {
            TranscriptEntry::Header(_) => {
                reader.calls.clear();
                reader.questions.clear();
            }
            TranscriptEntry::In(line) => reader.host_line(line),
            TranscriptEntry::Out(line) => reader.sidecar_line(line),
            TranscriptEntry::Event(reported) => {
                let event = &reported.event;
                reader.restored = matches!(event, PlatformEvent::CodeRestored { .. });
                if let PlatformEvent::Triggered { text } = event {
                    reader.timeline(&reported.session).trigger_received(text);
                }
            }
            TranscriptEntry::Note(_)
            | TranscriptEntry::Definitions(_)
            | TranscriptEntry::Result(_)
            | TranscriptEntry::End
            | TranscriptEntry::Torn(_) => {}
        }
    }
    reader.sessions
}

#[derive(Default)]
struct RecordingReader {
    sessions: BTreeMap<String, Timeline>,
    known: Option<Arc<Catalog>>,
    /// The calls without an answer, by id.
    calls: HashMap<String, RecordedCall>,
    /// The sessions of the open questions, by id.
    questions: HashMap<String, String>,
    /// True if a restore ended: the next message has its result.
    restored: bool,
    now: Option<i64>,
    /// True if the lines have times.
    has_times: bool,
}

/// A request of the host.
struct RecordedCall {
    method: String,
    session: String,
    params: Value,
}

impl RecordingReader {
    /// The timeline of a session, at the current time.
    fn timeline(&mut self, session: &str) -> &mut Timeline {
        let timeline = self.sessions.entry(session.to_owned());
        let timeline = timeline.or_insert_with(|| Timeline::new(self.known.clone()));
        timeline.at(self.now)
    }

    /// Handles a line of the host.
    fn host_line(&mut self, line: &ProtocolLine) {
        let Some(message) = line.message() else {
            return;
        };
        let Some(method) = message["method"].as_str() else {
            return self.question_answered(&message);
        };
        let params = &message["params"];
        let session = params["sessionId"].as_str().unwrap_or_default();
        match method {
            "initialize" => self.clock_starts(&params["clock"]),
            "clock/advance" if !self.has_times => self.time_passes(&params["ms"]),
            "hook/session_start" | "hook/session_tree" | "hook/session_switch" => {
                self.loaded(session, params);
            }
            "hook/session_compact" => self.timeline(session).compacted(),
            "hook/tool_call" => self.timeline(session).tool_called(),
            "hook/input"
                if params["event"]["source"]
                    .as_str()
                    .is_some_and(|source| source != "extension") =>
            {
                let text = params["event"]["text"].as_str().unwrap_or("(not recorded)");
                self.timeline(session).user_message(text);
            }
            "tool/execute" if params["name"] == STEP_TOOL => {
                let action = params["arguments"]["action"].as_str().unwrap_or_default();
                self.timeline(session).step_called(action);
            }
            _ => {}
        }
        if let Some(id) = message.get("id") {
            let call = RecordedCall {
                method: method.to_owned(),
                session: session.to_owned(),
                params: params.clone(),
            };
            self.calls.insert(id.to_string(), call);
        }
    }

    /// Handles a line of the sidecar.
    fn sidecar_line(&mut self, line: &ProtocolLine) {
        let Some(message) = line.message() else {
            return;
        };
        if message["method"] == "host/apply" {
            let params = &message["params"];
            let session = params["sessionId"].as_str().unwrap_or_default();
            if std::mem::take(&mut self.restored) {
                self.code_restored(session, &params["actions"]);
            }
            return self.actions(session, &params["actions"]);
        }
        if let Some("ui/confirm" | "ui/select" | "ui/input") = message["method"].as_str() {
            return self.question_opened(&message);
        }
        let call = message
            .get("id")
            .and_then(|id| self.calls.remove(&id.to_string()));
        if let Some(call) = call {
            self.answered(&call, &message["result"]);
        }
    }

    /// Handles a question. The title of a choice also contains the text below it.
    fn question_opened(&mut self, message: &Value) {
        let params = &message["params"];
        let session = params["sessionId"].as_str().unwrap_or_default();
        let first = |name: &str| {
            let text = params[name].as_str().unwrap_or_default();
            text.lines().next().unwrap_or_default()
        };
        let question = [first("title"), first("message")].join(" ");
        let id = message["id"].to_string();
        self.questions.insert(id.clone(), session.to_owned());
        self.timeline(session).question_opened(&id, question.trim());
    }

    fn question_answered(&mut self, message: &Value) {
        let id = message["id"].to_string();
        let Some(session) = self.questions.remove(&id) else {
            return;
        };
        let answer = match &message["result"] {
            Value::Bool(true) => "yes",
            Value::Bool(false) => "no",
            Value::String(chosen) => chosen,
            _ => "nothing",
        };
        self.timeline(&session).question_answered(&id, answer);
    }

    fn answered(&mut self, call: &RecordedCall, result: &Value) {
        let session = call.session.as_str();
        if let Some(content) = result["inject"]["content"].as_str() {
            self.timeline(session).context_injected(content);
        }
        if let Some(reason) = result["block"]["reason"].as_str() {
            let tool = call.params["event"]["toolName"]
                .as_str()
                .unwrap_or_default();
            self.timeline(session).denied(tool, reason);
        }
        // First the actions: a gate's entry explains the answer.
        self.actions(session, &result["actions"]);
        if call.method == "hook/branch" {
            self.code_restored(session, &result["actions"]);
        }
        if call.method == "tool/execute" && result["isError"] == true {
            let answer = result["content"][0]["text"].as_str().unwrap_or_default();
            self.timeline(session).step_refused(answer);
        }
    }

    /// Adds the message about a restore.
    fn code_restored(&mut self, session: &str, actions: &Value) {
        let actions = actions.as_array().into_iter().flatten();
        for text in actions.filter_map(|action| action["message"].as_str()) {
            self.timeline(session).code_restored(text);
        }
    }

    fn actions(&mut self, session: &str, actions: &Value) {
        for action in actions.as_array().into_iter().flatten() {
            match action["type"].as_str() {
                Some("appendEntry") => {
                    let data = to_raw_value(&action["data"]).expect("a JSON value is JSON");
                    self.timeline(session).stored(entry(action, &data));
                }
                Some("sendUserMessage") => {
                    let content = action["content"].as_str().unwrap_or_default();
                    self.timeline(session).sent_message(content);
                }
                _ => {}
            }
        }
    }

    fn loaded(&mut self, session: &str, params: &Value) {
        let branch = params["context"]["branch"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let data: Vec<Box<RawValue>> = branch
            .iter()
            .map(|entry| to_raw_value(&entry["data"]).expect("a JSON value is JSON"))
            .collect();
        let entries = branch.iter().zip(&data);
        let entries: Vec<Entry<'_>> = entries
            .map(|(written, data)| entry(written, data))
            .collect();
        self.timeline(session).loaded(&entries);
    }

    fn clock_starts(&mut self, clock: &Value) {
        if !self.has_times {
            self.now = clock["virtual"]["now"].as_i64();
        }
    }

    fn time_passes(&mut self, ms: &Value) {
        self.now = self.now.and_then(|now| now.checked_add(ms.as_i64()?));
    }
}

fn entry<'a>(written: &'a Value, data: &'a RawValue) -> Entry<'a> {
    Entry {
        custom_type: written["customType"].as_str().unwrap_or_default(),
        data: Some(data),
    }
}
