//! The ancestry of a process that gives an answer: a person's terminal, or the agent.
//!
//! An agent can start any program in any terminal, but it cannot change where a process comes from: its parents, the
//! session of its terminal, and the time at which they began. A terminal that was open before the host started is the
//! person's, unless a program like tmux serves it, which the agent can command as well. A descendant of the host is not.
//! Everything else is unclear, and needs a code that only the person is shown.
//!
//! [`judge`] decides over a [`ProcessTable`]. Where the system does not show processes, everything is unclear.

use serde::{Deserialize, Serialize};

/// The number of ancestors that are followed.
const MAX_DEPTH: usize = 64;
/// Programs that serve terminals, and do so for any process of the user: beginnings of the names of their processes.
const TERMINAL_SERVERS: [&str; 8] = [
    "tmux", "screen", "zellij", "dtach", "abduco", "emacs", "nvim", "wezterm",
];
/// Names of shells, which start hosts but are none.
const SHELLS: [&str; 9] = [
    "bash", "dash", "elvish", "fish", "ksh", "nu", "sh", "tcsh", "zsh",
];

/// A process at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    /// The time of its start, in the system's units since its boot.
    pub(crate) started: u64,
    /// The session: the id of its leader.
    pub(crate) session: u32,
    /// The controlling terminal; 0 if it has none.
    pub(crate) terminal: u64,
    /// The name of the program.
    pub(crate) name: String,
    /// The control group, if the system has them.
    pub(crate) cgroup: String,
}

/// The processes of the system.
pub(crate) trait ProcessTable {
    /// Reads a process; `None` if it does not exist or is not shown.
    fn process(&self, pid: u32) -> Option<Process>;
}

/// A process, also after its number was given to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessId {
    pub(crate) pid: u32,
    pub(crate) started: u64,
}

impl ProcessId {
    /// Returns true if the process still runs, and not another one with its number.
    pub(crate) fn is_running(&self) -> bool {
        let running = SystemProcesses.process(self.pid);
        running.is_some_and(|running| running.started == self.started)
    }
}

/// The host and its sidecar, as they were when the sidecar started.
#[derive(Debug, Clone)]
pub(crate) struct HostOrigin {
    host: Process,
    sidecar: Process,
    /// The start of the oldest process of the host's job: the host itself, or a program around it.
    since: u64,
}

/// A judgement about the process that gives an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ProcessJudgement {
    /// It runs in a terminal of the person.
    Person,
    /// It may be the person's, or the agent's: the reason.
    Unclear(String),
    /// It is the agent's: the reason.
    Agent(String),
}

impl Process {
    fn id(&self) -> ProcessId {
        ProcessId {
            pid: self.pid,
            started: self.started,
        }
    }

    fn is_named(&self, names: &[&str], fits: impl Fn(&str, &str) -> bool) -> bool {
        let name = self.name.trim_start_matches('-').to_lowercase();
        names.iter().any(|known| fits(&name, known))
    }
}

impl HostOrigin {
    /// Finds the host of a sidecar: the parent that started it. `None` if it is not shown, or gone.
    pub(crate) fn of(sidecar: u32, table: &impl ProcessTable) -> Option<Self> {
        let sidecar = table.process(sidecar)?;
        let host = table.process(sidecar.parent)?;
        // The first process adopts those that lost their parent.
        if host.pid == 1 && host.session != sidecar.session {
            return None;
        }
        Some(Self {
            sidecar,
            ..Self::of_host(host, table)
        })
    }

    /// Describes a host without its sidecar.
    pub(crate) fn of_host(host: Process, table: &impl ProcessTable) -> Self {
        let mut since = host.started;
        for outer in ancestors(host.parent, host.started, table) {
            let is_shell = || outer.is_named(&SHELLS, |name, shell| name == shell);
            if outer.session != host.session || outer.pid == outer.session && is_shell() {
                break;
            }
            since = outer.started;
        }
        Self {
            sidecar: host.clone(),
            host,
            since,
        }
    }

    /// Returns the host.
    pub(crate) fn host(&self) -> ProcessId {
        self.host.id()
    }
}

