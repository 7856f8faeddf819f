//! A session of the store for the time of one event: restored, used, and saved; and the names of its prompts.

use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;

use serde_json::value::to_raw_value;
use workflow_core::definition::Loaded;
use workflow_core::effect::{Action, Question, Reply};
use workflow_core::event::{Entry, PlatformEvent};
use workflow_core::session::{Abilities, Control, project_gate_commands};
use workflow_core::types::{Millis, RequestId};
use workflow_core::{Effects, Session, without_secrets};

use super::memory::{CallDecision, HostMemory};
use super::{Driver, Reach};
use crate::definitions::{Loader, OnDisk};
use crate::platform::answers::notify::Notice;
use crate::platform::answers::requests::read;
use crate::platform::answers::trust_store::{hash_of, is_trusted};
use crate::platform::disk::user_agent_dir;
use crate::platform::{Platform, SessionContext};
use crate::present::{ended_run, indexed_run};
use crate::store::{
    Run, SHOWN_ONLY, Saved, SessionChange, SessionKey, Store, StoreError, StoredEntry,
    StoredSession,
};
use crate::telemetry::PhaseClock;
use crate::time::wall_time;

/// The notice of an approval that waits, in place of the one with its code.
const WAITS: &str = "The run waits for your approval. Answer with a prompt: `/workflow-approve`.";

/// The most decisions about calls that a session keeps. Figures count more.
const MAX_DECISIONS: u32 = 500;
/// The longest reason, in characters.
const MAX_REASON: usize = 1000;

/// Attempts to save a change while other processes change the same session.
pub(crate) const ATTEMPTS: u32 = 16;

/// A restored session.
pub(crate) struct RestoredSession {
    pub(crate) driver: Driver,
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) memory: HostMemory,
    /// The word with which commands begin in a prompt of the host.
    pub(crate) prompt_word: &'static str,
    /// The version of the stored session.
    version: u64,
    now: Millis,
    requests: u64,
    out: Effects,
    /// The entries to save.
    entries: Vec<StoredEntry>,
    /// The run for the index, which may just have ended; `None` without a run.
    run: Option<Run>,
    /// The order that was carried out; empty if there was none.
    order: String,
}

impl RestoredSession {
    /// Restores a session, with its memory.
    pub(crate) fn restore(
        key: &SessionKey,
        stored: &StoredSession,
        memory: HostMemory,
        abilities: Abilities,
        project: &Path,
        platform: Arc<dyn Platform>,
        asks_user: bool,
    ) -> Self {
        let agent_dir = user_agent_dir(None);
        let loaded = OnDisk::default().load(&agent_dir, project);
        let seed = RandomState::new().hash_one(&key.session);
        // Nothing shows a widget, and nobody is there for a trigger to be watched.
        let abilities = Abilities {
            widgets: Some(false),
            awaits_reminder: true,
            ..abilities
        };
        let mut session = Session::new(abilities, seed);
        session.set_has_ui(false);
        let context = SessionContext {
            id: format!("{}:{}", key.host, key.session),
            agent_dir: agent_dir.into(),
            cwd: project.into(),
            session_file: None,
            is_trusted: true,
            is_virtual: false,
        };
        let reach = Reach::Repeatable { asks_user };
        let mut restored = Self {
            driver: Driver::new(session, context, platform, reach),
            loaded: Arc::clone(&loaded),
            memory,
            prompt_word: "workflow",
            version: stored.version,
            now: wall_time(),
            requests: 0,
            out: Effects::default(),
            // Those of a copy are not stored yet.
            entries: if stored.version == 0 {
                stored.entries.clone()
            } else {
                Vec::new()
            },
            run: None,
            order: String::new(),
        };
        let entries = stored.entries.iter().map(|entry| Entry {
            custom_type: &entry.custom_type,
            data: Some(&entry.data),
        });
        let entries: Vec<Entry<'_>> = entries.collect();
        restored.with_effects(|session| session.handle_session(&entries, &loaded));
        let memory = restored.memory.session.clone();
        restored.driver.session.recall(memory);
        restored
    }

    /// Handles an event of the session, with the effects that follow.
    pub(crate) fn with_effects<T>(&mut self, handle: impl FnOnce(&mut Session) -> T) -> T {
        let (result, out) = self.driver.with_effects(self.now, handle);
        self.out.merge(out);
        result
    }

