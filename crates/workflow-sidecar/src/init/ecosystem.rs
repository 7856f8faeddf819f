//! Languages and their habits: which files belong to a project, and where its tests are.

/// A language, and what its projects look like.
#[derive(Debug)]
pub(super) struct Ecosystem {
    /// Files at the root of a project that say that it is one.
    marks: &'static [&'static str],
    /// Ends of names of such files.
    ends: &'static [&'static str],
    /// The globs of files that have tests and nothing else.
    pub(super) tests: &'static [&'static str],
    /// The globs of files of which one changes when a test is written.
    pub(super) changes: &'static [&'static str],
    /// The command that runs the tests of most projects.
    pub(super) guess: &'static str,
}

/// The test files in the templates, which are replaced: those of a project of which nothing is known.
pub(super) const OTHER: Ecosystem = ecosystem(
    &[],
    &[
        "tests/**",
        "test/**",
        "spec/**",
        "**/__tests__/**",
        "**/*.test.*",
        "**/*.spec.*",
        "**/*_test.*",
        "**/*_spec.*",
        "**/test_*.py",
    ],
);

/// The first one that a project has a file of decides.
const ECOSYSTEMS: &[Ecosystem] = &[
    Ecosystem {
        // Unit tests are written beside the code.
        changes: &["**/*.rs"],
        ..ecosystem(
            &["Cargo.toml"],
            &[
                "**/tests/**",
                "**/tests.rs",
                "**/*_test.rs",
                "**/*_tests.rs",
            ],
        )
    },
    ecosystem(&["go.mod"], &["**/*_test.go", "**/testdata/**"]),
    Ecosystem {
        guess: "npm test",
        ..ecosystem(
            &["package.json", "deno.json", "deno.jsonc"],
            &[
                "test/**",
                "tests/**",
                "**/__tests__/**",
                "**/*.test.*",
                "**/*.spec.*",
                "**/*_test.*",
            ],
        )
    },
    Ecosystem {
        ends: &[".py"],
        guess: "python3 -m pytest",
        ..ecosystem(
            &[
                "pyproject.toml",
                "requirements.txt",
                "tox.ini",
                "pytest.ini",
            ],
            &[
                "tests/**",
                "test/**",
                "**/test_*.py",
                "**/*_test.py",
                "**/conftest.py",
            ],
        )
    },
    ecosystem(
        &["pom.xml", "build.gradle", "build.gradle.kts"],
        &["**/src/test/**"],
    ),
    Ecosystem {
        ends: &[".sln", ".slnx", ".csproj", ".fsproj"],
        ..ecosystem(&[], &["**/*.Tests/**", "**/*Test.cs", "**/*Tests.cs"])
    },
    ecosystem(&["mix.exs"], &["**/test/**"]),
    ecosystem(&["Package.swift"], &["Tests/**"]),
    ecosystem(&["Gemfile", "Rakefile"], &["test/**", "spec/**"]),
    ecosystem(&["composer.json"], &["tests/**", "**/*Test.php"]),
];

const fn ecosystem(marks: &'static [&'static str], tests: &'static [&'static str]) -> Ecosystem {
    Ecosystem {
        marks,
        ends: &[],
        tests,
        changes: tests,
        guess: "make test",
    }
}

impl Ecosystem {
    /// Returns the one of a project, by the names of the files at its root and of those in `tests`.
    pub(super) fn of(names: &[String]) -> &'static Self {
        let is_one = |ecosystem: &&Self| {
            let is_mark = |name: &String| ecosystem.marks.contains(&&**name);
            let has_end = |name: &String| ecosystem.ends.iter().any(|end| name.ends_with(end));
            names.iter().any(|name| is_mark(name) || has_end(name))
        };
        ECOSYSTEMS.iter().find(is_one).unwrap_or(&OTHER)
    }
}
