//! Tests of pytest, which names them with `-v`.

use super::{Outcome, TestRun, counts};

pub(super) fn read(output: &str) -> Option<TestRun> {
    let (mut run, mut is_known) = (TestRun::default(), false);
    for line in output.lines() {
        let text = line.trim_matches(['=', ' ']);
        // `1 failed, 2 passed in 0.03s`
        if let Some((summary, time)) = text.rsplit_once(" in ")
            && time.starts_with(|sign: char| sign.is_ascii_digit())
            && (summary == "no tests ran" || counts(summary).count() == summary.split(", ").count())
        {
            is_known = true;
            run.count_words(summary);
        } else if let Some((name, outcome)) = of_line(line) {
            run.name(name, outcome);
        }
    }
    is_known.then_some(run)
}

/// Reads `tests/test_a.py::test_x PASSED   [ 50%]`.
fn of_line(line: &str) -> Option<(&str, Outcome)> {
    if line.starts_with(' ') || !line.contains("::") {
        return None;
    }
    let words = [
        (" PASSED", Outcome::Passed),
        (" XPASS", Outcome::Passed),
        (" FAILED", Outcome::Failed),
        (" ERROR", Outcome::Failed),
        (" SKIPPED", Outcome::Skipped),
        (" XFAIL", Outcome::Skipped),
    ];
    let mut found = words.into_iter().filter_map(|(word, outcome)| {
        let (name, rest) = line.split_once(word)?;
        let ends = rest.is_empty() || rest.starts_with(' ');
        (ends && name.contains("::")).then_some((name, outcome))
    });
    found.next()
}
