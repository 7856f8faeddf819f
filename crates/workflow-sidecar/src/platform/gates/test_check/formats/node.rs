//! Tests of node's runner, as its reporter `spec` shows them.

use super::{Outcome, TestRun, by_sign, indent, is_file, within, without_time};

pub(super) fn read(output: &str) -> Option<TestRun> {
    let (results, summary) = output.split_once("ℹ tests ")?;
    let results = results
        .split("\n✖ failing tests:")
        .next()
        .unwrap_or(results);
    let mut run = TestRun {
        is_known: summary.contains("\nℹ pass "),
        ..TestRun::default()
    };
    let mut around: Vec<&str> = Vec::new();
    for line in results.lines() {
        let at = indent(line) / 2;
        if let Some(name) = line.trim_start().strip_prefix("▶ ") {
            around.truncate(at);
            around.push(without_time(name));
        } else if let Some((outcome, name)) = by_sign(line) {
            let is_marked = name.ends_with("# SKIP") || name.ends_with("# TODO");
            let outcome = if is_marked { Outcome::Skipped } else { outcome };
            let name = without_time(name.split(" # ").next().unwrap_or_default());
            let is_end = around.get(at) == Some(&name);
            around.truncate(at);
            if is_file(name) {
                run.broken += usize::from(outcome == Outcome::Failed);
            } else if !is_end {
                run.add(within(&around, name), outcome);
            }
        }
    }
    run.is_known.then_some(run)
}
