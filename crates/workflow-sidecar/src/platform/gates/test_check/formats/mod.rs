//! What the programs that run tests say: which tests ran, and what became of them.
//!
//! Each format is a pure function of an output. An output may have several, as that of a script that runs several programs.

mod junit;
mod lines;
mod reader;

use std::collections::BTreeMap;

pub(super) use junit::read as read_junit;
pub(super) use reader::read;

/// Characters of the longest name, and of one that is around others.
const LONGEST: usize = 1000;
const LONGEST_PART: usize = 500;
/// Bytes of all names together.
const NAMES: usize = 32 * 1024 * 1024;

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
    /// Bytes of the names. Above the bound none is noted.
    size: usize,
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

    /// Returns the names of the tests that ran here, and not in another run.
    pub(super) fn ran_without(&self, other: &Self) -> Vec<&str> {
        let names = self.named.keys().map(String::as_str);
        let names = names.filter(|name| self.ran(name) && !other.ran(name));
        names.collect()
    }

    /// Notes what became of a test.
    fn name(&mut self, name: impl Into<String>, outcome: Outcome) {
        let name = name.into();
        if !self.named.contains_key(&name) {
            self.size += name.len();
        }
        if self.has_all_names() {
            let noted = self.named.entry(name).or_insert(outcome);
            *noted = outcome.max(*noted);
        }
    }

    /// Returns true if the names are not too long together.
    fn has_all_names(&self) -> bool {
        self.size <= NAMES
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

    /// Counts what a summary says: `1 failed, 2 passed`, `failures=1, skipped=2`.
    fn count(&mut self, summary: &str) {
        for part in summary.split([',', ';', '|', '(']) {
            let part = part.trim();
            let named = part.split_once('=').map(|(words, number)| (number, words));
            let (number, words) = named.or(part.split_once(' ')).unwrap_or_default();
            let number = number.parse::<usize>().unwrap_or_default();
            match words.split(' ').next().unwrap_or_default() {
                "passed" | "xpassed" => self.passed += number,
                "failed" | "failures" | "unexpected" | "timed" | "exec" => self.failed += number,
                "skipped" | "xfailed" | "todo" | "ignored" | "expected" => self.skipped += number,
                "error" | "errors" => self.broken += number,
                _ => (),
            }
        }
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
        // Names that one of them left out are missing here too.
        self.size = self.size.max(other.size);
        self
    }
}

/// Returns the name of a test in its file and groups, or the beginning of it.
fn full_name<'a>(parts: impl IntoIterator<Item = &'a str>, sign: &str) -> String {
    let mut full = String::new();
    for part in parts {
        let room = LONGEST.saturating_sub(full.len());
        if room == 0 {
            break;
        }
        if !full.is_empty() {
            full += sign;
        }
        full.extend(part.chars().take(room.min(LONGEST_PART)));
    }
    full
}

/// Returns the name of a test without its file and groups.
pub(super) fn own_name(name: &str) -> &str {
    let name = name.split(" (").next().unwrap_or(name);
    let around = [" > ", "::", "."].into_iter();
    let mut names = around.filter_map(|sign| name.rsplit_once(sign));
    names.next().map_or(name, |(_, own)| own)
}

#[cfg(test)]
mod tests;
