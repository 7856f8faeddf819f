//! What tools were given and gave back: the part of a recording that may be secret, and may be big.
//!
//! Unless there are rules that look at it, nothing the sidecar decides hangs on it, and a recording replays
//! without. Owns where it stands in a line of the host. Must not know the file.

use workflow_core::run::entry_type;
use workflow_protocol::METHODS;

use super::json_text::{at, elements, member, members, quoted, string, strings, with_replaced};
use crate::serve::{Flaw, flaw};

/// What stands for a string that is left out.
pub(super) const REDACTED: &str = "[redacted]";

/// How many bytes a string may have.
const LONGEST: usize = 16 << 10;

/// Whether the strings in what tools were given and gave back are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payload {
    /// As they are, as far as they are not too long.
    Kept,
    /// As they are: what is decided hangs on them.
    Whole,
    /// Not at all.
    Redacted,
}

impl Payload {
    /// The same without making anything shorter.
    pub(super) fn whole(self) -> Self {
        match self {
            Self::Kept | Self::Whole => Self::Whole,
            Self::Redacted => Self::Redacted,
        }
    }

    /// A line of the host as it is recorded.
    pub(super) fn of(self, line: &str) -> String {
        let parts = payload(line);
        let strings = parts.into_iter().flat_map(strings);
        let replaced = strings.filter_map(|literal| Some((literal, self.of_string(literal)?)));
        with_replaced(line, replaced.collect())
    }

    /// What takes the place of a string, if it does not stay.
    fn of_string(self, literal: &str) -> Option<String> {
        match self {
            Self::Redacted => Some(quoted(REDACTED)),
            // Quotes and escapes only make it longer.
            Self::Whole => None,
            Self::Kept if literal.len() <= LONGEST => None,
            Self::Kept => string(literal).and_then(|text| Some(quoted(&cut(&text, LONGEST)?))),
        }
    }

    /// A line that is no JSON, as it is recorded: one that is refused in the same words.
    pub(super) fn of_no_json(self, line: &str) -> String {
        let flaw = flaw(line);
        match (self, flaw) {
            (Self::Redacted, Some(Flaw::Cut)) => "{".to_owned(),
            (Self::Redacted, Some(Flaw::MemberTwice)) => r#"{"id":0,"id":0}"#.to_owned(),
            // No value begins with this letter.
            (Self::Redacted, Some(Flaw::At(column))) => " ".repeat(column - 1) + "redacted",
            (Self::Redacted, None) => REDACTED.to_owned(),
            // What follows the first mistake is not looked at, and what is cut anywhere is cut.
            (Self::Kept, Some(Flaw::At(column))) => {
                let wrong = line.char_indices().nth(column);
                let wrong = wrong.map_or(line.len(), |(at, _)| at);
                line[..boundary(line, LONGEST.max(wrong))].to_owned()
            }
            (Self::Kept, Some(Flaw::Cut)) => line[..boundary(line, LONGEST)].to_owned(),
            (Self::Whole, _) | (Self::Kept, Some(Flaw::MemberTwice) | None) => line.to_owned(),
        }
    }

    /// A line that is no text, as it is recorded: one that is refused in the same words.
    pub(super) fn of_no_text(self, line: &[u8]) -> Vec<u8> {
        let text = std::str::from_utf8(line).map_or_else(|error| error.valid_up_to(), str::len);
        match self {
            Self::Whole => line.to_vec(),
            Self::Kept => line[..LONGEST.max(text + 1).min(line.len())].to_vec(),
            // A byte that stands in no text.
            Self::Redacted => [&b" ".repeat(text)[..], b"\xff"].concat(),
        }
    }
}

/// A text without its middle, if it is longer than allowed.
fn cut(text: &str, longest: usize) -> Option<String> {
    if text.len() <= longest {
        return None;
    }
    let head = &text[..boundary(text, longest / 2)];
    let tail = &text[boundary(text, text.len() - longest / 2)..];
    let left_out = left_out(text.len() - head.len() - tail.len());
    Some([head, &left_out, tail].concat())
}

/// The last place at or before this one that is not amid a character.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0)
}

fn left_out(bytes: usize) -> String {
    format!("[… {bytes} bytes left out …]")
}

/// The values in a line in which every string belongs to a tool, or may: what is not as the contract
/// has it could be anything.
fn payload(line: &str) -> Vec<&str> {
    if !line.trim_ascii_start().starts_with('{') {
        return vec![line];
    }
    let members = members(line);
    let mut methods = members.iter().filter(|(name, _)| name == "method");
    let method = methods.next().and_then(|(_, method)| string(method));
    let is_known = |method: &String| METHODS.iter().any(|known| known.name == method);
    let method = method.filter(|method| is_known(method) && methods.next().is_none());
    let params = members.into_iter().filter(|(name, _)| name == "params");
    let params = params.map(|(_, params)| params);
    match method {
        Some(method) => params
            .flat_map(|params| of_params(&method, params))
            .collect(),
        None => params.collect(),
    }
}

