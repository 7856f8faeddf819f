//! The open sessions, and the reports to them.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use workflow_core::effect::TriggerOutcome;
use workflow_core::event::PlatformEvent;

use super::effects::{PlatformReport, SessionContext};

/// Takes reports, and says what happens to the message of a trigger.
type Listener = Arc<dyn Fn(PlatformReport) -> Option<TriggerOutcome> + Send + Sync>;

struct ReachableSession {
    cwd: PathBuf,
    /// Marks the project as open.
    _mark: Option<File>,
}

/// The open sessions with their directories, and the receiver of reports to them. Clones are the same.
#[derive(Clone, Default)]
pub(super) struct OpenSessions {
    listener: Arc<Mutex<Option<Listener>>>,
    sessions: Arc<Mutex<HashMap<String, ReachableSession>>>,
}

impl OpenSessions {
    /// Sets the receiver of reports. They come on other threads.
    pub(super) fn listen(
        &self,
        listener: impl Fn(PlatformReport) -> Option<TriggerOutcome> + Send + Sync + 'static,
    ) {
        *self.listener.lock() = Some(Arc::new(listener));
    }

    /// Reports an event to a session.
    pub(super) fn report(&self, session: &str, event: PlatformEvent) {
        self.reporter(session, None)(event);
    }

    /// Gives a function that reports events of a session.
    pub(super) fn reporter(
        &self,
        session: &str,
        trigger: Option<u64>,
    ) -> impl Fn(PlatformEvent) -> Option<TriggerOutcome> + Send + Sync + 'static {
        let (sessions, session) = (self.clone(), session.to_owned());
        move |event| {
            // Without a lock: the server may wait while it has its own.
            let listener = sessions.listener.lock().clone()?;
            listener(PlatformReport {
                session: session.clone(),
                event,
                trigger,
            })
        }
    }

    pub(super) fn open(&self, session: &SessionContext, mark: Option<File>) {
        let open = ReachableSession {
            cwd: session.cwd.to_path_buf(),
            _mark: mark,
        };
        self.sessions.lock().insert(session.id.clone(), open);
    }

    pub(super) fn close(&self, session: &str) {
        self.sessions.lock().remove(session);
    }

    pub(super) fn is_open(&self, session: &str) -> bool {
        self.sessions.lock().contains_key(session)
    }

    /// This session if it is open, or another one in the directory.
    pub(super) fn this_or_other_in(&self, session: &str, directory: &Path) -> Option<String> {
        if self.is_open(session) {
            return Some(session.to_owned());
        }
        let sessions = self.sessions.lock();
        let found = sessions.iter().find(|(_, open)| open.cwd == directory);
        found.map(|(session, _)| session.clone())
    }
}
