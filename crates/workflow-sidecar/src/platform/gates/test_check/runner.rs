//! How programs that run tests are started, so that their output names and counts the tests.

/// Returns the words with which a command is started. What is not known is started as it is.
pub(super) fn started(command: &[String]) -> Vec<String> {
    let names = command
        .iter()
        .map(|word| word.rsplit('/').next().unwrap_or(word));
    let names: Vec<&str> = names.collect();
    let has = |start: &str| names.iter().any(|name| name.starts_with(start));
    // A runner, or what starts one: `npx jest`, `uv run pytest`, `python3 -m pytest`.
    let at = |runner: &str| names.iter().take(4).position(|name| *name == runner);
    let without_quiet = || {
        let words = command
            .iter()
            .filter(|word| !["-q", "-qq", "--quiet"].contains(&&***word));
        words.cloned().collect::<Vec<_>>()
    };
    let (mut words, at, option) = match *names {
        ["go", "test", ..] if !has("-json") => (command.to_vec(), 2, "-json"),
        ["cargo", ..] if has("test") => return without_quiet(),
        ["node", ..] if has("--test") && !has("--test-reporter") => {
            (command.to_vec(), 1, "--test-reporter=tap")
        }
        _ => {
            if let Some(at) = at("pytest") {
                (without_quiet(), at + 1, "-v")
            } else if let Some(at) = at("unittest") {
                let is_discovered = names.get(at + 1) == Some(&"discover");
                (without_quiet(), at + 1 + usize::from(is_discovered), "-v")
            } else if let Some(at) = at("vitest").filter(|_| !has("--reporter")) {
                let is_run = names.get(at + 1) == Some(&"run");
                (
                    command.to_vec(),
                    at + 1 + usize::from(is_run),
                    "--reporter=verbose",
                )
            } else if let Some(at) = at("jest").filter(|_| !has("--verbose")) {
                (command.to_vec(), at + 1, "--verbose")
            } else {
                return command.to_vec();
            }
        }
    };
    words.insert(at.min(words.len()), option.to_owned());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runner_is_started_so_that_it_names_its_tests() {
        for (written, expected) in [
            ("go test ./...", "go test -json ./..."),
            ("go test -json ./...", "go test -json ./..."),
            ("cargo test --quiet -p a -- -q b", "cargo test -p a -- b"),
            ("cargo test", "cargo test"),
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
            let words: Vec<String> = written.split(' ').map(str::to_owned).collect();
            assert_eq!(started(&words).join(" "), expected);
        }
    }
}