    /// Handles a request, and gives its answer if there is one already.
    pub(crate) fn request(
        &mut self,
        handle: impl FnOnce(&mut Session, RequestId),
    ) -> (RequestId, Option<Reply>) {
        self.requests += 1;
        let id = RequestId(self.requests);
        self.with_effects(|session| handle(session, id));
        (id, self.take_answer(id))
    }

    /// Takes the answer to a request, if there is one.
    pub(crate) fn take_answer(&mut self, request: RequestId) -> Option<Reply> {
        let answer = self.out.take_answer(request)?;
        self.out.actions.extend(answer.actions);
        Some(answer.reply)
    }

    /// Has the engine know that the user trusts the commands of the workflow that the settings start. A host says nothing of
    /// the project itself.
    pub(crate) fn look_up_trust(&mut self) {
        let Loaded {
            catalog,
            index,
            settings,
            ..
        } = &*self.loaded;
        let starts = settings.start().filter(|(start, _)| !start.ask);
        let Some(workflow) = starts.and_then(|(start, _)| catalog.started_by(&start.workflow))
        else {
            return;
        };
        let commands = project_gate_commands(&workflow.key, catalog, index);
        let commands: Vec<_> = commands.map(|(run, _)| run).collect();
        let SessionContext { agent_dir, cwd, .. } = &self.driver.context;
        if !commands.is_empty() && is_trusted(agent_dir, cwd, &hash_of(commands)) {
            self.driver.session.set_project_trusted(true);
        }
    }

    /// Takes the questions that were asked.
    pub(crate) fn take_questions(&mut self) -> Vec<Question> {
        std::mem::take(&mut self.out.questions)
    }

    /// Forgets the texts for the user so far.
    pub(crate) fn drop_notices(&mut self) {
        self.out
            .actions
            .retain(|action| !matches!(action, Action::Notify { .. } | Action::SendMessage { .. }));
    }

    /// Returns a text for the person with the commands as prompts of the host.
    pub(crate) fn with_commands_as_prompts(&self, text: &str) -> String {
        with_commands_as_prompts(text, self.prompt_word)
    }

    /// Takes the texts for the agent. The entries are kept to be saved, and texts for the user wait in the memory.
    pub(crate) fn take_texts(&mut self) -> Vec<String> {
        let mut to_agent = Vec::new();
        let mut notices = Vec::new();
        for action in std::mem::take(&mut self.out.actions) {
            match action {
                Action::AppendEntry { custom_type, data } => self.entries.push(StoredEntry {
                    custom_type: custom_type.to_owned(),
                    data,
                    at: 0,
                }),
                Action::SendMessage { message, .. } => {
                    notices.push(self.with_commands_as_prompts(&message.content));
                }
                // What a hook host shows goes through files that the agent can read.
                Action::Notify { secret: true, .. } => {
                    notices.push(self.with_commands_as_prompts(WAITS));
                }
                Action::Notify { message, .. } => {
                    notices.push(self.with_commands_as_prompts(&message));
                }
                Action::SendUserMessage { content, .. } => to_agent.push(content),
                Action::SetHints { .. }
                | Action::SetSessionName { .. }
                | Action::SetStatus { .. }
                | Action::SetWidget { .. } => {}
            }
        }
        self.memory.add_notices(notices);
        to_agent
    }

    /// Carries out what an approver ordered. It is gone once the session is saved, also if it cannot be read.
    pub(crate) fn follow_order(&mut self, text: &str) {
        text.clone_into(&mut self.order);
        let order = read(text).map(PlatformEvent::Ordered);
        self.with_effects(|session| order.map(|order| session.handle_platform_event(order)));
        let texts = self.take_texts();
        if !texts.is_empty() {
            let unread = self.memory.first_message.take();
            let texts: Vec<String> = unread.into_iter().chain(texts).collect();
            self.memory.may_lack_context = true;
            self.memory.first_message = Some(texts.join("\n\n"));
        }
        // The event may be refused as it is.
        self.finish();
    }

