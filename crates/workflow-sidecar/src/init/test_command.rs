//! The command that runs a project's tests, from the files at its root.

use std::fs;
use std::path::Path;

/// The command of gates in the templates, which is replaced.
pub(super) const GATE_PLACEHOLDER: &str = "run: [make, test]";

/// The beginning of command patterns in the templates: the same command, which is replaced.
pub(super) const COMMAND_PLACEHOLDER: &str = "run: [\"make test";

/// Files at the root of a project, and the command that runs its tests; the first file that exists decides.
const BY_FILE: &[(&str, &str)] = &[
    ("Cargo.toml", "cargo, test"),
    ("go.mod", "go, test, ./..."),
    ("pnpm-lock.yaml", "pnpm, test"),
    ("yarn.lock", "yarn, test"),
    ("bun.lock", "bun, test"),
    ("deno.json", "deno, test"),
    ("package.json", "npm, test"),
    ("uv.lock", "uv, run, pytest"),
    ("poetry.lock", "poetry, run, pytest"),
    ("pyproject.toml", "python3, -m, pytest"),
    ("pytest.ini", "python3, -m, pytest"),
    ("setup.py", "python3, -m, pytest"),
    ("mvnw", "./mvnw, test"),
    ("pom.xml", "mvn, test"),
    ("gradlew", "./gradlew, test"),
    ("build.gradle", "gradle, test"),
    ("build.gradle.kts", "gradle, test"),
    ("mix.exs", "mix, test"),
    ("Package.swift", "swift, test"),
    ("Rakefile", "bundle, exec, rake, test"),
    ("composer.json", "composer, test"),
];

/// Returns the words of the command, as a YAML list without its brackets; `None` if no file says it.
pub(super) fn test_command(project: &Path) -> Option<String> {
    let named = BY_FILE
        .iter()
        .find(|(file, _)| project.join(file).is_file())
        .map(|(_, command)| *command);
    let is_dotnet = || {
        let entries = fs::read_dir(project).ok()?;
        let mut files = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        files
            .any(|name| {
                [".sln", ".csproj", ".fsproj"]
                    .iter()
                    .any(|end| name.ends_with(end))
            })
            .then_some("dotnet, test")
    };
    let has_make_target = || {
        let makefiles = ["GNUmakefile", "makefile", "Makefile"];
        let text = makefiles
            .iter()
            .find_map(|name| fs::read_to_string(project.join(name)).ok())?;
        let is_target = |line: &str| line.strip_prefix("test").is_some_and(starts_prerequisites);
        text.lines().any(is_target).then_some("make, test")
    };
    named
        .or_else(is_dotnet)
        .or_else(has_make_target)
        .map(str::to_owned)
}

/// True if this follows the name of a target, and not that of a variable.
fn starts_prerequisites(rest: &str) -> bool {
    let rest = rest.trim_start();
    rest.starts_with(':') && !rest.starts_with(":=") && !rest.starts_with("::=")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_known_file_names_the_command() {
        let project = tempfile::tempdir().unwrap();
        assert_eq!(test_command(project.path()), None);
        let makefile = project.path().join("Makefile");
        fs::write(&makefile, "test := all\nbuild:\n\ttrue\n").unwrap();
        assert_eq!(test_command(project.path()), None);
        fs::write(&makefile, "build:\n\ttrue\ntest: build\n\ttrue\n").unwrap();
        assert_eq!(test_command(project.path()).unwrap(), "make, test");
        fs::write(project.path().join("App.csproj"), "").unwrap();
        assert_eq!(test_command(project.path()).unwrap(), "dotnet, test");
        fs::write(project.path().join("package.json"), "{}").unwrap();
        fs::write(project.path().join("pnpm-lock.yaml"), "").unwrap();
        assert_eq!(test_command(project.path()).unwrap(), "pnpm, test");
    }
}
