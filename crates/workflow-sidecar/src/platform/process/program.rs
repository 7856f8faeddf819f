//! Programs that could not be started: the reason, and a hint.
//!
//! Owns the sentences. Must not start anything.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use workflow_core::definition::nearest;
use workflow_core::diagnostic::{shown, visible};

use super::output::one_line;
use super::{CheckError, Failure, failed};

/// The most names that are compared: some directories of programs are huge.
const COMPARED: usize = 20_000;

/// Tokens that only a shell understands.
const SHELL_BUILTINS: [&str; 9] = [
    ".", "alias", "cd", "eval", "exit", "export", "set", "source", "ulimit",
];

/// Finds a program by name; a name with a slash is a path relative to the working directory.
pub(super) fn program(program_name: &str, cwd: &Path) -> PathBuf {
    if is_path(program_name) {
        return cwd.join(program_name);
    }
    #[cfg(windows)]
    if let Some(found) = with_extension(program_name) {
        return found;
    }
    PathBuf::from(program_name)
}

/// Returns why a program would not be found, with a hint; `None` if it is there.
pub(crate) fn missing_program(program_name: &str, cwd: &Path) -> Option<String> {
    let file = program(program_name, cwd);
    let is_there = if file.components().count() > 1 {
        file.is_file()
    } else {
        on_path(program_name).is_some()
    };
    (!is_there).then(|| missing(program_name, cwd))
}

/// Finds a program by name in the directories of `PATH`.
pub(crate) fn on_path(program_name: &str) -> Option<PathBuf> {
    #[cfg(windows)]
    if let Some(found) = with_extension(program_name) {
        return Some(found);
    }
    let mut files = path_directories()
        .into_iter()
        .map(|directory| directory.join(program_name));
    files.find(|file| file.is_file())
}

fn is_path(program_name: &str) -> bool {
    program_name.contains('/') || (cfg!(windows) && program_name.contains('\\'))
}

/// Many programs are scripts on Windows (`npm.cmd`), which are found only by their whole name.
#[cfg(windows)]
fn with_extension(program_name: &str) -> Option<PathBuf> {
    let extensions = std::env::var("PATHEXT").unwrap_or_else(|_| ".EXE;.CMD;.BAT".to_owned());
    path_directories().into_iter().find_map(|directory| {
        let candidates = extensions.split(';');
        let mut files =
            candidates.map(|extension| directory.join(format!("{program_name}{extension}")));
        files.find(|file| file.is_file())
    })
}

/// The directories of `PATH`.
pub(crate) fn path_directories() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).collect()
}

/// Returns the reason why `program_name` could not be started.
pub(super) fn start_failure(program_name: &str, cwd: &Path, error: &io::Error) -> Failure {
    let name = one_line(program_name);
    let missing_for = |reason| (CheckError::Missing, reason);
    let not_executable = |reason| (CheckError::NotExecutable, reason);
    if !cwd.is_dir() {
        let cwd = one_line(&cwd.display().to_string());
        return missing_for(format!("the working directory {cwd} is not there"));
    }
    let file = program(program_name, cwd);
    match error.kind() {
        io::ErrorKind::NotFound if is_path(program_name) && file.exists() => not_executable(
            format!("the interpreter that {name} names in its first line is not there"),
        ),
        io::ErrorKind::NotFound => missing_for(missing(program_name, cwd)),
        io::ErrorKind::PermissionDenied | io::ErrorKind::IsADirectory if file.is_dir() => {
            not_executable(format!("{name} is a directory, not a program"))
        }
        io::ErrorKind::PermissionDenied => not_executable(format!(
            "{name} is not executable: `chmod +x {name}`, or name its interpreter first"
        )),
        _ if is_no_program(error) => not_executable(format!(
            "{name} is not a program: a script begins with `#!/bin/sh` or the like"
        )),
        _ => failed(format!("{name} could not be started: {error}")),
    }
}

fn is_no_program(error: &io::Error) -> bool {
    #[cfg(unix)]
    const NO_PROGRAM: i32 = rustix::io::Errno::NOEXEC.raw_os_error();
    // ERROR_BAD_EXE_FORMAT
    #[cfg(windows)]
    const NO_PROGRAM: i32 = 193;
    error.raw_os_error() == Some(NO_PROGRAM)
}

