//! The platform of this machine.

mod code;
mod running_gates;
mod watched_triggers;

use std::sync::Arc;

use serde_json::value::to_raw_value;
use workflow_core::effect::{Effect, TriggerOutcome};
use workflow_core::event::PlatformEvent;

use self::code::CodeRestores;
use self::running_gates::RunningGates;
use self::watched_triggers::WatchedTriggers;
use super::answers::notify::notifiers;
use super::answers::open_projects;
use super::answers::open_requests::OpenRequests;
use super::answers::trust_store::{hash_of, hash_of_triggers, session_trusts, trust};
use super::effects::{Platform, PlatformReport, SessionContext};
use super::gates::{Baseline, start_files};
use super::git::{measure_change, record_files};
use super::notes_and_answers::NotesAndAnswers;
use super::open_sessions::OpenSessions;
use super::restore_reports::report_of_others;
use crate::files::absolute;
use crate::store::{RunNote, SessionKey, of_agent_dir};

/// This machine.
#[derive(Default)]
pub(crate) struct RealPlatform {
    sessions: OpenSessions,
    gates: RunningGates,
    triggers: WatchedTriggers,
    code: CodeRestores,
    answers: Arc<OpenRequests>,
    notes: NotesAndAnswers,
}

impl RealPlatform {
    /// Sets the receiver of reports. They come on other threads.
    pub(crate) fn listen(
        &self,
        listener: impl Fn(PlatformReport) -> Option<TriggerOutcome> + Send + Sync + 'static,
    ) {
        self.sessions.listen(listener);
    }

    /// Waits until no code is being restored.
    pub(crate) fn finish(&self) {
        self.notes.finish();
        self.code.finish();
    }
}

impl Platform for RealPlatform {
    fn perform(&self, session: &SessionContext, effect: Effect) -> Option<PlatformEvent> {
        let SessionContext { agent_dir, cwd, .. } = session;
        match effect {
            Effect::RunGate(run) => return self.gates.run(session, run, &self.sessions),
            Effect::CancelGate { gate } => self.gates.end(&session.id, Some(gate)),
            Effect::TakeBaseline { gates, start } => {
                let baseline = to_raw_value(&Baseline::take(&gates, cwd));
                let baseline = baseline.expect("a baseline has string keys only");
                let start = start.then(|| start_files(cwd, agent_dir)).flatten();
                return Some(PlatformEvent::BaselineTaken { baseline, start });
            }
            Effect::MeasureChange { start, globs } => {
                let measured = match start {
                    Some(tree) => measure_change(cwd, agent_dir, &tree, &globs)
                        .map(|change| (None, Some(change))),
                    None => record_files(cwd, agent_dir).map(|tree| (Some(tree), None)),
                };
                let (start, change) = measured.unwrap_or_else(|(_, reason)| {
                    tracing::debug!(reason, "the change is not known");
                    (None, None)
                });
                return Some(PlatformEvent::ChangeMeasured { start, change });
            }
            Effect::CheckTrust { commands } => {
                let is_trusted = session_trusts(session, &commands);
                return (!is_trusted).then_some(PlatformEvent::CommandsNotTrusted);
            }
            Effect::TrustCommands { commands } => trust(session, &hash_of(&commands)),
            Effect::TrustTriggers { triggers } => trust(session, &hash_of_triggers(&triggers)),
            Effect::RequestApproval(request) => return self.answers.request(session, request),
            Effect::ReadApproval(request) => return Some(self.answers.read(session, request)),
            Effect::ClearApproval { task_id } => self.answers.clear(&task_id, agent_dir),
            Effect::RecordCheckpoint => {
                return Some(match self.code.record(session) {
                    Ok(snapshot) => PlatformEvent::CheckpointRecorded { snapshot },
                    Err(error) => PlatformEvent::CheckpointFailed { error },
                });
            }
            Effect::RestoreCode { restore, snapshot } => {
                let outcome = self
                    .code
                    .restore(session, restore, snapshot, &self.sessions)?;
                return Some(PlatformEvent::CodeRestored { restore, outcome });
            }
            Effect::WatchTriggers { triggers } => {
                let report = self.triggers.watch(session, &triggers, &self.sessions);
                return Some(PlatformEvent::TriggersWatched { report });
            }
            Effect::StopWatching => self.triggers.stop(&session.id),
        }
        None
    }

    fn accept(&self, report: &PlatformReport) -> bool {
        if let PlatformEvent::GateFinished { gate, .. } = report.event {
            self.gates.end(&report.session, Some(gate));
        }
        report
            .trigger
            .is_none_or(|number| self.triggers.is_watched(&report.session, number))
    }

    fn open_session(&self, session: &SessionContext) {
        let SessionContext { agent_dir, cwd, .. } = session;
        // A relative directory is a name in a transcript.
        if !agent_dir.is_absolute() {
            return self.sessions.open(session, None);
        }
        // What is found now counts for the whole process: later the agent works.
        notifiers(agent_dir);
        let mark = open_projects::mark(agent_dir, cwd).inspect_err(|error| {
            if cwd.exists() {
                tracing::warn!("that a session is open cannot be noted: {error}");
            }
        });
        self.sessions.open(session, mark.ok());
        report_of_others(session, &self.sessions);
    }

    fn note_run(&self, session: &SessionContext, mut note: RunNote) {
        // A relative directory is a name in a transcript.
        if !session.agent_dir.is_absolute() {
            return;
        }
        note.cwd = absolute(&note.cwd);
        let (answers, sessions) = (&self.answers, &self.sessions);
        let of = (&*session.agent_dir, &*session.id);
        self.notes.write(of, note, answers, sessions);
    }

    fn remembered(&self, session: &SessionContext, run: &SessionKey) -> String {
        let noted = of_agent_dir(&session.agent_dir).and_then(|store| store.look_at(run));
        noted.unwrap_or_default().memory
    }

    fn close_session(&self, session: &str) {
        self.sessions.close(session);
        self.gates.end(session, None);
        self.triggers.stop(session);
    }
}
