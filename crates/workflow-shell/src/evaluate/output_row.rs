//! Rows of commands with the arguments that are known, and their comparison with the words of a command.
//!
//! | Item | Arguments that fit |
//! | --- | --- |
//! | `*` | an operand: a word that does not start with a dash |
//! | `-a`, `--all`, `list` | this word |
//! | `-[abc]` | a dash and letters of these; `-[q+abc]`: with `q` among them |
//! | `--key=` | the option with a value, behind `=` or in the next word; `-k=`: joined or in the next word |
//! | `--sort=*`, `-S*` | words that start so |
//! | `--key=(a\|b)`, `-n<number>` | the start with one of these values joined |
//! | `--key:(a\|b)`, `-o:<resource>`, `-n:*` | the option with one of these values in the next word |
//!
//! A value in the next word may look like a number, but not like an option. The comparison knows fewer spellings than the tables of
//! programs, because what is printed depends on each word: joined letters, abbreviations and `--` count only where an item has them.

/// A row: the program with the words that follow it, groups of items of which one must fit exactly once, and further items.
///
/// In the first words, `a|b` are alternatives, `~` is a blank, and `_` is any word without a dash.
pub(super) struct Row(
    pub(super) &'static str,
    pub(super) &'static [&'static str],
    pub(super) &'static [&'static str],
);

/// Returns whether a row lists the command and knows all its arguments.
pub(super) fn lists(rows: &[Row], words: &[&str]) -> bool {
    rows.iter().any(|row| row.lists(words))
}

impl Row {
    fn lists(&self, words: &[&str]) -> bool {
        let Self(command, groups, others) = self;
        let mut arguments = words;
        for alternatives in command.split(' ') {
            match arguments {
                [word, rest @ ..] if is_first_word(alternatives, word) => arguments = rest,
                _ => return false,
            }
        }
        let mut counts = vec![0; groups.len()];
        while !arguments.is_empty() {
            let group = groups.iter().zip(&mut counts).find_map(|(group, count)| {
                let taken = words_taken(group, arguments)?;
                *count += 1;
                Some(taken)
            });
            let taken =
                group.or_else(|| others.iter().find_map(|list| words_taken(list, arguments)));
            match taken {
                Some(taken) => arguments = &arguments[taken..],
                None => return false,
            }
        }
        counts.iter().all(|count| *count == 1)
    }
}

fn is_first_word(alternatives: &str, word: &str) -> bool {
    alternatives.split('|').any(|known| match known {
        "_" => !word.starts_with('-'),
        "~" => word == " ",
        known => known == word,
    })
}

/// Returns how many of the first words an item of a list fits.
fn words_taken(list: &str, words: &[&str]) -> Option<usize> {
    list.split_ascii_whitespace()
        .find_map(|item| words_taken_by(item, words))
}

fn words_taken_by(item: &str, words: &[&str]) -> Option<usize> {
    let (word, next) = (*words.first()?, words.get(1));
    let one = |fits: bool| fits.then_some(1);
    let two = |values: &str| {
        let value = next.filter(|value| is_value(value));
        value.is_some_and(|value| fits(values, value)).then_some(2)
    };
    if item == "*" {
        return one(!word.starts_with('-'));
    }
    if let Some(letters) = item
        .strip_prefix("-[")
        .and_then(|item| item.strip_suffix(']'))
    {
        return one(word
            .strip_prefix('-')
            .is_some_and(|word| are_letters(letters, word)));
    }
    if let Some(name) = item.strip_suffix('=') {
        let joined = if name.starts_with("--") { item } else { name };
        return if word == name {
            two("*")
        } else {
            one(word.starts_with(joined))
        };
    }
    let Some(at) = item.find(['*', '(', '<']) else {
        return one(word == item);
    };
    let (start, values) = item.split_at(at);
    match start.strip_suffix(':') {
        Some(name) => two(values).filter(|_| word == name),
        None => one(word
            .strip_prefix(start)
            .is_some_and(|value| fits(values, value))),
    }
}

/// Returns whether a word that follows an option is its value.
fn is_value(word: &str) -> bool {
    word.strip_prefix('-')
        .is_none_or(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Returns whether a word has these letters only; `q+abc`: and `q`.
fn are_letters(letters: &str, word: &str) -> bool {
    let needed = letters.split_once('+').map_or("", |(needed, _)| needed);
    !word.is_empty()
        && word.chars().all(|c| c != '+' && letters.contains(c))
        && needed.chars().all(|c| word.contains(c))
}

/// Returns whether a value is one of those that an item has.
fn fits(values: &str, value: &str) -> bool {
    let alternatives = values
        .strip_prefix('(')
        .and_then(|list| list.strip_suffix(')'));
    match values {
        _ if alternatives.is_some() => {
            alternatives.is_some_and(|list| list.split('|').any(|known| known == value))
        }
        "*" => true,
        "<number>" => is_number(value),
        "<container>" => CONTAINER_NAMES.contains(&value),
        "<resource>" => RESOURCE_NAMES.contains(&value),
        "<field>" => is_numeric_field(value),
        "<identifier>" => is_identifier_query(value),
        "<time>" => is_time_format(value),
        _ => false,
    }
}

fn is_number(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit())
}

/// Formats of `docker` that print names.
const CONTAINER_NAMES: &[&str] = &[
    "{{.Names}}",
    "{{.Name}}",
    "{{.ID}}",
    "{{.Image}}",
    "{{.Repository}}:{{.Tag}}",
    "{{.Repository}}",
];

/// Formats of `kubectl` that print names.
const RESOURCE_NAMES: &[&str] = &[
    "name",
    "custom-columns=:.metadata.name",
    "custom-columns=:metadata.name",
    "custom-columns=NAME:.metadata.name",
    "jsonpath={.items..metadata.name}",
    "jsonpath={.items[*].metadata.name}",
    "jsonpath={.items[0].metadata.name}",
    "jsonpath={.metadata.name}",
];

/// Returns whether a filter of `gh` selects a field that is a number or a commit: `.[0].databaseId`.
fn is_numeric_field(filter: &str) -> bool {
    let (list, field) = filter.rsplit_once('.').unwrap_or_default();
    let index = list
        .strip_prefix(".[")
        .and_then(|list| list.strip_suffix(']'));
    let is_item = list.is_empty()
        || index.is_some_and(|index| index.bytes().all(|byte| byte.is_ascii_digit()));
    is_item && matches!(field, "databaseId" | "number" | "headSha" | "headRefOid")
}

/// Returns whether a query of `aws` selects identifiers that the provider gives: `Vpcs[0].VpcId`.
fn is_identifier_query(query: &str) -> bool {
    let query = query.trim_end_matches(|c: char| c.is_ascii_digit() || "[]".contains(c));
    let is_path = !query.contains(|c| ",{`'\"(|".contains(c));
    let ends = ["Arn", "Arns", "Id", "Ids"];
    is_path && ends.iter().any(|end| query.ends_with(end))
}

/// Returns whether a format of `date` prints a time without blanks: `%F_%H`.
fn is_time_format(format: &str) -> bool {
    let letter = format.strip_prefix('%').unwrap_or_default();
    letter.starts_with(|c| "YFsHdmTDyjMSIekl".contains(c)) && !format.contains(char::is_whitespace)
}