/// Returns a process and its ancestors, up to the first one that is not shown or did not start before its child.
fn ancestors(
    pid: u32,
    mut child_started: u64,
    table: &impl ProcessTable,
) -> impl Iterator<Item = Process> {
    let mut next = pid;
    let following = std::iter::from_fn(move || {
        let process = table.process(next).filter(|_| next != 0)?;
        if process.started > child_started {
            return None;
        }
        next = process.parent;
        child_started = process.started;
        Some(process)
    });
    following.take(MAX_DEPTH)
}

/// Judges a process that gives an answer. `origin` is `None` if the host is not known.
pub(crate) fn judge(
    peer: u32,
    origin: Option<&HostOrigin>,
    table: &impl ProcessTable,
) -> ProcessJudgement {
    let unclear = |reason: &str| ProcessJudgement::Unclear(reason.to_owned());
    let agent = |reason: &str| ProcessJudgement::Agent(reason.to_owned());
    let Some(origin) = origin else {
        return unclear("it is not known which process is the agent's");
    };
    let Some(process) = table.process(peer) else {
        return unclear("it is not known which process answers");
    };
    let HostOrigin {
        host,
        sidecar,
        since,
    } = origin;
    let chain: Vec<Process> = ancestors(peer, u64::MAX, table).collect();
    let is_host = |process: &Process| [host.id(), sidecar.id()].contains(&process.id());
    // A job that lost its parent is still in the host's session.
    let is_host_job =
        |process: &Process| process.session == host.session && process.started >= host.started;
    if chain
        .iter()
        .any(|process| is_host(process) || is_host_job(process))
    {
        return agent("this terminal was started by the agent");
    }
    let is_hosts_terminal = |of: &Process| of.terminal != 0 && of.terminal == process.terminal;
    if [host, sidecar]
        .into_iter()
        .any(|of| of.session == process.session || is_hosts_terminal(of))
    {
        return agent("this is the terminal in which the agent runs");
    }
    let inside = process.cgroup.strip_prefix(&host.cgroup);
    if host.cgroup.len() > 1 && inside.is_some_and(|inside| inside.starts_with('/')) {
        return agent("this process belongs to a group of the agent's processes");
    }
    if process.terminal == 0 {
        return unclear("it has no terminal");
    }
    let Some(leader) = chain.iter().position(|one| one.pid == process.session) else {
        return unclear("the program that opened this terminal has ended");
    };
    if chain[leader].started >= *since {
        return unclear("this terminal was opened after the agent was started");
    }
    let serves = |process: &&Process| {
        process.is_named(&TERMINAL_SERVERS, |name, known| name.starts_with(known))
    };
    if let Some(server) = chain[leader..].iter().find(serves) {
        let name = server
            .name
            .split(|c: char| !c.is_alphanumeric())
            .find(|name| !name.is_empty());
        let name = name.unwrap_or_default().to_lowercase();
        return unclear(&format!("the agent can type in a terminal of {name}, too"));
    }
    ProcessJudgement::Person
}

/// The processes of this system.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemProcesses;

impl ProcessTable for SystemProcesses {
    #[cfg(target_os = "linux")]
    fn process(&self, pid: u32) -> Option<Process> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // A process without control groups is compared without them.
        let cgroup = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        of_stat(&stat, &cgroup)
    }

    #[cfg(not(target_os = "linux"))]
    fn process(&self, _pid: u32) -> Option<Process> {
        None
    }
}

/// Reads the texts that Linux shows of a process.
#[cfg(target_os = "linux")]
fn of_stat(stat: &str, cgroup: &str) -> Option<Process> {
    // The name is in parentheses and may contain any character.
    let (pid, rest) = stat.split_once(" (")?;
    let (name, rest) = rest.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<i64>().ok();
    // A process that has ended but is not collected is gone.
    if matches!(*fields.first()?, "Z" | "X") {
        return None;
    }
    let unified = cgroup.lines().find_map(|line| line.strip_prefix("0::"));
    Some(Process {
        pid: pid.parse().ok()?,
        parent: number(1)?.try_into().ok()?,
        started: number(19)?.try_into().ok()?,
        session: number(3)?.try_into().ok()?,
        terminal: number(4)?.unsigned_abs(),
        name: name.to_owned(),
        cgroup: unified.unwrap_or_default().to_owned(),
    })
}

#[cfg(test)]
mod tests;
