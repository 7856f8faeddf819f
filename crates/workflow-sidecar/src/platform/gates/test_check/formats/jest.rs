//! Tests of jest, which names them with `--verbose`.

use super::{Outcome, TestRun, indent, without_time};

pub(super) fn read(output: &str) -> Option<TestRun> {
    let (mut run, mut is_known) = (TestRun::default(), false);
    // The file and the groups around a line; none outside of a list of tests.
    let mut around: Vec<&str> = Vec::new();
    for line in output.lines() {
        let (at, text) = (indent(line) / 2, line.trim());
        if let Some(summary) = line.strip_prefix("Tests:  ") {
            is_known = true;
            run.count_words(summary);
        } else if line.starts_with("No tests found, exiting with code ") {
            is_known = true;
        } else if text == "● Test suite failed to run" {
            (is_known, run.broken) = (true, run.broken + 1);
        } else if let Some(file) = line.strip_prefix("PASS ").or(line.strip_prefix("FAIL ")) {
            around = vec![without_time(file)];
        } else if text.starts_with('●') {
            around.clear();
        } else if !around.is_empty() && at > 0 && !text.is_empty() {
            around.truncate(at);
            let (sign, name) = text.split_once(' ').unwrap_or_default();
            let (outcome, name) = match sign {
                "✓" => (Outcome::Passed, name),
                "✕" => (Outcome::Failed, name),
                "○" => (Outcome::Skipped, name.trim_start_matches("skipped ")),
                "✎" => (Outcome::Skipped, name.trim_start_matches("todo ")),
                _ => {
                    around.push(text);
                    continue;
                }
            };
            let full: Vec<&str> = around.iter().copied().chain([without_time(name)]).collect();
            run.name(full.join(" > "), outcome);
        }
    }
    is_known.then_some(run)
}
