//! Every format, with what its programs really wrote: outputs in `recorded/`.

use super::*;

/// The counts of a run: passed, failed, skipped, broken.
fn counted(run: &TestRun) -> [usize; 4] {
    [run.passed, run.failed, run.skipped, run.broken]
}

/// The names of the tests with an outcome.
fn with(run: &TestRun, outcome: Outcome) -> Vec<&str> {
    run.with(outcome).collect()
}

fn read_all(output: &str) -> TestRun {
    read(output).expect("it has a known format")
}

#[test]
fn cargo_test_names_the_tests_of_each_program() {
    let run = read_all(include_str!("recorded/cargo.txt"));
    assert_eq!(counted(&run), [4, 1, 1, 0]);
    assert_eq!(
        with(&run, Outcome::Failed),
        ["unittests src/lib.rs tests::breaks"]
    );
    assert_eq!(
        with(&run, Outcome::Skipped),
        ["unittests src/lib.rs tests::later"]
    );
    let passed = with(&run, Outcome::Passed);
    assert_eq!(passed.len(), 4, "{passed:?}");
    assert!(passed.contains(&"tests/t.rs it_works"), "{passed:?}");
}

#[test]
fn nextest_names_the_tests_of_each_binary_by_their_last_try() {
    let run = read_all(include_str!("recorded/nextest.txt"));
    assert_eq!(counted(&run), [6, 3, 2, 0]);
    assert_eq!(
        with(&run, Outcome::Failed),
        [
            "demo more::slow",
            "demo tests::aborts",
            "demo tests::breaks"
        ]
    );
    assert_eq!(
        with(&run, Outcome::Skipped),
        ["demo tests::later", "demo::t slow"]
    );
    let passed = with(&run, Outcome::Passed);
    assert_eq!(passed.len(), 6, "{passed:?}");
    assert!(passed.contains(&"demo more::flaky"), "{passed:?}");
    assert!(!run.named.keys().any(|name| name.contains("fake")));
    assert!((run.compiling - 4.65).abs() < 0.01);
    // Older versions do not number the tests.
    let run = read_all(
        "    Starting 1 test across 1 binary\n        PASS [   0.012s] demo tests::adds\n     Summary [   0.012s] 1 test run: 1 passed, 0 skipped\n",
    );
    assert_eq!(with(&run, Outcome::Passed), ["demo tests::adds"]);
    let run = read_all(
        "    Starting 3 tests across 1 binary
  TRY 1 FAIL [   0.012s] demo a
  TRY 2 PASS [   0.012s] demo a
     SIGKILL [   0.041s] demo b
 TERMINATING [>  1.000s] demo e
TIMEOUT-PASS [   1.013s] demo e
   LEAK-FAIL [   0.179s] demo c
 FAIL + LEAK [   0.755s] demo d
        SLOW [   1.000s] demo f
     Summary [   0.012s] 5 tests run: 2 passed, 3 failed, 0 skipped\n",
    );
    assert_eq!(with(&run, Outcome::Passed), ["demo a", "demo e"]);
    assert_eq!(with(&run, Outcome::Failed), ["demo b", "demo c", "demo d"]);
    let none =
        "     Summary [   0.000s] 0 tests run: 0 passed, 11 skipped\nerror: no tests to run\n";
    assert_eq!(counted(&read_all(none)), [0, 0, 11, 0]);
}

#[test]
fn what_a_failing_test_prints_is_no_test() {
    let run = read_all(include_str!("recorded/cargo.txt"));
    assert!(
        !run.named.keys().any(|name| name.contains("fake")),
        "{run:?}"
    );
    let run = read_all(
        "running 1 test\nFAIL [   0.1s] demo tests::fake\ntest a ... ok\ntest result: ok. 1 passed; 0 failed\n",
    );
    assert_eq!(run.named.len(), 1, "{run:?}");
}

#[test]
fn tests_that_cannot_be_compiled_did_not_run() {
    let run = read_all(include_str!("recorded/cargo-broken.txt"));
    assert_eq!(counted(&run), [0, 0, 0, 1]);
    let run = read_all("FAIL\tm/b [build failed]\n");
    assert_eq!(counted(&run), [0, 0, 0, 1]);
}

#[test]
fn go_names_the_tests_of_each_package() {
    let run = read_all(include_str!("recorded/go.jsonl"));
    assert_eq!(counted(&run), [2, 3, 1, 1]);
    assert_eq!(
        with(&run, Outcome::Failed),
        ["m.TestBreaks", "m.TestSub", "m.TestSub/two"]
    );
    let run = read_all(include_str!("recorded/go-verbose.txt"));
    assert_eq!(counted(&run), [2, 3, 1, 1]);
    assert_eq!(with(&run, Outcome::Skipped), ["TestLater"]);
}

