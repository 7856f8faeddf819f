//! Commands of the shell itself.

use super::outcome::{Outcome, Result, argument, expansion};
use super::table::{is_harmless_variable, is_interpreted_variable, read};
use crate::effect::{Unknown, UnknownReason};
use crate::word::Word;

/// Returns the outcome of a command that gives variables a value that is not in the line, or removes them.
pub(super) fn names(command: &str, arguments: &[Word]) -> Result {
    let given = read(command, arguments)?;
    let mut outcome = Outcome::reads();
    for word in &given.operands {
        if !word.is_plain_name() {
            return Err(argument(word));
        }
        if is_interpreted_variable(word.shape()) {
            return Err(Unknown::new(word.shape(), UnknownReason::Variable));
        }
        outcome.variables.push((word.shape().to_owned(), None));
    }
    Ok(outcome)
}

/// `printf`: `-v name` and a format with `%n` set a variable.
pub(super) fn printed(arguments: &[Word]) -> Result {
    let sets = |format: &Word| {
        let text = format.shape().replace("%%", "");
        let is_flag = |c: char| !c.is_ascii_alphabetic() || "hjlLtz".contains(c);
        let mut directives = text.split('%').skip(1);
        directives.any(|text| text.trim_start_matches(is_flag).starts_with('n'))
    };
    match arguments {
        [dashes, format @ ..] if dashes.shape() == "--" => printed(format),
        [first, ..] if first.shape().starts_with("-v") || sets(first) => Err(argument(first)),
        [first, ..] if first.may_add_words || first.has_option_in_braces() => Err(expansion(first)),
        [first, _, ..] if first.may_be_none() || first.shape().contains('\0') => {
            Err(expansion(first))
        }
        _ => Ok(Outcome::reads()),
    }
}

/// `test`: the name behind `-v` may have an index, which is evaluated.
pub(super) fn tested(arguments: &[Word]) -> Result {
    if let Some(word) = arguments.iter().find(|word| word.may_add_words) {
        return Err(expansion(word));
    }
    let has_index = |word: &Word| word.shape().contains(['[', '\0']);
    let mut pairs = arguments.windows(2).map(|pair| (&pair[0], &pair[1]));
    let unknown = pairs.find(|(first, second)| match first.shape() {
        "-v" | "-R" => !second.is_plain_name(),
        shape => (shape.starts_with(['\0', '-']) && shape.contains('\0')) && has_index(second),
    });
    match unknown {
        Some((_, word)) => Err(argument(word)),
        None => Ok(Outcome::reads()),
    }
}

/// `export NAME=value`, `declare NAME=value`
pub(super) fn declared(command: &str, arguments: &[Word]) -> Result {
    let known = read(command, arguments)?;
    let exports = command == "export" || known.has(&["-x"]);
    let only_shows = known.has(&["-f", "-F", "-p"]);
    let mut outcome = Outcome::reads();
    for word in &known.operands {
        // Without a value, `export NAME` exports what the variable has.
        let (name, value) = match word.assignment() {
            Some((name, value)) => (name, Some(value)),
            None => (word.shape(), None),
        };
        if !Word::literal(name).is_plain_name() || value.is_none() && word.is_glob {
            return Err(argument(word));
        }
        let text = value.as_ref().and_then(Word::text);
        let is_known = if exports {
            let is_plain = |value: &Word| text.is_some() || value.is_number();
            value.as_ref().is_none_or(is_plain) && is_harmless_variable(name, text)
        } else {
            only_shows && value.is_none() || !is_interpreted_variable(name)
        };
        if !is_known {
            return Err(Unknown::new(name, UnknownReason::Variable));
        }
        // In a function, a variable without a value is empty.
        if value.is_some() || command != "export" && !only_shows {
            let value = value.unwrap_or_default();
            outcome.variables.push((name.to_owned(), Some(value)));
        }
    }
    Ok(outcome)
}
