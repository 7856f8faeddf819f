//! The timeline of a session file of pi.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use workflow_core::definition::Catalog;
use workflow_core::effect::message_type;
use workflow_core::policy::STEP_TOOL;

use super::Timeline;
use crate::sessions::{JsonText, SessionEntry, SessionFile};

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
            let text = entry.content.map(text_of).unwrap_or_default();
            timeline.context_injected(&text);
        }
        "compaction" => timeline.compacted(),
        "message" => {
            // A message of another form is skipped, as is everything else that is not known here.
            let message = entry
                .message
                .and_then(|message| serde_json::from_str(message.get()).ok());
            if let Some(message) = message {
                add_message(timeline, &message);
            }
        }
        _ => {}
    }
}

/// The used fields of a message.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionMessage<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_name: Option<Cow<'a, str>>,
    is_error: Option<bool>,
    #[serde(borrow)]
    details: Option<&'a RawValue>,
}

/// The used details of an answer of `workflow_step`.
#[derive(Deserialize)]
struct StepDetails {
    approval: String,
    comment: Option<String>,
}

/// A block of a message's content.
#[derive(Deserialize)]
struct MessageBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

fn add_message(timeline: &mut Timeline, message: &SessionMessage<'_>) {
    let text = || message.content.map(text_of).unwrap_or_default();
    match &*message.role {
        "user" => timeline.user_message(&text()),
        "assistant" => {
            for block in message.content.map(blocks).unwrap_or_default() {
                if block.kind == "toolCall" {
                    add_tool_call(timeline, &block);
                }
            }
        }
        "toolResult" => {
            let tool = message.tool_name.as_deref().unwrap_or_default();
            let details = message.details.filter(|_| tool == STEP_TOOL);
            let details = details.and_then(|details| serde_json::from_str(details.get()).ok());
            if let Some(StepDetails { approval, comment }) = details {
                return timeline.approval_answered(&approval, comment.as_deref());
            }
            if message.is_error != Some(true) {
                return;
            }
            let text = text();
            if tool == STEP_TOOL {
                timeline.step_refused(&text);
            } else {
                timeline.tool_failed(tool, &text);
            }
        }
        _ => {}
    }
}

fn add_tool_call(timeline: &mut Timeline, block: &MessageBlock<'_>) {
    #[derive(Deserialize)]
    struct Arguments<'a> {
        #[serde(borrow)]
        action: Cow<'a, str>,
    }
    timeline.tool_called();
    if block.name.as_deref() != Some(STEP_TOOL) {
        return;
    }
    let arguments = block.arguments.map(RawValue::get).unwrap_or_default();
    if let Ok(arguments) = serde_json::from_str::<Arguments<'_>>(arguments) {
        timeline.step_called(&arguments.action);
    }
}

/// Returns the blocks of a content; other values are skipped.
fn blocks(content: &RawValue) -> Vec<MessageBlock<'_>> {
    let list: Vec<&RawValue> = serde_json::from_str(content.get()).unwrap_or_default();
    let blocks = list.into_iter();
    blocks
        .filter_map(|block| serde_json::from_str(block.get()).ok())
        .collect()
}

/// Returns the text of a content: the text itself, or those of its blocks.
fn text_of(content: &RawValue) -> String {
    if let Ok(JsonText(text)) = serde_json::from_str(content.get()) {
        return text.into_owned();
    }
    let blocks = blocks(content);
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| block.text.as_deref())
        .collect();
    texts.join("\n")
}
