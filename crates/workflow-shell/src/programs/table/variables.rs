//! Environment variables that are known.

use std::sync::LazyLock;

const TEXT: &str = include_str!("../../../tables/variables.txt");

static VARIABLES: LazyLock<Variables> = LazyLock::new(|| Variables::parse(TEXT).0);

/// The variables of the table.
#[derive(Debug, Default)]
pub(super) struct Variables {
    harmless: Vec<Harmless>,
    interpreted: Vec<&'static str>,
}

#[derive(Debug)]
struct Harmless {
    name: &'static str,
    /// The harmless values; `None` for all.
    values: Option<Vec<&'static str>>,
}

/// Returns whether no program writes, runs or loads anything because of this environment variable. `value` is `None` if only the
/// shell knows it.
pub(crate) fn is_harmless_variable(name: &str, value: Option<&str>) -> bool {
    VARIABLES.harmless.iter().any(|variable| {
        is_like(variable.name, name)
            && match &variable.values {
                None => true,
                // A blank is `~` in the table.
                Some(values) => value.is_some_and(|value| {
                    values.iter().any(|known| known.replace('~', " ") == value)
                }),
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
    let is_harmless = VARIABLES
        .harmless
        .iter()
        .any(|variable| variable.values.is_none() && is_like(variable.name, name));
    !is_harmless
        && VARIABLES
            .interpreted
            .iter()
            .any(|pattern| is_like(pattern, name))
}

/// Returns whether a name is that of a row: `LC_*` and `*_OPTIONS` stand for all that start or end so.
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
        let is_listed = if is_interpreted {
            self.interpreted.contains(&name)
        } else {
            self.harmless.iter().any(|known| known.name == name)
        };
        if is_listed {
            return Err(format!("`{row}` is listed twice"));
        }
        match (is_interpreted, values) {
            (true, None) => self.interpreted.push(name),
            (true, Some(_)) => {
                return Err(format!("`{row}`: an interpreted variable has no values"));
            }
            (false, values) => self.harmless.push(Harmless { name, values }),
        }
        Ok(())
    }
}