#[test]
fn tap_names_the_innermost_tests_and_no_files() {
    let run = read_all(include_str!("recorded/node.tap"));
    assert_eq!(counted(&run), [3, 2, 2, 1]);
    assert_eq!(
        with(&run, Outcome::Passed),
        ["adds", "deep > works", "parent > child"]
    );
    assert_eq!(with(&run, Outcome::Failed), ["breaks", "deep > fails"]);
    assert_eq!(
        counted(&read_all("TAP version 13\n1..0 # no tests\n")),
        [0; 4]
    );
    assert_eq!(
        counted(&read_all("1..3\nok\nnot ok 2\nok 3 # skip later\n")),
        [1, 1, 1, 0]
    );
}

#[test]
fn a_test_around_others_counts_where_it_fails_by_itself() {
    let outer =
        "TAP version 13\n# Subtest: outer\n    # Subtest: inner\n    ok 1 - inner\n    1..1\n";
    let run = read_all(&format!("{outer}not ok 1 - outer\n1..1\n"));
    assert_eq!(with(&run, Outcome::Failed), ["outer"]);
    let run = read_all(&format!("{outer}ok 1 - outer\n1..1\n"));
    assert_eq!(counted(&run), [1, 0, 0, 0]);
}

#[test]
fn the_two_reporters_of_node_say_the_same() {
    let tap = read_all(include_str!("recorded/node.tap"));
    let spec = read_all(include_str!("recorded/node-spec.txt"));
    assert_eq!(spec, tap);
}

#[test]
fn jest_names_tests_with_their_file_and_groups() {
    let run = read_all(include_str!("recorded/jest.txt"));
    assert_eq!(counted(&run), [3, 1, 2, 1]);
    assert_eq!(with(&run, Outcome::Failed), ["./a.test.js > add > breaks"]);
    assert_eq!(
        with(&run, Outcome::Passed),
        [
            "./a.test.js > add > adds",
            "./a.test.js > add > deep > works",
            "./a.test.js > alone"
        ]
    );
    let run = read_all(include_str!("recorded/jest-plain.txt"));
    assert_eq!(counted(&run), [3, 1, 2, 1]);
    assert_eq!(
        counted(&read_all("No tests found, exiting with code 1\n")),
        [0; 4]
    );
}

#[test]
fn vitest_names_tests_with_their_file_and_groups() {
    let run = read_all(include_str!("recorded/vitest.txt"));
    assert_eq!(counted(&run), [3, 1, 2, 1]);
    assert_eq!(with(&run, Outcome::Failed), ["a.test.js > add > breaks"]);
    assert_eq!(with(&run, Outcome::Passed).len(), 3);
    let run = read_all(include_str!("recorded/vitest-plain.txt"));
    assert_eq!(counted(&run), [3, 1, 2, 1]);
    assert_eq!(
        counted(&read_all("No test files found, exiting with code 1\n")),
        [0; 4]
    );
}

#[test]
fn pytest_names_tests_and_an_expected_failure_counts_as_skipped() {
    let run = read_all(include_str!("recorded/pytest-ran.txt"));
    assert_eq!(counted(&run), [2, 3, 3, 1]);
    assert!(with(&run, Outcome::Failed).contains(&"tests/test_a.py::test_plain[2]"));
    assert_eq!(
        with(&run, Outcome::Passed),
        [
            "tests/test_a.py::A::test_adds",
            "tests/test_a.py::test_plain[1]"
        ]
    );
    let run = read_all(include_str!("recorded/pytest-quiet.txt"));
    assert_eq!(counted(&run), [2, 3, 3, 1]);
    let run = read_all(include_str!("recorded/pytest.txt"));
    assert_eq!(counted(&run), [0, 0, 0, 1]);
    assert_eq!(
        counted(&read_all("==== no tests ran in 0.01s ====\n")),
        [0; 4]
    );
}

#[test]
fn unittest_names_tests_and_what_cannot_be_loaded_is_no_test() {
    let run = read_all(include_str!("recorded/unittest.txt"));
    assert_eq!(counted(&run), [1, 2, 2, 1]);
    assert!(with(&run, Outcome::Failed).contains(&"test_breaks (tests.test_a.A.test_breaks)"));
    assert_eq!(
        with(&run, Outcome::Passed),
        ["test_adds (tests.test_a.A.test_adds)"]
    );
    let run = read_all("test_a (m.A.test_a) ... skipped \"it's late\"\n\nRan 1 test in 0.0s\n");
    assert_eq!(with(&run, Outcome::Skipped), ["test_a (m.A.test_a)"]);
    let run = read_all(include_str!("recorded/unittest-plain.txt"));
    assert_eq!(counted(&run), [1, 2, 2, 1]);
    assert_eq!(
        counted(&read_all("\nRan 0 tests in 0.000s\n\nOK\n")),
        [0; 4]
    );
}

