//! Programs that run code of the project: interpreters with a named module, environments, and those of `scripts`.

use super::checks::{is_check, may_change};
use super::options::{Place, argument, joined, split};
use super::outcome::{Invocation, NestedCommand, Outcome, Result};
use super::scripts::{make, package_script, package_tool, project_script, recipe};
use super::shells::script;
use super::table::row;
use super::wrappers::project_runner;
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::word::Word;

/// Returns the outcome of such a program; `None` if a row knows it.
pub(super) fn outcome(invocation: &Invocation<'_>) -> Option<Result> {
    let arguments = invocation.arguments;
    let first = arguments.first().and_then(Word::text);
    match (invocation.name, first) {
        ("npm" | "pnpm" | "yarn" | "bun", _) => package_script(invocation),
        ("npx" | "bunx" | "pnpx", _) => Some(package_tool(arguments)),
        ("make" | "gmake", _) => Some(make(arguments)),
        ("just", _) => Some(recipe(
            arguments,
            "-nl -f= --dry-run --list --summary --show= --evaluate --dump --unsorted --quiet --verbose --justfile= --working-directory= -d=",
            &[
                "--list",
                "-l",
                "--summary",
                "--show",
                "--dump",
                "--evaluate",
                "-n",
                "--dry-run",
            ],
        )),
        ("task" | "go-task", _) => Some(recipe(
            arguments,
            "-nlasv --dry --list --list-all --summary --status --silent --verbose",
            &[
                "--list",
                "-l",
                "-a",
                "--list-all",
                "--summary",
                "--dry",
                "-n",
                "--status",
            ],
        )),
        ("deno", Some("task")) => Some(recipe(&arguments[1..], "-q --quiet", &[])),
        ("composer", Some("run" | "run-script")) => Some(recipe(
            &arguments[1..],
            "-l --list --no-interaction",
            &["-l", "--list"],
        )),
        ("python" | "pypy", _) => Some(python(invocation)),
        ("node" | "nodejs", _) => Some(interpreter(
            arguments,
            "-c --check",
            "--test --watch --test-reporter= --enable-source-maps --no-warnings --experimental-strip-types --experimental-test-coverage --test-name-pattern= --test-concurrency= --test-timeout= --test-only --test-force-exit",
            "--test",
        )),
        ("ruby", _) => Some(interpreter(arguments, "-cw", "", "")),
        ("php", Some("artisan")) => {
            row("artisan", &arguments[1..]).map(|effect| Ok(Outcome::of(effect)))
        }
        ("php", Some(option)) if option.starts_with('-') && option != "-l" => {
            row("php", arguments).map(|effect| Ok(Outcome::of(effect)))
        }
        ("php", _) => Some(interpreter(arguments, "-l", "", "")),
        ("git", _) => git(arguments),
        // Not the program `fmt`.
        ("pdm" | "hatch" | "rye" | "pixi", Some("run"))
            if arguments
                .get(1)
                .and_then(Word::text)
                .is_some_and(may_change) =>
        {
            Some(Err(argument(&arguments[1])))
        }
        // `hatch run lint:all`: a script of the project.
        ("pdm" | "hatch" | "rye" | "pixi", Some("run"))
            if arguments.get(1).and_then(Word::text).is_some_and(|name| {
                is_check(name) && matches!(row(name, &[]), None | Some(Effect::Unknown(_)))
            }) =>
        {
            Some(project_script(&arguments[1], &arguments[2..]))
        }
        ("uv" | "poetry" | "pdm" | "pipenv" | "hatch" | "rye" | "pixi", Some("run")) => {
            Some(environment(
                &arguments[1..],
                "-qvU -p= --quiet --verbose --frozen --locked --no-sync --no-project --offline --all-extras --all-groups --dev --no-dev --isolated --python= --extra= --group= --only-group= --package= --project= --directory= --no-interaction",
                0,
            ))
        }
        ("uvx", _) => Some(environment(arguments, "-q --quiet --offline --python=", 0)),
        ("uv", Some("tool")) if arguments.get(1).and_then(Word::text) == Some("run") => Some(
            environment(&arguments[2..], "-q --quiet --offline --python=", 0),
        ),
        ("conda" | "mamba" | "micromamba", Some("run")) => Some(environment(
            &arguments[1..],
            "-n= -p= --name= --prefix= --no-capture-output --live-stream",
            0,
        )),
        (
            "bundle" | "mise" | "asdf" | "rbenv" | "pyenv" | "nodenv" | "opam" | "stack" | "cabal"
            | "volta" | "fnm" | "devbox",
            Some("exec" | "x"),
        ) => Some(environment(&arguments[1..], "", 0)),
        ("rustup", Some("run")) => Some(environment(&arguments[1..], "", 1)),
        ("coverage", Some("run")) => coverage(&arguments[1..]),
        _ => None,
    }
}

