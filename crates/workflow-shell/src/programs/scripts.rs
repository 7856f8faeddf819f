//! Scripts and recipes of the project, known by their names: `npm run test`, `make check`, `just build`.

use super::checks::is_check;
use super::outcome::{Invocation, Outcome, Result, argument, expansion, project_runner};
use super::table::{is_listed, read, row};
use crate::effect::Effect;
use crate::word::Word;

/// `npm run script`, `npm test`, `yarn lint`.
pub(super) fn package_script(invocation: &Invocation<'_>) -> Option<Result> {
    let name = invocation.name;
    let given = read(name, invocation.arguments).ok()?;
    let rest = given.operands;
    let (first, rest) = rest.split_first()?;
    let first = first.text()?;
    let (script_name, rest) = match first {
        "run" | "run-script" | "rum" | "urn" => {
            let given = match read(name, rest) {
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
        "test" | "t" | "tst" if name != "bun" || first != "test" => (&Word::literal("test"), rest),
        "exec" | "x" | "dlx" => return row("npx", rest),
        // The table decides.
        _ if name == "npm" || matches!(row(name, invocation.arguments), Some(Ok(_))) => {
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
    read("script", &arguments)?;
    Ok(Outcome::of(Effect::RunsProjectCode))
}

fn is_package_tool(name: &str) -> bool {
    is_listed("package_tools", super::names::known_name(name))
}
