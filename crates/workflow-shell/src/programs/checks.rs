//! Names of scripts, recipes and environments of a project: which ones test, check or build.

use super::table::lists::is_listed;

/// Returns whether the name of a script indicates that it writes build outputs only: `test`, `lint:ci`, `build`.
pub(super) fn is_check(name: &str) -> bool {
    // Recipes insert more into a line of a shell.
    let is_plain = |c: char| c.is_alphanumeric() || ":-_./".contains(c);
    if !name.chars().all(is_plain) {
        return false;
    }
    let parts: Vec<&str> = name.split([':', '-', '_', '.', '/']).collect();
    let has = |list: &str| parts.iter().any(|part| is_listed(list, part));
    let last = parts[parts.len() - 1];
    let checks = is_listed("checks", parts[0]) || parts.len() == 2 && is_listed("checks", last);
    let verifies = parts.len() > 1 && is_listed("verifying", last);
    verifies && !has("fixes") || checks && !has("changes")
}

/// Returns whether a part of names of scripts, environments or sessions indicates that one changes files.
pub(super) fn may_change(names: &str) -> bool {
    names
        .split([',', '-', '_', ':', '.', ' '])
        .any(|part| is_listed("changes", part) || matches!(part, "black" | "isort"))
}