fn of_params<'a>(method: &str, params: &'a str) -> Vec<&'a str> {
    if !is_object(params) {
        return vec![params];
    }
    let is_of_a_tool = method.starts_with("hook/tool_");
    let mut found = Vec::new();
    for (name, value) in members(params) {
        match name.as_str() {
            "event" if is_of_a_tool => of_tool_event(value, &mut found),
            "event" => of_event(value, &mut found),
            "arguments" if method == "tool/execute" => of_arguments(value, &mut found),
            "context" => of_context(value, &mut found),
            "sessionId" => {}
            _ if is_of_a_tool => found.push(value),
            _ => {}
        }
    }
    found
}

/// What the step tool is asked to do is not hidden: the answer hangs on it.
fn of_arguments<'a>(arguments: &'a str, found: &mut Vec<&'a str>) {
    // Nothing else than an object says an action.
    if !is_object(arguments) {
        return found.push(arguments);
    }
    let secret = members(arguments).into_iter();
    let secret = secret.filter(|(name, _)| name != "action");
    found.extend(secret.map(|(_, value)| value));
}

fn of_context<'a>(context: &'a str, found: &mut Vec<&'a str>) {
    if !is_object(context) {
        return found.push(context);
    }
    for (name, branch) in members(context) {
        if name == "branch" {
            of_each(branch, found, |entry, found| {
                if !is_object(entry) {
                    return found.push(entry);
                }
                of_gate(entry, found);
                let messages = members(entry).into_iter();
                for (_, message) in messages.filter(|(name, _)| name == "message") {
                    of_message(message, found);
                }
            });
        }
    }
}

/// Of a tool's event, everything but which call of which tool it is.
fn of_tool_event<'a>(event: &'a str, found: &mut Vec<&'a str>) {
    if !is_object(event) {
        return found.push(event);
    }
    for (name, value) in members(event) {
        match name.as_str() {
            "type" | "toolName" | "toolCallId" if value.starts_with('"') => {}
            "content" => of_content(value, found),
            _ => found.push(value),
        }
    }
}

fn of_event<'a>(event: &'a str, found: &mut Vec<&'a str>) {
    if !is_object(event) {
        return found.push(event);
    }
    for (name, value) in members(event) {
        match name.as_str() {
            "message" => of_message(value, found),
            "messages" | "toolResults" => of_each(value, found, of_message),
            _ => {}
        }
    }
}

/// An entry of ours that says what commands printed.
fn of_gate<'a>(entry: &'a str, found: &mut Vec<&'a str>) {
    let kind = member(entry, "customType").and_then(string);
    if kind.as_deref() == Some(entry_type::GATE) {
        let reports = at(entry, &["data", "reports"]).unwrap_or_default();
        let tails = elements(reports).into_iter();
        found.extend(tails.filter_map(|report| member(report, "tail")));
    }
}

/// A message of the agent's session: what the assistant gave tools, or what one gave back.
fn of_message<'a>(message: &'a str, found: &mut Vec<&'a str>) {
    // Without a role nobody knows who says it.
    let Some(role) = member(message, "role").and_then(string) else {
        return found.push(message);
    };
    for (name, value) in members(message) {
        match (role.as_str(), name.as_str()) {
            ("assistant", "content") if value.starts_with('"') => {}
            ("assistant", "content") => of_each(value, found, of_block),
            ("toolResult", "content") => of_content(value, found),
            ("toolResult", "details" | "isError") | ("bashExecution", "command" | "output") => {
                found.push(value);
            }
            _ => {}
        }
    }
}

/// A block of what the assistant said: of a call, everything but which tool it calls is what it gave it.
fn of_block<'a>(block: &'a str, found: &mut Vec<&'a str>) {
    let Some(kind) = member(block, "type").and_then(string) else {
        return found.push(block);
    };
    let is_call = matches!(kind.as_str(), "toolCall" | "tool_use");
    let given = members(block).into_iter().filter(|(name, _)| {
        let is_input = matches!(name.as_str(), "arguments" | "input");
        is_input || is_call && !matches!(name.as_str(), "type" | "id" | "name")
    });
    found.extend(given.map(|(_, value)| value));
}

/// What a tool gave back: text, or blocks whose kind stays.
fn of_content<'a>(content: &'a str, found: &mut Vec<&'a str>) {
    of_each(content, found, |block, found| {
        if !is_object(block) {
            return found.push(block);
        }
        for (name, value) in members(block) {
            let is_kind = matches!(name.as_str(), "type" | "mimeType") && value.starts_with('"');
            if !is_kind {
                found.push(value);
            }
        }
    });
}

