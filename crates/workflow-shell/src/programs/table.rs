//! Rows of the tables in `tables/`: the programs, subcommands and options that are known, and what they do.
//!
//! Whatever no row lists is unknown. `tables/README.md` describes the format.

mod arguments;
mod evaluation;
mod heads;
mod parsing;
mod variables;

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::effect::Unknown;
use crate::word::Word;

pub(crate) use variables::{
    is_harmless_variable, is_interpreted_variable, is_project_path, is_project_variable,
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

/// What a row says of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RowEffect {
    /// It reads.
    Reads,
    /// It runs code of the project.
    RunsProjectCode,
    /// It writes: to these operands, or where the program decides.
    Writes {
        /// The operation, for display.
        operation: String,
        /// The written paths, if the arguments name all of them.
        operands: Option<Vec<Word>>,
    },
    /// An argument is not known.
    Unknown(Unknown),
}

/// Returns the effect of a program with these arguments according to its rows; `None` if no row names it.
pub(crate) fn effect(name: &str, arguments: &[Word]) -> Option<RowEffect> {
    let tables = rows(name)?;
    let (name, node) = tables.programs.get_key_value(name)?;
    Some(evaluation::evaluate(tables, name, node, arguments))
}

/// Returns whether a program has rows for subcommands.
pub(crate) fn has_subcommands(name: &str) -> bool {
    rows(name)
        .and_then(|tables| tables.programs.get(name))
        .is_some_and(|node| !node.subcommands.is_empty())
}

/// The rows of all files.
#[derive(Debug, Default)]
struct Tables {
    programs: HashMap<&'static str, Node>,
    rows: Vec<Row>,
}

/// A program or a subcommand.
#[derive(Debug, Default)]
struct Node {
    subcommands: HashMap<&'static str, Node>,
    /// Subcommands by their start, for those that are not listed by name: `describe-*`.
    families: Vec<(&'static str, Node)>,
    /// Indexes of the rows that apply to it; the first that knows all arguments counts.
    rows: Vec<usize>,
    /// The row of options that may precede a subcommand.
    prefix: Option<usize>,
}

/// A row.
#[derive(Debug)]
struct Row {
    kind: RowKind,
    /// Options are whole words with one dash or two.
    whole_words: bool,
    /// The options of this `[prefix]` row are also known after the subcommand.
    is_global: bool,
    arguments: ArgumentSet,
}

/// What a command does if all its arguments are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowKind {
    Reads,
    Project,
    /// It writes with any arguments.
    Writes,
    WritesOperands,
}

/// The arguments that are known.
#[derive(Debug, Default, PartialEq, Eq)]
struct ArgumentSet {
    /// All options and operands are.
    any: bool,
    /// `-5` is.
    number: bool,
    options: HashMap<&'static str, KnownOption>,
    /// Starts of options: `-W*`.
    starts: Vec<&'static str>,
    /// The first operand ends the options.
    leading: bool,
    /// At least one option of each list must be present.
    needs: Vec<Vec<&'static str>>,
    operands: KnownOperands,
    rest: Rest,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct KnownOption {
    value: OptionValue,
    /// The values that are known; `None` for all.
    values: Option<Vec<&'static str>>,
    writes: OptionWrites,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum OptionValue {
    #[default]
    None,
    /// Joined to the option or the next word.
    Required,
    /// Only joined.
    Optional,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum OptionWrites {
    #[default]
    Nothing,
    /// Where the program decides.
    Somewhere,
    Operands,
    /// The file that is its value.
    Value,
    /// The file that is its value, unless that is `-`.
    ValueUnlessDash,
}

#[derive(Debug, PartialEq, Eq)]
struct KnownOperands {
    min: usize,
    max: usize,
    /// The operands that are known (`+*`, `*:test`: all that start or end so); `None` for all.
    values: Option<Vec<&'static str>>,
    /// No operand contains one of these.
    without: Vec<&'static str>,
}

impl Default for KnownOperands {
    fn default() -> Self {
        Self {
            min: 0,
            max: usize::MAX,
            values: None,
            without: Vec::new(),
        }
    }
}

/// The words after `--`.
#[derive(Debug, Default, PartialEq, Eq)]
enum Rest {
    /// Operands.
    #[default]
    Operands,
    /// Anything is known.
    Any,
    /// Options and operands as before `--`.
    Options,
    /// Arguments of another program.
    Arguments(Box<ArgumentSet>),
}

#[cfg(test)]
mod tests;
