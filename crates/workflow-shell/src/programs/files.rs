//! Programs whose operands are settings, or options without a dash.

use super::outcome::{Invocation, Outcome, Result, argument};
use super::table::row;
use crate::word::Word;

/// Returns the outcome of such a program.
pub(super) fn outcome(invocation: &Invocation<'_>) -> Option<Result> {
    let arguments = invocation.arguments;
    match invocation.name {
        "dd" => Some(dd(arguments)),
        name @ ("tar" | "bsdtar") => match unbundled(arguments) {
            Ok(arguments) => row(name, &arguments).map(Ok),
            Err(unknown) => Some(Err(unknown)),
        },
        _ => None,
    }
}

fn dd(arguments: &[Word]) -> Result {
    const NAMES: &[&str] = &[
        "if", "bs", "ibs", "obs", "cbs", "count", "skip", "seek", "status", "conv", "iflag",
        "oflag", "iseek", "oseek",
    ];
    let mut files = Vec::new();
    for word in arguments {
        match word.shape().split_once('=') {
            Some(("of", _)) => files.push(word.suffix(3)),
            Some((name, _)) if NAMES.contains(&name) && !word.may_add_words => {}
            _ => return Err(argument(word)),
        }
    }
    Ok(Outcome::writes("`dd`", &files))
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
