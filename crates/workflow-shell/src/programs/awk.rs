//! `awk`: its options, and programs that consist of forms that only read.
//!
//! The forms are fields, comparisons, assignments, `print`, conditions, loops and functions that compute. A `>` that may be a redirection,
//! a pipe, and a function that is not listed make a program unknown.

use super::outcome::{Invocation, NestedCommand, Outcome, Result, code_words, expansion};
use super::sed::{behind_expression, behind_quoted};
use super::table::{is_listed, read};
use crate::effect::{Unknown, UnknownReason};
use crate::word::{Word, is_of_name};

/// Returns the outcome of `awk`.
pub(super) fn outcome(invocation: &Invocation<'_>) -> Result {
    let given = read("awk", invocation.arguments)?;
    let Some(program) = given.operands.first() else {
        return Err(Unknown::new(invocation.name, UnknownReason::Missing));
    };
    if program.shape().contains('\0') || program.may_add_words {
        return Err(expansion(program));
    }
    let Some(part) = unknown_part(program.shape()) else {
        return Ok(Outcome::reads());
    };
    // What it may run, for rules on commands.
    let texts = program.shape().split('"').skip(1).step_by(2);
    let scripts = texts.map(|text| NestedCommand::Script(Word::literal(text)));
    Ok(Outcome {
        guesses: scripts.collect(),
        accesses: code_words(program.shape()),
        ..Outcome::unknown(part, UnknownReason::Code)
    })
}

/// Returns a program from its first part that is not known to read.
///
/// `>` compares in parentheses, and in a pattern. Anywhere else it may write.
fn unknown_part(program: &str) -> Option<&str> {
    let (mut parentheses, mut braces) = (0_usize, 0_usize);
    let (mut rest, mut last) = (program, "");
    while !rest.is_empty() {
        let Some(behind) = behind_token(rest, last) else {
            return Some(rest);
        };
        let token = &rest[..rest.len() - behind.len()];
        let is_name = token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let is_known = match token {
            "(" => {
                parentheses += 1;
                true
            }
            "{" => {
                braces += 1;
                parentheses == 0
            }
            ")" if parentheses > 0 => {
                parentheses -= 1;
                true
            }
            "}" if braces > 0 => {
                braces -= 1;
                true
            }
            ")" | "}" => false,
            ">" => parentheses > 0 || braces == 0,
            "print" | "printf" => parentheses == 0,
            name if is_name && behind.trim_start_matches([' ', '\t']).starts_with('(') => {
                is_listed("awk_calls", name)
            }
            _ => true,
        };
        if !is_known {
            return Some(rest);
        }
        if !matches!(token, " " | "\t") {
            last = token;
        }
        rest = behind;
    }
    (parentheses + braces > 0).then_some(program)
}

/// Returns the text behind a token; `last` is the one before it.
fn behind_token<'a>(text: &'a str, last: &str) -> Option<&'a str> {
    let mut characters = text.chars();
    let first = characters.next()?;
    let behind = characters.as_str();
    match first {
        '"' => behind_quoted(behind, '"', true),
        '/' if matches!(
            last,
            "" | "(" | "," | "~" | "!" | "&&" | "||" | "{" | "}" | ";" | "\n"
        ) =>
        {
            behind_expression(behind, '/')
        }
        '/' => {
            let is_value = last == "]" || last.starts_with(is_of_name);
            (is_value && !is_listed("awk_operators", last)).then_some(behind)
        }
        '|' | '&' => behind.strip_prefix(first),
        '>' => match behind.strip_prefix('=') {
            Some(behind) => Some(behind),
            None => (!behind.starts_with('>')).then_some(behind),
        },
        // A name may follow at once.
        '0'..='9' | '.' => {
            Some(behind.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'))
        }
        first if is_of_name(first) => Some(behind.trim_start_matches(is_of_name)),
        first => " \t\n;,?:~!%*^=<$(){}[]+-"
            .contains(first)
            .then_some(behind),
    }
}

#[cfg(test)]
mod tests;
