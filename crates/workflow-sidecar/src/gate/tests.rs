//! Checks against real programs: what they do, and what is said of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use workflow_core::definition::{Check, ExpectedExit, FileCheck, Gate, GitCheck, RunCheck};

use super::check::check;
use super::watch::Watch;
use super::{Baseline, FileState, Head, Job, Obstacle, Report, Verdict};

mod code;
mod commands;
mod files;
mod repositories;

const PASSED: Verdict = Verdict::Passed;
const FAILED: Verdict = Verdict::Failed;

fn could_not(obstacle: Obstacle) -> Verdict {
    Verdict::CouldNotRun(obstacle)
}

/// A directory in which checks run.
struct Place {
    directory: TempDir,
    /// Where the user's trust is kept.
    agent_dir: TempDir,
    baseline: Baseline,
}

impl Place {
    fn new() -> Self {
        // As the keeper does: the first process of a container may be slow to bury what is left to it.
        #[cfg(target_os = "linux")]
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).unwrap();
        Self {
            directory: tempfile::tempdir().unwrap(),
            agent_dir: tempfile::tempdir().unwrap(),
            baseline: Baseline::default(),
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

    /// The phase is entered.
    fn enter(&mut self, check: Check) {
        self.baseline = Baseline::take(&[gate(check)], self.path());
    }

    fn check(&self, wanted: Check) -> Report {
        self.check_until(wanted, &AtomicBool::new(false))
    }

    fn run(&self, wanted: RunCheck) -> Report {
        self.check(Check::Run(wanted))
    }

    fn check_until(&self, wanted: Check, over: &AtomicBool) -> Report {
        let gate = gate(wanted);
        let job = Job {
            gates: vec![gate.clone()],
            cwd: self.path().to_path_buf(),
            baseline: self.baseline.clone(),
            agent_dir: Some(self.agent_dir.path().to_path_buf()),
        };
        check(&gate, &job, &mut Watch::new(over, &mut |_| ()))
    }
}

fn gate(check: Check) -> Gate {
    Gate {
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
    }
}

fn shell(line: &str) -> RunCheck {
    RunCheck {
        shell: true,
        ..run(&[line])
    }
}
