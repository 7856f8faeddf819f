//! Environment variables that are known.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::lists::{alternatives, is_like, lists};

/// The values that are listed for a variable, or any.
type Values = Option<Vec<&'static str>>;

/// A list of variables.
struct Rows {
    names: HashMap<&'static str, Values>,
    /// `LC_*`, `*_OPTIONS`
    patterns: Vec<(&'static str, Values)>,
}

static HARMLESS: LazyLock<Rows> = LazyLock::new(|| rows("harmless"));
static INTERPRETED: LazyLock<Rows> = LazyLock::new(|| rows("interpreted"));

/// Returns the rows of a list of the table.
fn rows(list: &str) -> Rows {
    let mut lists = lists(include_str!("../../../tables/variables.txt"));
    let rows = lists.remove(list).unwrap_or_default().into_iter();
    let row = |row: &'static str| match row.split_once('=') {
        // A row with a mistake has no value.
        Some((name, values)) => (name, Some(alternatives(values).unwrap_or_default())),
        None => (row, None),
    };
    let (patterns, names): (Vec<_>, Vec<_>) =
        rows.map(row).partition(|(name, _)| name.contains('*'));
    Rows {
        names: names.into_iter().collect(),
        patterns,
    }
}

/// Returns whether a row has a name, with values that fit: `None` stands for any.
fn has(rows: &Rows, name: &str, fit: impl Fn(Option<&Vec<&str>>) -> bool) -> bool {
    let mut patterns = rows.patterns.iter();
    let fits = |values: &Values| fit(values.as_ref());
    rows.names.get(name).is_some_and(fits)
        || patterns.any(|(pattern, values)| is_like(pattern, name) && fits(values))
}

/// Returns whether no program writes, runs or loads anything because of this environment variable. `value` is `None` if only the
/// shell knows it.
pub(crate) fn is_harmless_variable(name: &str, value: Option<&str>) -> bool {
    // `make` expands what it finds in its environment.
    if value.is_some_and(|value| value.contains(['$', '`'])) {
        return false;
    }
    // A blank is `~` in the table.
    let value = value.map(|value| value.replace(' ', "~"));
    let has_value = |values: &Vec<&str>| {
        value
            .as_ref()
            .is_some_and(|value| values.contains(&&**value))
    };
    has(&HARMLESS, name, |values| values.is_none_or(has_value))
}

/// Returns whether a program that reads may run code of the project or write build outputs because of this environment variable.
pub(crate) fn is_project_variable(name: &str) -> bool {
    matches!(
        name,
        "PYTHONPATH" | "DJANGO_SETTINGS_MODULE" | "CARGO_TARGET_DIR"
    )
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
    has(&INTERPRETED, name, |_| true) && !is_harmless_variable(name, None)
}

/// Returns whether the table lists a variable: it may be one of the environment.
pub(crate) fn is_environment_variable(name: &str) -> bool {
    has(&HARMLESS, name, |_| true) || has(&INTERPRETED, name, |_| true)
}
