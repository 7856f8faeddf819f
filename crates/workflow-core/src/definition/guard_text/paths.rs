//! Globs of files, and paths of one file.

use super::{corrected, mistake, no_regex};
use crate::diagnostic::{Code, Finding, Severity, shown};
use crate::pattern::check_glob;

/// Directories at the root of usual systems and containers.
#[rustfmt::skip] // Alphabetical.
const ROOTS: &[&str] = &[
    "Applications", "Library", "Network", "System", "Users", "Volumes", "afs", "app", "bin", "boot", "builds", "c", "code", "cores",
    "data", "dev", "efs", "etc", "export", "github", "gnu", "home", "host", "init", "initrd.img", "lib", "lib32", "lib64", "libx32",
    "lost+found", "media", "mnt", "net", "nix", "opt", "private", "proc", "project", "projects", "repo", "repos", "root", "run", "sbin",
    "scratch", "snap", "srv", "sys", "tmp", "usr", "var", "vmlinuz", "work", "workdir", "workspace", "workspaces",
];

/// Directories of usual projects, which no usual root has.
#[rustfmt::skip] // Alphabetical.
const PROJECTS: &[&str] = &[
    ".git", ".github", ".pi", "doc", "docs", "examples", "node_modules", "packages", "src", "test", "tests",
];

/// Signs of glob syntax that a backslash may escape.
const ESCAPED: &str = "[]{}?!";

/// A glob of files.
pub(super) fn files(path: &str) -> Option<Finding> {
    if path.starts_with('!') {
        let help = "write what it should match: to exclude files, write an earlier rule about them";
        return Some(mistake("`!` does not exclude anything here", help));
    }
    if let Some(sign) = regex_sign(path) {
        let help = "write a glob: `src/**/*.js` is every `.js` file below `src`";
        return Some(mistake(no_regex(sign), help));
    }
    if let Some(mistake) = separator(path) {
        return Some(mistake);
    }
    if let Some(variable) = variable(path) {
        let why = format!("the variable `{variable}` is not replaced");
        return Some(match (variable, &path[variable.len()..]) {
            ("$HOME" | "${HOME}", rest) => corrected(why, path, &format!("~{rest}")),
            _ => mistake(why, "write the path from the project, or from `~/`"),
        });
    }
    from_root(path)
}

/// A path that is to be that of a file.
pub(super) fn file(path: &str) -> Option<Finding> {
    if path.ends_with('/') {
        let help = "name a file in it, for example `docs/plan.md`";
        return Some(mistake("it is a directory", help));
    }
    separator(path)
}

/// A glob where one file is to be named.
pub(super) fn glob(path: &str) -> Option<Finding> {
    let help = "name one file, for example `docs/plan.md`";
    let is_glob = path.contains('*');
    is_glob.then(|| mistake("`*` has no special meaning here", help))
}

/// Returns the sign by which a path is a regular expression.
fn regex_sign(path: &str) -> Option<&'static str> {
    let classes = ["\\.", "\\d", "\\w", "\\s", "\\b", "(?"];
    if path.starts_with('^') {
        return Some("^");
    }
    if path.ends_with('$') {
        return Some("$");
    }
    // `src\dist` is a path of Windows.
    let mut quantifiers = [".*", ".+", "]+", "]*"].iter();
    let has_quantifier = quantifiers.any(|sign| path.contains(sign));
    let mut signs = classes.into_iter();
    signs
        .find(|sign| path.contains(sign) && (has_quantifier || matches!(*sign, "\\." | "(?")))
        .or_else(|| path.contains('|').then_some("|"))
}

/// A path with a backslash that escapes no sign of a glob.
fn separator(path: &str) -> Option<Finding> {
    let mut signs = path.chars();
    let next = std::iter::from_fn(|| {
        signs.find(|sign| *sign == '\\')?;
        Some(signs.next().unwrap_or_default())
    });
    let next: Vec<char> = next.collect();
    if next.iter().all(|next| ESCAPED.contains(*next)) {
        return None;
    }
    let why = "`\\` does not separate directories";
    let mut mistake = corrected(why, path, &path.replace('\\', "/"));
    // There it may be meant to escape the sign.
    if next.iter().any(|next| "[]{}?!* \\".contains(*next)) {
        mistake.fix = None;
    }
    Some(mistake)
}

/// Returns the variable of a shell with which a path begins.
fn variable(path: &str) -> Option<&str> {
    let first = path.split('/').next()?;
    let name = first.strip_prefix('$')?;
    let inside = name.strip_prefix('{');
    let inside = inside.and_then(|name| name.strip_suffix('}'));
    let name = inside.unwrap_or(name);
    let is_name = |c: char| c.is_ascii_uppercase() || c == '_';
    (!name.is_empty() && name.chars().all(is_name)).then_some(first)
}

/// A path whose first directory no usual root has. It stays as it is written, which only one with that root can mean.
fn from_root(path: &str) -> Option<Finding> {
    let inside = path.strip_prefix('/')?;
    let first = inside.split('/').next().unwrap_or_default();
    let is_glob = first.is_empty() || first.contains(['*', '?', '[', '{']);
    if is_glob || ROOTS.contains(&first) || check_glob(path).is_err() {
        return None;
    }
    let severity = Severity::error_if(PROJECTS.contains(&first));
    let why =
        "a path that starts with `/` is from the root of the file system, not from the project";
    let inside = shown(inside);
    let help = format!("write `{inside}`, or `/{path}` for a directory of the root");
    Some(Finding::new(severity, Code::AbsolutePath, None, why).help(help))
}
