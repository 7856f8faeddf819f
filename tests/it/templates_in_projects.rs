//! The gates of the template `tdd`, in projects of several languages, with the tools of this machine.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;

use workflow_core::definition::{Gate, Loaded, MemoryFiles, PhaseEntry, Tier, load};
use workflow_sidecar::gates::{Baseline, CheckError, CheckVerdict, GateEvent, Job, Report, start};

use crate::connection::Process;

type Files = &'static [(&'static str, &'static str)];

/// A project before a change, a test of behaviour that is missing, and the behaviour.
struct Project {
    /// A command that succeeds where the tools are there.
    tool: &'static [&'static str],
    files: Files,
    test: (&'static str, &'static str),
    code: (&'static str, &'static str),
}

const PROJECTS: [Project; 4] = [
    Project {
        tool: &["cargo", "--version"],
        files: &[
            (
                "Cargo.toml",
                "[package]\nname = \"a\"\nversion = \"0.1.0\"\n[workspace]\n",
            ),
            ("src/lib.rs", "pub fn one() -> u8 {\n    1\n}\n"),
            (
                "tests/one.rs",
                "#[test]\nfn one() {\n    assert_eq!(a::one(), 1);\n}\n",
            ),
        ],
        test: (
            "tests/two.rs",
            "#[test]\nfn two() {\n    assert_eq!(a::two(), 2);\n}\n",
        ),
        code: (
            "src/lib.rs",
            "pub fn one() -> u8 {\n    1\n}\npub fn two() -> u8 {\n    2\n}\n",
        ),
    },
    Project {
        tool: &["npm", "--version"],
        files: &[
            ("package.json", r#"{"scripts":{"test":"node --test"}}"#),
            ("one.js", "exports.one = 1;\n"),
            (
                "one.test.js",
                "require('node:test')('one', () => require('node:assert').equal(require('./one').one, 1));\n",
            ),
        ],
        test: (
            "two.test.js",
            "require('node:test')('two', () => require('node:assert').equal(require('./one').two, 2));\n",
        ),
        code: ("one.js", "exports.one = 1;\nexports.two = 2;\n"),
    },
    Project {
        tool: &["python3", "--version"],
        files: &[
            ("one.py", "ONE = 1\n"),
            (
                "tests/test_one.py",
                "import unittest, one\nclass T(unittest.TestCase):\n    def test_one(self): self.assertEqual(one.ONE, 1)\n",
            ),
        ],
        test: (
            "tests/test_two.py",
            "import unittest, one\nclass T(unittest.TestCase):\n    def test_two(self): self.assertEqual(one.TWO, 2)\n",
        ),
        code: ("one.py", "ONE = 1\nTWO = 2\nTHREE = 3\n"),
    },
    Project {
        tool: &["go", "version"],
        files: &[
            ("go.mod", "module a\n"),
            ("a.go", "package a\n\nfunc One() int { return 1 }\n"),
            (
                "a_test.go",
                "package a\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fail()\n\t}\n}\n",
            ),
        ],
        test: (
            "b_test.go",
            "package a\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) {\n\tif Two() != 2 {\n\t\tt.Fail()\n\t}\n}\n",
        ),
        code: ("b.go", "package a\n\nfunc Two() int { return 2 }\n"),
    },
];

/// A project with the template `tdd`.
struct WithTemplate {
    directory: tempfile::TempDir,
    definitions: Loaded,
}

impl WithTemplate {
    fn new(files: Files) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let project = directory.path();
        for file in files {
            write(project, *file);
        }
        let mut init = Process::command();
        let init = init.args(["init", "--no-run", "--template", "tdd", "--project"]);
        let status = init.arg(project).env("HOME", project).stdout(Stdio::null());
        assert!(status.status().unwrap().success());
        let workflows = project.join(".pi/workflows");
        let mut definitions = MemoryFiles::new();
        for workflow in fs::read_dir(&workflows).unwrap() {
            for file in fs::read_dir(workflow.unwrap().path()).unwrap() {
                let path = file.unwrap().path();
                let text = fs::read_to_string(&path).unwrap();
                let name = path.strip_prefix(&workflows).unwrap().display().to_string();
                definitions = definitions.with(Tier::Project, &name, text);
            }
        }
        Self {
            directory,
            definitions: load(&definitions),
        }
    }

    fn gate(&self, workflow: &str, id: &str) -> Vec<Gate> {
        let workflow = self.definitions.catalog.get(workflow).unwrap();
        let gates = workflow.phases.iter().find_map(|entry| match entry {
            PhaseEntry::Phase(phase) if phase.id == id => Some(phase.gate.clone()),
            PhaseEntry::Phase(_) | PhaseEntry::Subworkflow(_) => None,
        });
        gates.unwrap()
    }

    fn write(&self, file: (&str, &str)) {
        write(self.directory.path(), file);
    }

    fn enter(&self, gates: &[Gate]) -> Baseline {
        Baseline::take(gates, self.directory.path())
    }

    /// The last report of a gate: all before it have passed.
    fn run(&self, gates: Vec<Gate>, baseline: Baseline) -> Report {
        let job = Job {
            gates,
            cwd: self.directory.path().to_path_buf(),
            baseline,
            start: None,
            agent_dir: None,
        };
        let binary = env!("CARGO_BIN_EXE_workflow-sidecar").into();
        let (sender, events) = channel();
        let running = start(binary, job, move |event| sender.send(event).unwrap()).unwrap();
        let mut reports = events.iter().find_map(|event| match event {
            GateEvent::Finished(reports) => Some(reports),
            GateEvent::Progress(_) => None,
        });
        drop(running);
        reports.as_mut().unwrap().pop().unwrap()
    }

    fn passes(&self, gates: Vec<Gate>) {
        let report = self.run(gates, Baseline::default());
        assert_eq!(report.verdict, CheckVerdict::Passed, "{report:?}");
    }
}

