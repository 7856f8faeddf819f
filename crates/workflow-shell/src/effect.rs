//! Effects of simple commands.

use std::fmt;

use crate::file_write::FileWrite;
use crate::visible::displayed;

/// The effect of a simple command, as far as its text shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Effect {
    /// It reads: the program and each of its options, variables and descriptors are known to change nothing.
    #[default]
    Reads,
    /// It runs code of the project that is expected to write build outputs only: tests, builds, linters that do not fix.
    RunsProjectCode,
    /// It writes these files. A write without a path goes where the program decides.
    Writes(Vec<FileWrite>),
    /// It is not known.
    Unknown(Unknown),
}

/// The part of a line that makes an effect unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// The word of the line, for display: short, without control characters. "--frobnicate", "`GIT_TRACE`", "mytool".
    pub word: String,
    /// The reason.
    pub reason: UnknownReason,
}

/// The reason why an effect is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownReason {
    /// The line as a whole cannot be analyzed; the word says why.
    Line,
    /// No table lists the program.
    Program,
    /// The program is not known to only read with this option.
    Option,
    /// The program is not known to only read with this subcommand, value or operand.
    Argument,
    /// Without this, the program is not known to only read.
    Missing,
    /// The variable may change what programs do.
    Variable,
    /// Only the running shell knows what the word is.
    Expansion,
    /// The word is code that is not analyzed.
    Code,
    /// The program runs code that is not in the line.
    HiddenCode,
    /// The program executes its input.
    Input,
    /// The redirection opens or writes a descriptor that programs may execute or reopen.
    Descriptor,
}

impl Effect {
    /// Returns whether it certainly changes nothing, or build outputs only.
    pub fn is_harmless(&self) -> bool {
        matches!(self, Self::Reads | Self::RunsProjectCode)
    }

    /// Creates an unknown effect.
    pub(crate) fn unknown(word: &str, reason: UnknownReason) -> Self {
        Self::Unknown(Unknown::new(word, reason))
    }

    /// Combines the effects of two commands that both run: the worse one counts, and writes are collected.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (unknown @ Self::Unknown(_), _) | (_, unknown @ Self::Unknown(_)) => unknown,
            (Self::Writes(mut all), Self::Writes(more)) => {
                all.extend(more);
                Self::Writes(all)
            }
            (writes @ Self::Writes(_), _) | (_, writes @ Self::Writes(_)) => writes,
            (Self::RunsProjectCode, _) | (_, Self::RunsProjectCode) => Self::RunsProjectCode,
            (Self::Reads, Self::Reads) => Self::Reads,
        }
    }
}

impl Unknown {
    /// Creates one; the word is made fit for display.
    pub(crate) fn new(word: &str, reason: UnknownReason) -> Self {
        Self {
            word: displayed(word),
            reason,
        }
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `%` is the word.
        let text = match self.reason {
            UnknownReason::Line => "the line cannot be analyzed: %",
            UnknownReason::Program => "`%` is not a program that is known to only read",
            UnknownReason::Option => "`%` is not an option that is known to only read",
            UnknownReason::Argument => "with `%`, it is not known to only read",
            UnknownReason::Missing => "without `%`, it is not known to only read",
            UnknownReason::Variable => "the variable `%` may change what programs do",
            UnknownReason::Expansion => "only the shell knows what `%` is",
            UnknownReason::Code => "code in the line for `%` is not analyzed",
            UnknownReason::HiddenCode => "`%` runs code that is not in the line",
            UnknownReason::Input => "`%` may execute its input",
            UnknownReason::Descriptor => {
                "`%` opens or writes a descriptor that a program may execute or reopen"
            }
        };
        to.write_str(&text.replace('%', &self.word))
    }
}

impl std::error::Error for Unknown {}
