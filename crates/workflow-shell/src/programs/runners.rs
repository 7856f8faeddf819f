//! Programs that run scripts and tools of the project: package managers, `make`, interpreters with a named module.

use super::options::{Place, argument, expansion, joined, split};
use super::shells::script;
use super::wrappers::project_runner;
use super::{Invocation, NestedCommand, Outcome, Result, row};
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
                .is_some_and(|name| CHANGES.contains(&name)) =>
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

/// Names of scripts that test, check or build.
#[rustfmt::skip] // Names in order.
const CHECKS: &[&str] = &[
    "all", "audit", "bench", "benchmark", "build", "check", "checks", "ci", "compile", "coverage", "cov", "debug", "dev", "e2e", "eslint", "help", "integration", "jest", "lint", "linkcheck", "list", "mypy", "preview", "print", "pytest",
    "serve", "size", "smoke", "spec", "start", "stats", "status", "storybook", "stylelint", "test", "tests", "tsc", "type", "types", "typecheck", "unit", "validate", "verify", "vet", "vitest", "watch", "docs", "doc", "clippy", "stop", "restart",
];

/// Parts of names of scripts that change files.
#[rustfmt::skip] // Names in order.
const CHANGES: &[&str] = &[
    "accept", "apply", "bless", "bump", "clean", "codegen", "commit", "deploy", "fix", "fmt", "format", "gen", "generate", "init", "install", "migrate", "migration", "prettier", "publish", "push", "release", "reset", "seed",
    "snapshot", "snapshots", "sync", "u", "update", "upgrade", "version", "write",
];

/// Returns whether the name of a script indicates that it writes build outputs only: `test`, `lint:ci`, `build`.
fn is_check(name: &str) -> bool {
    let parts: Vec<&str> = name.split([':', '-', '_', '.', '/']).collect();
    let verified = parts.len() > 1
        && parts.last().is_some_and(|last| {
            ["check", "ci", "verify", "dry", "list", "status", "report"].contains(last)
        });
    let checks = parts.iter().any(|part| CHECKS.contains(part))
        && CHECKS.contains(parts.first().unwrap_or(&""))
        || parts
            .last()
            .is_some_and(|last| CHECKS.contains(last) && parts.len() == 2);
    verified
        && !parts
            .iter()
            .any(|part| matches!(*part, "fix" | "write" | "update"))
        || checks && !parts.iter().any(|part| CHANGES.contains(part))
}

/// Options of test runners and builds that write build outputs only.
const SCRIPT_OPTIONS: &str = "-itvsqgx -w= --watch?= --watchAll?= --workspace= --workspaces --prefix= --coverage?= --ci --silent --verbose --quiet --run --bail?= --passWithNoTests --runInBand --no-watch --once --testNamePattern= --testPathPattern= --grep= --filter= --project= --headed --headless --workers= --maxWorkers= --shard= --retries= --timeout= --testTimeout= --forceExit --detectOpenHandles --findRelatedTests --onlyChanged --changed --mode= --production --prod --noEmit --pretty?= --if-present --no-color --color --colors --max-warnings= --port= --host?= --browser= --browsers= --single-run --no-coverage --showConfig --listTests -t= -p= -k= --reporter=";

