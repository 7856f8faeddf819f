//! What the arguments of a tool's call are called: the one table of the names of fields.
//!
//! Owns which fields hold paths and globs, and what tools are told by their
//! names. It must not know rules.

use std::borrow::Cow;

use serde_json::{Map, Value};

use workflow_shell::AccessKind;

/// Fields that hold a path, by their whole name without `_` and `-`, in lower case.
#[rustfmt::skip] // Names that belong together.
const PATHS: &[&str] = &[
    "source", "destination", "dest", "src", "dst", "from", "to", "target", "root", "uri", "notebook", "filepath", "filename", "pathname",
    "output", "outfile", "saveto",
];
/// Fields that hold paths, by the last word of their name: `file_path`, `notebookPath`, `paths`.
const PATH_WORDS: &[&str] = &[
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "filenames",
    "dir",
    "dirs",
    "directory",
    "directories",
    "folder",
    "folders",
];
/// Fields that hold a glob of the files that a tool looks at.
const GLOBS: &[&str] = &["glob", "globs", "include", "includes"];
/// Fields that hold the directory in which a line runs.
pub(super) const DIRECTORIES: &[&str] = &["cwd", "workdir", "workingdir", "workingdirectory"];

/// The tools that write the file they name.
const WRITING_TOOLS: &[&str] = &["edit", "write", "multiedit", "notebookedit"];
/// The tools that change no files.
#[rustfmt::skip] // Names that belong together.
const READING_TOOLS: &[&str] = &[
    "read", "view", "cat", "grep", "glob", "find", "ls", "list", "search", "fetch", "webfetch", "websearch", "todoread", "todowrite",
    "notebookread", "question", "ask",
];
/// The tools that run a line.
const SHELLS: &[&str] = &["bash", "shell", "sh", "zsh", "terminal"];
/// Words in the names of tools that change what they name.
#[rustfmt::skip] // Names that belong together.
const WRITING_WORDS: &[&str] = &[
    "write", "edit", "create", "append", "insert", "replace", "patch", "save", "update", "put", "upload", "download", "copy", "touch", "mkdir",
    "truncate", "modify", "apply", "set",
];
/// Words in the names of tools that remove what they name, or move it.
const REMOVING_WORDS: &[&str] = &[
    "delete", "remove", "rm", "rmdir", "unlink", "trash", "erase", "purge",
];
const MOVING_WORDS: &[&str] = &["move", "mv", "rename"];

/// How deep arguments are looked into.
const DEEPEST: usize = 8;

/// What a tool does, as far as its name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    /// It changes no files.
    Reads,
    /// It changes what it names in this way.
    Changes(AccessKind),
    /// It runs lines.
    Runs,
    /// Nobody knows.
    Unknown,
}

/// What a tool does, as far as its name says.
pub(super) fn does(tool: &str) -> Does {
    let name = plain(tool);
    let is_one_of = |names: &[&str]| names.contains(&&*name);
    if is_one_of(WRITING_TOOLS) {
        return Does::Changes(AccessKind::Write);
    }
    if is_one_of(READING_TOOLS) {
        return Does::Reads;
    }
    if is_one_of(SHELLS) {
        return Does::Runs;
    }
    let words = words(tool);
    let has = |names: &[&str]| words.iter().any(|word| names.contains(&&**word));
    if has(REMOVING_WORDS) {
        Does::Changes(AccessKind::RemoveTree)
    } else if has(MOVING_WORDS) {
        Does::Changes(AccessKind::ReplaceTree)
    } else if has(WRITING_WORDS) {
        Does::Changes(AccessKind::Write)
    } else {
        Does::Unknown
    }
}

/// Whether it is one of the hosts' tools that write the file they name.
pub(super) fn is_editor(tool: &str) -> bool {
    WRITING_TOOLS.contains(&&*plain(tool))
}

/// What a field with a path in it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named<'a> {
    Path(Cow<'a, str>),
    Glob(&'a str),
    /// A directory that a line runs in.
    Directory(&'a str),
    /// It is no text: what the tool makes of it cannot be seen.
    Unseen,
}

/// All paths and globs in a call's arguments, wherever they stand in it.
pub(super) fn named(fields: &Map<String, Value>) -> Vec<Named<'_>> {
    let mut found = Vec::new();
    in_map(fields, 0, &mut found);
    found
}

fn in_map<'a>(fields: &'a Map<String, Value>, depth: usize, found: &mut Vec<Named<'a>>) {
    for (key, value) in fields {
        let name = plain(key);
        let last = words(key).pop().unwrap_or_default();
        if let (true, Some(path)) = (DIRECTORIES.contains(&&*name), value.as_str()) {
            found.push(Named::Directory(path));
        } else if PATHS.contains(&&*name) || PATH_WORDS.contains(&&*last) {
            in_path(value, PATH_WORDS.contains(&&*last), depth, found);
        } else if GLOBS.contains(&&*name) {
            let globs = texts(value).into_iter().flatten();
            found.extend(globs.map(Named::Glob));
        } else {
            in_value(value, depth, found);
        }
    }
}

/// Whether a field of this name holds paths.
pub(super) fn is_for_paths(key: &str) -> bool {
    let last = words(key).pop().unwrap_or_default();
    PATHS.contains(&&*plain(key)) || PATH_WORDS.contains(&&*last)
}

