//! Tests of vitest, which names them with `--reporter=verbose`.

use super::{Outcome, TestRun, without_time};

pub(super) fn read(output: &str) -> Option<TestRun> {
    let (mut run, mut is_known) = (TestRun::default(), false);
    for line in output.lines() {
        let text = line.trim();
        if let Some(summary) = text.strip_prefix("Tests  ") {
            is_known = true;
            run.count_words(summary);
        } else if text.starts_with("No test files found") {
            is_known = true;
        } else if let Some((file, repeated)) = text
            .strip_prefix("FAIL ")
            .and_then(|of| of.split_once(" ["))
            && repeated.trim_matches([' ', ']']) == file.trim()
        {
            run.broken += 1;
        } else if let Some((sign, name)) = text.split_once(' ')
            && name.contains(" > ")
        {
            let outcome = match sign {
                "✓" => Outcome::Passed,
                "×" => Outcome::Failed,
                "↓" => Outcome::Skipped,
                _ => continue,
            };
            run.name(
                without_time(name.split(" [").next().unwrap_or(name)),
                outcome,
            );
        }
    }
    is_known.then_some(run)
}
