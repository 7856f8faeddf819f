//! The triggers that are watched for each session.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use workflow_core::definition::{Tier, Trigger};
use workflow_core::event::WatchReport;

use crate::platform::answers::trust_store::{hash_of_triggers, is_trusted};
use crate::platform::effects::SessionContext;
use crate::platform::open_sessions::OpenSessions;
use crate::platform::triggers::{self, ActiveTrigger};

#[derive(Debug, Default)]
pub(super) struct WatchedTriggers {
    watched: Mutex<HashMap<String, Vec<WatchedTrigger>>>,
    /// The number of triggers that were ever watched.
    numbers: AtomicU64,
}

#[derive(Debug)]
struct WatchedTrigger {
    trigger: Trigger,
    cwd: PathBuf,
    number: u64,
    /// Ends the watching when it is dropped.
    _active: ActiveTrigger,
}

impl WatchedTriggers {
    /// Watches these triggers for a session, and no others. Those that are watched already stay.
    pub(super) fn watch(
        &self,
        session: &SessionContext,
        triggers: &[Trigger],
        sessions: &OpenSessions,
    ) -> WatchReport {
        let SessionContext { agent_dir, cwd, .. } = session;
        let is_of_project = |trigger: &&Trigger| trigger.tier == Tier::Project;
        let (of_project, of_user): (Vec<_>, Vec<_>) = triggers.iter().partition(is_of_project);
        let hash = hash_of_triggers(of_project.iter().copied());
        let untrusted = !of_project.is_empty() && !is_trusted(agent_dir, cwd, &hash);
        let wanted = if untrusted {
            of_user
        } else {
            triggers.iter().collect()
        };
        let mut report = WatchReport {
            untrusted,
            ..WatchReport::default()
        };
        let mut watched = self.watched.lock();
        let watched = watched.entry(session.id.clone()).or_default();
        // A trigger that ends frees its port before another one starts.
        watched.retain(|running| {
            let mut wanted = wanted.iter();
            *running.cwd == **cwd && wanted.any(|wanted| wanted.is_same(&running.trigger))
        });
        for trigger in wanted {
            let mut running = watched.iter();
            if running.any(|running| running.trigger.is_same(trigger)) {
                continue;
            }
            let number = self.numbers.fetch_add(1, Ordering::Relaxed);
            let on_event = sessions.reporter(&session.id, Some(number));
            match triggers::start(trigger, cwd, on_event) {
                Ok(active) => {
                    report.started.push(trigger.describe());
                    watched.push(WatchedTrigger {
                        trigger: trigger.clone(),
                        cwd: cwd.to_path_buf(),
                        number,
                        _active: active,
                    });
                }
                Err(problem) => report.problems.push(problem),
            }
        }
        report
    }

    /// Ends the watching for a session.
    pub(super) fn stop(&self, session: &str) {
        // Bound to a name, so that it does not end under the lock.
        let _watched = self.watched.lock().remove(session);
    }

    /// Returns whether the trigger with this number is still watched for a session.
    pub(super) fn is_watched(&self, session: &str, number: u64) -> bool {
        let all = self.watched.lock();
        let watched = all.get(session);
        watched.is_some_and(|watched| watched.iter().any(|one| one.number == number))
    }
}
