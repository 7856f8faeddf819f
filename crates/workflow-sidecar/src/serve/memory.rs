//! A sidecar without a process: lines in, lines out.

use std::fmt;
use std::sync::Arc;

use tokio::sync::Notify;
use workflow_protocol::Dropped;

use super::dispatch::Dispatch;
use super::outbox::Outbox;
use super::server::Surroundings;
use crate::platform::PlatformReport;

/// A sidecar in memory, for tests and replays: the same dispatch, no pipe and no thread.
///
/// Nothing waits for time here: ask for a virtual clock in `initialize`.
///
/// ```
/// let sidecar = workflow_sidecar::serve::Memory::new();
/// let answers = sidecar.send(r#"{"jsonrpc":"2.0","id":1,"method":"hook/turn_end"}"#);
/// assert!(answers[0].contains("notInitialized"));
/// ```
pub struct Memory {
    dispatch: Dispatch,
}

impl Memory {
    /// A sidecar that has not been spoken to.
    #[must_use]
    pub fn new() -> Self {
        Self::within(Surroundings::default())
    }

    /// A sidecar with files or a clock of its own.
    pub(crate) fn within(surroundings: Surroundings) -> Self {
        Self {
            dispatch: Dispatch::new(surroundings, Arc::new(Notify::new())),
        }
    }

    /// Takes a line, gives the lines that follow from it. After `shutdown` nothing follows any more.
    pub fn send(&self, line: impl AsRef<[u8]>) -> Vec<String> {
        self.lines(|dispatch, out| dispatch.take(line.as_ref(), Dropped::default(), out))
    }

    /// What follows from a line over the limit.
    pub(crate) fn send_long_line(&self, max_line: usize) -> Vec<String> {
        self.lines(|_, out| Dispatch::refuse_long_line(max_line, out))
    }

    /// Handles a report of the platform, gives the lines that follow.
    pub(crate) fn report(&self, report: PlatformReport) -> Vec<String> {
        self.lines(|dispatch, out| {
            dispatch.platform_reported(report, out);
        })
    }

    /// What follows from the host closing its side.
    pub(crate) fn finish(&self) -> Vec<String> {
        self.lines(Dispatch::finish)
    }

    /// Whether the host asked for the end.
    pub(crate) fn is_over(&self) -> bool {
        self.dispatch.is_over()
    }

    fn lines(&self, step: impl FnOnce(&Dispatch, &mut Outbox)) -> Vec<String> {
        if self.is_over() {
            return Vec::new();
        }
        let mut out = Outbox::default();
        step(&self.dispatch, &mut out);
        let text = String::from_utf8_lossy(out.as_bytes());
        text.lines().map(str::to_owned).collect()
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}
