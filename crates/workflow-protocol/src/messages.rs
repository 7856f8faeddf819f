//! The messages of an agent's run, as `agent_end` ships them.
//!
//! Owns what is kept of them: how the last assistant message ended. The walk keeps slices of the line and nothing
//! else, whatever the messages weigh. Nothing in them is ever an error: a hook must not be lost over a message that
//! looks odd. Must not know what follows from an ending.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess};
use serde_json::value::RawValue;

use crate::Text;
use crate::lenient::{Lenient, MaybeText, Reader, described_as_array};

/// How many characters of the last text are kept.
const TAIL_CHARS: usize = 200;

/// More JSON text than [`TAIL_CHARS`] characters can take, escapes included.
const TAIL_BYTES: usize = 4096;

/// What is kept of the messages of a run.
#[derive(Debug, Default)]
pub struct Messages<'a> {
    /// How the last message of the assistant ended, if there was one.
    pub last_assistant: Option<LastAssistant<'a>>,
}

/// How the last message of the assistant ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastAssistant<'a> {
    /// Why it stopped: `stop`, `length`, `toolUse`, `error`, `aborted`, or what else the host says.
    pub stop_reason: Option<Text<'a>>,
    /// The end of its last text, at most 200 characters.
    pub text_tail: String,
}

impl<'de: 'a, 'a> Deserialize<'de> for Messages<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Lenient(List).deserialize(deserializer)
    }
}

/// Reads the list of messages.
struct List;

impl<'de> Reader<'de> for List {
    type Value = Messages<'de>;

    fn nothing(self) -> Messages<'de> {
        Messages::default()
    }

    fn array<A: SeqAccess<'de>>(self, mut array: A) -> Result<Messages<'de>, A::Error> {
        let mut last = None;
        while let Some(message) = array.next_element_seed(Lenient(OneMessage))? {
            last = message.or(last);
        }
        Ok(Messages {
            last_assistant: last.map(Assistant::ending),
        })
    }
}

/// A message of the assistant, its content not looked at yet.
pub(crate) struct Assistant<'a> {
    stop_reason: Option<Text<'a>>,
    content: Option<&'a RawValue>,
}

impl<'a> Assistant<'a> {
    fn ending(self) -> LastAssistant<'a> {
        let last_text = self.content.and_then(last_text);
        LastAssistant {
            stop_reason: self.stop_reason,
            text_tail: last_text.map(text_tail).unwrap_or_default(),
        }
    }
}

/// Reads one message: `Some` if the assistant wrote it.
pub(crate) struct OneMessage;

/// The fields of a message that matter here.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum MessageField {
    Role,
    StopReason,
    Content,
    #[serde(other)]
    Other,
}

impl<'de> Reader<'de> for OneMessage {
    type Value = Option<Assistant<'de>>;

