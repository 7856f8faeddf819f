//! Built-in rule: what holds in a run changes only with a person's consent.
//!
//! The files that definitions and settings are loaded from, and the session's own file, are read again when the session
//! is; others say which hooks a host runs, are the program that they run, or what it stores. A tool call that plainly writes one
//! of them, or takes a directory around it away, needs consent while a workflow is active or settings have rules. A shell
//! command with unknown effects does not: other rules decide about it.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use serde_json::Map;

use super::arguments::all_texts;
use super::call::Call;
use super::comparisons::COMPARISONS_OF_A_PATH;
use super::decision::Denial;
use super::file_access::{AccessedPath, is_too_many, resolve};
use super::glob_intersection::{Evidence, Part, intersects};
use super::patches::path_in;
use super::path_matcher::parts;
use crate::definition::{Rule, RuleAction};
use crate::diagnostic::shown;
use crate::tool_names::ToolEffect;
use workflow_shell::{AccessKind, FileAccess, Word};

/// The longest text that may be a path, in bytes.
const MAX_PATH_BYTES: usize = 4096;

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
    Some(Denial {
        seen: written(call)?,
        ..Denial::built_in(&RULE)
    })
}

/// Says, for display, which path of a call is protected and written, as the call names it. What is too much to compare counts.
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
    let accessed = &call.accessed_paths().paths;
    let mut written = accessed.iter().filter(|path| path.kind.writes());
    let named = written.find(|path| protected.is_written(path));
    // A tool that changes files may name them in any field.
    let fields = call.fields().filter(|_| changes_files);
    let values = fields.into_iter().flat_map(Map::values);
    let texts = values
        .flat_map(all_texts)
        .filter(|text| !text.is_empty() && text.len() <= MAX_PATH_BYTES && !text.contains('\n'));
    let mut texts = texts.map(|text| text.strip_prefix("file://").unwrap_or(text));
    let mut in_fields = || texts.find(|text| protected.names(text, false, AccessKind::Write));
    let found = named.map(|path| path.path.replace('\0', "…"));
    let found = found.or_else(|| in_fields().map(str::to_owned));
    if is_too_many(accessed.len()) || !call.comparisons().spend(0) {
        return Some("It names too many paths to compare.".to_owned());
    }
    Some(format!("It would write `{}`.", shown(&found?)))
}

/// Counts the comparisons that as long as looking up a path take. Returns whether it may be looked up.
fn may_look_up(call: &Call<'_>, path: &str) -> bool {
    let parts = 4 + path.matches('/').count();
    call.comparisons().spend(parts * COMPARISONS_OF_A_PATH / 20)
}

