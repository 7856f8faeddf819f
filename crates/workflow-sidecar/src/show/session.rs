//! Facts of a session file of pi.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use workflow_core::definition::Catalog;
use workflow_core::effect::message_type;
use workflow_core::policy::STEP_TOOL;

use super::{Fact, Timeline};
use crate::session_file::{JsonText, SessionEntry, SessionFile};

/// Builds the timeline of a session.
pub(crate) fn of_session(file: &SessionFile<'_>, known: Option<Arc<Catalog>>) -> Timeline {
    let mut timeline = Timeline::new(known);
    for entry in &file.entries {
        take(&mut timeline, entry);
    }
    timeline
}

fn take(timeline: &mut Timeline, entry: &SessionEntry<'_>) {
    let at = entry.at();
    if let Some(ours) = entry.ours() {
        return timeline.take(at, Fact::Stored(ours));
    }
    match &*entry.kind {
        "custom_message" if entry.custom_type.as_deref() == Some(message_type::CONTEXT) => {
            let text = entry.content.map(text_of).unwrap_or_default();
            timeline.take(at, Fact::ContextInjected(&text));
        }
        "compaction" => timeline.take(at, Fact::Compacted),
        "message" => {
            // A message of another form is skipped, as is everything else that is not known here.
            let message = entry
                .message
                .and_then(|message| serde_json::from_str(message.get()).ok());
            if let Some(message) = message {
                take_message(timeline, at, &message);
            }
        }
        _ => {}
    }
}

/// A message, as far as it is used.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_name: Option<Cow<'a, str>>,
    is_error: Option<bool>,
}

/// A block of a message's content.
#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

fn take_message(timeline: &mut Timeline, at: Option<i64>, message: &Message<'_>) {
    let text = || message.content.map(text_of).unwrap_or_default();
    match &*message.role {
        "user" => timeline.take(at, Fact::UserMessage(&text())),
        "assistant" => {
            for block in message.content.map(blocks).unwrap_or_default() {
                if block.kind == "toolCall" {
                    take_tool_call(timeline, at, &block);
                }
            }
        }
        "toolResult" if message.is_error == Some(true) => {
            let tool = message.tool_name.as_deref().unwrap_or_default();
            let text = text();
            timeline.take(
                at,
                if tool == STEP_TOOL {
                    Fact::Refused(&text)
                } else {
                    Fact::ToolResult { tool, text: &text }
                },
            );
        }
        _ => {}
    }
}

fn take_tool_call(timeline: &mut Timeline, at: Option<i64>, block: &Block<'_>) {
    #[derive(Deserialize)]
    struct Arguments<'a> {
        #[serde(borrow)]
        action: Cow<'a, str>,
    }
    timeline.take(at, Fact::ToolCalled);
    if block.name.as_deref() != Some(STEP_TOOL) {
        return;
    }
    let arguments = block.arguments.map(RawValue::get).unwrap_or_default();
    if let Ok(arguments) = serde_json::from_str::<Arguments<'_>>(arguments) {
        timeline.take(at, Fact::StepAction(&arguments.action));
    }
}

/// Returns the blocks of a content; other values are skipped.
fn blocks(content: &RawValue) -> Vec<Block<'_>> {
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
