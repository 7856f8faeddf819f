//! Gates: the checks of a phase, run in a supervisor process.
//!
//! A gate runs in a separate process, the *supervisor*: this binary, started as `run-gate`. [`start`] sends it a
//! [`Job`] and forwards its reports. The sidecar keeps the write end of the supervisor's standard input open; when
//! that end closes, even because the sidecar was killed, the supervisor ends everything that runs. All cost of a check
//! (output, hashes, threads) is in that process; while no gate runs there is neither a process nor a thread.
//!
//! ```text
//! start(job) ── thread ── supervisor (own session, no terminal)
//!    │            ▲ reports, one per line     └── a command (own process group) and the processes it starts
//!    └ Running ───┴ standard input: closing it cancels the gate
//! ```
//!
//! The kinds of checks:
//!
//! - A command runs without a shell, unless it is a line for the shell, and has no input. Its process group is ended
//!   (terminated, after two seconds killed) at its time limit, when the gate is cancelled, when the sidecar dies, and
//!   when the command has exited and left processes behind. On Linux this includes processes that have left the
//!   group (`setsid`, as a daemon does): they become children of the supervisor.
//! - Tests are run like a command, and its output is read; `test_check/` compares them with those at the start of the run, in
//!   a temporary tree.
//! - A file is read, and compared with the [`Baseline`] recorded when the phase was entered.
//! - The repository is examined with git, see `git_check.rs`.
//!
//! A command can stop its supervisor. The sidecar has a second clock for this, see `runner.rs`; if the sidecar is
//! killed, the system continues the supervisor (Linux).
//!
//! Not ended are a command if its supervisor and the sidecar are both killed by SIGKILL at the same moment, and a process
//! that has left its group if a command kills the supervisor.
//!
//! Must not know of sessions and runs, nor decide if a project's commands may run: see
//! `platform::answers::trust_store`.

mod baseline;
mod check;
mod command_check;
mod git_check;
mod host_command;
mod job;
mod no_test;
mod report;
mod runner;
mod supervisor;
mod test_check;

#[cfg(all(test, unix))]
pub(super) use check::check;
pub use workflow_core::policy::gate_report::{CheckError, CheckVerdict, Report};

pub use baseline::Baseline;
pub(crate) use baseline::start_files;
pub(crate) use host_command::{HostAnswer, host_command, judge_answer};
pub use job::Job;
pub(crate) use no_test::no_test_ran;
pub(crate) use report::check_name;
pub use runner::{GateEvent, Running, start, this_binary};
pub(crate) use supervisor::supervise;
