//! The time of an analysis, in microseconds: the median line of the corpus, and the slowest of many lines of 100 KB.

#![expect(clippy::disallowed_types, reason = "it measures time")]

use std::io::Write;
use std::time::Instant;

const LONG_LINE: usize = 100_000;

/// Text that is repeated to a long line.
#[rustfmt::skip] // A kind a line.
const REPEATED: &[&str] = &[
    "x=1;", "X=$X;", "ls;", "rm a;", "a|", "cd a&&", "$x ", "\"$x\" ", "sudo ", "git -C a ", "{a,b}", "a=(1 2);", "xargs ",
    "f(){ ls; };f;", "for i in a;do ls;done;", "echo $(ls);", "export A=b;", "<<A\n", ">x ", "if a;then b;fi;", "[[ a ]]&&",
    "sed -n 1p a;", "awk '{print}' a;", "find . -name a;", "\\\n", "a?", "((x++));", "eval ls;", "sh -c ls;", "trap ls EXIT;",
];

fn main() {
    let corpus = include_str!("../tests/corpus/commands.jsonl").lines();
    let lines: Vec<String> = corpus
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("the corpus is JSON"))
        .map(|entry| entry["line"].as_str().expect("each has a line").to_owned())
        .collect();
    let time = |line: &str| {
        let start = Instant::now();
        let _ = std::hint::black_box(workflow_shell::analyze(line));
        start.elapsed().as_secs_f64() * 1e6
    };
    for line in &lines {
        time(line); // The tables are read once.
    }
    let mut times: Vec<f64> = lines.iter().map(|line| time(line)).collect();
    times.sort_by(f64::total_cmp);
    let long = REPEATED
        .iter()
        .map(|text| time(&text.repeat(LONG_LINE / text.len())));
    let report =
        serde_json::json!({"median": times[times.len() / 2], "longest": long.fold(0.0, f64::max)});
    writeln!(std::io::stdout(), "{report}").expect("somebody reads the report");
}
