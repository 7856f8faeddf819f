//! Replacements for guards of a settings file that cannot be read: all tools are blocked, all results withheld.
//!
//! Only the file itself can be read and changed, with the user's consent, for it has to be corrected.

use super::result_rule::ResultRule;
use super::rules::{Rule, RuleAction};

/// The tools with which a file is looked at and corrected, as pi names them.
const CORRECTING: [&str; 3] = ["read", "edit", "write"];

/// The rules that replace those of a file, which cannot be read at `source`.
pub(crate) fn rules(file: &str, source: &str, why: &str) -> [Rule; 2] {
    let rule = |action, tools: &[&str], path: &[&str], reason: String| Rule {
        tools: tools.iter().map(ToString::to_string).collect(),
        path: path.iter().map(ToString::to_string).collect(),
        reason: Some(reason),
        source: source.to_owned(),
        ..Rule::new(action, "*")
    };
    let correct = format!("{why}; a call that corrects it needs the consent of the user");
    let block = format!(
        "{why}, so every tool is blocked until the file is corrected. Tell the user. A call of {} on that file is possible \
         with the consent of the user",
        CORRECTING.map(|tool| format!("`{tool}`")).join(", ")
    );
    [
        rule(RuleAction::Ask, &CORRECTING, &[&literal(file)], correct),
        rule(RuleAction::Block, &["*"], &[], block),
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

/// The entry that replaces the `results` of a file.
pub(crate) fn results(source: String) -> ResultRule {
    ResultRule {
        tools: vec!["*".to_owned()],
        unread: true,
        source,
        ..ResultRule::default()
    }
}