/// `python manage.py test`: subcommands of Django that test or show.
fn django(arguments: &[Word]) -> Option<Result> {
    const ALL: &str =
        "-v= --verbosity= --settings= --traceback --no-color --force-color --skip-checks";
    let [script, subcommand, rest @ ..] = arguments else {
        return None;
    };
    if !matches!(script.text(), Some("manage.py" | "./manage.py")) {
        return None;
    }
    let (options, needed) = match subcommand.text()? {
        "test" => (
            "-b -k= -p= -t= --keepdb --parallel?= --failfast --noinput --no-input --tag= --exclude-tag= --pattern= --top-level-directory= --debug-mode --timing --shuffle?= --reverse --buffer --debug-sql",
            None,
        ),
        "check" => (
            "-t= --tag= --list-tags --deploy --fail-level= --database=",
            None,
        ),
        "showmigrations" => ("-lp --list --plan --database=", None),
        "sqlmigrate" => ("--backwards --database=", None),
        "diffsettings" => ("--all --default= --output=", None),
        "migrate" => ("--plan --check --database=", Some("--plan")),
        "makemigrations" => ("--check --dry-run", Some("--dry-run")),
        _ => return None,
    };
    let known = match split(rest, &format!("{options} {ALL}"), Place::Anywhere) {
        Ok(known) => known,
        Err(unknown) => return Some(Err(unknown)),
    };
    Some(match needed.filter(|needed| !known.has(&[needed])) {
        Some(needed) => Err(Unknown::new(needed, UnknownReason::Missing)),
        None => Ok(Outcome::of(Effect::RunsProjectCode)),
    })
}

