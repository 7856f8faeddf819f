//! Tests of Go: the lines of `go test -json`, and those of `go test -v`.

use serde::Deserialize;

use super::{Outcome, TestRun, by_word, each_line, without_time};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    test: String,
}

pub(super) fn read(output: &str) -> Option<TestRun> {
    // The package of the last test that failed; one that fails without such a test is broken.
    let mut failed = String::new();
    each_line(output, |run, line| {
        if line.starts_with("FAIL\t") && line.ends_with(" failed]") {
            run.count_broken();
        } else if let Ok(event) = serde_json::from_str::<Event>(line) {
            run.is_known = true;
            let Some(outcome) = by_word(&event.action) else {
                return;
            };
            if !event.test.is_empty() {
                run.add(format!("{}.{}", event.package, event.test), outcome);
            } else if outcome == Outcome::Failed && failed != event.package {
                run.broken += 1;
            }
            if outcome == Outcome::Failed {
                failed = event.package;
            }
        } else if let Some(result) = line.trim_start().strip_prefix("--- ")
            && let Some((word, name)) = result.split_once(": ")
            && let Some(outcome) = by_word(word)
        {
            run.is_known = true;
            run.add(without_time(name), outcome);
        }
    })
}
