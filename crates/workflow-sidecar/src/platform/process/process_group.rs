//! A command together with all processes that it started.
//!
//! Owns the differences between systems. On Unix this is a process group: it includes every process that the
//! command starts, except one that leaves the group on purpose (`setsid`, `setpgid`), as a daemon does. On Windows
//! it is the process tree as `taskkill` sees it.

use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// Time between asking processes to end and killing them.
pub(crate) const GRACE: Duration = Duration::from_secs(2);
/// Time for killed processes to disappear; one that hangs in the kernel is not waited for.
const REAP_TIME: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(5);

/// The processes of one command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessGroup(system::Id);

impl ProcessGroup {
    /// Makes the command the leader of a new group.
    pub(super) fn prepare(command: &mut Command) {
        system::prepare(command);
    }

    /// Returns the group of a child that was prepared.
    pub(super) fn of(child: &Child) -> Option<Self> {
        Self::numbered(child.id())
    }

    /// Returns the group with a number from [`Self::number`], also from another process.
    pub(crate) fn numbered(number: u32) -> Option<Self> {
        system::id(number).map(Self)
    }

    /// Returns the system's number of the group.
    pub(crate) fn number(self) -> u32 {
        system::number(self.0)
    }

    /// Ends all processes of the group: asks them first, then kills them.
    pub(crate) fn end(self, mut leader: Option<&mut Child>) {
        system::ask_to_end(self.0);
        if !self.is_gone_within(GRACE, leader.as_deref_mut()) {
            system::kill(self.0, leader.as_deref_mut());
            self.is_gone_within(REAP_TIME, leader);
        }
    }

    /// Ends the remaining processes of a command that has ended and was waited for.
    pub(super) fn end_remaining(self) {
        // A group's number is not reused while the group has members, and the time between this look and the
        // signal is too short for all numbers to be used once.
        if system::has_members(self.0) {
            self.end(None);
        }
    }

    fn is_gone_within(self, time: Duration, mut leader: Option<&mut Child>) -> bool {
        let end = Instant::now() + time;
        loop {
            let leader_has_ended = match leader.as_deref_mut() {
                Some(child) => !matches!(child.try_wait(), Ok(None)),
                None => true,
            };
            // Checked only now: the check reaps ended processes, and must not take the leader's status.
            if leader_has_ended && !system::has_members(self.0) {
                return true;
            }
            if Instant::now() >= end {
                return false;
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Returns the signal that ended a process.
#[cfg(unix)]
pub(crate) fn signal(status: &ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(status)
}

#[cfg(windows)]
pub(crate) fn signal(_status: &ExitStatus) -> Option<i32> {
    None
}

/// Returns the name of a signal.
pub(crate) fn signal_name(signal: i32) -> String {
    #[cfg(unix)]
    if let Some(name) = signal_hook::low_level::signal_name(signal) {
        return name.to_owned();
    }
    format!("signal {signal}")
}

#[cfg(unix)]
mod system {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use rustix::process::{
        Pid, Signal, WaitOptions, kill_process_group, test_kill_process_group, waitpgid,
    };

    pub(super) type Id = Pid;

    pub(super) fn prepare(command: &mut Command) {
        command.process_group(0);
    }

    pub(super) fn id(number: u32) -> Option<Id> {
        // 1 would mean all processes.
        let number = i32::try_from(number).ok().filter(|&number| number > 1);
        number.and_then(Pid::from_raw)
    }

    pub(super) fn number(id: Id) -> u32 {
        id.as_raw_nonzero().get().unsigned_abs()
    }

    /// Asks a group to end. A stopped process gets the signal only when it continues. A group without members is no
    /// error.
    pub(super) fn ask_to_end(id: Id) {
        let _ = kill_process_group(id, Signal::TERM);
        let _ = kill_process_group(id, Signal::CONT);
    }

    pub(super) fn kill(id: Id, _first: Option<&mut Child>) {
        let _ = kill_process_group(id, Signal::KILL);
    }

    /// Also reaps ended processes that were reparented to us, which would otherwise count as members for ever.
    pub(super) fn has_members(id: Id) -> bool {
        while let Ok(Some(_)) = waitpgid(id, WaitOptions::NOHANG) {}
        test_kill_process_group(id).is_ok()
    }
}

#[cfg(windows)]
mod system {
    use std::process::{Child, Command, Stdio};

    pub(super) type Id = u32;

    pub(super) fn prepare(_command: &mut Command) {}

    pub(super) fn id(number: u32) -> Option<Id> {
        Some(number)
    }

    pub(super) fn number(id: Id) -> u32 {
        id
    }

    /// Console programs have no signal to end them, so the tree is killed while its root still exists to find it by.
    pub(super) fn ask_to_end(id: Id) {
        let mut taskkill = Command::new("taskkill");
        taskkill.args(["/T", "/F", "/PID", &id.to_string()]);
        taskkill.stdin(Stdio::null());
        let _ = taskkill
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }

    pub(super) fn kill(_id: Id, first: Option<&mut Child>) {
        if let Some(child) = first {
            let _ = child.kill();
        }
    }

    pub(super) fn has_members(_id: Id) -> bool {
        false
    }
}
