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
mod trees;
mod variables;

use std::sync::OnceLock;

use super::outcome::Result;
use crate::effect::{Unknown, UnknownReason};
use crate::word::Word;
pub(crate) use arguments::Found;
use arguments::Sets;
use evaluation::Program;
pub(crate) use lists::{List, is_listed};
use parsing::parse;
use row::Node;
pub(crate) use row::Output;
pub(crate) use trees::trees;
pub(crate) use variables::{
    is_environment_variable, is_harmless_variable, is_interpreted_variable, is_project_path,
    is_project_variable,
};

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// The rows of each program, which are parsed when it is first looked up.
static ROWS: [OnceLock<Node>; PROGRAMS.len()] = [const { OnceLock::new() }; PROGRAMS.len()];

/// Returns the rows of a program; `None` if no row names it.
fn rows(name: &str) -> Option<Program> {
    let index = lists::find(PROGRAMS, name, |(name, _)| name)?;
    let (name, files) = PROGRAMS[index];
    let node = ROWS[index].get_or_init(|| {
        let files: Vec<_> = files.iter().map(|file| FILES[*file]).collect();
        let (mut programs, _) = parse(&files, |program| program == name);
        programs.remove(name).unwrap_or_default()
    });
    Some(Program { name, node })
}

/// Returns the outcome of a program by its rows; `None` if no row says anything about its effect.
pub(crate) fn row(name: &str, arguments: &[Word]) -> Option<Result> {
    let program = rows(name)?;
    let has_rows = !program.node.rows.is_empty() || !program.node.subcommands.is_empty();
    has_rows.then(|| program.outcome(arguments))
}

/// Reads the arguments of a program that is known in code by its `[code]` row.
pub(crate) fn read(name: &str, arguments: &[Word]) -> Result<Found> {
    let unknown = || Unknown::new(name, UnknownReason::Program);
    let program = rows(name).ok_or_else(unknown)?;
    let row = program.node.code.first().ok_or_else(unknown)?;
    Sets::of(&row.arguments, &[]).find(arguments, program.name)
}

/// Returns what a program prints according to its rows.
pub(crate) fn printed(name: &str, arguments: &[Word]) -> Option<Output> {
    rows(name)?.printed(arguments)
}

/// Returns whether a table knows a program.
pub(crate) fn is_program(name: &str) -> bool {
    rows(name).is_some()
}

/// Returns whether a program has rows that run code of the project.
pub(crate) fn runs_project(name: &str) -> bool {
    rows(name).is_some_and(|program| program.node.runs_project())
}

/// Returns whether a program has rows for subcommands by their names.
pub(crate) fn has_subcommands(name: &str) -> bool {
    let is_name = |name: &'static str| !name.ends_with('*');
    rows(name).is_some_and(|program| program.node.subcommands.keys().copied().any(is_name))
}

#[cfg(test)]
mod tests;
