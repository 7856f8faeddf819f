//! Tests of pytest, which names them with `-v`.

use std::sync::LazyLock;

use regex::Regex;

use super::{TestRun, by_word, counts, each_line};

/// `tests/test_a.py::test_x PASSED   [ 50%]`
static RESULT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(\S.*?::.*?) (PASSED|XPASS|FAILED|ERROR|SKIPPED|XFAIL)(?: .*)?$").ok()
});

pub(super) fn read(output: &str) -> Option<TestRun> {
    let result = RESULT.as_ref()?;
    each_line(output, |run, line| {
        let text = line.trim_matches(['=', ' ']);
        // `1 failed, 2 passed in 0.03s`
        if let Some((summary, time)) = text.rsplit_once(" in ")
            && time.starts_with(|sign: char| sign.is_ascii_digit())
            && (summary == "no tests ran" || counts(summary).count() == summary.split(", ").count())
        {
            run.count_words(summary);
        } else if let Some((_, [name, word])) = result.captures(line).map(|found| found.extract())
            && let Some(outcome) = by_word(word)
        {
            run.name(name, outcome);
        }
    })
}