    /// Keeps a decision about a call in a run, for the pages of the run.
    pub(crate) fn keep_decision(&mut self, tool: &str, reason: &str, is_asked: bool) {
        let Some(run) = self.driver.session.view() else {
            return;
        };
        let (of_run, number) = &mut self.memory.kept_decisions;
        if *of_run != run.state.task_id {
            (*of_run, *number) = (run.state.task_id.clone(), 0);
        }
        let reason = match *number {
            ..MAX_DECISIONS => &without_secrets(reason),
            MAX_DECISIONS => "More calls were blocked or asked about: they are not listed.",
            _ => return,
        };
        *number += 1;
        let decision = CallDecision {
            tool: tool.to_owned(),
            reason: reason.chars().take(MAX_REASON).collect(),
            is_asked,
        };
        self.entries.push(StoredEntry {
            custom_type: SHOWN_ONLY.to_owned(),
            data: to_raw_value(&decision).expect("a decision has string keys only"),
            at: 0,
        });
    }

    /// Notes what is saved beside the entries: the run, and what the next process continues with.
    pub(crate) fn finish(&mut self) {
        if self.driver.session.awaited_approval().is_none() {
            let waits = self.with_commands_as_prompts(WAITS);
            self.memory.notices.retain(|notice| *notice != waits);
        }
        let session = &self.driver.session;
        self.memory.session = session.memory();
        let (clock, counts) = (&mut self.memory.clock, &mut self.driver.counts);
        PhaseClock::follow(clock, session, wall_time(), counts);
        let active = session.view().as_ref().map(indexed_run);
        self.run = active.or_else(|| self.out.ended.last().map(ended_run));
    }

    /// Returns true if there is a run to save.
    pub(crate) fn has_run(&self) -> bool {
        self.run.is_some()
    }

    /// Returns true if the session is not stored yet and has no run.
    pub(crate) fn is_new(&self) -> bool {
        self.version == 0 && !self.has_run()
    }

    /// Returns true if there is nothing to save.
    pub(crate) fn is_unchanged(&self, stored: &StoredSession) -> bool {
        let before = HostMemory::parse(&stored.memory).to_text();
        let is_same = self.entries.is_empty() && self.memory.to_text() == before;
        is_same && self.driver.counts.is_empty() && self.order.is_empty()
    }

    /// Saves the session, if it still has the version from which it was restored.
    pub(crate) fn save(&self, store: &Store, key: &SessionKey) -> Result<Saved, StoreError> {
        let SessionContext { agent_dir, cwd, .. } = &self.driver.context;
        let run = self.run.as_ref();
        let notice = run.and_then(|run| Notice::of_change(agent_dir, store, run, cwd));
        let change = SessionChange {
            from: self.version,
            entries: &self.entries,
            memory: &self.memory.to_text(),
            run: self.run.clone(),
            counts: &self.driver.counts,
            order: &self.order,
            cwd,
            now: wall_time(),
        };
        let saved = store.save(key, &change)?;
        if let (Saved::Stored, Some(notice)) = (&saved, notice) {
            notice.tell(agent_dir);
        }
        Ok(saved)
    }
}

/// The engine's names of the other commands, and how a person types them as a prompt, after the word of the host. Longer ones first.
#[rustfmt::skip] // A row a line.
const COMMANDS: [(&str, &str); 10] = [
    ("The user answers in this session,", "The user answers with the prompt `{workflow} approve`,"),
    ("close this session and trust them with `workflow-sidecar trust` in a terminal", "trust them with the prompt `{workflow} trust`"),
    ("`workflow-sidecar trust` once this session is closed", "the prompt `{workflow} trust`"),
    ("`/workflow ", "`{workflow} "),
    ("/workflow-quick", "{workflow} quick"),
    ("/cancel-workflow", "{workflow} cancel"),
    ("Run /workflow again", "Type it again"),
    ("Usage: /workflow ", "Usage: {workflow} "),
    ("Write: /workflow ", "Write: {workflow} "),
    ("/workflow {", "{workflow} {"),
];

/// Returns a text for the person with the commands as prompts, which begin with this word in the host.
pub(crate) fn with_commands_as_prompts(text: &str, word: &str) -> String {
    let mut text = text.to_owned();
    for control in Control::ALL {
        let prompt = format!("{word} {}", control.short_name());
        text = text.replace(&format!("/{}", control.word()), &prompt);
    }
    for (name, prompt) in COMMANDS {
        text = text.replace(name, &prompt.replace("{workflow}", word));
    }
    text
}
