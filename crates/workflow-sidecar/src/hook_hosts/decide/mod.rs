//! An event of a host becomes an answer: the session is loaded, restored, handles the event, and is saved.

mod command;
mod tool_calls;

use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;
use workflow_core::Session;
use workflow_core::effect::Message;
use workflow_core::event::LastAssistant;
use workflow_core::run::entry_type;
use workflow_core::session::{Abilities, TurnUsage, task_id};

use super::HookHost;
use super::answer::{HookAnswer, HookDecision};
use super::event::{EventName, EventPayload, HookEvent};
use super::prompt::{self, PromptCommand};
use super::surroundings::Surroundings;
use super::transcript;
use crate::driver::{ATTEMPTS, HostMemory, RestoredSession};
use crate::measured::Measured;
use crate::platform::RealPlatform;
use crate::platform::installation::installation_warnings;
use crate::store::{
    AnswerRight, IndexedRun, RunQuery, Saved, SessionKey, Store, StoreError, StoredSession,
};
use crate::time::wall_time;

/// What a transcript grows by before a check for compaction counts again. A compaction keeps the last 30% of a conversation
/// that is far longer, so what was given within this is not lost.
const MAY_BE_LOST_AFTER: u64 = 64 << 10;

/// The milliseconds by which the time of a file may be before that of the process that makes it.
const CLOCKS_DIFFER_BY: i64 = 1000;

const NOT_FOR_SUBAGENTS: &str =
    "[workflow] Only the main agent moves the workflow. Finish your task and report to it.";
const TYPED_BY_AGENT: &str = "This command comes from the shell of an agent or was scheduled, and only the user may give it.";
const COUNTS_ONCE: &str = "This command was carried out already, and counts once.";
const NOT_TYPED: &str = "The host does not say that you have typed this command, so it does not count. Type it, without the \
    history of prompts, and not in Vim mode or an editor.";
const DO_NOTHING: &str = "The user's command is carried out: do nothing else.";
const TELL_USER: &str = "[workflow] Tell the user, word for word:";

/// Everything that the answer to an event depends on.
pub(super) struct EventHandler<'a> {
    pub(super) host: &'static HookHost,
    pub(super) store: &'a Store,
    pub(super) surroundings: &'a Surroundings,
    /// The process of the host, if it names it.
    pub(super) process: Option<String>,
    /// Notes whether a run is active or the settings have rules, as soon as that is known.
    pub(super) on_loaded: &'a dyn Fn(bool),
}

/// An event could not be handled.
#[derive(Debug, thiserror::Error)]
pub(super) enum HookError {
    #[error("the store of workflow-sidecar cannot be used: {0}")]
    Store(#[from] StoreError),
    #[error("too many events of this session at once")]
    Busy,
    #[error("no random number can be made")]
    NoTicket,
}

impl EventHandler<'_> {
    /// Decides about an event, and saves what changed.
    pub(super) fn decide(&self, event: &HookEvent<'_>) -> Result<HookAnswer, HookError> {
        if event.name == EventName::Unused {
            return Ok(HookAnswer::default());
        }
        let (mut key, mut event) = (event.key(self.host), *event);
        if let Some(above) = self.run_above(&key, event.cwd)? {
            // Its agent started this host, as it starts a sub-agent.
            (key, event.is_of_subagent) = (above, true);
        }
        let event = &event;
        let _queue_turn = self.store.wait_turn(&key);
        for _ in 0..ATTEMPTS {
            let stored = load(self.store, &key, event)?;
            let mut session = self.restore(&key, &stored, event);
            let has_rules = session.loaded.settings.has_rules();
            let is_active = session.driver.session.view().is_some();
            (self.on_loaded)(has_rules || is_active);
            if is_active && !is_below(event.cwd, &session.driver.context.cwd) {
                self.store.mark_everywhere();
            }
            if self.takes_orders(event, &stored)? {
                session.follow_order(&stored.order);
            }
            let Some(mut answer) = self.handle(event, &key, &mut session)? else {
                return Ok(HookAnswer::default());
            };
            if !self.host.shows_notices
                && let Some(notice) = answer.notice.take()
            {
                let told = format!("{TELL_USER}\n{notice}");
                let texts: Vec<String> = answer.context.into_iter().chain([told]).collect();
                answer.context = Some(texts.join("\n\n"));
            }
            if session.is_new() && !has_rules {
                // Nothing is in force, so nothing is stored.
                session.memory.project = None;
            }
            if session.is_unchanged(&stored) || session.save(self.store, &key)? == Saved::Stored {
                return Ok(answer);
            }
        }
        Err(HookError::Busy)
    }

