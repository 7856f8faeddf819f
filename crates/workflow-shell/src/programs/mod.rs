//! Files that programs write.
//!
//! Most programs have rows in a table, one file a group: `files`, `archives`, `outputs`, `editors`, `formatters`, `system`,
//! `packages` and `git`. `write_rules` defines the rows and their evaluation. `special` and `interpreters` have the
//! programs that need code.
//!
//! A program without a row counts as reading: the line does not say what a project's own programs and
//! scripts do. Compilers, build tools and test runners have no rows for their own output directories.

mod archives;
pub(crate) mod arguments;
mod editors;
mod files;
mod formatters;
pub(crate) mod git;
pub(crate) mod interpreters;
mod names;
mod outputs;
pub(crate) mod packages;
mod sed_awk;
pub(crate) mod special;
mod system;
#[expect(dead_code, reason = "the evaluation of commands does not call it yet")]
mod table;
mod write_rules;

pub(crate) use names::known_name;
use write_rules::ProgramRow;

/// Returns the rows of a program, by its name without directory.
pub(crate) fn rows(name: &str) -> impl Iterator<Item = &'static ProgramRow> {
    [
        files::FILES,
        archives::ARCHIVES,
        outputs::OUTPUTS,
        editors::EDITORS,
        formatters::FORMATTERS,
        system::SYSTEM,
        packages::PACKAGES,
    ]
    .into_iter()
    .flatten()
    .chain([&git::GIT])
    .filter(move |row| row.names.contains(&name))
}

/// Returns whether a name is that of a tool that projects install: `yarn prettier` runs it.
pub(crate) fn is_project_tool(name: &str) -> bool {
    [outputs::OUTPUTS, formatters::FORMATTERS, system::SYSTEM]
        .into_iter()
        .flatten()
        .any(|row| row.names.contains(&name))
}

/// Returns whether a program formats or repairs all files of the directories that are its arguments.
pub(crate) fn is_formatter(name: &str) -> bool {
    formatters::FORMATTERS
        .iter()
        .any(|row| row.names.contains(&name))
}
