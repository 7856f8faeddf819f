//! Programs whose operands are settings, or options without a dash, and those that make links.

use super::outcome::{Invocation, Result, argument};
use crate::word::Word;

/// Letters of the options of `cp` and `ln` that do so; each long one has one of them.
const LINKING: [char; 6] = ['a', 'd', 'P', 'r', 'R', 's'];

/// Returns the arguments of `dd` with dashes: `if=x` is `--if=x`. What it writes is an operand.
pub(super) fn settings(arguments: &[Word]) -> Vec<Word> {
    let argument = |word: &Word| match word.shape.strip_prefix("of=") {
        Some(_) => word.suffix(3),
        None => Word {
            shape: format!("--{}", word.shape),
            ..word.clone()
        },
    };
    arguments.iter().map(argument).collect()
}

/// Returns the arguments of `tar` with dashes before the letters: `tar xzf archive` has their values in the same order behind them.
pub(super) fn unbundled(arguments: &[Word]) -> Result<Vec<Word>> {
    let [first, rest @ ..] = arguments else {
        return Ok(Vec::new());
    };
    if first.shape().starts_with('-') || first.may_hide_option() {
        return Ok(arguments.to_vec());
    }
    let letters = first.text().ok_or_else(|| argument(first))?;
    let (mut options, mut rest) = (Vec::new(), rest.iter());
    for letter in letters.chars() {
        if !letter.is_ascii_alphabetic() {
            return Err(argument(first));
        }
        options.push(Word::literal(&format!("-{letter}")));
        if matches!(letter, 'f' | 'C' | 'I') {
            options.push(rest.next().cloned().ok_or_else(|| argument(first))?);
        }
    }
    options.extend(rest.cloned());
    Ok(options)
}

/// Returns whether the mode of `chmod` closes no directory of the user: `u+w`, `+x`, `755`.
pub(super) fn closes_nothing(arguments: &[Word]) -> bool {
    let mut words = arguments.iter().map(Word::shape);
    // `-w` is a mode too.
    let letters = ['r', 'w', 'x', 'X', 's', 't'];
    let mode = words.find(|word| !word.starts_with('-') || word.contains(letters));
    let mode = mode.unwrap_or_default().trim_start_matches('0');
    mode.contains('+') && !mode.contains(['-', '=', '\0'])
        || mode.len() == 3 && mode.starts_with('7')
}

/// Returns whether a command makes links, or copies whatever is in a directory.
pub(super) fn may_link(invocation: &Invocation<'_>) -> bool {
    let links = |word: &Word| word.shape().starts_with('-') && word.shape().contains(LINKING);
    matches!(invocation.name, "cp" | "ln") && invocation.arguments.iter().any(links)
}
