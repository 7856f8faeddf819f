//! Commands, the well and the ill behaved.

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

/// Whether a process runs whose command line holds the mark.
fn runs(mark: &str) -> bool {
    let found = Command::new("pgrep").args(["-f", "--", mark]).output();
    !found.unwrap().stdout.is_empty()
}

/// Seconds to sleep that no other test sleeps, to know a process by.
fn mark(number: u32) -> String {
    format!("{}.{:04}", 900 + number, std::process::id() % 10_000)
}

#[test]
fn an_exit_code_of_0_passes() {
    let report = Place::new().run(run(&["echo", "well done"]));
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
    let report = Place::new().run(shell("echo before; echo wrong >&2; exit 3"));
    assert_eq!((report.verdict, report.exit), (FAILED, Some(3)));
    assert_eq!(report.reason, "exit code 3, expected 0");
    assert_eq!(report.tail, "before\nwrong");
}

#[test]
fn both_outputs_stand_in_the_order_they_were_written() {
    let line = "for n in 1 2 3 4 5; do echo out $n; echo err $n >&2; done";
    let report = Place::new().run(shell(line));
    let expected: Vec<String> = (1..=5).map(|n| format!("out {n}\nerr {n}")).collect();
    assert_eq!(report.tail, expected.join("\n"));
}

#[test]
fn a_code_that_is_expected_passes_and_0_does_not_then() {
    let place = Place::new();
    let two = ExpectedExit::Code(2);
    assert_eq!(place.run(exits(two, shell("exit 2"))).verdict, PASSED);
    assert_eq!(place.run(exits(two, run(&["true"]))).verdict, FAILED);
    let nonzero = ExpectedExit::Nonzero;
    assert_eq!(place.run(exits(nonzero, shell("exit 9"))).verdict, PASSED);
    let report = place.run(exits(nonzero, run(&["true"])));
    assert_eq!(report.reason, "exit code 0, expected any but 0");
}

#[test]
fn a_crash_is_not_the_failure_that_was_asked_for() {
    let crash = exits(ExpectedExit::Nonzero, shell("kill -SEGV $$"));
    let report = Place::new().run(crash);
    assert_eq!(
        (report.verdict, report.exit, report.signal),
        (FAILED, None, Some(11))
    );
    assert_eq!(report.reason, "it was ended by SIGSEGV");
}

#[test]
fn no_shell_reads_the_words() {
    let report = Place::new().run(run(&["echo", "$HOME", "&&", "*"]));
    assert_eq!(report.tail, "$HOME && *");
}

#[test]
fn it_runs_in_the_working_directory_with_nothing_to_read() {
    let place = Place::new();
    place.write("here.txt", "");
    let report = place.run(shell("ls; cat; echo read"));
    assert_eq!(report.tail, "here.txt\nread");
}

#[test]
fn a_missing_program_could_not_run_even_where_failure_is_asked_for() {
    let place = Place::new();
    let report = place.run(exits(ExpectedExit::Nonzero, run(&["no-such-program-here"])));
    assert_eq!(report.verdict, could_not(Obstacle::Missing));
    assert!(report.reason.contains("on PATH"), "{}", report.reason);
    let report = place.run(exits(ExpectedExit::Nonzero, shell("no-such-program-here")));
    assert_eq!(report.verdict, could_not(Obstacle::Missing));
    assert!(report.tail.contains("not found"), "{}", report.tail);
}

#[test]
fn a_path_is_seen_from_the_working_directory() {
    let place = Place::new();
    place.script("scripts/check", "#!/bin/sh\necho \"$0\"");
    let report = place.run(run(&["scripts/check"]));
    assert_eq!(report.verdict, PASSED, "{}", report.reason);
}

#[test]
fn what_cannot_be_executed_says_why() {
    let place = Place::new();
    place.write("plain", "echo");
    place.script("lost", "#!/no/such/interpreter\n");
    place.script("odd", "no first line of a script");
    for (program, why) in [
        ("./plain", "chmod +x ./plain"),
        ("./lost", "the interpreter that ./lost names"),
        ("./odd", "./odd is not a program"),
        ("/tmp", "/tmp is a directory"),
    ] {
        let report = place.run(run(&[program]));
        assert_eq!(
            report.verdict,
            could_not(Obstacle::NotExecutable),
            "{program}"
        );
        assert!(report.reason.contains(why), "{}", report.reason);
    }
}

#[test]
fn a_working_directory_that_is_gone_is_named() {
    let place = Place::new();
    fs::remove_dir(place.path()).unwrap();
    let report = place.run(run(&["true"]));
    assert_eq!(report.verdict, could_not(Obstacle::Missing));
    assert!(report.reason.contains("is not there"), "{}", report.reason);
}

#[test]
fn standard_output_must_match_what_is_expected_and_errors_do_not_count() {
    let place = Place::new();
    let says_ok = says(
        "(?m)^test result: ok",
        shell("echo test result: ok. 3 passed"),
    );
    assert_eq!(place.run(says_ok).verdict, PASSED);
    let nothing = says("^$", shell("echo a warning >&2"));
    assert_eq!(place.run(nothing).verdict, PASSED);
    let report = place.run(says("^ok$", shell("echo ok >&2")));
    assert_eq!(report.verdict, FAILED);
    assert_eq!(report.reason, "stdout does not match `^ok$`");
    assert_eq!(report.tail, "ok");
}

#[test]
fn a_pattern_that_is_none_could_not_run() {
    let report = Place::new().run(says("(", run(&["true"])));
    assert_eq!(report.verdict, could_not(Obstacle::Start));
}