/// The protected files and directories of a call.
struct Protected<'c> {
    call: &'c Call<'c>,
    /// Their parts, in all their forms.
    all: Vec<Vec<Part>>,
    ignores_case: bool,
    /// The directories in which its shell lines may be.
    directories: BTreeSet<String>,
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
            directories: directories(call),
        }
    }

    /// Returns whether a path that is written as a text is one that is protected.
    fn names(&self, path: &str, is_glob: bool, kind: AccessKind) -> bool {
        let access = FileAccess {
            path: self.call.opened(path).into_owned(),
            is_glob,
            kind,
        };
        !may_look_up(self.call, path)
            || self.is_written(&resolve(&access, self.call.paths, &mut HashMap::new()))
    }

    /// Returns whether a path plainly leads to one of them or below it, or to a directory around one that is taken away: `*.o` in
    /// the project, or a variable, could be anything.
    fn is_written(&self, path: &AccessedPath) -> bool {
        let kind = path.kind;
        if let Some(rest) = path.path.strip_prefix("\0/") {
            // It is not certain that `cd` succeeds, so the directory may be any that the line names.
            let is_glob = rest.contains(['*', '?', '[']);
            let mut directories = self.directories.iter();
            return directories
                .any(|directory| self.names(&path_in(directory, rest), is_glob, kind));
        }
        let is_literal = path.tail.is_empty();
        // What formats or extracts may write anywhere in a directory.
        let takes_tree = kind.includes_tree() && kind != AccessKind::WriteWithin;
        // What git and `find` change in a project is not known to be these files.
        let leaves_project = !matches!(self.call.tool_effect(), ToolEffect::Changes(_));
        path.forms.iter().any(|form| {
            let is_project = is_literal && form.in_project.as_deref() == Some("");
            let is_whole =
                kind == AccessKind::Itself || takes_tree && !(is_project && leaves_project);
            let head = parts(&form.absolute, self.ignores_case);
            let named = [&*head, &path.tail].concat();
            let mut around = named.clone();
            around.extend(is_whole.then_some(Part::Any));
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
}

/// Returns the directory of a call, and those that its shell lines change to, each from the one before.
fn directories(call: &Call<'_>) -> BTreeSet<String> {
    let mut last = BTreeSet::from([String::new()]);
    let mut all = last.clone();
    let lines = call.shell_analysis().into_iter();
    for command in lines.flat_map(|line| &line.commands) {
        if let [program, words @ ..] = &*command.words
            && matches!(program.program(), Some("cd" | "pushd"))
        {
            let mut words = words.iter().map(Word::shape);
            let word = words.find(|word| !word.starts_with('-')).unwrap_or("\0");
            let from = |directory: &String| match word.strip_prefix('\0') {
                // A `~`, or a variable that may be the home directory.
                Some(rest) => format!("~{rest}"),
                None => path_in(directory, word),
            };
            let next: BTreeSet<String> = last.iter().map(from).collect();
            let next = next.iter().filter(|path| may_look_up(call, path));
            let forms = next.flat_map(|path| call.paths.forms(&call.opened(path)));
            last = forms.map(|form| form.absolute).collect();
            all.extend(last.iter().cloned());
        }
    }
    all
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
            "cd ~/.local; cd share; cd ..; rm -rf state",
            "cd ~/.local; chmod -x bin",
            "rm -rf .",
            "rm -rf /project",
            "mv /project /tmp/x",
            "cd ..; rm -rf project",
            "chmod -R 0 .",
            "chmod a-x .; chmod 777 x",
            "chmod -R 655 .",
            "chmod -x +a ~/.local/state",
            "chmod --reference=f +x ~/.local/state",
            "chmod -rx ~/.local/state",
            "chattr +i ~/.local/state",
            "setfacl -m u:me:--- ~/.local/state",
            "install -d -m 000 ~/.local/state",
            "rm --frobnicate ~/.local/state",
            "cp -r x/.pi .",
            "cp -a /tmp/x/.local ~",
            "for f in .pi/workflows/w/a.md; do echo > \"$f\"; done",
            "for d in x ~/.local; do rm -rf \"$d\"; done",
            "HOME=$PWD; echo x > ~/.pi/workflows/w/workflow.yaml",
            "echo x > ~/.pi/workflows/w/workflow.yaml; HOME=$PWD",
            "HOME=$PWD; cd && rm .pi/workflows/w/a.md",
            "for HOME in \"$PWD\"; do rm ~/.pi/workflows/w/a.md; done",
            "export HOME=$PWD; rm ~/.pi/workflows/w/a.md",
            "env HOME=. bash -c 'rm ~/.pi/workflows/w/a.md'",
            "cd; read HOME < x; rm ~/.pi/workflows/w/a.md",
            "eval HO''ME=.; rm ~/.pi/workflows/w/a.md",
            "HOME=$HOME; echo '{}' > ~/.codex/hooks.json",
            "eval -- 'rm .pi/workflows/w/a.md'",
            "c='rm .pi/workflows/w/a.md'; eval \"$c\"",
            "c='rm .pi/workflows/w/a.md'; eval '$c'",
            "f=.pi/workflows/w/a.md; eval 'echo > $f'",
            "trap 'rm .pi/workflows/w/a.md' EXIT",
            "trap -- 'rm .pi/workflows/w/a.md' EXIT INT",
            "trap 'chmod -x' EXIT; trap 'rm -rf .' EXIT",
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
            ("delete_directory", json!({ "path": "." })),
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
            "chmod +x . ~/.local/bin; chmod -R 0755 .",
            "rm --help; chmod --version",
            "git stash; git clean -fdx; git checkout .",
            "cp -r build/. .; cp -r dist ~/.local",
            "for f in a.md ~/.local/bin; do cat \"$f\" > \"$f.out\"; done",
            "for d in dist build; do rm -rf \"$d\"; done",
            "npm uninstall -g workflow-sidecar",
        ] {
            assert!(!is_held("bash", &json!({ "command": line })), "{line}");
        }
    }

    #[test]
    fn what_is_too_much_to_compare_counts_as_protected() {
        let names = |number: usize| (0..number).map(|at| format!("f{at}"));
        let line = |number: usize| {
            let names: Vec<String> = names(number).collect();
            format!("touch {} .pi/workflows/w/a.md", names.join(" "))
        };
        for number in [10, 400, 1001, 5000] {
            let held = is_held("bash", &json!({ "command": line(number) }));
            assert!(held, "{number} files");
            let mut texts: Vec<String> = names(number).collect();
            texts.push(".pi/workflows/w/a.md".to_owned());
            assert!(
                is_held("mcp__fs__write", &json!({ "a": texts })),
                "{number} texts"
            );
            assert!(
                is_held("mcp__fs__write_files", &json!({ "paths": texts })),
                "{number} paths"
            );
        }
        let few: Vec<String> = names(200).collect();
        assert!(!is_held("mcp__fs__write", &json!({ "a": few })));
        let builds = (0..40).map(|at| format!("cd p{at}; make > log{at}; cd ..; "));
        let builds: String = builds.collect();
        assert!(!is_held("bash", &json!({ "command": builds })));
    }
}
