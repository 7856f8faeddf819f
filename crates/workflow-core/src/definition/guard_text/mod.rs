//! Texts of guards: names of tools, paths, commands, regular expressions, words of a program, files.
//!
//! Each kind is checked where its type is read, so that all keys of the type have the check. A text that can never act is an
//! error with what to write instead. The checks see the text alone: what depends on a machine is none of theirs.

mod commands;
mod paths;
mod regexes;
mod tools;
mod words;

use std::borrow::Cow;

use crate::definition::syntax::{Span, TYPOGRAPHIC_QUOTES};
use crate::diagnostic::{Code, Finding, Severity, shown};
use crate::pattern::{ProjectGlob, check_glob, regex};
use crate::template::{self, Family, Piece, TemplateKind, pieces};
use crate::white_space::trim;

pub(crate) use commands::is_one_command;
pub(crate) use words::command_finding;

/// The pattern of the name of a tool, which has no white space at its ends.
pub(crate) const TOOL_NAME: &str = "^\\S([\\s\\S]*\\S)?$";

/// The kind of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GuardText {
    /// The name of a tool.
    Tool,
    /// The name of a tool, with `*` for any characters.
    ToolPattern,
    /// A glob of files.
    Path,
    /// A pattern of commands.
    Command,
    /// A regular expression.
    Regex,
    /// The program of a command that runs without a shell.
    Program,
    /// An argument of such a command.
    Argument,
    /// The path of a file of the project, or a glob.
    Files,
    /// The path of one file of the project.
    File,
    /// The path of a directory of the project.
    Directory,
    /// The value of an environment variable.
    Variable,
    /// A number, a name or a word.
    Value,
}

/// The code of a mistake that the kind of its text decides.
const OF_KIND: Code = Code::InvalidValue;

/// The reason why a text can never act, and what to write instead. The text and its location are not in it yet.
fn mistake(why: impl Into<String>, help: impl Into<Cow<'static, str>>) -> Finding {
    Finding::error(OF_KIND, None, why).help(help)
}

/// Why a sign of regular expressions is none.
fn no_regex(sign: &str) -> String {
    format!("it is not a regular expression, so `{sign}` has no special meaning")
}

/// A mistake with one correction.
fn corrected(why: impl Into<String>, text: &str, to: &str) -> Finding {
    mistake(why, format!("write `{}`", shown(to))).fix(text, to)
}

impl GuardText {
    /// Returns true if it is the name of a tool.
    pub(crate) fn is_tool(self) -> bool {
        matches!(self, Self::Tool | Self::ToolPattern)
    }

    /// Returns true for a path in the project.
    pub(crate) fn is_path(self) -> bool {
        matches!(self, Self::Files | Self::File | Self::Directory)
    }

    /// Returns true if values of the run that have a closed type may be in it.
    pub(crate) fn takes_values(self) -> bool {
        matches!(
            self,
            Self::Argument | Self::Files | Self::File | Self::Directory | Self::Variable
        )
    }

    /// The finding about a text that is invalid, or can never act.
    pub(crate) fn invalid(self, text: &str, span: Option<Span>) -> Option<Finding> {
        let text = &*self.with_sample(text);
        if self == Self::Variable {
            let message = "the value of a variable cannot contain a null character";
            if text.contains('\0') {
                return Some(Finding::error(Code::InvalidValue, span, message));
            }
            return self.finding(text, span);
        }
        if trim(text).is_empty() && !self.is_tool() {
            let message = "an empty pattern matches nothing";
            return Some(Finding::error(Code::InvalidValue, span, message));
        }
        if let Some(finding) = self.finding(text, span) {
            return Some(finding);
        }
        let error = match self {
            Self::Path => check_glob(text).err()?,
            Self::Regex => regex(text).err()?,
            Self::Files => ProjectGlob::read(text)?.err()?,
            Self::Directory if leaves_project(text) => {
                let text = shown(text);
                let message = format!("`cwd` must be a directory in the project, not `{text}`");
                let finding = Finding::error(Code::PathRefused, span, message);
                let help = "write it from the project's root: `cwd: packages/api`";
                return Some(finding.help(help));
            }
            _ => return None,
        };
        // The last line: those of regular expressions draw a picture above it.
        let last = error.lines().last().unwrap_or_default();
        let why = shown(last.trim_start_matches("error: "));
        let message = format!("`{}` is not a valid pattern: {why}", shown(text));
        Some(Finding::error(Code::Pattern, span, message).help("correct the pattern"))
    }

