//! Environment variables that are known.

use std::collections::HashMap;
use std::sync::LazyLock;

const TEXT: &str = include_str!("../../../tables/variables.txt");

static VARIABLES: LazyLock<Variables> = LazyLock::new(|| Variables::parse(TEXT).0);

/// The variables of the table.
#[derive(Debug, Default)]
pub(super) struct Variables {
    /// The harmless values; `None` for all.
    harmless: Names<Option<Vec<&'static str>>>,
    interpreted: Names<()>,
}

/// Names, and patterns of names: `LC_*` and `*_OPTIONS` stand for all that start or end so.
#[derive(Debug)]
struct Names<T> {
    exact: HashMap<&'static str, T>,
    patterns: Vec<(&'static str, T)>,
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Self {
            exact: HashMap::new(),
            patterns: Vec::new(),
        }
    }
}

impl<T> Names<T> {
    /// Returns what is known of a name, by itself and by patterns.
    fn of(&self, name: &str) -> impl Iterator<Item = &T> {
        let by_pattern = self.patterns.iter();
        let by_pattern = by_pattern.filter(move |(pattern, _)| is_like(pattern, name));
        let exact = self.exact.get(name).into_iter();
        exact.chain(by_pattern.map(|(_, known)| known))
    }

    /// Adds a name. Returns false if it is listed already.
    fn add(&mut self, name: &'static str, known: T) -> bool {
        if name.contains('*') {
            let is_new = self.patterns.iter().all(|(listed, _)| *listed != name);
            self.patterns.push((name, known));
            is_new
        } else {
            self.exact.insert(name, known).is_none()
        }
    }
}

/// Returns whether no program writes, runs or loads anything because of this environment variable. `value` is `None` if only the
/// shell knows it.
pub(crate) fn is_harmless_variable(name: &str, value: Option<&str>) -> bool {
    VARIABLES.harmless.of(name).any(|values| match values {
        None => true,
        // A blank is `~` in the table.
        Some(values) => {
            value.is_some_and(|value| values.iter().any(|known| known.replace('~', " ") == value))
        }
    })
}

/// Returns whether a program that reads may run code of the project or write build outputs because of this environment variable.
pub(crate) fn is_project_variable(name: &str) -> bool {
    matches!(name, "PYTHONPATH" | "CARGO_TARGET_DIR")
}

/// Returns whether such a variable names directories of the project only, and one for build outputs if it is one for them.
pub(crate) fn is_project_path(name: &str, value: &str) -> bool {
    let is_output = name == "CARGO_TARGET_DIR";
    let mut paths = value.split(':');
    paths.all(|path| {
        let is_inner = !path.starts_with(['/', '~']) && path.split('/').all(|part| part != "..");
        let first = path.split('/').next().unwrap_or_default();
        is_inner && (!is_output || first == "target" || first.starts_with("target-"))
    })
}

/// Returns whether the shell or a common program interprets this variable, so that a plain assignment has an effect.
pub(crate) fn is_interpreted_variable(name: &str) -> bool {
    let mut harmless = VARIABLES.harmless.of(name);
    !harmless.any(Option::is_none) && VARIABLES.interpreted.of(name).next().is_some()
}

/// Returns whether the table lists a variable: it may be one of the environment.
pub(crate) fn is_environment_variable(name: &str) -> bool {
    VARIABLES.harmless.of(name).next().is_some() || VARIABLES.interpreted.of(name).next().is_some()
}

/// Returns whether a name is one that a pattern stands for.
fn is_like(pattern: &str, name: &str) -> bool {
    if let Some(start) = pattern.strip_suffix('*') {
        name.starts_with(start)
    } else if let Some(end) = pattern.strip_prefix('*') {
        name.ends_with(end)
    } else {
        pattern == name
    }
}

impl Variables {
    /// Parses the table. A row with a mistake is left out.
    pub(super) fn parse(text: &'static str) -> (Self, Vec<String>) {
        let mut variables = Self::default();
        let mut mistakes = Vec::new();
        let rows = text.lines().enumerate().flat_map(|(index, line)| {
            let line = if line.starts_with('#') { "" } else { line };
            line.split_ascii_whitespace()
                .map(move |row| (index + 1, row))
        });
        for (number, row) in rows {
            if let Err(mistake) = variables.add(row) {
                mistakes.push(format!("variables.txt:{number}: {mistake}"));
            }
        }
        (variables, mistakes)
    }

    fn add(&mut self, row: &'static str) -> Result<(), String> {
        let (name, values) = match row.split_once('=') {
            None => (row, None),
            Some((name, values)) => {
                let values = values
                    .strip_prefix('(')
                    .and_then(|values| values.strip_suffix(')'))
                    .ok_or_else(|| format!("`{row}` has no list of values in parentheses"))?;
                (name, Some(values.split('|').collect()))
            }
        };
        let is_interpreted = name.starts_with('!');
        let name = name.trim_start_matches('!');
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '*';
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(format!("`{row}` is no variable"));
        }
        let is_new = match (is_interpreted, values) {
            (true, None) => self.interpreted.add(name, ()),
            (true, Some(_)) => {
                return Err(format!("`{row}`: an interpreted variable has no values"));
            }
            (false, values) => self.harmless.add(name, values),
        };
        if !is_new {
            return Err(format!("`{row}` is listed twice"));
        }
        Ok(())
    }
}