/// What stands in a field for paths. `surely` tells that nothing else stands in a field of that name.
fn in_path<'a>(value: &'a Value, surely: bool, depth: usize, found: &mut Vec<Named<'a>>) {
    match value {
        Value::String(path) => {
            let of_uri = path_of_uri(path).map(Cow::Owned);
            found.push(Named::Path(of_uri.unwrap_or(Cow::Borrowed(path))));
        }
        Value::Array(items) if depth < DEEPEST => {
            for item in items {
                in_path(item, surely, depth + 1, found);
            }
        }
        Value::Null | Value::Bool(_) => {}
        Value::Number(_) => found.extend(surely.then_some(Named::Unseen)),
        Value::Object(_) | Value::Array(_) => in_value(value, depth, found),
    }
}

/// The path of a `file:` URI.
fn path_of_uri(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let path = match rest.strip_prefix("//") {
        // Behind the name of a machine, which is this one.
        Some(rest) if rest.starts_with('~') => rest,
        Some(rest) => &rest[rest.find('/').unwrap_or_default()..],
        None => rest,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let mut pieces = path.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let code = piece
            .get(..2)
            .and_then(|code| u8::from_str_radix(code, 16).ok());
        match code {
            Some(code) => {
                bytes.push(code);
                bytes.extend(&piece.as_bytes()[2..]);
            }
            None => bytes.extend([b"%", piece.as_bytes()].concat()),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn in_value<'a>(value: &'a Value, depth: usize, found: &mut Vec<Named<'a>>) {
    match value {
        Value::Object(_) | Value::Array(_) if depth >= DEEPEST => found.push(Named::Unseen),
        Value::Object(fields) => in_map(fields, depth + 1, found),
        Value::Array(items) => {
            for item in items {
                in_value(item, depth + 1, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A text, or a list of texts.
pub(super) fn texts(value: &Value) -> Option<Vec<&str>> {
    match value {
        Value::String(text) => Some(vec![text]),
        Value::Array(items) => items.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

/// A name without `_` and `-`, in lower case.
pub(super) fn plain(name: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if name.bytes().all(is_plain) {
        return Cow::Borrowed(name);
    }
    let letters = name.chars().filter(|c| !matches!(c, '_' | '-'));
    letters.flat_map(char::to_lowercase).collect()
}

/// The words of a name: `old_path`, `oldPath`, `mcp__files__move_file`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        let begins = c.is_uppercase() && was_lower;
        was_lower = c.is_lowercase() || c.is_numeric();
        if !c.is_alphanumeric() || begins {
            words.push(String::new());
        }
        if let (true, Some(last)) = (c.is_alphanumeric(), words.last_mut()) {
            last.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths(value: &Value) -> Vec<String> {
        let Value::Object(fields) = value else {
            panic!("it is a map")
        };
        named(fields)
            .into_iter()
            .map(|named| match named {
                Named::Path(path) => path.into_owned(),
                Named::Glob(path) | Named::Directory(path) => path.to_owned(),
                Named::Unseen => "?".to_owned(),
            })
            .collect()
    }

    #[test]
    fn paths_stand_in_fields_of_many_names_and_depths() {
        for (value, expected) in [
            (json!({"path": "a"}), vec!["a"]),
            (json!({"file_path": "a", "content": "b"}), vec!["a"]),
            (json!({"notebookPath": "a", "new_source": "b"}), vec!["a"]),
            (json!({"source": "a", "destination": "b"}), vec!["b", "a"]),
            (json!({"old_path": "a", "newPath": "b"}), vec!["b", "a"]),
            (json!({"paths": ["a", "b"]}), vec!["a", "b"]),
            (json!({"edits": [{"path": "a", "oldText": "x"}]}), vec!["a"]),
            (
                json!({"arguments": {"options": {"target": "a"}}}),
                vec!["a"],
            ),
            (json!({"uri": "file:///etc/passwd"}), vec!["/etc/passwd"]),
            (json!({"uri": "FILE:///a%20b/%2Eenv"}), vec!["/a b/.env"]),
            (json!({"uri": "file://localhost/etc/x?y#z"}), vec!["/etc/x"]),
            (json!({"uri": "file:/etc/%zz%"}), vec!["/etc/%zz%"]),
            (json!({"path": "a%20b"}), vec!["a%20b"]),
            (json!({"output": "a"}), vec!["a"]),
            (json!({"outfile": "a"}), vec!["a"]),
            (json!({"saveTo": "a", "save_to": "b"}), vec!["a", "b"]),
            (json!({"glob": ".e*"}), vec![".e*"]),
            (json!({"path": 5}), vec!["?"]),
            (
                json!({"path": null, "profile": "x", "recursive": true, "to": 3}),
                vec![],
            ),
        ] {
            let mut found = paths(&value);
            found.sort_unstable_by_key(|path| expected.iter().position(|other| other == path));
            assert_eq!(found, expected, "{value}");
        }
    }

    #[test]
    fn names_of_tools_say_what_they_do() {
        assert_eq!(does("Edit"), Does::Changes(AccessKind::Write));
        assert_eq!(does("read"), Does::Reads);
        assert_eq!(does("bash"), Does::Runs);
        assert_eq!(
            does("mcp__fs__write_file"),
            Does::Changes(AccessKind::Write)
        );
        assert_eq!(
            does("mcp__fs__moveFile"),
            Does::Changes(AccessKind::ReplaceTree)
        );
        assert_eq!(
            does("delete_directory"),
            Does::Changes(AccessKind::RemoveTree)
        );
        assert_eq!(does("mcp__x__lookup"), Does::Unknown);
    }
}
