//! Tests with real programs, files and repositories.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use workflow_core::definition::{
    Check, ExpectedExit, FileCheck, Gate, GitCheck, OutputStream, RunCheck,
};

use super::gates::{Baseline, CheckError, CheckVerdict, Job, Report, check};
use super::process::Monitor;
use crate::files::FileState;

mod change;
mod checkpoints;
mod commands;
mod files;
mod hidden_changes;
mod repositories;

const PASSED: CheckVerdict = CheckVerdict::Passed;
const FAILED: CheckVerdict = CheckVerdict::Failed;

fn could_not_run(error: CheckError) -> CheckVerdict {
    CheckVerdict::CouldNotRun(error)
}

/// A temporary project in which checks run.
struct TestProject {
    directory: TempDir,
    /// The directory of the trust store.
    agent_dir: TempDir,
    baseline: Baseline,
    /// The files at the start of the run.
    start: Option<String>,
}

impl TestProject {
    fn new() -> Self {
        // As the supervisor does: the first process of a container may be slow to reap orphaned processes.
        #[cfg(target_os = "linux")]
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).unwrap();
        Self {
            directory: tempfile::tempdir().unwrap(),
            agent_dir: tempfile::tempdir().unwrap(),
            baseline: Baseline::default(),
            start: None,
        }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn script(&self, path: &str, text: &str) {
        self.write(path, text);
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.path().join(path), executable).unwrap();
    }

    /// Enters a phase with this check.
    fn enter(&mut self, check: Check) {
        self.baseline = Baseline::take(&[gate(check)], self.path());
    }

    fn check(&self, wanted: Check) -> Report {
        self.check_with(wanted, &AtomicBool::new(false), |_| ())
    }

    fn run(&self, wanted: RunCheck) -> Report {
        self.check(Check::Run(wanted))
    }

    /// Runs a check that can be cancelled. `on_group` is called when its process group starts.
    fn check_with(&self, wanted: Check, cancelled: &AtomicBool, on_group: impl Fn(u32)) -> Report {
        let gate = gate(wanted);
        let job = Job {
            gates: vec![gate.clone()],
            cwd: self.path().to_path_buf(),
            baseline: self.baseline.clone(),
            start: self.start.clone(),
            agent_dir: Some(self.agent_dir.path().to_path_buf()),
        };
        let report_group = |group: Option<u32>| group.into_iter().for_each(&on_group);
        let stops = || cancelled.load(Ordering::Relaxed);
        check(&gate, &job, Monitor::new(&stops, &report_group))
    }
}

fn gate(check: Check) -> Gate {
    Gate {
        default_of: None,
        on_fail: None,
        tries: None,
        bounds: Vec::new(),
        on_limit: None,
        check,
        source: "phase.md:4".to_owned(),
    }
}

fn run(words: &[&str]) -> RunCheck {
    RunCheck {
        command: words.iter().map(|&word| word.to_owned()).collect(),
        shell: false,
        timeout: 20,
        exit: ExpectedExit::Code(0),
        stdout: None,
        stream: OutputStream::default(),
        cwd: None,
        env: Vec::new(),
        values: Vec::new(),
    }
}

fn shell(line: &str) -> RunCheck {
    RunCheck {
        shell: true,
        ..run(&[line])
    }
}
