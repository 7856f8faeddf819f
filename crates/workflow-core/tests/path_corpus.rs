//! A corpus of lines and rules on paths: evasions, and everyday lines.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads its corpus and measures time"
)]

use serde::Deserialize;
use serde_json::json;
use workflow_core::definition::{Rule, ToolAccess};
use workflow_core::policy::rules::{
    Call, CallDecision, LevelRules, PLAIN_PATHS, RuleSource, Rules,
};

#[derive(Debug, Deserialize)]
struct Entry {
    path: String,
    line: String,
    fits: bool,
    why: String,
    #[serde(default = "block")]
    verdict: String,
    #[serde(default)]
    writes: Option<bool>,
}

fn block() -> String {
    "block".to_owned()
}

fn corpus() -> Vec<Entry> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../workflow-shell/tests/corpus/paths.jsonl"
    );
    let text = std::fs::read_to_string(path).expect("the corpus is readable");
    text.lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect()
}

fn fits(entry: &Entry) -> bool {
    let rule: Rule = serde_json::from_value(json!({
        "action": entry.verdict, "tools": ["bash"], "path": [entry.path], "writes": entry.writes, "source": "f:1",
    }))
    .expect("it is a rule");
    let nothing = ToolAccess::Whitelist(Vec::new());
    let rules = Rules::new([LevelRules {
        name: "a level".into(),
        source: RuleSource::Phase,
        tools: (entry.verdict == "allow").then_some(&nothing),
        rules: std::slice::from_ref(&rule).into(),
        read_only: None,
        unknown: None,
        on_repeat: None,
    }]);
    let input = json!({"command": entry.line});
    let input = serde_json::value::to_raw_value(&input).expect("a value is JSON");
    let call = Call::new("bash", Some(&input), &*PLAIN_PATHS);
    let allowed = match rules.decide(&call) {
        CallDecision::Allow => true,
        // The built-in rule is not what the corpus is about.
        CallDecision::Ask(denial) | CallDecision::Block(denial) => denial.level != "a level",
    };
    allowed == (entry.verdict == "allow")
}

#[test]
fn the_corpus_of_paths_is_judged_as_people_would() {
    let corpus = corpus();
    let wrong: Vec<String> = corpus
        .iter()
        .filter(|entry| fits(entry) != entry.fits)
        .map(|entry| {
            let kind = if entry.fits { "miss" } else { "false alarm" };
            format!(
                "{kind}: {} {:?} {:?} ({})",
                entry.path, entry.writes, entry.line, entry.why
            )
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} wrong:\n{}",
        wrong.len(),
        corpus.len(),
        wrong.join("\n")
    );
}

#[test]
fn lines_that_are_made_to_be_slow_are_decided_in_time() {
    for shape in [
        "grep a ",
        "find -name a ",
        "a|",
        "a:",
        "a/",
        "{a,b}",
        "*",
        "*a",
        "../",
        "-a",
        "'a'",
        "cd a&&",
        "cat *a*b*c ",
        "rm -rf a ",
        "git clean ",
        "cat $x/ ",
        "a=",
        "cp -r a b ",
        "cd dN; echo > xN; ",
        "cd d; echo > xN; cd ..; ",
        "for f in aN; do rm \"$f\"; done; ",
        "for f in $a $b $c $d; do rm $f\n",
    ] {
        let line = |size: usize| -> String {
            let numbers = 0..size / shape.len();
            numbers
                .map(|number| shape.replace('N', &number.to_string()))
                .collect()
        };
        let entry = |verdict: &str, path: &str, size: usize| Entry {
            path: path.to_owned(),
            line: line(size),
            fits: false,
            why: String::new(),
            verdict: verdict.to_owned(),
            writes: None,
        };
        let start = std::time::Instant::now();
        fits(&entry("block", "**/a*b*c/*.x", 20_000));
        fits(&entry("allow", "**/a*b*c/*.x", 20_000));
        // Where no rule denies it, the protected files are compared.
        fits(&entry("block", "none", 4000));
        assert!(
            start.elapsed().as_secs() < 20,
            "{shape:?} takes {:?}",
            start.elapsed()
        );
    }
}
