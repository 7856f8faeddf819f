//! Connections to a sidecar: the real binary over pipes, and the same dispatch in memory.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use workflow_sidecar::server::InMemoryServer;

/// The longest wait for a line, or for the end.
const DEADLINE: Duration = Duration::from_secs(60);

/// Lines to a sidecar and from it.
pub(crate) trait Connection {
    /// Sends bytes as they are; a line's end is theirs to bring.
    fn send(&mut self, bytes: &[u8]);

    /// The next line, if one comes in this time.
    fn receive_within(&mut self, time: Duration) -> Option<String>;

    /// Ends the conversation; gives what was never received.
    fn finish(&mut self) -> Vec<String>;

    /// The next line, which must come.
    fn receive(&mut self) -> String {
        self.receive_within(DEADLINE)
            .expect("the sidecar says something")
    }
}

/// The dispatch in memory.
#[derive(Default)]
pub(crate) struct InMemory {
    sidecar: InMemoryServer,
    lines: VecDeque<String>,
}

impl Connection for InMemory {
    fn send(&mut self, bytes: &[u8]) {
        let lines = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        for line in lines.split(|byte| *byte == b'\n') {
            self.lines.extend(self.sidecar.send(line));
        }
    }

    fn receive_within(&mut self, _: Duration) -> Option<String> {
        self.lines.pop_front()
    }

    fn finish(&mut self) -> Vec<String> {
        self.lines.drain(..).collect()
    }
}

/// The binary, with a thread that reads its lines.
pub(crate) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Process {
    /// The binary with `serve` and these arguments.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::spawn(Self::command().arg("serve").args(arguments))
    }

    /// The binary, without the surroundings of this machine.
    pub(crate) fn command() -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_workflow-sidecar"));
        command.env_remove("PI_CODING_AGENT_DIR");
        command.env_remove("WORKFLOW_SIDECAR_LOG");
        command
    }

    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (say, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                if say.send(line.expect("stdout is UTF-8")).is_err() {
                    return;
                }
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Closes its standard input.
    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    /// Waits for the end of the process.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(started.elapsed() < DEADLINE, "the sidecar does not end");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Connection for Process {
    fn send(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("standard input is open");
        stdin.write_all(bytes).unwrap();
    }

    fn receive_within(&mut self, time: Duration) -> Option<String> {
        self.lines.recv_timeout(time).ok()
    }

    fn finish(&mut self) -> Vec<String> {
        self.close();
        let status = self.wait();
        assert!(status.success(), "the sidecar ended with {status}");
        self.lines.iter().collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Nothing of a failed test may stay behind; one that has ended cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
