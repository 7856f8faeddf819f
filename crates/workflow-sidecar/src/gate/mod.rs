//! Runs the checks of a phase's gate.
//!
//! A gate runs in a process of its own, a *keeper*: this binary once more, as `run-gate`. [`start`]
//! sends it a [`Job`] and tells of what it reports. The sidecar holds the other end of the keeper's
//! standard input; when that end goes, for whatever reason, even because the sidecar was killed, the
//! keeper ends what runs. Whatever a check costs (output, hashes, threads) is spent there and given
//! back; while no gate runs there is no process and no thread.
//!
//! ```text
//! start(job) ── thread ── keeper (own session, no terminal)
//!    │            ▲ reports, a line each      └── a command (own process group) and what it starts
//!    └ Running ───┴ standard input: its end is the end
//! ```
//!
//! What a check of each kind does:
//!
//! - a command is run without a shell, unless it is a line for the shell, with nothing to read. Its
//!   process group is ended (asked, after two seconds killed) when its time is over, when the gate is
//!   called off, when the sidecar dies, and when it has ended itself and left others behind.
//! - a file is looked at, and compared with the [`Baseline`] of when the phase was entered;
//! - the repository is asked through git, see `git.rs`.
//!
//! Not ended is a process that left its group on purpose (`setsid`, as a daemon does), and a command
//! whose keeper and sidecar are both killed by SIGKILL at the same moment.
//!
//! Beside that `code.rs` asks git to keep the code, and to bring it back: a person's errand, not a check.
//!
//! Must not know of sessions and runs, nor decide whether a project's commands may run: see
//! [`crate::trust`]. Only what git would run by itself is looked up here, in `drivers.rs`.

mod baseline;
mod check;
mod code;
mod command;
mod drivers;
mod git;
mod keeper;
mod name;
mod output;
mod process_group;
mod program;
mod runner;
#[cfg(test)]
#[cfg(unix)]
mod tests;
mod watch;

pub use baseline::{Baseline, FileState};
pub use check::Job;
pub use code::keep_code;
pub(crate) use code::restoring::{OnTheWayBack, start_restore};
pub(crate) use drivers::drivers;
pub use git::Head;
pub(crate) use keeper::keep;
pub use name::{could_not_run, what};
pub use runner::{Event, Keeper, Progress, Running, start};
pub use workflow_core::policy::gate::{GateVerdict as Verdict, Obstacle, Report};
