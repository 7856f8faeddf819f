//! Built-in rule: what holds in a run changes only with a person's consent.
//!
//! The files that definitions and settings are loaded from, and the session's own file, are read again when the session
//! is; others say which hooks a host runs, are the program that they run, or what it stores. A tool call that plainly writes one
//! of them, or takes a directory around it away, needs consent while a workflow is active or settings have rules. A shell
//! command with unknown effects does not: other rules decide about it.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Map;

use super::arguments::all_texts;
use super::call::Call;
use super::decision::Denial;
use super::file_access::{AccessedPath, resolve};
use super::glob_intersection::{Evidence, Part, intersects};
use super::patches::path_in;
use super::path_matcher::parts;
use super::tool_names::ToolEffect;
use crate::definition::{Rule, RuleAction};
use crate::diagnostic::shown;
use workflow_shell::{AccessKind, FileAccess, SimpleCommand, Word};

/// Texts of a call that are compared with the protected files.
const MAX_TEXTS: usize = 64;
/// The longest text that may be a path, in bytes.
const MAX_PATH_BYTES: usize = 4096;

/// Programs that change a directory itself, and not a file in it.
const OF_DIRECTORIES: [&str; 6] = ["chgrp", "chmod", "chown", "rm", "rmdir", "unlink"];

static RULE: LazyLock<Rule> = LazyLock::new(|| {
    let reason = "workflow definitions, settings, the session's file, the host's hooks, the program and its store decide which rules \
                  are in force, so changing them needs the consent of the user";
    Rule {
        writes: Some(true),
        reason: Some(reason.to_owned()),
        source: super::builtin_rule::SOURCE.to_owned(),
        ..Rule::new(RuleAction::Ask, "*")
    }
});

/// Returns the denial of a call that plainly writes a protected file.
pub(super) fn denial(call: &Call<'_>) -> Option<Denial<'static>> {
    let path = written(call)?;
    Some(Denial {
        seen: format!("It would write `{}`.", shown(&path)),
        ..Denial::built_in(&RULE)
    })
}

/// Returns the first path of a call that is protected and written, as the call names it.
fn written(call: &Call<'_>) -> Option<String> {
    let effect = call.tool_effect();
    let changes_files = matches!(effect, ToolEffect::Changes(_));
    // Most shell lines write nothing, and need no path resolved.
    let line_writes = || {
        let mut accesses = call.shell_analysis()?.file_accesses.iter();
        accesses.find(|access| access.kind.writes())
    };
    if effect == ToolEffect::Reads || !changes_files && line_writes().is_none() {
        return None;
    }
    let protected = Protected::of(call);
    let accessed = call.accessed_paths().paths.iter();
    let mut written = accessed.filter(|path| path.kind.writes());
    if let Some(path) = written.find(|path| protected.is_written(path)) {
        return Some(path.path.replace('\0', "…"));
    }
    // A tool that changes files may name them in any field.
    let fields = call.fields().filter(|_| changes_files);
    let values = fields.into_iter().flat_map(Map::values);
    let mut texts: Vec<&str> = values.flat_map(all_texts).collect();
    texts.retain(|text| !text.is_empty() && text.len() <= MAX_PATH_BYTES && !text.contains('\n'));
    texts.truncate(MAX_TEXTS);
    let texts = texts.into_iter();
    let mut texts = texts.map(|text| text.strip_prefix("file://").unwrap_or(text));
    let found = texts.find(|text| protected.names(text, false, AccessKind::Write));
    found.map(str::to_owned)
}

/// The protected files and directories of a call.
struct Protected<'c> {
    call: &'c Call<'c>,
    /// Their parts, in all their forms.
    all: Vec<Vec<Part>>,
    ignores_case: bool,
}

impl<'c> Protected<'c> {
    fn of(call: &'c Call<'c>) -> Self {
        let ignores_case = call.paths.ignores_case();
        let protected = call.paths.protected();
        let all = protected.iter().map(|path| parts(path, ignores_case));
        Self {
            call,
            all: all.collect(),
            ignores_case,
        }
    }

    /// Returns whether a path that is written as a text is one that is protected.
    fn names(&self, path: &str, is_glob: bool, kind: AccessKind) -> bool {
        let path = self.call.opened(path).into_owned();
        let access = FileAccess {
            path,
            is_glob,
            kind,
        };
        self.is_written(&resolve(&access, self.call.paths, &mut HashMap::new()))
    }

