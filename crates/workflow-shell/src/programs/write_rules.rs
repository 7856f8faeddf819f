//! Rows of the program tables, and their evaluation.

use super::arguments::{Arguments, OptionStyle, split_arguments};
use crate::analysis::FileWrite;
use crate::word::Word;

/// The writes of a program.
pub(crate) struct ProgramRow {
    pub(super) names: &'static [&'static str],
    pub(super) style: OptionStyle,
    /// Options that take a value.
    pub(super) takes: &'static [&'static str],
    /// Each rule that applies adds its writes.
    pub(super) rules: &'static [WriteRule],
}

/// Creates the row of programs whose options are letters.
pub(super) const fn row(
    names: &'static [&'static str],
    takes: &'static [&'static str],
    rules: &'static [WriteRule],
) -> ProgramRow {
    ProgramRow {
        names,
        style: OptionStyle::Letters,
        takes,
        rules,
    }
}

/// A condition under which a program writes, and the target.
pub(super) enum WriteRule {
    /// It writes to the target if all conditions are true.
    When(&'static [Condition], WriteTarget),
    /// It writes to the files that are values of these options, except `-`.
    Values(&'static [&'static str]),
    /// These subcommands write; all others read.
    Writing(&'static [Subcommand]),
    /// These subcommands read; all others write. Without a subcommand, it reads.
    Reading(&'static [Subcommand]),
}

/// The words of a subcommand, and the conditions under which the entry applies.
pub(super) type Subcommand = (&'static str, &'static [Condition]);

/// A condition on arguments.
pub(super) enum Condition {
    /// One of these options is present.
    With(&'static [&'static str]),
    /// None of these options is present.
    Without(&'static [&'static str]),
    /// There are at least this many operands (after the subcommand).
    AtLeast(usize),
    /// There are at most this many operands (after the subcommand).
    AtMost(usize),
    /// The next operand is none of these.
    Not(&'static [&'static str]),
}

/// The target of a write.
pub(super) enum WriteTarget {
    /// Unknown: the line does not say.
    Somewhere,
    /// The directory in which it runs.
    Here,
    /// All operands.
    Operands,
    /// All operands except the first ones, this many.
    After(usize),
    /// The last operand, or the value of one of these options instead.
    Last(&'static [&'static str]),
    /// The value of one of these options, or the directory in which it runs.
    In(&'static [&'static str]),
}

impl ProgramRow {
    /// Returns the writes of this program with these arguments. `name` is for display.
    pub(crate) fn writes(&self, name: &str, words: &[Word]) -> Vec<FileWrite> {
        let arguments = split_arguments(words, self.style, self.takes);
        self.rules
            .iter()
            .flat_map(|rule| rule.writes(name, &arguments))
            .collect()
    }
}

impl WriteRule {
    fn writes(&self, name: &str, arguments: &Arguments) -> Vec<FileWrite> {
        match self {
            Self::When(conditions, target) => {
                if all_true(conditions, arguments, &arguments.operands) {
                    target.writes(name, arguments)
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
                Some(found) => vec![FileWrite::chosen_by(format!("`{name} {found}`"), name)],
                None => Vec::new(),
            },
            Self::Reading(rows) => match arguments.operands.first() {
                Some(first) if subcommand(rows, arguments).is_none() => {
                    vec![FileWrite::chosen_by(
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
            words.split(' ').enumerate().all(|(index, word)| {
                arguments.operands.get(index).and_then(Word::text) == Some(word)
            }) && all_true(conditions, arguments, &arguments.operands[length..])
        })
        .map(|(words, _)| *words)
}

fn all_true(conditions: &[Condition], arguments: &Arguments, operands: &[Word]) -> bool {
    conditions.iter().all(|condition| match condition {
        Condition::With(names) => arguments.has(names),
        // `cargo fmt -- --check`: after `--`, an option is an operand.
        Condition::Without(names) => {
            !arguments.has(names) && !operands.iter().any(|word| names.contains(&word.shape()))
        }
        Condition::AtLeast(count) => operands.len() >= *count,
        Condition::AtMost(count) => operands.len() <= *count,
        Condition::Not(words) => operands
            .first()
            .and_then(Word::text)
            .is_none_or(|word| !words.contains(&word)),
    })
}

impl WriteTarget {
    fn writes(&self, name: &str, arguments: &Arguments) -> Vec<FileWrite> {
        let operands = &arguments.operands;
        let operation = || format!("`{name}`");
        let here = || vec![FileWrite::new(operation(), Some(".".to_owned()))];
        let one = |word: Option<&Word>| vec![written(operation(), word)];
        let all = |words: &[Word]| {
            words
                .iter()
                .map(|word| FileWrite::to_word(operation(), word))
                .collect()
        };
        match self {
            Self::Somewhere => vec![FileWrite::chosen_by(operation(), name)],
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

/// Creates a write to the path that a word names; without a word, only the running shell knows the path.
fn written(operation: String, word: Option<&Word>) -> FileWrite {
    match word {
        Some(word) => FileWrite::to_word(operation, word),
        None => FileWrite::new(operation, None),
    }
}
