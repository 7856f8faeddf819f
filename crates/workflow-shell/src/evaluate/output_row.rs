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
//! | `--key:(a\|b)`, `-o:<resource>` | the option with one of these values in the next word |
//! | `-mtime:*` | the option with a value in the next word that is no option: `main`, `-7` |
//! | `+<time>$` | as without `$`, if it is the last word |
//!
//! The comparison knows fewer spellings than the tables of programs: joined letters, values in the next word and `--` count only where
//! an item says so, because names that a line passes on are trusted.

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
        "_" => is_operand(word),
        "~" => word == " ",
        known => known == word,
    })
}

/// Returns how many words the first item takes that fits the next word: itself, and a value.
fn words_taken(list: &str, words: &[&str]) -> Option<usize> {
    list.split_ascii_whitespace()
        .find_map(|item| words_taken_by(item, words))
}

fn words_taken_by(item: &str, words: &[&str]) -> Option<usize> {
    let [word, rest @ ..] = words else {
        return None;
    };
    if let Some(item) = item.strip_suffix('$') {
        return words_taken_by(item, words).filter(|_| rest.is_empty());
    }
    if let Some(letters) = item
        .strip_prefix("-[")
        .and_then(|item| item.strip_suffix(']'))
    {
        let given = word.strip_prefix('-');
        return given.filter(|given| are_letters(letters, given)).map(|_| 1);
    }
    if let Some(name) = item.strip_suffix('=') {
        if word == &name {
            return rest.first().filter(|value| is_operand(value)).map(|_| 2);
        }
        let joined = if name.starts_with("--") { item } else { name };
        return word.starts_with(joined).then_some(1);
    }
    let Some(at) = item.find(['*', '(', '<']) else {
        return (word == &item).then_some(1);
    };
    let (start, values) = item.split_at(at);
    match start.strip_suffix(':') {
        Some(name) => {
            let value = rest.first().filter(|_| word == &name);
            value.filter(|value| fits(values, value)).map(|_| 2)
        }
        None if item == "*" => is_operand(word).then_some(1),
        None => {
            let value = word.strip_prefix(start);
            value
                .filter(|value| values == "*" || fits(values, value))
                .map(|_| 1)
        }
    }
}

/// Returns whether a text is an item as the table of this module has them.
#[cfg(test)]
pub(super) fn is_item(item: &str) -> bool {
    let item = item.strip_suffix('$').unwrap_or(item);
    let at = item.find(['*', '(', '<']).unwrap_or(item.len());
    let (start, values) = item.split_at(at);
    let is_letters = start.starts_with("-[") && start.ends_with(']') && values.is_empty();
    let is_start = start
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_=:+".contains(c));
    let is_list = values.starts_with('(') && values.ends_with(')');
    (is_letters || is_start)
        && (values.is_empty() || values == "*" || is_list || class(values).is_some())
}

fn is_operand(word: &str) -> bool {
    !word.starts_with('-')
}

/// Returns whether a word after an option is its value, not an option.
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
    if values == "*" {
        return is_value(value);
    }
    match values
        .strip_prefix('(')
        .and_then(|list| list.strip_suffix(')'))
    {
        Some(list) => list.split('|').any(|known| known == value),
        None => class(values).is_some_and(|is_of| is_of(value)),
    }
}

