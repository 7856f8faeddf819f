//! Languages and their habits: which files belong to a project, and where its tests are.

/// A language, and what its projects look like. Names and globs are separated by spaces.
pub(super) struct Ecosystem {
    /// Files at the root of a project that say that it is one; `*` stands for any beginning.
    marks: &'static str,
    /// The globs of files that have tests and nothing else.
    pub(super) tests: &'static str,
    /// The globs of files of which one changes when a test is written.
    pub(super) changes: &'static str,
    /// The command that runs the tests of most projects.
    pub(super) guess: &'static str,
}

/// The test files in the templates, which are replaced: those of a project of which nothing is known.
pub(super) const OTHER: Ecosystem = ecosystem(
    "",
    "tests/** test/** spec/** **/__tests__/** **/*.test.* **/*.spec.* **/*_test.* **/*_spec.* **/test_*.py",
);

/// .NET.
pub(super) const DOTNET: Ecosystem = ecosystem(
    "*.sln *.slnx *.csproj *.fsproj",
    "**/*.Tests/** **/*Test.cs **/*Tests.cs",
);

/// The first one that a project has a file of decides.
const ECOSYSTEMS: &[Ecosystem] = &[
    Ecosystem {
        // Unit tests are written beside the code.
        changes: "**/*.rs",
        ..ecosystem(
            "Cargo.toml",
            "**/tests/** **/tests.rs **/*_test.rs **/*_tests.rs",
        )
    },
    ecosystem("go.mod", "**/*_test.go **/testdata/**"),
    Ecosystem {
        guess: "npm test",
        ..ecosystem(
            "package.json deno.json deno.jsonc",
            "test/** tests/** **/__tests__/** **/*.test.* **/*.spec.* **/*_test.*",
        )
    },
    Ecosystem {
        guess: "python3 -m pytest",
        ..ecosystem(
            "pyproject.toml requirements.txt tox.ini pytest.ini *.py",
            "tests/** test/** **/test_*.py **/*_test.py **/conftest.py",
        )
    },
    ecosystem("pom.xml build.gradle build.gradle.kts", "**/src/test/**"),
    DOTNET,
    ecosystem("mix.exs", "**/test/**"),
    ecosystem("Package.swift", "Tests/**"),
    ecosystem("Gemfile Rakefile", "test/** spec/**"),
    ecosystem("composer.json", "tests/** **/*Test.php"),
];

const fn ecosystem(marks: &'static str, tests: &'static str) -> Ecosystem {
    Ecosystem {
        marks,
        tests,
        changes: tests,
        guess: "make test",
    }
}

impl Ecosystem {
    /// The language of a project with these files.
    pub(super) fn of(names: &[String]) -> &'static Self {
        let mut ecosystems = ECOSYSTEMS.iter();
        ecosystems
            .find(|ecosystem| ecosystem.has_one(names))
            .unwrap_or(&OTHER)
    }

    /// True if one of these files says that a project is one of the language.
    pub(super) fn has_one(&self, names: &[String]) -> bool {
        let is_mark = |name: &String| {
            let mut marks = self.marks.split_whitespace();
            marks.any(|mark| match mark.strip_prefix('*') {
                Some(end) => name.ends_with(end),
                None => name == mark,
            })
        };
        names.iter().any(is_mark)
    }
}
