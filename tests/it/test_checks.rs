//! Checks of tests with real runners, in temporary repositories: what passes, what is caught, what could not run.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use workflow_sidecar::gates::{CheckError, CheckVerdict, Report};

const PASSED: CheckVerdict = CheckVerdict::Passed;
const FAILED: CheckVerdict = CheckVerdict::Failed;
const NOT_RUN: CheckVerdict = CheckVerdict::CouldNotRun(CheckError::Start);

/// A repository, and the cache of its checks.
struct Project {
    directory: TempDir,
    cache: TempDir,
    start: String,
    /// The directory of the project in the repository.
    below: String,
}

impl Project {
    /// Makes a repository of these files; its commit is that at the start of the run.
    fn of(files: &[(&str, &str)]) -> Self {
        let mut project = Self {
            directory: tempfile::tempdir().unwrap(),
            cache: tempfile::tempdir().unwrap(),
            start: String::new(),
            below: String::new(),
        };
        for (path, text) in files {
            project.write(path, text);
        }
        project.git(&["init", "--quiet"]);
        project.git(&["add", "."]);
        project.git(&["commit", "--quiet", "--message", "start"]);
        project.start = project.git(&["rev-parse", "HEAD"]);
        project
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.current_dir(self.path()).args(arguments);
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "Somebody");
            git.env(format!("GIT_{who}_EMAIL"), "somebody@example.com");
        }
        let output = git.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Starts a gate of one check, as `run-gate` does without an agent.
    fn start(&self, tests: Value) -> Child {
        let mut tests = tests;
        let command = tests.as_object_mut().unwrap();
        let words = command.remove("run").unwrap();
        let exit = command.remove("exit").unwrap_or(json!({"code": 0}));
        let timeout = command.remove("timeout").unwrap_or(json!(120));
        let env = command.remove("env").unwrap_or(json!([]));
        let run = json!({"command": words, "timeout": timeout, "exit": exit, "stream": "both", "env": env});
        command.insert("command".to_owned(), run);
        command.entry("min").or_insert(json!(1));
        let job = json!({
            "gates": [{"check": {"tests": tests}}],
            "cwd": self.path().join(&self.below),
            "baseline": {},
            "start": self.start,
        });
        let mut child = Command::new(env!("CARGO_BIN_EXE_workflow-sidecar"))
            .arg("run-gate")
            .env("XDG_CACHE_HOME", self.cache.path())
            .env("CARGO_TERM_COLOR", "never")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        writeln!(child.stdin.as_mut().unwrap(), "{job}").unwrap();
        child
    }

    fn check(&self, tests: Value) -> Report {
        let mut child = self.start(tests);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut reports = lines.filter_map(|line| {
            let mut message: Value = serde_json::from_str(&line.unwrap()).unwrap();
            let report = message.as_object_mut()?.remove("report")?;
            Some(serde_json::from_value(report).unwrap())
        });
        let report = reports.next().unwrap();
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(
            self.trees(),
            Vec::<PathBuf>::new(),
            "a temporary tree is left"
        );
        report
    }

    /// The temporary trees that are there.
    fn trees(&self) -> Vec<PathBuf> {
        let caches = fs::read_dir(self.cache.path().join("workflow-sidecar/tests"));
        let trees = caches
            .into_iter()
            .flatten()
            .map(|cache| cache.unwrap().path().join("tree"));
        trees.filter(|tree| tree.exists()).collect()
    }

    fn fails_without_change(&self, run: &[&str]) -> Report {
        self.check(json!({"run": run, "failsWithoutChange": true}))
    }
}

#[track_caller]
fn assert_report(report: &Report, verdict: CheckVerdict, reason: &str) {
    assert_eq!(report.verdict, verdict, "{report:#?}");
    assert!(report.reason.contains(reason), "{report:#?}");
}

const NODE: &[&str] = &["node", "--test"];
const ADD: (&str, &str) = ("add.mjs", "export const add = (a, b) => a - b;\n");
const FIXED: &str = "export const add = (a, b) => a + b;\n";
const IMPORTS: &str = "import {test} from 'node:test'; import assert from 'node:assert'; import {add} from './add.mjs';\n";
const ZERO: &str = "test('zero', () => assert.equal(add(0, 0), 0));\n";
const TWO: &str = "test('two', () => assert.equal(add(1, 1), 2));\n";

/// A project for node's runner with a bug that its test does not see.
fn node() -> Project {
    Project::of(&[ADD, ("add.test.mjs", &format!("{IMPORTS}{ZERO}"))])
}

