//! Patterns of commands that look like regular expressions or like whole shell lines.

use super::item::{Item, corrected};
use crate::diagnostic::{Code, Finding, Severity, shown};

/// Returns the finding about a pattern that no command matches, or hardly any.
pub(super) fn finding((pattern, span): Item<'_>, severity: Severity) -> Option<Finding> {
    let report = |severity, why: &str| {
        let message = format!("`{}` matches no command: {why}", shown(pattern));
        Finding::new(severity, Code::DeadCommandPattern, span, message)
    };
    if let Some(sign) = regex_sign(pattern) {
        let why = format!("it is not a regular expression, so `{sign}` has no special meaning");
        let finding = report(severity, &why);
        return Some(match without_regex(pattern) {
            Some(plain) => corrected(finding, pattern, &plain),
            None => finding.help("write the words of one command, with `*` for any characters"),
        });
    }
    if let Some(operator) = operator(pattern) {
        let why = format!("a pattern is about one command, and `{operator}` separates commands");
        return Some(report(severity, &why).help(parts_help(pattern, operator)));
    }
    let quote = pattern.split_whitespace().any(|word| {
        ['"', '\'']
            .iter()
            .any(|&quote| word.starts_with(quote) || word.ends_with(quote))
    });
    if quote {
        let plain: String = pattern.chars().filter(|c| !"\"'".contains(*c)).collect();
        let finding = report(severity, "words are compared without their quotes");
        return Some(finding.help(format!("write `{}`", shown(&plain))));
    }
    None
}

/// Programs whose first word is a subcommand.
#[rustfmt::skip] // Alphabetical.
const WITH_SUBCOMMANDS: &[&str] = &[
    "apt", "aws", "brew", "bun", "cargo", "docker", "dotnet", "gcloud", "gh", "git", "go", "helm", "kubectl", "npm", "pip",
    "pnpm", "podman", "systemctl", "terraform", "yarn",
];

/// Programs to which patterns with the signs of regular expressions are given.
const TAKES_REGEX: &[&str] = &["awk", "egrep", "grep", "jq", "perl", "rg", "sed"];

/// Returns the sign by which a pattern is a regular expression.
fn regex_sign(pattern: &str) -> Option<&'static str> {
    let mut words = pattern.split_whitespace();
    let program = words.next()?;
    if program.starts_with('^') {
        return Some("^");
    }
    if TAKES_REGEX.contains(&program) {
        return None;
    }
    let classes = [
        "\\s", "\\S", "\\b", "\\d", "\\D", "\\w", "\\W", "\\.", "(?:", "(?i",
    ];
    if let Some(sign) = classes.into_iter().find(|sign| pattern.contains(sign)) {
        return Some(sign);
    }
    if pattern.ends_with('$') && !pattern.ends_with(" $") {
        return Some("$");
    }
    if pattern.contains('(') && pattern.contains('|') && pattern.contains(')') {
        return Some("(…|…)");
    }
    let dot = |word: &str| [".*", ".+"].into_iter().find(|sign| word.ends_with(sign));
    // `python3.*` and `rm core.*` mean files.
    let before_is_digit = |word: &str| {
        word.trim_end_matches(".*")
            .ends_with(|c: char| c.is_ascii_digit())
    };
    if let Some(sign) = dot(program).filter(|_| !before_is_digit(program)) {
        return Some(sign);
    }
    let has_subcommands = WITH_SUBCOMMANDS.contains(&program);
    words.next().and_then(dot).filter(|_| has_subcommands)
}

/// Returns the pattern of commands that a simple regular expression stands for.
fn without_regex(pattern: &str) -> Option<String> {
    let plain = pattern.trim_start_matches('^').trim_end_matches('$');
    let plain = ["\\s+", "\\s*", "\\s", "\\b"]
        .iter()
        .fold(plain.to_owned(), |text, sign| text.replace(sign, " "));
    let plain = plain.replace("\\.", ".");
    let words: Vec<String> = plain
        .split_whitespace()
        .map(
            |word| match word.strip_suffix(".*").or_else(|| word.strip_suffix(".+")) {
                None => word.to_owned(),
                Some("") => "*".to_owned(),
                Some(start) => format!("{start} *"),
            },
        )
        .collect();
    let plain = words.join(" ");
    let is_plain = !plain.is_empty()
        && !plain.contains(['\\', '^', '$', '(', ')', '|', '[', ']', '+', '"', '\'']);
    is_plain.then_some(plain)
}

/// Returns an operator of the shell in a pattern.
fn operator(pattern: &str) -> Option<&'static str> {
    let operators = ["&&", "||", "|", ";", ">>", ">", "<", "&"];
    let mut words = pattern.split_whitespace();
    let program = words.next()?;
    let takes_commands = pattern.contains("-exec") || pattern.contains("-ok");
    let words = pattern.split_whitespace();
    for word in words {
        let word = word.trim_start_matches(|c: char| c.is_ascii_digit());
        for operator in operators {
            let is_whole = word == operator || word.starts_with(operator) && operator != "&";
            let is_joined = matches!(operator, "&&" | "||") && word.contains(operator)
                || operator == ";" && word.ends_with(';')
                || operator == "|" && word.contains('|') && !TAKES_REGEX.contains(&program);
            if (is_whole || is_joined) && !(operator == ";" && takes_commands) {
                return Some(operator);
            }
        }
    }
    None
}

/// Returns the help: the parts of a line as patterns.
fn parts_help(pattern: &str, operator: &str) -> String {
    if matches!(operator, ">" | ">>" | "<") {
        return "use `path` or `writes: true` instead of `command` for files that a line writes"
            .to_owned();
    }
    let parts = pattern.split(['&', '|', ';']).map(str::trim);
    let parts: Vec<String> = parts
        .filter(|part| !part.is_empty())
        .map(|part| format!("\"{}\"", shown(part)))
        .collect();
    format!(
        "write a pattern for each command: `command: [{}]`",
        parts.join(", ")
    )
}
