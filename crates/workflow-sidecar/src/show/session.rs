//! The timeline of a session file of pi.

use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;
use workflow_core::definition::Catalog;
use workflow_core::effect::message_type;
use workflow_core::policy::STEP_TOOL;

use super::Timeline;
use crate::record::lenient_json;
use crate::sessions::{SessionEntry, SessionFile};

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
