//! Child processes: started with bounds on time and output, and ended with everything that they started.
//!
//! Must not know what a command is for.

mod command;
mod descendants;
mod output;
mod process_group;
mod program;
mod program_version;
mod running_program;

pub(crate) use workflow_core::policy::gate_report::CheckError;

pub(crate) use command::{CANCELLED, CommandLine, End, Finished, Invocation, Monitor, run};
pub(crate) use descendants::{end_descendants, is_stopped, kill_tree};
pub(crate) use output::{one_line, shown_end};
pub(crate) use process_group::{GRACE, ProcessGroup, signal, signal_name};
pub(crate) use program::{missing_program, on_path, path_directories};
pub(crate) use program_version::{ProgramVersion, VERSION_TIMEOUT, version_in};
pub(crate) use running_program::{ProgramLine, RunningProgram, wait_until};

/// Closes this process to the user's other processes, where the system can: they read neither its memory nor its environment, and do
/// not open its pipes. Programs that it starts are as usual.
pub(crate) fn close_to_other_processes() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // The system knows this since Linux 2.3.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// The kind of a failure, and the reason as people read it.
pub(crate) type Failure = (CheckError, String);

/// The failure with a reason that nothing else tells apart.
pub(crate) fn failed(reason: impl Into<String>) -> Failure {
    (CheckError::Start, reason.into())
}
