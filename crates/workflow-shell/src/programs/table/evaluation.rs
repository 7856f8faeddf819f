//! The evaluation of rows: the way to the row of a command, and its effect.

use std::sync::LazyLock;

use super::arguments::{Found, Sets, is_toolchain, missing, take_options, unknown};
use super::lists::is_listed;
use super::row::{ArgumentSet, Node, Printed, Rest, Row, RowEffect, RowKind, RunKind, Tables};
use crate::effect::{Unknown, UnknownReason};
use crate::file_access::AccessKind;
use crate::word::Word;

/// The place of a command in the tables, with the words that are left.
struct Place<'a> {
    path: Vec<&'a str>,
    node: &'static Node,
    words: &'a [Word],
    /// The options that are known besides those of the row.
    shared: Vec<&'static ArgumentSet>,
    /// The options before the subcommands, and what they write.
    prefix: Found,
    effect: Option<RowEffect>,
    /// What is known of the options that are next, and the word behind them.
    parsed: Result<(), Unknown>,
    next: Option<&'a Word>,
}

/// Returns the effect of a program.
pub(super) fn evaluate(
    tables: &'static Tables,
    name: &'static str,
    program: &'static Node,
    arguments: &[Word],
) -> RowEffect {
    let mut place = place(tables, name, program, arguments, true);
    if let Some(effect) = place.effect {
        return effect;
    }
    if place.node.rows.is_empty() {
        return RowEffect::Unknown(match (place.parsed, place.next) {
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
    first_known(tables, &place.path, place.node, place.words, &place.shared)
}

/// Returns what a program prints.
pub(super) fn printed(
    tables: &'static Tables,
    name: &'static str,
    program: &'static Node,
    arguments: &[Word],
) -> Option<Printed> {
    let place = place(tables, name, program, arguments, true);
    let rows = place.node.outputs.iter().map(|index| &tables.rows[*index]);
    let mut rows = rows.filter(|row| {
        let sets = Sets {
            row: &row.arguments,
            shared: &[],
        };
        let knows_dashes = row.arguments.rest != Rest::Operands;
        (knows_dashes || place.words.iter().all(|word| word.shape() != "--"))
            && sets.find(place.words, name).is_ok()
    });
    match rows.next()?.kind {
        RowKind::Prints(printed) => Some(printed),
        _ => None,
    }
}

/// Reads arguments by the row for code at a path.
pub(super) fn read(
    tables: &'static Tables,
    name: &'static str,
    node: &'static Node,
    arguments: &[Word],
) -> Result<Found, Unknown> {
    let Some(row) = node.code.map(|index| &tables.rows[index]) else {
        return Err(missing("a row"));
    };
    let sets = Sets {
        row: &row.arguments,
        shared: &[],
    };
    sets.find(arguments, name)
}

/// The arguments of a command as far as its rows know them, for paths.
pub(crate) struct Reading<'a> {
    /// Its name and those of its subcommands.
    pub(crate) path: Vec<&'a str>,
    pub(crate) prefix: Found,
    pub(crate) found: Found,
    /// The operands that are accessed with everything below them.
    pub(crate) trees: Vec<(AccessKind, Word)>,
}

/// Reads arguments by the row for code, or by one that says what is accessed with everything below.
pub(super) fn reading<'a>(
    tables: &'static Tables,
    name: &'static str,
    program: &'static Node,
    arguments: &'a [Word],
) -> Reading<'a> {
    static NOTHING: LazyLock<ArgumentSet> = LazyLock::new(ArgumentSet::default);
    let place = place(tables, name, program, arguments, false);
    let rows = place.node.rows.iter();
    let mut rows = rows.filter(|row| !tables.rows[**row].arguments.trees.is_empty());
    let row = place.node.code.as_ref().or(rows.next());
    let row = row.or(program.code.as_ref()).map(|row| &tables.rows[*row]);
    let sets = Sets {
        row: row.map_or(&*NOTHING, |row| &row.arguments),
        shared: &[],
    };
    let mut found = Found::of(name);
    // It is not strict.
    if let Ok(Some(rest)) = sets.read(place.words, &mut found, false) {
        found.operands.extend(rest.iter().cloned());
    }
    let mut trees = Vec::new();
    for (kind, options) in &sets.row.trees {
        if options.is_empty() || found.has(options) {
            trees.extend(found.operands.iter().map(|word| (*kind, word.clone())));
        }
    }
    Reading {
        path: place.path,
        prefix: place.prefix,
        found,
        trees,
    }
}

