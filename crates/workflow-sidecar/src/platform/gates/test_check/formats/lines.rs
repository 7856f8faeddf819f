//! The lines that programs write about tests: a pattern for each, and what it says.

use std::sync::LazyLock;

use regex::{Captures, Regex, RegexSet};

/// A form of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    pub(super) const ALL: [Self; 8] = [
        Self::Cargo,
        Self::Go,
        Self::Tap,
        Self::Node,
        Self::Jest,
        Self::Vitest,
        Self::Pytest,
        Self::Unittest,
    ];

    /// Returns true if only the lines of a list are tests.
    pub(super) fn has_lists(self) -> bool {
        matches!(self, Self::Cargo | Self::Jest)
    }
}

/// What a line says. Whatever it is, a `word` in it is what became of the test `name`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Says {
    /// That the output has the format.
    Known,
    /// That a file or package could not be loaded or compiled; of two names, only if they are the same.
    Broken,
    /// How many tests there are of each outcome: the `text`.
    Summary,
    /// How many tests ran.
    Number,
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

/// The lines of each format. Of those that fit, the first counts. `SIGN` and `TIME` are [`SIGN`] and [`TIME`].
#[rustfmt::skip] // A row a line.
const LINES: [(Format, &str, Says); 39] = [
    // The name of the binary behind it has a hash.
    (Format::Cargo, r"^\s*(?:Running|Doc-tests) (?<around>.*?)(?: \(.*)?$", Says::Begins),
    (Format::Cargo, r"^running \d+ tests?$", Says::Begins),
    // What failing tests have written follows.
    (Format::Cargo, r"^failures:$", Says::Ends),
    (Format::Cargo, r"^test result: (?:.*?\. )?(?<text>.*)$", Says::Summary),
    (Format::Cargo, r"^\s*Finished .* in (?:(?<minutes>\d+)m )?(?<seconds>[0-9.]+)s$", Says::Compiled),
    (Format::Cargo, r"^error: could not compile", Says::Broken),
    (Format::Cargo, r"^test (?<name>.*) \.\.\. (?<word>ok|FAILED|ignored)(?:,.*)?$", Says::Result),
    (Format::Go, r"^\{", Says::Event),
    (Format::Go, r"^FAIL\t.* failed\]$", Says::Broken),
    (Format::Go, r"^\s*--- (?<word>PASS|FAIL|SKIP): (?<name>.*?)TIME$", Says::Known),
    (Format::Tap, r"^(?:TAP version |1\.\.\d+(?: |$))", Says::Known),
    (Format::Tap, r"^\s*Bail out!", Says::Broken),
    (Format::Tap, r"^(?<at>\s*)# Subtest: (?<around>.*)$", Says::Group),
    (Format::Tap, r"^(?<at>\s*)(?:not )?ok(?: +\d+)?(?: +-)?(?: +(?<name>.*?))?? +# *(?<word>(?i)skip|todo)", Says::Result),
    (Format::Tap, r"^(?<at>\s*)(?<word>(?:not )?ok)(?: +\d+)?(?: +-)?(?: +(?<name>.*?))??(?: +#.*)?$", Says::Result),
    (Format::Node, r"^ℹ tests ", Says::Ends),
    (Format::Node, r"^ℹ pass ", Says::Known),
    (Format::Node, r"^(?<at>\s*)▶ (?<around>.*?)TIME$", Says::Group),
    (Format::Node, r"^(?<at>\s*)SIGN (?<name>.*?)TIME # (?:.*# )?(?<word>SKIP|TODO)$", Says::Result),
    (Format::Node, r"^(?<at>\s*)(?<word>SIGN) (?<name>.*?)TIME(?: # .*)?$", Says::Result),
    (Format::Jest, r"^No tests found, exiting with code ", Says::Known),
    (Format::Jest, r"^Tests:  (?<text>.*)$", Says::Summary),
    (Format::Jest, r"^(?:PASS|FAIL) (?<around>.*?)TIME$", Says::Begins),
    (Format::Jest, r"^\s*● Test suite failed to run\s*$", Says::Broken),
    (Format::Jest, r"^\s*●", Says::Ends),
    (Format::Jest, r"^(?<at>\s{2,})(?<word>SIGN) (?:skipped )?(?:todo )?(?<name>.*?)TIME$", Says::Result),
    (Format::Jest, r"^(?<at>\s{2,})(?<around>\S.*?)\s*$", Says::Group),
    (Format::Vitest, r"^\s*No test files found", Says::Known),
    (Format::Vitest, r"^\s*Tests  (?<text>.*)$", Says::Summary),
    (Format::Vitest, r"^\s*FAIL  ?(?<file>.*?) +\[ *(?<again>.*?)[ \]]*$", Says::Broken),
    (Format::Vitest, r"^\s*(?<word>SIGN) (?<name>.*? > .*?)TIME(?: \[.*)?$", Says::Result),
    (Format::Pytest, r"^[= ]*(?<text>no tests ran|\d+ [^,]+(?:, \d+ [^,]+)*) in \d", Says::Summary),
    (Format::Pytest, r"^(?<name>\S.*?::.*?) (?<word>PASSED|XPASS|FAILED|ERROR|SKIPPED|XFAIL)(?: .*)?$", Says::Result),
    (Format::Unittest, r"^Ran (?<text>\d+) ", Says::Number),
    (Format::Unittest, r"^(?:FAILED|OK) \((?<text>[a-z ]+=\d.*)\)$", Says::Summary),
    (Format::Unittest, r"^ERROR: .*unittest\.loader\._FailedTest", Says::Broken),
    // What stands for a file that cannot be loaded is no test.
    (Format::Unittest, r"^\S+ \(unittest\.loader\._FailedTest", Says::Known),
    // The result may be on the next line, behind a description.
    (Format::Unittest, r"^(?<around>\S+ \(.*?\))(?: \.\.\. (?:(?<word>ok|FAIL|ERROR|skipped|(?:un)?expected \w+)(?: .*)?)?)?$", Says::Begins),
    (Format::Unittest, r"^.* \.\.\. (?<word>ok|FAIL|ERROR|skipped|(?:un)?expected \w+)(?: .*)?$", Says::Result),
];

/// The signs of outcomes.
const SIGN: &str = "[✓✔✕×✖○✎↓﹣]";
/// The time at the end of a name: `(1.2ms)`, `(5 ms)`, `12ms`.
const TIME: &str = r"(?: [0-9.]+ ?m?s| \([0-9.]+ ?m?s\))?\s*";

/// The patterns, together and one by one.
static PATTERNS: LazyLock<(RegexSet, Vec<Regex>)> = LazyLock::new(|| {
    let patterns = LINES.map(|(_, line, _)| line.replace("SIGN", SIGN).replace("TIME", TIME));
    let each = patterns.iter().map(|pattern| Regex::new(pattern));
    let each: Result<_, _> = each.collect();
    let valid = "the tests use the patterns";
    (RegexSet::new(&patterns).expect(valid), each.expect(valid))
});

/// Reads what a line says in each format that has such lines.
pub(super) fn read(line: &str) -> impl Iterator<Item = (Format, Says, Captures<'_>)> {
    let (all, each) = &*PATTERNS;
    let mut fitting: Vec<usize> = all.matches(line).into_iter().collect();
    fitting.dedup_by_key(|at| LINES[*at].0);
    fitting.into_iter().filter_map(move |at| {
        let (format, _, says) = LINES[at];
        Some((format, says, each[at].captures(line)?))
    })
}