#[test]
fn a_test_that_fails_without_the_change_passes_with_its_name() {
    let project = node();
    project.write("add.mjs", FIXED);
    project.write("add.test.mjs", &format!("{IMPORTS}{ZERO}{TWO}"));
    let report = project.fails_without_change(NODE);
    assert_report(
        &report,
        PASSED,
        "2 tests ran; fails without the change: two",
    );
    // Also where the change is committed.
    project.git(&["add", "."]);
    project.git(&["commit", "--quiet", "--message", "fix"]);
    assert_report(&project.fails_without_change(NODE), PASSED, "two");
}

#[test]
fn a_change_without_a_changed_test_fails() {
    let project = node();
    project.write("add.mjs", FIXED);
    let report = project.fails_without_change(NODE);
    assert_report(&report, FAILED, "no file of tests was changed");
}

#[test]
fn a_test_that_passes_without_the_change_fails() {
    let project = node();
    project.write("add.mjs", FIXED);
    let nothing = "test('two', () => { add(1, 1); });\n";
    project.write("add.test.mjs", &format!("{IMPORTS}{ZERO}{nothing}"));
    let report = project.fails_without_change(NODE);
    assert_report(
        &report,
        FAILED,
        "no test fails without the change: with only add.test.mjs changed",
    );
}

#[test]
fn a_deleted_an_emptied_and_a_skipped_test_are_caught() {
    let project = node();
    fs::remove_file(project.path().join("add.test.mjs")).unwrap();
    assert_report(&project.fails_without_change(NODE), FAILED, "no test ran");
    project.write("add.test.mjs", "");
    assert_report(&project.fails_without_change(NODE), FAILED, "no test ran");
    project.write(
        "add.test.mjs",
        &format!(
            "{IMPORTS}{ZERO}{}",
            TWO.replace("() =>", "{skip: true}, () =>")
        ),
    );
    let report = project.check(json!({"run": NODE, "noNewSkips": true}));
    assert_report(
        &report,
        FAILED,
        "skipped or expected to fail now, and not at the start of the run: two",
    );
    let report = project.fails_without_change(NODE);
    assert_report(&report, FAILED, "no test fails without the change");
}

#[test]
fn a_test_that_was_skipped_before_may_stay_so() {
    let skipped = ZERO.replace("() =>", "{skip: true}, () =>");
    let project = Project::of(&[ADD, ("add.test.mjs", &format!("{IMPORTS}{skipped}"))]);
    project.write("add.mjs", FIXED);
    project.write("add.test.mjs", &format!("{IMPORTS}{skipped}{TWO}"));
    let report =
        project.check(json!({"run": NODE, "noNewSkips": true, "failsWithoutChange": true}));
    assert_report(
        &report,
        PASSED,
        "1 test ran, 1 skipped; fails without the change: two",
    );
}

#[test]
fn a_test_that_is_gone_is_caught_also_beside_a_new_one_and_a_renamed_one_is_not() {
    let project = node();
    let both = json!({"run": NODE, "noNewSkips": true, "failsWithoutChange": true});
    project.write("add.mjs", FIXED);
    project.write("add.test.mjs", &format!("{IMPORTS}{TWO}"));
    assert_report(&project.check(both.clone()), FAILED, "gone: zero");
    let renamed = ZERO.replace("zero", "nothing");
    project.write("add.test.mjs", &format!("{IMPORTS}{TWO}{renamed}"));
    assert_report(&project.check(both), PASSED, "two");
    let skips = json!({"run": NODE, "noNewSkips": true});
    project.write("add.test.mjs", &format!("{IMPORTS}{renamed}"));
    assert_report(&project.check(skips.clone()), PASSED, "1 test ran");
}

#[test]
fn a_test_that_is_gone_is_caught_also_where_the_changed_tests_cannot_be_loaded_without_the_change()
{
    let project = node();
    let both = json!({"run": NODE, "noNewSkips": true, "failsWithoutChange": true});
    let feature = format!("{}export const twice = a => 2 * a;\n", ADD.1);
    project.write("add.mjs", &feature);
    let imports = format!("{IMPORTS}import {{twice}} from './add.mjs';\n");
    let new = "test('twice', () => assert.equal(twice(2), 4));\n";
    project.write("add.test.mjs", &format!("{imports}{new}"));
    assert_report(&project.check(both.clone()), FAILED, "gone: zero");
    // In another group it is the same test.
    let group = "import {describe} from 'node:test'; describe('add', () => {\n";
    project.write(
        "add.test.mjs",
        &format!("{imports}{new}{group}{ZERO}}});\n"),
    );
    assert_report(&project.check(both.clone()), PASSED, "2 tests ran");
    // A file that no runner finds, beside a new one with as many tests.
    project.write("add.mjs.txt", ZERO);
    fs::remove_file(project.path().join("add.test.mjs")).unwrap();
    project.write("twice.test.mjs", &format!("{imports}{new}"));
    assert_report(&project.check(both), FAILED, "gone: zero");
}

