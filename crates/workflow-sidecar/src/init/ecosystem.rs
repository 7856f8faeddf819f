//! Languages and their habits: which files belong to a project, and where its tests are. `languages.txt` has them.

/// A language, and what its projects look like. Globs are separated by spaces.
pub(super) struct Ecosystem {
    /// The globs of files that have tests and nothing else.
    pub(super) tests: &'static str,
    /// The globs of files of which one changes when a test is written.
    pub(super) changes: &'static str,
}

impl Ecosystem {
    /// The language of a project with these files.
    pub(super) fn of(names: &[String]) -> Self {
        let mut ecosystems = include_str!("languages.txt").split("\n\n");
        let fitting = ecosystems.find_map(|lines| {
            let value = |key| {
                let mut lines = lines.lines();
                lines.find_map(|line| Some(line.strip_prefix(key)?.trim_start()))
            };
            let mut marks = value("marks ")?.split(' ');
            let has = |mark: &str| mark == "*" || names.iter().any(|name| is_mark(mark, name));
            let tests = value("tests ")?;
            marks.any(has).then(|| Self {
                tests,
                changes: value("changes ").unwrap_or(tests),
            })
        });
        fitting.expect("the last one fits every project")
    }
}

/// Returns true if a name is that of a file; `*` stands for any beginning.
pub(super) fn is_mark(mark: &str, name: &str) -> bool {
    match mark.strip_prefix('*') {
        Some(end) => name.ends_with(end),
        None => name == mark,
    }
}
