//! Checks of commands, well and badly behaved ones.

use std::sync::mpsc::channel;

use super::*;

fn within(seconds: u32, check: RunCheck) -> RunCheck {
    RunCheck {
        timeout: seconds,
        ..check
    }
}

fn exits(exit: ExpectedExit, check: RunCheck) -> RunCheck {
    RunCheck { exit, ..check }
}

fn says(pattern: &str, check: RunCheck) -> RunCheck {
    RunCheck {
        stdout: Some(pattern.to_owned()),
        ..check
    }
}

/// Returns `true` if a process runs that has the mark on its command line.
fn runs(mark: &str) -> bool {
    let found = Command::new("pgrep").args(["-f", "--", mark]).output();
    !found.unwrap().stdout.is_empty()
}

/// Returns a time to sleep that no other test uses, to identify a process.
fn mark(number: u32) -> String {
    format!("{}.{:04}", 900 + number, std::process::id() % 10_000)
}

#[test]
fn an_exit_code_of_0_passes() {
    let report = TestProject::new().run(run(&["echo", "well done"]));
    assert_eq!((report.verdict, report.reason.as_str()), (PASSED, ""));
    assert_eq!((report.exit, report.signal), (Some(0), None));
    assert_eq!(
        (report.what.as_str(), report.tail.as_str()),
        ("echo 'well done'", "well done")
    );
    assert_eq!(report.source, "phase.md:4");
}

#[test]
fn another_exit_code_fails() {
    let report = TestProject::new().run(shell("echo before; echo wrong >&2; exit 3"));
    assert_eq!((report.verdict, report.exit), (FAILED, Some(3)));
    assert_eq!(report.reason, "exit code 3, expected 0");
    assert_eq!(report.tail, "before\nwrong");
}

#[test]
fn both_outputs_are_shown_in_the_order_of_writing() {
    let line = "for n in 1 2 3 4 5; do echo out $n; echo err $n >&2; done";
    let report = TestProject::new().run(shell(line));
    let expected: Vec<String> = (1..=5).map(|n| format!("out {n}\nerr {n}")).collect();
    assert_eq!(report.tail, expected.join("\n"));
}

#[test]
fn an_expected_exit_code_passes_and_0_fails() {
    let project = TestProject::new();
    let two = ExpectedExit::Code(2);
    assert_eq!(project.run(exits(two, shell("exit 2"))).verdict, PASSED);
    assert_eq!(project.run(exits(two, run(&["true"]))).verdict, FAILED);
    let nonzero = ExpectedExit::Nonzero;
    assert_eq!(project.run(exits(nonzero, shell("exit 9"))).verdict, PASSED);
    let report = project.run(exits(nonzero, run(&["true"])));
    assert_eq!(report.reason, "exit code 0, expected any but 0");
}

#[test]
fn a_crash_is_not_an_expected_failure() {
    let crash = exits(ExpectedExit::Nonzero, shell("kill -SEGV $$"));
    let report = TestProject::new().run(crash);
    assert_eq!(
        (report.verdict, report.exit, report.signal),
        (FAILED, None, Some(11))
    );
    assert_eq!(report.reason, "it was ended by SIGSEGV");
}

#[test]
fn arguments_are_not_expanded_by_a_shell() {
    let report = TestProject::new().run(run(&["echo", "$HOME", "&&", "*"]));
    assert_eq!(report.tail, "$HOME && *");
}

#[test]
fn a_command_runs_in_the_working_directory_without_input() {
    let project = TestProject::new();
    project.write("here.txt", "");
    let report = project.run(shell("ls; cat; echo read"));
    assert_eq!(report.tail, "here.txt\nread");
}

#[test]
fn a_missing_program_could_not_run_even_if_failure_is_expected() {
    let project = TestProject::new();
    let report = project.run(exits(ExpectedExit::Nonzero, run(&["no-such-program-here"])));
    assert_eq!(report.verdict, could_not_run(CheckError::Missing));
    assert!(report.reason.contains("on PATH"), "{}", report.reason);
    let report = project.run(exits(ExpectedExit::Nonzero, shell("no-such-program-here")));
    assert_eq!(report.verdict, could_not_run(CheckError::Missing));
    assert!(report.tail.contains("not found"), "{}", report.tail);
}

