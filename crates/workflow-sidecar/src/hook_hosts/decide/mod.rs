//! An event of a host becomes an answer: the session is restored, handles the event, and is stored.
//!
//! ```text
//! mod (an event, its attempts) ── command, tool_calls ── decided
//!   └── session (loading, forks), delivery (texts for which the host has no place)
//! ```

mod command;
mod decided;
mod delivery;
mod session;
mod tool_calls;

use std::path::Path;

use workflow_core::Session;
use workflow_core::event::LastAssistant;
use workflow_core::session::{Abilities, TurnUsage};

use self::decided::Decided;
pub(super) use self::decided::HookError;
use self::tool_calls::{issue_ticket, judge, rewritten};
use super::answer::{HookAnswer, HookDecision};
use super::event::{EventKind, EventName, HookEvent, StartReason};
use super::prompt;
use super::{ATTEMPTS, FinishedSession, HookHost, HookPlatform, HostMemory, RestoredSession};
use crate::store::{Saved, SessionKey, Store, StoredSession};

const NOT_FOR_SUBAGENTS: &str =
    "[workflow] Only the main agent moves the workflow. Finish your task and report to it.";
const TYPED_BY_AGENT: &str =
    "This command comes from the shell of an agent, and only the user may give it.";

/// Everything that the answer to an event depends on.
pub(super) struct EventHandler<'a> {
    pub(super) host: &'static HookHost,
    pub(super) store: &'a dyn Store,
    /// True if the event comes from the shell of an agent.
    pub(super) is_from_shell: bool,
    /// Notes whether a run is active or the settings have rules, as soon as that is known.
    pub(super) on_loaded: &'a dyn Fn(bool),
}

