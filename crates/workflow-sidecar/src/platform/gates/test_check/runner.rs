//! How programs that run tests are started, so that their output names and counts the tests.

use std::path::Path;

use workflow_core::definition::{RunCheck, TestsCheck};

/// Programs, the word that may stand behind each, and the options by which it names all its tests.
const RUNNERS: [(&str, &str, &str); 8] = [
    // Else the programs after one that fails do not run.
    ("cargo", "test", "--no-fail-fast"),
    (
        "nextest",
        "run",
        "--no-fail-fast --status-level=all --failure-output=final --success-output=never",
    ),
    ("go", "test", "-json"),
    ("node", "", "--test-reporter=tap"),
    ("pytest", "", "-v"),
    ("unittest", "discover", "-v"),
    ("vitest", "run", "--reporter=verbose"),
    ("jest", "", "--verbose"),
];

/// Returns the command of a check as it is started. What is not known is started as it is.
pub(in super::super) fn started(expected: &TestsCheck) -> RunCheck {
    let command = &expected.command.command;
    let has = |start: &str| command.iter().any(|word| word.starts_with(start));
    let name = |word: &String| word.rsplit('/').next().unwrap_or_default().to_owned();
    let names: Vec<String> = command.iter().map(name).collect();
    let runner = RUNNERS.into_iter().find_map(|(runner, next, options)| {
        // The runner, or what starts it: `npx jest`, `uv run pytest`, `python3 -m pytest`.
        let at = names.iter().take(4).position(|name| name == runner)?;
        let has_toolchain = names.get(at + 1).is_some_and(|word| word.starts_with('+'));
        let at = at + usize::from(has_toolchain);
        let has_next = names.get(at + 1).is_some_and(|word| word == next);
        let runs_tests = match runner {
            "cargo" | "nextest" | "go" => has_next,
            "node" => has("--test"),
            _ => true,
        };
        runs_tests.then_some((at + 1 + usize::from(has_next), options))
    });
    let mut words = command.clone();
    let (at, options) = runner.unwrap_or_default();
    // With these, nextest refuses the option to run all.
    let has_bound = has("--max-fail") || has("--nff");
    for option in options.split_ascii_whitespace().rev() {
        let is_refused = has_bound && option == "--no-fail-fast";
        if !is_refused && !has(option.split('=').next().unwrap_or(option)) {
            words.insert(at, option.to_owned());
        }
    }
    if ["--no-fail-fast", "-v"].contains(&options) {
        words.retain(|word| !["-q", "-qq", "--quiet"].contains(&&**word));
    }
    RunCheck {
        command: words,
        ..expected.command.clone()
    }
}

/// Modules that Python loads to run tests. With `-m` it looks for them in its directory first.
const MODULES: &str = "unittest pytest _pytest pluggy argparse contextlib difflib functools logging signal traceback warnings";

/// Returns the file of a project that Python takes for a module of those that run the tests.
pub(super) fn replaced(expected: &RunCheck, project: &Path) -> Option<String> {
    let runs = |words: &[String]| words[0] == "-m" && ["unittest", "pytest"].contains(&&*words[1]);
    expected.command.windows(2).find(|words| runs(words))?;
    let directory = project.join(expected.cwd.as_deref().unwrap_or_default());
    let files = |name: &str| [format!("{name}.py"), format!("{name}/__init__.py")];
    let mut files = MODULES.split(' ').flat_map(files);
    files.find(|file| directory.join(file).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runner_is_started_so_that_it_names_its_tests() {
        for (written, expected) in [
            ("go test ./...", "go test -json ./..."),
            ("go test -json ./...", "go test -json ./..."),
            (
                "cargo test --quiet -p a -- -q b",
                "cargo test --no-fail-fast -p a -- b",
            ),
            ("cargo +nightly test", "cargo +nightly test --no-fail-fast"),
            ("cargo run -q", "cargo run -q"),
            (
                "cargo nextest run --status-level fail",
                "cargo nextest run --no-fail-fast --failure-output=final --success-output=never --status-level fail",
            ),
            (
                "cargo nextest run --max-fail=2",
                "cargo nextest run --status-level=all --failure-output=final --success-output=never --max-fail=2",
            ),
            (
                "cargo nextest run --nff",
                "cargo nextest run --status-level=all --failure-output=final --success-output=never --nff",
            ),
            ("cargo nextest list", "cargo nextest list"),
            ("node --test", "node --test-reporter=tap --test"),
            (
                "node --test --test-reporter=dot",
                "node --test --test-reporter=dot",
            ),
            ("node server.js", "node server.js"),
            ("python3 -m pytest -q tests", "python3 -m pytest -v tests"),
            (".venv/bin/pytest", ".venv/bin/pytest -v"),
            ("uv run pytest -x", "uv run pytest -v -x"),
            ("python3 -m unittest", "python3 -m unittest -v"),
            (
                "python3 -m unittest discover -s tests",
                "python3 -m unittest discover -v -s tests",
            ),
            ("npx vitest run", "npx vitest run --reporter=verbose"),
            ("vitest --reporter=json", "vitest --reporter=json"),
            ("npx jest a", "npx jest --verbose a"),
            ("npm test", "npm test"),
            ("make test", "make test"),
        ] {
            let mut check = TestsCheck::default();
            check.command.command = written.split(' ').map(str::to_owned).collect();
            assert_eq!(started(&check).command.join(" "), expected);
        }
    }
}
