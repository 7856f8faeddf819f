//! Numbers that commands print.
//!
//! An arithmetic expression evaluates the text of its variables again, and an index in that text may run commands.
//! So only values that are known to be numbers are harmless in one.

use super::expand::expand;
use super::known_outputs::ONE_NUMBER;
use super::output_row::lists;
use super::outputs::{text, texts};
use super::variables::Variables;
use crate::parse::tree::{Command, CommandKind, List, ListItem, RawWord};
use crate::word::{UNKNOWN, Word};

/// The numbers that a substitution prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    One,
    /// Those of lines, each on a line.
    OfLines,
    Several,
}

/// Returns which numbers a substitution prints, if it prints nothing else.
pub(super) fn printed_numbers(list: &List, variables: &Variables) -> Option<Numbers> {
    const PROGRAMS: &[&str] = &[
        "cut", "date", "egrep", "git", "grep", "nproc", "seq", "stat", "wc",
    ];
    let [ListItem { pipeline, .. }] = list.as_slice() else {
        return None;
    };
    let CommandKind::Simple(command) = &pipeline.last()?.kind else {
        return None;
    };
    let program = text(command.words.first()?)?;
    if !PROGRAMS.contains(&program) || variables.may_redefine() {
        return None;
    }
    let words = plain_words(&command.words, variables);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["seq", "-w", rest @ ..] | ["seq", rest @ ..] => {
            // No option follows a number.
            let starts_with_number = rest.first().is_some_and(|word| is_number(word));
            starts_with_number.then_some(Numbers::Several)
        }
        ["wc", letters] if letters.len() > 2 => {
            let letters = letters.strip_prefix('-')?;
            let is_known = letters.bytes().all(|byte| b"clmwL".contains(&byte));
            is_known.then_some(Numbers::Several)
        }
        ["cut", rest @ ..] => cuts_line_numbers(rest, pipeline, variables),
        words => lists(ONE_NUMBER, words).then_some(Numbers::One),
    }
}

/// Returns the words of a command; a dash, which no row has, for one that may be an option or several words.
fn plain_words(words: &[RawWord], variables: &Variables) -> Vec<String> {
    let plain = |raw: &RawWord| {
        let [word] = <[Word; 1]>::try_from(expand(raw, variables)).ok()?;
        let is_one = word.is_one || !word.shape.contains(UNKNOWN);
        (is_one && !word.is_glob && !word.may_hide_option()).then_some(word.shape)
    };
    let words = words.iter().map(plain);
    words.map(|word| word.unwrap_or("-".to_owned())).collect()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns which numbers `cut` prints behind a search: `grep -n text file | head -1 | cut -d: -f1`.
fn cuts_line_numbers(
    arguments: &[&str],
    pipeline: &[Command],
    variables: &Variables,
) -> Option<Numbers> {
    let is_first = matches!(
        arguments,
        ["-d:", "-f1"] | ["-f1", "-d:"] | ["-d", ":", "-f1"] | ["-d", ":", "-f", "1"]
    );
    let stages: Option<Vec<_>> = pipeline.iter().map(texts).collect();
    let stages = stages.filter(|_| is_first)?;
    let numbers = match stages.as_slice() {
        [_, _] => Numbers::OfLines,
        [_, between, _]
            if matches!(
                between.as_slice(),
                [Some("head" | "tail"), Some("-1" | "-n1")]
                    | [Some("head" | "tail"), Some("-n"), Some("1")]
            ) =>
        {
            Numbers::One
        }
        _ => return None,
    };
    let CommandKind::Simple(search) = &pipeline.first()?.kind else {
        return None;
    };
    let search = plain_words(&search.words, variables);
    // More than one file, or a directory, prints names.
    let [program, options @ .., pattern, file] = search.as_slice() else {
        return None;
    };
    let letters = options.iter().map(|word| word.strip_prefix('-'));
    let letters: Option<String> = letters.collect();
    let is_known = letters.is_some_and(|letters| {
        letters.contains('n') && letters.bytes().all(|byte| b"niEFwx".contains(&byte))
    });
    (program == "grep" && is_known && !pattern.starts_with('-') && !file.starts_with('-'))
        .then_some(numbers)
}

impl Word {
    /// Returns whether it is a number, or a text that is harmless in an arithmetic expression.
    pub(super) fn is_arithmetic(&self) -> bool {
        let is_harmless = |byte: u8| byte.is_ascii_digit() || b" +-*/%(){}.,".contains(&byte);
        !self.is_glob && self.shape.bytes().all(is_harmless)
            || self.has_numbers_only && self.shape == "\0"
    }
}
