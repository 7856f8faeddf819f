//! A command with all that it started, as one thing that can be ended.
//!
//! Owns what differs between systems. On Unix it is a process group: what a command starts belongs
//! to it, except a process that leaves on purpose (`setsid`, `setpgid`), as a daemon does that is
//! meant to stay. On Windows it is the tree of processes as `taskkill` sees it.

use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// How long those who are asked to end have before they are ended.
pub(super) const GRACE: Duration = Duration::from_secs(2);
/// How long the dead may take to be gone: one that hangs in the kernel is not waited for.
const BURIAL: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(5);

/// The processes of one command.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessGroup(system::Id);

impl ProcessGroup {
    /// Makes the command the first of a group of its own.
    pub(super) fn prepare(command: &mut Command) {
        system::prepare(command);
    }

    /// The group of a child that was prepared.
    pub(super) fn of(child: &Child) -> Option<Self> {
        Self::numbered(child.id())
    }

    /// The group under a number that [`Self::number`] gave, perhaps in another process.
    pub(super) fn numbered(number: u32) -> Option<Self> {
        system::id(number).map(Self)
    }

    /// Under what number the system knows it.
    pub(super) fn number(self) -> u32 {
        system::number(self.0)
    }

    /// Ends everything in the group: first it is asked, then it is killed.
    pub(super) fn end(self, mut first: Option<&mut Child>) {
        system::ask_to_end(self.0);
        if !self.is_gone_within(GRACE, first.as_deref_mut()) {
            system::kill(self.0, first.as_deref_mut());
            self.is_gone_within(BURIAL, first);
        }
    }

    /// Ends what a command left behind that has ended and was waited for.
    pub(super) fn end_what_is_left(self) {
        // A number that no process has and no group is not used again while a group has it, and the
        // moment between this look and the signal is too short for it to come round.
        if system::has_members(self.0) {
            self.end(None);
        }
    }

    fn is_gone_within(self, time: Duration, mut first: Option<&mut Child>) -> bool {
        let end = Instant::now() + time;
        loop {
            let first_has_ended = match first.as_deref_mut() {
                Some(child) => !matches!(child.try_wait(), Ok(None)),
                None => true,
            };
            // Looked at only then: to look is to wait for what ended, and the child's status is its own.
            if first_has_ended && !system::has_members(self.0) {
                return true;
            }
            if Instant::now() >= end {
                return false;
            }
            thread::sleep(PAUSE);
        }
    }
}

/// The signal that ended a process.
pub(super) fn signal(status: ExitStatus) -> Option<i32> {
    system::signal(status)
}

/// How people call a signal.
pub(super) fn signal_name(signal: i32) -> String {
    system::signal_name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned)
}

#[cfg(unix)]
mod system {
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::{Child, Command, ExitStatus};

    use rustix::process::{
        Pid, Signal, WaitOptions, kill_process_group, test_kill_process_group, waitpgid,
    };

    pub(super) type Id = Pid;

    pub(super) fn prepare(command: &mut Command) {
        command.process_group(0);
    }

    pub(super) fn id(number: u32) -> Option<Id> {
        // 1 would be everybody.
        let number = i32::try_from(number).ok().filter(|&number| number > 1);
        number.and_then(Pid::from_raw)
    }

    pub(super) fn number(id: Id) -> u32 {
        id.as_raw_nonzero().get().unsigned_abs()
    }

    /// Whoever is stopped hears of it only when going on. That all are gone already is no mistake.
    pub(super) fn ask_to_end(id: Id) {
        let _ = kill_process_group(id, Signal::TERM);
        let _ = kill_process_group(id, Signal::CONT);
    }

    pub(super) fn kill(id: Id, _first: Option<&mut Child>) {
        let _ = kill_process_group(id, Signal::KILL);
    }

    /// Also waits for those that have ended and were left to us, who would count as there for ever.
    pub(super) fn has_members(id: Id) -> bool {
        while let Ok(Some(_)) = waitpgid(id, WaitOptions::NOHANG) {}
        test_kill_process_group(id).is_ok()
    }

    pub(super) fn signal(status: ExitStatus) -> Option<i32> {
        status.signal()
    }

    pub(super) fn signal_name(signal: i32) -> Option<&'static str> {
        const NAMES: [(Signal, &str); 17] = [
            (Signal::HUP, "SIGHUP"),
            (Signal::INT, "SIGINT"),
            (Signal::QUIT, "SIGQUIT"),
            (Signal::ILL, "SIGILL"),
            (Signal::TRAP, "SIGTRAP"),
            (Signal::ABORT, "SIGABRT"),
            (Signal::BUS, "SIGBUS"),
            (Signal::FPE, "SIGFPE"),
            (Signal::KILL, "SIGKILL"),
            (Signal::USR1, "SIGUSR1"),
            (Signal::SEGV, "SIGSEGV"),
            (Signal::USR2, "SIGUSR2"),
            (Signal::PIPE, "SIGPIPE"),
            (Signal::ALARM, "SIGALRM"),
            (Signal::TERM, "SIGTERM"),
            (Signal::XCPU, "SIGXCPU"),
            (Signal::XFSZ, "SIGXFSZ"),
        ];
        let mut names = NAMES.iter();
        let found = names.find(|(known, _)| known.as_raw() == signal);
        found.map(|&(_, name)| name)
    }
}

#[cfg(windows)]
mod system {
    use std::process::{Child, Command, ExitStatus, Stdio};

    pub(super) type Id = u32;

    pub(super) fn prepare(_command: &mut Command) {}

    pub(super) fn id(number: u32) -> Option<Id> {
        Some(number)
    }

    pub(super) fn number(id: Id) -> u32 {
        id
    }

    /// Nothing asks the programs of a console: the tree is ended, while its root is there to find it by.
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

    pub(super) fn signal(_status: ExitStatus) -> Option<i32> {
        None
    }

    pub(super) fn signal_name(_signal: i32) -> Option<&'static str> {
        None
    }
}
