//! Exit codes, which `cli/help.txt` lists.

use std::process::ExitCode;

use workflow_core::session::Needed;

/// The result of a command that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum CommandOutcome {
    /// Success.
    Success = 0,
    /// Problems or differences were found, or a run that was waited for cannot go on.
    Findings = 1,
    /// Nothing could be done, and standard error says why; or a hook blocks, and says why.
    Failed = FAILED,
    /// A run waits for the user.
    Waits = 3,
    /// A run is paused at a limit.
    Limit = 4,
}

/// A usage or I/O error.
pub(crate) const FAILED: u8 = 2;

/// The output pipe was closed: the code that a shell reports for a program ended by SIGPIPE.
pub(crate) const UNREAD: u8 = 141;

impl From<Needed> for CommandOutcome {
    fn from(needed: Needed) -> Self {
        match needed {
            Needed::Nothing => Self::Success,
            Needed::User => Self::Waits,
            Needed::Limit => Self::Limit,
        }
    }
}

impl From<CommandOutcome> for ExitCode {
    fn from(outcome: CommandOutcome) -> Self {
        Self::from(outcome as u8)
    }
}