/// `python -m module`; other code is not analyzed.
fn python(invocation: &Invocation<'_>) -> Result {
    #[rustfmt::skip] // Names in order.
    const TOOLS: &[&str] = &[
        "bandit", "black", "coverage", "flake8", "isort", "mypy", "nox", "pip", "pip_audit", "pipdeptree", "pre_commit", "pycodestyle", "pydoc", "pydocstyle", "pylint", "pyright", "pytest", "ruff", "tox", "twine", "uv", "vulture",
    ];
    const MODULES: &[&str] = &[
        "dis",
        "ast",
        "tokenize",
        "site",
        "sysconfig",
        "platform",
        "py_compile",
        "compileall",
        "http.server",
        "calendar",
        "this",
        "pyflakes",
        "doctest",
        "tabnanny",
    ];
    if let Some(result) = django(invocation.arguments) {
        return result;
    }
    // The module ends the options.
    let position = invocation.arguments.iter().position(|word| {
        let shape = word.shape();
        shape.starts_with('-') && !shape.starts_with("--") && shape.contains('m')
    });
    let is_joined = position.is_some_and(|at| {
        let shape = invocation.arguments[at].shape();
        shape.find('m').is_some_and(|m| m + 1 < shape.len())
    });
    let end = position.map_or(0, |at| if is_joined { at + 1 } else { at + 2 });
    let options = invocation.arguments.get(..end);
    let options = options.unwrap_or(invocation.arguments);
    let known = split(options, "-uBsEIOq -m=", Place::Leading);
    let code = || unread_code(invocation.arguments.first().unwrap_or(&invocation.words[0]));
    let known = known.map_err(|_| code())?;
    let module = known.values(&["-m"]).first().and_then(|word| word.text());
    let module = module.map(str::to_owned).ok_or_else(code)?;
    let rest = invocation.arguments.get(end..).unwrap_or_default();
    let command = |name: &str| [&[Word::literal(name)], rest].concat();
    match module.as_str() {
        "build" => Ok(project_runner(command("pyproject-build"))),
        tool if TOOLS.contains(&tool) => Ok(project_runner(command(&tool.replace('_', "-")))),
        "unittest" => {
            split(
                rest,
                "-vqfbcl -k= -s= -p= -t= --verbose --quiet --failfast --buffer --locals --start-directory= --pattern= --top-level-directory=",
                Place::Anywhere,
            )?;
            Ok(Outcome::of(Effect::RunsProjectCode))
        }
        "json.tool" => {
            let known = split(
                rest,
                "--sort-keys --no-ensure-ascii --json-lines --indent= --tab --no-indent --compact",
                Place::Anywhere,
            )?;
            match known.operands.get(1) {
                Some(file) => Ok(Outcome::writes("`json.tool`", [*file])),
                None => Ok(Outcome::reads()),
            }
        }
        "zipfile" | "tarfile" => match rest {
            [option, file]
                if matches!(option.text(), Some("-l" | "--list" | "-t" | "--test"))
                    && !file.shape().starts_with('-')
                    && !file.may_hide_option() =>
            {
                Ok(Outcome::reads())
            }
            _ => Err(Unknown::new(&module, UnknownReason::Code)),
        },
        module if MODULES.contains(&module) => match rest.iter().find(|word| {
            word.shape().starts_with("-o")
                || word.shape().starts_with("--generate")
                || word.may_hide_option()
        }) {
            Some(word) => Err(argument(word)),
            None => Ok(Outcome::of(Effect::RunsProjectCode)),
        },
        _ => Err(Unknown::new(&module, UnknownReason::Code)),
    }
}

/// The code that an interpreter runs: in the line, or in the file that is its first argument.
fn unread_code(first: &Word) -> Unknown {
    let is_in_line = first.shape().starts_with('-') || first.text().is_none();
    let reason = if is_in_line {
        UnknownReason::Code
    } else {
        UnknownReason::HiddenCode
    };
    Unknown::new(first.shape(), reason)
}

/// An interpreter that checks the syntax of files, or runs the tests of the project.
fn interpreter(arguments: &[Word], checks: &str, tests: &str, test: &str) -> Result {
    let [first, ..] = arguments else {
        return Err(Unknown::new("…", UnknownReason::Input));
    };
    let code = |()| unread_code(first);
    let is_file = |word: &&Word| !word.is_standard_input();
    if let Ok(known) = split(arguments, checks, Place::Leading) {
        let files = &arguments[known.length..];
        return if known.has(&["-c", "-l", "--check"])
            && !files.is_empty()
            && files.iter().all(|word| is_file(&word))
        {
            Ok(Outcome::reads())
        } else {
            Err(code(()))
        };
    }
    let known = split(arguments, tests, Place::Anywhere).map_err(|_| code(()))?;
    // Other reporters are modules.
    let is_reporter =
        |word: &&Word| matches!(word.shape(), "spec" | "tap" | "dot" | "junit" | "lcov");
    let reporters = known.values(&["--test-reporter"]);
    if let Some(word) = reporters.iter().find(|word| !is_reporter(word)) {
        return Err(argument(word));
    }
    if !test.is_empty() && known.has(&[test]) {
        return Ok(Outcome::of(Effect::RunsProjectCode));
    }
    Err(code(()))
}

