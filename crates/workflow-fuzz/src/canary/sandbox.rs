//! A directory in which lines run.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

/// The time for a line.
const MAX_TIME: Duration = Duration::from_millis(1500);

/// The user in whose name a line runs if root starts it.
const NOBODY: u32 = 65534;

/// Programs that make a file, for a `PATH` that a line changes. Numbers are what `%n` and `coproc` may set it to.
const DIRECTORIES: &[&str] = &["sub", "0", "1", "63"];
const PROGRAMS: &[&str] = &["ls", "cat", "wc", "touch", "find", "sort"];

/// The state of a file: its path, size and time.
type State = (PathBuf, u64, Option<SystemTime>);

/// A temporary directory with few files, and its state.
#[derive(Debug)]
pub struct Sandbox {
    directory: TempDir,
    before: Vec<State>,
}

impl Sandbox {
    /// Creates a directory, in which a change is noticed. Returns `None` if there is no bash 5.
    ///
    /// # Panics
    ///
    /// If bash cannot change the directory, so that no line could.
    pub fn new() -> Option<Self> {
        let version = Command::new("bash")
            .args(["-c", "echo $BASH_VERSINFO"])
            .output();
        let version = String::from_utf8(version.ok()?.stdout).ok()?;
        if version.trim().parse::<u32>().ok()? < 5 {
            return None;
        }
        let mut sandbox = Self::filled();
        let changed = sandbox.run("touch pwned");
        assert_eq!(changed.as_deref(), Some("pwned"), "a change is noticed");
        Some(sandbox)
    }

    fn filled() -> Self {
        let directory = tempfile::tempdir().expect("there is room for a directory");
        let write = |path: &str, text: &str| {
            let path = directory.path().join(path);
            fs::write(&path, text).expect("the directory is writable");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        };
        for name in DIRECTORIES {
            fs::create_dir(directory.path().join(name)).expect("the directory is writable");
            for program in PROGRAMS {
                write(&format!("{name}/{program}"), "#!/bin/sh\n: > pwned\n");
            }
        }
        write("a.txt", "1\n");
        write("text", "a[$(touch pwned)]\n");
        let before = states(directory.path());
        if rustix::process::geteuid().is_root() {
            let paths = before.iter().map(|(path, ..)| directory.path().join(path));
            for path in paths.chain([directory.path().to_path_buf()]) {
                chown(path, Some(NOBODY), Some(NOBODY)).expect("root may");
            }
        }
        Self { directory, before }
    }

    /// Runs a line in bash, in a group of processes that is ended with it. Returns the path that has changed, if one has; then the
    /// directory is a new one.
    ///
    /// # Panics
    ///
    /// If bash does not start. A line with a NUL cannot run.
    pub fn run(&mut self, line: &str) -> Option<String> {
        if line.contains('\0') {
            return None;
        }
        let directory = self.directory.path();
        let mut command = Command::new("bash");
        command
            .args(["-c", line])
            .current_dir(directory)
            .env_clear()
            .envs([("PATH", "/usr/bin:/bin"), ("CI", "1"), ("FUNCNEST", "4")])
            .env("HOME", ".")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        let mut child = command.spawn().expect("bash starts in the directory");
        let start = Instant::now();
        while child.try_wait().is_ok_and(|end| end.is_none()) && start.elapsed() < MAX_TIME {
            std::thread::sleep(Duration::from_micros(200));
        }
        // It fails if all have ended.
        kill_process_group(Pid::from_child(&child), Signal::KILL).ok();
        child.wait().ok();
        let after = states(directory);
        if after == self.before {
            return None;
        }
        let is_new = |state: &&State| !self.before.contains(state);
        let changed = after.iter().find(is_new).or(self.before.first());
        let changed = changed.map(|(path, ..)| path.to_string_lossy().into_owned());
        *self = Self::filled();
        changed
    }
}

/// Returns the state of each file below a directory.
fn states(directory: &Path) -> Vec<State> {
    let mut found = Vec::new();
    let mut pending = vec![directory.to_path_buf()];
    while let Some(at) = pending.pop() {
        for entry in fs::read_dir(at).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            if metadata.is_dir() {
                pending.push(path.clone());
            }
            let path = path.strip_prefix(directory).map(Path::to_path_buf);
            found.push((
                path.unwrap_or_default(),
                metadata.len(),
                metadata.modified().ok(),
            ));
        }
    }
    found.sort();
    found
}
