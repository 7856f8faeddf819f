//! The descendants of a process: also those that have left its process group.
//!
//! A process that outlives its parent becomes a child of the nearest ancestor that is a *subreaper*, so a supervisor
//! that is one can find everything that its commands have started. Known on Linux only; elsewhere there are none.

use std::time::Duration;

pub(crate) use self::system::{end_descendants, is_stopped, kill_tree};

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
    use crate::platform::process::GRACE;

    /// Ends all descendants of this process, and reaps them. Must be called while no child of it is waited for.
    pub(crate) fn end_descendants() {
        let this = getpid().as_raw_nonzero().get().unsigned_abs();
        let mut asked = BTreeSet::new();
        until_gone(this, GRACE + KILL_TIME, |process, elapsed| {
            if elapsed > GRACE {
                send(process, Signal::KILL);
            } else if asked.insert(process) {
                send(process, Signal::TERM);
                // A stopped process gets the signal only when it continues.
                send(process, Signal::CONT);
            }
        });
        // No other code waits for the children here.
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
    }

    /// Kills a process and all its descendants, without asking. The caller must still have to wait for the process.
    pub(crate) fn kill_tree(root: u32) {
        // The descendants first: while their ancestor exists, what they leave behind becomes its child.
        until_gone(root, KILL_TIME, |process, _| send(process, Signal::KILL));
        send(root, Signal::KILL);
    }

    /// Signals what is left of the descendants of a process, until there are none or the time has passed.
    fn until_gone(root: u32, time: Duration, mut signal: impl FnMut(u32, Duration)) {
        let began = Instant::now();
        loop {
            let (left, elapsed) = (descendants(root), began.elapsed());
            if left.is_empty() || elapsed > time {
                return;
            }
            for process in left {
                signal(process, elapsed);
            }
            thread::sleep(PAUSE);
        }
    }

    /// Returns `true` if a process is stopped, as by `kill -STOP`.
    pub(crate) fn is_stopped(process: u32) -> bool {
        status(process).is_some_and(|(state, _)| matches!(state, 'T' | 't'))
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
            let number = process.file_name().to_str().and_then(|it| it.parse().ok());
            if let Some(number) = number
                && let Some((state, parent)) = status(number)
            {
                children.entry(parent).or_default().push((number, state));
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

    /// Reads the state of a process and its parent; `None` if there is none with this number.
    fn status(process: u32) -> Option<(char, u32)> {
        let text = std::fs::read(format!("/proc/{process}/stat")).ok()?;
        let text = String::from_utf8_lossy(&text);
        // The name of the program, which may contain anything, is in parentheses.
        let mut fields = text.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?.chars().next()?;
        Some((state, fields.next()?.parse().ok()?))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(crate) fn end_descendants() {}

    pub(crate) fn kill_tree(root: u32) {
        if let Some(group) = super::super::ProcessGroup::numbered(root) {
            group.kill(None);
        }
    }

    pub(crate) fn is_stopped(_process: u32) -> bool {
        false
    }
}
