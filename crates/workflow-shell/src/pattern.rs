//! Patterns of commands as rules use them: `rm -rf *`, `sudo *`, `git push *`.
//!
//! A pattern that forbids or asks covers a command however it is written:
//!
//! - The program is compared by its name without its directory, unless the pattern names one.
//! - Options are compared as a set, at any position: `rm -rf *` also covers `rm -r -f x`,
//!   `rm -fr x`, `rm --recursive --force x` and `rm x -rf`.
//! - Other words are compared in their order. Options of `git`, `npm` and similar before a subcommand
//!   are skipped, with their values.
//! - `*` in a word stands for any characters; `*` as the last word for any number of further words.
//! - A word with an expansion may be any word, but not an option. A glob may be any word that fits it.
//!
//! One that allows must have the words of the command in their order, from the first: an option before the
//! subcommand may run any program, as `git -c core.fsmonitor=program add` does.

use crate::command::SimpleCommand;
use crate::programs::{List, is_listed};
use crate::word::{UNKNOWN, Word};

/// Returns whether a pattern that forbids or asks covers a command. Further words and options make no
/// difference: `npm publish` also covers `npm publish --tag next`.
pub fn matches(pattern: &str, command: &SimpleCommand) -> bool {
    let (wanted, _) = words_of(pattern);
    let (Some((program, wanted)), Some((first, given))) =
        (wanted.split_first(), command.words.split_first())
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
    let shape = |word: &Word| {
        if word.is_glob {
            with_stars(word.shape())
        } else {
            word.shape().to_owned()
        }
    };
    let shapes: Vec<String> = given.iter().map(shape).collect();
    let hides_option = given.iter().any(Word::has_option_in_braces);
    let program = first.program().unwrap_or(name);
    let given = sort(program, shapes.iter().map(String::as_str));
    let wanted = sort(program, wanted.iter().copied());
    let mut pairs = wanted.words.iter().zip(&given.words);
    let words = wanted.words.len() <= given.words.len()
        && pairs.all(|(wanted, word)| word.contains(UNKNOWN) || may_fit(wanted, word));
    // An option whose name is a glob may be any.
    let is_any = |option: &String| option.split('=').next().unwrap_or_default().contains('*');
    let hides_option = hides_option || given.options.iter().any(is_any);
    let options = hides_option
        || wanted
            .options
            .iter()
            .all(|wanted| given.options.iter().any(|given| may_fit(wanted, given)));
    words && options
}

/// Returns whether a pattern that allows covers a command: its words are the first words of the command. Without `*` as
/// its last word, it covers no further ones.
pub fn matches_exactly(pattern: &str, command: &SimpleCommand) -> bool {
    let (wanted, is_open) = words_of(pattern);
    let fits = |(wanted, word): (&&str, &Word)| {
        let shape = word.shape();
        let is_known = !shape.contains(UNKNOWN) && !word.has_option_in_braces();
        is_known && wanted.starts_with('-') == shape.starts_with('-') && globs(wanted, shape)
    };
    let counts =
        wanted.len() == command.words.len() || is_open && wanted.len() < command.words.len();
    // The program is compared below.
    counts && wanted.iter().zip(&command.words).skip(1).all(fits) && matches(pattern, command)
}

/// Returns the words of a pattern, and whether it covers any number of further ones.
fn words_of(pattern: &str) -> (Vec<&str>, bool) {
    let mut words: Vec<&str> = pattern.split_whitespace().collect();
    let is_open = words.len() > 1 && words.last() == Some(&"*");
    if is_open {
        words.pop();
    }
    (words, is_open)
}

/// Returns whether options before the subcommand decide what a program does: a pattern that ends behind one allows anything.
pub fn takes_options_before_subcommand(program: &str) -> bool {
    is_listed("options_before", program)
}

/// Arguments of a command: words in their order, and options.
struct Sorted<'a> {
    words: Vec<&'a str>,
    options: Vec<String>,
}

fn sort<'a>(program: &str, mut arguments: impl Iterator<Item = &'a str>) -> Sorted<'a> {
    let before = format!("before_{program}");
    let mut sorted = Sorted {
        words: Vec::new(),
        options: Vec::new(),
    };
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            sorted.words.extend(arguments.by_ref());
        } else if argument.len() < 2 || !argument.starts_with('-') {
            sorted.words.push(argument);
        } else if sorted.words.is_empty() && is_listed(&before, argument) {
            arguments.next();
        } else {
            add_option(program, argument, &mut sorted.options);
        }
    }
    sorted
}

/// Adds an option in the spelling that rules use; joined letters are separate options.
fn add_option(program: &str, argument: &str, options: &mut Vec<String>) {
    let name = argument.trim_start_matches('-');
    let letters = !argument.starts_with("--")
        && name.len() <= 5
        && name.bytes().all(|byte| byte.is_ascii_alphabetic());
    let spelled = |name: &str| {
        let long = name.split('=').next().unwrap_or_default();
        let start = format!("{program}:{long}:");
        let mut known = List::named("spellings").names();
        let known = known.find_map(|row| row.strip_prefix(&start));
        known.unwrap_or(name).to_owned()
    };
    if letters {
        let letters = name.split("").filter(|letter| !letter.is_empty());
        options.extend(letters.map(spelled));
    } else {
        options.push(spelled(name));
    }
}

/// Returns a glob of the shell as one in which only `*` is special: `?` becomes one, and everything from a bracket, brace or
/// group on.
fn with_stars(glob: &str) -> String {
    let end = glob.find(['[', '{', '(']).unwrap_or(glob.len());
    let is_cut = end < glob.len();
    let start = glob[..end].trim_end_matches(|c| is_cut && matches!(c, '@' | '+' | '!'));
    let mut simple = start.replace('?', "*");
    if is_cut {
        simple.push('*');
    }
    simple
}

/// Returns whether a word that may be a glob can become one that matches a pattern.
fn may_fit(pattern: &str, word: &str) -> bool {
    let (Some((start, _)), Some((of_word, _))) = (pattern.split_once('*'), word.split_once('*'))
    else {
        return globs(pattern, word) || globs(word, pattern);
    };
    let end = |text: &str| text.rsplit('*').next().unwrap_or_default().to_owned();
    let (end, end_of_word) = (end(pattern), end(word));
    // Whatever is between the first and the last `*` of one fits a `*` of the other.
    (start.starts_with(of_word) || of_word.starts_with(start))
        && (end.ends_with(&end_of_word) || end_of_word.ends_with(&end))
}

/// Returns whether a word matches a pattern in which `*` stands for any characters.
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
