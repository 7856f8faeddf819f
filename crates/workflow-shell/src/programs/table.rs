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
                    place.writes(name, arguments)
                } else {
                    Vec::new()
                }
            }
            Self::Values(names) => arguments
                .values(names)
                .filter(|value| value.is_none_or(|word| word.shape() != "-"))
                .map(|value| written(format!("`{name}`"), value))
                .collect(),
            Self::Writing(rows) => match subcommand(rows, arguments) {
                Some(found) => vec![Write::own(format!("`{name} {found}`"), name)],
                None => Vec::new(),
            },
            Self::Reading(rows) => match arguments.operands.first() {
                Some(first) if subcommand(rows, arguments).is_none() => {
                    vec![Write::own(
                        format!("`{name} {}`", first.text().unwrap_or("…")),
                        name,
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
    fn writes(&self, name: &str, arguments: &Arguments) -> Vec<Write> {
        let operands = &arguments.operands;
        let how = || format!("`{name}`");
        let here = || vec![Write::new(how(), Some(".".to_owned()))];
        let one = |word: Option<&Word>| vec![written(how(), word)];
        let all = |words: &[Word]| words.iter().map(|word| Write::at(how(), word)).collect();
        match self {
            Self::Somewhere => vec![Write::own(how(), name)],
            Self::Here => here(),
            Self::Operands => all(operands),
            Self::After(count) => all(operands.get(*count..).unwrap_or_default()),
            Self::Last(names) => match arguments.values(names).last() {
                Some(value) => one(value),
                None => one(operands.last()),
            },
            Self::In(names) => match arguments.values(names).last() {
                Some(value) => one(value),
                None => here(),
            },
        }
    }
}

/// Writing to what a word names, or to where only the running shell knows.
fn written(how: String, word: Option<&Word>) -> Write {
    match word {
        Some(word) => Write::at(how, word),
        None => Write::new(how, None),
    }
}
