//! Arguments that may be paths.

use super::names::{is_awk, is_interpreter, is_shell};
use super::search::find_glob;
use crate::file_access::{AccessKind, Location};
use crate::word::{Word, quoted_texts};

/// Returns the locations that the words of a command name. `output_is_used` says whether another command may
/// use its output as arguments.
pub(crate) fn named_locations(name: &str, words: &[Word], output_is_used: bool) -> Vec<Location> {
    let arguments = &words[1..];
    let sets_variable = name == "printf"
        && arguments
            .first()
            .is_some_and(|word| word.shape().starts_with("-v"));
    if matches!(name, "echo" | "printf") && !output_is_used && !sets_variable {
        return Vec::new();
    }
    let program_text = program_text(name, arguments);
    let acts = output_is_used || arguments.iter().any(acts_on_results);
    let mut locations = Vec::new();
    for (index, word) in arguments.iter().enumerate() {
        if program_text == Some(index) || is_text(name, arguments, index) {
            continue;
        }
        let glob = is_glob_argument(name, arguments, index, acts);
        if index == 0 && is_script(name, word) {
            locations.push(Location::of(word, AccessKind::Run));
            continue;
        }
        for mut candidate in candidates(word) {
            if glob && candidate.shape.contains(['*', '?', '[']) {
                candidate.is_glob = true;
                let shape = candidate.shape.trim_start_matches('/');
                let shape = if name == "find" {
                    find_glob(shape)
                } else {
                    shape.to_owned()
                };
                candidate.shape = format!("\0/{shape}");
            }
            locations.push(candidate);
        }
    }
    if is_interpreter(name) || is_awk(name) {
        let texts = arguments.iter().flat_map(|word| quoted_texts(word.shape()));
        locations.extend(texts.map(|text| Location::at(text, AccessKind::Read)));
    }
    locations
}

/// Returns whether the first argument of a program is the file with the code that it runs: `node x.js`.
fn is_script(name: &str, first: &Word) -> bool {
    let is_file = |text: &str| !text.starts_with('-') && !text.contains([':', '=', '@']);
    (is_interpreter(name) || is_shell(name))
        && !first.is_glob
        && !first.is_standard_input()
        && first.text().is_some_and(is_file)
}

/// Returns the parts of a word that may be a path: `x`, `--file=x`, `-fx`, `@x`, `HEAD:x`.
fn candidates(word: &Word) -> Vec<Location> {
    let shape = word.shape();
    let mut found = vec![Location::of(word, AccessKind::Read)];
    let mut add = |text: &str| {
        if !text.is_empty() && text.len() < shape.len() {
            found.push(Location {
                shape: text.to_owned(),
                is_glob: word.is_glob,
                kind: AccessKind::Read,
            });
        }
    };
    if let Some((_, value)) = shape.split_once('=') {
        add(value);
        add(value.trim_start_matches('@'));
    }
    if let Some(file) = shape.strip_prefix('@') {
        add(file);
    }
    for part in shape.split(':').skip(1) {
        add(part);
    }
    if let Some((first, _)) = shape.split_once(':') {
        add(first);
    }
    if shape.starts_with('-') && !shape.starts_with("--") {
        let behind = shape.char_indices().nth(2).map(|(at, _)| at);
        let letters = shape[1..].find(|c: char| !c.is_ascii_alphabetic());
        add(behind.map_or("", |at| &shape[at..]));
        add(letters.map_or("", |at| &shape[at + 1..]));
        add(letters.map_or("", |at| shape[at + 1..].trim_start_matches('@')));
    }
    found
}

/// Programs whose first operand is a script or a search pattern, and the options that specify it instead.
#[rustfmt::skip] // A row a line.
const SCRIPT_OPERANDS: &[(&[&str], &[&str])] = &[
    (&["grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack"], &["-e", "--regexp", "-f", "--file"]),
    (&["sed"], &["-e", "--expression", "-f", "--file"]),
    (&["awk", "gawk", "mawk", "nawk"], &["-f", "--file"]),
    (&["jq", "yq"], &["-f", "--from-file"]),
];

