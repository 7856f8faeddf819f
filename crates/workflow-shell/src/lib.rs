#![doc = include_str!("../README.md")]

mod analysis;
mod braces;
mod command;
mod effect;
mod evaluate;
mod file_access;
mod file_write;
mod parse;
mod pattern;
mod programs;
pub mod visible;
mod word;

pub use analysis::{Analysis, Unreadable};
pub use braces::expand_braces;
pub use command::SimpleCommand;
pub use effect::{Effect, Unknown, UnknownReason};
pub use file_access::{AccessKind, FileAccess};
pub use file_write::FileWrite;
pub use pattern::{matches, matches_exactly, takes_options_before_subcommand};
pub use programs::is_known_location;
pub use word::Word;

/// The longest line that is analyzed, in bytes.
pub const MAX_LINE_BYTES: usize = 256 * 1024;

/// Analyzes a line.
pub fn analyze(line: &str) -> Analysis {
    analyze_in("", line)
}

/// Analyzes a line that starts in `directory`. Paths are relative to the directory to which
/// `directory` itself is relative.
pub fn analyze_in(directory: &str, line: &str) -> Analysis {
    if line.len() > MAX_LINE_BYTES {
        return Analysis::unreadable(Unreadable::TooLong);
    }
    let mut analysis = evaluate::evaluate(directory, line);
    let mut paths = analysis.file_accesses.iter().map(|access| &access.path);
    if let Some(path) = paths.find(|path| programs::is_inside_process(path)) {
        let unknown = Unknown::new(path, UnknownReason::Argument);
        analysis.unreadable.get_or_insert(Unreadable::Part(unknown));
    }
    analysis
}
