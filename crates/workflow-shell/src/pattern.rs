//! Patterns of commands, as rules name them: `rm -rf *`, `sudo *`, `git push *`.
//!
//! Owns how a pattern is compared with a simple command, word by word:
//!
//! - The program is compared by its name without its directory, unless the pattern names one.
//! - Options are compared as a set, wherever they stand: `rm -rf *` is also about `rm -r -f x`,
//!   `rm -fr x`, `rm --recursive --force x` and `rm x -rf`.
//! - Other words are compared in their order. Options of `git`, `npm` and the like that stand
//!   before a subcommand are passed over, with their values.
//! - `*` in a word stands for any characters; a `*` as the last word for any further words, also none.
//! - A word that holds an expansion may be any word, but it is not taken for an option.

use super::Simple;

/// Whether a rule that forbids or asks is about a command: further words and options make no
/// difference, so `npm publish` is also about `npm publish --tag next`.
#[must_use]
pub fn matches(pattern: &str, simple: &Simple) -> bool {
    compare(pattern, simple, Further::Ignored)
}

/// Whether a rule that allows is about a command: without a `*` as its last word, a pattern allows
/// no further words and no further options, and an expansion only where it has a `*`.
#[must_use]
pub fn matches_exactly(pattern: &str, simple: &Simple) -> bool {
    compare(pattern, simple, Further::Counted)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Further {
    Ignored,
    Counted,
}

/// Options of two spellings, for the programs whose options people name in rules.
#[rustfmt::skip] // A row a line.
const SPELLINGS: &[(&str, &str, &str)] = &[
    ("rm", "recursive", "r"), ("rm", "R", "r"), ("rm", "force", "f"), ("rm", "dir", "d"), ("rm", "verbose", "v"),
    ("cp", "recursive", "r"), ("cp", "R", "r"), ("cp", "force", "f"), ("cp", "archive", "a"),
    ("mv", "force", "f"), ("ln", "force", "f"), ("ln", "symbolic", "s"), ("mkdir", "parents", "p"),
    ("chmod", "recursive", "R"), ("chown", "recursive", "R"), ("chgrp", "recursive", "R"),
    ("git", "force", "f"), ("git", "all", "a"), ("git", "message", "m"), ("git", "delete", "d"),
    ("npm", "global", "g"), ("grep", "recursive", "r"), ("sed", "in-place", "i"),
    ("curl", "output", "o"), ("docker", "force", "f"), ("kubectl", "filename", "f"),
];

/// Options with a value that stand before a subcommand.
#[rustfmt::skip] // A row a line.
const BEFORE: &[(&str, &[&str])] = &[
    ("git", &["-C", "-c", "--git-dir", "--work-tree", "--namespace"]),
    ("npm", &["--prefix", "-C", "-w", "--workspace"]),
    ("pnpm", &["--filter", "-F", "-C", "--dir"]),
    ("yarn", &["--cwd"]),
    ("cargo", &["--config", "-C", "-Z", "--color"]),
    ("docker", &["-H", "--host", "--context", "-c", "--config"]),
    ("kubectl", &["-n", "--namespace", "--context", "--kubeconfig"]),
    ("make", &["-C", "-f"]),
    ("sudo", &["-u", "-g"]),
];

fn compare(pattern: &str, simple: &Simple, further: Further) -> bool {
    let mut wanted: Vec<&str> = pattern.split_whitespace().collect();
    let open = wanted.len() > 1 && wanted.last() == Some(&"*");
    if open {
        wanted.pop();
    }
    let (Some((program, wanted)), Some((first, given))) =
        (wanted.split_first(), simple.words.split_first())
    else {
        return false;
    };
    let name = if program.contains('/') {
        first.text()
    } else {
        first.program()
    };
    let Some(name) = name.filter(|name| globs(program, name)) else {
        return false;
    };
    let shapes: Vec<&str> = given.iter().map(super::Word::shape).collect();
    let given = sort(first.program().unwrap_or(name), &shapes);
    let wanted = sort(first.program().unwrap_or(name), wanted);
    let exact = further == Further::Counted;
    let words =
        wanted
            .words
            .iter()
            .enumerate()
            .all(|(place, wanted)| match given.words.get(place) {
                Some(word) if word.contains('\0') => !exact || *wanted == "*",
                Some(word) => globs(wanted, word),
                None => false,
            });
    let options = wanted
        .options
        .iter()
        .all(|wanted| given.options.iter().any(|given| globs(wanted, given)));
    let rest = !exact
        || open
        || (given.words.len() <= wanted.words.len() && given.options.len() <= wanted.options.len());
    words && options && rest
}

/// A command's arguments: words in their order, and options.
struct Sorted<'a> {
    words: Vec<&'a str>,
    options: Vec<String>,
}

fn sort<'a>(program: &str, arguments: &[&'a str]) -> Sorted<'a> {
    let before = BEFORE
        .iter()
        .find(|(name, _)| *name == program)
        .map_or(&[][..], |(_, options)| options);
    let mut sorted = Sorted {
        words: Vec::new(),
        options: Vec::new(),
    };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if *argument == "--" {
            sorted.words.extend(arguments.by_ref());
        } else if argument.len() < 2 || !argument.starts_with('-') {
            sorted.words.push(argument);
        } else if sorted.words.is_empty() && before.contains(argument) {
            arguments.next();
        } else {
            add_option(program, argument, &mut sorted.options);
        }
    }
    sorted
}

/// Adds an option as a rule would name it; joined letters are as many options.
fn add_option(program: &str, argument: &str, options: &mut Vec<String>) {
    let name = argument.trim_start_matches('-');
    let letters = !argument.starts_with("--")
        && name.len() <= 5
        && name.bytes().all(|byte| byte.is_ascii_alphabetic());
    let spelled = |name: &str| {
        let long = name.split('=').next().unwrap_or_default();
        SPELLINGS
            .iter()
            .find(|(of, from, _)| *of == program && *from == long)
            .map_or_else(|| name.to_owned(), |(_, _, to)| (*to).to_owned())
    };
    if letters {
        options.extend(
            name.chars()
                .map(|letter| spelled(letter.encode_utf8(&mut [0; 4]))),
        );
    } else {
        options.push(spelled(name));
    }
}

/// Whether a word matches a pattern in which `*` stands for any characters.
fn globs(pattern: &str, word: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == word;
    };
    let Some(mut word) = word.strip_prefix(start) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match word.find(part) {
            Some(at) => word = &word[at + part.len()..],
            None => return false,
        }
    }
    word.ends_with(last)
}
