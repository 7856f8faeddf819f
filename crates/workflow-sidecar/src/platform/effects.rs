//! The interpreter of effects: the port through which sessions reach everything outside of the process.
//!
//! The engine asks for an [`Effect`]; the result comes back as a [`PlatformEvent`], at once or as a [`PlatformReport`].
//! [`RealPlatform`](super::RealPlatform) works on this machine; a replay answers from a transcript, a dry run invents.
//! Must not know methods or lines.

use std::path::Path;

use serde::{Deserialize, Serialize};
use workflow_core::approval::ShownFile;
use workflow_core::effect::Effect;
use workflow_core::event::PlatformEvent;
use workflow_core::policy::rules::Paths;

use super::file_excerpt;
use super::paths::{LocalPaths, with_slashes};
use crate::files::hash;
use crate::store::Run;

/// The world outside of sessions.
pub(crate) trait Platform: Send + Sync {
    /// Carries out an effect of a session. Gives the result if it is known at once; what is known later is reported.
    fn perform(&self, session: &SessionContext<'_>, effect: Effect) -> Option<PlatformEvent>;

    /// Decides if a report is still to be handled: the trigger that it comes from may be watched no more.
    fn accept(&self, _report: &PlatformReport) -> bool {
        true
    }

    /// Takes answers that persons give outside of the host, from the begin of a session on.
    fn open_session(&self, _session: &SessionContext<'_>) {}

    /// Notes a run in the index of all runs.
    fn note_run(&self, _project: &Project<'_>, _host: &str, _run: Run) {}

    /// Ends everything that runs for a session.
    fn close_session(&self, _session: &str) {}

    /// Resolves the paths of a tool call.
    fn paths<'p>(&self, project: &Project<'p>) -> Box<dyn Paths + 'p> {
        Box::new(LocalPaths::new(
            project.cwd,
            project.agent_dir,
            project.session_file,
        ))
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

/// A project, and the directory of the user's own definitions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Project<'a> {
    pub(crate) agent_dir: &'a Path,
    pub(crate) cwd: &'a Path,
    /// The file that the host stores the session in, if it named one.
    pub(crate) session_file: Option<&'a Path>,
}

/// The session that an effect is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionContext<'a> {
    pub(crate) id: &'a str,
    pub(crate) project: Project<'a>,
    /// False if the host says that the user does not trust the project.
    pub(crate) is_trusted: bool,
    /// True on a virtual clock, with which nothing may be random.
    pub(crate) is_virtual: bool,
}

impl SessionContext<'_> {
    /// A text that a fork does not share: made of the file that the host stores the session in, or of its id. A session
    /// without both ends with this process.
    pub(super) fn identity(&self) -> String {
        let file = self.project.session_file.map(with_slashes);
        let id = Some(self.id).filter(|id| !id.is_empty());
        let process = std::process::id().to_string();
        hash(file.as_deref().or(id).unwrap_or(&process))
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
