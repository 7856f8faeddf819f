//! Effects of programs.
//!
//! A program, an option or a subcommand that no table and no code here knows is unknown. `table` evaluates the rows of
//! `tables/*.txt`; the other modules have the programs that run commands, have a language, or write what their operands name.

mod awk;
mod builtins;
mod checks;
mod databases;
mod files;
mod names;
mod operands;
mod outcome;
mod runners;
mod search;
mod sed;
mod shells;
mod table;
mod wrappers;

use crate::command::StandardInput;
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::file_access::{AccessKind, FileAccess};
use crate::word::Word;
pub use names::is_known_location;
pub(crate) use names::{is_interpreter, is_relative_location, is_shell, known_name};
pub(crate) use operands::{is_inside_process, named_locations};
use outcome::Result;
pub(crate) use outcome::{Invocation, NestedCommand, Outcome};
use table::row;
pub(crate) use table::{
    List, Output, is_environment_variable, is_harmless_variable, is_interpreted_variable,
    is_listed, is_project_path, is_project_variable, printed,
};

/// Returns what a program does.
pub(crate) fn outcome(invocation: &Invocation<'_>) -> Outcome {
    let mut outcome = outcome_by_name(invocation).unwrap_or_else(|unknown| Outcome {
        guesses: wrappers::guesses(invocation),
        ..Outcome::of(Effect::Unknown(unknown))
    });
    let trees = trees(invocation);
    if let Effect::Writes(writes) = &mut outcome.effect {
        let are_unknown = files::may_link(invocation);
        for write in writes {
            write.path.take_if(|_| are_unknown);
            match write.location.kind {
                // Besides what it names, a git command writes in git's own directory only.
                AccessKind::WriteWithin if invocation.name == "git" && !trees.is_empty() => {
                    write.location = FileAccess::at(".git", AccessKind::WriteWithin);
                }
                AccessKind::Write if is_listed("formatters", invocation.name) => {
                    write.location.kind = AccessKind::WriteWithin;
                }
                _ => {}
            }
        }
    }
    let is_open = invocation.name == "chmod" && files::closes_nothing(invocation.arguments);
    let trees = trees.into_iter();
    (outcome.accesses).extend(trees.filter(|tree| !is_open || tree.kind != AccessKind::Itself));
    // What an interpreter does with unknown arguments is code: in the line, or in the file that is its first argument.
    if let Effect::Unknown(unknown) = &mut outcome.effect
        && unknown.reason != UnknownReason::Input
        && names::is_interpreter(invocation.name)
        && !table::has_subcommands(invocation.name)
    {
        match invocation.arguments {
            [] => unknown.reason = UnknownReason::Input,
            [first, ..] if first.shape().starts_with('-') || first.text().is_none() => {
                unknown.reason = UnknownReason::Code;
            }
            [first, ..] => *unknown = Unknown::new(first.shape(), UnknownReason::HiddenCode),
        }
    }
    outcome
}

/// Returns the locations that a program accesses with everything below them.
fn trees(invocation: &Invocation<'_>) -> Vec<FileAccess> {
    match invocation.name {
        "find" => search::removed_by_find(invocation.arguments),
        name @ ("tar" | "bsdtar") => table::trees(
            name,
            &files::unbundled(invocation.arguments).unwrap_or_default(),
        ),
        name => table::trees(name, invocation.arguments),
    }
}

fn outcome_by_name(invocation: &Invocation<'_>) -> Result {
    let name = invocation.name;
    if is_request_for_help(invocation) {
        return Ok(Outcome::of(effect_of_help(invocation)));
    }
    if let Some(result) = coded(invocation) {
        return result;
    }
    if invocation.input.is_given() && names::executes_input(name) || sends_unknown_input(invocation)
    {
        return Err(Unknown::new(name, UnknownReason::Input));
    }
    let reason = if is_interpreter(name) || is_shell(name) {
        UnknownReason::Code
    } else {
        UnknownReason::Program
    };
    let unlisted = || Unknown::new(invocation.words[0].shape(), reason);
    row(name, invocation.arguments).unwrap_or_else(|| Err(unlisted()))
}

