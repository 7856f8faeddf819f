//! How a command ends: the exit codes, in one place.

use std::process::ExitCode;

use crate::run_condition::RunCondition;

/// The table, as the help shows it.
pub(super) const TABLE: &str = "\
Exit codes:
  0            all is well
  1            something was found: an error in a definition, a difference, an expectation not met
  2            nothing could be done: a wrong command line, a file that cannot be read
  3            a run waits for a person
  4            a run stands still at a limit
  130 141 143  ended by SIGINT, by whoever read the output and wanted no more, by SIGTERM";

/// How a command ended that could do what it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All is well.
    Well,
    /// There are findings or differences.
    Findings,
    /// A run waits for a person.
    Waits,
    /// A run stands still at a limit.
    Limit,
}

/// Nothing could be done.
pub(super) const FAILED: u8 = 2;

/// Nobody reads the output: as a shell sees a program that SIGPIPE ended.
pub(super) const UNREAD: u8 = 141;

impl From<RunCondition> for Outcome {
    fn from(rest: RunCondition) -> Self {
        match rest {
            RunCondition::Fine => Self::Well,
            RunCondition::Waits => Self::Waits,
            RunCondition::Limit => Self::Limit,
        }
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Well => 0,
            Outcome::Findings => 1,
            Outcome::Waits => 3,
            Outcome::Limit => 4,
        })
    }
}
