//! A server in memory.

use parking_lot::Mutex;
use workflow_core::session::View;

use super::config::ServerConfig;
use super::state::Server;
use crate::platform::PlatformReport;
use crate::rpc::Frame;

/// A sidecar in memory, for tests and replays: the same server, without pipes and threads.
///
/// Nothing waits for time here: ask for a virtual clock in `initialize`.
///
/// ```
/// let sidecar = workflow_sidecar::server::InMemoryServer::default();
/// let answers = sidecar.send(r#"{"jsonrpc":"2.0","id":1,"method":"hook/turn_end"}"#);
/// assert!(answers[0].contains("notInitialized"));
/// ```
pub struct InMemoryServer(Mutex<Server>);

impl InMemoryServer {
    /// A sidecar with other files or another clock, or whose lines are recorded.
    pub(crate) fn with_config(config: ServerConfig) -> Self {
        Self(Mutex::new(Server::new(config)))
    }

    /// Sends a line and gives the lines that follow. After `shutdown` there are none.
    pub fn send(&self, line: impl AsRef<[u8]>) -> Vec<String> {
        self.handle_line(Frame::Line(line.as_ref()))
    }

    /// Gives the lines that follow the input of the host.
    pub(crate) fn handle_line(&self, line: Frame<'_>) -> Vec<String> {
        self.lines(|server| server.handle_input(line))
    }

    /// Gives the lines that follow a report of the platform.
    pub(crate) fn report(&self, report: &PlatformReport) -> Vec<String> {
        self.lines(|server| {
            // The outcome of a trigger's message is for the watcher of the trigger, which is not part of this.
            server.accept_report(report);
        })
    }

    /// Looks at the run of the session without a name.
    pub(crate) fn look<T>(&self, look: impl FnOnce(Option<View<'_>>) -> T) -> T {
        let server = self.0.lock();
        let open = server.sessions.get("");
        look(open.and_then(|open| open.driver.session.view()))
    }

    /// Returns true if the host requested the end.
    pub(crate) fn is_over(&self) -> bool {
        self.0.lock().is_over
    }

    fn lines(&self, step: impl FnOnce(&mut Server)) -> Vec<String> {
        let mut server = self.0.lock();
        if server.is_over {
            return Vec::new();
        }
        step(&mut server);
        let text = String::from_utf8(std::mem::take(&mut server.unsent));
        let text = text.expect("JSON is UTF-8");
        text.lines().map(str::to_owned).collect()
    }
}

impl Default for InMemoryServer {
    /// A sidecar that has not been initialized.
    fn default() -> Self {
        Self::with_config(ServerConfig::default())
    }
}