    /// The session with a run whose agent started this host in its shell: the one that the shell names, or, because not every
    /// shell does, and none beyond the next host, the one of the project that went on last.
    fn run_above(&self, own: &SessionKey, cwd: &Path) -> Result<Option<SessionKey>, StoreError> {
        let named = self.surroundings.parent.as_ref();
        if let Some(key) = named
            && self.governs(key)?
        {
            return Ok(Some(key.clone()));
        }
        if !self.surroundings.is_from_shell || self.store.active_run(own)?.is_some() {
            return Ok(None);
        }
        let runs = self.store.runs(&RunQuery {
            only_active: true,
            ..RunQuery::default()
        })?;
        // A host that keeps its sessions itself has no rules here.
        let is_kept = |run: &IndexedRun| run.file.is_none() && self.store.is_here(run);
        let mut here = runs.into_iter().filter(|run| is_below(cwd, &run.cwd));
        Ok(here.find(is_kept).map(|run| run.key))
    }

    /// Returns true if a session has a run, or what the user decided for the time without one: that holds for a host that its
    /// agent starts, too.
    fn governs(&self, key: &SessionKey) -> Result<bool, StoreError> {
        let has_decision = |stored: StoredSession| {
            let mut entries = stored.entries.iter();
            entries.any(|entry| entry.custom_type == entry_type::DOOR)
        };
        Ok(self.store.active_run(key)?.is_some() || has_decision(self.store.load(key)?))
    }

    /// Returns true if an approver ordered something that is carried out before this event. Where the agent's login could have
    /// written it, it counts for nothing.
    fn takes_orders(
        &self,
        event: &HookEvent<'_>,
        stored: &StoredSession,
    ) -> Result<bool, StoreError> {
        let is_of_agent = matches!(
            event.name,
            EventName::Prompt | EventName::ToolCall | EventName::Stop
        ) && !event.is_of_subagent;
        Ok(is_of_agent
            && !stored.order.is_empty()
            && self.store.answer_right()? == AnswerRight::MayRead)
    }

    fn restore(
        &self,
        key: &SessionKey,
        stored: &StoredSession,
        event: &HookEvent<'_>,
    ) -> RestoredSession {
        let mut memory = HostMemory::parse(&stored.memory);
        let is_start = event.name == EventName::SessionStart;
        let starts = is_start && !event.payload.is_shortened() && !event.is_of_subagent;
        let project = memory.project_of(event.cwd, starts);
        let left = |most: u32| most.saturating_sub(memory.reminders);
        let abilities = Abilities {
            consents: self.surroundings.asks,
            // By the next prompt.
            confirmations: event.name == EventName::Prompt,
            stored_gates: true,
            reminders_left: self.host.most_reminders.map(left),
            ..Abilities::default()
        };
        let platform = Arc::new(RealPlatform::default());
        let mut session =
            RestoredSession::restore(key, stored, memory, abilities, &project, platform, false);
        session.prompt_word = self.host.prompt_word(&project);
        if !is_start {
            // The user reads about problems of files when the session starts, and not at each event.
            session.drop_notices();
        }
        drop(session.take_questions());
        session.driver.left_out = None;
        session
    }

    /// Says that nothing was measured in the host's version, if that is so.
    fn unverified(&self) -> Option<String> {
        let version = self.surroundings.version.as_deref()?;
        let (standing, is_verified) = Measured::standing(self.host.name, version);
        let title = self.host.title;
        (!is_verified).then(|| format!("{title} {standing}. It may not enforce everything."))
    }

