//! What the names of tools say. `tables/tools.txt` has the names and their words.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use workflow_shell::AccessKind;

/// The effect of a tool according to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolEffect {
    /// It changes no files.
    Reads,
    /// It changes the files it names: this access.
    Changes(AccessKind),
    /// It runs shell lines.
    RunsShell,
    /// The name does not say.
    Unknown,
}

/// The tools of the hosts, which are known by their whole name.
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
pub(crate) fn is_listed(list: &str, name: &str) -> bool {
    /// The lists that have a name.
    static LISTS: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
        let lines = include_str!("../tables/tools.txt").lines();
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

/// Returns whether a list has one of some words.
pub(crate) fn has_listed(list: &str, words: &[String]) -> bool {
    words.iter().any(|word| is_listed(list, word))
}

/// What the name of a tool says.
#[derive(Debug)]
pub(crate) struct ToolName {
    pub(crate) effect: ToolEffect,
    /// Its words; none if its whole name is known.
    words: Vec<String>,
    /// The number of them that are the server's; 0 if nothing marks it.
    of_server: usize,
    /// True if no other word is the server's.
    is_certain: bool,
}

impl ToolName {
    /// Reads a name as hosts write it: `mcp__server__tool`, `mcp_server_tool`, `server.tool`, `server/tool`, `x-mcp-server-tool`. Nothing
    /// marks the server in `server-tool`.
    pub(crate) fn of(tool: &str) -> Self {
        let whole = normalized(tool);
        let mut known = KNOWN.into_iter();
        let known = known.find(|(list, _)| is_listed(list, &whole));
        let certain = tool.strip_prefix("mcp__");
        let certain = certain.and_then(|rest| rest.split_once("__"));
        let separated = certain.or_else(|| tool.rsplit_once(['.', '/', ':']));
        let words_before = |own: &str| words(&tool[..tool.len() - own.len()]).len();
        let words = known.map_or_else(|| words(tool), |_| Vec::new());
        let is_mark = |word: &String| word == "mcp" || word == "server";
        let of_server = match (separated, words.iter().rposition(is_mark)) {
            (Some((_, own)), _) => words_before(own),
            (None, Some(0)) => 2,
            (None, mark) => mark.map_or(0, |at| at + 1),
        };
        let mut name = Self {
            effect: known.map_or(ToolEffect::RunsShell, |(_, effect)| effect),
            of_server: of_server.min(words.len()),
            is_certain: certain.is_some(),
            words,
        };
        if known.is_none() && !name.runs_lines() {
            let mut verbs = VERBS.into_iter();
            let verb = verbs.find(|(list, _)| name.has(list));
            name.effect = verb.map_or(ToolEffect::Unknown, |(_, kind)| ToolEffect::Changes(kind));
        }
        name
    }

    /// The words behind those of the server's name and of a list, up to one of another list.
    fn behind(&self, about: &str, up_to: &str) -> &[String] {
        let (server, own) = self.words.split_at(self.of_server);
        let is_about = |word: &&String| {
            !is_listed(up_to, word) && (server.contains(word) || is_listed(about, word))
        };
        &own[own.iter().take_while(is_about).count()..]
    }

    /// Returns whether its words say that it runs shell lines, and nothing else.
    fn runs_lines(&self) -> bool {
        let runs = |word: &String| is_listed("running", word);
        // Where nothing marks the server, the first word may be its name.
        let may_be = |word: &&String| self.of_server == 0 && !runs(word) && !changes(word);
        let first = self.words.first().filter(may_be);
        let own = self.behind("", "running").iter();
        let mut own = own.skip_while(|word| Some(*word) == first).peekable();
        own.peek().is_some() && own.all(runs)
    }

    /// Returns whether it is a shell of the host.
    pub(crate) fn is_host_shell(&self) -> bool {
        let mut words = self.words.iter();
        let is_marked = self.of_server > 0;
        let runs = self.effect == ToolEffect::RunsShell;
        runs && !is_marked && words.all(|word| is_listed("running", word))
    }

    /// Returns whether it is one of the hosts' tools that write the file they name.
    pub(crate) fn is_editor(&self) -> bool {
        self.words.is_empty() && matches!(self.effect, ToolEffect::Changes(_))
    }

    /// Returns whether a list has one of its words.
    pub(crate) fn has(&self, list: &str) -> bool {
        has_listed(list, &self.words)
    }

    /// Returns whether it says that it changes files or applies a patch, and nothing else. One word is no name of a server.
    pub(crate) fn only_edits(&self) -> bool {
        let applies_patch = self.has("applying") && self.has("patches");
        let mut own = self.behind("areas", "local").iter();
        (self.has("about_files") || applies_patch || self.words.len() == 1)
            && own.all(|word| is_listed("local", word) || is_listed("about_files", word))
    }

    /// Returns whether it says that the tool reads: a word that says so comes first, behind what it is about, and none that
    /// something is changed.
    pub(crate) fn reads(&self) -> bool {
        let own = self.behind("areas", "reading");
        let Some((first, rest)) = own.split_first() else {
            return false;
        };
        let reads = is_listed("reading", first) || rest.is_empty() && is_listed("alone", first);
        let before = &self.words[..self.of_server];
        let may_change =
            says_change(own) || !self.is_certain && before.iter().any(|word| changes(word));
        reads && !may_change
    }

    /// Returns whether it searches for a text, which may be any.
    pub(crate) fn searches(&self) -> bool {
        let first = self.behind("areas", "reading").first();
        first.is_some_and(|word| is_listed("searching", word))
    }
}

/// Returns whether the words of a name say that something is changed: `get_commit` only names a thing.
pub(crate) fn says_change(words: &[String]) -> bool {
    let names = words.first().is_some_and(|word| is_listed("naming", word));
    let is_thing = |word: &String| names && is_listed("things", word);
    words.iter().any(|word| changes(word) && !is_thing(word))
}

/// Returns whether a word says that something is changed.
pub(crate) fn changes(word: &str) -> bool {
    is_listed("changing", word) || is_verb(word)
}

/// Returns whether a word says that the files that a tool names are changed.
pub(crate) fn is_verb(word: &str) -> bool {
    VERBS.iter().any(|(list, _)| is_listed(list, word))
}

/// Returns a name in lower case without `_` and `-`.
pub(crate) fn normalized(name: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if name.bytes().all(is_plain) {
        return Cow::Borrowed(name);
    }
    let letters = name.chars().filter(|c| !matches!(c, '_' | '-'));
    letters.flat_map(char::to_lowercase).collect()
}

/// Splits a name into parts: `old_path`, `oldPath`, `mcp__files__move_file`, `FSWrite`. Those of `writefile` are parts as well.
pub(crate) fn words(name: &str) -> Vec<String> {
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

/// Splits a part that joins what a tool or a field does with `file` and the like: `writefile`, `saveto`.
fn joined(word: &str) -> Vec<String> {
    let ends = [
        "files",
        "file",
        "directory",
        "dir",
        "folder",
        "text",
        "path",
        "to",
        "as",
    ];
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

    fn tool_effect(tool: &str) -> ToolEffect {
        ToolName::of(tool).effect
    }

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
