//! Patterns of commands, indexed by the program that they name.
//!
//! A pattern is compared only with commands of its program, so that a line costs no more for patterns of other
//! programs. What is left is bounded for a call as a whole.

use std::cell::Cell;
use std::collections::HashMap;

use super::known::Known;
use workflow_shell::{self as shell, SimpleCommand};

/// The comparisons of patterns with commands for one call. A call that needs more counts as unknown.
const MAX_COMPARISONS: usize = 1_000_000;

/// Directories of programs that a pattern without a directory may allow.
const PROGRAM_DIRECTORIES: [&str; 6] = [
    "/bin/",
    "/sbin/",
    "/usr/bin/",
    "/usr/sbin/",
    "/usr/local/bin/",
    "/opt/homebrew/bin/",
];

/// The comparisons that a call has needed so far.
#[derive(Debug, Default)]
pub(super) struct Comparisons(Cell<usize>);

impl Comparisons {
    /// Takes a number of them; false if there are not so many.
    fn spend(&self, number: usize) -> bool {
        self.0.set(self.0.get().saturating_add(number));
        self.0.get() <= MAX_COMPARISONS
    }
}

fn program(command: &SimpleCommand) -> Option<&str> {
    command.words.first()?.program()
}

/// The patterns of a rule.
#[derive(Debug, Clone, Default)]
pub(super) struct CommandPatterns {
    patterns: Vec<String>,
    by_program: HashMap<String, Vec<usize>>,
    /// Patterns with a wildcard or a directory in the name of the program.
    others: Vec<usize>,
}

impl CommandPatterns {
    pub(super) fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Self {
        let mut compiled = Self::default();
        for (at, pattern) in patterns.into_iter().enumerate() {
            match pattern.split_whitespace().next() {
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

    /// Returns whether a pattern covers one of the commands, so that a rule forbids it.
    pub(super) fn match_any(&self, commands: &[SimpleCommand], left: &Comparisons) -> Known {
        let covers = |command| self.covers(command, self.of_program(command), left, shell::matches);
        let mut all = commands.iter().map(covers);
        all.find(|known| *known != Known::No).unwrap_or(Known::No)
    }

    /// Returns the patterns that name the program of a command.
    fn of_program(&self, command: &SimpleCommand) -> &[usize] {
        let same = program(command).and_then(|program| self.by_program.get(program));
        same.map_or(&[], Vec::as_slice)
    }

    /// Returns whether a pattern covers a command completely, so that a rule allows it.
    pub(super) fn allows(&self, command: &SimpleCommand, left: &Comparisons) -> Known {
        self.covers_exactly(command, left, shell::matches_exactly)
    }

    /// Returns whether a pattern of `commands` covers a command completely. A `*` at the end of its last word also stands
    /// for further words.
    pub(super) fn opens(&self, command: &SimpleCommand, left: &Comparisons) -> Known {
        self.covers_exactly(command, left, |pattern, command| {
            shell::matches_exactly(pattern, command)
                || pattern.ends_with('*')
                    && shell::matches_exactly(&format!("{pattern} *"), command)
        })
    }

    fn covers_exactly(
        &self,
        command: &SimpleCommand,
        left: &Comparisons,
        matches: fn(&str, &SimpleCommand) -> bool,
    ) -> Known {
        let same = if is_installed(command) {
            self.of_program(command)
        } else {
            &[]
        };
        self.covers(command, same, left, matches)
    }

    fn covers(
        &self,
        command: &SimpleCommand,
        same: &[usize],
        left: &Comparisons,
        matches: fn(&str, &SimpleCommand) -> bool,
    ) -> Known {
        if !left.spend(1 + same.len() + self.others.len()) {
            return Known::Unknown;
        }
        let mut candidates = same.iter().chain(&self.others);
        Known::from(candidates.any(|&at| matches(&self.patterns[at], command)))
    }
}

/// Returns whether a command names its program without a directory, or with one of installed programs: a pattern
/// without a directory does not allow a program of that name in the project.
fn is_installed(command: &SimpleCommand) -> bool {
    let Some(name) = command.words.first().and_then(|word| word.text()) else {
        return false;
    };
    let in_directory = |directory: &&str| {
        let rest = name.strip_prefix(*directory);
        rest.is_some_and(|rest| !rest.contains('/'))
    };
    !name.contains('/') || PROGRAM_DIRECTORIES.iter().any(in_directory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use workflow_shell::analyze;

    fn any(patterns: &CommandPatterns, line: &str) -> (Known, usize) {
        let commands = analyze(line).commands;
        let left = Comparisons::default();
        let found = patterns.match_any(&commands, &left);
        (found, left.0.get())
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
            patterns.opens(&commands[0], &Comparisons::default())
        };
        for line in [
            "cargo test",
            "cargo test --lib x",
            "/usr/bin/cargo test",
            "./run.sh a b",
        ] {
            assert_eq!(opens(line), Known::Yes, "{line}");
        }
        for line in ["cargo build", "./cargo test", "docs/cargo test", "x/run.sh"] {
            assert_eq!(opens(line), Known::No, "{line}");
        }
    }
}