    /// Carries out a command of a prompt, unless the hook of another installation has done so.
    fn carry_out(
        &self,
        payload: &EventPayload<'_>,
        command: &PromptCommand<'_>,
        session: &mut RestoredSession,
    ) -> HookAnswer {
        let id = payload.prompt_id();
        let is_repeated = id.is_some() && id == session.memory.command;
        let answer = if is_repeated && session.memory.command_blocks {
            HookAnswer::refused(COUNTS_ONCE)
        } else if is_repeated {
            HookAnswer::for_model(format!("[workflow] {COUNTS_ONCE}"))
        } else {
            let warning = || self.unverified();
            command::carry_out(payload.prompt(), command, session, warning)
        };
        if session.has_run() {
            session.memory.command = id;
            session.memory.command_blocks = matches!(answer.decision, HookDecision::BlockPrompt(_));
        }
        where_it_is_read(answer, payload)
    }

    /// Returns true if the user reads a text with the answer to an event. With a call that is only if it has started a run.
    fn shows_notices(
        &self,
        event: &HookEvent<'_>,
        decision: &HookDecision,
        has_started: bool,
    ) -> bool {
        let is_shown = match decision {
            HookDecision::GoOn | HookDecision::Continue(_) => {
                event.name != EventName::ToolCall || has_started
            }
            HookDecision::Deny(_) => has_started && !self.host.form.deny_exits,
            HookDecision::Ask(_)
            | HookDecision::Input(_)
            | HookDecision::Replace(_)
            | HookDecision::BlockPrompt(_) => false,
        };
        is_shown && !event.is_of_subagent && self.host.shows_notices
    }

    /// Handles the event in the restored session. `None` if nothing is to be stored or answered.
    fn handle(
        &self,
        event: &HookEvent<'_>,
        key: &SessionKey,
        session: &mut RestoredSession,
    ) -> Result<Option<HookAnswer>, HookError> {
        let (mut context, mut warnings) = (None, Vec::new());
        let mut decision = HookDecision::GoOn;
        let mut starts_run = false;
        let payload = event.payload;
        match event.name {
            EventName::Prompt
                if (self.surroundings.is_from_shell || payload.is_of_host())
                    && prompt::parse(payload.prompt(), &session.loaded).is_some() =>
            {
                return Ok(Some(HookAnswer::refused(TYPED_BY_AGENT)));
            }
            // A sub-agent is started and stopped by the main agent, which has another conversation.
            EventName::SessionStart
            | EventName::Prompt
            | EventName::Stop
            | EventName::Interrupt
            | EventName::Compaction
            | EventName::CompactionCheck
                if event.is_of_subagent =>
            {
                return Ok(None);
            }
            EventName::SessionStart => {
                session.memory.notices.clear();
                if payload.is_shortened() {
                    lose_context(session);
                    // Where a compaction is an event, what is added here may go with the host's process.
                    if EventName::Compaction.of(self.host.events).is_empty() {
                        context = session.driver.session.context_message();
                        session.memory.may_lack_context = false;
                    }
                } else {
                    warnings = installation_warnings();
                }
            }
            EventName::CompactionCheck if !may_be_shortened(&mut session.memory, payload) => {}
            EventName::Compaction | EventName::CompactionCheck => lose_context(session),
            EventName::Prompt => {
                let prompt = payload.prompt();
                let is_typed = !self.host.marks_prompts || payload.submitted_prompt.is_some();
                if !is_typed && prompt.is_empty() {
                    // The results of tools.
                    return Ok(None);
                }
                if let Some(command) = prompt::parse(prompt, &session.loaded) {
                    return Ok(Some(if is_typed {
                        self.carry_out(payload, &command, session)
                    } else {
                        HookAnswer::refused(NOT_TYPED)
                    }));
                }
                context = begin_turn(session, prompt);
                let view = session.driver.session.view();
                if view.is_none_or(|view| view.counters.reminders == 0) {
                    session.memory.reminders = 0;
                }
            }
            EventName::ToolCall => {
                starts_run = session.driver.session.is_at_door();
                decision = self.judge(session, event);
                self.keep(session, payload, &decision);
                if self.host.is_step(payload.tool()) && decision == HookDecision::GoOn {
                    decision = if event.is_of_subagent {
                        HookDecision::Deny(NOT_FOR_SUBAGENTS.to_owned())
                    } else {
                        self.issue_ticket(key, session, payload.tool_input)?
                    };
                }
            }
            EventName::ToolResult => {
                if let Some(replacement) = self.rewritten(session, payload) {
                    decision = HookDecision::Replace(replacement);
                } else if session.memory.may_lack_context && !event.is_of_subagent {
                    // A prompt may be far away.
                    session.memory.may_lack_context = false;
                    context = session.driver.session.context_message();
                }
            }
            EventName::Stop if is_judged(session, payload) => return Ok(None),
            EventName::Stop => stop(session, "stop", last_text(session, payload).as_deref()),
            EventName::Interrupt => stop(session, "aborted", None),
            EventName::Unused | EventName::Unknown => return Ok(None),
        }
        let to_agent = session.take_texts();
        if event.name == EventName::Stop && !to_agent.is_empty() {
            session.memory.reminders += 1;
            session.with_effects(Session::handle_agent_start);
            decision = HookDecision::Continue(to_agent.join("\n\n"));
        }
        let has_started = starts_run && session.driver.session.view().is_some();
        let first = has_started.then(|| to_agent.join("\n\n"));
        tell_of_start(event, session, first, &mut decision, &mut context);
        let can_show = self.shows_notices(event, &decision, has_started);
        warnings.extend(can_show.then(|| session.memory.take_notices()).flatten());
        session.finish();
        Ok(Some(HookAnswer {
            decision,
            context: context.map(|message| message.content),
            notice: (!warnings.is_empty()).then(|| warnings.join("\n\n")),
        }))
    }
}

