//! Scripts and recipes of the project, known by their names: `npm run test`, `make check`, `just build`.

use super::checks::is_check;
use super::outcome::{
    Invocation, NestedCommand, Outcome, Result, argument, expansion, project_runner,
};
use super::table::{is_listed, read, row};
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::word::Word;

/// `npm run script`, `npm test`, `yarn lint`.
pub(super) fn package_script(invocation: &Invocation<'_>) -> Option<Result> {
    let name = invocation.name;
    let given = read(name, None, invocation.arguments).ok()?;
    let rest = given.operands;
    if rest.is_empty() && name == "yarn" {
        // It installs.
        return Some(Ok(Outcome::writes_somewhere("`yarn`")));
    }
    let (first, rest) = rest.split_first()?;
    let first = first.text()?;
    let (script_name, rest) = match first {
        "run" | "run-script" | "rum" | "urn" => {
            let given = match read(name, None, rest) {
                Ok(given) => given,
                Err(unknown) => return Some(Err(unknown)),
            };
            match given.operands.split_first() {
                // It lists the scripts.
                None => return Some(Ok(Outcome::reads())),
                // Without a script of that name, these run the tool.
                Some((script, arguments))
                    if name != "npm" && script.text().is_some_and(is_package_tool) =>
                {
                    let checked = project_script(script, arguments);
                    let tool = || project_runner(given.operands.clone());
                    return Some(checked.or_else(|_| Ok(tool())));
                }
                Some((script, rest)) => return Some(project_script(script, rest)),
            }
        }
        "test" | "t" | "tst" | "start" | "stop" | "restart"
            if !(name == "bun" && first == "test") =>
        {
            (&Word::literal("test"), rest)
        }
        "exec" | "x" | "dlx" => return Some(package_tool(rest)),
        "workspace" if name == "yarn" && rest.len() > 1 => {
            let inner = [&[Word::literal("yarn")], &rest[1..]].concat();
            return Some(Ok(Outcome::runs([NestedCommand::OtherDirectory(inner)])));
        }
        "workspaces" if name == "yarn" => {
            let given = read(
                "yarn",
                Some("workspaces"),
                rest.get(1..).unwrap_or_default(),
            );
            let command = match (rest.first().and_then(Word::text), given) {
                (Some("foreach"), Ok(given)) => given.operands,
                _ => return None,
            };
            return Some(Ok(Outcome::runs([NestedCommand::OtherDirectory(
                [&[Word::literal("yarn")], command.as_slice()].concat(),
            )])));
        }
        // The table decides.
        _ if name == "npm"
            || row(name, invocation.arguments).is_some_and(|row| !row.is_unknown()) =>
        {
            return None;
        }
        other if is_check(other) => (&Word::literal(other), rest),
        // `yarn jest` runs the tool of that name.
        other if is_package_tool(other) => {
            let command = [&[Word::literal(other)], rest].concat();
            return Some(Ok(project_runner(command)));
        }
        _ => return None,
    };
    Some(project_script(script_name, rest))
}

/// A script of the project with its arguments.
pub(super) fn project_script(name: &Word, arguments: &[Word]) -> Result {
    let Some(text) = name.text() else {
        return Err(expansion(name));
    };
    if !is_check(text) {
        return Err(argument(name));
    }
    // `npm run x -- arguments`
    let arguments: Vec<Word> = arguments
        .iter()
        .filter(|word| word.shape() != "--")
        .cloned()
        .collect();
    let known = read("script", None, &arguments)?;
    if let Some(word) = known
        .values(&["--reporter"])
        .iter()
        .find(|word| word.shape().contains(['.', '/', '\0']))
    {
        return Err(argument(word));
    }
    if let Some(word) = known
        .operands
        .iter()
        .find(|word| matches!(word.shape(), "fix" | "write" | "update"))
    {
        return Err(argument(word));
    }
    Ok(Outcome::of(Effect::RunsProjectCode))
}

fn is_package_tool(name: &str) -> bool {
    is_listed("package_tools", super::names::known_name(name))
}

