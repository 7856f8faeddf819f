//! Texts for people that contain hidden characters.
//!
//! Nothing that people read can act on a terminal: hidden characters are shown as escapes. The author is warned, because
//! that is hardly intended.

use crate::definition::schema::Reader;
use crate::definition::syntax::{Kind, Node};
use crate::diagnostic::{Code, Finding, shown, visible_lines};

/// Keys with texts that people read. Patterns and commands may contain what they like.
#[rustfmt::skip] // Names that belong together.
const READ_BY_PEOPLE: &[&str] = &[
    "name", "commandName", "id", "emoji", "reason", "ask", "choices", "show", "description", "prompt", "append", "sessionNamePrefix",
    "initialMessage", "instructions", "roleInstruction", "advanceReminder", "blockReasonTemplate", "completionMessage", "cancelledMessage",
    "notDoneReminder",
];

/// Warns about hidden characters in the texts of a file that people read.
pub(super) fn report(reader: &mut Reader<'_>, node: &Node<'_>) {
    in_node(reader, None, node);
}

/// `key` is the key that the node is the value of, or a part of the value of.
fn in_node(reader: &mut Reader<'_>, key: Option<&str>, node: &Node<'_>) {
    match &node.kind {
        Kind::Text(text) => {
            let (Some(key), escaped) = (key, visible_lines(text)) else {
                return;
            };
            // The end of a line is expected in a file.
            if READ_BY_PEOPLE.contains(&key) && *escaped != text.replace("\r\n", "\n") {
                let message = format!(
                    "`{key}` contains control or invisible characters, which are shown as escapes: `{}`",
                    shown(text)
                );
                reader.report(Finding::warning(Code::HiddenCharacter, node.span, message));
            }
        }
        Kind::List(items) => {
            for item in items {
                in_node(reader, key, item);
            }
        }
        Kind::Map(map) => {
            for entry in &map.entries {
                in_node(reader, Some(&entry.key), &entry.value);
            }
        }
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Tagged(_) => {}
    }
}
