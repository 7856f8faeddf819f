//! Messages without characters that act on a terminal or deceive a reader.
//!
//! Definitions, file names and results of tools end up in titles, statuses, dialogs and texts for the model. Every string
//! of a message is made visible here, where all messages pass, so that no new place can forget it. What must arrive as it
//! is, because a program reads it and not a person, is listed in [`AS_IT_IS`].

use std::borrow::Cow;

use memchr::{memchr, memchr2};
use workflow_core::diagnostic::{is_hidden, visible, visible_lines};

/// Any element of a list.
const ANY: &str = "*";

/// The members whose content must arrive as it is.
const AS_IT_IS: [&[&str]; 5] = [
    // The host finds its request, and its session, by these; it chose them itself.
    &["id"],
    &["params", "sessionId"],
    // Entries come back when the session is restored, and must be equal then. Hosts store and do not show them.
    &["result", "actions", ANY, "data"],
    &["params", "actions", ANY, "data"],
    // The result of another tool, which goes back to where it came from, without what rules remove of it.
    &["result", "mutation", "content"],
];

/// The members that are one line. In all others the ends of lines are kept.
const ONE_LINE: [&[&str]; 12] = [
    &["result", "items"],
    &["result", "workflows"],
    &["result", "status"],
    &["result", "phase"],
    &["result", "breadcrumb"],
    &["result", "diagnostics", ANY, "file"],
    &["result", "diagnostics", ANY, "workflow"],
    &["result", "actions", ANY, "text"],
    &["result", "actions", ANY, "name"],
    &["params", "actions", ANY, "text"],
    &["params", "actions", ANY, "name"],
    &["params", "options"],
];

/// A list or a map around a value.
struct Nesting<'j> {
    is_map: bool,
    /// True before the name of a member.
    expects_name: bool,
    /// The name of the member that is read.
    name: &'j str,
}

/// Returns a message, which is JSON, with the hidden characters of its strings as visible escapes.
pub(super) fn visible_json(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    if is_plain(json) && memchr(b'\\', bytes).is_none() {
        return Cow::Borrowed(json);
    }
    let mut rewritten: Option<String> = None;
    let mut copied = 0;
    let mut levels: Vec<Nesting<'_>> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'{' | b'[' => levels.push(Nesting {
                is_map: byte == b'{',
                expects_name: byte == b'{',
                name: ANY,
            }),
            b'}' | b']' => drop(levels.pop()),
            b',' => {
                if let Some(level) = levels.last_mut() {
                    level.expects_name = level.is_map;
                }
            }
            b'"' => {
                let content;
                (at, content) = end_of_string(json, start);
                let token = &json[start..at];
                if let Some(level) = levels.last_mut().filter(|level| level.expects_name) {
                    level.expects_name = false;
                    level.name = token.trim_matches('"');
                } else if let Some(shown) = visible_string(token, content, &levels) {
                    let text = rewritten.get_or_insert_with(|| String::with_capacity(json.len()));
                    text.push_str(&json[copied..start]);
                    text.push_str(&shown);
                    copied = at;
                }
            }
            _ => {}
        }
    }
    match rewritten {
        Some(mut text) => {
            text.push_str(&json[copied..]);
            Cow::Owned(text)
        }
        None => Cow::Borrowed(json),
    }
}

/// What a string has besides plain characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Content {
    Plain,
    /// Ends of lines, or tabs.
    Lines,
    /// What may have to be shown as an escape.
    Hidden,
}

/// Returns true if all characters are shown as they are.
fn is_plain(text: &str) -> bool {
    let mut rest = text;
    loop {
        rest = &rest[length_of_ascii(rest.as_bytes())..];
        let Some(c) = rest.chars().next() else {
            return true;
        };
        // Joiners depend on their neighbours.
        if is_hidden(c) || matches!(c, '\u{200c}' | '\u{200d}') {
            return false;
        }
        rest = &rest[c.len_utf8()..];
    }
}

