//! `awk`: its options, and the subset of its language that only reads.

use super::options::{Place, expansion, split};
use super::outcome::{Invocation, NestedCommand, Outcome, Result};
use crate::effect::{Unknown, UnknownReason};
use crate::word::Word;

const OPTIONS: &str =
    "-F= -v= --field-separator= --assign= --re-interval --posix --traditional --sandbox --csv -S";

/// Returns the outcome of `awk`.
pub(super) fn outcome(invocation: &Invocation<'_>) -> Result {
    let known = split(invocation.arguments, OPTIONS, Place::Leading)?;
    let rest = &invocation.arguments[known.length..];
    let Some(program) = rest.first() else {
        return Err(Unknown::new(invocation.name, UnknownReason::Missing));
    };
    if program.shape().contains('\0') || program.may_add_words {
        return Err(expansion(program));
    }
    let scripts = commands(program.shape())
        .ok_or_else(|| Unknown::new(program.shape(), UnknownReason::Code))?;
    let scripts = scripts.into_iter().map(Word::literal);
    Ok(Outcome::runs(scripts.map(NestedCommand::Script)))
}

/// The kind of the last token, which decides whether `/` divides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// A value ends here: `/` divides.
    Value,
    /// A value must follow: `/` starts a regular expression.
    Operator,
    /// Either is possible.
    Unclear,
}

/// Returns the commands that a program runs; `None` if it may write a file, or run a command that is not a literal.
///
/// `>` is a comparison in parentheses, unless a `for` has a statement there, and in a pattern. Anywhere else it may write.
#[expect(clippy::too_many_lines, reason = "one match over the tokens")]
fn commands(program: &str) -> Option<Vec<&str>> {
    let mut commands = Vec::new();
    // The literal that has just ended, if it is a whole expression.
    let mut literal: Option<&str> = None;
    let mut rest = program;
    let mut last = Last::Operator;
    // For each open parenthesis, whether it belongs to `if`, `while` or `for`.
    let mut open: Vec<bool> = Vec::new();
    let mut braces = 0_usize;
    let mut is_condition = false;
    while let Some(next) = rest.chars().next() {
        let after = &rest[next.len_utf8()..];
        rest = after;
        let before = if next == '|' { literal } else { None };
        if !matches!(next, ' ' | '\t') {
            literal = None;
        }
        match next {
            ' ' | '\t' | '\r' => {}
            '\n' | ';' | ',' | '?' | ':' | '~' | '!' | '%' | '*' | '^' | '=' | '<' | '&' | '$' => {
                last = Last::Operator;
            }
            '+' | '-' => {
                if let Some(more) = rest.strip_prefix(next) {
                    rest = more;
                    last = Last::Unclear;
                } else {
                    last = Last::Operator;
                }
            }
            '\\' => match rest.strip_prefix('\n') {
                Some(more) => rest = more,
                None => return None,
            },
            '#' => rest = rest.find('\n').map_or("", |at| &rest[at..]),
            '(' => {
                open.push(std::mem::take(&mut is_condition));
                last = Last::Operator;
            }
            ')' => {
                last = match open.pop() {
                    None => return None,
                    // A statement follows, which may start with a regular expression.
                    Some(true) => Last::Unclear,
                    Some(false) => Last::Value,
                };
            }
            '[' => last = Last::Operator,
            ']' => last = Last::Value,
            '{' => {
                if !open.is_empty() {
                    return None;
                }
                braces += 1;
                last = Last::Operator;
            }
            '}' => {
                braces = braces.checked_sub(1)?;
                last = Last::Operator;
            }
            '"' => match string(rest) {
                Some(more) => {
                    let text = &rest[..rest.len() - more.len() - 1];
                    literal = (last == Last::Operator && !text.contains('\\')).then_some(text);
                    rest = more;
                    last = Last::Value;
                }
                None => return None,
            },
            '/' => match last {
                Last::Value => last = Last::Operator,
                Last::Unclear => return None,
                Last::Operator => match regex(rest) {
                    Some(more) => {
                        rest = more;
                        last = Last::Value;
                    }
                    None => return None,
                },
            },
            '|' => match rest.strip_prefix('|') {
                Some(more) => {
                    rest = more;
                    last = Last::Operator;
                }
                None => match (piped(rest), before, getline(rest)) {
                    (Some((filter, more)), ..) => {
                        commands.push(filter);
                        rest = more;
                        last = Last::Value;
                    }
                    (None, Some(command), Some(more)) => {
                        commands.push(command);
                        rest = more;
                        last = Last::Operator;
                    }
                    _ => return None,
                },
            },
            '>' => {
                if let Some(more) = rest.strip_prefix('=') {
                    rest = more;
                } else if rest.starts_with('>') {
                    return None;
                } else if open.is_empty() && braces > 0 {
                    match standard_stream(rest) {
                        Some(more) => rest = more,
                        None => return None,
                    }
                }
                last = Last::Operator;
            }
            '.' | '0'..='9' => {
                let end = rest
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '.')
                    .unwrap_or(rest.len());
                rest = &rest[end..];
                last = Last::Value;
            }
            letter if letter.is_ascii_alphabetic() || letter == '_' => {
                let end = rest
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .unwrap_or(rest.len());
                let length = letter.len_utf8() + end;
                let name = &program[program.len() - after.len() - letter.len_utf8()..][..length];
                rest = &rest[end..];
                is_condition = matches!(name, "if" | "while" | "for" | "switch");
                last = match name {
                    "system" | "extension" => return None,
                    "print" | "printf" if !open.is_empty() => return None,
                    "print" | "printf" | "getline" | "return" | "in" | "if" | "else" | "while"
                    | "for" | "do" | "case" | "exit" | "delete" | "function" | "func" | "BEGIN"
                    | "END" | "next" | "nextfile" | "break" | "continue" | "switch" | "default" => {
                        Last::Operator
                    }
                    "length" => Last::Unclear,
                    _ => Last::Value,
                };
            }
            _ => return None,
        }
    }
    (open.is_empty() && braces == 0).then_some(commands)
}

