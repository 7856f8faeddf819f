//! Arguments that may be paths.

use super::names::{is_interpreter, is_shell};
use super::search::find_glob;
use super::table::{List, is_listed};
use crate::file_access::{AccessKind, FileAccess};
use crate::word::{Word, quoted_texts};

/// Returns the locations that the words of a command name. `output_is_used` says whether another command may
/// use its output as arguments.
pub(crate) fn named_locations(name: &str, words: &[Word], output_is_used: bool) -> Vec<FileAccess> {
    let arguments = &words[1..];
    let sets_variable = name == "printf"
        && arguments
            .first()
            .is_some_and(|word| word.shape().starts_with("-v"));
    if matches!(name, "echo" | "printf") && !output_is_used && !sets_variable {
        return Vec::new();
    }
    let has_code = is_interpreter(name);
    let program_text = program_text(name, arguments);
    let lists = ["excluding", &format!("texts_{}", like(name))].map(List::named);
    let acts = output_is_used || arguments.iter().any(acts_on_results);
    let mut locations = Vec::new();
    for (index, word) in arguments.iter().enumerate() {
        if program_text == Some(index) || is_text(name, lists, arguments, index) {
            continue;
        }
        let glob = is_glob_argument(name, arguments, index, acts);
        if index == 0 && is_file(word) && (has_code || is_shell(name)) {
            // `node x.js`
            locations.push(FileAccess::of(word, AccessKind::Run));
            continue;
        }
        for mut candidate in candidates(word) {
            if glob && candidate.path.contains(['*', '?', '[']) {
                candidate.is_glob = true;
                let shape = candidate.path.trim_start_matches('/');
                let shape = if name == "find" {
                    find_glob(shape)
                } else {
                    shape.to_owned()
                };
                candidate.path = format!("\0/{shape}");
            }
            locations.push(candidate);
        }
    }
    if has_code || name.ends_with("awk") {
        let texts = arguments.iter().flat_map(|word| quoted_texts(word.shape()));
        locations.extend(texts.map(|text| FileAccess::at(text, AccessKind::Read)));
    }
    locations
}

/// Returns whether a path is an entry of a process below `/proc` that shows more than its state: its memory, its variables, its files.
pub(crate) fn is_inside_process(path: &str) -> bool {
    let mut parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    let is_outside = path.starts_with('/') || path.contains("..");
    if !is_outside || !parts.any(|part| part == "proc") {
        return false;
    }
    let process = parts.next().unwrap_or_default();
    let entry = parts.collect::<Vec<_>>().join("/");
    let is_process = matches!(process, "self" | "thread-self")
        || !process.starts_with(|c: char| c.is_ascii_alphabetic())
        || process.contains(['*', '?', '[', '{', '\0']);
    entry.contains("..") || is_process && !entry.is_empty() && !is_listed("process_entries", &entry)
}

/// Returns whether the first argument of a program may be a file.
fn is_file(first: &Word) -> bool {
    let is_file = |text: &str| !text.starts_with('-') && !text.contains([':', '=', '@']);
    first.text().is_some_and(is_file) && !first.is_standard_input()
}

/// Returns the parts of a word that may be a path: `x`, `--file=x`, `-fx`, `@x`, `HEAD:x`.
fn candidates(word: &Word) -> Vec<FileAccess> {
    let shape = word.shape();
    let mut found = vec![FileAccess::of(word, AccessKind::Read)];
    let mut add = |text: &str| {
        if !text.is_empty() && text.len() < shape.len() {
            found.push(FileAccess {
                is_glob: word.is_glob,
                ..FileAccess::at(text, AccessKind::Read)
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

/// Returns the program whose options for text a program has.
fn like(name: &str) -> &str {
    match name {
        "egrep" | "fgrep" | "zgrep" | "rg" | "ag" | "ack" => "grep",
        "gawk" | "mawk" | "nawk" => "awk",
        "yq" => "jq",
        name => name,
    }
}

/// Returns whether an argument is text, or names files that are excluded, because an option in one of the lists says so.
fn is_text(name: &str, lists: [List; 2], arguments: &[Word], index: usize) -> bool {
    let joined = arguments[index].shape().split_once('=');
    let before = index.checked_sub(1).map(|at| arguments[at].shape());
    let mut options = joined.map(|(option, _)| option).into_iter().chain(before);
    let is_negated = |at: usize| matches!(arguments[at].shape(), "-not" | "!");
    options.any(|option| lists.iter().any(|list| list.has(option)))
        || name == "find" && index > 1 && is_negated(index - 2)
}

/// Returns the index of the operand that is a script or a search pattern and not a file. Where an option has it, there is none.
fn program_text(name: &str, arguments: &[Word]) -> Option<usize> {
    let git_grep = name == "git" && arguments.first().is_some_and(|word| word.shape() == "grep");
    let name = if git_grep { "grep" } else { like(name) };
    if !is_listed("scripted", name) {
        return None;
    }
    let lists = ["texts", "scripts"].map(|kind| List::named(&format!("{kind}_{name}")));
    let given = |word: &Word| {
        let option = word.shape().split('=').next().unwrap_or_default();
        lists.iter().any(|list| list.has(option))
    };
    if arguments.iter().any(given) {
        return None;
    }
    let behind = usize::from(git_grep);
    let takes = |at: usize| at > 0 && is_listed("search_options", arguments[at - 1].shape());
    let is_operand = |at: &usize| !arguments[*at].shape().starts_with('-') && !takes(*at);
    (behind..arguments.len()).find(is_operand)
}

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
