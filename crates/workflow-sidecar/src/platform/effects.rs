//! The interpreter of effects: the port through which sessions reach everything outside of the process.
//!
//! The engine asks for an [`Effect`]; the result comes back as a [`PlatformEvent`], at once or as a [`PlatformReport`].
//! [`RealPlatform`](super::RealPlatform) works on this machine; a replay answers from a transcript, a dry run invents.
//! Must not know methods or lines.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use workflow_core::approval::ShownFile;
use workflow_core::effect::Effect;
use workflow_core::event::PlatformEvent;
use workflow_core::policy::rules::Paths;

use super::file_excerpt;
use super::paths::{LocalPaths, with_slashes};
use crate::files::hash;
use crate::store::{RunNote, SessionKey};

/// The world outside of sessions.
pub(crate) trait Platform: Send + Sync {
    /// Carries out an effect of a session. Gives the result if it is known at once; what is known later is reported.
    fn perform(&self, session: &SessionContext, effect: Effect) -> Option<PlatformEvent>;

    /// Decides if a report is still to be handled: the trigger that it comes from may be watched no more.
    fn accept(&self, _report: &PlatformReport) -> bool {
        true
    }

    /// Takes answers that persons give outside of the host, from the begin of a session on.
    fn open_session(&self, _session: &SessionContext) {}

    /// Notes a run in the index of all runs, and what was counted.
    fn note_run(&self, _session: &SessionContext, _note: RunNote) {}

    /// Returns what was remembered with a run that was noted; nothing while a recording must not depend on it.
    fn remembered(&self, _session: &SessionContext, _run: &SessionKey) -> String {
        String::new()
    }

    /// Ends everything that runs for a session.
    fn close_session(&self, _session: &str) {}

    /// Resolves the paths of a tool call.
    fn paths<'p>(&self, session: &'p SessionContext) -> Box<dyn Paths + 'p> {
        let file = session.session_file.as_deref();
        Box::new(LocalPaths::new(&session.cwd, &session.agent_dir, file))
    }

    /// Reads a file that is shown with a question.
    fn show(&self, path: &str, cwd: &Path) -> ShownFile {
        file_excerpt::shown_file(path, cwd)
    }

    /// Compares such a file with its earlier state.
    fn is_unchanged(&self, path: &str, cwd: &Path, state: &str) -> bool {
        file_excerpt::shown_file(path, cwd).state == state
    }
}

/// A session: where it is, and what the host says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionContext {
    pub(crate) id: String,
    /// The directory of the user's own definitions.
    pub(crate) agent_dir: Arc<Path>,
    pub(crate) cwd: Arc<Path>,
    /// The file that the host stores the session in, if it named one.
    pub(crate) session_file: Option<Arc<Path>>,
    /// False if the host says that the user does not trust the working directory.
    pub(crate) is_trusted: bool,
    /// True on a virtual clock, with which nothing may be random.
    pub(crate) is_virtual: bool,
}

impl SessionContext {
    /// A text that a fork does not share: made of the file that the host stores the session in, or of its id. A session
    /// without both ends with this process.
    pub(super) fn identity(&self) -> String {
        let file = self.session_file.as_deref().map(with_slashes);
        let id = Some(self.id.clone()).filter(|id| !id.is_empty());
        hash(
            file.or(id)
                .unwrap_or_else(|| std::process::id().to_string()),
        )
    }
}

/// An event that was not the immediate result of an effect; in a transcript the value of an `event` line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PlatformReport {
    /// The id of the session, which may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) session: String,
    #[serde(flatten)]
    pub(crate) event: PlatformEvent,
    /// The number of the watched trigger that it comes from.
    #[serde(skip)]
    pub(crate) trigger: Option<u64>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A session in a directory.
    pub(crate) fn session_in(agent_dir: &Path, cwd: &Path) -> SessionContext {
        SessionContext {
            id: "s".to_owned(),
            agent_dir: agent_dir.into(),
            cwd: cwd.into(),
            session_file: None,
            is_trusted: true,
            is_virtual: false,
        }
    }
}