/// Begins a turn of the agent with a message of the user. Returns what it has to read.
fn begin_turn(session: &mut RestoredSession, prompt: &str) -> Option<Message> {
    let context = session.with_effects(|session| session.handle_before_agent_start(Some(prompt)));
    session.memory.may_lack_context = false;
    session.with_effects(Session::handle_agent_start);
    context
}

/// Has the main agent read the first message of a run that a call has started: in the reason why a call is blocked, or with
/// its context.
fn tell_of_start(
    event: &HookEvent<'_>,
    session: &mut RestoredSession,
    first: Option<String>,
    decision: &mut HookDecision,
    context: &mut Option<Message>,
) {
    if first.is_some() {
        session.memory.may_lack_context = true;
        session.memory.first_message = first;
    }
    if event.is_of_subagent || session.driver.session.view().is_none() {
        return;
    }
    let text = match (decision, context) {
        (HookDecision::Deny(reason), _) => reason,
        (_, Some(message)) => &mut message.content,
        _ => return,
    };
    if let Some(first) = session.memory.first_message.take() {
        *text = format!("{text}\n\n{first}");
    }
}

/// The agent's last text.
fn last_text(session: &RestoredSession, payload: &EventPayload<'_>) -> Option<String> {
    let is_active = session.driver.session.view().is_some();
    let transcript = payload.transcript_path.as_deref();
    let transcript = transcript.filter(|_| is_active);
    let last = payload.last_text().map(str::to_owned);
    last.or_else(|| transcript.and_then(transcript::last_message))
}

/// Returns true if the hook of another installation has judged this stop; else notes that this one does.
fn is_judged(session: &mut RestoredSession, payload: &EventPayload<'_>) -> bool {
    let is_active = session.driver.session.view().is_some();
    let id = payload.stop_id().filter(|_| is_active);
    let is_judged = id.is_some() && id == session.memory.stop;
    session.memory.stop = id;
    is_judged
}

