//! A session of the host, and the facts about it that only the process needs.

use std::path::Path;
use std::sync::Arc;

use tracing::{Level, Span};
use workflow_core::Session;
use workflow_core::types::Millis;
use workflow_protocol::Context;

use super::host::ConnectedHost;
use crate::driver::{Driver, Reach};
use crate::platform::{Platform, SessionContext};
use crate::store::Run;
use crate::telemetry::PhaseClock;

/// The numbers of gate runs and of restores that a session has for itself.
const JOBS_OF_A_SESSION: u64 = 1 << 32;

/// An open session.
pub(super) struct OpenSession {
    pub(super) driver: Driver,
    /// True if the host was last informed that settings apply without a run.
    guarded_reported: bool,
    /// The time at which the session has something to do.
    pub(super) deadline: Option<Millis>,
    /// The run as the index of all runs was told last, and where it was.
    pub(super) noted: Option<(SessionContext, Run)>,
    /// When what was counted was noted last.
    pub(super) counted: u64,
    /// The phase and its times.
    pub(super) clock: Option<PhaseClock>,
    /// The life of the session in the log.
    span: Span,
}

impl OpenSession {
    pub(super) fn new(
        id: &str,
        number: u64,
        host: &ConnectedHost,
        platform: &Arc<dyn Platform>,
        is_virtual: bool,
    ) -> Self {
        let mut session = Session::new(host.abilities, host.seed_of(id));
        // A report may still come from a gate of an earlier session with this id.
        session.number_jobs_after((number - 1) * JOBS_OF_A_SESSION);
        let context = SessionContext {
            id: id.to_owned(),
            agent_dir: Arc::clone(&host.definitions.agent_dir),
            cwd: Arc::clone(&host.definitions.cwd),
            session_file: None,
            is_trusted: true,
            is_virtual,
        };
        let runs_commands = host.runs_commands;
        let reach = Reach::All { runs_commands };
        let platform = Arc::clone(platform);
        let driver = Driver::new(session, context, platform, reach);
        Self {
            span: tracing::info_span!(parent: None, "session", id),
            driver,
            guarded_reported: false,
            deadline: None,
            noted: None,
            counted: 0,
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
        let now = self.driver.session.is_guarded();
        (std::mem::replace(&mut self.guarded_reported, now) != now).then_some(now)
    }

    /// Adopts what the host says of the session now. Returns true if other definitions may apply.
    pub(super) fn adopt_context(&mut self, context: &Context<'_>) -> bool {
        let (session, own) = (&mut self.driver.session, &mut self.driver.context);
        let mut has_moved = false;
        if let Some(cwd) = context.cwd.as_deref().map(Path::new)
            && *own.cwd != *cwd
        {
            own.cwd = Arc::from(cwd);
            has_moved = true;
        }
        if let Some(file) = context.session_file.as_deref()
            && !file.is_empty()
        {
            own.session_file = Some(Arc::from(Path::new(file)));
        }
        if let Some(is_trusted) = context.project_trusted {
            has_moved |= own.is_trusted != is_trusted;
            own.is_trusted = is_trusted;
            session.set_project_trusted(is_trusted);
        }
        if let Some(has_ui) = context.has_ui {
            session.set_has_ui(has_ui);
        }
        has_moved
    }
}

impl Drop for OpenSession {
    /// Also where a panic ends it: nobody answers in a session that is unknown.
    fn drop(&mut self) {
        self.driver.leave();
    }
}
