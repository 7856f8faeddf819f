//! Tests of Python's unittest, which names them with `-v`.

use super::{Outcome, TestRun};

pub(super) fn read(output: &str) -> Option<TestRun> {
    let mut run = TestRun::default();
    let (mut ran, mut is_known, mut name) = (0, false, String::new());
    for line in output.lines() {
        if line.starts_with("ERROR: ") && line.contains("unittest.loader._FailedTest") {
            run.broken += 1;
        } else if let Some(number) = line
            .strip_prefix("Ran ")
            .and_then(|of| of.split(' ').next())
        {
            if let Ok(number) = number.parse::<usize>() {
                (is_known, ran) = (true, ran + number);
            }
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
        if before.ends_with(')')
            && before
                .split_once(" (")
                .is_some_and(|(test, _)| !test.contains(' '))
        {
            before.clone_into(&mut name);
        }
        let outcome = match result.trim_end() {
            "ok" | "unexpected success" => Outcome::Passed,
            "FAIL" | "ERROR" => Outcome::Failed,
            "expected failure" => Outcome::Skipped,
            result if result.starts_with("skipped ") => Outcome::Skipped,
            _ => continue,
        };
        if !name.is_empty() && !name.contains("unittest.loader._FailedTest") {
            run.name(name.clone(), outcome);
        }
    }
    // A file that cannot be loaded is counted as a test with an error.
    run.failed = run.failed.saturating_sub(run.broken);
    run.passed = ran.saturating_sub(run.failed + run.skipped + run.broken);
    is_known.then_some(run)
}
