//! Commands of the shell itself.

use super::outcome::{Outcome, Result, VariableKind, argument, expansion};
use super::table::{is_harmless_variable, is_interpreted_variable, is_listed, read};
use crate::effect::{Unknown, UnknownReason};
use crate::word::Word;

/// Returns the outcome of a command that gives variables a value that is not in the line, or removes them.
pub(super) fn names(command: &str, arguments: &[Word]) -> Result {
    let given = read(command, arguments)?;
    let array = given.values(&["-a"]);
    let mut outcome = assigned(array.into_iter().chain(&given.operands))?;
    if command == "unset" {
        let functions = (VariableKind::ForgottenFunctions, String::new(), None);
        outcome.variables.push(functions);
    }
    Ok(outcome)
}

/// `getopts text name`
pub(super) fn next_option(arguments: &[Word]) -> Result {
    match arguments {
        [text, name] if text.text().is_some() => assigned([name]),
        [word, ..] => Err(argument(word)),
        [] => Ok(Outcome::reads()),
    }
}

/// Notes that variables get a value that is not in the line.
fn assigned<'a>(words: impl IntoIterator<Item = &'a Word>) -> Result {
    let mut outcome = Outcome::reads();
    for word in words {
        if !word.is_plain_name() {
            return Err(argument(word));
        }
        if is_interpreted_variable(word.shape()) {
            return Err(Unknown::new(word.shape(), UnknownReason::Variable));
        }
        let name = word.shape().to_owned();
        outcome.variables.push((VariableKind::Assigned, name, None));
    }
    Ok(outcome)
}

/// `printf -v name`
pub(super) fn printed(arguments: &[Word]) -> Result {
    match arguments {
        [option, name, ..] if option.shape() == "-v" => assigned([name]),
        // A format that may be `-vname`, which sets a variable.
        [first, ..] if first.shape().starts_with("-v") => Err(argument(first)),
        [first, _, ..] if first.may_hide_option() => Err(expansion(first)),
        _ => Ok(Outcome::reads()),
    }
}

/// `test`: the name behind `-v` may have an index, which is evaluated.
pub(super) fn tested(arguments: &[Word]) -> Result {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if matches!(word.shape(), "-v" | "-R") || word.may_add_words && arguments.len() == 1 {
            match words.next() {
                Some(name) if !name.is_plain_name() => return Err(argument(name)),
                _ => {}
            }
        }
    }
    let may_be_operator =
        |word: &Word| word.may_add_words || word.shape() == "\0" && arguments.len() <= 3;
    let has_index = |word: &Word| word.shape().contains('[') && word.shape() != "[";
    if arguments.iter().any(may_be_operator) && arguments.iter().any(has_index) {
        return Err(Unknown::new("test", UnknownReason::Code));
    }
    Ok(Outcome::reads())
}

/// `kill %1` ends a job of the line; other processes are not known. `kill -0` only checks.
pub(super) fn killed(arguments: &[Word]) -> Result {
    let is_signal = |word: &Word| word.text().is_some_and(|text| text.starts_with('-'));
    let (checks, processes) = match arguments {
        [signal, rest @ ..] if is_signal(signal) => {
            (matches!(signal.shape(), "-0" | "-l" | "-L"), rest)
        }
        all => (false, all),
    };
    // `-1` is all processes.
    let is_known =
        |word: &&Word| word.shape().starts_with('%') || checks && !word.shape().starts_with('-');
    match processes.iter().find(|word| !is_known(word)) {
        Some(word) => Err(argument(word)),
        None => Ok(Outcome::reads()),
    }
}

pub(super) fn shell_options(arguments: &[Word]) -> Result {
    let mut outcome = Outcome::reads();
    for word in &read("shopt", arguments)?.operands {
        match word.text() {
            Some(text) if is_listed("shell_options", text) => {}
            Some("nocaseglob" | "dotglob") => outcome.changes_globs = true,
            _ => {
                outcome = Outcome::from(argument(word));
                outcome.changes_globs = true;
                return Ok(outcome);
            }
        }
    }
    Ok(outcome)
}

/// `export NAME=value`, `declare NAME=value`
pub(super) fn declared(name: &str, arguments: &[Word]) -> Result {
    let known = read(name, arguments)?;
    let exports = name == "export" || known.has(&["-x"]);
    let is_number = known.has(&["-i"]);
    let mut outcome = Outcome::reads();
    if known.has(&["-f", "-F", "-p"]) && !exports {
        return Ok(outcome);
    }
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
            is_harmless_variable(name, text)
        } else {
            !is_interpreted_variable(name)
        };
        if !is_known {
            return Err(Unknown::new(name, UnknownReason::Variable));
        }
        let mut note = |kind, text: &str, value| {
            let variable = (kind, text.to_owned(), value);
            outcome.variables.push(variable);
        };
        if is_number {
            // Later assignments are evaluated too.
            note(VariableKind::Evaluated, name, None);
            match (&value, text) {
                (None, _) => {}
                (Some(_), Some(text)) => note(VariableKind::Evaluated, text, None),
                (Some(value), None) => return Err(expansion(value)),
            }
        }
        if value.is_some() {
            note(VariableKind::Assigned, name, value);
        }
    }
    Ok(outcome)
}

/// `let i=i+1`
pub(super) fn calculated(arguments: &[Word]) -> Result {
    let mut outcome = Outcome::reads();
    for word in arguments {
        if word.shape().contains('\0') {
            return Err(expansion(word));
        }
        let text = word.shape().to_owned();
        outcome
            .variables
            .push((VariableKind::Evaluated, text, None));
    }
    Ok(outcome)
}
