//! Rows of the tables in `tables/`: the programs, subcommands and options that are known, and what they do.
//!
//! Whatever no row lists is unknown. `tables/README.md` describes the format.

mod arguments;
mod evaluation;
mod heads;
mod parsing;
mod row;
mod variables;

use std::sync::OnceLock;

use crate::effect::Effect;
use crate::file_write::FileWrite;
use crate::word::Word;
pub(crate) use row::Printed;
use row::{RowEffect, Tables};

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
    Some(evaluation::evaluate(tables, name, node, arguments))
}

/// Returns the effect of a program by its row.
pub(crate) fn row(name: &str, arguments: &[Word]) -> Option<Effect> {
    let effect = match effect(name, arguments)? {
        RowEffect::Reads => Effect::Reads,
        RowEffect::RunsProjectCode => Effect::RunsProjectCode,
        RowEffect::Writes {
            operation,
            operands: Some(words),
        } if !words.is_empty() => {
            let write = |word: &Word| FileWrite::to_word(operation.clone(), word);
            Effect::Writes(words.iter().map(write).collect())
        }
        RowEffect::Writes { operation, .. } => {
            Effect::Writes(vec![FileWrite::chosen_by(operation, name)])
        }
        RowEffect::Unknown(unknown) => Effect::Unknown(unknown),
    };
    Some(effect)
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
