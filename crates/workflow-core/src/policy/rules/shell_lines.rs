//! Which lines for the shell a call has, wherever they stand in its arguments.
//!
//! Owns the names of the fields that hold lines, and what stands beside them: arguments, the directory, the
//! language. Tools that run other tools hold the arguments of those as a map, or as a text that is JSON. It must
//! not know rules.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::arguments::{DIRECTORIES, Does, is_for_paths, plain, texts};

/// Fields that hold a line for the shell, or a program with its arguments as a list.
const LINES: &[&str] = &["command", "cmd", "commands", "shellcommand"];
/// Fields that do where none of those stands beside them, the first that is there.
const SCRIPTS: &[&str] = &["script", "code", "shell"];
/// Fields that tell the language of a script.
const LANGUAGES: &[&str] = &["language", "lang", "runtime", "interpreter"];
/// Fields that hold the arguments of the program in another field, or of a tool.
const ARGUMENTS: &[&str] = &["args", "argv", "arguments"];
/// More fields that hold the arguments of tools, or their calls.
#[rustfmt::skip] // Names that belong together.
const PACKED: &[&str] = &[
    "input", "params", "parameters", "payload", "request", "requests", "toolinput", "toolargs", "toolarguments", "call", "calls", "toolcalls",
    "tooluses", "invocations", "steps", "actions", "operations", "tasks",
];
/// A line, as a call has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToldLine {
    /// `None` is one that is no text.
    pub(super) text: Option<String>,
    /// The directory in which it runs; empty for the session's own.
    pub(super) directory: String,
}

/// All lines of a call. Those of one map stand one below the other.
pub(super) fn lines(fields: &Map<String, Value>, does: Does) -> Vec<ToldLine> {
    let mut found = Vec::new();
    in_map(fields, "", does, &mut found);
    found
}

fn in_map(fields: &Map<String, Value>, outer: &str, does: Does, found: &mut Vec<ToldLine>) {
    let directory = values(fields, DIRECTORIES).find_map(|(_, value)| value.as_str());
    let directory = directory.unwrap_or(outer);
    let told = if values(fields, LINES).next().is_some() {
        Some(line(fields))
    } else {
        script(fields, does)
    };
    // What tells arguments and cannot be read may hold a line.
    let is_lost = || values(fields, ARGUMENTS).any(|(_, value)| is_packed(value));
    let told = told.or_else(|| is_lost().then_some(None));
    found.extend(told.map(|text| ToldLine {
        text,
        directory: directory.to_owned(),
    }));
    for value in fields.values() {
        in_value(value, directory, does, found);
    }
}

