//! Tests of vitest, which names them with `--reporter=verbose`.

use super::{TestRun, by_sign, each_line, without_time};

pub(super) fn read(output: &str) -> Option<TestRun> {
    each_line(output, |run, line| {
        let text = line.trim();
        run.is_known |= text.starts_with("No test files found");
        let failed = text
            .strip_prefix("FAIL ")
            .and_then(|of| of.split_once(" ["));
        if let Some(summary) = text.strip_prefix("Tests  ") {
            run.count_words(summary);
        } else if failed.is_some_and(|(file, again)| again.trim_matches([' ', ']']) == file.trim())
        {
            run.broken += 1;
        } else if let Some((outcome, name)) = by_sign(text)
            && name.contains(" > ")
        {
            run.name(
                without_time(name.split(" [").next().unwrap_or(name)),
                outcome,
            );
        }
    })
}
