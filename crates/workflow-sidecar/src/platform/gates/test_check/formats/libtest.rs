//! Tests of Rust, as `cargo test` shows them.

use super::{TestRun, by_word, each_line};

pub(super) fn read(output: &str) -> Option<TestRun> {
    let (mut is_listed, mut program) = (false, "");
    each_line(output, |run, line| {
        let text = line.trim_start();
        let starts = text.strip_prefix("Running ");
        if let Some(of) = starts.or(text.strip_prefix("Doc-tests ")) {
            // The name of the binary behind it has a hash.
            program = of.split(" (").next().unwrap_or_default();
        } else if let Some(summary) = line.strip_prefix("test result: ") {
            is_listed = false;
            run.count_words(
                summary
                    .split_once(". ")
                    .map_or(summary, |(_, counts)| counts),
            );
        } else if line.starts_with("running ") || line == "failures:" {
            is_listed = line.ends_with(['t', 's']);
        } else if text.starts_with("Finished ") {
            run.compiling += seconds(text).unwrap_or_default();
        } else if line.starts_with("error: could not compile") {
            run.count_broken();
        } else if is_listed
            && let Some((name, word)) = line
                .strip_prefix("test ")
                .and_then(|of| of.rsplit_once(" ... "))
            && let Some(outcome) = word.split(',').next().and_then(by_word)
        {
            run.name(format!("{program} {name}"), outcome);
        }
    })
}

/// Reads the time at the end of a line: `in 0.57s`, `in 1m 05s`.
fn seconds(line: &str) -> Option<f64> {
    let (_, time) = line.rsplit_once(" in ")?;
    let (minutes, seconds) = time.split_once("m ").unwrap_or(("0", time));
    let seconds = seconds.strip_suffix('s')?;
    Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
}
