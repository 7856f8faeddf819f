//! Gates in their supervisor process: their reports, and the end of everything that they started.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use workflow_core::definition::{Check, ExpectedExit, FileCheck, Gate, OutputStream, RunCheck};
use workflow_sidecar::gates::{
    Baseline, CheckError, CheckVerdict, GateEvent, Job, Report, Running, start, this_binary,
};

/// The longest wait for anything.
const DEADLINE: Duration = Duration::from_secs(20);

/// The variable that makes this program act as a sidecar, with the command of its gate.
const STAND_IN: &str = "GATE_OF_A_STAND_IN";

fn run(command: &[&str], shell: bool) -> Gate {
    Gate {
        default_of: None,
        on_fail: None,
        tries: None,
        bounds: Vec::new(),
        on_limit: None,
        check: Check::Run(RunCheck {
            command: command.iter().map(|&word| word.to_owned()).collect(),
            shell,
            timeout: 60,
            exit: ExpectedExit::Code(0),
            stdout: None,
            stream: OutputStream::default(),
            cwd: None,
            env: Vec::new(),
            values: Vec::new(),
        }),
        source: "phase.md:4".to_owned(),
    }
}

fn shell(line: &str) -> Gate {
    run(&[line], true)
}

fn job(gates: Vec<Gate>) -> Job {
    Job {
        gates,
        cwd: std::env::temp_dir(),
        baseline: Baseline::default(),
        start: None,
        agent_dir: None,
    }
}

fn binary() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_workflow-sidecar"))
}

/// A running gate and its messages.
struct Gates {
    running: Option<Running>,
    events: Receiver<GateEvent>,
}

impl Gates {
    fn start(gates: Vec<Gate>) -> Self {
        Self::start_with(binary(), gates)
    }

    fn start_with(supervisor: PathBuf, gates: Vec<Gate>) -> Self {
        let (sender, events) = channel();
        let running = start(supervisor, job(gates), move |event| {
            // Some tests have seen enough before the end.
            let _ = sender.send(event);
        });
        Self {
            running: Some(running.unwrap()),
            events,
        }
    }

    /// The messages up to the end, and the reports.
    fn finish(&self) -> (Vec<String>, Vec<Report>) {
        let mut progress = Vec::new();
        loop {
            match self.events.recv_timeout(DEADLINE).unwrap() {
                GateEvent::Progress(next) => progress.push(next),
                GateEvent::Finished(reports) => {
                    let after = self.events.recv_timeout(DEADLINE);
                    assert_eq!(after, Err(RecvTimeoutError::Disconnected), "the last");
                    return (progress, reports);
                }
            }
        }
    }
}

/// A duration of sleep that identifies a process, because no other process has it.
fn mark(number: u32) -> String {
    format!("{}.{:05}", 700 + number, std::process::id() % 100_000)
}