#[test]
fn junit_reports_of_several_writers_are_read() {
    let junit = |text: &str| read_junit(text).expect("it is a report");
    let run = junit(include_str!("recorded/junit-pytest.xml"));
    assert_eq!(counted(&run), [2, 4, 3, 0]);
    assert!(with(&run, Outcome::Passed).contains(&"pytest > tests.test_a.A > test_adds"));
    let run = junit(include_str!("recorded/junit-vitest.xml"));
    assert_eq!(counted(&run), [3, 1, 2, 1]);
    let run = junit(include_str!("recorded/junit-node.xml"));
    assert_eq!(counted(&run), [3, 2, 2, 0]);
    assert!(with(&run, Outcome::Failed).contains(&"deep > test > fails"));
}

#[test]
fn a_hostile_report_is_refused_with_a_reason() {
    let refused = |text: &str| read_junit(text).expect_err("it is refused");
    let entities =
        r#"<!DOCTYPE t [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><testsuites>&b;</testsuites>"#;
    assert!(refused(entities).contains("DOCTYPE"));
    let outside =
        r#"<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><testsuite name="&x;"/>"#;
    assert!(refused(outside).contains("DOCTYPE"));
    assert!(refused("<testsuite>&unknown;</testsuite>").contains("no whole XML"));
    assert!(refused(r#"<testsuites><testsuite><testcase name="a"/>"#).contains("no whole XML"));
    assert!(refused("<html></html>").contains("testsuites"));
    assert!(refused("").contains("no whole XML"));
    // Not a stack overflow.
    let deep = format!("<testsuites>{}", "<a>".repeat(1_000_000));
    assert!(refused(&deep).contains("no whole XML"));
}

#[test]
fn colours_do_not_hide_a_result() {
    let run =
        read_all("\u{1b}[32mtest result: ok\u{1b}[0m. 2 passed; 0 failed; 1 ignored; 0 measured\n");
    assert_eq!(counted(&run), [2, 0, 1, 0]);
}

#[test]
fn an_output_without_a_known_format_is_no_run() {
    for output in [
        "",
        "all good\n",
        "ok\n",
        "Tests passed: 3\n",
        "1 failed\n",
        "{\"a\":1}\n",
        "Ran the tests in 3 s\n",
    ] {
        assert_eq!(read(output), None, "{output:?}");
    }
}

#[test]
fn the_outputs_of_several_programs_are_added() {
    let (cargo, pytest) = (
        include_str!("recorded/cargo.txt"),
        include_str!("recorded/pytest-ran.txt"),
    );
    let run = read_all(&format!("{cargo}\n{pytest}"));
    assert_eq!(counted(&run), [6, 4, 4, 1]);
}

#[test]
fn a_class_of_python_that_is_skipped_or_fails_as_a_whole_takes_no_other_test_away() {
    let run = read_all(
        "test_a (t.A.test_a) ... ok\nsetUpClass (t.B) ... skipped 'no'\nsetUpClass (t.C) ... ERROR\n\nRan 1 test in 0.001s\n\nFAILED (errors=1, skipped=1)\n",
    );
    assert_eq!(counted(&run), [1, 1, 1, 0]);
    assert_eq!(with(&run, Outcome::Skipped), ["setUpClass (t.B)"]);
}

#[test]
fn names_are_bounded_each_and_all_together() {
    let long = "x".repeat(100_000);
    let repeated =
        |line: &dyn Fn(usize) -> String| (0..40_000).map(line).collect::<Vec<_>>().concat();
    let cases = repeated(&|n| format!("<testcase name=\"{n}\"/>"));
    let report = format!("<testsuite name=\"{long}\">{cases}</testsuite>");
    let run = read_junit(&report).unwrap();
    assert_eq!((run.passed, run.named.len()), (40_000, 40_000));
    assert!(run.named.keys().all(|name| name.len() <= LONGEST + 3));
    let lines = repeated(&|n| format!("test t{n} ... ok\n"));
    let output = format!(
        "     Running {long}\nrunning 1 test\n{lines}test result: ok. 40000 passed; 0 failed\n"
    );
    assert!(
        read_all(&output)
            .named
            .keys()
            .all(|name| name.len() <= LONGEST + 3)
    );
    // So many long names are no result.
    let lines = repeated(&|n| format!("test {n}{} ... ok\n", &long[..900]));
    assert_eq!(
        read(&output.replace("test t0 ", &format!("{lines}test t0 "))),
        None
    );
    // The time does not grow with the square of the depth.
    let deep = 100_000;
    let (open, close) = (
        "<testsuite name=\"s\">".repeat(deep),
        "</testsuite>".repeat(deep),
    );
    let run = read_junit(&format!("{open}<testcase name=\"a\"/>{close}"));
    assert!(run.is_err() || run.is_ok_and(|run| run.passed == 1));
}
