//! Shell lines in the arguments of a call.
//!
//! `tables/tools.txt` names the fields that contain lines, and those that belong to a line: arguments, directory, language.
//! Tools that run other tools contain their arguments as a map, or as a text that is JSON.

use serde_json::{Map, Value};

use super::arguments::{is_path_field, maps, texts};
use crate::text::{join, word_of_line};
use crate::tool_names::{ToolEffect, is_listed, normalized};

/// Fields that contain a script if none of those with lines is present; the first one counts.
const SCRIPTS: &[&str] = &["script", "code", "shell"];
/// A shell line of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShellLine {
    /// `None` if the line is not a text.
    pub(super) text: Option<String>,
    /// The directory in which it runs; empty for that of the session.
    pub(super) directory: String,
}

/// Returns all shell lines of a call. Those of one map are joined by line breaks.
pub(super) fn shell_lines(fields: &Map<String, Value>, effect: ToolEffect) -> Vec<ShellLine> {
    in_map(fields, "", effect)
}

fn in_map(fields: &Map<String, Value>, outer: &str, effect: ToolEffect) -> Vec<ShellLine> {
    let directory = values(fields, "directories").find_map(|(_, value)| value.as_str());
    let directory = directory.unwrap_or(outer);
    let has = |list| values(fields, list).next().is_some();
    let runs = effect == ToolEffect::RunsShell;
    let text = if has("lines") {
        Some(line(fields, "lines"))
    } else if let Some(script) = script(fields, effect) {
        Some(script)
    } else if has("programs") && (runs || has("arguments")) {
        Some(line(fields, "programs"))
    } else if values(fields, "argv").any(|(_, value)| !value.is_object()) {
        Some(line(fields, "argv"))
    } else {
        (runs && has("sent")).then(|| line(fields, "sent"))
    };
    // Arguments that cannot be parsed may contain a line.
    let is_unparsed = || values(fields, "arguments").any(|(_, value)| looks_like_json(value));
    let text = text.or_else(|| is_unparsed().then_some(None));
    let own = text.map(|text| ShellLine {
        text,
        directory: directory.to_owned(),
    });
    let inner = fields.values().flat_map(maps);
    let inner = inner.flat_map(|inner| in_map(inner, directory, effect));
    own.into_iter().chain(inner).collect()
}

/// Returns the fields of a list that are not null.
fn values<'f>(
    fields: &'f Map<String, Value>,
    list: &'static str,
) -> impl Iterator<Item = (&'f String, &'f Value)> {
    let has_value =
        |key: &str, value: &Value| !value.is_null() && is_listed(list, &normalized(key));
    let all = fields.iter();
    all.filter(move |(key, value)| has_value(key, value))
}

/// Returns the lines of one map that the fields of a list contain; `None` if they are not text.
fn line(fields: &Map<String, Value>, list: &'static str) -> Option<String> {
    let mut lines = Vec::new();
    for (key, value) in values(fields, list) {
        let words = texts(value)?;
        if list == "programs" || value.is_array() && normalized(key) != "commands" {
            lines.push(quoted(words));
        } else {
            lines.extend(words.into_iter().map(str::to_owned));
        }
    }
    if let Some(last) = lines.last_mut().filter(|_| list != "argv") {
        for (_, value) in values(fields, "arguments") {
            match (value, texts(value)) {
                (Value::Array(_), Some(words)) => last.extend([" ", &quoted(words)]),
                (Value::String(text), _) => last.extend([" ", text]),
                _ => return None,
            }
        }
    }
    let joined = lines.into_iter().reduce(|all, line| all + "\n" + &line);
    Some(joined.unwrap_or_default())
}

/// Returns the script of one map as a line that runs it.
#[expect(clippy::option_option, reason = "no script, or one that is not a text")]
fn script(fields: &Map<String, Value>, tool_effect: ToolEffect) -> Option<Option<String>> {
    let find = |name: &&str| fields.iter().find(|(key, _)| normalized(key) == **name);
    let text = SCRIPTS.iter().find_map(|name| {
        let (_, value) = find(name)?;
        Some(texts(value)?.join("\n"))
    })?;
    // Together with a path, it is the content of the file.
    let is_content = matches!(tool_effect, ToolEffect::Changes(_) | ToolEffect::Reads)
        && fields.keys().any(|key| is_path_field(key));
    if is_content {
        return None;
    }
    let language = values(fields, "languages").find_map(|(_, value)| value.as_str());
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

/// Returns whether a value may be a text that is JSON.
fn looks_like_json(value: &Value) -> bool {
    let text = value.as_str();
    text.is_some_and(|text| text.trim_start().starts_with(['{', '[']))
}

/// Parses the texts that contain arguments as JSON.
pub(super) fn parse_nested(fields: &mut Map<String, Value>) {
    // For a program, arguments are words.
    let is_program = values(fields, "lines").next().is_some();
    for (key, value) in fields.iter_mut() {
        let may_contain_json = || {
            let name = normalized(key);
            is_listed("nested", &name) || !is_program && is_listed("arguments", &name)
        };
        if let Some(text) = value.as_str()
            && looks_like_json(value)
            && may_contain_json()
            && let Ok(read) = serde_json::from_str(text)
        {
            *value = read;
        }
        parse_in_value(value);
    }
}

fn parse_in_value(value: &mut Value) {
    match value {
        Value::Object(fields) => parse_nested(fields),
        Value::Array(items) => items.iter_mut().for_each(parse_in_value),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns words as a line, quoted where necessary: a program is none of the shell's assignments.
fn quoted(words: Vec<&str>) -> String {
    let word = |word: &str| match word_of_line(word) {
        plain if plain.contains('=') && !plain.starts_with(['-', '\'']) => format!("'{plain}'"),
        quoted => quoted,
    };
    join(words.into_iter().map(word), " ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use workflow_shell::AccessKind;

    /// Returns the lines with their directories; `?` is a line that is not a text.
    fn found(value: &Value, tool_effect: ToolEffect) -> Vec<(String, String)> {
        let mut fields = value.as_object().expect("it is a map").clone();
        parse_nested(&mut fields);
        let all = shell_lines(&fields, tool_effect).into_iter();
        let text = |line: ShellLine| (line.text.unwrap_or_else(|| "?".to_owned()), line.directory);
        all.map(text).collect()
    }

    fn texts_of(value: &Value) -> Vec<String> {
        let all = found(value, ToolEffect::Unknown).into_iter();
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
    fn lines_of_nested_calls_are_found() {
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
            assert_eq!(found(&value, ToolEffect::Unknown), expected, "{value}");
        }
        let many = json!({"calls": [{"command": "a"}, {"input": {"command": "b"}}]});
        assert_eq!(texts_of(&many), ["a", "b"]);
        assert_eq!(texts_of(&json!({"arguments": "{\"command\": "})), ["?"]);
        let text = json!({"path": "a", "content": packed});
        assert!(texts_of(&text).is_empty());
    }

    #[test]
    fn scripts_are_lines_unless_they_are_the_content_of_a_file() {
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
        assert!(found(&content, ToolEffect::Changes(AccessKind::Write)).is_empty());
        assert_eq!(found(&content, ToolEffect::Unknown).len(), 1);
    }
}