fn pids(pattern: &str) -> Vec<String> {
    let found = Command::new("pgrep").args(["-f", "--", pattern]).output();
    let text = String::from_utf8(found.unwrap().stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + DEADLINE;
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn signal(signal: &str, pid: &str) {
    let status = Command::new("kill").args([signal, pid]).status();
    assert!(status.unwrap().success());
}

/// The supervisor of a command that sleeps: its parent.
fn supervisor_of(sleep: &str) -> String {
    let pid = &pids(&format!("^sleep {sleep}"))[0];
    let mut ps = Command::new("ps");
    let parent = ps.args(["-o", "ppid=", "-p", pid]).output().unwrap();
    String::from_utf8(parent.stdout).unwrap().trim().to_owned()
}

#[test]
fn checks_run_in_their_order_up_to_the_first_that_does_not_pass() {
    let gates = vec![
        run(&["echo", "one"], false),
        shell("echo two; exit 3"),
        run(&["echo", "three"], false),
    ];
    let (progress, reports) = Gates::start(gates).finish();
    let verdicts: Vec<CheckVerdict> = reports.iter().map(|report| report.verdict).collect();
    assert_eq!(verdicts, [CheckVerdict::Passed, CheckVerdict::Failed]);
    assert_eq!((reports[1].exit, &*reports[1].tail), (Some(3), "two"));
    let begun = [
        "Checking 1 of 3: echo one (0 s)",
        "Checking 2 of 3: echo two; exit 3 (0 s)",
    ];
    assert_eq!(progress, begun);
}

#[test]
fn a_gate_without_checks_is_over() {
    assert_eq!(Gates::start(Vec::new()).finish(), (Vec::new(), Vec::new()));
}

#[test]
fn a_long_check_is_reported_once_a_second() {
    let started = Instant::now();
    let gates = Gates::start(vec![shell("sleep 2.5")]);
    let mut elapsed = Vec::new();
    let reports = loop {
        match gates.events.recv_timeout(DEADLINE).unwrap() {
            GateEvent::Progress(_) => elapsed.push(started.elapsed().as_millis() / 500),
            GateEvent::Finished(reports) => break reports,
        }
    };
    assert!(reports[0].has_passed());
    assert!(matches!(*elapsed, [0, 1..=3, 3..=5]), "{elapsed:?}");
}

#[test]
fn a_gate_that_is_called_off_ends_with_all_that_runs() {
    let sleep = mark(1);
    let mut gates = Gates::start(vec![shell(&format!("sleep {sleep} & sleep {sleep}"))]);
    wait_until("both sleep", || pids(&format!("^sleep {sleep}")).len() == 2);
    gates.running = None;
    let (_, reports) = gates.finish();
    let ended = CheckVerdict::CouldNotRun(CheckError::Ended);
    assert_eq!(reports[0].verdict, ended);
    assert!(pids(&sleep).is_empty());
}

#[test]
fn what_runs_ends_when_the_sidecar_is_killed() {
    let sleep = mark(2);
    let mut sidecar = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "gates::the_stand_in_runs_its_gate",
            "--nocapture",
        ])
        .env(STAND_IN, format!("sleep {sleep} & sleep {sleep}; true"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("both sleep", || pids(&format!("^sleep {sleep}")).len() == 2);
    // SIGKILL: it cannot do anything about it.
    sidecar.kill().unwrap();
    sidecar.wait().unwrap();
    wait_until("all have ended", || pids(&sleep).is_empty());
}

#[test]
fn what_ignores_being_asked_ends_too_when_the_sidecar_is_killed() {
    let sleep = mark(3);
    let mut sidecar = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "gates::the_stand_in_runs_its_gate",
            "--nocapture",
        ])
        .env(
            STAND_IN,
            format!("trap '' TERM INT HUP; sleep {sleep}; true"),
        )
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("it sleeps", || pids(&format!("^sleep {sleep}")).len() == 1);
    sidecar.kill().unwrap();
    sidecar.wait().unwrap();
    wait_until("all have ended", || pids(&sleep).is_empty());
}

/// Not a test, but the process that the ones above kill. By itself it does nothing.
#[test]
fn the_stand_in_runs_its_gate() {
    if let Ok(line) = std::env::var(STAND_IN) {
        Gates::start(vec![shell(&line)]).finish();
    }
}

#[test]
fn a_supervisor_that_is_killed_is_reported_and_what_it_ran_is_ended() {
    let sleep = mark(4);
    let gates = Gates::start(vec![run(&["sleep", &sleep], false)]);
    wait_until("it sleeps", || !pids(&format!("^sleep {sleep}")).is_empty());
    signal("-KILL", &supervisor_of(&sleep));
    let (_, reports) = gates.finish();
    let start = CheckVerdict::CouldNotRun(CheckError::Start);
    assert_eq!(reports[0].verdict, start);
    assert!(
        reports[0].reason.contains("signal: 9"),
        "{}",
        reports[0].reason
    );
    wait_until("it has ended", || pids(&sleep).is_empty());
}

#[test]
fn a_supervisor_that_is_asked_to_end_ends_what_it_runs_first() {
    let sleep = mark(5);
    let gates = Gates::start(vec![run(&["sleep", &sleep], false)]);
    wait_until("it sleeps", || !pids(&format!("^sleep {sleep}")).is_empty());
    signal("-TERM", &supervisor_of(&sleep));
    let (_, reports) = gates.finish();
    let ended = CheckVerdict::CouldNotRun(CheckError::Ended);
    assert_eq!(reports[0].verdict, ended);
    assert!(pids(&sleep).is_empty());
}