/// `npm run script`, `npm test`, `yarn lint`.
fn package_script(invocation: &Invocation<'_>) -> Option<Result> {
    const OPTIONS: &str = "-sqr -w= -C= -F= --silent --quiet --if-present --workspace= --workspaces --ws --include-workspace-root --prefix= --filter= --cwd= --dir= --recursive --parallel --stream --no-bail --aggregate-output --sort --bun --offline --prefer-offline";
    let name = invocation.name;
    let known = split(invocation.arguments, OPTIONS, Place::Leading).ok()?;
    let rest = &invocation.arguments[known.length..];
    if rest.is_empty() && name == "yarn" {
        // It installs.
        return Some(Ok(Outcome::writes_somewhere("`yarn`")));
    }
    let (first, rest) = rest.split_first()?;
    let first = first.text()?;
    let (script_name, rest) = match first {
        "run" | "run-script" | "rum" | "urn" => {
            let known = match split(rest, OPTIONS, Place::Leading) {
                Ok(known) => known,
                Err(unknown) => return Some(Err(unknown)),
            };
            let rest = &rest[known.length..];
            match rest.split_first() {
                // It lists the scripts.
                None => return Some(Ok(Outcome::reads())),
                // Without a script of that name, these run the tool.
                Some((script, arguments))
                    if name != "npm" && script.text().is_some_and(is_package_tool) =>
                {
                    let checked = project_script(script, arguments);
                    let tool = || project_runner(rest.to_vec());
                    return Some(checked.or_else(|_| Ok(tool())));
                }
                Some((script, rest)) => (script, rest),
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
            let known = split(
                &rest[1..],
                "-Aptiv --all --parallel --topological --interlaced --verbose",
                Place::Leading,
            );
            let command = match (rest.first().and_then(Word::text), known) {
                (Some("foreach"), Ok(known)) => &rest[1..][known.length..],
                _ => return None,
            };
            return Some(Ok(Outcome::runs([NestedCommand::OtherDirectory(
                [&[Word::literal("yarn")], command].concat(),
            )])));
        }
        // The table decides.
        _ if name == "npm"
            || !matches!(
                row(name, invocation.arguments),
                None | Some(Effect::Unknown(_))
            ) =>
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
    let known = split(&arguments, SCRIPT_OPTIONS, Place::Anywhere)?;
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

/// Tools of JavaScript projects, by the names of their packages' programs.
#[rustfmt::skip] // Names in order.
const PACKAGE_TOOLS: &[&str] = &[
    "ava", "biome", "c8", "cspell", "commitlint", "cypress", "depcheck", "dpdm", "esbuild", "eslint", "jest", "knip", "lerna", "license-checker", "lint-staged", "madge", "envinfo", "browserslist", "markdownlint", "markdownlint-cli2", "mocha", "next", "ng", "npm-check-updates",
    "ncu", "nuxt", "nx", "nyc", "oxlint", "playwright", "prettier", "prisma", "publint", "pyright", "rollup", "size-limit", "solhint", "standard", "stylelint", "svelte-check", "tap", "tape", "tsc", "tsd", "tsup", "turbo", "typedoc", "vite",
    "vitest", "vue-tsc", "webpack", "xo", "attw", "c8", "drizzle-kit", "astro", "storybook", "dependency-cruiser", "depcruise", "wrangler", "hardhat",
];

fn is_package_tool(name: &str) -> bool {
    PACKAGE_TOOLS.contains(&super::known_name(name))
}

/// `npx tool arguments`
fn package_tool(arguments: &[Word]) -> Result {
    let known = split(
        arguments,
        "-yq --yes --no --no-install --quiet --prefer-offline --offline --silent",
        Place::Leading,
    )?;
    let command = &arguments[known.length..];
    let Some(first) = command.first() else {
        return Err(Unknown::new("npx", UnknownReason::Missing));
    };
    match first.text() {
        Some(tool) if is_package_tool(tool) => Ok(project_runner(command.to_vec())),
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
fn make(arguments: &[Word]) -> Result {
    const OPTIONS: &str = "-nskBqipwrRSd -j?= -l?= -C= -f= -O?= --dry-run --just-print --recon --silent --quiet --keep-going --always-make --question --print-data-base --print-directory --no-print-directory --jobs?= --directory= --file= --makefile= --output-sync?= --version --warn-undefined-variables --trace --no-builtin-rules";
    let known = split(arguments, OPTIONS, Place::Anywhere)?;
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
fn recipe(arguments: &[Word], options: &str, idle: &[&str]) -> Result {
    let known = split(arguments, options, Place::Leading)?;
    // Options behind the name are arguments of the recipe.
    let rest = &arguments[known.length..];
    match rest.split_first() {
        _ if known.has(idle) => Ok(Outcome::of(Effect::RunsProjectCode)),
        None => Err(Unknown::new("default", UnknownReason::Argument)),
        Some((name, rest)) => project_script(name, rest),
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
    let code = || Unknown::new(invocation.words[0].shape(), UnknownReason::Code);
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

/// An interpreter that checks the syntax of files, or runs the tests of the project.
fn interpreter(arguments: &[Word], checks: &str, tests: &str, test: &str) -> Result {
    let [first, ..] = arguments else {
        return Err(Unknown::new("…", UnknownReason::Input));
    };
    let code = |()| Unknown::new(first.shape(), UnknownReason::Code);
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
