//! The grammar of the lines, and how a text is quoted.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::numbers::Numbers;

/// The depth from which on each rule has its first alternative.
const MAX_DEPTH: usize = 7;

/// What is inserted anywhere: most of it does not change what a line means. None has a slash or a name.
const INSERTED: &[&str] = &[
    "''", "\"\"", "\\", "\\\n", "\\ ", "`", "~", "?", "@", "%", " ", "\n", "$", "\"", "'", "{",
    "}", "(", ")", "[", "]", "<", "=", "+", ":", "!", "#", "&", ";", "*", ",", "-",
];

/// The alternatives of each rule.
static RULES: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let mut rules: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut name = "";
    for line in include_str!("../../seeds/canary.txt").lines() {
        match line.strip_prefix("    ") {
            Some(alternative) => rules.entry(name).or_default().push(alternative),
            None => name = line.trim_end_matches(':'),
        }
    }
    rules
});

/// Returns a line; the same for the same seed and number.
pub fn line(seed: u64, number: u64) -> String {
    let mut numbers = Numbers::new(seed.rotate_left(32) ^ number);
    let mut line = text("line", 0, &mut numbers);
    while numbers.below(5) == 0 {
        let at = (0..=line.len()).filter(|at| line.is_char_boundary(*at));
        let at: Vec<usize> = at.collect();
        let inserted = INSERTED[numbers.below(INSERTED.len())];
        line.insert_str(at[numbers.below(at.len())], inserted);
    }
    line
}

/// Returns a text of a rule.
fn text(rule: &str, depth: usize, numbers: &mut Numbers) -> String {
    let alternatives = &RULES[rule];
    let chosen = match depth {
        MAX_DEPTH.. => 0,
        _ => numbers.below(alternatives.len()),
    };
    let mut parts = alternatives[chosen].split(['⟨', '⟩']);
    let mut whole = parts.next().unwrap_or_default().replace("\\n", "\n");
    while let (Some(rule), Some(behind)) = (parts.next(), parts.next()) {
        whole += &match rule.strip_prefix('\'') {
            Some(rule) => quoted(&text(rule, depth + 1, numbers), numbers.below(8)),
            None => text(rule, depth + 1, numbers),
        };
        whole += &behind.replace("\\n", "\n");
    }
    whole
}

/// Returns a text in quotes of this style.
fn quoted(text: &str, style: usize) -> String {
    let escaped = |special: &str| -> String {
        let escape = |c: char| {
            if special.contains(c) {
                format!("\\{c}")
            } else {
                c.into()
            }
        };
        text.chars().map(escape).collect()
    };
    match style {
        0 => format!("\"{}\"", escaped("$`\"\\")),
        1 => format!(
            "$'{}'",
            escaped("'\\").replace('$', "\\x24").replace('-', "\\455")
        ),
        2 => format!("\"\"{}''", text.replace(['\n', '\''], "")),
        3 if !text.is_empty() && !text.contains('\n') => escaped(" \t$`\"'\\(){}[]<>|&;*?~#=!"),
        4 if text.bytes().all(|byte| byte.is_ascii_alphanumeric()) => text.to_owned(),
        _ => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
