//! Environment variables that are known.

use super::lists::{List, alternatives, is_like};

/// Returns whether a list has a name (`LC_*`, `*_OPTIONS`: all that start or end so), with values that fit: `None` stands for any.
fn has(list: &str, name: &str, fit: impl Fn(Option<&'static str>) -> bool) -> bool {
    List::named(list).names().any(|row| {
        let (known, values) = row.split_once('=').unzip();
        let known = known.unwrap_or(row);
        (known == name || is_like(known, name)) && fit(values)
    })
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
    // A row with a mistake has no value.
    let has_value = |values: &'static str| {
        let values = alternatives(values).unwrap_or_default();
        value
            .as_deref()
            .is_some_and(|value| values.contains(&value))
    };
    has("harmless", name, |values| values.is_none_or(has_value))
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
    has("interpreted", name, |_| true) && !is_harmless_variable(name, None)
}

/// Returns whether the table lists a variable: it may be one of the environment.
pub(crate) fn is_environment_variable(name: &str) -> bool {
    has("harmless", name, |_| true) || has("interpreted", name, |_| true)
}
