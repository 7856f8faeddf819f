//! A session of the engine for the time of one event: restored, used, and described as a change of the store.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use workflow_core::definition::Loaded;
use workflow_core::effect::{Action, Effect, Question, Reply};
use workflow_core::event::{Entry, PlatformEvent};
use workflow_core::session::Abilities;
use workflow_core::types::{Millis, RequestId};
use workflow_core::{Effects, Session};

use super::memory::HostMemory;
use super::text::with_commands_as_prompts;
use crate::platform::disk::user_agent_dir;
use crate::platform::{Platform, Project, RealPlatform, SessionContext};
use crate::present::{ended_run, indexed_run};
use crate::server::{Loader, OnDisk};
use crate::store::{Run, SessionKey, StoredEntry, StoredSession};
use crate::telemetry;
use crate::time::wall_time;

/// The notice of an approval that waits, in place of the one with its code.
const WAITS: &str = "The run waits for your approval. Answer with a prompt: `workflow approve`.";

/// A restored session.
pub(crate) struct RestoredSession<'p> {
    pub(crate) session: Session,
    pub(crate) loaded: Arc<Loaded>,
    platform: &'p dyn Platform,
    /// The name of the session for the platform.
    id: String,
    agent_dir: PathBuf,
    project: PathBuf,
    now: Millis,
    requests: u64,
    out: Effects,
}

/// The outcome of an event.
#[derive(Debug, Default)]
pub(crate) struct SessionOutcome {
    pub(crate) entries: Vec<StoredEntry>,
    /// Texts for the agent.
    pub(crate) to_agent: Vec<String>,
}

impl<'p> RestoredSession<'p> {
    /// Restores a session, with its memory.
    pub(crate) fn restore(
        key: &SessionKey,
        stored: &StoredSession,
        memory: &HostMemory,
        abilities: Abilities,
        project: &Path,
        platform: &'p dyn Platform,
    ) -> Self {
        let agent_dir = user_agent_dir(None);
        let loaded = OnDisk::default().load(&agent_dir, project);
        let seed = RandomState::new().hash_one(&key.session);
        let mut session = Session::new(abilities, seed);
        // Nothing shows a widget, and nobody is there for a trigger to be watched.
        session.set_has_ui(false);
        let mut restored = Self {
            session,
            loaded: Arc::clone(&loaded),
            platform,
            id: format!("{}:{}", key.host, key.session),
            agent_dir,
            project: project.to_path_buf(),
            now: wall_time(),
            requests: 0,
            out: Effects::default(),
        };
        let entries: Vec<Entry<'_>> = stored
            .entries
            .iter()
            .map(|entry| Entry {
                custom_type: &entry.custom_type,
                data: Some(&entry.data),
            })
            .collect();
        restored.handle(|session, out| session.handle_session(&entries, &loaded, out));
        restored.session.recall(memory.session.clone());
        restored
    }

    /// Handles an event of the session, with the effects that follow.
    pub(crate) fn handle<T>(&mut self, handle: impl FnOnce(&mut Session, &mut Effects) -> T) -> T {
        let mut out = Effects::at(self.now);
        let reply = handle(&mut self.session, &mut out);
        let mut effects = VecDeque::from(std::mem::take(&mut out.effects));
        while let Some(effect) = effects.pop_front() {
            let Some(event) = self.perform(effect) else {
                continue;
            };
            let mut more = Effects::at(self.now);
            self.session.handle_platform_event(event, &mut more);
            effects.extend(std::mem::take(&mut more.effects));
            out.merge(more);
        }
        telemetry::denials(&self.session, &out.denied);
        self.out.merge(out);
        reply
    }

    /// An id for a request.
    pub(crate) fn request(&mut self) -> RequestId {
        self.requests += 1;
        RequestId(self.requests)
    }

    /// Takes the questions that were asked.
    pub(crate) fn take_questions(&mut self) -> Vec<Question> {
        std::mem::take(&mut self.out.questions)
    }

    /// Takes the answer to a request, if there is one.
    pub(crate) fn take_answer(&mut self, request: RequestId) -> Option<Reply> {
        let answer = self.out.take_answer(request)?;
        self.out.actions.extend(answer.actions);
        Some(answer.reply)
    }

