//! A command together with all processes that it started.
//!
//! Owns the differences between systems. On Unix this is a process group: it includes every process that the
//! command starts, except one that leaves the group on purpose (`setsid`, `setpgid`), as a daemon does. On Windows
//! it is the process tree as `taskkill` sees it.

#[cfg(windows)]
use std::process::Stdio;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(unix)]
use rustix::process::{Signal, WaitOptions, kill_process_group, test_kill_process_group, waitpgid};

/// Time between asking processes to end and killing them.
pub(crate) const GRACE: Duration = Duration::from_secs(2);
/// Time for killed processes to disappear; one that hangs in the kernel is not waited for.
const REAP_TIME: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(5);

/// The processes of one command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessGroup(Id);

#[cfg(unix)]
type Id = rustix::process::Pid;
#[cfg(windows)]
type Id = u32;

impl ProcessGroup {
    /// Ends all processes of the group: asks them first, then kills them.
    pub(crate) fn end(self, mut leader: Option<&mut Child>) {
        self.ask_to_end();
        if !self.is_gone_within(GRACE, leader.as_deref_mut()) {
            self.kill(leader.as_deref_mut());
            self.is_gone_within(REAP_TIME, leader);
        }
    }

    /// Ends the remaining processes of a command that has ended and was waited for.
    pub(super) fn end_remaining(self) {
        // A group's number is not reused while the group has members, and the time between this look and the
        // signal is too short for all numbers to be used once.
        if self.has_members() {
            self.end(None);
        }
    }

    fn is_gone_within(self, time: Duration, mut leader: Option<&mut Child>) -> bool {
        let end = Instant::now() + time;
        loop {
            let has_ended = |child: &mut Child| !matches!(child.try_wait(), Ok(None));
            let leader_has_ended = leader.as_deref_mut().is_none_or(has_ended);
            // Checked only now: the check reaps ended processes, and must not take the leader's status.
            if leader_has_ended && !self.has_members() {
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
pub(crate) fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(windows)]
pub(crate) fn signal(_status: ExitStatus) -> Option<i32> {
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
impl ProcessGroup {
    /// Makes the command the leader of a new group.
    pub(super) fn prepare(command: &mut Command) {
        std::os::unix::process::CommandExt::process_group(command, 0);
    }

    /// Returns the group with the number of its leader, which was prepared, also from another process.
    pub(crate) fn numbered(number: u32) -> Option<Self> {
        // 1 would mean all processes.
        let number = i32::try_from(number).ok().filter(|&number| number > 1);
        number.and_then(Id::from_raw).map(Self)
    }

    /// Asks the group to end. A stopped process gets the signal only when it continues. A group without members is no
    /// error.
    fn ask_to_end(self) {
        let _ = kill_process_group(self.0, Signal::TERM);
        let _ = kill_process_group(self.0, Signal::CONT);
    }

    pub(super) fn kill(self, _leader: Option<&mut Child>) {
        let _ = kill_process_group(self.0, Signal::KILL);
    }

    /// Also reaps ended processes that were reparented to us, which would otherwise count as members for ever.
    fn has_members(self) -> bool {
        while let Ok(Some(_)) = waitpgid(self.0, WaitOptions::NOHANG) {}
        test_kill_process_group(self.0).is_ok()
    }
}

#[cfg(windows)]
impl ProcessGroup {
    pub(super) fn prepare(_command: &mut Command) {}

    pub(crate) fn numbered(number: u32) -> Option<Self> {
        Some(Self(number))
    }

    /// Console programs have no signal to end them, so the tree is killed while its root still exists to find it by.
    fn ask_to_end(self) {
        let mut taskkill = Command::new("taskkill");
        taskkill.args(["/T", "/F", "/PID", &self.0.to_string()]);
        taskkill.stdin(Stdio::null());
        let _ = taskkill
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }

    pub(super) fn kill(self, leader: Option<&mut Child>) {
        match leader {
            Some(child) => drop(child.kill()),
            None => self.ask_to_end(),
        }
    }

    fn has_members(self) -> bool {
        false
    }
}
