//! What tools do according to their names, and calls of them that are known to only read.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::diagnostic::shown;
use crate::text::word_of_line;
use workflow_shell::{AccessKind, Effect, analyze};

/// The effect of a tool according to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolEffect {
    /// It changes no files.
    Reads,
    /// It changes the files it names: this access.
    Changes(AccessKind),
    /// It runs shell lines.
    RunsShell,
    /// The name does not say.
    Unknown,
}

/// The tools that are known by their whole name.
const KNOWN: [(&str, ToolEffect); 3] = [
    ("reads", ToolEffect::Reads),
    ("shells", ToolEffect::RunsShell),
    ("writes", ToolEffect::Changes(AccessKind::Write)),
];
/// The lists of verbs that change the files that a tool names.
const VERBS: [(&str, AccessKind); 3] = [
    ("removing", AccessKind::RemoveTree),
    ("moving", AccessKind::ReplaceTree),
    ("writing", AccessKind::Write),
];

/// Returns whether a list of `tables/tools.txt` has a name.
pub(super) fn is_listed(list: &str, name: &str) -> bool {
    /// The lists that have a name.
    static LISTS: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
        let lines = include_str!("../../../tables/tools.txt").lines();
        let lines = lines.filter(|line| !line.starts_with('#'));
        let (mut list, mut all) = ("", HashMap::<_, Vec<_>>::new());
        for word in lines.flat_map(str::split_ascii_whitespace) {
            match word.strip_prefix('@') {
                Some(head) => list = head,
                None => all.entry(word).or_default().push(list),
            }
        }
        all
    });
    LISTS.get(name).is_some_and(|lists| lists.contains(&list))
}

/// Returns the effect of a tool according to its name.
pub(super) fn tool_effect(tool: &str) -> ToolEffect {
    let known = |name: &str| {
        let mut known = KNOWN.into_iter();
        known.find_map(|(list, effect)| is_listed(list, name).then_some(effect))
    };
    let as_written = known(tool).or_else(|| match normalized(tool) {
        Cow::Owned(name) => known(&name),
        Cow::Borrowed(_) => None,
    });
    if let Some(effect) = as_written {
        return effect;
    }
    if ToolWords::of(tool).run() {
        return ToolEffect::RunsShell;
    }
    let words = words(tool);
    let has = |list| words.iter().any(|word| is_listed(list, word));
    let changes = VERBS.into_iter().find(|(list, _)| has(list));
    changes.map_or(ToolEffect::Unknown, |(_, kind)| ToolEffect::Changes(kind))
}

/// Returns whether the name of a tool says that it is about files.
pub(super) fn is_about_files(tool: &str) -> bool {
    words(tool)
        .iter()
        .any(|word| is_listed("about_files", word))
}

/// Returns whether a tool is one of the hosts' tools that write the file they name.
pub(super) fn is_editor(tool: &str) -> bool {
    is_listed("writes", tool) || is_listed("writes", &normalized(tool))
}

/// The words of the name of a tool.
struct ToolWords {
    /// All of them; where the name of the server is marked, those behind it.
    words: Vec<String>,
    /// Those of the name of the server, as far as that is certain.
    server: Vec<String>,
}

impl ToolWords {
    /// The words of a name as hosts write it: `mcp__server__tool`, `server.tool`, `server/tool`, `server-tool`, `mcp_server_tool`.
    fn of(tool: &str) -> Self {
        let marked = tool.strip_prefix("mcp__");
        if let Some((server, tool)) = marked.and_then(|rest| rest.split_once("__")) {
            let (server, words) = (words(server), words(tool));
            return Self { words, server };
        }
        let all = words(tool);
        let is_server = |word: &String| word == "mcp" || word == "server";
        let of_server = match (
            tool.rsplit_once(['.', '/', ':']),
            all.iter().rposition(is_server),
        ) {
            (Some((server, _)), _) => words(server).len(),
            (None, Some(0)) => 2,
            (None, last) => last.unwrap_or(0) + 1,
        };
        let server = all.iter().take(of_server).cloned().collect();
        Self { words: all, server }
    }

    /// The words behind the server's name and those of a list, up to one of another list.
    fn behind(&self, about: &str, up_to: &str) -> &[String] {
        let is_about = |word: &&String| {
            !is_listed(up_to, word) && (self.server.contains(word) || is_listed(about, word))
        };
        &self.words[self.words.iter().take_while(is_about).count()..]
    }

    /// Returns whether they say that the tool runs shell lines, and nothing else.
    fn run(&self) -> bool {
        let words = self.behind("", "running");
        !words.is_empty() && words.iter().all(|word| is_listed("running", word))
    }

    /// Returns whether they say that the tool reads: one that says so comes first, behind what it is about, and no word says
    /// that something is changed.
    fn read(&self) -> bool {
        let Some((first, rest)) = self.behind("areas", "reading").split_first() else {
            return false;
        };
        let is_thing = |word: &str| is_listed("naming", first) && is_listed("things", word);
        let is_changed = |word: &String| changes(word) && !is_thing(word);
        let reads = is_listed("reading", first) || rest.is_empty() && is_listed("alone", first);
        reads && !self.words.iter().any(is_changed)
    }
}

