//! Shells, also on another machine, and commands that run a text in the same shell.

use super::outcome::{Invocation, NestedCommand, Outcome, Result, argument, joined};
use super::table::{is_listed, read, row};
use crate::command::StandardInput;
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::word::Word;

/// `sh -c text`, `sh -n file`, `sh` with a script on its standard input.
pub(super) fn shell(invocation: &Invocation<'_>) -> Result {
    let known = read(invocation.name, invocation.arguments)?;
    let rest = &known.operands;
    if known.has(&["-c"]) {
        return match rest.first() {
            Some(text) => script(text, invocation, NestedCommand::Script),
            None => Err(Unknown::new("-c", UnknownReason::Code)),
        };
    }
    match rest.first() {
        // It checks the syntax.
        Some(word) if known.has(&["-n"]) && !word.is_standard_input() => Ok(Outcome::reads()),
        Some(word) if !known.has(&["-s"]) => {
            Err(Unknown::new(word.shape(), UnknownReason::HiddenCode))
        }
        _ => standard_input(invocation, NestedCommand::Script),
    }
}

/// A script on the standard input.
fn standard_input(invocation: &Invocation<'_>, run: fn(Word) -> NestedCommand) -> Result {
    let StandardInput::Text(text) = invocation.input else {
        return Err(Unknown::new(invocation.name, UnknownReason::Input));
    };
    let mut outcome = script(text, invocation, run)?;
    if text.shape().trim_end().contains('\n') {
        // A command of it may read its next lines.
        outcome.effect = Effect::unknown(invocation.name, UnknownReason::Input);
    }
    Ok(outcome)
}

/// A script of a shell whose grammar is that of bash or a part of it.
fn script(text: &Word, invocation: &Invocation<'_>, run: fn(Word) -> NestedCommand) -> Result {
    match invocation.name {
        "zsh" | "ksh" | "mksh" => Err(Unknown::new(invocation.name, UnknownReason::Code)),
        name => Ok(Outcome::scripts([text.clone()], run, name)),
    }
}

/// `source file`: code of the project, unless it is a well-known file that sets up an environment.
pub(super) fn sourced(invocation: &Invocation<'_>) -> Result {
    let arguments = without_dashes(invocation.arguments);
    let Some(file) = arguments.first() else {
        return Err(Unknown::new(invocation.name, UnknownReason::HiddenCode));
    };
    let location = file.location();
    let activates = location
        .strip_suffix("/bin/activate")
        .is_some_and(|directory| {
            !directory.starts_with('/')
                && !directory.contains(['\0', '*', '?', '['])
                && !directory.contains("..")
        });
    if (activates || is_listed("setup_files", &location)) && arguments.len() == 1 {
        return Ok(Outcome::of(Effect::RunsProjectCode));
    }
    Err(Unknown::new(file.shape(), UnknownReason::HiddenCode))
}

/// `eval`: the same shell runs its words.
pub(super) fn evaluated(arguments: &[Word]) -> Outcome {
    let text = joined(without_dashes(arguments));
    Outcome::unknown("eval", UnknownReason::Code).with(text.map(NestedCommand::Eval))
}

/// `trap`: the same shell runs its first word at any time, but for a dash. The others are signals.
pub(super) fn trapped(arguments: &[Word]) -> Outcome {
    let text = without_dashes(arguments).first();
    let text = text.filter(|word| word.shape() != "-").cloned();
    Outcome::unknown("trap", UnknownReason::Code).with(text.map(NestedCommand::Script))
}

fn without_dashes(arguments: &[Word]) -> &[Word] {
    match arguments {
        [first, rest @ ..] if first.shape() == "--" => rest,
        all => all,
    }
}

/// `ssh host command`: the command runs on another machine.
pub(super) fn ssh(invocation: &Invocation<'_>) -> Result {
    // It prints its version, or the settings of a host.
    if let Some(Ok(shows)) = row("ssh", invocation.arguments) {
        return Ok(shows);
    }
    let given = read("ssh", invocation.arguments)?;
    // Options may follow the host.
    let Some((_host, rest)) = given.operands.split_first() else {
        return Err(Unknown::new("ssh", UnknownReason::Missing));
    };
    let more = read("ssh", rest)?;
    if let Some(word) = more.values(&["-o"]).first() {
        return Err(argument(word));
    }
    let Some(text) = joined(&more.operands) else {
        return standard_input(invocation, NestedCommand::Elsewhere);
    };
    let mut outcome = Outcome::scripts([text], NestedCommand::Elsewhere, "ssh");
    if more.operands.iter().any(|word| word.may_add_words) {
        outcome.effect = Effect::unknown("ssh", UnknownReason::Expansion);
    }
    Ok(outcome)
}