/// `git submodule foreach`, and settings for one command that change its output only.
fn git(arguments: &[Word]) -> Option<Result> {
    if let [submodule, foreach, rest @ ..] = arguments
        && submodule.text() == Some("submodule")
        && foreach.text() == Some("foreach")
    {
        let known = match split(rest, "-q --quiet --recursive", Place::Leading) {
            Ok(known) => known,
            Err(unknown) => return Some(Err(unknown)),
        };
        let text = joined(&rest[known.length..])?;
        return Some(Ok(script(text, NestedCommand::Script)));
    }
    let is_harmless = |setting: &Word| {
        let (name, value) = setting.text()?.split_once('=')?;
        let name = name.to_ascii_lowercase();
        let is_color = name.starts_with("color.") || name.starts_with("advice.");
        let is_known = matches!(
            (name.as_str(), value),
            ("core.pager", "cat" | "")
                | ("core.quotepath", "true" | "false" | "off" | "on")
                | ("log.showsignature", "false")
                | (
                    "http.sslverify" | "advice.detachedhead" | "submodule.recurse",
                    "true" | "false"
                )
                | ("gc.auto", "0")
                | (
                    "diff.renames"
                        | "diff.mnemonicprefix"
                        | "diff.noprefix"
                        | "diff.algorithm"
                        | "diff.context"
                        | "diff.colormoved"
                        | "diff.interhunkcontext"
                        | "diff.ignoresubmodules"
                        | "diff.submodule"
                        | "diff.relative"
                        | "diff.renamelimit"
                        | "log.date"
                        | "log.decorate"
                        | "log.abbrevcommit"
                        | "log.follow"
                        | "blame.date"
                        | "blame.showemail"
                        | "grep.linenumber"
                        | "grep.patterntype"
                        | "status.short"
                        | "status.branch"
                        | "status.relativepaths"
                        | "status.showuntrackedfiles"
                        | "column.ui"
                        | "tag.sort"
                        | "branch.sort"
                        | "versionsort.suffix"
                        | "i18n.logoutputencoding"
                        | "protocol.version"
                        | "user.name"
                        | "user.email"
                        | "merge.conflictstyle"
                        | "core.abbrev",
                    _
                )
        );
        (is_known || is_color && value.bytes().all(|byte| byte.is_ascii_alphanumeric()))
            .then_some(())
    };
    let at = arguments.iter().position(|word| word.shape() == "-c")?;
    let is_prefix = arguments[..at]
        .iter()
        .all(|word| word.shape().starts_with('-') || word.text().is_some())
        && at <= 2;
    if !is_prefix || at > 0 && arguments[0].shape() != "--no-pager" && arguments[0].shape() != "-C"
    {
        return None;
    }
    let setting = arguments.get(at + 1)?;
    if is_harmless(setting).is_none() {
        return Some(Err(argument(setting)));
    }
    let rest = [&arguments[..at], &arguments[at + 2..]].concat();
    if let Some(result) = git(&rest) {
        return Some(result);
    }
    row("git", &rest).map(|effect| Ok(Outcome::of(effect)))
}

/// `uv run command` and similar: they may set the environment of the project up.
fn environment(arguments: &[Word], options: &str, skip: usize) -> Result {
    let known = split(arguments, options, Place::Leading)?;
    let command = arguments[known.length..].get(skip..).unwrap_or_default();
    let command = match command {
        [first, rest @ ..] if first.shape() == "--" => rest,
        all => all,
    };
    if command.is_empty() {
        return Err(Unknown::new("run", UnknownReason::Missing));
    }
    Ok(project_runner(command.to_vec()))
}

/// `coverage run -m pytest`
fn coverage(arguments: &[Word]) -> Option<Result> {
    let known = split(
        arguments,
        "-ap -m= --append --branch --parallel-mode --source= --omit= --include=",
        Place::Leading,
    )
    .ok()?;
    let module = known.values(&["-m"]).first()?.text()?.to_owned();
    let command = [
        &[
            Word::literal("python"),
            Word::literal("-m"),
            Word::literal(&module),
        ],
        &arguments[known.length..],
    ]
    .concat();
    Some(Ok(project_runner(command)))
}
