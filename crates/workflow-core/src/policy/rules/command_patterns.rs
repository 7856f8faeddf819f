//! Patterns of commands, indexed by the program that they name.
//!
//! A pattern is compared only with commands of its program, so that a line costs no more for patterns of other
//! programs. What is left is bounded for a call as a whole.

use std::cell::Cell;
use std::collections::HashMap;

use workflow_shell::{self as shell, SimpleCommand};

/// The comparisons of patterns with commands for one call. A call that needs more counts as unknown.
const MAX_COMPARISONS: u32 = 1_000_000;

/// Directories of programs that a pattern without a directory may allow.
const PROGRAM_DIRECTORIES: [&str; 6] = [
    "/bin/",
    "/sbin/",
    "/usr/bin/",
    "/usr/sbin/",
    "/usr/local/bin/",
    "/opt/homebrew/bin/",
];

/// The comparisons that are left to a call.
#[derive(Debug)]
pub(super) struct Comparisons(Cell<u32>);

/// The call has no comparisons left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMany;

impl Default for Comparisons {
    fn default() -> Self {
        Self(Cell::new(MAX_COMPARISONS))
    }
}

impl Comparisons {
    fn spend(&self, number: usize) -> Result<(), TooMany> {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let left = self.0.get().checked_sub(number);
        self.0.set(left.unwrap_or(0));
        left.map(drop).ok_or(TooMany)
    }

    /// Returns how many were needed.
    #[cfg(test)]
    fn spent(&self) -> u32 {
        MAX_COMPARISONS - self.0.get()
    }
}

/// The commands of a line, by the names of their programs.
#[derive(Debug, Default)]
pub(super) struct CommandsByProgram {
    by_program: HashMap<String, Vec<usize>>,
}

impl CommandsByProgram {
    pub(super) fn new(commands: &[SimpleCommand]) -> Self {
        let mut by_program: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, command) in commands.iter().enumerate() {
            if let Some(program) = program(command) {
                by_program.entry(program.to_owned()).or_default().push(at);
            }
        }
        Self { by_program }
    }
}

fn program(command: &SimpleCommand) -> Option<&str> {
    command.words.first()?.program()
}

/// The indexes of the patterns and of the commands of one program.
type SameProgram<'a> = (&'a [usize], &'a [usize]);

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
    pub(super) fn match_any(
        &self,
        commands: &[SimpleCommand],
        by_program: &CommandsByProgram,
        left: &Comparisons,
    ) -> Result<bool, TooMany> {
        let compare = |pattern: usize, command: usize| {
            shell::matches(&self.patterns[pattern], &commands[command])
        };
        for (same, at) in self.same_program(by_program, left)? {
            left.spend(same.len().saturating_mul(at.len()))?;
            let mut pairs = same.iter().flat_map(|p| at.iter().map(move |c| (*p, *c)));
            if pairs.any(|(pattern, command)| compare(pattern, command)) {
                return Ok(true);
            }
        }
        left.spend(self.others.len().saturating_mul(commands.len()))?;
        let mut others = self.others.iter();
        Ok(others.any(|&pattern| (0..commands.len()).any(|command| compare(pattern, command))))
    }

    /// Returns the patterns and the commands of each program that both have.
    fn same_program<'a>(
        &'a self,
        commands: &'a CommandsByProgram,
        left: &Comparisons,
    ) -> Result<Vec<SameProgram<'a>>, TooMany> {
        let (few, many, is_swapped) = if self.by_program.len() <= commands.by_program.len() {
            (&self.by_program, &commands.by_program, false)
        } else {
            (&commands.by_program, &self.by_program, true)
        };
        left.spend(few.len())?;
        let pairs = few.iter().filter_map(|(program, of_few)| {
            let of_many = many.get(program)?;
            Some(if is_swapped {
                (of_many.as_slice(), of_few.as_slice())
            } else {
                (of_few.as_slice(), of_many.as_slice())
            })
        });
        Ok(pairs.collect())
    }

    /// Returns whether a pattern covers a command completely, so that a rule allows it.
    pub(super) fn allows(
        &self,
        command: &SimpleCommand,
        left: &Comparisons,
    ) -> Result<bool, TooMany> {
        self.covers(command, left, shell::matches_exactly)
    }

    /// Returns whether a pattern of `commands` covers a command completely. A `*` at the end of its last word also stands
    /// for further words.
    pub(super) fn opens(
        &self,
        command: &SimpleCommand,
        left: &Comparisons,
    ) -> Result<bool, TooMany> {
        self.covers(command, left, |pattern, command| {
            shell::matches_exactly(pattern, command)
                || pattern.ends_with('*')
                    && shell::matches_exactly(&format!("{pattern} *"), command)
        })
    }

    fn covers(
        &self,
        command: &SimpleCommand,
        left: &Comparisons,
        matches: fn(&str, &SimpleCommand) -> bool,
    ) -> Result<bool, TooMany> {
        let program = program(command);
        let same = program.and_then(|program| self.by_program.get(program));
        let same = same.filter(|_| is_installed(command));
        let candidates = same.into_iter().flatten().chain(&self.others);
        left.spend(1 + same.map_or(0, Vec::len) + self.others.len())?;
        Ok(candidates
            .into_iter()
            .any(|&at| matches(&self.patterns[at], command)))
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

    fn any(patterns: &CommandPatterns, line: &str) -> (Result<bool, TooMany>, u32) {
        let commands = analyze(line).commands;
        let left = Comparisons::default();
        let found = patterns.match_any(&commands, &CommandsByProgram::new(&commands), &left);
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
        assert_eq!((few, many), (Ok(false), Ok(false)));
        assert!(
            work_of_many <= work_of_few,
            "{work_of_many} > {work_of_few}"
        );
    }

    #[test]
    fn a_pattern_is_found_among_many() {
        let patterns = many(20_000);
        assert_eq!(any(&patterns, "ls; tool19999 run x").0, Ok(true));
        assert_eq!(any(&patterns, "ls; tool20000 run x").0, Ok(false));
        let wildcard = CommandPatterns::new(["rm -rf *", "*doc *"]);
        assert_eq!(any(&wildcard, "rustdoc x").0, Ok(true));
        assert_eq!(any(&wildcard, "/bin/rm -fr x").0, Ok(true));
    }

    #[test]
    fn more_comparisons_than_a_call_may_need_are_no_answer() {
        let all: Vec<String> = (0..2000).map(|at| format!("git x{at}")).collect();
        let patterns = CommandPatterns::new(all.iter().map(String::as_str));
        let line = "git y;".repeat(1000);
        assert_eq!(any(&patterns, &line).0, Err(TooMany));
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
            assert_eq!(opens(line), Ok(true), "{line}");
        }
        for line in ["cargo build", "./cargo test", "docs/cargo test", "x/run.sh"] {
            assert_eq!(opens(line), Ok(false), "{line}");
        }
    }
}
