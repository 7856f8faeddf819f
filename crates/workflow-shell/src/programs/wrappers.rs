//! Programs whose arguments are another command with variables, and guesses for those whose options are not known.

use super::names::is_shell;
use super::outcome::{Invocation, NestedCommand, Outcome, Result, joined};
use super::table::{is_harmless_variable, is_listed, read};
use crate::effect::{Unknown, UnknownReason};
use crate::word::Word;

/// The number of words that may be the first of the command of a wrapper that is unknown.
const MAX_GUESSES: usize = 12;

/// Returns the outcome of `env` and `sudo`, which set variables for a command. In `env`, every word with `=` is one.
pub(super) fn with_variables(name: &str, arguments: &[Word]) -> Result {
    let is_env = name == "env";
    let given = read(name, arguments)?;
    if !is_env && given.has(&["-v", "-l", "-K", "-V", "--list", "--validate"]) {
        return Ok(Outcome::reads());
    }
    let mut command = given.operands.as_slice();
    if let [first, rest @ ..] = command
        && is_env
        && first.shape() == "-"
    {
        command = rest;
    }
    while let [word, rest @ ..] = command
        && let Some((name, value)) = word.shape().split_once('=')
        && (is_env || word.assignment().is_some())
    {
        let value = (!value.contains('\0') && !word.is_glob).then_some(value);
        if value.is_none() || !is_harmless_variable(name, value) {
            return Err(Unknown::new(name, UnknownReason::Variable));
        }
        command = rest;
    }
    // Without a command, `-k` forgets the password.
    if command.is_empty() && !is_env && !given.has(&["-k"]) {
        return Err(Unknown::new(name, UnknownReason::HiddenCode));
    }
    let run = if given.has(&["-C", "-D", "--chdir"]) {
        NestedCommand::OtherDirectory
    } else {
        NestedCommand::Command
    };
    let nested = (!command.is_empty()).then(|| run(command.to_vec()));
    Ok(Outcome::runs(nested))
}

/// Returns the commands that a program whose arguments are not known may run, for rules on commands.
pub(super) fn guesses(invocation: &Invocation<'_>) -> Vec<NestedCommand> {
    let (name, arguments) = (invocation.name, invocation.arguments);
    if name == "git" {
        let bisects = |words: &[Word]| words[0].shape() == "bisect" && words[1].shape() == "run";
        let start = arguments.windows(2).position(bisects);
        let run = |start: usize| NestedCommand::OtherDirectory(arguments[start + 2..].to_vec());
        return start.map(run).into_iter().collect();
    }
    if name == "alias" {
        // It gets arguments where it is used.
        let values = arguments.iter().filter_map(Word::after_equals);
        let texts = values.filter_map(|value| joined(&[value, Word::unknown()]));
        return texts.map(NestedCommand::Script).collect();
    }
    // A script of the project has a name of its own, which is no program.
    let is_script = name == "npm" && arguments.first().is_some_and(|word| word.shape() == "run");
    if is_script || !is_listed("wrappers", name) && !is_shell(name) {
        return Vec::new();
    }
    let starts = |word: &Word| {
        !word.shape().starts_with('-') && word.assignment().is_none() && word.program().is_some()
    };
    let mut guesses = Vec::new();
    for (index, word) in arguments.iter().enumerate().take(MAX_GUESSES) {
        let is_long = word.shape().starts_with("--");
        let value = word.after_equals().filter(|_| is_long);
        let word = value.as_ref().unwrap_or(word);
        if word.shape().contains(char::is_whitespace) {
            guesses.push(NestedCommand::Script(word.clone()));
        } else if starts(word) {
            let words = arguments[index..].iter();
            let command = words.take_while(|word| word.shape() != ";").cloned();
            guesses.push(NestedCommand::OtherDirectory(command.collect()));
        }
    }
    guesses
}