/// `npx tool arguments`
pub(super) fn package_tool(arguments: &[Word]) -> Result {
    let command = read("npx", None, arguments)?.operands;
    let Some(first) = command.first() else {
        return Err(Unknown::new("npx", UnknownReason::Missing));
    };
    match first.text() {
        Some(tool) if is_package_tool(tool) => Ok(project_runner(command.clone())),
        Some("@biomejs/biome") => Ok(project_runner(
            [&[Word::literal("biome")], &command[1..]].concat(),
        )),
        Some(_) => Err(Unknown::new(first.shape(), UnknownReason::Program)),
        None => Err(expansion(first)),
    }
}

/// Returns whether a setting of `make` is a number or a switch, which no rule runs or writes to: `JOBS=80`, `COVERAGE=true`.
fn is_number_of_make(name: &str, value: &str) -> bool {
    let is_upper = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let parts = [
        "SHELL", "MAKE", "FLAGS", "FILE", "OUT", "DIR", "PREFIX", "UPDATE", "FIX", "WRITE",
    ];
    let is_switch = matches!(value, "true" | "false" | "yes" | "no" | "on" | "off");
    name.bytes().all(is_upper)
        && name.starts_with(|first: char| first.is_ascii_uppercase())
        && !parts.iter().any(|part| name.contains(part))
        && (!value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit())
            || is_switch && name.len() > 3)
}

/// `make`: goals that test or build, or any goal without running it.
pub(super) fn make(arguments: &[Word]) -> Result {
    let known = read("make", None, arguments)?;
    let is_file = |word: &Word| {
        word.text()
            .is_some_and(|text| !text.starts_with(['/', '-', '~']) && !text.contains(".."))
    };
    if let Some(word) = known
        .values(&["-f", "--file", "--makefile"])
        .into_iter()
        .find(|word| !is_file(word))
    {
        return Err(argument(word));
    }
    let dry = known.has(&[
        "-n",
        "--dry-run",
        "--just-print",
        "--recon",
        "-q",
        "--question",
    ]);
    for (index, word) in known.operands.iter().enumerate() {
        let Some(text) = word.text() else {
            return Err(expansion(word));
        };
        // `-j 4`: the number may be the next word.
        let is_number = index == 0
            && known.has(&["-j", "--jobs", "-l"])
            && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_setting = text.split_once('=').is_some_and(|(name, value)| {
            matches!(
                name,
                "V" | "VERBOSE" | "DEBUG" | "CI" | "RELEASE" | "PROFILE" | "BUILD_TYPE" | "Q"
            ) && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
                || is_number_of_make(name, value)
        });
        let is_goal =
            !text.contains('=') && (dry || is_check(text) || text.strip_suffix(".o").is_some());
        if !is_number && !is_setting && !is_goal {
            return Err(argument(word));
        }
    }
    Ok(Outcome::of(Effect::RunsProjectCode))
}

/// `just recipe`, `task name`
pub(super) fn recipe(name: &str, part: Option<&str>, arguments: &[Word]) -> Result {
    #[rustfmt::skip] // Names in order.
    const IDLE: &[&str] = &[
        "--dry", "--dry-run", "--dump", "--evaluate", "--list", "--list-all", "--show", "--status", "--summary", "-l", "-n",
    ];
    // Options behind the name are arguments of the recipe.
    let known = read(name, part, arguments)?;
    match known.operands.split_first() {
        _ if known.has(IDLE) => Ok(Outcome::of(Effect::RunsProjectCode)),
        None => Err(Unknown::new("default", UnknownReason::Argument)),
        // Recipes usually insert their arguments into a line of a shell.
        Some((name, rest)) => match rest.iter().find(|word| !is_plain(word)) {
            Some(word) => Err(argument(word)),
            None => project_script(name, rest),
        },
    }
}

/// Returns whether an argument is the same text if a shell reads it again.
fn is_plain(word: &Word) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+[] ".contains(c);
    word.text().is_some_and(|text| text.chars().all(is_plain))
}
