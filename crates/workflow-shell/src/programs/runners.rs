//! Programs that run code of the project: interpreters with a named module, environments, and scripts and recipes that are known by
//! their names: `npm run test`, `make check`, `just build`.

use super::checks::{is_check, may_change};
use super::outcome::{Invocation, Outcome, Result, argument, expansion, project_runner};
use super::table::{is_listed, read, row};
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::word::Word;

/// Returns the outcome of such a program; `None` if a row knows it.
pub(super) fn outcome(invocation: &Invocation<'_>) -> Option<Result> {
    let arguments = invocation.arguments;
    let first = arguments.first().and_then(Word::text);
    match (invocation.name, first) {
        ("npm" | "pnpm" | "yarn" | "bun", _) => package_script(invocation),
        ("python" | "pypy", Some("-V" | "-VV" | "--version")) => None,
        ("python" | "pypy", _) => Some(python(invocation, "python", arguments)),
        ("php", Some("artisan")) => row("artisan", &arguments[1..]),
        // `hatch run lint:all`: a script of the project. `fmt` is one, not the program.
        ("pdm" | "hatch" | "rye" | "pixi", Some("run"))
            if arguments.get(1).and_then(Word::text).is_some_and(|name| {
                let is_program = || matches!(row(name, &[]), Some(Ok(_)));
                may_change(name) || is_check(name) && !is_program()
            }) =>
        {
            Some(project_script(&arguments[1], &arguments[2..]))
        }
        // `coverage run -m pytest`
        ("coverage", Some("run")) => python(invocation, "coverage-run", &arguments[1..])
            .ok()
            .map(Ok),
        _ => None,
    }
}

/// `python -m module`, `python manage.py test`; other code is not analyzed.
fn python(invocation: &Invocation<'_>, row_name: &str, arguments: &[Word]) -> Result {
    let code = || Unknown::new(invocation.words[0].shape(), UnknownReason::Code);
    if let [script, rest @ ..] = arguments
        && matches!(script.text(), Some("manage.py" | "./manage.py"))
    {
        return row("python-manage", rest).unwrap_or_else(|| Err(code()));
    }
    // The module ends the options.
    let position = arguments.iter().position(|word| {
        let shape = word.shape();
        shape.starts_with('-') && !shape.starts_with("--") && shape.contains('m')
    });
    let is_joined = position.is_some_and(|at| {
        let shape = arguments[at].shape();
        shape.find('m').is_some_and(|m| m + 1 < shape.len())
    });
    let end = position.map_or(0, |at| if is_joined { at + 1 } else { at + 2 });
    let options = arguments.get(..end).unwrap_or(arguments);
    let known = read(row_name, options).map_err(|_| code())?;
    let module = known.values(&["-m"]).first().and_then(|word| word.text());
    let module = Word::literal(module.ok_or_else(code)?);
    let rest = arguments.get(end..).unwrap_or_default();
    if is_listed("python_tools", module.shape()) {
        let tool = Word::literal(&module.shape().replace('_', "-"));
        return Ok(project_runner([&[tool], rest].concat()));
    }
    let outcome = row("python-m", &[&[module], rest].concat());
    outcome.unwrap_or_else(|| Err(code()))
}

/// `npm run script`, `npm test`, `yarn lint`.
fn package_script(invocation: &Invocation<'_>) -> Option<Result> {
    let name = invocation.name;
    let given = read(name, invocation.arguments).ok()?;
    let rest = given.operands;
    let (first, rest) = rest.split_first()?;
    let first = first.text()?;
    let (script_name, rest) = match first {
        "run" | "run-script" | "rum" | "urn" => return Some(named_script(name, rest)),
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

/// `npm run script`, `npm run`.
fn named_script(manager: &str, arguments: &[Word]) -> Result {
    let given = read(manager, arguments)?;
    let Some((script, arguments)) = given.operands.split_first() else {
        // It lists the scripts.
        return Ok(Outcome::reads());
    };
    let checked = project_script(script, arguments);
    // Without a script of that name, these run the tool.
    if manager != "npm" && script.text().is_some_and(is_package_tool) {
        return checked.or_else(|_| Ok(project_runner(given.operands.clone())));
    }
    checked
}

/// A script of the project with its arguments.
fn project_script(name: &Word, arguments: &[Word]) -> Result {
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