/// Returns true if the conversation loses messages, as far as an event tells that is sent whether it does or not.
fn may_be_shortened(memory: &mut HostMemory, payload: &EventPayload<'_>) -> bool {
    let length = payload.transcript_path.as_deref();
    let length = length.and_then(transcript::length);
    let before = memory.checked_at.unwrap_or_default();
    let recent = before..before.saturating_add(MAY_BE_LOST_AFTER);
    let is_asked_for = payload.trigger.as_deref() == Some("manual");
    let may_be = is_asked_for || !length.is_some_and(|length| recent.contains(&length));
    if may_be {
        memory.checked_at = length;
    }
    may_be
}

/// Has the model get the whole context again, with the next event that can carry it.
fn lose_context(session: &mut RestoredSession) {
    session.driver.session.handle_compaction();
    session.memory.may_lack_context = session.driver.session.view().is_some();
}

/// Ends the agent's work, which the host reports as a whole: it counts as one turn.
fn stop(session: &mut RestoredSession, reason: &str, last: Option<&str>) {
    session.with_effects(|session| session.handle_turn_end(TurnUsage::default()));
    let last = LastAssistant {
        stop_reason: Some(reason),
        text_tail: last,
    };
    session.with_effects(|session| session.handle_agent_end(Some(last)));
}

/// Returns true if a directory is a project or in it.
fn is_below(cwd: &Path, project: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    cwd.starts_with(project)
        || matches!((real(cwd), real(project)), (Some(cwd), Some(project)) if cwd.starts_with(&project))
}

/// The answer to a command, for the model to repeat where the host prints nothing of a prompt that is blocked.
fn where_it_is_read(answer: HookAnswer, payload: &EventPayload<'_>) -> HookAnswer {
    match answer.decision {
        HookDecision::BlockPrompt(text) if payload.is_of_exec() => {
            HookAnswer::for_model(format!("{TELL_USER}\n{text}\n{DO_NOTHING}"))
        }
        _ => answer,
    }
}

/// Loads the session. A fork begins with what the session has that it was made of, as a run of its own. The event that says so
/// may be late or fail, and Claude Code writes the transcript after it, so each event counts until the session is stored.
fn load(
    store: &Store,
    key: &SessionKey,
    event: &HookEvent<'_>,
) -> Result<StoredSession, StoreError> {
    let stored = store.load(key)?;
    let transcript = event.payload.transcript_path.as_deref();
    let transcript = transcript.filter(|_| stored.version == 0 && !event.is_of_subagent);
    let parent = transcript.and_then(|path| transcript::forked_from(path, &key.session));
    let Some((transcript, session)) = transcript.zip(parent) else {
        return Ok(stored);
    };
    let parent = SessionKey {
        session,
        ..key.clone()
    };
    let copy = with_own_run(store.load(&parent)?, transcript::made_at(transcript));
    Ok(copy.unwrap_or(stored))
}

/// A copy of a session that is not stored yet. Its run has another id, or an answer to the one would be one to the other. `None`
/// if the run is younger than the copy.
fn with_own_run(mut copy: StoredSession, made_at: Option<i64>) -> Option<StoredSession> {
    copy.version = 0;
    // An order is for the other run.
    copy.order.clear();
    // What the user decided for the time without a run ends with its session.
    copy.entries
        .retain(|entry| entry.custom_type != entry_type::DOOR);
    let mut entries = copy.entries.iter();
    let state = entries.rfind(|entry| entry.custom_type == entry_type::STATE);
    let state = state.and_then(|state| serde_json::from_str::<Value>(state.data.get()).ok());
    let state = state.unwrap_or_default();
    let is_younger = |started| made_at.is_some_and(|made| started > made + CLOCKS_DIFFER_BY);
    if state["startedAt"].as_i64().is_some_and(is_younger) {
        return None;
    }
    let id = state["taskId"].as_str();
    let Some(id) = id.filter(|id| id.starts_with("wf-")) else {
        return Some(copy);
    };
    let own = task_id(RandomState::new().hash_one(id), wall_time());
    for entry in &mut copy.entries {
        let data = entry.data.get().replace(id, &own);
        entry.data = RawValue::from_string(data).expect("an id in JSON is one after a change");
    }
    copy.memory = copy.memory.replace(id, &own);
    Some(copy)
}
