//! Environment variables that are known.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::lists::{alternatives, lists};

static HARMLESS: LazyLock<Names> = LazyLock::new(|| Names::of("harmless"));
static INTERPRETED: LazyLock<Names> = LazyLock::new(|| Names::of("interpreted"));

/// Names of variables with the values that are listed, or any; and patterns of names: `LC_*` and `*_OPTIONS` stand for all that start or
/// end so.
#[derive(Default)]
struct Names {
    exact: HashMap<&'static str, Option<Vec<&'static str>>>,
    patterns: Vec<&'static str>,
}

impl Names {
    /// Returns those of a list of the table.
    fn of(list: &str) -> Self {
        let mut names = Self::default();
        let mut lists = lists(include_str!("../../../tables/variables.txt"));
        for row in lists.remove(list).unwrap_or_default() {
            match row.split_once('=') {
                _ if row.contains('*') => names.patterns.push(row),
                // A row with a mistake has no value.
                Some((name, values)) => {
                    let values = alternatives(values).unwrap_or_default();
                    names.exact.insert(name, Some(values));
                }
                None => drop(names.exact.insert(row, None)),
            }
        }
        names
    }

    /// Returns whether a name is listed.
    fn has(&self, name: &str) -> bool {
        self.exact.contains_key(name) || self.has_any(name)
    }

    /// Returns whether a name is listed with any value.
    fn has_any(&self, name: &str) -> bool {
        let fits = |pattern: &&str| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name.ends_with(pattern.trim_start_matches('*')),
        };
        self.exact.get(name).is_some_and(Option::is_none) || self.patterns.iter().any(fits)
    }

    /// Returns whether a name is listed with a value.
    fn has_value(&self, name: &str, value: &str) -> bool {
        let values = self.exact.get(name).and_then(Option::as_ref);
        // A blank is `~` in the table.
        values.is_some_and(|values| values.contains(&value.replace(' ', "~").as_str()))
    }
}

/// Returns whether no program writes, runs or loads anything because of this environment variable. `value` is `None` if only the
/// shell knows it.
pub(crate) fn is_harmless_variable(name: &str, value: Option<&str>) -> bool {
    HARMLESS.has_any(name) || value.is_some_and(|value| HARMLESS.has_value(name, value))
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
    !HARMLESS.has_any(name) && INTERPRETED.has(name)
}

/// Returns whether the table lists a variable: it may be one of the environment.
pub(crate) fn is_environment_variable(name: &str) -> bool {
    HARMLESS.has(name) || INTERPRETED.has(name)
}
