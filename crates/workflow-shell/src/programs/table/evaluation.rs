//! The evaluation of rows: the way to the row of a command, and its effect.

use super::arguments::{Found, Sets, chosen_by, is_toolchain, missing, take_options, unknown};
use super::lists::{is_like, is_listed};
use super::row::{ArgumentSet, Node, Output, Row, RowKind, RunKind};
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::file_access::{AccessKind, FileAccess};
use crate::programs::outcome::{NestedCommand, Outcome, Result, joined, project_runner};
use crate::word::Word;

/// The rows of a program.
#[derive(Clone, Copy)]
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) node: &'static Node,
}

/// The place of a command in the tables, with the words that are left.
pub(super) struct Place<'a> {
    path: Vec<&'a str>,
    pub(super) node: &'static Node,
    pub(super) words: &'a [Word],
    /// The options that are known besides those of the row.
    shared: Vec<&'static ArgumentSet>,
    /// The options before the subcommands, and what they write.
    pub(super) prefix: Found,
    outcome: Option<Outcome>,
    /// What is known of the options that are next, and the word behind them.
    parsed: Result<()>,
    next: Option<&'a Word>,
}

impl Program {
    /// Returns the outcome by the first row that knows all arguments.
    pub(super) fn outcome(self, arguments: &[Word]) -> Result {
        let mut place = self.place(arguments, true);
        if let Some(outcome) = place.outcome {
            return Ok(outcome);
        }
        if place.node.rows.is_empty() {
            return Err(match (place.parsed, place.next) {
                (Err(unknown), _) => unknown,
                (Ok(()), Some(word)) if word.may_hide_option() => {
                    unknown(word, UnknownReason::Expansion)
                }
                (Ok(()), Some(word)) => unknown(word, UnknownReason::Argument),
                (Ok(()), None) => missing("a subcommand"),
            });
        }
        // `rustc +nightly --version`
        if let [word, after @ ..] = place.words
            && is_toolchain(word, &place.shared)
        {
            place.words = after;
        }
        let mut first: Option<Unknown> = None;
        for row in &place.node.rows {
            match place.outcome_by(row) {
                Ok(outcome) => return Ok(outcome),
                Err(unknown) => match &first {
                    Some(first) if first.reason != UnknownReason::Missing => {}
                    _ => first = Some(unknown),
                },
            }
        }
        Err(first.unwrap_or_else(|| missing("a subcommand")))
    }

    /// Returns what it prints.
    pub(super) fn printed(self, arguments: &[Word]) -> Option<Output> {
        let place = self.place(arguments, true);
        let mut rows = place.node.outputs.iter().filter(|row| {
            let knows_dashes = row.arguments.rest.is_some();
            (knows_dashes || place.words.iter().all(|word| word.shape() != "--"))
                && Sets::of(&row.arguments, &[])
                    .find(place.words, self.name)
                    .is_ok()
        });
        match rows.next()?.kind {
            RowKind::Prints(printed) => Some(printed),
            _ => None,
        }
    }

    /// Returns the place of a command in the tables. If it is not strict, options before a subcommand may be unknown.
    pub(super) fn place(self, arguments: &[Word], is_strict: bool) -> Place<'_> {
        let mut place = Place {
            path: vec![self.name],
            node: self.node,
            words: arguments,
            shared: Vec::new(),
            prefix: Found::of(self.name),
            outcome: None,
            parsed: Ok(()),
            next: None,
        };
        loop {
            let prefix = place.node.prefix.as_ref();
            let globals = place.shared.len();
            place.shared.extend(prefix.map(|row| &row.arguments));
            let node = place.node;
            if node.subcommands.is_empty() && !node.rows.is_empty() {
                return place;
            }
            let mut after_prefix = place.words;
            let (shared, options) = (&place.shared, &mut place.prefix);
            place.parsed = take_options(&mut after_prefix, shared, options, is_strict);
            if let Some(value) = &options.variable_value {
                place.parsed = Err(unknown(value, UnknownReason::Expansion));
            }
            place.next = after_prefix.first();
            let word = place.next.and_then(Word::text);
            let subcommand = word.and_then(|word| Some((word, subcommand(place.node, word)?)));
            let (Some((word, subcommand)), Ok(())) = (subcommand, &place.parsed) else {
                return place;
            };
            if place.outcome.is_none() {
                place.outcome = place.prefix.writes(&place.path, &[]);
            }
            place.path.push(word);
            place.node = subcommand;
            place.words = &after_prefix[1..];
            place.shared.truncate(globals);
            let global = prefix.filter(|row| row.is_global);
            place.shared.extend(global.map(|row| &row.arguments));
        }
    }
}

