//! The lines that programs write about tests, and what each says. `lines.txt` has their patterns.

use std::sync::LazyLock;

use regex::{Captures, Regex, RegexSet};
use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned};

/// A form of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(super) enum Format {
    Cargo,
    Go,
    Tap,
    /// The reporter `spec` of node's runner.
    Node,
    Jest,
    Vitest,
    Pytest,
    Unittest,
}

impl Format {
    /// Returns true if only the lines of a list are tests.
    pub(super) fn has_lists(self) -> bool {
        matches!(self, Self::Cargo | Self::Jest)
    }
}

/// What a line says. Whatever it is, a `word` in it is what became of the test `name`.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) enum Says {
    /// That the output has the format.
    Known,
    /// That a file or package could not be loaded or compiled; of two names, only if they are the same.
    Broken,
    /// How many tests there are of each outcome: the `text`.
    Summary,
    /// How many tests ran.
    Number,
    /// That what is around tests is counted as one that did not run.
    Uncounted,
    /// How long compiling took.
    Compiled,
    /// That the tests of a file or program are listed from here on.
    Begins,
    /// That no tests are listed from here on.
    Ends,
    /// That tests with more blanks before them are in a group.
    Group,
    /// An event of `go test -json`.
    Event,
    /// No more than its word.
    Result,
}

/// The signs of outcomes.
const SIGN: &str = "[✓✔✕×✖○✎↓﹣]";
/// The time at the end of a name.
const TIME: &str = r"(?: [0-9.]+ ?m?s| \([0-9.]+ ?m?s\))?\s*";

/// A row of the table.
type Line = (Format, Says, Regex);

/// The patterns, together and one by one.
static LINES: LazyLock<(RegexSet, Vec<Line>)> = LazyLock::new(|| {
    let rows = include_str!("lines.txt").lines();
    let rows = rows.filter(|row| !row.is_empty() && !row.starts_with('#'));
    let read = |row: &str| {
        let (format, rest) = row.split_once(' ')?;
        let (says, pattern) = rest.trim_start().split_once(' ')?;
        let pattern = pattern.replace("SIGN", SIGN).replace("TIME", TIME);
        let pattern = Regex::new(pattern.trim_start()).ok()?;
        Some((variant(format)?, variant(says)?, pattern))
    };
    let read = |row| read(row).expect("the tests read each row");
    let each: Vec<_> = rows.map(read).collect();
    let patterns = each.iter().map(|(.., pattern)| pattern.as_str());
    (RegexSet::new(patterns).expect("each is valid"), each)
});

/// Returns the variant with a name.
fn variant<T: DeserializeOwned>(name: &str) -> Option<T> {
    T::deserialize(StrDeserializer::<de::value::Error>::new(name)).ok()
}

/// Reads what a line says in each format that has such lines.
pub(super) fn read(line: &str) -> impl Iterator<Item = (Format, Says, Captures<'_>)> {
    let (all, each) = &*LINES;
    let mut fitting: Vec<usize> = all.matches(line).into_iter().collect();
    fitting.dedup_by_key(|at| each[*at].0);
    fitting.into_iter().filter_map(|at| {
        let (format, says, pattern) = &each[at];
        Some((*format, *says, pattern.captures(line)?))
    })
}
