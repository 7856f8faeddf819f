//! Patterns of commands, indexed by the program that they name.
//!
//! A pattern is compared only with commands of its program, so that a line costs no more for patterns of other
//! programs. What is left is bounded for a call as a whole.

use std::collections::HashMap;

use super::call::Call;
use super::comparisons::{COMPARISONS_OF_A_PATH, Comparisons};
use super::deciding_files::{deciding_files, directories_of_git};
use super::file_access::resolve;
use super::globs::Globs;
use super::known::Known;
use super::line_verdict::{command_text, is_of_command};
use super::patches::path_in;
use super::paths::of_shell;
use crate::diagnostic::shown;
use crate::pattern::directory_and_words;
use workflow_shell::{self as shell, AccessKind, Effect, FileAccess, SimpleCommand, Word};

/// The patterns of a rule.
#[derive(Debug, Clone)]
pub(super) struct CommandPatterns {
    patterns: Vec<String>,
    by_program: HashMap<String, Vec<usize>>,
    /// Patterns with a wildcard or a directory in the name of the program.
    others: Vec<usize>,
}

impl CommandPatterns {
    /// Compiles patterns.
    pub(super) fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Self {
        let mut compiled = Self {
            patterns: Vec::new(),
            by_program: HashMap::new(),
            others: Vec::new(),
        };
        for (at, pattern) in patterns.into_iter().enumerate() {
            let (_, words) = directory_and_words(pattern);
            match words.split_whitespace().next() {
                Some(program) if !program.contains(['*', '/']) => {
                    let same = compiled.by_program.entry(program.to_owned());
                    same.or_default().push(at);
                }
                _ => compiled.others.push(at),
            }
            compiled.patterns.push(pattern.to_owned());
        }
        compiled
    }

    pub(super) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns the patterns, for display.
    pub(super) fn texts(&self) -> &[String] {
        &self.patterns
    }

    /// Returns whether a pattern covers one of the commands, in any directory, so that a rule forbids it.
    pub(super) fn match_any(&self, commands: &[SimpleCommand], left: &Comparisons) -> Known {
        let covers = |command| {
            let matches = |pattern: &str| shell::matches(directory_and_words(pattern).1, command);
            self.covers(self.of_program(command), left, matches)
        };
        let mut all = commands.iter().map(covers);
        all.find(|known| *known != Known::No).unwrap_or(Known::No)
    }

    /// Returns the patterns that name the program of a command.
    fn of_program(&self, command: &SimpleCommand) -> &[usize] {
        let program = command.words.first().and_then(Word::program);
        let same = program.and_then(|program| self.by_program.get(program));
        same.map_or(&[], Vec::as_slice)
    }

    /// Returns whether a pattern opens a command of a call; if one has its words and does not, the error says why, for display.
    /// What these globs let the agent write is not run. For `commands`, a `*` at the end of the last word also stands for further words.
    pub(super) fn opens(
        &self,
        command: &SimpleCommand,
        call: &Call<'_>,
        writable: Option<&Globs>,
        is_key: bool,
    ) -> Result<(), Option<String>> {
        // Patterns are about commands, and not about the files and variables that the line gives them.
        if let Effect::Unknown(unknown) = &command.effect
            && !is_of_command(unknown)
        {
            return Err(None);
        }
        let same = self.of_program(command);
        let same = if is_installed(command) { same } else { &[] };
        let mut why = None;
        let known = self.covers(same, call.comparisons(), |pattern| {
            let (directory, words) = directory_and_words(pattern);
            let fits = |words: &str| shell::matches_exactly(words, command);
            let with_more = || is_key && words.ends_with('*') && fits(&format!("{words} *"));
            let has_words = fits(words) || with_more();
            let closed = has_words.then(|| closed(directory, command, call, writable));
            let opens = closed == Some(None);
            why = closed.flatten().or(why.take());
            opens
        });
        if known == Known::Yes {
            Ok(())
        } else {
            Err(why)
        }
    }

    fn covers(
        &self,
        same: &[usize],
        left: &Comparisons,
        mut matches: impl FnMut(&str) -> bool,
    ) -> Known {
        if !left.spend(1 + same.len() + self.others.len()) {
            return Known::Unknown;
        }
        let mut candidates = same.iter().chain(&self.others);
        Known::from(candidates.any(|&at| matches(&self.patterns[at])))
    }
}