/// What is found in the elements of a list; all of it if it is none.
fn of_each<'a>(list: &'a str, found: &mut Vec<&'a str>, of: impl Fn(&'a str, &mut Vec<&'a str>)) {
    if !list.starts_with('[') {
        return found.push(list);
    }
    for element in elements(list) {
        of(element, found);
    }
}

fn is_object(json: &str) -> bool {
    json.starts_with('{')
}

#[cfg(test)]
mod tests {
    use super::super::json_text::at;
    use super::*;

    #[test]
    fn what_tools_were_given_and_gave_back_is_redacted_and_nothing_else() {
        for (line, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":1.50,"method":"hook/tool_call","params":{"event":{"toolName":"bash","input":{"command":"S","n":[1,"S"],"type":"S"},"toolCallId":"c"}}}"#,
                r#"{"jsonrpc":"2.0","id":1.50,"method":"hook/tool_call","params":{"event":{"toolName":"bash","input":{"command":"[redacted]","n":[1,"[redacted]"],"type":"[redacted]"},"toolCallId":"c"}}}"#,
            ),
            (
                r#"{"method":"hook/tool_result","params":{"event":{"content":[{"type":"text","text":"S"},"S"],"details":"S","isError":true}}}"#,
                r#"{"method":"hook/tool_result","params":{"event":{"content":[{"type":"text","text":"[redacted]"},"[redacted]"],"details":"[redacted]","isError":true}}}"#,
            ),
            (
                r#"{"params":{"event":{"messages":[{"role":"assistant","stopReason":"stop","content":[{"type":"toolCall","name":"bash","arguments":{"a":"S"}},{"type":"text","text":"Done?"}]},{"role":"toolResult","toolName":"bash","content":[{"type":"text","text":"S"}],"details":{"a":"S"}},{"role":"user","content":"hello"},{"role":"bashExecution","command":"S","output":"S"}]}},"method":"hook\/agent_end"}"#,
                r#"{"params":{"event":{"messages":[{"role":"assistant","stopReason":"stop","content":[{"type":"toolCall","name":"bash","arguments":{"a":"[redacted]"}},{"type":"text","text":"Done?"}]},{"role":"toolResult","toolName":"bash","content":[{"type":"text","text":"[redacted]"}],"details":{"a":"[redacted]"}},{"role":"user","content":"hello"},{"role":"bashExecution","command":"[redacted]","output":"[redacted]"}]}},"method":"hook\/agent_end"}"#,
            ),
            (
                r#"{"method":"tool/execute","params":{"name":"workflow_step","arguments":{"action":"next","why":"S"}}}"#,
                r#"{"method":"tool/execute","params":{"name":"workflow_step","arguments":{"action":"next","why":"[redacted]"}}}"#,
            ),
            (
                r#"{"method":"tool/execute","params":{"name":"workflow_step","arguments":["S","S"]}}"#,
                r#"{"method":"tool/execute","params":{"name":"workflow_step","arguments":["[redacted]","[redacted]"]}}"#,
            ),
            (
                r#"{"params":{"event":{"message":{"content":[{"partialJson":"S","type":"toolCall","id":"c","name":"bash"}],"role":"assistant"}}},"method":"hook/turn_end"}"#,
                r#"{"params":{"event":{"message":{"content":[{"partialJson":"[redacted]","type":"toolCall","id":"c","name":"bash"}],"role":"assistant"}}},"method":"hook/turn_end"}"#,
            ),
            (
                r#"{"method":"hook/session_start","params":{"context":{"branch":[{"type":"message","message":{"role":"toolResult","content":"S"}},{"type":"custom","data":{"a":"kept"}}]}}}"#,
                r#"{"method":"hook/session_start","params":{"context":{"branch":[{"type":"message","message":{"role":"toolResult","content":"[redacted]"}},{"type":"custom","data":{"a":"kept"}}]}}}"#,
            ),
            (
                r#"{"method":"hook/session_start","params":{"context":{"branch":[{"type":"custom","customType":"workflow:gate","data":{"reports":[{"what":"test","tail":"S"}]}}]}}}"#,
                r#"{"method":"hook/session_start","params":{"context":{"branch":[{"type":"custom","customType":"workflow:gate","data":{"reports":[{"what":"test","tail":"[redacted]"}]}}]}}}"#,
            ),
            (r#"[{"a":"S"}]"#, r#"[{"a":"[redacted]"}]"#),
        ] {
            assert_eq!(Payload::Redacted.of(line), expected);
            assert_eq!(Payload::Kept.of(line), line);
        }
    }