fn within(seconds: u32, line: &str) -> Gate {
    let mut gate = shell(line);
    if let Check::Run(run) = &mut gate.check {
        run.timeout = seconds;
    }
    gate
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_that_stops_its_supervisor_is_ended_with_it() {
    let sleep = mark(20);
    let line = format!("setsid sleep {sleep} & kill -STOP $PPID; sleep {sleep}");
    let gates = Gates::start(vec![within(1, &line)]);
    wait_until("both sleep", || pids(&format!("^sleep {sleep}")).len() == 2);
    let supervisor = supervisor_of_group(&sleep);
    let (_, reports) = gates.finish();
    let late = CheckVerdict::CouldNotRun(CheckError::Timeout);
    assert_eq!(reports[0].verdict, late, "{reports:?}");
    assert!(reports[0].reason.contains("was stopped"), "{reports:?}");
    assert!(pids(&sleep).is_empty());
    assert!(!is_running(&supervisor));
}

#[cfg(target_os = "linux")]
#[test]
fn a_gate_whose_supervisor_is_stopped_again_and_again_can_be_called_off() {
    let sleep = mark(21);
    let line = format!("while :; do kill -STOP $PPID; sleep 0.01; : {sleep}; done");
    let mut gates = Gates::start(vec![shell(&line)]);
    wait_until("it runs", || !pids(&format!(": {sleep}")).is_empty());
    thread::sleep(Duration::from_millis(200));
    gates.running = None;
    let (_, reports) = gates.finish();
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(!reports[0].has_passed());
    assert!(pids(&format!(": {sleep}")).is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn a_supervisor_that_is_stopped_ends_what_it_runs_when_the_sidecar_is_killed() {
    let sleep = mark(22);
    let mut sidecar = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "gates::the_stand_in_runs_its_gate",
            "--nocapture",
        ])
        .env(
            STAND_IN,
            format!("setsid sleep {sleep} & kill -STOP $PPID; sleep {sleep}; true"),
        )
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("both sleep", || pids(&format!("^sleep {sleep}")).len() == 2);
    let supervisor = supervisor_of_group(&sleep);
    sidecar.kill().unwrap();
    sidecar.wait().unwrap();
    wait_until("all have ended", || {
        pids(&sleep).is_empty() && !is_running(&supervisor)
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_in_a_session_of_its_own_does_not_outlive_the_gate() {
    let [passes, fails, hangs] = [23, 24, 25].map(mark);
    let daemon = |sleep: &str| format!("setsid sleep {sleep} >/dev/null 2>&1 & sleep 0.2");
    let twice = format!(
        "setsid sh -c 'setsid sleep {fails} & setsid sleep {fails} & sleep 0.1' & sleep 0.5"
    );
    let ignores =
        format!("setsid sh -c 'trap \"\" TERM; while :; do sleep {hangs}; done' & sleep 60");
    let lines = [
        (&passes, shell(&daemon(&passes))),
        (&fails, shell(&format!("{twice}; exit 1"))),
        (&hangs, within(1, &ignores)),
    ];
    for (sleep, gate) in lines {
        let gates = Gates::start(vec![gate]);
        wait_until("it sleeps", || !pids(&format!("sleep {sleep}")).is_empty());
        gates.finish();
        assert!(pids(&format!("sleep {sleep}")).is_empty(), "{sleep}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_runs_already_is_left_alone() {
    let sleep = mark(26);
    let mut daemon = Command::new("setsid")
        .args(["sleep", &sleep])
        .spawn()
        .unwrap();
    wait_until("it sleeps", || !pids(&format!("^sleep {sleep}")).is_empty());
    let (_, reports) = Gates::start(vec![shell("exit 0")]).finish();
    assert!(reports[0].has_passed());
    assert!(!pids(&format!("^sleep {sleep}")).is_empty());
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}

/// The supervisor of the shell that runs a sleep: the parent of its parent.
#[cfg(target_os = "linux")]
fn supervisor_of_group(sleep: &str) -> String {
    let shells = pids(&format!("^sh -c .*sleep {sleep}"));
    parent_of(&shells[0])
}

#[cfg(target_os = "linux")]
fn parent_of(pid: &str) -> String {
    let output = Command::new("ps").args(["-o", "ppid=", "-p", pid]).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    text.trim().to_owned()
}

#[cfg(target_os = "linux")]
fn is_running(pid: &str) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", pid]).output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    !text.trim().is_empty() && !text.starts_with('Z')
}

#[test]
fn a_supervisor_that_cannot_be_started_is_reported() {
    let nowhere = PathBuf::from("/no/such/binary");
    let (_, reports) = Gates::start_with(nowhere, vec![shell("true")]).finish();
    let start = CheckVerdict::CouldNotRun(CheckError::Start);
    assert_eq!(reports[0].verdict, start);
    assert!(reports[0].reason.contains("could not be started"));
}

#[test]
fn a_process_can_start_its_own_binary_again() {
    // This one is no sidecar, and finds no test of the supervisor's name.
    let gates = Gates::start_with(this_binary(), vec![shell("true")]);
    let (_, reports) = gates.finish();
    let reason = &reports[0].reason;
    assert!(
        reason.ends_with("before the check did: exit status: 0"),
        "{reason}"
    );
}

#[test]
fn a_supervisor_that_speaks_another_language_is_reported() {
    let echo = PathBuf::from("echo");
    let (_, reports) = Gates::start_with(echo, vec![shell("true")]).finish();
    let start = CheckVerdict::CouldNotRun(CheckError::Start);
    assert_eq!(reports[0].verdict, start);
}

#[test]
fn a_command_is_away_from_the_terminal_and_can_kill_only_its_own() {
    let sessions = "ps -o sid= -p $$ -p $PPID | sort -u; kill -TERM 0";
    let (_, reports) = Gates::start(vec![shell(sessions)]).finish();
    assert_eq!(
        (reports[0].verdict, reports[0].signal),
        (CheckVerdict::Failed, Some(15))
    );
    let own = Command::new("ps")
        .args(["-o", "sid=", "-p", &std::process::id().to_string()])
        .output()
        .unwrap();
    let own = String::from_utf8(own.stdout).unwrap();
    assert_eq!(
        reports[0].tail.lines().count(),
        1,
        "the supervisor's session"
    );
    assert_ne!(reports[0].tail.trim(), own.trim(), "and not ours");
}

#[test]
fn a_check_for_changes_compares_with_the_baseline() {
    let place = tempfile::tempdir().unwrap();
    let gate = Gate {
        default_of: None,
        on_fail: None,
        tries: None,
        bounds: Vec::new(),
        on_limit: None,
        check: Check::File(FileCheck {
            path: "plan.md".to_owned(),
            changed: Some(true),
        }),
        source: String::new(),
    };
    let baseline = Baseline::take(std::slice::from_ref(&gate), place.path());
    std::fs::write(place.path().join("plan.md"), "written since").unwrap();
    let job = Job {
        gates: vec![gate],
        cwd: place.path().to_path_buf(),
        baseline,
        start: None,
        agent_dir: None,
    };
    let (sender, events) = channel();
    let running = start(binary(), job, move |event| sender.send(event).unwrap());
    let running = Some(running.unwrap());
    let (_, reports) = Gates { running, events }.finish();
    assert!(reports[0].has_passed(), "{}", reports[0].reason);
}

#[test]
fn the_supervisor_does_nothing_when_a_person_starts_it() {
    let mut supervisor = Command::new(env!("CARGO_BIN_EXE_workflow-sidecar"));
    let output = supervisor
        .arg("run-gate")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn a_flood_does_not_fill_the_memory_of_the_supervisor() {
    let gates = Gates::start(vec![run(&["yes", &mark(6)], false)]);
    let pattern = format!("^yes {}", mark(6));
    wait_until("it floods", || !pids(&pattern).is_empty());
    thread::sleep(Duration::from_millis(500));
    let pid = &pids(&pattern)[0];
    let of = |path: String| std::fs::read_to_string(path).unwrap();
    let stat = of(format!("/proc/{pid}/stat"));
    let supervisor = stat.split_whitespace().nth(3).unwrap();
    let status = of(format!("/proc/{supervisor}/status"));
    // What the supervisor allocated, without the pages of its program.
    let memory = status
        .lines()
        .find(|line| line.starts_with("RssAnon"))
        .unwrap();
    let kilobytes: u64 = memory.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kilobytes < 8 * 1024, "{memory}");
    println!("the supervisor of a flood: {memory}");
    drop(gates);
}