/// Returns the number of bytes before the first one that is not visible ASCII. The only control character that JSON has
/// without an escape is DEL. Nearly all of a message is visible ASCII, so 32 bytes are compared at once.
fn length_of_ascii(bytes: &[u8]) -> usize {
    const DEL: u8 = 0x7f;
    let (parts, _) = bytes.as_chunks::<32>();
    let is_plain = |part: &&[u8; 32]| part.iter().copied().fold(0, u8::max) < DEL;
    let start = 32 * parts.iter().take_while(is_plain).count();
    let rest = bytes[start..].iter();
    start + rest.take_while(|byte| **byte < DEL).count()
}

/// Returns the offset behind the string that starts here, and what is in it.
fn end_of_string(json: &str, start: usize) -> (usize, Content) {
    let bytes = json.as_bytes();
    let mut content = Content::Plain;
    let mut at = start + 1;
    while let Some(next) = memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += next + 1;
        if bytes[at - 1] == b'"' {
            if !is_plain(&json[start..at]) {
                content = Content::Hidden;
            }
            return (at, content);
        }
        let escape = match bytes.get(at) {
            Some(b'"' | b'\\' | b'/') => Content::Plain,
            Some(b'n' | b't') => Content::Lines,
            _ => Content::Hidden,
        };
        content = content.max(escape);
        at += 1;
    }
    (bytes.len(), content)
}

/// Returns a string, with its quotes, as it is to be shown; `None` if that is as it is.
fn visible_string(token: &str, content: Content, levels: &[Nesting<'_>]) -> Option<String> {
    let is_shown = match content {
        Content::Plain => true,
        Content::Lines => !is_in(levels, &ONE_LINE),
        Content::Hidden => false,
    };
    if is_shown || is_in(levels, &AS_IT_IS) {
        return None;
    }
    // Half a surrogate pair is no text; only what hosts sent themselves can contain one.
    let text: String = serde_json::from_str(token).ok()?;
    let shown = if is_in(levels, &ONE_LINE) {
        Cow::Owned(visible(&text))
    } else {
        visible_lines(&text)
    };
    (shown != text).then(|| serde_json::Value::String(shown.into_owned()).to_string())
}

/// Returns true if a value is one of these members, or inside of one.
fn is_in(levels: &[Nesting<'_>], members: &[&[&str]]) -> bool {
    members.iter().any(|path| {
        let mut names = levels.iter().map(|level| level.name);
        path.iter().all(|name| names.next() == Some(name))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hidden_characters_of_every_string_are_escaped() {
        let message = json!({"jsonrpc": "2.0", "id": 1, "result": {"a": {"b": ["x\u{1b}[2J\ny", {"c": "\u{202e}\u{9b}"}]}}});
        let text = message.to_string();
        let shown: serde_json::Value = serde_json::from_str(&visible_json(&text)).unwrap();
        assert_eq!(
            shown["result"]["a"],
            json!({"b": ["x\\u{1b}[2J\ny", {"c": "\\u{202e}\\u{9b}"}]})
        );
    }

    #[test]
    fn backslashes_hide_no_character_behind_them() {
        for count in 1..6 {
            let backslashes = "\\".repeat(count);
            let text = json!({ "result": format!("{backslashes}\u{1b}\"{backslashes}\u{7f}") })
                .to_string();
            let shown: serde_json::Value = serde_json::from_str(&visible_json(&text)).unwrap();
            let expected = format!("{backslashes}\\u{{1b}}\"{backslashes}\\u{{7f}}");
            assert_eq!(shown["result"], expected);
        }
    }

    #[test]
    fn what_programs_read_arrives_as_it_is() {
        for message in [
            json!({"id": "a\u{1b}", "result": {"actions": [{"type": "appendEntry", "data": {"deep": ["\u{1b}"]}}]}}),
            json!({"params": {"sessionId": "\u{7}", "actions": [{"data": "\u{202e}"}]}}),
            json!({"result": {"mutation": {"content": [{"type": "text", "text": "\u{1b}[1m"}]}}}),
            json!({"result": "plain \"quoted\" \\ and ä\n"}),
        ] {
            let text = message.to_string();
            assert!(matches!(visible_json(&text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn a_line_stays_one_line() {
        let text = json!({"params": {"title": "a\nb", "options": ["a\nb"]}}).to_string();
        assert_eq!(
            visible_json(&text),
            r#"{"params":{"options":["a\\nb"],"title":"a\nb"}}"#
        );
    }
}