#[test]
fn a_check_that_must_fail_needs_a_test_that_ran() {
    let project = TestProject::new();
    for line in [
        "echo \"make: *** No rule to make target 'test'.  Stop.\" >&2; exit 2",
        "echo 'no tests ran in 0.00s'; exit 5",
    ] {
        let report = project.run(exits(ExpectedExit::Nonzero, shell(line)));
        assert_eq!(report.verdict, could_not_run(CheckError::Missing), "{line}");
        assert!(report.reason.contains("no test ran"), "{}", report.reason);
        let passes = project.run(exits(ExpectedExit::Code(0), shell(line)));
        assert_eq!(passes.verdict, FAILED, "{line}");
    }
    // npm passes on the exit code of the shell that it starts.
    project.script("npm", "#!/bin/sh\nexit 127");
    let report = project.run(exits(ExpectedExit::Nonzero, run(&["./npm"])));
    assert_eq!(report.verdict, could_not_run(CheckError::Missing));
}

#[test]
fn a_path_is_relative_to_the_working_directory() {
    let project = TestProject::new();
    project.script("scripts/check", "#!/bin/sh\necho \"$0\"");
    let report = project.run(run(&["scripts/check"]));
    assert_eq!(report.verdict, PASSED, "{}", report.reason);
}

#[test]
fn a_file_that_cannot_be_executed_has_a_reason() {
    let project = TestProject::new();
    project.write("plain", "echo");
    project.script("lost", "#!/no/such/interpreter\n");
    project.script("odd", "no first line of a script");
    for (program, why) in [
        ("./plain", "chmod +x ./plain"),
        ("./lost", "the interpreter that ./lost names"),
        ("./odd", "./odd is not a program"),
        ("/tmp", "/tmp is a directory"),
    ] {
        let report = project.run(run(&[program]));
        assert_eq!(
            report.verdict,
            could_not_run(CheckError::NotExecutable),
            "{program}"
        );
        assert!(report.reason.contains(why), "{}", report.reason);
    }
}

#[test]
fn a_missing_working_directory_is_named() {
    let project = TestProject::new();
    fs::remove_dir(project.path()).unwrap();
    let report = project.run(run(&["true"]));
    assert_eq!(report.verdict, could_not_run(CheckError::Missing));
    assert!(report.reason.contains("is not there"), "{}", report.reason);
}

#[test]
fn only_standard_output_must_match_the_pattern() {
    let project = TestProject::new();
    let says_ok = says(
        "(?m)^test result: ok",
        shell("echo test result: ok. 3 passed"),
    );
    assert_eq!(project.run(says_ok).verdict, PASSED);
    let nothing = says("^$", shell("echo a warning >&2"));
    assert_eq!(project.run(nothing).verdict, PASSED);
    let report = project.run(says("^ok$", shell("echo ok >&2")));
    assert_eq!(report.verdict, FAILED);
    assert_eq!(report.reason, "stdout does not match `^ok$`");
    assert_eq!(report.tail, "ok");
}

#[test]
fn the_pattern_can_be_about_standard_error_or_both_outputs() {
    let project = TestProject::new();
    let on = |stream, line| RunCheck {
        stream,
        ..says("^ok$", shell(line))
    };
    let (stderr, both) = (OutputStream::Stderr, OutputStream::Both);
    let no = project.run(on(stderr, "echo ok"));
    assert_eq!(
        (no.verdict, &*no.reason),
        (FAILED, "stderr does not match `^ok$`")
    );
    assert_eq!(
        project.run(on(stderr, "echo ok >&2; echo 1")).verdict,
        FAILED
    );
    assert_eq!(
        project.run(on(stderr, "printf ok >&2; echo 1")).verdict,
        PASSED
    );
    assert_eq!(
        project.run(on(both, "printf o; printf k >&2")).verdict,
        PASSED
    );
}