/// Returns why a pattern for this directory does not open a command with its words. What only reads runs anywhere.
fn closed(
    directory: &str,
    command: &SimpleCommand,
    call: &Call<'_>,
    writable: Option<&Globs>,
) -> Option<String> {
    let text = command_text(command);
    let but = |why: &str| Some(format!("`{text}` is opened by `commands`, but {why}."));
    if writable.is_some_and(|writable| reads_writable_repository(command, call, writable)) {
        return but("`writable` may open the configuration of its repository");
    }
    if command.effect == Effect::Reads {
        return None;
    }
    let own = command.directory.as_deref();
    if command.has_project_variable {
        return but("not with this variable");
    }
    // What the tables know to write is no code.
    if command.has_input && !matches!(command.effect, Effect::Writes(_)) {
        return but("not with an input");
    }
    let Some(own) = own.filter(|own| call.is_same_directory(own, directory)) else {
        return but("not in this directory");
    };
    let writable = writable.filter(|writable| !writable.is_empty())?;
    let may_write = |file: &String| may_write(writable, own, file, call);
    let file = deciding_files(command).into_iter().find(may_write)?;
    let file = shown(&file.replace('\0', "…"));
    but(&format!(
        "`writable` opens {file}, which may decide what it runs"
    ))
}

/// Returns whether these globs may open a file of a directory.
fn may_write(writable: &Globs, directory: &str, file: &str, call: &Call<'_>) -> bool {
    let access = FileAccess {
        path: of_shell(&path_in(directory, file)).into_owned(),
        is_glob: file.contains(['*', '?', '[']),
        kind: AccessKind::Write,
    };
    let resolved = || resolve(&access, call.paths, &mut HashMap::new());
    !call.comparisons().spend(COMPARISONS_OF_A_PATH)
        || writable.match_access(&resolved(), call.paths) != Some(false)
}

/// Returns whether a command is one of git for a directory that these globs may make a repository.
pub(super) fn reads_writable_repository(
    command: &SimpleCommand,
    call: &Call<'_>,
    writable: &Globs,
) -> bool {
    let may_be_one = |directory: &String| {
        let mut files = ["HEAD", "config", "commondir"].iter();
        files.any(|file| may_write(writable, directory, file, call))
    };
    !writable.is_empty()
        && directories_of_git(command, call).is_none_or(|all| all.iter().any(may_be_one))
}

/// Returns whether a command names its program without a directory, or with one of installed programs: a pattern
/// without a directory does not allow a program of that name in the project.
fn is_installed(command: &SimpleCommand) -> bool {
    let is_one = |word: &Word| match word.text() {
        Some(name) => {
            !name.contains('/') || name.starts_with('/') && shell::is_known_location(word)
        }
        None => false,
    };
    command.words.first().is_some_and(is_one)
}

#[cfg(test)]
mod tests {
    use super::super::paths::PLAIN_PATHS;
    use super::*;
    use workflow_shell::analyze;

    fn any(patterns: &CommandPatterns, line: &str) -> (Known, usize) {
        let commands = analyze(line).commands;
        let left = Comparisons::default();
        let found = patterns.match_any(&commands, &left);
        (found, left.spent())
    }

    fn many(number: usize) -> CommandPatterns {
        let all: Vec<String> = (0..number).map(|at| format!("tool{at} run *")).collect();
        CommandPatterns::new(all.iter().map(String::as_str))
    }

    #[test]
    fn patterns_of_other_programs_cost_nothing() {
        let line = "git status; cat a | grep b; make; ".repeat(500);
        let (few, work_of_few) = any(&many(100), &line);
        let (many, work_of_many) = any(&many(20_000), &line);
        assert_eq!((few, many), (Known::No, Known::No));
        assert!(
            work_of_many <= work_of_few,
            "{work_of_many} > {work_of_few}"
        );
    }

    #[test]
    fn a_pattern_is_found_among_many() {
        let patterns = many(20_000);
        assert_eq!(any(&patterns, "ls; tool19999 run x").0, Known::Yes);
        assert_eq!(any(&patterns, "ls; tool20000 run x").0, Known::No);
        let wildcard = CommandPatterns::new(["rm -rf *", "*doc *"]);
        assert_eq!(any(&wildcard, "rustdoc x").0, Known::Yes);
        assert_eq!(any(&wildcard, "/bin/rm -fr x").0, Known::Yes);
    }

    #[test]
    fn more_comparisons_than_a_call_may_need_are_no_answer() {
        let all: Vec<String> = (0..2000).map(|at| format!("git x{at}")).collect();
        let patterns = CommandPatterns::new(all.iter().map(String::as_str));
        let line = "git y;".repeat(1000);
        assert_eq!(any(&patterns, &line).0, Known::Unknown);
    }

    #[test]
    fn a_program_of_the_project_is_not_opened_by_its_name() {
        let patterns = CommandPatterns::new(["cargo test*", "./run.sh *"]);
        let opens = |line: &str| {
            let commands = analyze(line).commands;
            let call = Call::new("bash", None, &*PLAIN_PATHS);
            patterns.opens(&commands[0], &call, None, true).is_ok()
        };
        for line in [
            "cargo test",
            "cargo test --lib x",
            "/usr/bin/cargo test",
            "./run.sh a b",
        ] {
            assert!(opens(line), "{line}");
        }
        for line in ["cargo build", "./cargo test", "docs/cargo test", "x/run.sh"] {
            assert!(!opens(line), "{line}");
        }
    }
}
