//! A server in memory.

use std::fmt;
use std::sync::Arc;

use super::config::ServerConfig;
use super::dispatcher::Dispatcher;
use crate::platform::PlatformReport;

/// A sidecar in memory, for tests and replays: the same dispatcher, without pipes and threads.
///
/// Nothing waits for time here: ask for a virtual clock in `initialize`.
///
/// ```
/// let sidecar = workflow_sidecar::server::InMemoryServer::new();
/// let answers = sidecar.send(r#"{"jsonrpc":"2.0","id":1,"method":"hook/turn_end"}"#);
/// assert!(answers[0].contains("notInitialized"));
/// ```
pub struct InMemoryServer {
    dispatcher: Dispatcher,
}

impl InMemoryServer {
    /// A sidecar that has not been initialized.
    #[must_use]
    pub fn new() -> Self {
        Self::with_config(ServerConfig::default())
    }

    /// A sidecar with other files or another clock.
    pub(crate) fn with_config(config: ServerConfig) -> Self {
        Self {
            dispatcher: Dispatcher::new(config, Arc::default()),
        }
    }

    /// Sends a line and gives the lines that follow. After `shutdown` there are none.
    pub fn send(&self, line: impl AsRef<[u8]>) -> Vec<String> {
        self.lines(|dispatcher| dispatcher.handle_line(line.as_ref()))
    }

    /// Gives the lines that follow a line over the limit.
    pub(crate) fn send_long_line(&self, max_line: usize) -> Vec<String> {
        self.lines(|dispatcher| dispatcher.refuse_long_line(max_line))
    }

    /// Gives the lines that follow a report of the platform.
    pub(crate) fn report(&self, report: PlatformReport) -> Vec<String> {
        self.lines(|dispatcher| {
            // The outcome of a trigger's message is for the watcher of the trigger, which is not part of this.
            dispatcher.handle_report(report);
        })
    }

    /// Gives the lines that follow the end of the host's input.
    pub(crate) fn finish(&self) -> Vec<String> {
        self.lines(Dispatcher::finish)
    }

    /// Returns true if the host requested the end.
    pub(crate) fn is_over(&self) -> bool {
        self.dispatcher.is_over()
    }

    fn lines(&self, step: impl FnOnce(&Dispatcher)) -> Vec<String> {
        if self.is_over() {
            return Vec::new();
        }
        self.dispatcher.handle_due_time();
        step(&self.dispatcher);
        let text = String::from_utf8(self.dispatcher.take_output());
        let text = text.expect("JSON is UTF-8");
        text.lines().map(str::to_owned).collect()
    }
}

impl Default for InMemoryServer {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for InMemoryServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}