/// Returns the subcommand of this name, or the one with the longest start that its name has.
fn subcommand(node: &'static Node, word: &str) -> Option<&'static Node> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_name = !word.starts_with('-') && word.bytes().all(is_plain);
    let family = || {
        let known = node.subcommands.iter();
        let known = known.filter(|(name, _)| is_name && is_like(name, word));
        known.max_by_key(|(name, _)| name.len())
    };
    match node.subcommands.get(word) {
        // An asterisk in the word is no pattern.
        Some(subcommand) if !word.contains('*') => Some(subcommand),
        _ => family().map(|(_, family)| family),
    }
}

impl Place<'_> {
    /// Returns the outcome by a row, or why it does not know the arguments.
    fn outcome_by(&self, row: &'static Row) -> Result {
        let path = &self.path;
        let operation = || format!("`{}`", path.join(" "));
        let somewhere = |operation| Outcome::writes_within(operation, chosen_by(path));
        match row.kind {
            RowKind::Writes => return Ok(somewhere(operation())),
            RowKind::Sends => return Ok(somewhere(operation() + " to a remote")),
            RowKind::Project if row.arguments.any => {
                return Ok(Outcome::of(Effect::RunsProjectCode));
            }
            _ if row.arguments.any => return Ok(Outcome::reads()),
            _ => {}
        }
        let sets = Sets::of(&row.arguments, &self.shared);
        let mut words = self.words;
        let mut behind = None;
        if row.kind == RowKind::Runs(RunKind::BehindDashes) {
            let end = words.iter().position(|word| word.shape() == "--");
            let (before, command) = words.split_at(end.ok_or_else(|| missing("--"))?);
            (words, behind) = (before, Some(command[1..].to_vec()));
        }
        let mut found = sets.find(words, self.prefix.program)?;
        if let (RowKind::Runs(_), Some(value)) = (row.kind, &found.variable_value) {
            return Err(unknown(value, UnknownReason::Expansion));
        }
        if let Some(command) = behind {
            found.operands = command;
        }
        let names_arguments = |word: &&Word| word.shape().starts_with('@');
        if let Some(word) = found.operands.iter().find(names_arguments)
            && is_listed("response_files", path[0])
        {
            return Err(unknown(word, UnknownReason::Argument));
        }
        if let Some(outcome) = found.writes(path, &found.operands) {
            return Ok(outcome);
        }
        let operands: Vec<Word> = match (&row.arguments.target, row.kind) {
            (Some(options), RowKind::WritesTarget) => vec![found.target(options).0],
            (Some(options), _) => {
                let (target, sources) = found.target(options);
                [sources, &[target]].concat()
            }
            _ => found
                .operands
                .iter()
                .skip(row.arguments.skip)
                .cloned()
                .collect(),
        };
        Ok(match row.kind {
            RowKind::WritesOperands | RowKind::WritesTarget if !operands.is_empty() => {
                Outcome::writes(&operation(), &operands)
            }
            RowKind::WritesBelow => {
                // An archive names the files.
                let trees = &row.arguments.trees;
                let directory = found.directory(trees.first().map_or(&[], |tree| &tree.options));
                let location = FileAccess::of(&directory, AccessKind::WriteWithin);
                Outcome::writes_within(operation(), location)
            }
            RowKind::WritesOperands | RowKind::WritesTarget | RowKind::WritesSomewhere => {
                somewhere(operation())
            }
            RowKind::Runs(_) if operands.is_empty() => {
                return Err(Unknown::new(path[0], UnknownReason::HiddenCode));
            }
            RowKind::Runs(kind) => match kind {
                RunKind::Command => Outcome::runs([NestedCommand::Command(operands)]),
                RunKind::SameShell => Outcome::runs([NestedCommand::SameShell(operands)]),
                RunKind::Elsewhere | RunKind::BehindDashes => {
                    Outcome::runs([NestedCommand::OtherDirectory(operands)])
                }
                RunKind::Again => {
                    let program = Word::literal(path[0]);
                    let command = [&[program], &operands[..]].concat();
                    Outcome::runs([NestedCommand::OtherDirectory(command)])
                }
                RunKind::Project => project_runner(operands),
                RunKind::Scripts => Outcome::scripts(operands, NestedCommand::Script, "sh"),
                RunKind::Script => Outcome::scripts(joined(&operands), NestedCommand::Script, "sh"),
            },
            RowKind::Project => Outcome::of(Effect::RunsProjectCode),
            _ => Outcome::reads(),
        })
    }
}