fn missing(program_name: &str, cwd: &Path) -> String {
    let name = one_line(program_name);
    if program_name.contains(char::is_whitespace) {
        return format!(
            "there is no program called `{name}`: write its words as a list, or say `shell: true`"
        );
    }
    if is_path(program_name) {
        let cwd = one_line(&cwd.display().to_string());
        return format!("there is no {name}, seen from {cwd}");
    }
    if SHELL_BUILTINS.contains(&program_name) {
        return format!(
            "`{name}` is a part of the shell language and no program: add `shell: true`"
        );
    }
    let local = Path::new("node_modules").join(".bin").join(program_name);
    if cwd.join(&local).exists() {
        return format!(
            "there is no program `{name}` on PATH: the project has {}",
            visible(&local.display().to_string())
        );
    }
    match similar(program_name, &names()) {
        Some(similar) => suggested(&name, similar),
        None => format!("there is no program `{name}` on PATH: install it, or name its path"),
    }
}

/// Returns the suggestion, with control characters of the file name escaped.
fn suggested(name: &str, similar: &str) -> String {
    let similar = shown(similar);
    format!("there is no program `{name}` on PATH: did you mean `{similar}`?")
}

/// Returns the names of all programs on `PATH`. A directory that cannot be read has no suggestions.
fn names() -> BTreeSet<String> {
    let files = path_directories()
        .into_iter()
        .filter_map(|d| d.read_dir().ok());
    let files = files.flatten().filter_map(Result::ok).take(COMPARED);
    let names = files.map(|file| file.file_name());
    names
        .filter_map(|name| stem(&name).map(str::to_owned))
        .collect()
}

fn stem(name: &OsStr) -> Option<&str> {
    if cfg!(windows) {
        Path::new(name).file_stem()?.to_str()
    } else {
        name.to_str()
    }
}

fn similar<'a>(program_name: &str, names: &'a BTreeSet<String>) -> Option<&'a str> {
    // A short name resembles half of all programs.
    let names = names.iter().map(String::as_str);
    nearest(program_name, names).filter(|_| program_name.len() > 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_is_recognised_and_an_unrelated_name_is_not() {
        let names = ["cargo", "git", "cat", "ls"].map(str::to_owned).into();
        assert_eq!(similar("crago", &names), Some("cargo"));
        assert_eq!(similar("gti", &names), Some("git"));
        assert_eq!(similar("l", &names), None);
        assert_eq!(similar("terraform", &names), None);
    }

    #[test]
    fn control_characters_of_a_suggested_name_are_escaped() {
        let names = ["carg\u{1b}o", "git"].map(str::to_owned).into();
        let text = suggested("cargo", similar("cargo", &names).unwrap());
        assert_eq!(
            text,
            "there is no program `cargo` on PATH: did you mean `carg\\u{1b}o`?"
        );
    }

    #[cfg(unix)]
    #[test]
    fn control_characters_of_a_project_program_are_escaped() {
        let cwd = tempfile::tempdir().unwrap();
        let own = cwd.path().join("node_modules/.bin");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(own.join("lin\u{1b}t"), "").unwrap();
        let (_, reason) = start_failure("lin\u{1b}t", cwd.path(), &io::ErrorKind::NotFound.into());
        assert!(
            reason.ends_with("has node_modules/.bin/lin\\u{1b}t"),
            "{reason}"
        );
    }

    #[test]
    fn each_reason_has_a_hint() {
        let cwd = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(cwd.path().join("node_modules/.bin")).unwrap();
        std::fs::write(cwd.path().join("node_modules/.bin/no-such-linter"), "").unwrap();
        let reason = |word| {
            let error = io::ErrorKind::NotFound.into();
            start_failure(word, cwd.path(), &error).1
        };
        assert!(reason("cargo test").contains("write its words as a list"));
        assert!(reason("cd").contains("shell: true"));
        assert!(reason("no-such-linter").contains("node_modules/.bin/no-such-linter"));
        assert!(reason("./no-such").starts_with("there is no ./no-such, seen from "));
        assert!(reason("no-such-program-at-all").contains("install it"));
    }
}
