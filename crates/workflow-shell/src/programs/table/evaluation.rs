//! The evaluation of rows: the way to the row of a command, and its effect.

use super::arguments::{Found, Sets, is_toolchain, missing, take_options, unknown};
use super::is_listed;
use super::row::{Node, Printed, Rest, Row, RowEffect, RowKind, RunKind, Tables};
use crate::effect::{Unknown, UnknownReason};
use crate::word::Word;

/// The place of a command in the tables, with the words that are left.
struct Place<'a> {
    path: Vec<&'a str>,
    node: &'static Node,
    words: &'a [Word],
    /// The options that are known besides those of the row.
    shared: Vec<&'static Row>,
}

/// Returns the effect of a program.
pub(super) fn evaluate(
    tables: &'static Tables,
    name: &'static str,
    program: &'static Node,
    arguments: &[Word],
) -> RowEffect {
    let (mut place, parsed) = match place(tables, name, program, arguments) {
        Ok(found) => found,
        Err(effect) => return effect,
    };
    if place.node.rows.is_empty() {
        return RowEffect::Unknown(match parsed {
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
        && is_toolchain(word, place.shared.iter().map(|row| &row.arguments))
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
    let (place, _) = place(tables, name, program, arguments).ok()?;
    let rows = place.node.outputs.iter().map(|index| &tables.rows[*index]);
    let mut rows = rows.filter(|row| {
        let sets = Sets {
            row: &row.arguments,
            shared: &[],
            whole_words: row.whole_words,
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
        whole_words: row.whole_words,
    };
    sets.find(arguments, name)
}

/// Returns the place of a command in the tables, and what is known of the options there and the word behind them. Options before a
/// subcommand may write.
#[expect(clippy::type_complexity, reason = "one caller needs each part")]
fn place<'a>(
    tables: &'static Tables,
    name: &'static str,
    program: &'static Node,
    arguments: &'a [Word],
) -> Result<(Place<'a>, (Result<(), Unknown>, Option<&'a Word>)), RowEffect> {
    let mut path: Vec<&str> = vec![name];
    let mut node = program;
    let mut words = arguments;
    let mut shared: Vec<&'static Row> = Vec::new();
    loop {
        let prefix = node.prefix.map(|index| &tables.rows[index]);
        let globals = shared.len();
        shared.extend(prefix);
        let mut after_prefix = words;
        let mut prefix_arguments = Found::of(name);
        let parsed = take_options(&mut after_prefix, &shared, &mut prefix_arguments);
        let next = after_prefix.first();
        let subcommand = next
            .and_then(Word::text)
            .and_then(|word| Some((word, subcommand(node, word)?)));
        let (Some((word, subcommand)), Ok(())) = (subcommand, &parsed) else {
            let place = Place {
                path,
                node,
                words,
                shared,
            };
            return Ok((place, (parsed, next)));
        };
        if let Some(effect) = prefix_arguments.writes(&path, &[]) {
            return Err(effect);
        }
        path.push(word);
        node = subcommand;
        words = &after_prefix[1..];
        shared.truncate(globals);
        shared.extend(prefix.filter(|row| row.is_global));
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
    shared: &[&'static Row],
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
    shared: &[&'static Row],
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
        whole_words: row.whole_words,
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
