//! Shells and package managers that run scripts.

use super::NestedCommand;
use crate::command::StandardInput;
use crate::programs::arguments::{OptionStyle, split_arguments};
use crate::programs::{is_project_tool, packages};
use crate::word::Word;

/// `sh -c text`, `sh file`, `sh` with a script on its standard input.
pub(crate) fn shell(name: &str, arguments: &[Word], input: &StandardInput) -> Vec<NestedCommand> {
    let given = split_arguments(
        arguments,
        OptionStyle::Letters,
        &["-o", "-O", "--rcfile", "--init-file"],
    );
    let mut operands = given
        .operands
        .iter()
        .filter(|word| !word.shape().starts_with('+'));
    if arguments.iter().any(Word::is_process_substitution) {
        return vec![NestedCommand::Hidden(name.to_owned())];
    }
    if given.has(&["-n"]) && !given.has(&["-c"]) {
        return Vec::new();
    }
    let first = operands.next();
    if given.has(&["-c"]) || given.has(&["--command"]) {
        let value = given.values(&["--command"]).flatten().next().cloned();
        return first
            .cloned()
            .or(value)
            .map(NestedCommand::Script)
            .into_iter()
            .collect();
    }
    match first {
        Some(word) if !given.has(&["-s"]) => sourced(name, std::slice::from_ref(word), input),
        _ => standard_input(name, input),
    }
}

/// A script in a file belongs to the project; a script from another command is hidden.
pub(crate) fn sourced(name: &str, arguments: &[Word], input: &StandardInput) -> Vec<NestedCommand> {
    let Some(word) = arguments.first() else {
        return Vec::new();
    };
    if word.is_process_substitution() {
        vec![NestedCommand::Hidden(name.to_owned())]
    } else if word.is_standard_input() {
        standard_input(name, input)
    } else {
        Vec::new()
    }
}

/// A script on the standard input. A file belongs to the project.
fn standard_input(name: &str, input: &StandardInput) -> Vec<NestedCommand> {
    match input {
        StandardInput::Text(word) => vec![NestedCommand::Script(word.clone())],
        StandardInput::Pipe => vec![NestedCommand::Hidden(name.to_owned())],
        StandardInput::Inherited | StandardInput::File => Vec::new(),
    }
}

/// `npm run script` and similar. A script counts as reading only if its name says so.
pub(crate) fn node_script(name: &str, arguments: &[Word]) -> Option<Vec<NestedCommand>> {
    if !matches!(name, "npm" | "pnpm" | "yarn" | "bun") {
        return None;
    }
    let given = split_arguments(
        arguments,
        OptionStyle::Letters,
        &[
            "-C",
            "--prefix",
            "--filter",
            "-F",
            "-w",
            "--workspace",
            "--cwd",
            "--dir",
        ],
    );
    let first = given.operands.first()?.text()?.to_owned();
    let (script, runs) = match first.as_str() {
        "run" | "run-script" | "rum" | "urn" => {
            (given.operands.get(1).map_or(Some(""), Word::text), true)
        }
        "test" | "t" | "tst" | "start" | "stop" | "restart" => (Some("test"), true),
        other => (Some(other), false),
    };
    let reads =
        script.is_some_and(|script| script.is_empty() || packages::script_reads(script, arguments));
    let installed = is_project_tool(&first) && !runs && name != "npm";
    if installed {
        let index = arguments.iter().position(|word| word.shape() == first)?;
        return Some(vec![NestedCommand::Command(arguments[index..].to_vec())]);
    }
    // `yarn lint` is short for `yarn run lint`.
    let short = !runs && reads && matches!(name, "yarn" | "pnpm");
    (runs || short).then(|| {
        if reads {
            Vec::new()
        } else {
            vec![NestedCommand::Hidden(format!("{name} {first}"))]
        }
    })
}
