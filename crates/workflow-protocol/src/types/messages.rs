//! The messages of an agent's run, as `agent_end` brings them.
//!
//! Only the end of the last assistant message is kept. Their texts stay in the line, so that a long list costs hardly
//! any memory. No message is ever an error: a hook must not be lost because of a message that looks odd.

use serde::Deserialize;
use serde::de::Deserializer;
use serde_json::value::RawValue;
use workflow_core::Text;

use crate::read::lenient;

/// The number of characters of the last text that are kept.
const TAIL_CHARS: usize = 200;

/// The part of a run's messages that is kept.
#[derive(Debug, Default)]
pub struct Messages<'a> {
    /// The end of the last assistant message, if there was one.
    pub last_assistant: Option<LastAssistant<'a>>,
}

/// The end of the last assistant message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastAssistant<'a> {
    /// The reason for stopping: `stop`, `length`, `toolUse`, `error`, `aborted`, or another one of the host.
    pub stop_reason: Option<Text<'a>>,
    /// The end of its last text, at most 200 characters.
    pub text_tail: String,
}

impl<'de: 'a, 'a> Deserialize<'de> for Messages<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let messages = elements(<&RawValue>::deserialize(deserializer)?).into_iter();
        let mut messages = messages.filter_map(lenient::object::<Message<'_>>);
        let last = messages.rfind(|message| message.role.as_deref() == Some("assistant"));
        Ok(Messages {
            last_assistant: last.map(Message::ending),
        })
    }
}

/// The elements of an array; any other value has none.
fn elements(list: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(list.get()).unwrap_or_default()
}

/// The members of a message that are read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message<'a> {
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    role: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "lenient::text")]
    stop_reason: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "lenient::raw")]
    content: Option<&'a RawValue>,
}

impl<'a> Message<'a> {
    fn ending(self) -> LastAssistant<'a> {
        let last_text = self.content.and_then(last_text);
        LastAssistant {
            stop_reason: self.stop_reason,
            text_tail: last_text.as_deref().map(tail).unwrap_or_default(),
        }
    }
}

/// The last text of a message's content, which is a text or a list of blocks.
fn last_text(content: &RawValue) -> Option<Text<'_>> {
    #[derive(Deserialize)]
    struct Block<'a> {
        #[serde(borrow, default, rename = "type", deserialize_with = "lenient::text")]
        kind: Option<Text<'a>>,
        #[serde(borrow, default, deserialize_with = "lenient::raw")]
        text: Option<&'a RawValue>,
    }

    let mut last = Some(content).filter(|content| content.get().starts_with('"'));
    for block in elements(content) {
        let block: Option<Block<'_>> = lenient::object(block);
        if let Some(block) = block
            && block.kind.as_deref() == Some("text")
        {
            last = block.text.or(last);
        }
    }
    // A text block whose text is not a string counts as an empty text.
    lenient::text(last?).expect("a raw value can be read as JSON")
}

/// The last [`TAIL_CHARS`] characters of a text.
fn tail(text: &str) -> String {
    let start = text.char_indices().rev().nth(TAIL_CHARS - 1);
    text[start.map_or(0, |(start, _)| start)..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the part of these messages that is kept.
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
