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
}

impl TestRun {
    /// The tests that ran.
    pub(super) fn executed(&self) -> usize {
        self.passed + self.failed
    }

    /// Notes what became of a test.
    fn name(&mut self, name: impl Into<String>, outcome: Outcome) {
        let noted = self.named.entry(name.into()).or_insert(outcome);
        *noted = outcome.max(*noted);
    }

    /// Notes what became of a test, and counts it.
    fn add(&mut self, name: impl Into<String>, outcome: Outcome) {
        self.count(1, outcome);
        self.name(name, outcome);
    }

    fn count(&mut self, number: usize, outcome: Outcome) {
        *match outcome {
            Outcome::Passed => &mut self.passed,
            Outcome::Failed => &mut self.failed,
            Outcome::Skipped => &mut self.skipped,
        } += number;
    }

    /// Counts what a summary says in words: `1 failed, 2 passed`.
    fn count_words(&mut self, summary: &str) {
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

    fn join(mut self, other: Self) -> Self {
        for (outcome, number) in [
            (Outcome::Passed, other.passed),
            (Outcome::Failed, other.failed),
            (Outcome::Skipped, other.skipped),
        ] {
            self.count(number, outcome);
        }
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
    let is_time = |time: &str| {
        let number = time.trim_end_matches('s').trim_end_matches('m').trim();
        time.ends_with('s') && number.parse::<f64>().is_ok()
    };
    let name = name.trim_end();
    let in_brackets = name
        .strip_suffix(')')
        .and_then(|name| name.rsplit_once(" ("));
    match in_brackets.or_else(|| name.rsplit_once(' ')) {
        Some((name, time)) if is_time(time) => name.trim_end(),
        _ => name,
    }
}

/// Returns true for the path of a file, which node's runner reports as a test.
fn is_file(name: &str) -> bool {
    let ends = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"];
    ends.iter().any(|end| name.ends_with(end)) && !name.contains(' ') || name.starts_with('/')
}

#[cfg(test)]
mod tests;
