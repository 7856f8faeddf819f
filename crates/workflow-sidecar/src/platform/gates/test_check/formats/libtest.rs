//! Tests of Rust, as `cargo test` shows them.

use super::{Outcome, TestRun};

pub(super) fn read(output: &str) -> Option<TestRun> {
    let mut run = TestRun::default();
    let (mut is_known, mut is_listed, mut program) = (false, false, "");
    for line in output.lines() {
        let trimmed = line.trim_start();
        if let Some(of) = trimmed
            .strip_prefix("Running ")
            .or(trimmed.strip_prefix("Doc-tests "))
        {
            // The name of the binary behind it has a hash.
            program = of.split(" (").next().unwrap_or_default();
        } else if line.starts_with("running ") && line.ends_with(['t', 's']) {
            is_listed = true;
        } else if let Some(summary) = line.strip_prefix("test result: ") {
            (is_known, is_listed) = (true, false);
            run.count_words(
                summary
                    .split_once(". ")
                    .map_or(summary, |(_, counts)| counts),
            );
        } else if trimmed.starts_with("Finished ") {
            run.compiling += seconds(trimmed).unwrap_or_default();
        } else if line == "failures:" {
            is_listed = false;
        } else if line.starts_with("error: could not compile") {
            (is_known, run.broken) = (true, run.broken + 1);
        } else if is_listed
            && let Some((name, outcome)) = line.strip_prefix("test ").and_then(of_line)
        {
            run.name(format!("{program} {name}"), outcome);
        }
    }
    is_known.then_some(run)
}

/// Reads the time at the end of a line: `in 0.57s`, `in 1m 05s`.
fn seconds(line: &str) -> Option<f64> {
    let (_, time) = line.rsplit_once(" in ")?;
    let (minutes, seconds) = time.split_once("m ").unwrap_or(("0", time));
    let seconds = seconds.strip_suffix('s')?;
    Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
}

fn of_line(line: &str) -> Option<(&str, Outcome)> {
    let (name, outcome) = line.rsplit_once(" ... ")?;
    let outcome = match outcome {
        "ok" => Outcome::Passed,
        "FAILED" => Outcome::Failed,
        _ if outcome.starts_with("ignored") => Outcome::Skipped,
        _ => return None,
    };
    Some((name, outcome))
}