#[test]
fn a_skipped_test_may_move_to_a_group() {
    let skipped = ZERO.replace("() =>", "{skip: true}, () =>");
    let start = format!("{IMPORTS}import {{describe}} from 'node:test';\n");
    let zero = format!("{start}{ZERO}");
    let both = format!("{zero}{}", skipped.replace("zero", "none"));
    let project = Project::of(&[ADD, ("add.test.mjs", &both)]);
    let group = skipped.replace("zero", "none");
    let group = format!("describe('group', () => {{ {group} }});\n");
    project.write("add.test.mjs", &format!("{zero}{group}"));
    let skips = json!({"run": NODE, "noNewSkips": true});
    assert_report(&project.check(skips), PASSED, "1 test ran, 1 skipped");
}

#[test]
fn a_runner_that_is_replaced_and_an_exit_code_that_is_swallowed_are_caught() {
    let package = |script: &str| json!({"scripts": {"test": script}}).to_string();
    let project = Project::of(&[
        ADD,
        ("add.test.mjs", &format!("{IMPORTS}{ZERO}")),
        ("package.json", &package("node --test --test-reporter=tap")),
    ]);
    let npm = ["npm", "test", "--silent"];
    project.write("add.test.mjs", &format!("{IMPORTS}{ZERO}{TWO}"));
    project.write(
        "package.json",
        &package("node --test --test-reporter=tap || true"),
    );
    assert_report(
        &project.fails_without_change(&npm),
        FAILED,
        "1 test failed, but its exit code is 0",
    );
    project.write("package.json", &package("echo 1..1; echo ok 1 - fine"));
    let report = project.fails_without_change(&npm);
    assert_report(
        &report,
        FAILED,
        "without the change, these fail, but they did not run with it, or are as they were: two",
    );
    project.write("package.json", &package("true"));
    assert_report(
        &project.fails_without_change(&npm),
        NOT_RUN,
        "name the JUnit file that it writes with `report:`",
    );
}

#[test]
fn a_base_that_fails_by_itself_could_not_run() {
    let project = Project::of(&[ADD, ("add.test.mjs", &format!("{IMPORTS}{TWO}"))]);
    project.write("add.mjs", FIXED);
    project.write("add.test.mjs", &format!("{IMPORTS}{TWO}{ZERO}"));
    let report = project.fails_without_change(NODE);
    assert_report(
        &report,
        NOT_RUN,
        "with the files at its start: its tests fail, or it does not build (exit code 1)",
    );
    assert!(report.tail.contains("not ok"), "{report:?}");
}

#[test]
fn what_was_changed_before_the_run_is_no_change_of_it() {
    let mut project = node();
    project.write("add.mjs", FIXED);
    project.write("add.test.mjs", &format!("{IMPORTS}{ZERO}{TWO}"));
    let report = project.fails_without_change(NODE);
    assert_report(&report, PASSED, "what was changed before the run, and not");
    // As the files are recorded when the run starts.
    project.git(&["add", "."]);
    project.start = project.git(&["write-tree"]);
    let report = project.fails_without_change(NODE);
    assert_report(&report, FAILED, "no file of tests was changed");
    project.write("add.mjs", &format!("{FIXED}export const one = 1;\n"));
    let one = "test('one', async () => assert.equal((await import('./add.mjs')).one, 1));\n";
    project.write("add.test.mjs", &format!("{IMPORTS}{ZERO}{TWO}{one}"));
    let report = project.fails_without_change(NODE);
    assert_report(&report, PASSED, "fails without the change: one");
    assert!(!report.reason.contains("before the run"), "{report:?}");
}

#[test]
fn must_fail_means_that_a_test_ran_and_failed() {
    let project = node();
    let red = json!({"run": NODE, "exit": "nonzero"});
    assert_report(
        &project.check(red.clone()),
        FAILED,
        "exit code 0, expected any but 0",
    );
    project.write("add.test.mjs", "import './nothing.mjs';\n");
    assert_report(
        &project.check(red.clone()),
        FAILED,
        "no test ran: they cannot be loaded",
    );
    project.write("add.test.mjs", &format!("{IMPORTS}{TWO}"));
    assert_report(&project.check(red), PASSED, "1 test ran, 1 failed");
}