impl EventHandler<'_> {
    /// Decides about an event, and stores what changed.
    pub(super) fn decide(&self, event: &HookEvent<'_>) -> Result<HookAnswer, HookError> {
        if event.name == EventName::Unused || matches!(event.kind, EventKind::Unused) {
            return Ok(HookAnswer::default());
        }
        let key = SessionKey {
            host: self.host.name.to_owned(),
            session: event.session.clone(),
        };
        let _queue_turn = self.store.wait_turn(&key);
        for _ in 0..ATTEMPTS {
            let stored = session::load(self.store, &key, event)?;
            let mut memory = HostMemory::parse(&stored.memory);
            let before = memory.to_text();
            let starts = matches!(
                event.kind,
                EventKind::SessionStart(StartReason::Startup | StartReason::Fork)
            );
            let project = memory.project_of(&event.cwd, starts && !event.is_of_subagent);
            let platform = HookPlatform::default();
            let restored = self.restore(&key, &stored, &memory, event, &project, &platform);
            let has_rules = restored.loaded.settings.has_rules();
            (self.on_loaded)(has_rules || restored.session.view().is_some());
            let decided = self.handle(event, &key, restored, &platform, &mut memory)?;
            let Some(decided) = decided else {
                return Ok(HookAnswer::default());
            };
            let Decided { mut answer, change } = decided;
            delivery::pass_on_notice(self.host, &mut answer);
            if stored.version == 0 && !has_rules && !change.has_run() {
                // Nothing is in force, so nothing is stored.
                memory.project = None;
            }
            let text = memory.to_text();
            let is_unchanged = change.has_no_entry() && text == before;
            if is_unchanged {
                return Ok(answer);
            }
            let saved = change.save(self.store, &key, stored.version, &text, &project)?;
            if saved == Saved::Stored {
                return Ok(answer);
            }
        }
        Err(HookError::Busy)
    }

    fn restore<'p>(
        &self,
        key: &SessionKey,
        stored: &StoredSession,
        memory: &HostMemory,
        event: &HookEvent<'_>,
        project: &Path,
        platform: &'p HookPlatform,
    ) -> RestoredSession<'p> {
        let abilities = Abilities {
            dialogs: false,
            // By the next prompt.
            confirmations: matches!(event.kind, EventKind::Prompt(_)),
            dismissal: false,
            widgets: Some(false),
            hints: false,
            awaits_reminder: true,
            reminders_left: self
                .host
                .most_reminders
                .map(|most| most.saturating_sub(memory.reminders)),
        };
        let mut restored =
            RestoredSession::restore(key, stored, memory, abilities, project, platform);
        if !matches!(event.kind, EventKind::SessionStart(_)) {
            // The person reads about problems of files when the session starts, and not at each event.
            restored.drop_notices();
        }
        drop(restored.take_questions());
        platform.begin_event();
        restored
    }

    /// Handles the event in the restored session. `None` if nothing is to be stored or answered.
    fn handle(
        &self,
        event: &HookEvent<'_>,
        key: &SessionKey,
        mut restored: RestoredSession<'_>,
        platform: &HookPlatform,
        memory: &mut HostMemory,
    ) -> Result<Option<Decided>, HookError> {
        let mut context = None;
        let mut decision = HookDecision::GoOn;
        match &event.kind {
            EventKind::SessionStart(source) => {
                if *source == StartReason::Shortened {
                    restored.session.handle_compaction();
                    context = restored
                        .session
                        .context_message()
                        .map(|message| message.content);
                }
                memory.notices.clear();
            }
            // A sub-agent is started and stopped by the main agent.
            EventKind::Prompt(_) | EventKind::Stop { .. } if event.is_of_subagent => {
                return Ok(None);
            }
            EventKind::Prompt(prompt) => {
                if let Some(command) = prompt::parse(prompt, &restored.loaded) {
                    return Ok(Some(if self.is_from_shell {
                        Decided::refused(TYPED_BY_AGENT)
                    } else {
                        command::carry_out(prompt, &command, restored, platform, memory)
                    }));
                }
                let message = restored
                    .handle(|session, out| session.handle_before_agent_start(Some(prompt), out));
                restored.handle(Session::handle_agent_start);
                if restored
                    .session
                    .view()
                    .is_none_or(|view| view.counters.reminders == 0)
                {
                    memory.reminders = 0;
                }
                context = message.map(|message| message.content);
            }
            EventKind::ToolCall { tool, input } => {
                decision = judge(self.host, &mut restored, &event.cwd, tool, *input);
                if self.host.is_step(tool) && decision == HookDecision::GoOn {
                    decision = if event.is_of_subagent {
                        HookDecision::Deny(NOT_FOR_SUBAGENTS.to_owned())
                    } else {
                        issue_ticket(self.store, key, &restored, *input)?
                    };
                }
            }
            EventKind::ToolResult {
                tool,
                result,
                is_error,
            } => {
                let rewritten = result.and_then(|result| {
                    rewritten(self.host, &mut restored, tool, result, *is_error)
                });
                if let Some(text) = rewritten {
                    decision = HookDecision::Replace(text);
                }
            }
            EventKind::Stop { last } => stop(&mut restored, "stop", *last),
            EventKind::Interrupt => stop(&mut restored, "aborted", None),
            EventKind::Unused => return Ok(None),
        }
        let outcome = restored.finish(memory);
        if matches!(event.kind, EventKind::Stop { .. }) && !outcome.to_agent.is_empty() {
            memory.reminders += 1;
            restored.handle(Session::handle_agent_start);
            decision = HookDecision::Continue(outcome.to_agent.join("\n\n"));
        }
        let can_show = matches!(decision, HookDecision::GoOn | HookDecision::Continue(_))
            && event.name != EventName::ToolCall
            && self.host.shows_notices;
        let notice = if can_show {
            memory.take_notices()
        } else {
            None
        };
        Ok(Some(Decided {
            answer: HookAnswer {
                decision,
                context,
                notice,
            },
            change: FinishedSession::of(&restored, outcome.entries, memory),
        }))
    }
}

/// Ends the agent's work, which the host reports as a whole: it counts as one turn.
fn stop(restored: &mut RestoredSession<'_>, reason: &str, last: Option<&str>) {
    restored.handle(|session, out| session.handle_turn_end(TurnUsage::default(), out));
    let last = LastAssistant {
        stop_reason: Some(reason),
        text_tail: last,
    };
    restored.handle(|session, out| session.handle_agent_end(Some(last), out));
}
