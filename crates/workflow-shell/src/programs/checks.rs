//! Names of scripts, recipes and environments of a project: which ones test, check or build.

/// Names of scripts that test, check or build.
#[rustfmt::skip] // Names in order.
const CHECKS: &[&str] = &[
    "all", "audit", "bench", "benchmark", "build", "check", "checks", "ci", "compile", "coverage", "cov", "debug", "dev", "e2e", "eslint", "help", "integration", "jest", "lint", "linkcheck", "list", "mypy", "preview", "print", "pytest",
    "serve", "size", "smoke", "spec", "start", "stats", "status", "storybook", "stylelint", "test", "tests", "tsc", "type", "types", "typecheck", "unit", "validate", "verify", "vet", "vitest", "watch", "docs", "doc", "clippy", "stop", "restart",
];

/// Parts of names of scripts that change files.
#[rustfmt::skip] // Names in order.
const CHANGES: &[&str] = &[
    "accept", "apply", "bless", "bump", "clean", "codegen", "commit", "deploy", "fix", "fmt", "format", "gen", "generate", "init", "install", "migrate", "migration", "prettier", "publish", "push", "release", "reset", "seed",
    "snapshot", "snapshots", "sync", "u", "update", "upgrade", "version", "write",
];

/// Returns whether the name of a script indicates that it writes build outputs only: `test`, `lint:ci`, `build`.
pub(super) fn is_check(name: &str) -> bool {
    let parts: Vec<&str> = name.split([':', '-', '_', '.', '/']).collect();
    let verified = parts.len() > 1
        && parts.last().is_some_and(|last| {
            ["check", "ci", "verify", "dry", "list", "status", "report"].contains(last)
        });
    let checks = parts.iter().any(|part| CHECKS.contains(part))
        && CHECKS.contains(parts.first().unwrap_or(&""))
        || parts
            .last()
            .is_some_and(|last| CHECKS.contains(last) && parts.len() == 2);
    verified
        && !parts
            .iter()
            .any(|part| matches!(*part, "fix" | "write" | "update"))
        || checks && !parts.iter().any(|part| CHANGES.contains(part))
}

/// Returns whether a part of names of scripts, environments or sessions indicates that one changes files.
pub(super) fn may_change(names: &str) -> bool {
    const FORMATTERS: &[&str] = &["black", "isort"];
    names
        .split([',', '-', '_', ':', '.', ' '])
        .any(|part| CHANGES.contains(&part) || FORMATTERS.contains(&part))
}
