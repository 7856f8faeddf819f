//! Tests of Python's unittest, which names them with `-v`.

use super::{TestRun, by_word, each_line};

/// What stands for a file that cannot be loaded. It is counted as a test with an error.
const NOT_LOADED: &str = "unittest.loader._FailedTest";

pub(super) fn read(output: &str) -> Option<TestRun> {
    let (mut ran, mut name) = (0, "");
    let run = each_line(output, |run, line| {
        let number = line
            .strip_prefix("Ran ")
            .and_then(|of| of.split(' ').next());
        if let Some(Ok(number)) = number.map(str::parse::<usize>) {
            run.is_known = true;
            ran += number;
        } else if line.starts_with("ERROR: ") && line.contains(NOT_LOADED) {
            run.broken += 1;
        } else if let Some(counts) = line.strip_prefix("FAILED (").or(line.strip_prefix("OK (")) {
            for part in counts.trim_end_matches(')').split(", ") {
                let (what, number) = part.split_once('=').unwrap_or_default();
                let number = number.parse::<usize>().unwrap_or_default();
                match what {
                    "failures" | "errors" | "unexpected successes" => run.failed += number,
                    "skipped" | "expected failures" => run.skipped += number,
                    _ => (),
                }
            }
        }
        let (before, result) = line.rsplit_once(" ... ").unwrap_or((line, ""));
        // `test_x (module.Class.test_x)`, on a line of its own where the test has a description
        let test = before
            .strip_suffix(')')
            .and_then(|before| before.split_once(" ("));
        if test.is_some_and(|(test, _)| !test.contains(' ')) {
            name = before;
        }
        let is_skipped = result.starts_with("skipped ");
        let word = if is_skipped {
            "skipped"
        } else {
            result.trim_end()
        };
        if let Some(outcome) = by_word(word)
            && !name.is_empty()
            && !name.contains(NOT_LOADED)
        {
            run.name(name, outcome);
        }
    });
    let mut run = run?;
    run.failed = run.failed.saturating_sub(run.broken);
    run.passed = ran.saturating_sub(run.failed + run.skipped + run.broken);
    Some(run)
}