    /// Returns whether a path plainly leads to one of them or below it, or is a directory around one that is changed itself, but
    /// not the whole project: `*.o` in the project, or a variable, could be anything.
    fn is_written(&self, path: &AccessedPath) -> bool {
        let kind = path.kind;
        if let Some(rest) = path.path.strip_prefix("\0/") {
            // It is not certain that `cd` succeeds, so the directory may be any that the line names.
            let is_glob = rest.contains(['*', '?', '[']);
            let directories = directories(self.call).into_iter();
            let mut paths = directories.map(|directory| path_in(&directory, rest));
            return paths.any(|path| self.names(&path, is_glob, kind));
        }
        let is_literal = path.tail.is_empty();
        // What formats or extracts may write anywhere in a directory.
        let takes_tree = kind.includes_tree() && kind != AccessKind::WriteWithin;
        let is_whole = takes_tree || is_literal && self.is_changed_itself(path);
        path.forms.iter().any(|form| {
            let is_project = is_literal && form.in_project.as_deref() == Some("");
            let head = parts(&form.absolute, self.ignores_case);
            let named = [&*head, &path.tail].concat();
            let mut around = named.clone();
            around.extend((is_whole && !is_project).then_some(Part::Any));
            let is_known = !path.tail.contains(&Part::Unknown);
            self.all.iter().any(|protected| {
                let below = [&**protected, &[Part::Any]].concat();
                let directory = &protected[..protected.len().saturating_sub(1)];
                let is_plain = is_literal || head.starts_with(directory);
                is_plain && intersects(&below, &named, Evidence::NotNeeded)
                    || is_known && intersects(protected, &around, Evidence::NotNeeded)
            })
        })
    }

    /// Returns whether a command changes the directory that it names by a path: what copies or creates files writes in it.
    fn is_changed_itself(&self, path: &AccessedPath) -> bool {
        let path = format!("/{}", path.path);
        commands(self.call).any(|command| {
            let words = || command.words.iter().skip(1).map(Word::shape);
            let is_of_directories = match command.words.first().and_then(Word::program) {
                // The directory may be a link.
                Some("ln") => words().any(|word| {
                    word.starts_with('-') && word.trim_start_matches("--").contains(['n', 'T'])
                }),
                program => program.is_some_and(|program| OF_DIRECTORIES.contains(&program)),
            };
            let mut words = words().map(|word| word.trim_start_matches(['\0', '/']));
            let mut names_it =
                || words.any(|word| !word.is_empty() && path.ends_with(&format!("/{word}")));
            is_of_directories && names_it()
        })
    }
}

fn commands<'c>(call: &'c Call<'_>) -> impl Iterator<Item = &'c SimpleCommand> {
    let lines = call.shell_analysis().into_iter();
    lines.flat_map(|line| &line.commands)
}

