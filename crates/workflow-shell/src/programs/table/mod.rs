//! Rows of the tables in `tables/`: the programs, subcommands and options that are known, and what they do.
//!
//! Whatever no row lists is unknown. `tables/README.md` describes the format.

mod arguments;
mod classes;
mod evaluation;
mod heads;
pub(super) mod lists;
mod parsing;
mod row;
mod variables;

use std::sync::OnceLock;

use super::outcome::{NestedCommand, Outcome, joined, project_runner};
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::file_access::{AccessKind, Location};
use crate::file_write::FileWrite;
use crate::word::Word;
pub(crate) use arguments::Found;
pub(crate) use evaluation::Reading;
pub(crate) use lists::is_listed;
pub(crate) use row::Printed;
use row::{RowEffect, RunKind, Tables};

pub(crate) use variables::{
    is_environment_variable, is_harmless_variable, is_interpreted_variable, is_project_path,
    is_project_variable,
};

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// The rows of each program, which are parsed when it is first looked up.
static ROWS: [OnceLock<Tables>; PROGRAMS.len()] = [const { OnceLock::new() }; PROGRAMS.len()];

/// Returns the rows of a program; `None` if no row names it.
fn rows(name: &str) -> Option<&'static Tables> {
    let index = PROGRAMS
        .binary_search_by_key(&name, |(name, _)| name)
        .ok()?;
    let parse = || {
        let files: Vec<_> = PROGRAMS[index].1.iter().map(|file| FILES[*file]).collect();
        Tables::parse_program(&files, name)
    };
    Some(ROWS[index].get_or_init(parse))
}

/// Returns the effect of a program with these arguments according to its rows; `None` if no row names it.
fn effect(name: &str, arguments: &[Word]) -> Option<RowEffect> {
    let tables = rows(name)?;
    let (name, node) = tables.programs.get_key_value(name)?;
    let has_rows = !node.rows.is_empty() || !node.subcommands.is_empty();
    has_rows.then(|| evaluation::evaluate(tables, name, node, arguments))
}

/// Returns the outcome of a program by its rows; `None` if no row says anything about its effect.
pub(crate) fn row(name: &str, arguments: &[Word]) -> Option<Outcome> {
    Some(match effect(name, arguments)? {
        RowEffect::Reads => Outcome::reads(),
        RowEffect::RunsProjectCode => Outcome::of(Effect::RunsProjectCode),
        RowEffect::Writes {
            operation,
            operands: Some(words),
        } => {
            let files = words.iter().filter(|word| !word.is_process_substitution());
            Outcome::writes(&operation, files)
        }
        RowEffect::Writes {
            operation,
            operands: None,
        } => Outcome::of(Effect::Writes(vec![FileWrite::within(
            operation,
            chosen_by(name),
        )])),
        RowEffect::Unknown(unknown) => Outcome::from(unknown),
        RowEffect::Runs(kind, words) => match kind {
            RunKind::Command => Outcome::runs([NestedCommand::Command(words)]),
            RunKind::SameShell => Outcome::runs([NestedCommand::SameShell(words)]),
            RunKind::Elsewhere | RunKind::BehindDashes => {
                Outcome::runs([NestedCommand::OtherDirectory(words)])
            }
            RunKind::Project => project_runner(words),
            RunKind::Scripts => Outcome::scripts(words),
            RunKind::Script => Outcome::scripts(joined(&words)),
        },
    })
}

/// Returns the location in which a program writes files of its choice.
fn chosen_by(name: &str) -> Location {
    // A download has the name that the other side decides.
    if is_listed("downloads", name) {
        return Location::anywhere();
    }
    let directory = if is_listed("system", name) { "/" } else { "." };
    Location::at(directory, AccessKind::WriteWithin)
}

/// Reads the arguments of a program that is known in code by its `[code]` row, or by that of a part of it: `docker run`.
pub(crate) fn read(name: &str, part: Option<&str>, arguments: &[Word]) -> Result<Found, Unknown> {
    let known = rows(name).and_then(|tables| {
        let (name, program) = tables.programs.get_key_value(name)?;
        let node = match part {
            Some(part) => program.subcommands.get(part)?,
            None => program,
        };
        Some((tables, *name, node))
    });
    let (tables, name, node) = known.ok_or_else(|| Unknown::new(name, UnknownReason::Program))?;
    evaluation::read(tables, name, node, arguments)
}

/// Reads the arguments of a command as far as its rows know them; `None` if no row is for code, or says what is accessed as a whole.
pub(crate) fn reading<'a>(name: &str, arguments: &'a [Word]) -> Option<Reading<'a>> {
    let tables = rows(name).filter(|tables| tables.is_for_paths)?;
    let (name, node) = tables.programs.get_key_value(name)?;
    Some(evaluation::reading(tables, name, node, arguments))
}

/// Returns what a program prints according to its rows.
pub(crate) fn printed(name: &str, arguments: &[Word]) -> Option<Printed> {
    let tables = rows(name)?;
    let (name, node) = tables.programs.get_key_value(name)?;
    evaluation::printed(tables, name, node, arguments)
}

/// Returns whether a program has rows for subcommands.
pub(crate) fn has_subcommands(name: &str) -> bool {
    rows(name)
        .and_then(|tables| tables.programs.get(name))
        .is_some_and(|node| !node.subcommands.is_empty())
}

#[cfg(test)]
mod tests;
