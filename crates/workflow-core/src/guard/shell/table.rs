//! The shapes of the tables that say when a program writes.
//!
//! Owns how a row is understood; the rows are in `programs`, `git` and `packages`.

use super::arguments::{Arguments, Style, gather};
use super::{Word, Write};

/// What is known of a program.
pub(super) struct Row {
    pub(super) names: &'static [&'static str],
    pub(super) style: Style,
    /// Options that take a value.
    pub(super) takes: &'static [&'static str],
    /// Each rule that holds adds what it says.
    pub(super) rules: &'static [Rule],
}

/// When a program writes.
pub(super) enum Rule {
    /// Whenever it runs under these conditions.
    When(&'static [If], Place),
    /// The files that are these options' values; `-` is none.
    Values(&'static [&'static str]),
    /// Its subcommands that write; all others read.
    Writing(&'static [Subcommand]),
    /// Its subcommands that read; all others write. Without one it reads.
    Reading(&'static [Subcommand]),
}

/// Words of a subcommand, and under which conditions the row is about it.
pub(super) type Subcommand = (&'static str, &'static [If]);

/// A condition on arguments.
pub(super) enum If {
    /// One of these options is given.
    With(&'static [&'static str]),
    /// None of these options is given.
    Without(&'static [&'static str]),
    /// There are at least so many operands (behind the subcommand).
    AtLeast(usize),
    /// There are at most so many operands (behind the subcommand).
    AtMost(usize),
    /// The next operand is none of these.
    Not(&'static [&'static str]),
}

/// Where a program writes.
pub(super) enum Place {
    /// Somewhere: the line does not say.
    Somewhere,
    /// Below the directory in which it runs.
    Here,
    /// All operands.
    Operands,
    /// All operands but the first so many.
    After(usize),
    /// The last operand, or the value of one of these options instead.
    Last(&'static [&'static str]),
    /// The value of one of these options, or the directory in which it runs.
    In(&'static [&'static str]),
}

impl Row {
    /// What this program writes when it is called so. `name` is for people.
    pub(super) fn writes(&self, name: &str, words: &[Word]) -> Vec<Write> {
        let arguments = gather(words, self.style, self.takes);
        self.rules
            .iter()
            .flat_map(|rule| rule.writes(name, &arguments))
            .collect()
    }
}

impl Rule {
    fn writes(&self, name: &str, arguments: &Arguments) -> Vec<Write> {
        match self {
            Self::When(conditions, place) => {
                if hold(conditions, arguments, &arguments.operands) {
                    place.writes(&format!("`{name}`"), arguments)
                } else {
                    Vec::new()
                }
            }
            Self::Values(names) => arguments
                .values(names)
                .filter(|value| value.is_none_or(|word| word.shape() != "-"))
                .map(|value| Write::new(format!("`{name}`"), value.and_then(Word::path)))
                .collect(),
            Self::Writing(rows) => match subcommand(rows, arguments) {
                Some(found) => vec![Write::new(format!("`{name} {found}`"), None)],
                None => Vec::new(),
            },
            Self::Reading(rows) => match arguments.operands.first() {
                Some(first) if subcommand(rows, arguments).is_none() => {
                    vec![Write::new(
                        format!("`{name} {}`", first.text().unwrap_or("…")),
                        None,
                    )]
                }
                _ => Vec::new(),
            },
        }
    }
}

fn subcommand(rows: &[Subcommand], arguments: &Arguments) -> Option<&'static str> {
    rows.iter()
        .find(|(words, conditions)| {
            let length = words.split(' ').count();
            words.split(' ').enumerate().all(|(place, word)| {
                arguments.operands.get(place).and_then(Word::text) == Some(word)
            }) && hold(conditions, arguments, &arguments.operands[length..])
        })
        .map(|(words, _)| *words)
}

fn hold(conditions: &[If], arguments: &Arguments, operands: &[Word]) -> bool {
    conditions.iter().all(|condition| match condition {
        If::With(names) => arguments.has(names),
        // `cargo fmt -- --check`: behind `--`, an option is an operand.
        If::Without(names) => {
            !arguments.has(names) && !operands.iter().any(|word| names.contains(&word.shape()))
        }
        If::AtLeast(count) => operands.len() >= *count,
        If::AtMost(count) => operands.len() <= *count,
        If::Not(words) => operands
            .first()
            .and_then(Word::text)
            .is_none_or(|word| !words.contains(&word)),
    })
}

impl Place {
    fn writes(&self, how: &str, arguments: &Arguments) -> Vec<Write> {
        let operands = &arguments.operands;
        let one = |path: Option<String>| vec![Write::new(how.to_owned(), path)];
        let all = |words: &[Word]| {
            words
                .iter()
                .map(|word| Write::new(how.to_owned(), word.path()))
                .collect()
        };
        match self {
            Self::Somewhere => one(None),
            Self::Here => one(Some(".".to_owned())),
            Self::Operands => all(operands),
            Self::After(count) => all(operands.get(*count..).unwrap_or_default()),
            Self::Last(names) => match arguments.values(names).last() {
                Some(value) => one(value.and_then(Word::path)),
                None => one(operands.last().and_then(Word::path)),
            },
            Self::In(names) => match arguments.values(names).last() {
                Some(value) => one(value.and_then(Word::path)),
                None => one(Some(".".to_owned())),
            },
        }
    }
}