/// Options whose value is text, by program; `*` is any program.
#[rustfmt::skip] // A row a line.
const TEXT_OPTIONS: &[(&str, &[&str])] = &[
    ("git", &["-m", "--message", "--grep", "-S", "-G", "--author", "--exclude"]),
    ("gh", &["-b", "--body", "-t", "--title"]),
    ("grep", &["-e", "--regexp"]), ("egrep", &["-e", "--regexp"]), ("rg", &["-e", "--regexp"]),
    ("sed", &["-e", "--expression"]), ("find", &["-printf"]),
    ("tree", &["-I"]),
    ("*", &["--exclude", "--exclude-dir", "--ignore", "--ignore-pattern"]),
];

/// Returns whether an argument is text, or names files that are excluded.
fn is_text(name: &str, arguments: &[Word], index: usize) -> bool {
    let shape = arguments[index].shape();
    let before = index.checked_sub(1).map(|at| arguments[at].shape());
    let takes_text = |option: &str| {
        let mut rows = TEXT_OPTIONS
            .iter()
            .filter(|(of, _)| *of == name || *of == "*");
        rows.any(|(_, options)| options.contains(&option))
    };
    if before.is_some_and(takes_text)
        || shape
            .split_once('=')
            .is_some_and(|(option, _)| takes_text(option))
    {
        return true;
    }
    name == "find" && index > 1 && matches!(arguments[index - 2].shape(), "-not" | "!")
}

/// Returns the index of the operand that is a script or a search pattern and not a file.
fn program_text(name: &str, arguments: &[Word]) -> Option<usize> {
    let git_grep = name == "git" && arguments.first().is_some_and(|word| word.shape() == "grep");
    let row = SCRIPT_OPERANDS
        .iter()
        .find(|(names, _)| names.contains(&name) || git_grep && names.contains(&"grep"));
    let (_, instead) = row?;
    let given = |word: &Word| {
        instead
            .iter()
            .any(|option| word.shape().split('=').next() == Some(option))
    };
    if arguments.iter().any(given) {
        return None;
    }
    let behind = usize::from(git_grep);
    let takes = |at: usize| at > 0 && SEARCH_OPTIONS.contains(&arguments[at - 1].shape());
    let is_operand = |at: &usize| !arguments[*at].shape().starts_with('-') && !takes(*at);
    (behind..arguments.len()).find(is_operand)
}

/// Options of search programs whose value is not the search pattern.
const SEARCH_OPTIONS: &[&str] = &[
    "-g", "--glob", "--iglob", "-t", "--type", "-A", "-B", "-C", "-m",
];

/// Returns whether a word makes `find` or `fd` act on the files it finds.
fn acts_on_results(word: &Word) -> bool {
    let shape = word.shape();
    ["-exec", "-ok", "-delete"]
        .iter()
        .any(|action| shape.starts_with(action))
        || matches!(shape, "-x" | "-X" | "--exec" | "--exec-batch")
}

/// Returns whether a quoted argument is a glob to the program, which then reads or changes the matching files.
fn is_glob_argument(name: &str, arguments: &[Word], index: usize, acts: bool) -> bool {
    let before = index.checked_sub(1).map_or("", |at| arguments[at].shape());
    let shape = arguments[index].shape();
    match name {
        "find" => {
            let is_test = matches!(
                before,
                "-name" | "-iname" | "-path" | "-ipath" | "-wholename"
            );
            is_test && acts
        }
        "fd" | "fdfind" => acts,
        "rg" => {
            matches!(before, "-g" | "--glob" | "--iglob")
                || shape.starts_with("--glob=")
                || shape.starts_with("-g")
        }
        "grep" => shape.starts_with("--include="),
        "git" => true,
        _ => false,
    }
}