#[test]
fn the_smallest_number_of_tests_must_run() {
    let project = node();
    let report = project.check(json!({"run": NODE, "min": 2}));
    assert_report(&report, FAILED, "1 test ran, and at least 2 must");
    assert_report(&project.check(json!({"run": NODE})), PASSED, "1 test ran");
}

#[test]
fn without_the_files_at_the_start_it_could_not_run() {
    let mut project = node();
    project.start = "0".repeat(40);
    let missing = CheckVerdict::CouldNotRun(CheckError::Missing);
    assert_report(
        &project.fails_without_change(NODE),
        missing,
        "git does not have the files",
    );
    project.start = "--output=x".to_owned();
    assert_report(
        &project.fails_without_change(NODE),
        missing,
        "git does not have the files",
    );
}

#[test]
fn unittest_runs_without_the_change_too() {
    let test = |body: &str| {
        format!(
            "import unittest\nimport calc\nclass Calc(unittest.TestCase):\n    def test_zero(self): self.assertEqual(calc.add(0, 0), 0)\n{body}"
        )
    };
    let project = Project::of(&[
        ("calc.py", "def add(a, b): return a - b\n"),
        ("test_calc.py", &test("")),
    ]);
    project.write("calc.py", "def add(a, b): return a + b\n");
    project.write(
        "test_calc.py",
        &test("    def test_two(self): self.assertEqual(calc.add(1, 1), 2)\n"),
    );
    let report = project.fails_without_change(&["python3", "-m", "unittest"]);
    assert_report(
        &report,
        PASSED,
        "2 tests ran; fails without the change: test_two (test_calc.Calc",
    );
    // What is new cannot be imported there.
    project.write(
        "calc.py",
        "def add(a, b): return a - b\ndef twice(a): return 2 * a\n",
    );
    project.write(
        "test_calc.py",
        &test("").replace("import calc\n", "import calc\nfrom calc import twice\n"),
    );
    let report = project.fails_without_change(&["python3", "-m", "unittest"]);
    assert_report(
        &report,
        PASSED,
        "the changed tests cannot be loaded or compiled",
    );
}

#[test]
fn cargo_test_carries_the_module_of_tests_of_a_source_file() {
    const TESTS: &str = "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn zero() { assert_eq!(add(0, 0), 0); }\n";
    let library = |sign: &str, test: &str| {
        format!("pub fn add(a: i32, b: i32) -> i32 {{ a {sign} b }}\n\n{TESTS}{test}}}\n")
    };
    let manifest = "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    let project = Project::of(&[
        ("Cargo.toml", manifest),
        ("src/lib.rs", &library("-", "")),
        (".gitignore", "target\nCargo.lock\n"),
    ]);
    let two = "    #[test]\n    fn two() { assert_eq!(add(1, 1), 2); }\n";
    project.write("src/lib.rs", &library("+", two));
    let report = project.fails_without_change(&["cargo", "test", "--offline"]);
    assert_report(
        &report,
        PASSED,
        "2 tests ran; fails without the change: unittests src/lib.rs tests::two",
    );
    assert!(report.reason.contains("compiling there took"), "{report:?}");
    project.write(
        "src/lib.rs",
        &library("+", &two.replace("assert_eq!(add(1, 1), 2)", "add(1, 1)")),
    );
    let report = project.fails_without_change(&["cargo", "test", "--offline"]);
    assert_report(
        &report,
        FAILED,
        "no test fails without the change: with only src/lib.rs changed",
    );
    project.write(
        "src/lib.rs",
        &library("+", &two.replace("add(1, 1)", "plus(1, 1)")).replace(
            "pub fn",
            "#[cfg(test)] fn plus(a: i32, b: i32) -> i32 { add(a, b) }\npub fn",
        ),
    );
    let report = project.fails_without_change(&["cargo", "test", "--offline"]);
    assert_report(&report, PASSED, "cannot be loaded or compiled");
}