    /// Forgets the texts for the person so far.
    pub(crate) fn drop_notices(&mut self) {
        self.out
            .actions
            .retain(|action| !matches!(action, Action::Notify { .. } | Action::SendMessage { .. }));
    }

    /// The platform of the session.
    pub(crate) fn platform(&self) -> &'p dyn Platform {
        self.platform
    }

    fn project(&self) -> Project<'_> {
        Project {
            agent_dir: &self.agent_dir,
            cwd: &self.project,
            session_file: None,
        }
    }

    /// The directories of the user and of the project.
    pub(crate) fn directories(&self) -> (PathBuf, PathBuf) {
        (self.agent_dir.clone(), self.project.clone())
    }

    /// Takes the outcome. Texts for the person wait in the memory.
    pub(crate) fn finish(&mut self, memory: &mut HostMemory) -> SessionOutcome {
        let mut outcome = SessionOutcome::default();
        let mut notices = Vec::new();
        for action in std::mem::take(&mut self.out.actions) {
            match action {
                Action::AppendEntry { custom_type, data } => outcome.entries.push(StoredEntry {
                    custom_type: custom_type.to_owned(),
                    data,
                }),
                Action::SendMessage { content, .. } => {
                    notices.push(with_commands_as_prompts(&content));
                }
                // What a hook host shows goes through files that the agent can read.
                Action::Notify {
                    is_secret: true, ..
                } => notices.push(WAITS.to_owned()),
                Action::Notify { message, .. } => notices.push(with_commands_as_prompts(&message)),
                Action::SendUserMessage { content, .. } => outcome.to_agent.push(content),
                Action::SetHints { .. }
                | Action::SetSessionName { .. }
                | Action::SetStatus { .. }
                | Action::SetWidget { .. } => {}
            }
        }
        memory.add_notices(notices);
        outcome
    }

    /// The run for the index: the one that there is, or that has ended now.
    pub(crate) fn run(&self) -> Option<Run> {
        let active = self.session.view().as_ref().map(indexed_run);
        active.or_else(|| self.out.ended.last().map(ended_run))
    }

    /// Lets a person answer outside of the host from now on.
    pub(crate) fn open_for_answers(&self) {
        self.platform.open_session(&self.context());
    }

    /// Has a platform perform an effect for the session.
    pub(crate) fn perform_on(
        &self,
        platform: &dyn Platform,
        effect: Effect,
    ) -> Option<PlatformEvent> {
        platform.perform(&self.context(), effect)
    }

    fn perform(&self, effect: Effect) -> Option<PlatformEvent> {
        self.perform_on(self.platform, effect)
    }

    fn context(&self) -> SessionContext<'_> {
        SessionContext {
            id: &self.id,
            project: self.project(),
            is_trusted: true,
            is_virtual: false,
        }
    }
}

/// The platform of a hook: it starts nothing that continues after its answer.
#[derive(Debug, Default)]
pub(crate) struct HookPlatform {
    real: RealPlatform,
    /// True once a gate was to run.
    wants_gate: AtomicBool,
}

impl HookPlatform {
    /// Begins the event: what the restored session asked for does not count.
    pub(crate) fn begin_event(&self) {
        self.wants_gate.store(false, Ordering::Relaxed);
    }

    /// Returns true if something was to start that a hook must not: a gate, or a question to a person elsewhere.
    pub(crate) fn wants_gate(&self) -> bool {
        self.wants_gate.load(Ordering::Relaxed)
    }
}

impl Platform for HookPlatform {
    fn perform(&self, session: &SessionContext<'_>, effect: Effect) -> Option<PlatformEvent> {
        match effect {
            Effect::RunGate(_) | Effect::RequestApproval(_) => {
                self.wants_gate.store(true, Ordering::Relaxed);
                None
            }
            Effect::TakeBaseline { .. }
            | Effect::CheckTrust { .. }
            | Effect::TrustCommands { .. }
            | Effect::ClearApproval { .. } => self.real.perform(session, effect),
            Effect::CancelGate { .. }
            | Effect::ReadApproval(_)
            | Effect::RecordCheckpoint
            | Effect::RestoreCode { .. }
            | Effect::WatchTriggers { .. }
            | Effect::StopWatching
            | Effect::TrustTriggers { .. } => effect.result_on_empty_platform(),
        }
    }
}
