//! Results of an analysis.

use crate::command::SimpleCommand;
use crate::effect::{Effect, Unknown, UnknownReason};
use crate::file_access::FileAccess;
use crate::file_write::FileWrite;

/// The effects of a line, as far as its text shows.
#[must_use]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Each simple command that runs or may run, in order of appearance. Commands in substitutions
    /// and behind wrappers are included; a wrapper comes before the command it runs.
    pub commands: Vec<SimpleCommand>,
    /// The files that redirections write.
    pub redirections: Vec<FileWrite>,
    /// The reason why the line as a whole cannot be analyzed; its effect is unknown.
    pub unreadable: Option<Unreadable>,
    /// The paths that are accessed in any way, written ones included.
    pub file_accesses: Vec<FileAccess>,
}

/// The reason why it cannot be determined whether a line writes. The texts contain no control characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The line is longer than any line that is written by hand.
    #[error("it is longer than {} bytes", crate::MAX_LINE_BYTES)]
    TooLong,
    /// A syntax error, or syntax that the parser does not know.
    #[error("it cannot be parsed: {0}")]
    Syntax(String),
    /// A part of the line that belongs to no command is unknown.
    #[error("{0}")]
    Part(Unknown),
    /// The analysis takes more steps than a line of its length may.
    #[error("it is too tangled")]
    TooComplex,
    /// Commands run commands that run commands, too often.
    #[error("commands are nested too deeply")]
    TooDeep,
}

impl Analysis {
    /// The analysis of a line of which nothing is known.
    pub fn unreadable(reason: Unreadable) -> Self {
        Self {
            unreadable: Some(reason),
            ..Self::default()
        }
    }

    /// Returns the effect of the whole line: the worst of its commands and redirections, with all writes.
    pub fn effect(&self) -> Effect {
        match &self.unreadable {
            Some(Unreadable::Part(unknown)) => return Effect::Unknown(unknown.clone()),
            Some(reason) => return Effect::unknown(&reason.to_string(), UnknownReason::Line),
            None => {}
        }
        let redirections = match &*self.redirections {
            [] => Effect::Reads,
            writes => Effect::Writes(writes.to_vec()),
        };
        let commands = self.commands.iter().map(|command| command.effect.clone());
        commands.fold(redirections, Effect::and)
    }

    /// Combines the analyses of two lines that both run.
    pub fn and(mut self, other: Self) -> Self {
        self.commands.extend(other.commands);
        self.redirections.extend(other.redirections);
        self.unreadable = self.unreadable.or(other.unreadable);
        self.file_accesses.extend(other.file_accesses);
        self
    }
}