    /// The finding about a text that can never act.
    pub(crate) fn finding(self, text: &str, span: Option<Span>) -> Option<Finding> {
        let text = &*self.with_sample(text);
        let mistake = self.foreign(text).or_else(|| match self {
            Self::Tool => tools::name(text, false),
            Self::ToolPattern => tools::name(text, true),
            Self::Path => paths::files(text),
            Self::Command => commands::pattern(text),
            Self::Regex => regexes::pattern(text),
            Self::Program => words::program(text),
            Self::Argument | Self::Directory | Self::Variable | Self::Value => None,
            Self::Files => paths::file(text),
            Self::File => paths::file(text).or_else(|| paths::glob(text)),
        })?;
        let (of_kind, before, after) = self.verdict();
        let perhaps = match mistake.severity {
            Severity::Error => "",
            Severity::Warning | Severity::Info => "perhaps ",
        };
        let (text, why) = (shown(text), &mistake.message);
        let code = Some(mistake.code).filter(|code| *code != OF_KIND);
        Some(Finding {
            code: code.unwrap_or(of_kind),
            span,
            message: format!("{perhaps}{before}`{text}`{after}: {why}"),
            ..mistake
        })
    }

    /// Texts that no guard takes: in typographic quotes, or with a variable of the run.
    fn foreign(self, text: &str) -> Option<Finding> {
        let inner = text.trim_matches(TYPOGRAPHIC_QUOTES);
        if self != Self::Variable && inner.len() != text.len() && !inner.is_empty() {
            let why = "typographic quotes are part of the text";
            return Some(corrected(why, text, inner));
        }
        let help = "write the value itself: variables are in texts, and those of closed types in arguments of `run`, `cwd`, `env`, `file` and `show`";
        variable(text).map(|name| mistake(format!("`{{{name}}}` is not replaced here"), help))
    }

    /// The text with any value of the run in place of its variables, if it takes values.
    fn with_sample(self, text: &str) -> Cow<'_, str> {
        if !self.takes_values() || variable(text).is_none() {
            return text.into();
        }
        template::resolve(text, |name| Family::of(name).map(|_| "x")).into()
    }

    /// The code of a mistake, and the words around the text in its message.
    fn verdict(self) -> (Code, &'static str, &'static str) {
        match self {
            Self::Tool | Self::ToolPattern => (Code::NoToolName, "no tool is named ", ""),
            Self::Path => (Code::DeadPath, "", " matches no file"),
            Self::Command => (Code::DeadCommandPattern, "", " matches no command"),
            Self::Regex => (Code::Pattern, "", " is not a valid pattern"),
            Self::Program => (Code::InvalidValue, "no program is named ", ""),
            Self::Argument => (Code::InvalidValue, "", " is not the argument that is meant"),
            Self::Files | Self::File => (Code::DeadPath, "", " is not a file"),
            Self::Directory => (Code::DeadPath, "", " is not a directory"),
            Self::Variable | Self::Value => {
                (Code::InvalidValue, "", " is not the value that is meant")
            }
        }
    }
}

/// Returns true if a path is not certainly inside the project.
pub(crate) fn leaves_project(path: &str) -> bool {
    path.starts_with(['/', '~', '\\'])
        || path.contains('\0')
        || path.split(['/', '\\']).any(|part| part == "..")
}