fn write(project: &Path, (path, text): (&str, &str)) {
    let path = project.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn red_needs_a_new_test_that_fails_and_green_the_code() {
    for project in PROJECTS {
        let [program, arguments @ ..] = project.tool else {
            unreachable!("each names a program")
        };
        let found = Command::new(program).args(arguments).output();
        if !found.is_ok_and(|output| output.status.success()) {
            continue;
        }
        let in_project = WithTemplate::new(project.files);
        let red = || in_project.gate("tdd-cycle", "red");
        let green = || in_project.gate("tdd-cycle", "green");
        in_project.passes(in_project.gate("tdd", "list"));
        let baseline = in_project.enter(&red());
        let unchanged = in_project.run(red(), baseline.clone());
        assert_eq!(unchanged.verdict, CheckVerdict::Failed, "{unchanged:?}");
        assert!(
            unchanged.reason.contains("has not changed"),
            "{unchanged:?}"
        );
        in_project.write(project.test);
        let failing = in_project.run(red(), baseline);
        assert_eq!(failing.verdict, CheckVerdict::Passed, "{failing:?}");
        let missing = in_project.run(green(), Baseline::default());
        assert_eq!(missing.verdict, CheckVerdict::Failed, "{missing:?}");
        in_project.write(project.code);
        in_project.passes(green());
    }
}

#[test]
fn a_test_that_cannot_run_is_not_one_that_fails() {
    for files in [&[] as Files, &[("package.json", "{}")]] {
        let in_project = WithTemplate::new(files);
        let red = || in_project.gate("tdd-cycle", "red");
        let baseline = in_project.enter(&red());
        in_project.write(("tests/a.test.js", "a test"));
        let report = in_project.run(red(), baseline);
        let missing = CheckVerdict::CouldNotRun(CheckError::Missing);
        assert_eq!(report.verdict, missing, "{report:?}");
    }
}
