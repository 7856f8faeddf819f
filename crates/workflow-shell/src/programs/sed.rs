//! `sed`: its options, and scripts that consist of forms that only read.
//!
//! The forms are `p`, `d`, `s/a/b/` and their kind behind lines and expressions. Whatever else a script has, such as `w`, `e` and the
//! commands that take a text, makes it unknown.

use super::outcome::{Invocation, Outcome, Result, code_words, expansion};
use super::table::read;
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::file_write::FileWrite;
use crate::word::Word;

/// Returns the outcome of `sed`.
pub(super) fn outcome(invocation: &Invocation<'_>) -> Result {
    let known = read("sed", invocation.arguments)?;
    let in_place = known
        .options()
        .find(|(name, _)| matches!(*name, "-i" | "--in-place"));
    let mut operands = known.operands.as_slice();
    if in_place.is_some()
        && let [first, rest @ ..] = operands
        && first.shape().is_empty()
    {
        // The suffix in BSD's syntax.
        operands = rest;
    }
    let mut scripts = known.values(&["-e", "--expression"]);
    if scripts.is_empty() {
        let [script, rest @ ..] = operands else {
            return Err(Unknown::new("sed", UnknownReason::Missing));
        };
        scripts.push(script);
        operands = rest;
    }
    let mut text = String::new();
    for word in scripts {
        let has_numbers = word.has_numbers_only && !word.is_glob;
        if word.shape().contains('\0') && !has_numbers || word.may_add_words {
            return Err(expansion(word));
        }
        // All numbers have the same place in a script.
        text += &word.shape().replace('\0', "1");
        text.push('\n');
    }
    if let Some(command) = unknown_command(&text) {
        return Ok(Outcome {
            accesses: code_words(command),
            ..Outcome::unknown(command.trim_end(), UnknownReason::Code)
        });
    }
    let Some((_, suffix)) = in_place else {
        return Ok(Outcome::reads());
    };
    let suffix = suffix.filter(|suffix| !suffix.shape().is_empty());
    Ok(Outcome::of(Effect::Writes(written(operands, suffix))))
}

/// Returns the files that `-i` writes, and their copies with the suffix.
fn written(operands: &[Word], suffix: Option<&Word>) -> Vec<FileWrite> {
    let operation = || "`sed -i`".to_owned();
    // A suffix may be the pattern of a path.
    let is_pattern = suffix.is_some_and(|suffix| suffix.shape().contains(['*', '/']));
    if operands.is_empty() || is_pattern {
        return vec![FileWrite::anywhere(operation())];
    }
    let copy = |word: &Word| Word {
        shape: word.shape.clone() + suffix.map_or("", Word::shape),
        ..word.clone()
    };
    let copies = operands.iter().map(copy).filter(|_| suffix.is_some());
    let files = operands.iter().cloned().chain(copies);
    files
        .map(|word| FileWrite::to_word(operation(), &word))
        .collect()
}

/// Returns a script from its first command that is not known to read.
fn unknown_command(script: &str) -> Option<&str> {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}']);
        if rest.is_empty() {
            return None;
        }
        match behind_command(rest) {
            Some(behind) => rest = behind,
            None => return Some(rest),
        }
    }
}

/// Returns the text behind a command that only reads.
fn behind_command(script: &str) -> Option<&str> {
    let mut rest = behind_address(script)?;
    if let Some(second) = rest.strip_prefix(',') {
        let second = second.trim_start_matches([' ', '+']);
        rest = behind_address(second).filter(|rest| rest.len() < second.len())?;
    }
    let mut characters = rest.trim_start_matches([' ', '!']).chars();
    let command = characters.next()?;
    let behind = characters.as_str();
    match command {
        '{' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' => {
            Some(behind)
        }
        'q' => Some(without_digits(behind)),
        // A label.
        ':' | 'b' | 't' => Some(behind.trim_start_matches(|c: char| c.is_ascii_alphanumeric())),
        's' => {
            let delimiter = characters.next()?;
            let is_plain = delimiter.is_ascii_punctuation() && !"\\[];{}".contains(delimiter);
            let expression = characters.as_str();
            let replacement = behind_expression(expression, delimiter).filter(|_| is_plain)?;
            let flags = behind_quoted(replacement, delimiter, false)?;
            let is_flag = |c: char| c.is_ascii_digit() || "gpiI".contains(c);
            Some(flags.trim_start_matches(is_flag))
        }
        _ => None,
    }
}

/// Returns the text behind an address, if there is one.
fn behind_address(text: &str) -> Option<&str> {
    if let Some(expression) = text.strip_prefix('/') {
        return Some(behind_expression(expression, '/')?.trim_start_matches('I'));
    }
    let behind = text
        .strip_prefix('$')
        .unwrap_or_else(|| without_digits(text));
    // Every so many lines.
    Some(behind.strip_prefix('~').map_or(behind, without_digits))
}

fn without_digits(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii_digit())
}

/// Returns the text behind a regular expression and its delimiter. A list in brackets has neither the delimiter nor an escaped bracket,
/// because not all programs read these in the same way.
pub(super) fn behind_expression(text: &str, delimiter: char) -> Option<&str> {
    let mut in_list = false;
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        let behind = rest.as_str();
        match next {
            '\n' => return None,
            '\\' => {
                let escaped = rest.next()?;
                if escaped == '\n' || escaped == ']' && in_list {
                    return None;
                }
            }
            '[' if in_list => {
                // A class: `[[:alpha:]_]`.
                let (class, behind) = behind.strip_prefix(':')?.split_once(":]")?;
                let is_plain = class.bytes().all(|byte| byte.is_ascii_lowercase());
                is_plain.then_some(())?;
                rest = behind.chars();
            }
            '[' => {
                let behind = behind.strip_prefix('^').unwrap_or(behind);
                if behind.starts_with(']') {
                    return None;
                }
                in_list = true;
            }
            ']' => in_list = false,
            next if next == delimiter => return (!in_list).then_some(behind),
            _ => {}
        }
    }
    None
}

/// Returns the text behind a text on one line and its end. `\` quotes a character, and joins lines if that is allowed.
pub(super) fn behind_quoted(text: &str, end: char, joins_lines: bool) -> Option<&str> {
    let mut rest = text.chars();
    loop {
        match rest.next()? {
            '\n' => return None,
            '\\' => drop(rest.next().filter(|c| joins_lines || *c != '\n')?),
            next if next == end => return Some(rest.as_str()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