#[test]
fn the_tests_of_a_new_source_file_run_without_it() {
    let test = |body: &str| {
        format!(
            "pub fn twice(a: i32) -> i32 {{ 2 * a }}\n\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn twice() {{ {body} }}\n}}\n"
        )
    };
    let project = Project::of(&[
        (
            "Cargo.toml",
            "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        ("src/lib.rs", "pub fn one() -> i32 { 1 }\n"),
        (".gitignore", "target\nCargo.lock\n"),
    ]);
    project.write("src/lib.rs", "pub mod twice;\npub fn one() -> i32 { 1 }\n");
    project.write("src/twice.rs", &test("assert_eq!(super::twice(2), 4);"));
    let cargo = ["cargo", "test", "--offline"];
    let report = project.fails_without_change(&cargo);
    assert_report(&report, PASSED, "cannot be loaded or compiled");
    project.write("src/twice.rs", &test("assert_eq!(2 + 2, 4);"));
    let report = project.fails_without_change(&cargo);
    assert_report(&report, FAILED, "with only src/lib.rs changed");
}

#[test]
fn the_tests_of_a_new_package_need_what_they_test() {
    const CARGO: [&str; 3] = ["cargo", "test", "--offline"];
    let package = |name: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
    };
    let test = |body: &str| {
        format!(
            "pub fn twice(a: i32) -> i32 {{ 2 * a }}\n\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn twice() {{ {body} }}\n}}\n"
        )
    };
    let (good, bad) = ("assert_eq!(super::twice(2), 4);", "assert_eq!(2 + 2, 4);");
    // In a repository without one, as the only package.
    let ignored = (".gitignore", "target\nCargo.lock\n");
    let project = Project::of(&[ignored]);
    project.write("Cargo.toml", &package("calc"));
    for (body, verdict, reason) in [
        (good, PASSED, "cannot be loaded or compiled"),
        (bad, FAILED, "no test fails without the change"),
    ] {
        project.write("src/lib.rs", "pub mod twice;\n");
        project.write("src/twice.rs", &test(body));
        let report = project.fails_without_change(&CARGO);
        assert_report(&report, verdict, reason);
    }
    // As a new member of a workspace, with tests in a file of their own too.
    let workspace =
        |members: &str| format!("[workspace]\nresolver = \"2\"\nmembers = [{members}]\n");
    let project = Project::of(&[
        ignored,
        ("Cargo.toml", &workspace("\"one\"")),
        ("one/Cargo.toml", &package("one")),
        ("one/src/lib.rs", "#[test]\nfn one() {}\n"),
    ]);
    project.write("Cargo.toml", &workspace("\"one\", \"two\""));
    project.write("two/Cargo.toml", &package("two"));
    project.write(
        "two/src/main.rs",
        &test(good).replace("pub", "fn main() {}\npub"),
    );
    let report = project.fails_without_change(&CARGO);
    assert_report(&report, PASSED, "cannot be loaded or compiled");
    project.write(
        "two/src/main.rs",
        &test(bad).replace("pub", "fn main() {}\npub"),
    );
    project.write("two/tests/a.rs", "#[test]\nfn nothing() {}\n");
    let report = project.fails_without_change(&CARGO);
    assert_report(&report, FAILED, "no test fails without the change");
}

#[test]
fn what_was_built_in_other_repositories_is_removed_where_all_is_too_large() {
    let project = node();
    let builds = project.cache.path().join("workflow-sidecar/tests");
    let other = |name: &str, size: u64, used: u64| {
        let target = builds.join(name).join("target/deps");
        fs::create_dir_all(&target).unwrap();
        fs::File::create(target.join("x"))
            .unwrap()
            .set_len(size)
            .unwrap();
        let lock = fs::File::create(builds.join(name).join("lock")).unwrap();
        let time = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(used);
        lock.set_modified(time).unwrap();
    };
    other("oldest", 1 << 30, 1000);
    other("older", 3 << 30, 2000);
    other("newer", 3 << 30, 3000);
    let skips = json!({"run": NODE, "noNewSkips": true});
    assert_report(&project.check(skips), PASSED, "1 test ran");
    let is_built = |name: &str| builds.join(name).join("target").exists();
    assert_eq!(
        ["oldest", "older", "newer"].map(is_built),
        [false, false, true]
    );
}

#[test]
fn ignored_dependencies_are_linked_in_and_those_of_the_project_are_those_of_the_tree() {
    let test = "import {test} from 'node:test'; import assert from 'node:assert'; import {add} from 'add'; import {one} from 'far';\n";
    let project = Project::of(&[
        (
            "packages/add/index.js",
            "export const add = (a, b) => a - b;\n",
        ),
        (
            "packages/add/package.json",
            r#"{"name": "add", "type": "module"}"#,
        ),
        ("package.json", "{}"),
        ("a.test.mjs", &format!("{test}{ZERO}")),
        (".gitignore", "node_modules\n"),
    ]);
    project.write("node_modules/far/index.js", "export const one = 1;\n");
    project.write(
        "node_modules/far/package.json",
        r#"{"name": "far", "type": "module"}"#,
    );
    std::os::unix::fs::symlink("../packages/add", project.path().join("node_modules/add")).unwrap();
    project.write("packages/add/index.js", FIXED);
    project.write(
        "a.test.mjs",
        &format!("{test}{ZERO}{}", TWO.replace("1, 1), 2", "one, one), 2")),
    );
    assert_report(
        &project.fails_without_change(NODE),
        PASSED,
        "fails without the change: two",
    );
    assert!(project.path().join("node_modules/far/index.js").exists());
}