/// Returns the command behind `|` that only filters, and the text behind it: `"sort -rn"`, to the end of the statement.
fn piped(rest: &str) -> Option<(&str, &str)> {
    let rest = rest.trim_start_matches([' ', '\t']).strip_prefix('"')?;
    let more = string(rest)?;
    let command = &rest[..rest.len() - more.len() - 1];
    let program = command.split(' ').next().unwrap_or_default();
    let filters = matches!(
        program,
        "sort" | "uniq" | "head" | "tail" | "wc" | "cat" | "column" | "tr" | "cut" | "grep" | "nl"
    );
    let ends = more
        .trim_start_matches([' ', '\t'])
        .starts_with([';', '}', '\n']);
    (filters && ends && !command.contains('\\')).then_some((command, more))
}

/// Returns the text behind `getline`.
fn getline(rest: &str) -> Option<&str> {
    rest.trim_start_matches([' ', '\t']).strip_prefix("getline")
}

/// Returns the text behind `"/dev/stderr"` and the end of its statement.
fn standard_stream(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches([' ', '\t']);
    let rest = rest
        .strip_prefix("\"/dev/stderr\"")
        .or_else(|| rest.strip_prefix("\"/dev/stdout\""))?;
    let rest = rest.trim_start_matches([' ', '\t']);
    rest.starts_with([';', '}', '\n']).then_some(rest)
}

/// Returns the text behind a string literal.
fn string(rest: &str) -> Option<&str> {
    let mut characters = rest.char_indices();
    while let Some((at, next)) = characters.next() {
        match next {
            '\\' => drop(characters.next()?),
            '"' => return Some(&rest[at + 1..]),
            '\n' => return None,
            _ => {}
        }
    }
    None
}

/// Returns the text behind a regular expression. A slash in brackets is not read in the same way everywhere.
fn regex(rest: &str) -> Option<&str> {
    let (mut in_bracket, mut at_start) = (false, false);
    let mut characters = rest.char_indices();
    while let Some((at, next)) = characters.next() {
        match next {
            '\n' => return None,
            '\\' => drop(characters.next().filter(|(_, next)| *next != '\n')?),
            '/' if in_bracket => return None,
            // The bracket of a class, as in `[[:alpha:]_]`, does not end the list.
            '[' if in_bracket => match rest[at + 1..].chars().next()? {
                ':' => {
                    let class = &rest[at + 2..];
                    let length = class.find(":]")?;
                    class[..length]
                        .bytes()
                        .all(|byte| byte.is_ascii_lowercase())
                        .then_some(())?;
                    characters.nth(length + 2)?;
                }
                '.' | '=' => return None,
                _ => {}
            },
            '/' => return Some(&rest[at + 1..]),
            '[' if !in_bracket => {
                in_bracket = true;
                at_start = true;
                continue;
            }
            '^' if at_start => continue,
            ']' if in_bracket && !at_start => in_bracket = false,
            _ => {}
        }
        at_start = false;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::commands;

    #[test]
    fn programs_that_only_read_are_known() {
        for program in [
            "{print $1}",
            "NR==1",
            "$3 > 100 {print $1}",
            "{ if ($1 > m) m = $1 } END {print m}",
            "BEGIN{FS=\":\"} {print $1, $2}",
            "/a|b/ && !/c/",
            "{s += $1 / 2} END {print s/NR}",
            "{print length($0)}",
            "NR>=10 && NR<=20",
            "{a[$1]++} END {for (k in a) print k, a[k]}",
            "{printf \"%s\\n\", $1}",
            "$1 ~ /^[a-z]+$/",
            "/^[[:space:]_]*[[:alpha:]]+$/{print}",
            "{print > \"/dev/stderr\"}",
            "BEGIN { x = (3 > 2) ? 1 : 0 }",
            "NR==n{print; exit}",
            "{gsub(/[ \\t]+/, \" \"); print}",
            "# a comment\n{print}",
        ] {
            assert!(
                commands(program).is_some_and(|commands| commands.is_empty()),
                "{program:?}"
            );
        }
    }

    #[test]
    fn other_programs_are_unknown() {
        for program in [
            "{print > \"x\"}",
            "{print >> \"x\"}",
            "{print | \"sh\"}",
            "BEGIN{system(\"x\")}",
            "{print /\"/ > \"pwned\"}",
            "BEGIN{print \"a\",\n \"b\" > \"pwned\"}",
            "BEGIN{print \"x\" \\\n > \"pwned\"}",
            "BEGIN{x=1; print x ? \"a\" : \"b\" > \"pwned\"}",
            "\"date\" | getline d",
            "@include \"x\"",
            "BEGIN{for (;;print > \"x\") break}",
            "{print(1) > \"x\"}",
            "{print \"a\" |& \"sh\"}",
            "BEGIN { if (1) /\"/; print > \"x\" #\"\n}",
            "{print > \"/dev/stderr\" \"x\"}",
            "BEGIN{f=\"system\"; @f(\"x\")}",
            "{print $1, $2 > $3}",
            "{x[1]/\"/; print > \"x\" }",
            "/[[:alpha:]/\"]/{print > \"x\"} #\"",
            "/[[:alpha:]\"]/{print > \"x\"} #\"",
        ] {
            assert!(
                commands(program).is_none_or(|commands| !commands.is_empty()),
                "{program:?}"
            );
        }
    }
}
