//! Programs that run code of the project: interpreters with a named module, environments, and those of `scripts`.

use super::checks::{is_check, may_change};
use super::outcome::{Invocation, Result, project_runner};
use super::scripts::{package_script, project_script};
use super::table::{is_listed, read, row};
use crate::effect::{Unknown, UnknownReason};
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
