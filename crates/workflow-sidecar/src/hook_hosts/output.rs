//! Standard output and standard error of a hook, for this process alone.
//!
//! A host waits until every process that has the pipe closes it, then gives up waiting, and lets the tool run. So no child
//! may inherit it: both descriptors are moved to ones that are closed when another program starts, and replaced by the null
//! device.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

use super::answer::Printed;

/// The two streams.
#[derive(Debug)]
pub(super) struct HookOutput {
    stdout: File,
    stderr: File,
}

impl HookOutput {
    /// Takes the streams of the process.
    #[cfg(unix)]
    pub(super) fn take() -> io::Result<Self> {
        let own = |stream| rustix::io::fcntl_dupfd_cloexec(stream, 3).map(File::from);
        let output = Self {
            stdout: own(rustix::stdio::stdout())?,
            stderr: own(rustix::stdio::stderr())?,
        };
        let null = OpenOptions::new().write(true).open("/dev/null")?;
        rustix::stdio::dup2_stdout(&null)?;
        rustix::stdio::dup2_stderr(&null)?;
        Ok(output)
    }

    /// Takes the streams of the process.
    #[cfg(windows)]
    pub(super) fn take() -> io::Result<Self> {
        use std::os::windows::io::AsHandle;
        let own = |handle: std::os::windows::io::BorrowedHandle<'_>| {
            handle.try_clone_to_owned().map(File::from)
        };
        Ok(Self {
            stdout: own(io::stdout().as_handle())?,
            stderr: own(io::stderr().as_handle())?,
        })
    }

    /// Prints an answer: each stream in one write. A host that is gone reads nothing.
    pub(super) fn print(&mut self, printed: &Printed) {
        let lines = [
            (&mut self.stderr, &printed.stderr),
            (&mut self.stdout, &printed.stdout),
        ];
        for (stream, text) in lines {
            if !text.is_empty() {
                let _ = stream.write_all(format!("{text}\n").as_bytes());
            }
        }
    }
}
