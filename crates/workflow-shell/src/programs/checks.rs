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
    let verified = parts.len() > 1
        && parts
            .last()
            .is_some_and(|last| is_listed("verifying", last));
    let checks = parts.iter().any(|part| is_listed("checks", part))
        && parts
            .first()
            .is_some_and(|first| is_listed("checks", first))
        || parts
            .last()
            .is_some_and(|last| is_listed("checks", last) && parts.len() == 2);
    verified
        && !parts
            .iter()
            .any(|part| matches!(*part, "fix" | "write" | "update"))
        || checks && !parts.iter().any(|part| is_listed("changes", part))
}

/// Returns whether a part of names of scripts, environments or sessions indicates that one changes files.
pub(super) fn may_change(names: &str) -> bool {
    const FORMATTERS: &[&str] = &["black", "isort"];
    names
        .split([',', '-', '_', ':', '.', ' '])
        .any(|part| is_listed("changes", part) || FORMATTERS.contains(&part))
}
