//! Patterns of commands that look like regular expressions, like whole shell lines, or like one command in pieces.

use workflow_shell::{Effect, UnknownReason, analyze};

use super::{corrected, mistake, no_regex};
use crate::diagnostic::{Finding, Severity, shown};
use crate::pattern::directory_and_words;
use crate::text::join;

const QUOTES: [char; 2] = ['"', '\''];

/// A pattern of commands.
pub(super) fn pattern(pattern: &str) -> Option<Finding> {
    let (_, pattern) = directory_and_words(pattern);
    if let Some(sign) = regex_sign(pattern) {
        let why = no_regex(sign);
        let help = "write the words of one command, with `*` for any characters";
        return Some(match without_regex(pattern) {
            Some(plain) => corrected(why, pattern, &plain),
            None => mistake(why, help),
        });
    }
    if let Some(operator) = operator(pattern) {
        let why = format!("a pattern is about one command, and `{operator}` separates commands");
        return Some(mistake(why, parts_help(pattern, operator)));
    }
    let is_quoted = |word: &str| word.starts_with(QUOTES) || word.ends_with(QUOTES);
    if pattern.split_whitespace().any(is_quoted) {
        let help = format!("write `{}`", shown(&pattern.replace(QUOTES, "")));
        return Some(mistake("words are compared without their quotes", help));
    }
    let program = pattern.split_whitespace().next()?;
    if program.starts_with('-') {
        let help = "write the program before it: `python3 -m pytest`";
        return Some(mistake("it is an option without its program", help));
    }
    if program.starts_with("mcp__") {
        let tool = shown(program);
        let help = format!("write `{{tool: {tool}}}`; a rule names the tool in place of `bash`");
        return Some(Finding {
            severity: Severity::Warning,
            ..mistake("it is the name of a tool of an MCP server", help)
        });
    }
    let lower = program.to_ascii_lowercase();
    (lower != program && is_program(&lower) && !is_program(program)).then(|| {
        let is_upper = !pattern.contains(|c: char| c.is_lowercase());
        let to = if is_upper {
            pattern.to_lowercase()
        } else {
            pattern.replacen(program, &lower, 1)
        };
        let why = format!("case counts, and the usual program is `{lower}`");
        corrected(why, pattern, &to)
    })
}

/// Returns whether a name is that of a usual program.
fn is_program(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.chars().all(is_plain) {
        return false;
    }
    let commands = analyze(name).commands;
    let effect = commands.first().map(|command| &command.effect);
    !matches!(effect, Some(Effect::Unknown(unknown)) if unknown.reason == UnknownReason::Program)
}

/// Returns whether patterns are the words of one command: `[npm, test]`.
pub(crate) fn is_one_command(patterns: &[String]) -> bool {
    let [program, second, ..] = patterns else {
        return false;
    };
    let takes_words = WITH_SUBCOMMANDS.contains(&&**program)
        || ["just", "make", "python", "python3"].contains(&&**program);
    takes_words && SUBCOMMANDS.contains(&&**second)
}

/// Usual subcommands and targets, which are no programs of interest.
#[rustfmt::skip] // Alphabetical.
const SUBCOMMANDS: &[&str] = &[
    "add", "build", "check", "ci", "clippy", "commit", "deploy", "fmt", "format", "install", "lint", "publish", "push", "run", "start",
    "status", "test",
];

/// Programs whose first word is a subcommand.
#[rustfmt::skip] // Alphabetical.
const WITH_SUBCOMMANDS: &[&str] = &[
    "apt", "aws", "brew", "bun", "cargo", "docker", "dotnet", "gcloud", "gh", "git", "go", "helm", "kubectl", "npm", "pip",
    "npx", "pnpm", "podman", "poetry", "systemctl", "terraform", "uv", "yarn",
];

/// Programs to which patterns with the signs of regular expressions are given.
const TAKES_REGEX: &[&str] = &[
    "ack", "ag", "awk", "egrep", "fd", "find", "grep", "jq", "perl", "rg", "sed",
];

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
    let is_digit = |c: char| c.is_ascii_digit();
    let before_is_digit = |word: &str| word.trim_end_matches(".*").ends_with(is_digit);
    if let Some(sign) = dot(program).filter(|_| !before_is_digit(program)) {
        return Some(sign);
    }
    let has_subcommands = WITH_SUBCOMMANDS.contains(&program);
    words.next().and_then(dot).filter(|_| has_subcommands)
}

/// Returns the pattern of commands that a simple regular expression stands for.
fn without_regex(pattern: &str) -> Option<String> {
    let plain = pattern.trim_start_matches('^').trim_end_matches('$');
    let signs = ["\\s+", "\\s*", "\\s", "\\b"].iter();
    let plain = signs.fold(plain.to_owned(), |text, sign| text.replace(sign, " "));
    let plain = plain.replace("\\.", ".");
    let words = plain.split_whitespace().map(|word| {
        match word.strip_suffix(".*").or_else(|| word.strip_suffix(".+")) {
            None => word.to_owned(),
            Some("") => "*".to_owned(),
            Some(start) => format!("{start} *"),
        }
    });
    let plain = join(words, " ");
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
    let takes_regex = TAKES_REGEX.contains(&program) || words.next() == Some("grep");
    let words = pattern.split_whitespace();
    for word in words {
        let word = word.trim_start_matches(|c: char| c.is_ascii_digit());
        for operator in operators {
            let is_whole = word == operator || word.starts_with(operator) && operator != "&";
            let is_joined = matches!(operator, "&&" | "||") && word.contains(operator)
                || operator == ";" && word.ends_with(';')
                || operator == "|" && word.contains('|') && !takes_regex;
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
        let help = "use `path` or `writes: true` instead of `command` for files that a line writes";
        return help.to_owned();
    }
    let parts = pattern.split(['&', '|', ';']).map(str::trim);
    let parts = parts.filter(|part| !part.is_empty());
    let parts = join(parts.map(|part| format!("\"{}\"", shown(part))), ", ");
    format!("write a pattern for each command: `[{parts}]`")
}