    #[test]
    fn what_is_not_as_the_contract_has_it_is_redacted() {
        for line in [
            r#"{"method":"hook/tool_call","params":{"event":"S"}}"#,
            r#"{"method":"hook/tool_call","params":["S"]}"#,
            r#"{"method":"hook/agent_end","params":"S"}"#,
            r#"{"method":"hook/agent_end","params":{"event":["S"]}}"#,
            r#"{"method":"hook/tool_call","params":{"input":"S"}}"#,
            r#"{"method":"hook/tool_call","params":{"event":{"toolName":{"a":"S"},"later":"S","\ud800":"S"}}}"#,
            r#"{"method":"hook/tool_result","params":{"event":{"toolName":"bash","isError":"S"}}}"#,
            r#"{"method":"hook/tool_result","params":{"event":{"content":[{"type":["S"]}]}}}"#,
            r#"{"method":"hook/tool_later","params":{"event":{"toolName":"S"}}}"#,
            r#"{"method":"later","params":{"event":{"input":"S"}}}"#,
            r#"{"method":"hook/tool_call","method":"session/state","params":{"event":{"input":"S"}}}"#,
            r#"{"params":{"event":{"input":"S"}}}"#,
            r#"{"method":"hook/session_start","params":{"context":"S"}}"#,
            r#"{"method":"hook/session_start","params":{"context":{"branch":"S"}}}"#,
            r#"{"method":"hook/session_start","params":{"context":{"branch":["S",{"message":"S"}]}}}"#,
            r#"{"method":"hook/agent_end","params":{"event":{"messages":"S","message":"S"}}}"#,
            r#"{"method":"hook/agent_end","params":{"event":{"messages":["S",{"content":"S"},{"role":["S"]}]}}}"#,
            r#"{"method":"hook/agent_end","params":{"event":{"messages":[{"role":"assistant","content":{"arguments":"S"}}]}}}"#,
            r#"{"method":"hook/agent_end","params":{"event":{"messages":[{"role":"toolResult","isError":"S"}]}}}"#,
            r#"{"method":"tool/execute","params":{"name":"workflow_step","arguments":"S"}}"#,
        ] {
            assert!(!Payload::Redacted.of(line).contains("\"S\""), "{line}");
            assert_eq!(Payload::Kept.of(line), line);
        }
    }

    #[test]
    fn long_strings_lose_their_middle() {
        let long = format!("a{}é{}b", "ä".repeat(10_000), "ö".repeat(10_000));
        let line = format!(
            r#"{{"method":"hook/tool_call","params":{{"event":{{"toolName":"t","input":{{"a":{}}}}}}}}}"#,
            quoted(&long)
        );
        let kept = Payload::Kept.of(&line);
        let text = at(&kept, &["params", "event", "input", "a"])
            .and_then(string)
            .unwrap();
        assert!(text.starts_with("aä") && text.ends_with("öb"));
        assert!(text.contains("bytes left out"), "{text}");
        assert!(text.len() <= LONGEST + 64);
        let prompt = format!(
            r#"{{"method":"hook/input","params":{{"event":{{"text":{}}}}}}}"#,
            quoted(&long)
        );
        assert_eq!(Payload::Kept.of(&prompt), prompt);
    }

    #[test]
    fn what_cannot_be_read_is_refused_in_the_same_words() {
        let long = "S".repeat(2 * LONGEST);
        for line in [
            "S".to_owned(),
            "{\"ä\":S".to_owned(),
            "{\"a\":\"S".to_owned(),
            "[1,".to_owned(),
            "{} {\"S\"}".to_owned(),
            "{\"id\":1,\"id\":\"S\",}".to_owned(),
            "\u{feff}{}".to_owned(),
            format!("[\"{long}"),
            format!("[1,S{long}"),
            format!("[\"{long}\",S{long}"),
        ] {
            let expected = flaw(&line);
            assert!(expected.is_some(), "{line}");
            let redacted = Payload::Redacted.of_no_json(&line);
            assert_eq!(flaw(&redacted), expected, "{line}");
            assert!(!redacted.contains('S'), "{redacted}");
            let kept = Payload::Kept.of_no_json(&line);
            assert_eq!(flaw(&kept), expected, "{line}");
            assert!(
                line.len() < LONGEST || kept.len() < line.len(),
                "{}",
                line.len()
            );
        }
        assert_eq!(Payload::Redacted.of_no_text(b"ab\xfeS"), b"  \xff");
        assert_eq!(Payload::Kept.of_no_text(b"a\xfe"), b"a\xfe");
        let long = [&b"a\xff"[..], &b"S".repeat(2 * LONGEST)].concat();
        assert_eq!(Payload::Kept.of_no_text(&long).len(), LONGEST);
    }
}
