//! The descendants of a process: also those that have left its process group.
//!
//! A process that outlives its parent becomes a child of the nearest ancestor that is a *subreaper*, so a supervisor
//! that is one can find everything that its commands have started. Known on Linux only; elsewhere there are none.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::GRACE;

/// Ends all descendants of this process, and reaps them. Must be called while no child of it is waited for.
pub(crate) fn end_descendants() {
    system::end_descendants(GRACE);
}

/// Kills a process and all its descendants, without asking. The caller must still have to wait for the process.
pub(crate) fn kill_tree(root: u32) {
    system::kill_tree(root);
}

/// Returns `true` if a process is stopped, as by `kill -STOP`.
pub(crate) fn is_stopped(process: u32) -> bool {
    system::is_stopped(process)
}

/// A process, also after its number was given to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessId {
    pub(crate) pid: u32,
    /// The time of its start, in the system's units since its boot.
    pub(crate) started: u64,
}

impl ProcessId {
    /// The process that has this number now; `None` if there is none, or it has ended, or the system does not show it.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let started = system::started(pid)?;
        Some(Self { pid, started })
    }

    pub(crate) fn is_running(self) -> bool {
        Self::of(self.pid) == Some(self)
    }
}

/// Time for killed processes to disappear.
const KILL_TIME: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(5);

#[cfg(target_os = "linux")]
mod system {
    use std::collections::{BTreeMap, BTreeSet};
    use std::thread;
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};

    use super::{KILL_TIME, PAUSE};

    pub(super) fn end_descendants(grace: Duration) {
        let this = getpid().as_raw_nonzero().get().unsigned_abs();
        let mut asked = BTreeSet::new();
        let (began, mut is_killing) = (Instant::now(), false);
        loop {
            reap();
            let left = descendants(this);
            if left.is_empty() || began.elapsed() > grace + KILL_TIME {
                return;
            }
            is_killing |= began.elapsed() > grace;
            for process in left {
                if is_killing {
                    send(process, Signal::KILL);
                } else if asked.insert(process) {
                    send(process, Signal::TERM);
                    // A stopped process gets the signal only when it continues.
                    send(process, Signal::CONT);
                }
            }
            thread::sleep(PAUSE);
        }
    }

    /// Kills the descendants first: while their ancestor exists, what they leave behind becomes its child.
    pub(super) fn kill_tree(root: u32) {
        let began = Instant::now();
        loop {
            let left = descendants(root);
            if left.is_empty() || began.elapsed() > KILL_TIME {
                break;
            }
            for process in left {
                send(process, Signal::KILL);
            }
            thread::sleep(PAUSE);
        }
        send(root, Signal::KILL);
    }

    pub(super) fn started(process: u32) -> Option<u64> {
        let status = Status::of(process)?;
        (!matches!(status.state, 'Z' | 'X')).then_some(status.started)
    }

    pub(super) fn is_stopped(process: u32) -> bool {
        Status::of(process).is_some_and(|status| matches!(status.state, 'T' | 't'))
    }

    /// No other code waits for the children here.
    fn reap() {
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
    }

    fn send(process: u32, signal: Signal) {
        let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // It may have ended meanwhile.
            let _ = kill_process(pid, signal);
        }
    }

    /// Returns the descendants of a process that have not ended.
    fn descendants(root: u32) -> Vec<u32> {
        let mut children: BTreeMap<u32, Vec<(u32, char)>> = BTreeMap::new();
        let Ok(processes) = std::fs::read_dir("/proc") else {
            return Vec::new();
        };
        for process in processes.flatten() {
            let number = process
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok());
            if let Some((number, status)) =
                number.and_then(|number| Some((number, Status::of(number)?)))
            {
                let siblings = children.entry(status.parent).or_default();
                siblings.push((number, status.state));
            }
        }
        let (mut found, mut open) = (Vec::new(), vec![root]);
        while let Some(parent) = open.pop() {
            for (child, state) in children.remove(&parent).unwrap_or_default() {
                open.push(child);
                if !matches!(state, 'Z' | 'X') {
                    found.push(child);
                }
            }
        }
        found
    }

    struct Status {
        state: char,
        parent: u32,
        started: u64,
    }

    impl Status {
        /// Reads the state of a process; `None` if there is none with this number.
        fn of(process: u32) -> Option<Self> {
            let text = std::fs::read(format!("/proc/{process}/stat")).ok()?;
            let text = String::from_utf8_lossy(&text);
            // The name of the program, which may contain anything, is in parentheses.
            let mut fields = text.rsplit_once(')')?.1.split_whitespace();
            Some(Self {
                state: fields.next()?.chars().next()?,
                parent: fields.next()?.parse().ok()?,
                started: fields.nth(17)?.parse().ok()?,
            })
        }
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
mod system {
    use std::time::Duration;

    use rustix::process::{Pid, Signal, kill_process};

    pub(super) fn end_descendants(_grace: Duration) {}

    pub(super) fn started(_process: u32) -> Option<u64> {
        None
    }

    pub(super) fn kill_tree(root: u32) {
        let pid = i32::try_from(root).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // It may have ended meanwhile.
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    pub(super) fn is_stopped(_process: u32) -> bool {
        false
    }
}

#[cfg(windows)]
mod system {
    use std::time::Duration;

    pub(super) fn end_descendants(_grace: Duration) {}

    pub(super) fn started(_process: u32) -> Option<u64> {
        None
    }

    pub(super) fn kill_tree(root: u32) {
        if let Some(group) = super::super::ProcessGroup::numbered(root) {
            group.end(None);
        }
    }

    pub(super) fn is_stopped(_process: u32) -> bool {
        false
    }
}
