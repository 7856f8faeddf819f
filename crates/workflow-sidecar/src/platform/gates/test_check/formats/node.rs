//! Tests of node's runner, as its reporter `spec` shows them.

use super::{Outcome, TestRun, indent, is_file, without_time};

pub(super) fn read(output: &str) -> Option<TestRun> {
    let is_known = |name: &str| {
        output
            .lines()
            .any(|line| line.starts_with(&format!("ℹ {name} ")))
    };
    if !is_known("tests") || !is_known("pass") {
        return None;
    }
    let mut run = TestRun::default();
    let mut around: Vec<&str> = Vec::new();
    for line in output.lines() {
        let (at, text) = (indent(line) / 2, line.trim_start());
        if text.starts_with("ℹ tests ") || text == "✖ failing tests:" {
            break;
        }
        let Some((sign, name)) = text.split_once(' ') else {
            continue;
        };
        let outcome = match sign {
            "▶" => {
                around.truncate(at);
                around.push(without_time(name));
                continue;
            }
            _ if name.ends_with("# SKIP") || name.ends_with("# TODO") => Outcome::Skipped,
            "✔" => Outcome::Passed,
            "✖" => Outcome::Failed,
            "﹣" => Outcome::Skipped,
            _ => continue,
        };
        let name = name.split(" # ").next().unwrap_or_default();
        let name = without_time(name);
        // The end of a test around others.
        if around.get(at) == Some(&name) {
            around.truncate(at);
        } else if is_file(name) {
            run.broken += usize::from(outcome == Outcome::Failed);
        } else {
            around.truncate(at);
            let full: Vec<&str> = around.iter().copied().chain([name]).collect();
            run.add(full.join(" > "), outcome);
        }
    }
    Some(run)
}
