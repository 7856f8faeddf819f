//! Tables of processes and the judgements about them.

use super::*;

/// Processes as rows: pid, parent, start, session, terminal, name.
#[derive(Debug)]
struct Rows(Vec<Process>);

impl Rows {
    /// A machine with the person's terminal 100 in which a host 110 runs its sidecar 111, a second one that was open
    /// before (200), and whatever follows.
    fn with(more: &[(u32, u32, u64, u32, u64, &str)]) -> Self {
        let rows = [
            (1, 0, 1, 1, 0, "systemd"),
            (50, 1, 5, 50, 0, "sshd"),
            (60, 1, 6, 60, 0, "atd"),
            (100, 50, 10, 100, 7, "-bash"),
            (200, 50, 11, 200, 8, "zsh"),
            (110, 100, 20, 100, 7, "pi"),
            (111, 110, 21, 100, 7, "workflow-sideca"),
        ];
        let of =
            |&(pid, parent, started, session, terminal, name): &(u32, u32, u64, u32, u64, &str)| {
                Process {
                    pid,
                    parent,
                    started,
                    session,
                    terminal,
                    name: name.to_owned(),
                    cgroup: "/".to_owned(),
                }
            };
        Self(rows.iter().chain(more).map(of).collect())
    }

    fn judge(&self, peer: u32) -> ProcessJudgement {
        judge(peer, HostOrigin::of(111, self).as_ref(), self)
    }
}

impl ProcessTable for Rows {
    fn process(&self, pid: u32) -> Option<Process> {
        self.0.iter().find(|process| process.pid == pid).cloned()
    }
}

#[track_caller]
fn is_agent(judgement: &ProcessJudgement) {
    assert!(
        matches!(judgement, ProcessJudgement::Agent(_)),
        "{judgement:?}"
    );
}

#[track_caller]
fn is_unclear(judgement: &ProcessJudgement) {
    assert!(
        matches!(judgement, ProcessJudgement::Unclear(_)),
        "{judgement:?}"
    );
}

#[test]
fn a_terminal_that_was_open_before_the_host_is_the_persons() {
    let rows = Rows::with(&[(300, 200, 90, 200, 8, "workflow-sideca")]);
    assert_eq!(rows.judge(300), ProcessJudgement::Person);
    let by_npx = Rows::with(&[
        (299, 200, 89, 200, 8, "node"),
        (300, 299, 90, 200, 8, "workflow-sideca"),
    ]);
    assert_eq!(by_npx.judge(300), ProcessJudgement::Person);
}

#[test]
fn a_descendant_of_the_host_is_the_agent_in_any_terminal() {
    let rows = Rows::with(&[
        (120, 110, 30, 120, 0, "bash"),
        (121, 120, 31, 120, 0, "script"),
        (122, 121, 32, 122, 9, "sh"),
        (123, 122, 33, 122, 9, "workflow-sideca"),
        (130, 111, 34, 130, 0, "workflow-sideca"),
    ]);
    is_agent(&rows.judge(123));
    is_agent(&rows.judge(130));
}

#[test]
fn the_session_and_the_terminal_of_the_host_are_not_the_persons() {
    // The person's own shell, from which the host was started, and a job that lost its parent.
    let rows = Rows::with(&[
        (300, 100, 90, 100, 7, "workflow-sideca"),
        (301, 1, 91, 100, 7, "workflow-sideca"),
        (302, 1, 92, 302, 7, "workflow-sideca"),
        (303, 1, 93, 100, 7, "script"),
        (304, 303, 94, 304, 9, "workflow-sideca"),
    ]);
    for peer in [300, 301, 302, 304] {
        is_agent(&rows.judge(peer));
    }
}

#[test]
fn a_process_with_an_incomplete_ancestry_is_unclear() {
    let rows = Rows::with(&[
        // setsid, and a double fork.
        (300, 1, 90, 300, 9, "workflow-sideca"),
        // script in a session of its own.
        (310, 1, 90, 310, 0, "script"),
        (311, 310, 91, 311, 9, "sh"),
        (312, 311, 92, 311, 9, "workflow-sideca"),
        // A parent that is younger than its child: the number was given again.
        (320, 1, 99, 320, 9, "bash"),
        (321, 320, 90, 320, 9, "workflow-sideca"),
        // A leader that is gone.
        (330, 200, 90, 331, 9, "workflow-sideca"),
        // A parent that is gone.
        (340, 999, 90, 200, 8, "workflow-sideca"),
    ]);
    for peer in [300, 312, 321, 330, 340] {
        is_unclear(&rows.judge(peer));
    }
}

