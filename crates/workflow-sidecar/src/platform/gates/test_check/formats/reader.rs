//! The tests of an output, from what its lines say.

use std::collections::BTreeMap;

use regex::Captures;
use serde_json::Value;

use super::lines::{self, Format, Says};
use super::{Outcome, TestRun, full_name};

/// Reads the tests of an output; `None` if it has no known format.
pub(in super::super) fn read(output: &str) -> Option<TestRun> {
    let plain = anstream::adapter::strip_str(output).to_string();
    let mut readers: BTreeMap<Format, Reader> = BTreeMap::new();
    for line in plain.lines() {
        for (format, says, found) in lines::read(line) {
            let new = || Reader {
                is_over: format.has_lists(),
                ..Reader::default()
            };
            let reader = readers.entry(format).or_insert_with(new);
            reader.read(format, says, line, &found);
        }
    }
    if let Some(unittest) = readers.get_mut(&Format::Unittest) {
        unittest.count_rest();
    }
    let known = readers.into_values().filter(|reader| reader.is_known);
    let runs = known.map(|mut reader| {
        if reader.run.failed + reader.run.broken == 0 {
            // A test has written a line that looks so.
            let named = &mut reader.run.named;
            named.retain(|_, outcome| *outcome != Outcome::Failed);
        }
        reader.run
    });
    let run = runs.reduce(TestRun::join);
    run.filter(TestRun::has_all_names)
}

/// What the lines of a format have said so far.
#[derive(Default)]
struct Reader {
    run: TestRun,
    /// Whether a line has shown that the output has the format.
    is_known: bool,
    /// Whether no tests are listed here.
    is_over: bool,
    /// The names around a line: the file or program, and the groups.
    around: Vec<String>,
    /// How many names were around the last result.
    depth: usize,
    /// Whether the last result failed inside of a test around it.
    failed_inside: bool,
    /// The package of the last test of Go that failed; one that fails without such a test is broken.
    failed_package: String,
    /// How many tests of Python ran, also those that stand for a file that cannot be loaded.
    number: usize,
    unloaded: usize,
}

impl Reader {
    fn read(&mut self, format: Format, says: Says, line: &str, found: &Captures<'_>) {
        let named = |name| found.name(name).map(|text| text.as_str());
        let text = named("text").unwrap_or_default();
        let indent = if format == Format::Tap { 4 } else { 2 };
        let at = named("at").map(|blanks| blanks.len() / indent);
        let around = named("around").map(str::to_owned);
        self.is_known |= matches!(
            says,
            Says::Known | Says::Broken | Says::Summary | Says::Number
        );
        match says {
            Says::Known | Says::Result => (),
            Says::Broken if format == Format::Unittest => self.unloaded += 1,
            Says::Broken => self.run.broken += usize::from(named("file") == named("again")),
            Says::Summary => {
                self.is_over = format.has_lists();
                self.run.count(text);
            }
            Says::Number => self.number += text.parse::<usize>().unwrap_or_default(),
            Says::Compiled => {
                let number = |name| named(name).and_then(|text| text.parse::<f64>().ok());
                let minutes = number("minutes").unwrap_or_default();
                self.run.compiling += minutes * 60.0 + number("seconds").unwrap_or_default();
            }
            Says::Uncounted => {
                self.number += 1;
                self.around = around.into_iter().collect();
            }
            Says::Begins => {
                self.is_over = false;
                if let Some(around) = around {
                    self.around = vec![around];
                }
            }
            Says::Ends => self.is_over = true,
            Says::Group if self.is_over => (),
            Says::Group => {
                self.depth = at.unwrap_or_default();
                self.around.truncate(self.depth);
                self.around.extend(around);
            }
            Says::Event => self.event(line),
        }
        let failed = named("failed").map(|_| Outcome::Failed);
        if let Some(outcome) = failed.or_else(|| named("word").and_then(outcome_of))
            && !self.is_over
        {
            if let Some(name) = named("name").filter(|_| named("try").is_some()) {
                // Its last try counts.
                self.run.named.remove(name);
            }
            self.result(format, at, named("name"), outcome);
        }
    }

    /// Notes what became of a test.
    fn result(&mut self, format: Format, at: Option<usize>, name: Option<&str>, outcome: Outcome) {
        let around = self.around.iter().map(String::as_str);
        let names = around.take(at.unwrap_or(usize::MAX)).chain(name);
        let sign = if format == Format::Cargo { " " } else { " > " };
        let full = full_name(names, sign);
        if !matches!(format, Format::Go | Format::Tap | Format::Node) {
            if !full.is_empty() {
                // A summary counts it.
                self.run.name(full, outcome);
            }
            return;
        }
        let at = at.unwrap_or_default();
        let is_around = std::mem::replace(&mut self.depth, at) > at;
        let failed = outcome == Outcome::Failed;
        // A test around others ran only as they did, unless it fails by itself.
        if name.is_some_and(is_file) {
            self.run.broken += usize::from(failed);
        } else if !is_around || (failed && !self.failed_inside) {
            self.run.add(full, outcome);
        }
        self.failed_inside = failed || (self.failed_inside && at > 0 && !is_around);
    }

    /// Reads a line of `go test -json`.
    fn event(&mut self, line: &str) {
        let event: Value = serde_json::from_str(line).unwrap_or_default();
        let field = |key| event[key].as_str();
        let (package, test) = (field("Package").unwrap_or_default(), field("Test"));
        self.is_known |= field("Action").is_some();
        let Some(outcome) = field("Action").and_then(outcome_of) else {
            return;
        };
        let failed = outcome == Outcome::Failed;
        if let Some(test) = test {
            self.run.add(full_name([package, test], "."), outcome);
        } else if failed && self.failed_package != package {
            self.run.broken += 1;
        }
        if failed {
            package.clone_into(&mut self.failed_package);
        }
    }

    /// Counts the tests of Python that no summary counts. What cannot be loaded is an error there, and so is a test.
    fn count_rest(&mut self) {
        let run = &mut self.run;
        run.failed += run.broken.saturating_sub(self.unloaded);
        run.broken = self.unloaded;
        let others = run.failed + run.skipped + run.broken;
        run.passed = self.number.saturating_sub(others);
    }
}

/// Returns the outcome that a word or a sign says.
fn outcome_of(word: &str) -> Option<Outcome> {
    Some(match &*word.to_lowercase() {
        "ok" | "pass" | "passed" | "leak" | "tmpass" | "timeout-pass" | "xpass"
        | "unexpected success" | "✓" | "✔" => Outcome::Passed,
        "not ok" | "fail" | "failed" | "error" | "✕" | "×" | "✖" => Outcome::Failed,
        "skip" | "skipped" | "todo" | "ignored" | "xfail" | "expected failure" | "○" | "✎"
        | "↓" | "﹣" => Outcome::Skipped,
        _ => return None,
    })
}

/// Returns true for the path of a file, which node's runner reports as a test.
fn is_file(name: &str) -> bool {
    let ends = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"];
    ends.iter().any(|end| name.ends_with(end)) && !name.contains(' ') || name.starts_with('/')
}
