//! The timelines of a recording, one for each session, and that of a session file.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use workflow_core::definition::Catalog;
use workflow_core::effect::message_type;
use workflow_core::event::{Entry, PlatformEvent};
use workflow_core::policy::STEP_TOOL;

use super::Timeline;
use super::timeline::TimelineEvent;
use crate::record::{Transcript, TranscriptEntry, lenient_json};
use crate::sessions::{SessionEntry, SessionFile};

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
        }
        match &line.entry {
            TranscriptEntry::Header(_) => {
                reader.calls.clear();
                for timeline in reader.sessions.values_mut() {
                    timeline.open_questions.clear();
                }
            }
            TranscriptEntry::In(line) => reader.host_message(line.message().unwrap_or_default()),
            TranscriptEntry::Out(line) => {
                reader.sidecar_message(&line.message().unwrap_or_default());
            }
            TranscriptEntry::Event(reported) => {
                let event = &reported.event;
                reader.restored = matches!(event, PlatformEvent::CodeRestored { .. });
                if let PlatformEvent::Triggered { text } = event {
                    let timeline = reader.timeline(&reported.session);
                    timeline.trigger_texts.push(text.clone());
                }
            }
            _ => {}
        }
    }
    reader.sessions
}

#[derive(Default)]
struct RecordingReader {
    sessions: BTreeMap<String, Timeline>,
    known: Option<Arc<Catalog>>,
    /// The requests of the host without an answer, by id.
    calls: HashMap<String, Value>,
    /// True if a restore ended: the next message has its result.
    restored: bool,
    now: Option<i64>,
}

impl RecordingReader {
    /// The timeline of a session, at the current time.
    fn timeline(&mut self, session: &str) -> &mut Timeline {
        let timeline = self.sessions.entry(session.to_owned());
        let timeline = timeline.or_insert_with(|| Timeline::new(self.known.clone()));
        timeline.at(self.now)
    }

    /// Handles a message of the host.
    fn host_message(&mut self, message: Value) {
        let params = &message["params"];
        let Some(method) = message["method"].as_str() else {
            let (id, now) = (message["id"].to_string(), self.now);
            let answer = answer_text(&message["result"]);
            for timeline in self.sessions.values_mut() {
                timeline.at(now).question_answered(&id, answer);
            }
            return;
        };
        match method {
            "hook/session_start" | "hook/session_tree" | "hook/session_switch" => {
                let branch = params["context"]["branch"].as_array().into_iter().flatten();
                let branch: Vec<String> = branch.map(Value::to_string).collect();
                let branch = branch.join("\n");
                let file = SessionFile::parse(branch.as_bytes());
                self.timeline(session_of(&message)).loaded(&file.ours());
            }
            "hook/session_compact" => self.timeline(session_of(&message)).compacted(),
            "hook/tool_call" => self.timeline(session_of(&message)).tool_called(),
            "hook/input" => {
                let event = &params["event"];
                if event["source"].is_string() && event["source"] != "extension" {
                    let text = event["text"].as_str().unwrap_or("(not recorded)");
                    self.timeline(session_of(&message)).message(text, false);
                }
            }
            "tool/execute" if params["name"] == STEP_TOOL => {
                let action = params["arguments"]["action"].as_str().unwrap_or_default();
                self.timeline(session_of(&message)).step_called(action);
            }
            _ => {}
        }
        if let Some(id) = message.get("id").map(Value::to_string) {
            self.calls.insert(id, message);
        }
    }

    /// Handles a message of the sidecar.
    fn sidecar_message(&mut self, message: &Value) {
        let params = &message["params"];
        match message["method"].as_str() {
            Some("host/apply") => {
                let restored = std::mem::take(&mut self.restored);
                self.actions(session_of(message), &params["actions"], restored);
            }
            Some("ui/confirm" | "ui/select" | "ui/input") => {
                // The title of a choice also contains the text below it.
                let first = |name: &str| {
                    let text = params[name].as_str().unwrap_or_default();
                    text.lines().next().unwrap_or_default()
                };
                let question = [first("title"), first("message")].join(" ");
                let id = message["id"].to_string();
                let timeline = self.timeline(session_of(message));
                timeline.question_opened(&id, question.trim());
            }
            _ => {
                let id = message.get("id").map(Value::to_string);
                if let Some(call) = id.and_then(|id| self.calls.remove(&id)) {
                    self.answered(&call, &message["result"]);
                }
            }
        }
    }