#[test]
fn a_terminal_that_was_opened_later_is_unclear() {
    let rows = Rows::with(&[
        // A login through sshd, which the agent can have as well.
        (300, 50, 90, 300, 0, "sshd-session"),
        (301, 300, 91, 301, 9, "bash"),
        (302, 301, 92, 301, 9, "workflow-sideca"),
        // A job of a service.
        (310, 60, 90, 310, 0, "sh"),
        (311, 310, 91, 310, 0, "script"),
        (312, 311, 92, 312, 9, "workflow-sideca"),
        // A program in a container, from outside.
        (320, 0, 90, 320, 9, "bash"),
        (321, 320, 91, 320, 9, "workflow-sideca"),
    ]);
    for peer in [302, 312, 321] {
        is_unclear(&rows.judge(peer));
    }
}

#[test]
fn a_process_without_a_terminal_is_unclear() {
    let rows = Rows::with(&[
        (300, 60, 90, 60, 0, "workflow-sideca"),
        (301, 200, 91, 200, 0, "workflow-sideca"),
    ]);
    is_unclear(&rows.judge(300));
    is_unclear(&rows.judge(301));
}

#[test]
fn a_terminal_of_a_terminal_server_is_unclear_however_old() {
    let rows = Rows::with(&[
        (70, 1, 7, 70, 0, "tmux: server"),
        (71, 70, 8, 71, 9, "bash"),
        (72, 71, 90, 71, 9, "workflow-sideca"),
        (80, 1, 7, 80, 0, "SCREEN"),
        (81, 80, 8, 81, 10, "bash"),
        (82, 81, 90, 81, 10, "workflow-sideca"),
    ]);
    let ProcessJudgement::Unclear(why) = rows.judge(72) else {
        panic!("{:?}", rows.judge(72));
    };
    assert!(why.contains("tmux"), "{why}");
    is_unclear(&rows.judge(82));
}

#[test]
fn a_program_around_the_host_belongs_to_its_job() {
    // A terminal of the agent from before the sidecar was started again by a program between both.
    let mut rows = Rows::with(&[
        (112, 110, 80, 100, 7, "node"),
        (113, 112, 81, 100, 7, "workflow-sideca"),
        (300, 1, 40, 300, 9, "bash"),
        (301, 300, 90, 300, 9, "workflow-sideca"),
    ]);
    let origin = HostOrigin::of(113, &rows);
    is_unclear(&judge(301, origin.as_ref(), &rows));
    // The host is the first program of its terminal.
    rows.0.retain(|process| process.pid != 100);
    let host = rows.0.iter_mut().find(|process| process.pid == 110);
    host.unwrap().session = 110;
    for process in &mut rows.0 {
        if [111, 112, 113].contains(&process.pid) {
            process.session = 110;
        }
    }
    let origin = HostOrigin::of(113, &rows);
    is_unclear(&judge(301, origin.as_ref(), &rows));
}

#[test]
fn a_control_group_below_that_of_the_host_is_the_agents() {
    let mut rows = Rows::with(&[
        (300, 200, 90, 200, 8, "workflow-sideca"),
        (301, 200, 90, 200, 8, "workflow-sideca"),
    ]);
    for process in &mut rows.0 {
        process.cgroup = match process.pid {
            110 | 111 => "/user/pi".to_owned(),
            300 => "/user/pi/tool".to_owned(),
            _ => "/user/pi2".to_owned(),
        };
    }
    is_agent(&rows.judge(300));
    assert_eq!(rows.judge(301), ProcessJudgement::Person);
}

#[test]
fn without_a_known_host_everything_is_unclear() {
    let mut rows = Rows::with(&[(300, 200, 90, 200, 8, "workflow-sideca")]);
    rows.0.retain(|process| process.pid != 110);
    is_unclear(&rows.judge(300));
    let mut adopted = Rows::with(&[(300, 200, 90, 200, 8, "workflow-sideca")]);
    let sidecar = adopted.0.iter_mut().find(|process| process.pid == 111);
    sidecar.unwrap().parent = 1;
    is_unclear(&adopted.judge(300));
    is_unclear(&Rows::with(&[]).judge(999));
}

#[cfg(target_os = "linux")]
#[test]
fn this_process_is_found_in_the_systems_table() {
    let here = SystemProcesses.process(std::process::id()).unwrap();
    assert_eq!(here.parent, std::os::unix::process::parent_id());
    let parent = SystemProcesses.process(here.parent).unwrap();
    assert!(parent.started <= here.started);
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_with_parentheses_and_spaces_is_read() {
    let stat = "42 (a) b (c) S 1 42 43 34817 42 0 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0";
    let process = of_stat(stat, "0::/user\n").unwrap();
    assert_eq!((process.pid, process.parent, process.session), (42, 1, 43));
    assert_eq!((process.terminal, process.started), (34817, 777));
    assert_eq!((&*process.name, &*process.cgroup), ("a) b (c", "/user"));
}
