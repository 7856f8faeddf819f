//! What the programs that run tests say: which tests ran, and what became of them.
//!
//! Each format is a pure function of an output. An output may have several, as that of a script that runs several programs.

mod go;
mod jest;
mod junit;
mod libtest;
mod node;
mod pytest;
mod tap;
mod unittest;
mod vitest;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

pub(super) use junit::read as read_junit;

/// What became of a test; of two results with one name, the later one here counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    Passed,
    /// It did not run, or its result does not count.
    Skipped,
    Failed,
}

/// The tests of one output.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TestRun {
    /// The tests that are named.
    pub(super) named: BTreeMap<String, Outcome>,
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) skipped: usize,
    /// Files and packages whose tests could not be loaded, compiled or set up.
    pub(super) broken: usize,
    /// Seconds of compiling, where they are known.
    pub(super) compiling: f64,
    /// Whether a line has shown that the output has the format.
    is_known: bool,
}

impl TestRun {
    /// The tests that ran.
    pub(super) fn executed(&self) -> usize {
        self.passed + self.failed
    }

    /// Returns the names of the tests with an outcome.
    pub(super) fn with(&self, outcome: Outcome) -> impl Iterator<Item = &str> {
        let named = self.named.iter().filter(move |(_, of)| **of == outcome);
        named.map(|(name, _)| &**name)
    }

    /// Returns true if a test of this name ran.
    pub(super) fn ran(&self, name: &str) -> bool {
        let outcome = self.named.get(name);
        outcome.is_some_and(|outcome| *outcome != Outcome::Skipped)
    }

    /// Notes what became of a test.
    fn name(&mut self, name: impl Into<String>, outcome: Outcome) {
        let noted = self.named.entry(name.into()).or_insert(outcome);
        *noted = outcome.max(*noted);
    }

    /// Notes what became of a test, and counts it.
    fn add(&mut self, name: impl Into<String>, outcome: Outcome) {
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Skipped => self.skipped += 1,
        }
        self.name(name, outcome);
    }

    /// Counts what the summary of a format says in words: `1 failed, 2 passed`.
    fn count_words(&mut self, summary: &str) {
        self.is_known = true;
        for (number, word) in counts(summary) {
            match word {
                "passed" | "xpassed" => self.passed += number,
                "failed" => self.failed += number,
                "skipped" | "xfailed" | "todo" | "ignored" => self.skipped += number,
                "error" | "errors" => self.broken += number,
                _ => (),
            }
        }
    }

    /// Counts a file or package whose tests could not run, as only this format says it.
    fn count_broken(&mut self) {
        self.is_known = true;
        self.broken += 1;
    }

    fn join(mut self, other: Self) -> Self {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.broken += other.broken;
        self.compiling += other.compiling;
        for (name, outcome) in other.named {
            self.name(name, outcome);
        }
        self
    }
}

/// Reads the tests of an output; `None` if it has no known format.
pub(super) fn read(output: &str) -> Option<TestRun> {
    let plain = anstream::adapter::strip_str(output).to_string();
    let formats = [
        libtest::read,
        go::read,
        tap::read,
        node::read,
        jest::read,
        vitest::read,
        pytest::read,
        unittest::read,
    ];
    let runs = formats.into_iter().filter_map(|read| read(&plain));
    runs.reduce(TestRun::join)
}

/// Reads an output line by line; `None` if no line has shown that it has the format.
fn each_line<'o>(output: &'o str, mut read: impl FnMut(&mut TestRun, &'o str)) -> Option<TestRun> {
    let mut run = TestRun::default();
    output.lines().for_each(|line| read(&mut run, line));
    run.is_known.then_some(run)
}

/// Returns the outcome that a word of a runner says.
fn by_word(word: &str) -> Option<Outcome> {
    Some(match word {
        "ok" | "pass" | "PASS" | "PASSED" | "XPASS" | "unexpected success" => Outcome::Passed,
        "fail" | "FAIL" | "FAILED" | "ERROR" => Outcome::Failed,
        "skip" | "SKIP" | "SKIPPED" | "XFAIL" | "ignored" | "skipped" | "expected failure" => {
            Outcome::Skipped
        }
        _ => return None,
    })
}

/// Reads a line that begins with the sign of an outcome: the outcome, and what is behind it.
fn by_sign(line: &str) -> Option<(Outcome, &str)> {
    let (sign, rest) = line.trim_start().split_once(' ')?;
    let outcome = match sign {
        "✓" | "✔" => Outcome::Passed,
        "✕" | "×" | "✖" => Outcome::Failed,
        "○" | "✎" | "↓" | "﹣" => Outcome::Skipped,
        _ => return None,
    };
    Some((outcome, rest))
}

/// Returns the name of a test with those of the groups around it.
fn within(around: &[&str], name: &str) -> String {
    [around, &[name]].concat().join(" > ")
}

/// Returns the name of a test without its file and groups.
pub(super) fn own_name(name: &str) -> &str {
    let name = name.split(" (").next().unwrap_or(name);
    let around = [" > ", "::", "."].into_iter();
    let mut names = around.filter_map(|sign| name.rsplit_once(sign));
    names.next().map_or(name, |(_, own)| own)
}

/// Returns the numbers of a summary, each with the word behind it.
fn counts(summary: &str) -> impl Iterator<Item = (usize, &str)> {
    summary.split([',', ';', '|', '(']).filter_map(|part| {
        let (number, words) = part.trim().split_once(' ')?;
        Some((number.parse().ok()?, words.split(' ').next()?))
    })
}

/// Returns the number of blanks at the beginning of a line.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Removes the time at the end of a name: `(1.2ms)`, `(5 ms)`, `12ms`.
fn without_time(name: &str) -> &str {
    static TIME: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?: [0-9.]+ ?m?s| \([0-9.]+ ?m?s\))?\s*$").ok());
    let time = TIME.as_ref().and_then(|time| time.find(name));
    time.map_or(name, |time| &name[..time.start()])
}

/// Returns true for the path of a file, which node's runner reports as a test.
fn is_file(name: &str) -> bool {
    let ends = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"];
    ends.iter().any(|end| name.ends_with(end)) && !name.contains(' ') || name.starts_with('/')
}

#[cfg(test)]
mod tests;
