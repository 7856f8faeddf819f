//! Paths and globs in the arguments of tools.
//!
//! `tables/tools.txt` says which fields contain them.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::patches::patched_files;
use crate::tool_names::{ToolEffect, ToolName, has_listed, is_listed, normalized, words};

/// Returns the texts in a value, at any depth.
pub(super) fn all_texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(all_texts).collect(),
        Value::Object(fields) => fields.values().flat_map(all_texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Returns whether a text in a value, or a name of a member, meets a condition.
pub(super) fn any_string(value: &Value, meets: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => meets(text),
        Value::Array(items) => items.iter().any(|item| any_string(item, meets)),
        Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| meets(name) || any_string(value, meets)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns the maps in a value that is one, or a list of them at any depth.
pub(super) fn maps(value: &Value) -> Vec<&Map<String, Value>> {
    match value {
        Value::Object(fields) => vec![fields],
        Value::Array(items) => items.iter().flat_map(maps).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// Collects the files of patches.
fn in_patch(value: &Value, found: &mut Vec<PathArgument>) {
    let files = all_texts(value).into_iter().flat_map(patched_files);
    let files = files.map(|file| file.map(Cow::into_owned));
    found.extend(files.map(|file| file.map_or(PathArgument::Opaque, PathArgument::Path)));
}

/// The content of a field for paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathArgument {
    Path(String),
    Glob(String),
    /// The working directory of a shell line.
    Directory(String),
    /// A value that is not a text; its meaning is unknown.
    Opaque,
}

/// Returns all paths and globs in the arguments of a call, at any depth, and the files of patches.
pub(super) fn path_arguments(tool: &ToolName, fields: &Map<String, Value>) -> Vec<PathArgument> {
    let mut found = Vec::new();
    in_map(fields, &mut found);
    // Where a tool writes a file that it names, a patch is content.
    if matches!(tool.effect, ToolEffect::Changes(_)) && !tool.is_editor() {
        for value in fields.values() {
            in_patch(value, &mut found);
        }
    }
    let is_file = |named: &PathArgument| matches!(named, PathArgument::Path(_));
    if tool.has("patches") && tool.has("applying") && !found.iter().any(is_file) {
        found.push(PathArgument::Opaque);
    }
    found
}

fn in_map(fields: &Map<String, Value>, found: &mut Vec<PathArgument>) {
    for (key, value) in fields {
        let name = normalized(key);
        if let (true, Some(path)) = (is_listed("directories", &name), value.as_str()) {
            found.push(PathArgument::Directory(path.to_owned()));
        } else if let Some(field) = path_field(key) {
            in_path(value, field, found);
        } else if is_listed("globs", &name) {
            let globs = texts(value).into_iter().flatten();
            found.extend(globs.map(|glob| PathArgument::Glob(glob.to_owned())));
        } else {
            if has_listed("patches", &words(key)) {
                in_patch(value, found);
            }
            in_value(value, found);
        }
    }
}

/// Returns whether a field of this name contains paths.
pub(super) fn is_path_field(key: &str) -> bool {
    path_field(key).is_some()
}

fn path_field(key: &str) -> Option<PathField> {
    match &*normalized(key) {
        "uri" => Some(PathField::Uri),
        _ if is_listed("path_words", &last_word(key)) => Some(PathField::Paths),
        name => is_listed("paths", name).then_some(PathField::PathsAndOthers),
    }
}

/// The content of a field for paths, as far as its name says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PathField {
    Paths,
    PathsAndOthers,
    Uri,
}

/// Collects the content of a field for paths.
fn in_path(value: &Value, field: PathField, found: &mut Vec<PathArgument>) {
    let only_paths = field == PathField::Paths;
    match value {
        Value::String(text) => add_path(text, field, found),
        Value::Array(items) => items.iter().for_each(|item| in_path(item, field, found)),
        Value::Null | Value::Bool(_) => {}
        Value::Number(_) => found.extend(only_paths.then_some(PathArgument::Opaque)),
        Value::Object(members) if only_paths && !members.iter().any(names_file) => {
            // A file that is described by other members: `{"name": "a"}`.
            let names = members.values().filter_map(Value::as_str);
            let before = found.len();
            for name in names.filter(|name| !name.contains('\n')) {
                add_path(name, field, found);
            }
            in_value(value, found);
            // `directory` + `name` together are a path too.
            let is_directory =
                |(key, value): (&String, &Value)| is_path_field(key) && value.is_string();
            let has_directory = members.iter().any(is_directory);
            if found.len() == before || has_directory {
                found.push(PathArgument::Opaque);
            }
        }
        Value::Object(_) => in_value(value, found),
    }
}

/// Returns whether a member of an object contains the path of a file.
fn names_file((key, value): (&String, &Value)) -> bool {
    let last = last_word(key);
    let is_directory = last.starts_with("dir") || last.starts_with("folder");
    is_path_field(key) && !is_directory && !matches!(value, Value::Null | Value::Bool(_))
}

/// Adds a path. What looks like a URI may be a name as well, for tools that take no URIs.
fn add_path(text: &str, field: PathField, found: &mut Vec<PathArgument>) {
    let of_uri = path_of_uri(text);
    if of_uri.is_none() || field != PathField::Uri {
        found.push(PathArgument::Path(text.to_owned()));
    }
    found.extend(of_uri.map(PathArgument::Path));
}

/// Returns the path of a `file:` URI.
fn path_of_uri(text: &str) -> Option<String> {
    // White space around a URI counts for nothing.
    let (scheme, rest) = text.trim().split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let path = match rest.strip_prefix("//") {
        // After the name of the host, which is this machine.
        Some(rest) if rest.starts_with('~') => rest,
        Some(rest) => &rest[rest.find('/').unwrap_or_default()..],
        None => rest,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    Some(percent_decode_str(path).decode_utf8_lossy().into_owned())
}

fn in_value(value: &Value, found: &mut Vec<PathArgument>) {
    match value {
        Value::Object(fields) => in_map(fields, found),
        Value::Array(items) => items.iter().for_each(|item| in_value(item, found)),
        Value::String(text) => {
            // A text may start with `File:` without being a URI.
            let is_uri = |text: &str| text.trim().as_bytes().get(5) == Some(&b'/');
            let of_uri = path_of_uri(text).filter(|_| is_uri(text) && !text.trim().contains('\n'));
            found.extend(of_uri.map(PathArgument::Path));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the texts of a value that is a text or a list of texts.
pub(super) fn texts(value: &Value) -> Option<Vec<&str>> {
    match value {
        Value::String(text) => Some(vec![text]),
        Value::Array(items) => items.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

/// Returns the last part of a name without a number: `path2`, `file_1`.
fn last_word(name: &str) -> String {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
    words(name).pop().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths(value: &Value) -> Vec<String> {
        let Value::Object(fields) = value else {
            panic!("it is a map")
        };
        path_arguments(&ToolName::of("tool"), fields)
            .into_iter()
            .map(|named| match named {
                PathArgument::Path(path)
                | PathArgument::Glob(path)
                | PathArgument::Directory(path) => path,
                PathArgument::Opaque => "?".to_owned(),
            })
            .collect()
    }

    #[test]
    fn paths_are_found_in_fields_of_many_names_and_depths() {
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
            (json!({"path1": "a", "file_2": "b"}), vec!["a", "b"]),
            (json!({"files": [{"name": "a", "size": 5}]}), vec!["a"]),
            (json!({"files": [{"path": "a", "text": "b"}]}), vec!["a"]),
            (json!({"includePattern": ".e*"}), vec![".e*"]),
            (json!({"path": 5}), vec!["?"]),
            (json!({"file": {"size": 5}}), vec!["?"]),
            (
                json!({"url": "file:///a", "urls": ["FILE:/b"], "text": "File: c d"}),
                vec!["/a", "/b"],
            ),
            (json!({"url": " file:///a b\n"}), vec!["/a b"]),
            (json!({"path": "file:/../a"}), vec!["file:/../a", "/../a"]),
            (json!({"files": [{"path": null, "name": "a"}]}), vec!["a"]),
            (
                json!({"file": {"dir": "a", "name": "b"}}),
                vec!["a", "a", "b", "?"],
            ),
            (json!({"patch": "diff --git a/x y b/z"}), vec!["?"]),
            (
                json!({"patchText": "*** Begin Patch\n*** Add File: a"}),
                vec!["a"],
            ),
            (json!({"diffs": ["--- a/b\n+++ b/b"]}), vec!["b", "b"]),
            (
                json!({"path": "a", "content": "--- a/c\n+++ b/c"}),
                vec!["a"],
            ),
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
    fn a_tool_that_applies_patches_changes_the_files_of_any_of_its_texts() {
        let named = |tool: &str, value: &Value| {
            let fields = value.as_object().expect("it is a map");
            path_arguments(&ToolName::of(tool), fields).len()
        };
        let patch = json!({"input": "*** Update File: a\n*** Move to: b"});
        for tool in ["apply_patch", "applyPatch", "mcp__x__apply_diff"] {
            assert_eq!(named(tool, &patch), 2, "{tool}");
            // What it changes is unknown.
            assert_eq!(named(tool, &json!({"input": "x"})), 1, "{tool}");
        }
        assert_eq!(named("write", &patch), 0);
        assert_eq!(named("git_diff", &json!({"ref": "HEAD"})), 0);
    }
}
