//! One session of the host, as the process keeps it.

use std::path::Path;
use std::sync::Arc;

use tracing::{Level, Span};
use workflow_core::Session;
use workflow_core::types::Millis;
use workflow_protocol::Context;

/// A session, and what the host said of it last.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) session: Session,
    /// Its working directory, where the host said so.
    pub(super) cwd: Option<Arc<Path>>,
    /// Whether the user trusts what is in it, as far as the host knows.
    pub(super) is_trusted: bool,
    /// Whether its settings hold without a run, as the host was told last.
    pub(super) guarded_told: bool,
    /// The deadline that is waited for.
    pub(super) deadline: Option<Millis>,
    /// Its life in the log, and how much of it was work.
    pub(super) span: Span,
}

impl Slot {
    pub(super) fn new(id: &str, session: Session) -> Self {
        Self {
            span: tracing::info_span!(parent: None, "session", id),
            session,
            cwd: None,
            is_trusted: true,
            guarded_told: false,
            deadline: None,
        }
    }

    /// The session's span, to be entered while it is worked on. The message that caused it is told so.
    pub(super) fn logged(&self, id: &str) -> Span {
        if tracing::enabled!(Level::DEBUG) {
            Span::current().record("session", id);
        }
        self.span.clone()
    }

    /// Whether its settings hold without a run, if the host was told otherwise.
    pub(super) fn guarded_news(&mut self) -> Option<bool> {
        let is_guarded = self.session.is_guarded();
        let before = std::mem::replace(&mut self.guarded_told, is_guarded);
        (before != is_guarded).then_some(is_guarded)
    }

    /// Takes over what the host knows of the session now, and says whether other files are to be read.
    pub(super) fn note(&mut self, context: &Context<'_>) -> bool {
        let mut is_elsewhere = false;
        if let Some(cwd) = context.cwd.as_deref().map(Path::new)
            && self.cwd.as_deref() != Some(cwd)
        {
            self.cwd = Some(Arc::from(cwd));
            is_elsewhere = true;
        }
        if let Some(is_trusted) = context.project_trusted {
            is_elsewhere |= self.is_trusted != is_trusted;
            self.is_trusted = is_trusted;
            self.session.set_project_trusted(is_trusted);
        }
        if let Some(has_ui) = context.has_ui {
            self.session.set_has_ui(has_ui);
        }
        is_elsewhere
    }
}
