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
        session: &SessionContext<'_>,
        triggers: &[Trigger],
        sessions: &OpenSessions,
    ) -> WatchReport {
        let project = session.project;
        let of_project = || {
            triggers
                .iter()
                .filter(|trigger| trigger.tier == Tier::Project)
        };
        let untrusted = of_project().next().is_some()
            && !is_trusted(
                project.agent_dir,
                project.cwd,
                &hash_of_triggers(of_project()),
            );
        let wanted = triggers
            .iter()
            .filter(|trigger| !untrusted || trigger.tier == Tier::Global);
        let mut report = WatchReport {
            untrusted,
            ..WatchReport::default()
        };
        let mut watched = self.watched.lock();
        let watched = watched.entry(session.id.to_owned()).or_default();
        // A trigger that ends frees its port before another one starts.
        watched.retain(|running| {
            let is_same = |wanted: &Trigger| wanted.is_same(&running.trigger);
            running.cwd == project.cwd && wanted.clone().any(is_same)
        });
        for trigger in wanted {
            if watched
                .iter()
                .any(|running| running.trigger.is_same(trigger))
            {
                continue;
            }
            match self.watch_one(session, trigger, sessions) {
                Ok(running) => {
                    report.started.push(trigger.describe());
                    watched.push(running);
                }
                Err(problem) => report.problems.push(problem),
            }
        }
        report
    }

    fn watch_one(
        &self,
        session: &SessionContext<'_>,
        trigger: &Trigger,
        sessions: &OpenSessions,
    ) -> Result<WatchedTrigger, String> {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let cwd = session.project.cwd;
        let report = sessions.reporter(session.id, Some(number));
        Ok(WatchedTrigger {
            trigger: trigger.clone(),
            cwd: cwd.to_path_buf(),
            number,
            _active: triggers::start(trigger, cwd, report)?,
        })
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