#[test]
fn a_project_below_the_root_of_its_repository_is_compared_there() {
    let project = Project::of(&[
        ("sub/add.mjs", ADD.1),
        ("sub/add.test.mjs", &format!("{IMPORTS}{ZERO}")),
    ]);
    project.write("sub/add.mjs", FIXED);
    project.write("sub/add.test.mjs", &format!("{IMPORTS}{ZERO}{TWO}"));
    let report = project
        .check(json!({"run": NODE, "failsWithoutChange": true, "files": ["sub/*.test.mjs"]}));
    assert_report(&report, PASSED, "two");
}

#[test]
fn no_hook_of_the_repository_runs_and_nothing_of_it_changes() {
    let project = node();
    project.write(".git/hooks/post-checkout", "#!/bin/sh\ntouch hooked\n");
    let hook = project.path().join(".git/hooks/post-checkout");
    fs::set_permissions(hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    project.write("add.mjs", FIXED);
    project.write("add.test.mjs", &format!("{IMPORTS}{ZERO}{TWO}"));
    let before = project.git(&["status", "--porcelain"]);
    assert_report(&project.fails_without_change(NODE), PASSED, "two");
    assert_eq!(project.git(&["status", "--porcelain"]), before);
    assert_eq!(project.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_link_of_the_base_leads_no_file_out_of_the_tree() {
    let outside = tempfile::tempdir().unwrap();
    let project = node();
    std::os::unix::fs::symlink(outside.path(), project.path().join("tests")).unwrap();
    project.git(&["add", "."]);
    project.git(&["commit", "--quiet", "--message", "link"]);
    let project = Project {
        start: project.git(&["rev-parse", "HEAD"]),
        ..project
    };
    fs::remove_file(project.path().join("tests")).unwrap();
    project.write(
        "tests/a.test.mjs",
        "import {test} from 'node:test'; test('a', () => {});\n",
    );
    let report =
        project.check(json!({"run": NODE, "failsWithoutChange": true, "files": ["tests/*.mjs"]}));
    assert_report(&report, NOT_RUN, "a link leads out of the tree");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_link_of_the_base_leads_neither_dependencies_nor_commands_out_of_the_tree() {
    let outside = tempfile::tempdir().unwrap();
    let (far, test) = (outside.path(), format!("{IMPORTS}{ZERO}"));
    let mut project = Project::of(&[
        ADD,
        ("add.test.mjs", &test),
        (".gitignore", "node_modules\n"),
    ]);
    std::os::unix::fs::symlink(far, project.path().join("sub")).unwrap();
    project.git(&["add", "."]);
    project.git(&["commit", "--quiet", "--message", "link"]);
    project.start = project.git(&["rev-parse", "HEAD"]);
    fs::remove_file(project.path().join("sub")).unwrap();
    project.write("sub/node_modules/a/index.js", "");
    project.write("add.test.mjs", &format!("{IMPORTS}{ZERO}{TWO}"));
    project.write("add.mjs", FIXED);
    let report = project.fails_without_change(NODE);
    assert_report(&report, NOT_RUN, "a link leads out of the tree");
    // The project is the directory that was a link.
    project.write(
        "sub/add.test.mjs",
        "import {test} from 'node:test'; test('a', () => {});\n",
    );
    project.below = "sub".to_owned();
    fs::remove_dir_all(project.path().join("sub/node_modules")).unwrap();
    let report = project.fails_without_change(NODE);
    assert_report(&report, NOT_RUN, "a link leads out of the tree");
    assert_eq!(fs::read_dir(far).unwrap().count(), 0);
}

#[test]
fn no_source_file_is_read_behind_a_link_or_from_a_pipe() {
    let project = node();
    project.write("add.mjs", FIXED);
    project.write("add.test.mjs", &format!("{IMPORTS}{ZERO}{TWO}"));
    std::os::unix::fs::symlink("/dev/zero", project.path().join("zero.rs")).unwrap();
    let pipe = project.path().join("pipe.rs");
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    assert_report(&project.fails_without_change(NODE), PASSED, "two");
}

#[test]
fn the_variables_of_the_check_come_before_those_of_the_tree() {
    let test = |name: &str, body: &str| {
        format!(
            "import unittest, calc\nclass Calc(unittest.TestCase):\n    def test_{name}(self): {body}\n"
        )
    };
    let add = |sign: &str| format!("def add(a, b): return a {sign} b\n");
    let project = Project::of(&[
        ("lib/calc.py", &add("-")),
        (
            "test_calc.py",
            &test("zero", "self.assertEqual(calc.add(0, 0), 0)"),
        ),
    ]);
    project.write("lib/calc.py", &add("+"));
    project.write(
        "test_two.py",
        &test("two", "self.assertEqual(calc.add(1, 1), 2)"),
    );
    let mut check = json!({
        "run": ["python3", "-m", "unittest"], "failsWithoutChange": true,
        "env": [["PYTHONPATH", "lib"]],
    });
    assert_report(
        &project.check(check.clone()),
        PASSED,
        "test_two (test_two.Calc",
    );
    // Its own directory of cargo is used in the tree too.
    check["run"] = json!([
        "sh",
        "-c",
        "test \"$CARGO_TARGET_DIR\" = own && python3 -m unittest -v"
    ]);
    check["env"] = json!([["PYTHONPATH", "lib"], ["CARGO_TARGET_DIR", "own"]]);
    assert_report(&project.check(check), PASSED, "test_two");
}

#[test]
fn a_module_of_the_project_is_not_taken_for_the_runner() {
    let project = Project::of(&[("test_a.py", "import unittest\n")]);
    project.write("unittest.py", "print('Ran 1 test in 0.0s\\n\\nOK')\n");
    let report = project.check(json!({"run": ["python3", "-m", "unittest"]}));
    assert_report(
        &report,
        NOT_RUN,
        "unittest.py stands before the module of Python",
    );
}

#[test]
fn only_a_test_that_is_new_or_changed_shows_the_change_and_no_runner_that_is_killed() {
    let runner = |unchanged: &str, end: &str| {
        format!("echo 'tests/b.py::new PASSED'; echo 'tests/a.py::old {unchanged}'; echo '{end}")
    };
    let project = Project::of(&[
        ("run.sh", &runner("PASSED", "= 2 passed in 0.1s ='")),
        ("tests/a.py", "a"),
        ("tests/b.py", "b"),
    ]);
    // What the tests do depends on a file that is no test.
    let script = format!(
        "if test -f impl || ! grep -q c tests/b.py; then {}; else {}; exit 1; fi",
        runner("PASSED", "= 2 passed in 0.1s ='"),
        runner("FAILED", "= 1 failed, 1 passed in 0.1s ='"),
    );
    let run = json!({"run": ["sh", "-c", script], "failsWithoutChange": true});
    project.write("impl", "");
    project.write("tests/b.py", "c");
    let report = project.check(run);
    assert_report(&report, FAILED, "or are as they were: tests/a.py::old");
    let killed = script.replace("exit 1", "kill -9 $$");
    let report = project.check(json!({"run": ["sh", "-c", killed], "failsWithoutChange": true}));
    assert_report(&report, NOT_RUN, "were ended by a signal");
}

#[test]
fn a_package_that_says_that_it_has_no_tests_hides_none_of_another() {
    let project = node();
    project.write("add.test.mjs", &format!("{IMPORTS}{TWO}"));
    let line = "node --test --test-reporter=tap; code=$?; echo 'No tests found'; exit $code";
    let report = project.check(json!({"run": ["sh", "-c", line], "exit": "nonzero"}));
    assert_report(&report, PASSED, "1 test ran, 1 failed");
}

#[test]
fn the_time_of_all_runs_together_is_bounded_and_the_tree_is_removed() {
    let slow = "test('slow', () => new Promise(done => setTimeout(done, 2500)));\n";
    let project = Project::of(&[ADD, ("add.test.mjs", &format!("{IMPORTS}{slow}"))]);
    project.write("add.test.mjs", &format!("{IMPORTS}{slow}{ZERO}"));
    let began = Instant::now();
    let report = project.check(json!({"run": NODE, "failsWithoutChange": true, "timeout": 5}));
    assert_report(
        &report,
        CheckVerdict::CouldNotRun(CheckError::Timeout),
        "did not end within",
    );
    assert!(began.elapsed() < Duration::from_secs(15));
}

#[test]
fn the_tree_is_removed_when_the_sidecar_ends_and_after_a_kill_by_the_next_check() {
    let slow = "test('slow', () => new Promise(done => setTimeout(done, 600)));\n";
    let forever = slow.replace("600", "600000");
    let project = Project::of(&[ADD, ("add.test.mjs", &format!("{IMPORTS}{slow}"))]);
    project.write(
        "add.test.mjs",
        &format!(
            "{IMPORTS}{ZERO}{}",
            forever.replace(
                "test('slow'",
                "test('slow', {skip: import.meta.url.includes('/tree/') ? false : true}"
            )
        ),
    );
    for is_killed in [false, true] {
        let mut child = project.start(json!({"run": NODE, "failsWithoutChange": true}));
        wait_until(|| !project.trees().is_empty());
        if is_killed {
            child.kill().unwrap();
        } else {
            drop(child.stdin.take());
        }
        child.wait().unwrap();
        assert_eq!(project.trees().is_empty(), !is_killed);
    }
    project.write("add.mjs", FIXED);
    project.write("add.test.mjs", &format!("{IMPORTS}{slow}{TWO}"));
    assert_report(&project.fails_without_change(NODE), PASSED, "two");
}

#[track_caller]
fn wait_until(is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < end, "it takes too long");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
#[ignore = "it measures: cargo test --test conformance the_cost_of -- --ignored --nocapture"]
fn the_cost_of_a_comparison_in_a_repository_of_5000_files_is_below_three_seconds() {
    let line = "a line of text\n".repeat(100);
    let names: Vec<String> = (0..5000)
        .map(|n| format!("docs/{}/{n}.md", n % 100))
        .collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, &*line)).collect();
    let zero = format!("{IMPORTS}{ZERO}");
    files.extend([ADD, ("add.test.mjs", &zero)]);
    let project = Project::of(&files);
    project.write("add.mjs", FIXED);
    project.write("add.test.mjs", &format!("{IMPORTS}{ZERO}{TWO}"));
    let alone = project.check(json!({"run": NODE}));
    let compared = project.fails_without_change(NODE);
    assert_report(&compared, PASSED, "two");
    let cost = compared.duration_ms.saturating_sub(3 * alone.duration_ms);
    let (whole, tests) = (compared.duration_ms, alone.duration_ms);
    println!(
        "failsWithoutChange, 5,000 files: {whole} ms; three runs of the tests: 3 x {tests} ms; the rest: {cost} ms"
    );
    assert!(cost < 3000, "{cost}");
}

/// A report of one test.
const REPORT: &str =
    r#"<testsuites><testsuite name="s"><testcase name="a"/></testsuite></testsuites>"#;

#[test]
fn a_report_must_be_a_file_of_the_project_that_the_command_has_written() {
    let project = Project::of(&[("report.txt", REPORT)]);
    let check = |line: &str, report: &str| {
        project.check(json!({"run": ["sh", "-c", line], "report": report}))
    };
    assert_report(&check("cp report.txt r.xml", "r.xml"), PASSED, "1 test ran");
    assert_report(&check("true", "r.xml"), NOT_RUN, "older than this run");
    assert_report(
        &check("true", "none.xml"),
        NOT_RUN,
        "the command did not write it",
    );
    assert_report(
        &check("cp report.txt ../r.xml", "../r.xml"),
        NOT_RUN,
        "outside of the project",
    );
    assert_report(
        &check("ln -sf report.txt link.xml", "link.xml"),
        NOT_RUN,
        "link",
    );
    assert_report(
        &check("mkdir -p a; ln -sfn a b; cp report.txt a/r.xml", "b/r.xml"),
        NOT_RUN,
        "link",
    );
    assert_report(&check("mkfifo p.xml", "p.xml"), NOT_RUN, "no regular file");
    assert_report(
        &check("head -c 60 report.txt > r.xml", "r.xml"),
        NOT_RUN,
        "no whole XML document",
    );
    assert_report(
        &check("truncate -s 1G r.xml", "r.xml"),
        NOT_RUN,
        "longer than 16 MiB",
    );
    assert_report(
        &check("truncate -s 16777217 big.xml", "big.xml"),
        NOT_RUN,
        "longer than 16 MiB",
    );
    let entities = r#"printf '<!DOCTYPE t [<!ENTITY a "x">]><testsuites>&a;</testsuites>' > e.xml"#;
    assert_report(&check(entities, "e.xml"), NOT_RUN, "DOCTYPE");
    // The exit code counts first.
    assert_report(&check("exit 3", "r.xml"), FAILED, "exit code 3");
    fs::remove_file(project.path().parent().unwrap().join("r.xml")).unwrap();
}
