//! Tests of Go: the lines of `go test -json`, and those of `go test -v`.

use serde::Deserialize;

use super::{Outcome, TestRun};

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
    let (mut run, mut is_known, mut failed) = (TestRun::default(), false, String::new());
    for line in output.lines() {
        if line.starts_with("FAIL\t") && line.ends_with(" failed]") {
            (is_known, run.broken) = (true, run.broken + 1);
        }
        if line.starts_with('{') {
            let Ok(event) = serde_json::from_str::<Event>(line) else {
                continue;
            };
            is_known = true;
            let outcome = match &*event.action {
                "pass" => Outcome::Passed,
                "fail" => Outcome::Failed,
                "skip" => Outcome::Skipped,
                _ => continue,
            };
            if !event.test.is_empty() {
                run.add(format!("{}.{}", event.package, event.test), outcome);
            } else if outcome == Outcome::Failed && failed != event.package {
                run.broken += 1;
            }
            if outcome == Outcome::Failed {
                failed = event.package;
            }
        } else if let Some((outcome, name)) = of_line(line.trim_start()) {
            is_known = true;
            run.add(name, outcome);
        }
    }
    is_known.then_some(run)
}

fn of_line(line: &str) -> Option<(Outcome, &str)> {
    let (outcome, name) = line.strip_prefix("--- ")?.split_once(": ")?;
    let outcome = match outcome {
        "PASS" => Outcome::Passed,
        "FAIL" => Outcome::Failed,
        "SKIP" => Outcome::Skipped,
        _ => return None,
    };
    Some((outcome, super::without_time(name)))
}
