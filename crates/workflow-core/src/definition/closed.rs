//! What stands in for guards of a settings file that cannot be read.
//!
//! What they forbid cannot be told, so everything is: the tools are blocked, the results withheld. Only to the
//! file itself there is a way, by the user's consent, for it has to be corrected.

use super::rules::{ResultRule, Rule, Verdict};

/// The tools with which a file is looked at and corrected, as pi names them.
const CORRECTING: [&str; 3] = ["read", "edit", "write"];

/// The rules that stand in for those of a file, of which `source` is the place that cannot be read.
pub(super) fn rules(file: &str, source: &str, why: &str) -> [Rule; 2] {
    let rule = |verdict, tools: &[&str], path: &[&str], reason: String| Rule {
        verdict,
        tools: tools.iter().map(ToString::to_string).collect(),
        path: path.iter().map(ToString::to_string).collect(),
        command: Vec::new(),
        writes: None,
        input: Vec::new(),
        reason: Some(reason),
        source: source.to_owned(),
    };
    let correct = format!("{why}, and the user must agree to how it is corrected");
    let block = format!(
        "{why}, so that no tool runs until the file is corrected. Tell the user, who is asked about a call of {} on \
         that file",
        CORRECTING.map(|tool| format!("`{tool}`")).join(", ")
    );
    [
        rule(Verdict::Ask, &CORRECTING, &[&literal(file)], correct),
        rule(Verdict::Block, &["*"], &[], block),
    ]
}

/// A path as a pattern that is about nothing else.
fn literal(path: &str) -> String {
    let mut pattern = String::new();
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// What stands in for what becomes of results.
pub(super) fn results(source: String) -> ResultRule {
    ResultRule {
        tools: vec!["*".to_owned()],
        on: None,
        redact: Vec::new(),
        with: None,
        max_chars: None,
        append: None,
        unread: true,
        source,
    }
}