    fn nothing(self) -> Self::Value {
        None
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let (mut role, mut stop_reason, mut content) = (None, None, None);
        while let Some(field) = object.next_key::<MessageField>()? {
            match field {
                MessageField::Role => role = object.next_value::<MaybeText<'de>>()?.0,
                MessageField::StopReason => stop_reason = object.next_value::<MaybeText<'de>>()?.0,
                MessageField::Content => content = Some(object.next_value::<&'de RawValue>()?),
                MessageField::Other => {
                    object.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok((role.as_deref() == Some("assistant")).then_some(Assistant {
            stop_reason,
            content,
        }))
    }
}

/// The last text of a message's content, which is a text or a list of blocks.
fn last_text(content: &RawValue) -> Option<&RawValue> {
    if content.get().starts_with('"') {
        return Some(content);
    }
    let mut blocks = serde_json::Deserializer::from_str(content.get());
    Lenient(Blocks).deserialize(&mut blocks).unwrap_or_default()
}

/// Reads the blocks of a content: the last text among them.
struct Blocks;

impl<'de> Reader<'de> for Blocks {
    type Value = Option<&'de RawValue>;

    fn nothing(self) -> Self::Value {
        None
    }

    fn array<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut last = None;
        while let Some(text) = array.next_element_seed(Lenient(OneBlock))? {
            last = text.or(last);
        }
        Ok(last)
    }
}

/// Reads one block: `Some` if it is a text.
struct OneBlock;

/// The fields of a block that matter here.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum BlockField {
    Type,
    Text,
    #[serde(other)]
    Other,
}

impl<'de> Reader<'de> for OneBlock {
    type Value = Option<&'de RawValue>;

    fn nothing(self) -> Self::Value {
        None
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let (mut kind, mut text) = (None, None);
        while let Some(field) = object.next_key::<BlockField>()? {
            match field {
                BlockField::Type => kind = object.next_value::<MaybeText<'de>>()?.0,
                BlockField::Text => text = Some(object.next_value::<&'de RawValue>()?),
                BlockField::Other => {
                    object.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(text.filter(|_| kind.as_deref() == Some("text")))
    }
}

/// The end of a JSON string, unescaped; empty if the value is no string.
fn text_tail(raw: &RawValue) -> String {
    let tail = short_tail(raw.get());
    let text = Text::of_json(&tail).unwrap_or_default();
    let skipped = text.chars().count().saturating_sub(TAIL_CHARS);
    text.chars().skip(skipped).collect()
}

/// The end of a long JSON string as a shorter JSON string.
///
/// No escape sequence holds a space, so right after one is always a place to cut. Unescaping the whole would cost as
/// much memory as the text is long.
fn short_tail(json: &str) -> Cow<'_, str> {
    let from = json.len().saturating_sub(TAIL_BYTES);
    let cut = json.as_bytes()[from..]
        .iter()
        .position(|byte| *byte == b' ');
    match cut {
        Some(offset) if from > 0 => Cow::Owned(format!("\"{}", &json[from + offset + 1..])),
        _ => Cow::Borrowed(json),
    }
}

described_as_array!(Messages);

#[cfg(test)]
mod tests {
    use super::*;

    /// What is kept of these messages.
    fn last(messages: &str) -> Option<LastAssistant<'_>> {
        serde_json::from_str::<Messages<'_>>(messages)
            .expect("no messages are ever an error")
            .last_assistant
    }

    fn ending<'a>(stop_reason: Option<&'a str>, text_tail: &str) -> LastAssistant<'a> {
        LastAssistant {
            stop_reason: stop_reason.map(Text::from),
            text_tail: text_tail.to_owned(),
        }
    }

    #[test]
    fn the_last_message_of_the_assistant_counts() {
        let messages = r#"[
            {"role":"user","content":"Do it","stopReason":"odd"},
            {"role":"assistant","content":[{"type":"text","text":"First"}],"stopReason":"toolUse"},
            {"role":"toolResult","content":[{"type":"text","text":"ok"}]},
            {"stopReason":"stop","content":[{"type":"thinking","thinking":"hm"},{"text":"Which one?","type":"text"}],"role":"assistant"},
            {"role":"user","content":"later"}
        ]"#;
        assert_eq!(last(messages), Some(ending(Some("stop"), "Which one?")));
    }

    #[test]
    fn odd_messages_are_passed_over() {
        for messages in [
            "null",
            "7",
            "-7",
            "1.5",
            "true",
            r#""text""#,
            r#"{"role":"assistant","content":"a"}"#,
            "[]",
        ] {
            assert_eq!(last(messages), None, "{messages}");
        }
        let messages = r#"[null, 1, -1, 0.5, "assistant", [{"role":"assistant"}], {"role":7}, {"role":null}, {}]"#;
        assert_eq!(last(messages), None);
    }

    #[test]
    fn an_odd_field_of_the_assistant_is_nothing() {
        let cases = [
            (r#"[{"role":"assistant"}]"#, ending(None, "")),
            (
                r#"[{"role":"assistant","stopReason":7,"content":null}]"#,
                ending(None, ""),
            ),
            (
                r#"[{"role":"assistant","stopReason":{"a":[1]},"content":{"type":"text"}}]"#,
                ending(None, ""),
            ),
            (
                r#"[{"role":"assistant","content":"Shall I?"}]"#,
                ending(None, "Shall I?"),
            ),
            (
                r#"[{"role":"assistant","content":["a",1,null,{"type":"text"},{"type":7,"text":"b"}]}]"#,
                ending(None, ""),
            ),
            (
                r#"[{"role":"assistant","content":[{"type":"text","text":7}]}]"#,
                ending(None, ""),
            ),
            (
                r#"[{"ro\u006ce":"assi\u0073tant","stopReason":"a\u0062orted"}]"#,
                ending(Some("aborted"), ""),
            ),
        ];
        for (messages, expected) in cases {
            assert_eq!(last(messages), Some(expected), "{messages}");
        }
    }

    #[test]
    fn only_the_end_of_a_text_is_kept() {
        for (word, times) in [
            ("word ", 20_000),
            ("\\n\\u00e9 ", 20_000),
            ("x", 20_000),
            ("é", 300),
        ] {
            let messages = format!(
                r#"[{{"role":"assistant","content":"{}Ok?"}}]"#,
                word.repeat(times)
            );
            let tail = last(&messages).expect("an assistant").text_tail;
            assert_eq!(tail.chars().count(), TAIL_CHARS, "{word}");
            assert!(tail.ends_with("Ok?"), "{word}");
        }
    }
}
