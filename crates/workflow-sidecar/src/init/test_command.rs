//! The command that runs a project's tests, from the project's own files.

use std::fs;
use std::path::Path;

use regex::Regex;
use workflow_core::definition::{Check, Gate, RunCheck};

use super::ecosystem::is_mark;
use crate::files::{json, text};

/// The command that runs tests in the files of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TestCommand {
    /// The program and its arguments, or a line for the shell: as it is typed.
    pub(crate) line: String,
    /// False for a guess: no file of the project names it.
    pub(crate) is_detected: bool,
    /// What gates run instead: the runner that a script of the project is. Nothing then prints results but the runner.
    runner: String,
    /// True if a gate can read in its output which tests ran.
    is_read: bool,
}

/// Files that mention pytest where it is used, and files that only it has.
const PYTEST_FILES: &str = "pyproject.toml~pytest setup.cfg~pytest setup.py~pytest requirements.txt~pytest \
    requirements-dev.txt~pytest uv.lock~pytest poetry.lock~pytest pytest.ini conftest.py tests/conftest.py";

impl TestCommand {
    /// Returns the command of a project, or a guess.
    pub(super) fn of(project: ProjectFiles<'_>) -> Self {
        let lines = include_str!("test_commands.txt").lines();
        let lines = lines.filter(|line| !line.starts_with('#'));
        let named = lines.filter_map(|line| line.split_once(" = "));
        let mut named = named.map(|(conditions, line)| match conditions.strip_prefix('?') {
            Some(conditions) => (conditions, line, false),
            None => (conditions, line, true),
        });
        let fits = |conditions: &str| conditions.split_whitespace().all(|one| project.is(one));
        let named = named.find(|(conditions, ..)| fits(conditions));
        let (_, line, is_detected) = named.expect("the last one fits every project");
        let (line, runner) = line.split_once(" > ").unwrap_or((line, line));
        let words = ["cargo test", "go test", "pytest", "unittest"];
        let is_read = line != runner
            || words.iter().any(|word| line.contains(word))
            || (["npm test", "pnpm test", "yarn test"].contains(&line)
                && project.mentions("package.json", "jest|vitest|node --test"));
        Self {
            line: line.to_owned(),
            is_detected,
            runner: runner.to_owned(),
            is_read,
        }
    }

    /// Returns the key of a gate that runs it.
    pub(super) fn gate(&self) -> String {
        if self.line.contains(" && ") {
            format!("run: {}\n    shell: true", self.line)
        } else {
            format!("run: [{}]", self.runner.replace(' ', ", "))
        }
    }

    /// Returns the key of a gate that runs it and counts its tests, with these keys; `None` if its output is not read.
    pub(super) fn counting_gate(&self, keys: &str) -> Option<String> {
        let words = self.runner.replace(' ', ", ");
        self.is_read
            .then(|| format!("tests: {{ run: [{words}]{keys} }}"))
    }

    /// Returns its commands as items of a list of YAML, without the quote at the end.
    pub(super) fn patterns(&self) -> String {
        format!("\"{}", self.line.replace(" && ", "\", \""))
    }

    /// Returns a check that runs it for a time.
    pub(super) fn check(&self, timeout: u32) -> Gate {
        let words = self.runner.split(' ').map(str::to_owned);
        Gate {
            check: Check::Run(RunCheck {
                command: words.collect(),
                shell: self.line.contains(" && "),
                timeout,
                ..RunCheck::default()
            }),
            default_of: None,
            on_fail: None,
            tries: None,
            bounds: Vec::new(),
            on_limit: None,
            source: String::new(),
        }
    }
}

/// The files of a project.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProjectFiles<'p>(pub(super) &'p Path);