/// Returns the first variable of a text that is a value of the run.
pub(crate) fn variable(text: &str) -> Option<&str> {
    pieces(text).find_map(|piece| match piece {
        Piece::Variable(name, _) => {
            let is_value = Family::of(name).is_some() || TemplateKind::is_of_run(name);
            is_value.then_some(name)
        }
        Piece::Text(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistakes<'t>(kind: GuardText, texts: &[&'t str]) -> Vec<&'t str> {
        let mut found = texts.to_vec();
        found.retain(|text| {
            let finding = kind.finding(text, None);
            finding.is_some_and(|finding| finding.severity == Severity::Error)
        });
        found
    }

    fn assert_mistakes(kind: GuardText, texts: &[&str]) {
        assert_eq!(mistakes(kind, texts), texts);
    }

    fn assert_none(kind: GuardText, texts: &[&str]) {
        assert_eq!(mistakes(kind, texts), [""; 0]);
    }

    #[test]
    fn typographic_quotes_are_no_quotes() {
        let kinds = [
            GuardText::Tool,
            GuardText::ToolPattern,
            GuardText::Path,
            GuardText::Command,
            GuardText::Regex,
            GuardText::Program,
            GuardText::Argument,
            GuardText::Files,
            GuardText::File,
        ];
        for kind in kinds {
            assert_mistakes(kind, &["“edit”", "‘edit’", "«edit»", "“edit", "edit”"]);
        }
        assert_none(GuardText::Path, &["docs/L’avenir/**", "docs/“a” b.md"]);
        assert_none(GuardText::Regex, &["[“”]", "it’s"]);
    }

    #[test]
    fn a_value_of_the_run_is_replaced_in_arguments_and_files_only() {
        assert_mistakes(GuardText::Path, &["{inputs.dir}/**", "docs/{outputs.a.b}"]);
        assert_mistakes(GuardText::Command, &["npm test {inputs.name}"]);
        assert_mistakes(GuardText::Program, &["{inputs.program}"]);
        assert_none(GuardText::File, &["{inputs.plan}", "{visits.a}.md"]);
        assert_none(
            GuardText::Path,
            &["{docs,src}/**", "src/{inputs,outputs}/*.rs"],
        );
        assert_none(
            GuardText::Command,
            &["awk {print}", "git stash drop stash@{0}"],
        );
    }

    #[test]
    fn the_name_of_a_tool_of_a_server_is_perhaps_no_command() {
        let found = GuardText::Command.finding("mcp__x__y", None).unwrap();
        assert_eq!(found.severity, Severity::Warning);
        let help = found.help;
        assert!(help.contains("write `{tool: mcp__x__y}`"), "{help}");
        let command = GuardText::Command.finding("mcp-inspector mcp__x__y", None);
        assert_eq!(command, None);
    }

    #[test]
    fn a_slip_in_the_name_of_a_usual_tool_is_an_error_and_another_name_is_none() {
        assert_mistakes(
            GuardText::Tool,
            &["bsh", "editt", "wirte", "Bsh", "raed", "greep"],
        );
        assert_none(
            GuardText::Tool,
            &[
                "exit",
                "head",
                "lsp",
                "hash",
                "bind",
                "ugrep",
                "edits",
                "Bash",
                "ask",
                "read_file",
            ],
        );
        assert_mistakes(GuardText::Tool, &["mcp__*", "read, edit", "src/**", ".env"]);
        assert_none(
            GuardText::ToolPattern,
            &["mcp__*", "*", "functions.exec", "server/tool"],
        );
    }

    #[test]
    fn a_path_is_a_glob_with_slashes_from_the_project() {
        assert_mistakes(
            GuardText::Path,
            &[
                "!src/**",
                "src\\**",
                "src\\lib\\a.rs",
                "src/.*\\.js",
                "^src/",
                "src/(a|b)",
                ".js$",
                "/docs/**",
                "$HOME/.ssh/**",
                "${HOME}/.ssh/**",
            ],
        );
        assert_none(
            GuardText::Path,
            &[
                "./!src/**",
                "src/.*",
                "app/\\[id\\]/page.tsx",
                "app/(group)/page.tsx",
                "routes/$postId.tsx",
                "$types.d.ts",
                "//docs/**",
                "/nfs/secret/**",
                "/etc/**",
                "/app/src/**",
                "~/.ssh/**",
                "*.min.js",
                "c++/**",
                "{src,lib}/**",
            ],
        );
    }

    #[test]
    fn a_path_that_may_be_meant_as_it_is_has_no_correction() {
        let fix = |path| GuardText::Path.finding(path, None).unwrap().fix;
        assert_eq!(fix("src\\lib\\a.rs").unwrap().to, "src/lib/a.rs");
        for path in [
            "/nfs/secret/**",
            "/docs/**",
            "docs/\\*.md",
            "My\\ Documents/**",
            "a\\\\b",
            "app\\[id\\]\\a.tsx",
        ] {
            assert!(fix(path).is_none(), "{path}");
        }
    }

    #[test]
    fn a_command_is_words_of_one_program() {
        assert_mistakes(
            GuardText::Command,
            &[
                "^git push",
                "npm test && rm x",
                "a | b",
                "GIT PUSH",
                "Git push",
                "-m",
                "--quiet",
                "git commit -m \"x\"",
            ],
        );
        assert_none(
            GuardText::Command,
            &[
                "git push *",
                "R CMD check",
                "Rscript *",
                "MyTool *",
                "git grep a|b",
                "grep -E a|b *",
                "find * -exec * ;",
                "*",
                "./scripts/count *",
            ],
        );
    }

    #[test]
    fn a_regular_expression_has_no_slashes_around_it() {
        assert_mistakes(
            GuardText::Regex,
            &["/sk-.*/g", "/x/gi", "/^v\\d+$/", "/a\\/b/i"],
        );
        assert_none(
            GuardText::Regex,
            &["/home/", "/usr/lib/g", "sk-[a-z]+", "^/api/v1/"],
        );
    }

    #[test]
    fn a_directory_is_no_file_and_what_is_shown_is_no_glob() {
        assert_mistakes(GuardText::File, &["docs/", "docs/*.md", "docs\\plan.md"]);
        assert_mistakes(GuardText::Files, &["docs/", "docs\\*.md", "“docs/plan.md”"]);
        assert_none(
            GuardText::Files,
            &["docs/*.md", "{test_*.py,tests/**}", "app/\\[id\\]/*"],
        );
        assert_none(
            GuardText::File,
            &["docs/plan.md", "app/[id]/page.tsx", "docs"],
        );
    }
}