/// Returns whether a word of a name says that something is changed.
fn changes(word: &str) -> bool {
    let lists = ["changing", "writing", "removing", "moving"];
    lists.iter().any(|list| is_listed(list, word))
}

/// Returns whether a tool is one of the hosts' tools that run shell lines.
pub(super) fn is_host_shell(tool: &str) -> bool {
    is_listed("shells", tool) || is_listed("shells", &normalized(tool))
}

/// Returns why it is not known that a call only reads, for display; `None` if it is known. Of a shell, the lines decide.
pub(super) fn unknown_call<'f>(
    tool: &str,
    effect: ToolEffect,
    fields: impl FnOnce() -> Option<&'f Map<String, Value>>,
) -> Option<String> {
    match effect {
        ToolEffect::Reads | ToolEffect::RunsShell => None,
        ToolEffect::Unknown if ToolWords::of(tool).read() => {
            let field = shown(acting_field(fields()?)?);
            Some(format!("its argument `{field}` may change something"))
        }
        ToolEffect::Unknown | ToolEffect::Changes(_) => {
            Some("it is not a tool that is known to only read".to_owned())
        }
    }
}

/// Returns the first field with which a call may do more than read.
fn acting_field(fields: &Map<String, Value>) -> Option<&str> {
    fields.iter().find_map(|(key, value)| match value {
        _ if acts(&normalized(key), value) => Some(&**key),
        Value::Object(fields) => acting_field(fields),
        Value::Array(items) => items
            .iter()
            .filter_map(Value::as_object)
            .find_map(acting_field),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

fn acts(field: &str, value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default();
    if *value == false || value.is_null() || *value == "" {
        false
    } else if field == "sql" {
        // One `select`, as `psql` would run it.
        let line = format!("psql -c {}", word_of_line(text));
        analyze(&line).effect() != Effect::Reads
    } else {
        let changes = || words(text).iter().any(|word| changes(word));
        is_listed("acting", field) || is_listed("operations", field) && changes()
    }
}

/// Returns a name in lower case without `_` and `-`.
pub(super) fn normalized(name: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if name.bytes().all(is_plain) {
        return Cow::Borrowed(name);
    }
    let letters = name.chars().filter(|c| !matches!(c, '_' | '-'));
    letters.flat_map(char::to_lowercase).collect()
}

/// Splits a name into parts: `old_path`, `oldPath`, `mcp__files__move_file`, `FSWrite`. Those of `writefile` are parts as well.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut previous = None;
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let is_before_lower = chars.peek().is_some_and(|next| next.is_lowercase());
        let starts_word = c.is_uppercase()
            && previous.is_some_and(|previous: char| {
                previous.is_lowercase()
                    || previous.is_numeric()
                    || previous.is_uppercase() && is_before_lower
            });
        previous = Some(c);
        if !c.is_alphanumeric() || starts_word {
            words.push(String::new());
        }
        if let (true, Some(last)) = (c.is_alphanumeric(), words.last_mut()) {
            last.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words.into_iter().flat_map(|word| joined(&word)).collect()
}

/// Splits a part that joins what a tool does with `file`: `writefile`.
fn joined(word: &str) -> Vec<String> {
    let is_verb = |verb: &str| VERBS.iter().any(|(list, _)| is_listed(list, verb));
    let ends = ["files", "file", "directory", "dir", "folder", "text"];
    let split = ends
        .iter()
        .find_map(|end| Some((word.strip_suffix(end).filter(|verb| is_verb(verb))?, end)));
    match split {
        Some((verb, end)) => vec![verb.to_owned(), (*end).to_owned()],
        None => vec![word.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tools_determine_their_effect() {
        assert_eq!(tool_effect("Edit"), ToolEffect::Changes(AccessKind::Write));
        assert_eq!(tool_effect("read"), ToolEffect::Reads);
        assert_eq!(tool_effect("bash"), ToolEffect::RunsShell);
        assert_eq!(
            tool_effect("mcp__fs__write_file"),
            ToolEffect::Changes(AccessKind::Write)
        );
        assert_eq!(
            tool_effect("mcp__fs__moveFile"),
            ToolEffect::Changes(AccessKind::ReplaceTree)
        );
        assert_eq!(
            tool_effect("delete_directory"),
            ToolEffect::Changes(AccessKind::RemoveTree)
        );
        for tool in ["FSWriteFile", "writefile", "overwrite", "rewrite_file"] {
            assert_eq!(
                tool_effect(tool),
                ToolEffect::Changes(AccessKind::Write),
                "{tool}"
            );
        }
        assert_eq!(
            tool_effect("mcp__fs__deletefile"),
            ToolEffect::Changes(AccessKind::RemoveTree)
        );
        for tool in ["mcp__x__lookup", "profile", "getHTTPStatus", "settext2"] {
            assert_eq!(tool_effect(tool), ToolEffect::Unknown, "{tool}");
        }
        for tool in [
            "exec_command",
            "mcp__term__run_process",
            "term-exec",
            "container.exec",
            "write_stdin",
        ] {
            assert_eq!(tool_effect(tool), ToolEffect::RunsShell, "{tool}");
        }
    }
}
