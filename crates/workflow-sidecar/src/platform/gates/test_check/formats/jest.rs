//! Tests of jest, which names them with `--verbose`.

use super::{TestRun, by_sign, each_line, indent, within, without_time};

pub(super) fn read(output: &str) -> Option<TestRun> {
    // The file and the groups around a line; none outside of a list of tests.
    let mut around: Vec<&str> = Vec::new();
    each_line(output, |run, line| {
        let (at, text) = (indent(line) / 2, line.trim());
        if let Some(summary) = line.strip_prefix("Tests:  ") {
            run.count_words(summary);
        } else if let Some(file) = line.strip_prefix("PASS ").or(line.strip_prefix("FAIL ")) {
            around = vec![without_time(file)];
        } else if text == "● Test suite failed to run" {
            run.count_broken();
        } else if text.starts_with('●') {
            around.clear();
        } else if !around.is_empty() && at > 0 && !text.is_empty() {
            around.truncate(at);
            if let Some((outcome, name)) = by_sign(text) {
                let name = name
                    .trim_start_matches("skipped ")
                    .trim_start_matches("todo ");
                run.name(within(&around, without_time(name)), outcome);
            } else {
                around.push(text);
            }
        }
        run.is_known |= line.starts_with("No tests found, exiting with code ");
    })
}
