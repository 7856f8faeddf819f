//! Shells and package managers that run a script.

use super::super::arguments::{Style, gather};
use super::super::scope::Input;
use super::super::{Word, packages, programs};
use super::Inner;

/// `sh -c text`, `sh file`, `sh` with a script on its input.
pub(super) fn shell(name: &str, arguments: &[Word], input: &Input) -> Vec<Inner> {
    let given = gather(
        arguments,
        Style::Letters,
        &["-o", "-O", "--rcfile", "--init-file"],
    );
    let mut operands = given
        .operands
        .iter()
        .filter(|word| !word.shape().starts_with('+'));
    if arguments.iter().any(Word::is_process) {
        return vec![Inner::Unseen(name.to_owned())];
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
            .map(Inner::Script)
            .into_iter()
            .collect();
    }
    match first {
        Some(word) if !given.has(&["-s"]) => sourced(name, std::slice::from_ref(word), input),
        _ => standard_input(name, input),
    }
}

/// A script that is a file is the project's; one that comes from elsewhere is not in the line.
pub(super) fn sourced(name: &str, arguments: &[Word], input: &Input) -> Vec<Inner> {
    let Some(word) = arguments.first() else {
        return Vec::new();
    };
    if word.is_process() {
        vec![Inner::Unseen(name.to_owned())]
    } else if word.is_input() {
        standard_input(name, input)
    } else {
        Vec::new()
    }
}

/// A script that is read from the input; a file is the project's.
fn standard_input(name: &str, input: &Input) -> Vec<Inner> {
    match input {
        Input::Text(word) => vec![Inner::Script(word.clone())],
        Input::Pipe => vec![Inner::Unseen(name.to_owned())],
        Input::Inherited | Input::File => Vec::new(),
    }
}

/// `npm run script` and the like: a script that does more than check cannot be seen.
pub(super) fn node_script(name: &str, arguments: &[Word]) -> Option<Vec<Inner>> {
    if !matches!(name, "npm" | "pnpm" | "yarn" | "bun") {
        return None;
    }
    let given = gather(
        arguments,
        Style::Letters,
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
    let installed = programs::is_tool(&first) && !runs && name != "npm";
    if installed {
        let place = arguments.iter().position(|word| word.shape() == first)?;
        return Some(vec![Inner::Command(arguments[place..].to_vec())]);
    }
    // `yarn lint` is short for `yarn run lint`.
    let short = !runs && reads && matches!(name, "yarn" | "pnpm");
    (runs || short).then(|| {
        if reads {
            Vec::new()
        } else {
            vec![Inner::Unseen(format!("{name} {first}"))]
        }
    })
}
