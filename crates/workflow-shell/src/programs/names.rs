//! Names of programs, and what they say.

use super::table::lists::is_listed;
use crate::word::Word;

/// Returns whether a program is certainly the one of that name.
pub fn is_known_location(word: &Word) -> bool {
    let location = word.location();
    match location.rsplit_once('/') {
        // The scripts of a Rails project run its code, as `bundle exec` does.
        None | Some((".", "gradlew" | "mvnw") | ("bin" | "./bin", "rails" | "rake" | "rspec")) => {
            true
        }
        Some((directory, _)) => is_listed("directories", directory),
    }
}

/// Returns whether the directory in which a command runs decides which program a word names.
pub(crate) fn is_relative_location(word: &Word) -> bool {
    let location = word.location();
    location.contains('/') && !location.starts_with(['/', '~'])
}

/// Returns the name under which the tables list a program: `python3.12` is `python`, `grm` is `rm`,
/// `prettier@3` is `prettier`.
pub(crate) fn known_name(name: &str) -> &str {
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let name = match name.split_once('@') {
        Some((package, _)) if !package.is_empty() => package,
        _ => name,
    };
    let short = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    match name {
        "gradlew" => "gradle",
        "mvnw" => "mvn",
        _ if name.len() > short.len() && is_listed("versioned", short) => short,
        _ if name.starts_with('g') && is_listed("gnu", name) => &name[1..],
        _ => name,
    }
}

/// Returns whether a program runs code in its arguments or its input. Shells are not among them.
pub(crate) fn is_interpreter(name: &str) -> bool {
    is_listed("interpreters", name)
}

/// Returns whether a program executes the commands on its standard input.
pub(crate) fn executes_input(name: &str) -> bool {
    is_interpreter(name) || is_listed("commanded", name)
}

/// Returns whether a program is a shell.
pub(crate) fn is_shell(name: &str) -> bool {
    is_listed("shells", name)
}