    fn answered(&mut self, call: &Value, result: &Value) {
        let session = session_of(call);
        if let Some(content) = result["inject"]["content"].as_str() {
            self.timeline(session).context_injected(content);
        }
        if let Some(reason) = result["block"]["reason"].as_str() {
            let tool = call["params"]["event"]["toolName"].as_str();
            let timeline = self.timeline(session);
            timeline.denied(tool.unwrap_or_default(), reason);
        }
        // First the actions: a gate's entry explains the answer.
        let is_branch = call["method"] == "hook/branch";
        self.actions(session, &result["actions"], is_branch);
        if call["method"] == "tool/execute" && result["isError"] == true {
            let answer = result["content"][0]["text"].as_str().unwrap_or_default();
            self.timeline(session).step_refused(answer);
        }
    }

    /// Adds actions; with `restored` their messages are about a restore.
    fn actions(&mut self, session: &str, actions: &Value, restored: bool) {
        for action in actions.as_array().into_iter().flatten() {
            match action["type"].as_str() {
                Some("appendEntry") => {
                    let data = to_raw_value(&action["data"]).expect("a JSON value is JSON");
                    self.timeline(session).stored(Entry {
                        custom_type: action["customType"].as_str().unwrap_or_default(),
                        data: Some(&data),
                    });
                }
                Some("sendUserMessage") => {
                    let content = action["content"].as_str().unwrap_or_default();
                    self.timeline(session).sent_message(content);
                }
                _ => {}
            }
            if let Some(text) = action["message"].as_str().filter(|_| restored) {
                let message = text.to_owned();
                let event = TimelineEvent::CodeRestored { message };
                self.timeline(session).push(event);
            }
        }
    }
}

/// The session of a request.
fn session_of(message: &Value) -> &str {
    message["params"]["sessionId"].as_str().unwrap_or_default()
}

/// The user's answer to a question, in words.
fn answer_text(result: &Value) -> &str {
    match result {
        Value::Bool(true) => "yes",
        Value::Bool(false) => "no",
        Value::String(chosen) => chosen,
        _ => "nothing",
    }
}

/// Builds the timeline of a session.
pub(crate) fn of_session(file: &SessionFile<'_>, known: Option<Arc<Catalog>>) -> Timeline {
    let mut timeline = Timeline::new(known);
    for entry in &file.entries {
        add_entry(&mut timeline, entry);
    }
    timeline
}

fn add_entry(timeline: &mut Timeline, entry: &SessionEntry<'_>) {
    timeline.at(entry.at());
    if let Some(ours) = entry.ours() {
        return timeline.stored(ours);
    }
    match &*entry.kind {
        "custom_message" if entry.custom_type.as_deref() == Some(message_type::CONTEXT) => {
            timeline.context_injected(&text_of(&value(entry.content)));
        }
        "compaction" => timeline.compacted(),
        "message" => add_message(timeline, &value(entry.message)),
        _ => {}
    }
}

/// A part of an entry; null if there is none.
fn value(part: Option<&RawValue>) -> Value {
    let value = part.and_then(|part| lenient_json(part.get().as_bytes()));
    value.map(|(value, _)| value).unwrap_or_default()
}

fn add_message(timeline: &mut Timeline, message: &Value) {
    let content = &message["content"];
    match message["role"].as_str().unwrap_or_default() {
        "user" => timeline.message(&text_of(content), false),
        "assistant" => {
            for block in blocks(content).filter(|block| block["type"] == "toolCall") {
                timeline.tool_called();
                let action = &block["arguments"]["action"];
                if let Some(action) = action.as_str().filter(|_| block["name"] == STEP_TOOL) {
                    timeline.step_called(action);
                }
            }
        }
        "toolResult" => {
            let tool = message["toolName"].as_str().unwrap_or_default();
            let (approval, comment) = (
                &message["details"]["approval"],
                &message["details"]["comment"],
            );
            match approval.as_str().filter(|_| tool == STEP_TOOL) {
                Some(choice) => timeline.approval_answered(choice, comment.as_str()),
                None if message["isError"] != true => {}
                None if tool == STEP_TOOL => timeline.step_refused(&text_of(content)),
                None => timeline.tool_failed(tool, &text_of(content)),
            }
        }
        _ => {}
    }
}

/// The blocks of a content.
fn blocks(content: &Value) -> impl Iterator<Item = &Value> {
    content.as_array().into_iter().flatten()
}

/// The text of a content: the text itself, or those of its blocks.
fn text_of(content: &Value) -> String {
    let texts = blocks(content).filter_map(|block| block["text"].as_str());
    let texts: Vec<&str> = content.as_str().into_iter().chain(texts).collect();
    texts.join("\n")
}