#[test]
fn what_hangs_is_ended_with_all_it_started() {
    let mark = mark(1);
    let report = Place::new().run(within(1, shell(&format!("sleep {mark} & sleep {mark}"))));
    assert_eq!(report.verdict, could_not(Obstacle::Timeout));
    assert_eq!(report.exit, None);
    assert!(report.duration_ms < 2500, "{}", report.duration_ms);
    assert!(!runs(&format!("sleep {mark}")));
}

#[test]
fn what_ignores_being_asked_is_killed() {
    let mark = mark(2);
    let line = format!("trap '' TERM; echo deaf; sleep {mark}; sleep {mark}; sleep {mark}");
    let report = Place::new().run(within(1, shell(&line)));
    assert_eq!(report.verdict, could_not(Obstacle::Timeout));
    assert_eq!(report.tail, "deaf");
    assert!(report.duration_ms < 4500, "{}", report.duration_ms);
    assert!(!runs(&mark));
}

#[test]
fn what_is_asked_to_end_may_say_a_last_word() {
    let line = "trap 'echo cleaned up; exit 0' TERM; sleep 30 & wait";
    let report = Place::new().run(within(1, shell(line)));
    assert_eq!(report.verdict, could_not(Obstacle::Timeout));
    assert_eq!(report.tail, "cleaned up");
}

#[test]
fn what_stops_itself_is_ended() {
    let report = Place::new().run(within(1, shell("kill -STOP $$; echo went on")));
    assert_eq!(report.verdict, could_not(Obstacle::Timeout));
    assert!(report.duration_ms < 4500, "{}", report.duration_ms);
}

#[test]
fn children_that_keep_the_pipe_do_not_keep_the_gate() {
    let mark = mark(3);
    let report = Place::new().run(shell(&format!("sleep {mark} & echo done")));
    assert_eq!((report.verdict, report.tail.as_str()), (PASSED, "done"));
    assert!(report.duration_ms < 2000, "{}", report.duration_ms);
    assert!(!runs(&mark), "what is left of it is ended");
}

// Only there is a program that leaves its group for another.
#[cfg(target_os = "linux")]
#[test]
fn a_daemon_that_leaves_its_group_is_not_waited_for() {
    let mark = mark(4);
    let report = Place::new().run(shell(&format!("setsid sleep {mark} & echo done")));
    assert_eq!((report.verdict, report.tail.as_str()), (PASSED, "done"));
    assert!(report.duration_ms < 2000, "{}", report.duration_ms);
    let found = Command::new("pkill").args(["-f", &mark]).status().unwrap();
    assert!(found.success(), "it went where nobody follows it");
}

#[test]
fn closing_its_output_is_not_the_end_of_it() {
    let report = Place::new().run(shell("exec >&- 2>&-; sleep 0.3; exit 4"));
    assert_eq!((report.verdict, report.exit), (FAILED, Some(4)));
}

#[test]
fn a_flood_is_read_and_forgotten() {
    let report = Place::new().run(within(1, run(&["yes"])));
    assert_eq!(report.verdict, could_not(Obstacle::Timeout));
    assert!(report.tail.starts_with("[the end of "));
    assert!(report.tail.len() < 5000);
}

#[test]
fn a_flood_that_is_to_be_matched_is_ended_at_its_bound() {
    let report = Place::new().run(says("n", run(&["yes"])));
    assert_eq!(report.verdict, could_not(Obstacle::TooMuchOutput));
    assert!(report.reason.contains("8 MiB"), "{}", report.reason);
}

#[test]
fn bytes_that_are_no_text_are_shown_as_such() {
    let report = Place::new().run(shell(r"printf '\377\376ok\n\033[31mred\033[0m\n'; exit 1"));
    assert_eq!(report.tail, "\u{fffd}\u{fffd}ok\nred");
}

#[test]
fn what_is_called_off_ends_at_once() {
    let (over, mark) = (AtomicBool::new(false), mark(5));
    let place = Place::new();
    let line = shell(&format!("sleep {mark}; echo never"));
    let began = Instant::now();
    let report = thread::scope(|scope| {
        let checking = scope.spawn(|| place.check_until(Check::Run(line), &over));
        thread::sleep(Duration::from_millis(200));
        over.store(true, Ordering::Relaxed);
        checking.join().unwrap()
    });
    assert_eq!(report.verdict, could_not(Obstacle::Ended));
    assert!(began.elapsed() < Duration::from_secs(2));
    assert!(!runs(&mark));
    let next = place.check_until(Check::Run(run(&["true"])), &over);
    assert_eq!(next.verdict, could_not(Obstacle::Ended));
}

#[test]
fn a_cargo_project_passes_and_fails_as_it_should() {
    let place = Place::new();
    place.write(
        "Cargo.toml",
        "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n",
    );
    place.write("src/lib.rs", "");
    let build = || run(&["cargo", "check", "--quiet", "--offline"]);
    let report = place.run(build());
    assert_eq!(report.verdict, PASSED, "{}", report.tail);
    place.write("src/lib.rs", "pub fn one() -> u32 { \"two\" }\n");
    let report = place.run(build());
    assert_eq!((report.verdict, report.exit), (FAILED, Some(101)));
    assert!(report.tail.contains("mismatched types"), "{}", report.tail);
}

#[test]
fn an_npm_project_passes_and_fails_as_it_should() {
    if Command::new("npm").arg("--version").output().is_err() {
        println!("skipped: npm is not installed");
        return;
    }
    let place = Place::new();
    let package = |script: &str| format!(r#"{{"name":"tiny","scripts":{{"test":"{script}"}}}}"#);
    let test = || run(&["npm", "test", "--silent"]);
    place.write("package.json", &package("node -e 0"));
    assert_eq!(place.run(test()).verdict, PASSED);
    place.write("package.json", &package("node -e 'process.exit(5)'"));
    let report = place.run(test());
    assert_eq!((report.verdict, report.exit), (FAILED, Some(5)));
}