fn in_value(value: &Value, directory: &str, does: Does, found: &mut Vec<ToldLine>) {
    match value {
        Value::Object(fields) => in_map(fields, directory, does, found),
        Value::Array(items) => {
            for item in items {
                in_value(item, directory, does, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The fields of these names that hold something.
fn values<'f>(
    fields: &'f Map<String, Value>,
    names: &'static [&str],
) -> impl Iterator<Item = (&'f String, &'f Value)> {
    let is_meant = |key: &str, value: &Value| !value.is_null() && names.contains(&&*plain(key));
    let all = fields.iter();
    all.filter(move |(key, value)| is_meant(key, value))
}

/// The lines of one map; `None` if they are no text.
fn line(fields: &Map<String, Value>) -> Option<String> {
    let mut lines = Vec::new();
    for (key, value) in values(fields, LINES) {
        let words = texts(value)?;
        match value {
            Value::Array(_) if plain(key) != "commands" => lines.push(quoted(words)),
            _ => lines.extend(words.into_iter().map(str::to_owned)),
        }
    }
    if let Some(last) = lines.last_mut() {
        for (_, value) in values(fields, ARGUMENTS) {
            match (value, texts(value)) {
                (Value::Array(_), Some(words)) => last.extend([" ", &quoted(words)]),
                (Value::String(text), _) => last.extend([" ", text]),
                _ => return None,
            }
        }
    }
    Some(lines.join("\n"))
}

/// The script of one map, as a line that runs it.
#[expect(
    clippy::option_option,
    reason = "there is none, or one that is no text"
)]
fn script(fields: &Map<String, Value>, does: Does) -> Option<Option<String>> {
    // Beside a path it is what comes to stand in the file.
    let is_content = matches!(does, Does::Changes(_) | Does::Reads)
        && fields.keys().any(|key| is_for_paths(key));
    if is_content {
        return None;
    }
    let find = |name: &&str| fields.iter().find(|(key, _)| plain(key) == **name);
    let text = SCRIPTS.iter().find_map(|name| {
        let (_, value) = find(name)?;
        Some(texts(value)?.join("\n"))
    })?;
    let language = values(fields, LANGUAGES).find_map(|(_, value)| value.as_str());
    let runs = match language.unwrap_or_default().to_lowercase().as_str() {
        "" | "bash" | "sh" | "shell" | "zsh" => return Some(Some(text)),
        "python" | "python3" | "py" => "python3 -c",
        "javascript" | "js" | "node" | "nodejs" | "typescript" | "ts" => "node -e",
        "ruby" => "ruby -e",
        "perl" => "perl -e",
        _ => return Some(None),
    };
    Some(Some(format!("{runs} {}", quoted(vec![&text]))))
}

/// The same arguments, with the texts opened that hold arguments as JSON.
pub(super) fn opened(fields: &Map<String, Value>) -> Cow<'_, Map<String, Value>> {
    fn holds_packed(value: &Value) -> bool {
        match value {
            Value::Object(fields) => fields.iter().any(|(key, value)| {
                is_packed(value) && may_be_packed(&plain(key)) || holds_packed(value)
            }),
            Value::Array(items) => items.iter().any(holds_packed),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }
    let is_held = |(key, value): (&String, &Value)| {
        is_packed(value) && may_be_packed(&plain(key)) || holds_packed(value)
    };
    if fields.iter().any(is_held) {
        let mut fields = fields.clone();
        open_map(&mut fields);
        Cow::Owned(fields)
    } else {
        Cow::Borrowed(fields)
    }
}

fn may_be_packed(field: &str) -> bool {
    ARGUMENTS.contains(&field) || PACKED.contains(&field)
}

/// Whether a value may be a text that is JSON.
fn is_packed(value: &Value) -> bool {
    let text = value.as_str();
    text.is_some_and(|text| text.trim_start().starts_with(['{', '[']))
}

fn open_map(fields: &mut Map<String, Value>) {
    // To a program, they are words.
    let is_program = values(fields, LINES).next().is_some();
    for (key, value) in fields.iter_mut() {
        let name = plain(key);
        let opens = may_be_packed(&name) && !(is_program && ARGUMENTS.contains(&&*name));
        if let (true, Some(text)) = (opens && is_packed(value), value.as_str())
            && let Ok(read) = serde_json::from_str(text)
        {
            *value = read;
        }
        open_value(value);
    }
}

fn open_value(value: &mut Value) {
    match value {
        Value::Object(fields) => open_map(fields),
        Value::Array(items) => items.iter_mut().for_each(open_value),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Words as a line in which each stands for itself.
fn quoted(words: Vec<&str>) -> String {
    let quote = |word: &str| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(&byte);
        if !word.is_empty() && word.bytes().all(is_plain) {
            word.to_owned()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use workflow_shell::AccessKind;

    /// The lines with their directories; `?` is one that is no text.
    fn told(value: &Value, does: Does) -> Vec<(String, String)> {
        let Value::Object(fields) = value else {
            panic!("it is a map")
        };
        let all = lines(&opened(fields), does).into_iter();
        let text = |line: ToldLine| (line.text.unwrap_or_else(|| "?".to_owned()), line.directory);
        all.map(text).collect()
    }

    fn texts_of(value: &Value) -> Vec<String> {
        let all = told(value, Does::Unknown).into_iter();
        all.map(|(text, _)| text).collect()
    }

    #[test]
    fn lines_are_texts_lists_and_programs_with_arguments() {
        for (value, expected) in [
            (json!({"command": "a b"}), vec!["a b"]),
            (json!({"cmd": "b", "command": "a"}), vec!["b\na"]),
            (
                json!({"command": ["bash", "-lc", "rm x"]}),
                vec!["bash -lc 'rm x'"],
            ),
            (
                json!({"command": "rm", "args": ["-r", "it's"]}),
                vec!["rm -r 'it'\\''s'"],
            ),
            (
                json!({"command": "jq", "args": "{a:.b}"}),
                vec!["jq {a:.b}"],
            ),
            (json!({"commands": ["a b", "c"]}), vec!["a b\nc"]),
            (json!({"command": {"program": "rm"}}), vec!["?"]),
            (json!({"command": null}), vec![]),
            (json!({"path": "x"}), vec![]),
        ] {
            assert_eq!(texts_of(&value), expected, "{value}");
        }
    }

    #[test]
    fn lines_of_calls_within_a_call_are_found() {
        let packed = json!({"command": "rm x", "cwd": "d"}).to_string();
        let twice = json!({ "arguments": packed }).to_string();
        for value in [
            json!({"tool": "bash", "arguments": {"command": "rm x", "cwd": "d"}}),
            json!({"tool": "bash", "arguments": packed}),
            json!({"calls": [{"tool": "bash", "args": {"command": "rm x", "cwd": "d"}}]}),
            json!({"calls": format!("[{packed}]")}),
            json!({"request": {"params": twice}}),
            json!({"cwd": "d", "steps": [{"command": "rm x"}]}),
        ] {
            let expected = [("rm x".to_owned(), "d".to_owned())];
            assert_eq!(told(&value, Does::Unknown), expected, "{value}");
        }
        let many = json!({"calls": [{"command": "a"}, {"input": {"command": "b"}}]});
        assert_eq!(texts_of(&many), ["a", "b"]);
        assert_eq!(texts_of(&json!({"arguments": "{\"command\": "})), ["?"]);
        let text = json!({"path": "a", "content": packed});
        assert!(texts_of(&text).is_empty());
    }

    #[test]
    fn scripts_are_lines_unless_they_are_what_a_file_holds() {
        for (value, expected) in [
            (json!({"script": "rm x"}), vec!["rm x"]),
            (json!({"code": "rm x", "language": "bash"}), vec!["rm x"]),
            (
                json!({"code": "f()", "language": "python"}),
                vec!["python3 -c 'f()'"],
            ),
            (json!({"code": "f()", "language": "lua"}), vec!["?"]),
            (json!({"shell": "rm x"}), vec!["rm x"]),
            (json!({"shell": "bash", "script": "ls"}), vec!["ls"]),
            (json!({"shell": "bash", "command": "ls"}), vec!["ls"]),
            (json!({"shell": true, "code": 3}), vec![]),
        ] {
            assert_eq!(texts_of(&value), expected, "{value}");
        }
        let content = json!({"path": "a.rs", "code": "fn main() {}"});
        assert!(told(&content, Does::Changes(AccessKind::Write)).is_empty());
        assert_eq!(told(&content, Does::Unknown).len(), 1);
    }
}