impl ProjectFiles<'_> {
    /// Returns true if a condition of `test_commands.txt` holds.
    fn is(self, condition: &str) -> bool {
        if let Some(other) = condition.strip_prefix('!') {
            return !self.is(other);
        }
        if let Some(file) = condition.strip_prefix("@script:") {
            return self.has_script(file);
        }
        let tests = || self.python_tests().into_iter();
        match condition {
            "@pytest" => PYTEST_FILES.split_whitespace().any(|one| self.is(one)),
            "@tests" => tests().next().is_some(),
            "@unittest" => tests().any(|text| text.contains("unittest")),
            // A directory that is no package is not searched.
            "@package" => self.has("tests/__init__.py") || !self.0.join("tests").is_dir(),
            file if file.starts_with('*') => self.names("").iter().any(|name| is_mark(file, name)),
            file => match file.split_once('~') {
                Some((file, pattern)) => self.mentions(file, pattern),
                None => self.has(file),
            },
        }
    }

    fn has(self, file: &str) -> bool {
        self.0.join(file).is_file()
    }

    fn text(self, file: &str) -> Option<String> {
        text(&self.0.join(file)).ok()?
    }

    /// Returns true if a file has a match of a regular expression.
    fn mentions(self, file: &str, pattern: &str) -> bool {
        let text = self.text(file).unwrap_or_default();
        Regex::new(&format!("(?m){pattern}")).is_ok_and(|pattern| pattern.is_match(&text))
    }

    /// Returns true if a file has a script `test`, and not the one that npm writes into a new project.
    fn has_script(self, file: &str) -> bool {
        let package = json(&self.0.join(file)).unwrap_or_default();
        match &package["scripts"]["test"] {
            serde_json::Value::String(script) => !script.contains("no test specified"),
            // Composer takes a list, too.
            script => script.is_array(),
        }
    }

    /// Returns the texts of Python's test files.
    fn python_tests(self) -> Vec<String> {
        const MOST: usize = 20;
        let is_test = |path: &String| {
            let name = path.rsplit('/').next().unwrap_or_default();
            name.strip_suffix(".py")
                .is_some_and(|stem| stem.starts_with("test_") || stem.ends_with("_test"))
        };
        let tests = self.all_names().into_iter().filter(is_test).take(MOST);
        tests.filter_map(|path| self.text(&path)).collect()
    }

    /// Returns the names at the root, and the paths in `tests`.
    pub(super) fn all_names(self) -> Vec<String> {
        [self.names(""), self.names("tests/")].concat()
    }

    fn names(self, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(self.0.join(directory)).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.map(|name| format!("{directory}{name}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CMAKE: &str = "cmake --build build && ctest --test-dir build";
    const PYTEST: &str = "python3 -m pytest";

    /// Returns the command for a project of these files; `?` before it marks a guess.
    fn command(files: &[(&str, &str)]) -> String {
        let project = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = project.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let command = TestCommand::of(ProjectFiles(project.path()));
        let mark = if command.is_detected { "" } else { "?" };
        format!("{mark}{}", command.line)
    }

    const SCRIPT: (&str, &str) = ("package.json", r#"{"scripts":{"test":"vitest run"}}"#);

    #[test]
    fn the_files_of_a_language_name_its_command() {
        for (file, expected) in [
            ("Cargo.toml", "cargo test"),
            ("go.mod", "go test ./..."),
            ("deno.jsonc", "deno test"),
            ("gradlew", "./gradlew test"),
            ("pom.xml", "mvn test"),
            ("App.csproj", "dotnet test"),
            ("mix.exs", "mix test"),
            ("scripts/test", "scripts/test"),
        ] {
            assert_eq!(command(&[(file, "")]), expected);
        }
    }

    #[test]
    fn a_script_of_a_package_runs_by_its_manager() {
        for (lock, expected) in [
            ("pnpm-lock.yaml", "pnpm test"),
            ("yarn.lock", "yarn test"),
            ("bun.lock", "bun run test"),
            ("package-lock.json", "npm test"),
        ] {
            assert_eq!(command(&[SCRIPT, (lock, "")]), expected);
        }
        assert_eq!(
            command(&[("package.json", "{}"), ("bun.lock", "")]),
            "bun test"
        );
    }

    #[test]
    fn a_gate_names_the_runner_that_a_script_is() {
        for (script, lock, expected) in [
            ("node --test", "package-lock.json", "node --test"),
            ("vitest run", "pnpm-lock.yaml", "pnpm exec vitest run"),
            ("jest", "yarn.lock", "yarn jest"),
            ("jest", "package-lock.json", "npx jest"),
            ("jest --ci", "package-lock.json", "npm test"),
            ("tsc && node --test", "package-lock.json", "npm test"),
            ("jest", "bun.lock", "bun run test"),
        ] {
            let project = tempfile::tempdir().unwrap();
            let package = serde_json::json!({ "scripts": { "test": script } }).to_string();
            fs::write(project.path().join("package.json"), package).unwrap();
            fs::write(project.path().join(lock), "").unwrap();
            let command = TestCommand::of(ProjectFiles(project.path()));
            assert_eq!(command.runner, expected, "{script}");
            // The agent may type the script, as the project says.
            assert_eq!(command.patterns(), format!("\"{}", command.line));
        }
    }

    #[test]
    fn a_package_without_a_test_script_names_no_command() {
        let new = r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#;
        for package in ["{}", "{", new, r#"{"scripts":{"build":"tsc"}}"#] {
            let files = [("package.json", package), ("pnpm-lock.yaml", "")];
            assert_eq!(command(&files), "?npm test", "{package}");
        }
        let makefile = ("Makefile", "test: build\n\ttrue\n");
        assert_eq!(command(&[("package.json", "{}"), makefile]), "make test");
        // The only one that make reads.
        let read = ("GNUmakefile", "all:\n\ttrue\n");
        assert_eq!(command(&[read, makefile]), "?make test");
    }

    #[test]
    fn python_runs_what_its_tests_import() {
        let unittest = ("tests/test_a.py", "import unittest\n");
        let function = ("tests/test_a.py", "def test_a():\n    assert 1\n");
        for (files, expected) in [
            (vec![function], "python3 -m pytest"),
            (vec![unittest, ("Makefile", "test:\n\ttrue\n")], "make test"),
            (
                vec![("pyproject.toml", "[tool.pytest]"), ("Makefile", "test:")],
                PYTEST,
            ),
            (vec![unittest], "python3 -m unittest discover -s tests"),
            (
                vec![unittest, ("tests/__init__.py", "")],
                "python3 -m unittest",
            ),
            (
                vec![("test_a.py", "import unittest")],
                "python3 -m unittest",
            ),
            (
                vec![unittest, ("requirements.txt", "pytest==8\n")],
                "python3 -m pytest",
            ),
            (
                vec![("pyproject.toml", "[tool.pytest]")],
                "python3 -m pytest",
            ),
            (vec![function, ("uv.lock", "")], "uv run pytest"),
            (vec![function, ("poetry.lock", "")], "poetry run pytest"),
            (vec![function, ("tox.ini", "[testenv]\n")], "tox"),
            (
                vec![function, ("tox.ini", "[flake8]\n")],
                "python3 -m pytest",
            ),
            (
                vec![("pyproject.toml", ""), ("uv.lock", "")],
                "?uv run pytest",
            ),
            (vec![("requirements.txt", "flask\n")], "?python3 -m pytest"),
            (vec![("README", "")], "?make test"),
        ] {
            assert_eq!(command(&files), expected, "{files:?}");
        }
    }

    #[test]
    fn a_task_is_found_by_its_name() {
        for (file, text, expected) in [
            ("Makefile", "test := all\nbuild:\n\ttrue\n", "?make test"),
            (
                "Makefile",
                "build:\n\ttrue\ntest: build\n\ttrue\n",
                "make test",
            ),
            ("justfile", "test:\n  true\n", "just test"),
            ("justfile", "@test *args: build\n  true\n", "just test"),
            ("justfile", "test := 'x'\nbuild:\n  true\n", "?make test"),
            ("CMakeLists.txt", "enable_testing()\n", CMAKE),
            ("CMakeLists.txt", "project(a)\n", "?make test"),
        ] {
            assert_eq!(command(&[(file, text)]), expected, "{text}");
        }
    }

    #[test]
    fn a_line_for_the_shell_is_a_gate_and_several_patterns() {
        let command = TestCommand {
            line: CMAKE.to_owned(),
            is_detected: true,
            runner: CMAKE.to_owned(),
            is_read: false,
        };
        assert_eq!(command.gate(), format!("run: {CMAKE}\n    shell: true"));
        let patterns = "\"cmake --build build\", \"ctest --test-dir build";
        assert_eq!(command.patterns(), patterns);
    }
}
