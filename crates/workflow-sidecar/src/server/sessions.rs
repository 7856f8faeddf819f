//! The open sessions.

use std::collections::BTreeMap;
use std::sync::Arc;

use workflow_core::Session;
use workflow_protocol::{Error, Kind};

use super::host::Host;
use super::open_session::OpenSession;
use crate::driver::{Driver, Reach, SessionDirectories};
use crate::platform::Platform;

/// The number of sessions that may be open at once, as a limit for a host that does not end them.
const MAX_SESSIONS: usize = 4096;

/// The numbers of gate runs and of restores that a session has for itself.
const JOBS_OF_A_SESSION: u64 = 1 << 32;

/// The open sessions by their ids.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    open: BTreeMap<String, Box<OpenSession>>,
    /// The number of sessions so far.
    opened: u64,
}

impl Sessions {
    pub(super) fn get(&self, id: &str) -> Option<&OpenSession> {
        self.open.get(id).map(Box::as_ref)
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut OpenSession> {
        self.open.get_mut(id).map(Box::as_mut)
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.open.contains_key(id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Session> {
        self.open.values().map(|open| &open.driver.session)
    }

    pub(super) fn first_id(&self) -> Option<String> {
        self.open.first_key_value().map(|(id, _)| id.clone())
    }

    /// Checks that a session with this id may be open.
    pub(super) fn check_room_for(&self, id: &str) -> Result<(), Error> {
        if self.open.len() < MAX_SESSIONS || self.contains(id) {
            return Ok(());
        }
        Err(Error::new(
            Kind::TooManySessions,
            format!("{MAX_SESSIONS} sessions are open: end some with hook/session_shutdown"),
        ))
    }

    /// Takes a session out, or makes a new one.
    pub(super) fn take_or_create(
        &mut self,
        id: &str,
        host: &Host,
        platform: &Arc<dyn Platform>,
        is_virtual: bool,
    ) -> Box<OpenSession> {
        self.open.remove(id).unwrap_or_else(|| {
            let mut session = Session::new(host.abilities, host.seed.of(id));
            // A report may still come from a gate of an earlier session with this id.
            session.number_jobs_after(self.opened * JOBS_OF_A_SESSION);
            self.opened += 1;
            let directories = SessionDirectories {
                agent_dir: Arc::clone(host.definitions.agent_dir()),
                cwd: Arc::clone(host.definitions.cwd()),
                session_file: None,
                is_trusted: true,
            };
            let reach = Reach::All {
                is_virtual,
                runs_commands: host.runs_commands,
            };
            let platform = Arc::clone(platform);
            let driver = Driver::new(id.to_owned(), session, directories, platform, reach);
            Box::new(OpenSession::new(id, driver))
        })
    }

    pub(super) fn insert(&mut self, id: &str, session: Box<OpenSession>) {
        self.open.insert(id.to_owned(), session);
    }

    pub(super) fn remove(&mut self, id: &str) {
        self.open.remove(id);
    }
}

pub(super) fn unknown_session(id: &str) -> Error {
    Error::new(
        Kind::UnknownSession,
        format!("there is no session {id:?}: send hook/session_start first"),
    )
}