/// Returns the function that tells whether a value is of a class.
fn class(name: &str) -> Option<fn(&str) -> bool> {
    Some(match name {
        "<number>" => is_number,
        "<container>" => |format| CONTAINER_NAMES.contains(&format),
        "<resource>" => |format| RESOURCE_NAMES.contains(&format),
        "<field>" => is_numeric_field,
        "<identifier>" => is_identifier_query,
        "<time>" => is_time_format,
        "<digits>" => is_number_format,
        _ => return None,
    })
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

/// Returns whether a format of `date` prints a number: `%s000`, `%s%3N`.
fn is_number_format(format: &str) -> bool {
    let parts = format.strip_prefix('%').map(|rest| rest.split('%'));
    parts.is_some_and(|mut parts| {
        parts.all(|part| {
            let letter = part.trim_matches(|c: char| c.is_ascii_digit());
            matches!(letter, "s" | "d" | "m" | "Y" | "H" | "M" | "S" | "N" | "j")
        })
    })
}

/// Returns whether a format of `date` prints a time without blanks: `%F_%H`.
fn is_time_format(format: &str) -> bool {
    let letter = format.strip_prefix('%').unwrap_or_default();
    letter.starts_with(|c| "YFsHdmTDyjMSIekl".contains(c)) && !format.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::{Row, class, lists};

    fn is_listed(row: Row, command: &str) -> bool {
        let words: Vec<&str> = command.split(' ').collect();
        lists(&[row], &words)
    }

    const fn with(items: &'static [&'static str]) -> Row {
        Row("a", &[], items)
    }

    #[test]
    fn first_words_are_alternatives_or_any_operand() {
        let row = || Row("a|b -n _ get", &[], &[]);
        assert!(is_listed(row(), "b -n x get"));
        assert!(!is_listed(row(), "c -n x get"));
        assert!(!is_listed(row(), "a -n -x get"));
        assert!(!is_listed(row(), "a -n x"));
    }

    #[test]
    fn an_argument_that_no_item_fits_is_unknown() {
        assert!(is_listed(with(&["-x", "--all"]), "a -x --all"));
        assert!(!is_listed(with(&["-x --all"]), "a --al"));
        assert!(!is_listed(with(&["-x -y"]), "a -xy"));
        assert!(!is_listed(with(&["-x"]), "a main"));
        assert!(!is_listed(with(&["* -x"]), "a --"));
    }

    #[test]
    fn letters_are_joined_where_an_item_says_so() {
        assert!(is_listed(with(&["-[abc]"]), "a -ca"));
        assert!(!is_listed(with(&["-[abc]"]), "a -cd"));
        assert!(!is_listed(with(&["-[abc]"]), "a -"));
        assert!(is_listed(with(&["-[q+ab]"]), "a -aq"));
        assert!(!is_listed(with(&["-[q+ab]"]), "a -ab"));
    }

    #[test]
    fn a_value_is_joined_or_in_the_next_word_as_the_item_says() {
        for command in ["a --key=x", "a --key x"] {
            assert!(is_listed(with(&["--key="]), command), "{command}");
        }
        assert!(!is_listed(with(&["--key="]), "a --key --other"));
        assert!(!is_listed(with(&["--key="]), "a --key"));
        assert!(!is_listed(with(&["--key=*"]), "a --key x"));
        assert!(is_listed(with(&["--key=(x|y)"]), "a --key=y"));
        assert!(!is_listed(with(&["--key=(x|y)"]), "a --key=z"));
        assert!(is_listed(with(&["--key:(x|y)"]), "a --key y"));
        assert!(!is_listed(with(&["--key:(x|y)"]), "a --key=y"));
        assert!(is_listed(with(&["-n:*"]), "a -n -7"));
        assert!(!is_listed(with(&["-n:*"]), "a -n -x"));
    }

    #[test]
    fn an_item_of_each_group_fits_once() {
        let row = || Row("a", &["-l --list", "list"], &["* -x"]);
        assert!(is_listed(row(), "a x list --list -x"));
        assert!(!is_listed(row(), "a x list"));
        assert!(!is_listed(row(), "a list -l --list"));
    }

    #[test]
    fn a_dollar_sign_requires_the_last_word() {
        assert!(is_listed(with(&["-u +<time>$"]), "a -u +%F"));
        assert!(!is_listed(with(&["-u +<time>$"]), "a +%F -u"));
    }

    #[test]
    fn classes_have_the_values_that_are_names_or_numbers() {
        let is_of = |name, value| class(name).is_some_and(|is_of| is_of(value));
        assert!(is_of("<field>", ".[0].databaseId"));
        assert!(!is_of("<field>", ".[0].title"));
        assert!(is_of("<identifier>", "Vpcs[0].VpcId"));
        assert!(!is_of("<identifier>", "Vpcs[0].{Id:VpcId,Id:OwnerId}"));
        assert!(is_of("<time>", "%F_%H"));
        assert!(!is_of("<time>", "%F %H"));
        assert!(!is_of("<number>", ""));
    }
}
