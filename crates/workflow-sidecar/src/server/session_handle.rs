//! A session of the host, and the facts about it that only the process needs.

use std::path::Path;
use std::sync::Arc;

use tracing::{Level, Span};
use workflow_core::Session;
use workflow_core::types::Millis;
use workflow_protocol::Context;

use super::definitions::{Definitions, ProjectOf};
use crate::platform::{Project, SessionContext};
use crate::store::Run;
use crate::telemetry::PhaseClock;

/// A session, and what the host said of it last.
#[derive(Debug)]
pub(super) struct SessionHandle {
    pub(super) session: Session,
    /// The working directory, if the host named one.
    cwd: Option<Arc<Path>>,
    /// The file that the host stores the session in, if it named one.
    session_file: Option<Arc<Path>>,
    /// False if the host says that the user does not trust the working directory.
    is_trusted: bool,
    /// True if the host was last informed that settings apply without a run.
    guarded_reported: bool,
    /// The deadline that the timer has for the session.
    pub(super) deadline: Option<Millis>,
    /// The run as the index of all runs was told last.
    pub(super) noted: Option<Run>,
    /// The phase and its times, if measurements are exported.
    pub(super) clock: Option<PhaseClock>,
    /// The life of the session in the log.
    span: Span,
}

impl SessionHandle {
    pub(super) fn new(id: &str, session: Session) -> Self {
        Self {
            span: tracing::info_span!(parent: None, "session", id),
            session,
            cwd: None,
            session_file: None,
            is_trusted: true,
            guarded_reported: false,
            deadline: None,
            noted: None,
            clock: None,
        }
    }

    /// The session's span, to be entered during its work. The span of the message in progress gets the session's id.
    pub(super) fn span(&self, id: &str) -> Span {
        if tracing::enabled!(Level::DEBUG) {
            Span::current().record("session", id);
        }
        self.span.clone()
    }

    /// Compares the session with the last report to the host: returns the new state if its settings have begun or ceased
    /// to apply without a run, and remembers it as reported.
    pub(super) fn take_guarded_change(&mut self) -> Option<bool> {
        let is_guarded = self.session.is_guarded();
        let before = std::mem::replace(&mut self.guarded_reported, is_guarded);
        (before != is_guarded).then_some(is_guarded)
    }

    /// Returns true if the settings apply without a run, and remembers it as reported.
    pub(super) fn report_guarded(&mut self) -> bool {
        self.guarded_reported = self.session.is_guarded();
        self.guarded_reported
    }

    /// Adopts what the host says of the session now. Returns true if other definitions may apply.
    pub(super) fn adopt_context(&mut self, context: &Context<'_>) -> bool {
        let mut has_moved = false;
        if let Some(cwd) = context.cwd.as_deref().map(Path::new)
            && self.cwd.as_deref() != Some(cwd)
        {
            self.cwd = Some(Arc::from(cwd));
            has_moved = true;
        }
        if let Some(file) = context
            .session_file
            .as_deref()
            .filter(|file| !file.is_empty())
        {
            self.session_file = Some(Arc::from(Path::new(file)));
        }
        if let Some(is_trusted) = context.project_trusted {
            has_moved |= self.is_trusted != is_trusted;
            self.is_trusted = is_trusted;
            self.session.set_project_trusted(is_trusted);
        }
        if let Some(has_ui) = context.has_ui {
            self.session.set_has_ui(has_ui);
        }
        has_moved
    }

    /// The directories of the session, with the host's where it names none.
    pub(super) fn directories(&self, definitions: &Definitions) -> SessionDirectories {
        SessionDirectories {
            agent_dir: Arc::clone(definitions.agent_dir()),
            cwd: Arc::clone(self.cwd.as_ref().unwrap_or(definitions.cwd())),
            session_file: self.session_file.clone(),
            is_trusted: self.is_trusted,
        }
    }
}

/// The directories of a session.
#[derive(Debug)]
pub(super) struct SessionDirectories {
    agent_dir: Arc<Path>,
    session_file: Option<Arc<Path>>,
    pub(super) cwd: Arc<Path>,
    pub(super) is_trusted: bool,
}

impl SessionDirectories {
    /// The session as the platform sees it.
    pub(super) fn context<'s>(&'s self, id: &'s str) -> SessionContext<'s> {
        SessionContext {
            id,
            project: self.project(),
            is_trusted: self.is_trusted,
            is_virtual: false,
        }
    }

    pub(super) fn project(&self) -> Project<'_> {
        Project {
            agent_dir: &self.agent_dir,
            cwd: &self.cwd,
            session_file: self.session_file.as_deref(),
        }
    }
}

/// The project of a call: the call's own context counts before that of its session.
pub(super) fn project_of<'a>(
    context: &'a Context<'_>,
    session: Option<&'a SessionHandle>,
) -> ProjectOf<'a> {
    let is_trusted = context.project_trusted;
    if is_trusted.or(session.map(|session| session.is_trusted)) == Some(false) {
        return ProjectOf::Untrusted;
    }
    let cwd = context.cwd.as_deref().map(Path::new);
    match cwd.or_else(|| session?.cwd.as_deref()) {
        Some(cwd) => ProjectOf::Session(cwd),
        None => ProjectOf::Host,
    }
}