/// Returns the directory of a call, and those that its shell lines change to, each from the one before.
fn directories(call: &Call<'_>) -> Vec<String> {
    let mut directories = vec![String::new()];
    for command in commands(call) {
        if let [program, words @ ..] = &*command.words
            && matches!(program.program(), Some("cd" | "pushd"))
        {
            let mut words = words.iter().map(Word::shape);
            let word = words.find(|word| !word.starts_with('-')).unwrap_or("\0");
            directories.push(match word.strip_prefix('\0') {
                // A `~`, or a variable that may be the home directory.
                Some(rest) => format!("~{rest}"),
                None => path_in(&directories[directories.len() - 1], word),
            });
        }
    }
    directories
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::super::{PLAIN_PATHS, PathForm, Paths};
    use super::*;

    /// An installed program, with a store and the hooks of a host.
    #[derive(Debug)]
    struct Installed;

    impl Paths for Installed {
        fn forms(&self, path: &str) -> Vec<PathForm> {
            PLAIN_PATHS.forms(path)
        }

        fn ignores_case(&self) -> bool {
            false
        }

        fn protected(&self) -> Vec<String> {
            let mut protected = PLAIN_PATHS.protected();
            let more = [
                ".local/bin/workflow-sidecar",
                ".local/lib/node_modules/workflow-sidecar",
                ".local/state/workflow-sidecar",
                ".codex/hooks.json",
            ];
            protected.extend(more.map(|path| format!("/home/{path}")));
            protected
        }
    }

    fn is_held(tool: &str, input: &serde_json::Value) -> bool {
        let input = to_raw_value(input).expect("a value is JSON");
        denial(&Call::new(tool, Some(&input), &Installed)).is_some()
    }

    #[test]
    fn the_program_its_store_and_its_hooks_are_not_taken_away() {
        for line in [
            "cp /bin/true ~/.local/bin/workflow-sidecar",
            "cp evil/workflow-sidecar ~/.local/bin/",
            "cp -t ~/.local/bin evil/workflow-sidecar",
            "ln -sf /bin/true ~/.local/bin/workflow-sidecar",
            "ln -sfn /tmp/evil ~/.local/bin",
            "mv /tmp/x ~/.local/bin/workflow-sidecar",
            "mv ~/.local/bin/workflow-sidecar x",
            "chmod -x ~/.local/bin/workflow-sidecar",
            "chmod -x ~/.local/bin",
            "chmod -R -x ~/.local",
            "chown nobody ~/.local/state",
            "truncate -s 0 ~/.local/bin/workflow-sidecar",
            "echo > ~/.local/lib/node_modules/workflow-sidecar/dist/index.js",
            "rm -rf ~/.local/lib/node_modules/workflow-sidecar",
            "rm -rf ~/.local/state",
            "rm -r \"$HOME/.local/state\"",
            "rm -rf ~/.local/*",
            "rm -rf ~",
            "rm -rf /",
            "rm -rf /project/..",
            "rmdir ~/.local/state/",
            "mv ~/.local/state x",
            "mv -t /tmp ~/.local",
            "find ~/.local/state -delete",
            "find ~/.local -name workflow-sidecar -delete",
            "find ~/.local -type f -delete",
            "rsync -a --delete /tmp/empty/ ~/.local/state/",
            "git clean -fdx ~/.local",
            "echo '{}' > ~/.codex/hooks.json",
            "cd ~/.codex && echo '{}' > hooks.json",
            "cd ~/.codex; echo '{}' > hooks.json",
            "cd ~/.codex; rm h*.json",
            "cd; cd .codex; echo '{}' > hooks.json",
            "pushd \"$HOME/.codex\"; tee hooks.json < x",
            "(cd ~/.codex || exit; echo '{}' > hooks.json)",
            "cd x; echo a > .pi/workflows/w/a.md",
            "cd ~/.local; rm -rf state",
            "cd ~/.local; chmod -x bin",
        ] {
            assert!(is_held("bash", &json!({ "command": line })), "{line}");
        }
        for (tool, input) in [
            (
                "write",
                json!({ "file_path": "/home/.local/bin/workflow-sidecar", "content": "" }),
            ),
            ("edit", json!({ "path": "~/.codex/hooks.json" })),
            ("delete_directory", json!({ "path": "~/.local/state" })),
            (
                "mcp__fs__move_file",
                json!({ "source": "~/.local/state", "destination": "/tmp/x" }),
            ),
        ] {
            assert!(is_held(tool, &input), "{tool} {input}");
        }
    }

    #[test]
    fn other_files_around_them_are_written() {
        for line in [
            "cat ~/.codex/hooks.json; ls -la ~/.local/bin",
            "cp tool ~/.local/bin/ && chmod +x ~/.local/bin/tool",
            "install -m 755 tool ~/.local/bin",
            "ln -s \"$PWD/tool\" ~/.local/bin",
            "mkdir -p ~/.local/state ~/.local/bin",
            "touch ~/.local/bin/other",
            "rm n; cp n ~/.local/bin",
            "rm ~/.local/bin/other ~/.codex/*.log",
            "mv x ~/.local/state/",
            "tar -xf a.tgz -C ~/.local",
            "rm -rf ~/.local/share ~/.cache/* build dist/*",
            "cd ~/.codex; echo '{}' > other.json",
            "cd web; echo '{}' > hooks.json",
            "cd web; rm -rf dist *.log; chmod +x run",
            "find . -name '*.pyc' -delete",
            "find . -name __pycache__ -exec rm -rf {} +",
            "rm -rf */dist **/node_modules \"$x\"",
            "chmod -R u+w .",
            "npm uninstall -g workflow-sidecar",
        ] {
            assert!(!is_held("bash", &json!({ "command": line })), "{line}");
        }
    }
}
