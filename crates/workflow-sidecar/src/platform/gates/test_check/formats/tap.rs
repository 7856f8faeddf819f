//! TAP, with the subtests of node's runner.

use std::sync::LazyLock;

use regex::Regex;

use super::{Outcome, TestRun, each_line, indent, is_file, within};

/// `not ok 2 - name # TODO`
static RESULT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(not )?ok(?: +\d+)?(?: +-)?(?: +(.*?))??(?: +# *(.*))?$").ok());

pub(super) fn read(output: &str) -> Option<TestRun> {
    // The names of the tests around a line, and whether the last result was inside one of them.
    let (mut around, mut depth, mut failed_inside): (Vec<&str>, usize, bool) = <_>::default();
    each_line(output, |run, line| {
        let (at, text) = (indent(line) / 4, line.trim_start());
        let plan = text
            .strip_prefix("1..")
            .and_then(|plan| plan.split(' ').next());
        let is_plan = plan.is_some_and(|last| last.parse::<usize>().is_ok());
        run.is_known |= at == 0 && (is_plan || line.starts_with("TAP version "));
        run.broken += usize::from(text.starts_with("Bail out!"));
        if let Some(name) = text.strip_prefix("# Subtest: ") {
            around.resize(at, "");
            around.push(name);
        }
        let Some((outcome, name)) = result(text) else {
            return;
        };
        let is_around = std::mem::replace(&mut depth, at) > at;
        let failed = outcome == Outcome::Failed;
        // A test around others ran only as they did, unless it fails by itself.
        if is_file(name) {
            run.broken += usize::from(failed);
        } else if !is_around || (failed && !failed_inside) {
            run.add(within(around.get(..at).unwrap_or_default(), name), outcome);
        }
        failed_inside = failed || (failed_inside && at > 0 && !is_around);
    })
}

fn result(line: &str) -> Option<(Outcome, &str)> {
    let found = RESULT.as_ref()?.captures(line)?;
    let part = |at| found.get(at).map_or("", |part| part.as_str());
    let directive = part(3).to_ascii_lowercase();
    let outcome = match part(1) {
        _ if directive.starts_with("skip") || directive.starts_with("todo") => Outcome::Skipped,
        "" => Outcome::Passed,
        _ => Outcome::Failed,
    };
    Some((outcome, found.get(2).map_or("", |name| name.as_str())))
}
