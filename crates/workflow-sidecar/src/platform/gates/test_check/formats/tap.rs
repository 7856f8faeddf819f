//! TAP, with the subtests of node's runner.

use super::{Outcome, TestRun, indent, is_file};

pub(super) fn read(output: &str) -> Option<TestRun> {
    let (mut run, mut is_known) = (TestRun::default(), false);
    // The names of the tests around a line, and whether the last result was inside one of them.
    let (mut around, mut depth, mut failed_inside): (Vec<&str>, usize, bool) = <_>::default();
    for line in output.lines() {
        let at = indent(line) / 4;
        let text = line.trim_start();
        if text.starts_with("Bail out!") {
            run.broken += 1;
        }
        let is_plan = text.strip_prefix("1..").is_some_and(|last| {
            let last = last.split(' ').next().unwrap_or_default();
            last.parse::<usize>().is_ok()
        });
        is_known |= at == 0 && (is_plan || line.starts_with("TAP version "));
        if let Some(name) = text.strip_prefix("# Subtest: ") {
            around.truncate(at);
            around.resize(at, "");
            around.push(name);
            continue;
        }
        let Some((outcome, name)) = of_line(text) else {
            continue;
        };
        let is_around = std::mem::replace(&mut depth, at) > at;
        let failed = outcome == Outcome::Failed;
        // A test around others ran only as they did, unless it fails by itself.
        if is_file(name) {
            run.broken += usize::from(failed);
        } else if !is_around || (failed && !failed_inside) {
            let outer = around.get(..at).unwrap_or_default().iter().copied();
            let full: Vec<&str> = outer.chain([name]).collect();
            run.add(full.join(" > "), outcome);
        }
        failed_inside = failed || (failed_inside && at > 0 && !is_around);
    }
    is_known.then_some(run)
}

/// Reads `not ok 2 - name # TODO`.
fn of_line(line: &str) -> Option<(Outcome, &str)> {
    let (is_ok, rest) = match line.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok")?),
    };
    if !rest.is_empty() && !rest.starts_with(' ') {
        return None;
    }
    let rest = rest.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == ' ');
    let rest = rest.strip_prefix("- ").unwrap_or(rest);
    let directive = rest.strip_prefix("# ").map(|directive| ("", directive));
    let directive = directive.or_else(|| rest.rsplit_once(" # "));
    let (name, directive) = directive.unwrap_or((rest, ""));
    let directive = directive.to_ascii_lowercase();
    let outcome = if directive.starts_with("skip") || directive.starts_with("todo") {
        Outcome::Skipped
    } else if is_ok {
        Outcome::Passed
    } else {
        Outcome::Failed
    };
    Some((outcome, name))
}
