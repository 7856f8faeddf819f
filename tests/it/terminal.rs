//! Terminals of a person, and hosts with processes of their own.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::connection::Process;

/// Runs each line that is typed, and says how it ended.
const SHELL: &str = r#"while IFS= read -r line; do eval "$line"; printf '\nended %s\n' "$?"; done"#;

/// The unit in which the system notes when a process started.
const TICK: Duration = Duration::from_millis(30);

/// A terminal that is open until it is dropped.
#[derive(Debug)]
pub(crate) struct Terminal {
    script: Child,
    keyboard: ChildStdin,
    screen: BufReader<ChildStdout>,
}

impl Terminal {
    /// Opens a terminal in a directory. What starts later is younger.
    pub(crate) fn open(directory: &Path) -> Self {
        let mut script = Command::new("script")
            .args(["-qec", SHELL, "/dev/null"])
            .env("SHELL", "/bin/sh")
            .env("PI_CODING_AGENT_DIR", directory.join("agent"))
            .current_dir(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut terminal = Self {
            keyboard: script.stdin.take().unwrap(),
            screen: BufReader::new(script.stdout.take().unwrap()),
            script,
        };
        terminal.line("true");
        std::thread::sleep(TICK);
        terminal
    }

    /// Runs a command of the binary, with what is typed then. Returns what is shown, and how it ended.
    pub(crate) fn run(&mut self, arguments: &str, typed: &str) -> (String, Option<i32>) {
        let binary = env!("CARGO_BIN_EXE_workflow-sidecar");
        self.type_line(&format!("'{binary}' {arguments}"));
        self.keyboard.write_all(typed.as_bytes()).unwrap();
        self.read_to_end()
    }

    fn line(&mut self, line: &str) -> (String, Option<i32>) {
        self.type_line(line);
        self.read_to_end()
    }

    /// Types a line without waiting for its end.
    pub(crate) fn type_line(&mut self, line: &str) {
        self.keyboard
            .write_all(format!("{line}\n").as_bytes())
            .unwrap();
    }

    /// Reads up to this text.
    pub(crate) fn read_until(&mut self, text: &str) -> String {
        let mut shown = Vec::new();
        while !String::from_utf8_lossy(&shown).contains(text) {
            let mut byte = [0];
            std::io::Read::read_exact(&mut self.screen, &mut byte).unwrap();
            shown.extend(byte);
        }
        String::from_utf8(shown).unwrap()
    }

    /// Reads to the end of the command that runs.
    pub(crate) fn read_to_end(&mut self) -> (String, Option<i32>) {
        let mut shown = String::new();
        loop {
            let mut line = String::new();
            assert!(self.screen.read_line(&mut line).unwrap() > 0, "{shown}");
            if let Some(status) = line.trim_end().strip_prefix("ended ") {
                return (shown, status.parse().ok());
            }
            shown.push_str(&line);
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

/// A sidecar with a host in a session of its own, as a host in another terminal is.
pub(crate) fn sidecar_of_a_host() -> Process {
    let binary = env!("CARGO_BIN_EXE_workflow-sidecar");
    let mut host = Command::new("setsid");
    host.args(["sh", "-c", "\"$0\" serve; exit $?", binary]);
    host.env_remove("WORKFLOW_SIDECAR_LOG")
        .stderr(Stdio::null());
    Process::spawn(&mut host)
}