/// Returns the outcome of a program that is known in code.
fn coded(invocation: &Invocation<'_>) -> Option<Result> {
    let (name, arguments) = (invocation.name, invocation.arguments);
    Some(match name {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "mksh" | "ash" => shells::shell(invocation),
        "source" | "." => shells::sourced(invocation),
        "eval" => Ok(shells::evaluated(arguments)),
        "trap" => row(name, arguments)?.or_else(|_| Ok(shells::trapped(arguments))),
        "printf" => builtins::printed(arguments),
        "test" | "[" => builtins::tested(arguments),
        "read" | "unset" => builtins::names(name, arguments),
        "export" | "declare" | "typeset" | "local" => builtins::declared(name, arguments),
        "env" | "sudo" => wrappers::with_variables(name, arguments),
        "find" => search::find(arguments)?,
        "fd" | "fdfind" => search::fd(arguments),
        "xargs" => search::xargs(invocation),
        "dd" => row(name, &files::settings(arguments))?,
        "tar" | "bsdtar" => match files::unbundled(arguments) {
            Ok(words) => row(name, &words)?,
            Err(unknown) => Err(unknown),
        },
        "sed" => sed::outcome(invocation),
        "ssh" => shells::ssh(invocation),
        "awk" | "gawk" | "mawk" | "nawk" => awk::outcome(invocation),
        _ => return databases::outcome(invocation).or_else(|| runners::outcome(invocation)),
    })
}

/// Returns whether a program sends an input to a host which the line does not show to be a question.
fn sends_unknown_input(invocation: &Invocation<'_>) -> bool {
    let first = invocation.arguments.first().and_then(Word::text);
    let sends = is_listed("senders", invocation.name)
        || invocation.name == "openssl" && first == Some("s_client");
    let is_known = match invocation.input {
        StandardInput::Text(text) => text.text().is_some_and(is_question),
        input => !input.is_given(),
    };
    sends && !is_known
}

/// Returns whether a text that is sent to a host is empty or asks only: `GET / HTTP/1.0` with its headers, `PING`.
pub(crate) fn is_question(text: &str) -> bool {
    text.lines().all(|line| {
        let first = line.split_whitespace().next().unwrap_or_default();
        first.is_empty() || first.ends_with(':') || is_listed("questions", first)
    })
}

/// Returns the effect of a request for help or a version: a program that runs code of the project may load it first, and one that no
/// table knows may be a script of the project.
fn effect_of_help(invocation: &Invocation<'_>) -> Effect {
    let (name, arguments) = (invocation.name, invocation.arguments);
    let is_row =
        || matches!(row(name, arguments), Some(Ok(outcome)) if outcome.effect == Effect::Reads);
    let is_known = table::is_program(name) || names::is_shell(name);
    if is_known && (!table::runs_project(name) || is_row()) {
        Effect::Reads
    } else {
        Effect::RunsProjectCode
    }
}

/// Returns whether a command asks for help or a version only.
///
/// The request must be the only argument of the program, or follow plain names of subcommands: other arguments may be code, and
/// programs that know no such option take it for an operand.
fn is_request_for_help(invocation: &Invocation<'_>) -> bool {
    let [first, names @ .., last] = invocation.words else {
        return false;
    };
    let is_plain_name = |text: &str| !text.contains('/') && !text.contains('=');
    let is_bare = last.shape().starts_with('-') && first.text().is_some_and(is_plain_name);
    let ignores_input = matches!(invocation.input, StandardInput::Pipe { .. })
        && !names::executes_input(invocation.name)
        && !names::is_shell(invocation.name);
    let has_input = invocation.input.is_given() && !ignores_input;
    // The others run or read their operands in any case.
    if !is_bare || has_input || is_listed("take_commands", invocation.name) {
        return false;
    }
    let is_plain = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && !is_listed("running", text)
    };
    match last.text() {
        Some("--help") => {
            names.is_empty()
                || names.len() < 4
                    && !is_listed("no_help", invocation.name)
                    && table::has_subcommands(invocation.name)
                    && names.iter().all(|word| word.text().is_some_and(is_plain))
        }
        Some("--version") => names.is_empty(),
        _ => false,
    }
}