/// Returns the place of a command in the tables. If it is not strict, options before a subcommand may be unknown.
fn place<'a>(
    tables: &'static Tables,
    name: &'static str,
    program: &'static Node,
    arguments: &'a [Word],
    is_strict: bool,
) -> Place<'a> {
    let mut place = Place {
        path: vec![name],
        node: program,
        words: arguments,
        shared: Vec::new(),
        prefix: Found::of(name),
        effect: None,
        parsed: Ok(()),
        next: None,
    };
    loop {
        let prefix = place.node.prefix.map(|index| &tables.rows[index]);
        let globals = place.shared.len();
        place.shared.extend(prefix.map(|row| &row.arguments));
        let mut after_prefix = place.words;
        let (shared, options) = (&place.shared, &mut place.prefix);
        place.parsed = take_options(&mut after_prefix, shared, options, is_strict);
        place.next = after_prefix.first();
        let word = place.next.and_then(Word::text);
        let subcommand = word.and_then(|word| Some((word, subcommand(place.node, word)?)));
        let (Some((word, subcommand)), Ok(())) = (subcommand, &place.parsed) else {
            return place;
        };
        if place.effect.is_none() {
            place.effect = place.prefix.writes(&place.path, &[]);
        }
        place.path.push(word);
        place.node = subcommand;
        place.words = &after_prefix[1..];
        place.shared.truncate(globals);
        let global = prefix.filter(|row| row.is_global);
        place.shared.extend(global.map(|row| &row.arguments));
    }
}

/// Returns the subcommand of this name, or the family that its name starts with.
fn subcommand(node: &'static Node, word: &str) -> Option<&'static Node> {
    let is_name = || {
        word.bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && !word.starts_with('-')
    };
    node.subcommands.get(word).or_else(|| {
        node.families
            .iter()
            .find(|(start, _)| word.starts_with(start) && is_name())
            .map(|(_, family)| family)
    })
}

/// Returns the effect by the first row that knows all arguments.
fn first_known(
    tables: &'static Tables,
    path: &[&str],
    node: &'static Node,
    words: &[Word],
    shared: &[&'static ArgumentSet],
) -> RowEffect {
    let mut unknown: Option<Unknown> = None;
    for index in &node.rows {
        match evaluate_row(&tables.rows[*index], path, words, shared) {
            Ok(effect) => return effect,
            Err(found) => match &unknown {
                Some(first) if first.reason != UnknownReason::Missing => {}
                _ => unknown = Some(found),
            },
        }
    }
    RowEffect::Unknown(unknown.unwrap_or_else(|| missing("a subcommand")))
}

fn evaluate_row(
    row: &'static Row,
    path: &[&str],
    words: &[Word],
    shared: &[&'static ArgumentSet],
) -> Result<RowEffect, Unknown> {
    if row.kind.writes_in_any_case() {
        let where_to = if row.kind == RowKind::Sends {
            " to a remote"
        } else {
            ""
        };
        return Ok(RowEffect::Writes {
            operation: format!("`{}`{where_to}", path.join(" ")),
            operands: None,
        });
    }
    let effect = match row.kind {
        RowKind::Project => RowEffect::RunsProjectCode,
        _ => RowEffect::Reads,
    };
    if row.arguments.any {
        return Ok(effect);
    }
    let sets = Sets {
        row: &row.arguments,
        shared,
    };
    let mut words = words;
    let mut behind = None;
    if row.kind == RowKind::Runs(RunKind::BehindDashes) {
        let end = words.iter().position(|word| word.shape() == "--");
        let (before, command) = words.split_at(end.ok_or_else(|| missing("--"))?);
        (words, behind) = (before, Some(command[1..].to_vec()));
    }
    let mut found = sets.find(words, path[0])?;
    if let Some(command) = behind {
        found.operands = command;
    }
    let names_arguments = |word: &&Word| word.shape().starts_with('@');
    if is_listed("response_files", path[0])
        && let Some(word) = found.operands.iter().find(names_arguments)
    {
        return Err(unknown(word, UnknownReason::Argument));
    }
    if let Some(effect) = found.writes(path, &found.operands) {
        return Ok(effect);
    }
    let skip = row.arguments.skip;
    match row.kind {
        RowKind::WritesOperands => {
            let operands: Vec<Word> = found.operands.into_iter().skip(skip).collect();
            Ok(RowEffect::Writes {
                operation: format!("`{}`", path.join(" ")),
                operands: (!operands.is_empty()).then_some(operands),
            })
        }
        RowKind::WritesSomewhere => Ok(RowEffect::Writes {
            operation: format!("`{}`", path.join(" ")),
            operands: None,
        }),
        RowKind::Runs(kind) => {
            let operands: Vec<Word> = found.operands.into_iter().skip(skip).collect();
            match operands.first() {
                Some(_) => Ok(RowEffect::Runs(kind, operands)),
                None => Err(Unknown::new(path[0], UnknownReason::HiddenCode)),
            }
        }
        _ => Ok(effect),
    }
}