#[test]
fn a_command_runs_in_its_directory_with_its_variables() {
    let project = TestProject::new();
    project.write("packages/api/mark.txt", "here");
    let there = RunCheck {
        cwd: Some("packages/api".to_owned()),
        env: vec![("NAME".to_owned(), "a b".to_owned())],
        ..shell("test -f mark.txt && test \"$NAME\" = 'a b'")
    };
    assert_eq!(project.run(there.clone()).verdict, PASSED);
    let missing = RunCheck {
        cwd: Some("nowhere".to_owned()),
        ..there.clone()
    };
    assert_eq!(
        project.run(missing).verdict,
        could_not_run(CheckError::Start)
    );
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_project_is_no_directory_of_a_command() {
    let project = TestProject::new();
    std::os::unix::fs::symlink("/", project.path().join("root")).unwrap();
    let outside = RunCheck {
        cwd: Some("root".to_owned()),
        ..run(&["true"])
    };
    let report = project.run(outside);
    assert_eq!(report.verdict, could_not_run(CheckError::Start));
    assert!(
        report.reason.contains("outside of the project"),
        "{}",
        report.reason
    );
}

#[test]
fn an_invalid_pattern_could_not_run() {
    let report = TestProject::new().run(says("(", run(&["true"])));
    assert_eq!(report.verdict, could_not_run(CheckError::Start));
}

#[test]
fn a_hanging_command_is_ended_with_its_processes() {
    let mark = mark(1);
    let report = TestProject::new().run(within(1, shell(&format!("sleep {mark} & sleep {mark}"))));
    assert_eq!(report.verdict, could_not_run(CheckError::Timeout));
    assert_eq!(report.exit, None);
    assert!(report.duration_ms < 2500, "{}", report.duration_ms);
    assert!(!runs(&format!("sleep {mark}")));
}

#[test]
fn a_command_that_ignores_sigterm_is_killed() {
    let mark = mark(2);
    let line = format!("trap '' TERM; echo deaf; sleep {mark}; sleep {mark}; sleep {mark}");
    let report = TestProject::new().run(within(1, shell(&line)));
    assert_eq!(report.verdict, could_not_run(CheckError::Timeout));
    assert_eq!(report.tail, "deaf");
    assert!(report.duration_ms < 4500, "{}", report.duration_ms);
    assert!(!runs(&mark));
}

#[test]
fn a_command_can_write_output_after_sigterm() {
    let line = "trap 'echo cleaned up; exit 0' TERM; sleep 30 & wait";
    let report = TestProject::new().run(within(1, shell(line)));
    assert_eq!(report.verdict, could_not_run(CheckError::Timeout));
    assert_eq!(report.tail, "cleaned up");
}

#[test]
fn a_stopped_command_is_ended() {
    let report = TestProject::new().run(within(1, shell("kill -STOP $$; echo went on")));
    assert_eq!(report.verdict, could_not_run(CheckError::Timeout));
    assert!(report.duration_ms < 4500, "{}", report.duration_ms);
}

#[test]
fn a_background_process_with_the_pipe_does_not_delay_the_gate() {
    let mark = mark(3);
    let report = TestProject::new().run(shell(&format!("sleep {mark} & echo done")));
    assert_eq!((report.verdict, report.tail.as_str()), (PASSED, "done"));
    assert!(report.duration_ms < 2000, "{}", report.duration_ms);
    assert!(!runs(&mark), "the background process is ended");
}

// `setsid` is a program on Linux only.
#[cfg(target_os = "linux")]
#[test]
fn a_daemon_that_leaves_its_group_is_not_waited_for() {
    let mark = mark(4);
    let report = TestProject::new().run(shell(&format!("setsid sleep {mark} & echo done")));
    assert_eq!((report.verdict, report.tail.as_str()), (PASSED, "done"));
    assert!(report.duration_ms < 2000, "{}", report.duration_ms);
    let found = Command::new("pkill").args(["-f", &mark]).status().unwrap();
    assert!(found.success(), "it left the process group");
}

#[test]
fn a_command_that_closes_its_output_still_runs() {
    let report = TestProject::new().run(shell("exec >&- 2>&-; sleep 0.3; exit 4"));
    assert_eq!((report.verdict, report.exit), (FAILED, Some(4)));
}

#[test]
fn endless_output_is_read_and_discarded() {
    let report = TestProject::new().run(within(1, run(&["yes"])));
    assert_eq!(report.verdict, could_not_run(CheckError::Timeout));
    assert!(report.tail.starts_with("[the end of "));
    assert!(report.tail.len() < 5000);
}

#[test]
fn endless_output_with_a_pattern_is_ended_at_the_bound() {
    let report = TestProject::new().run(says("n", run(&["yes"])));
    assert_eq!(report.verdict, could_not_run(CheckError::TooMuchOutput));
    assert!(report.reason.contains("8 MiB"), "{}", report.reason);
}

#[test]
fn invalid_utf8_is_shown_as_replacement_characters() {
    let report =
        TestProject::new().run(shell(r"printf '\377\376ok\n\033[31mred\033[0m\n'; exit 1"));
    assert_eq!(report.tail, "\u{fffd}\u{fffd}ok\nred");
}

#[test]
fn a_cancelled_command_ends_at_once() {
    let (cancelled, mark) = (AtomicBool::new(false), mark(5));
    let (started, has_started) = channel();
    let project = TestProject::new();
    let line = shell(&format!("sleep {mark}; echo never"));
    let began = Instant::now();
    let report = thread::scope(|scope| {
        let checking = scope.spawn(|| {
            let on_group = |_| started.send(()).unwrap();
            project.check_with(Check::Run(line), &cancelled, on_group)
        });
        has_started.recv().unwrap();
        cancelled.store(true, Ordering::Relaxed);
        checking.join().unwrap()
    });
    assert_eq!(report.verdict, could_not_run(CheckError::Ended));
    assert!(began.elapsed() < Duration::from_secs(2));
    assert!(!runs(&mark));
    let next = project.check_with(Check::Run(run(&["true"])), &cancelled, |_| ());
    assert_eq!(next.verdict, could_not_run(CheckError::Ended));
}

#[test]
fn a_cargo_project_passes_and_fails() {
    let project = TestProject::new();
    project.write(
        "Cargo.toml",
        "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n",
    );
    project.write("src/lib.rs", "");
    let own = ["--target-dir", "target"];
    let build = || run(&[&["cargo", "check", "--quiet", "--offline"][..], &own].concat());
    let report = project.run(build());
    assert_eq!(report.verdict, PASSED, "{}", report.tail);
    project.write("src/lib.rs", "pub fn one() -> u32 { \"two\" }\n");
    let report = project.run(build());
    assert_eq!((report.verdict, report.exit), (FAILED, Some(101)));
    assert!(report.tail.contains("mismatched types"), "{}", report.tail);
}

#[test]
fn an_npm_project_passes_and_fails() {
    if Command::new("npm").arg("--version").output().is_err() {
        println!("skipped: npm is not installed");
        return;
    }
    let project = TestProject::new();
    let package = |script: &str| format!(r#"{{"name":"tiny","scripts":{{"test":"{script}"}}}}"#);
    let test = || run(&["npm", "test", "--silent"]);
    project.write("package.json", &package("node -e 0"));
    assert_eq!(project.run(test()).verdict, PASSED);
    project.write("package.json", &package("node -e 'process.exit(5)'"));
    let report = project.run(test());
    assert_eq!((report.verdict, report.exit), (FAILED, Some(5)));
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_without_grace_is_killed_at_once_with_all_that_it_started() {
    use crate::platform::process::{CommandLine, End, Invocation, Monitor, run};
    let sleep = mark(60);
    let line = format!("trap '' TERM; setsid sleep {sleep} & sleep {sleep}");
    let invocation = Invocation {
        command: CommandLine::Shell(line),
        cwd: Path::new("/"),
        timeout: Duration::from_millis(300),
        stdout_bound: 0,
        recorded: workflow_core::definition::OutputStream::default(),
        environment: &[],
        grace: Duration::ZERO,
        is_hidden: |_| false,
    };
    let began = Instant::now();
    let finished = run(&invocation, Monitor::idle()).unwrap();
    assert!(matches!(finished.end, End::Timeout(_)));
    assert!(
        began.elapsed() < Duration::from_millis(1500),
        "{:?}",
        began.elapsed()
    );
    assert!(!runs(&sleep));
}
