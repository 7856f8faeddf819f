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

use workflow_core::event::LastAssistant;
use workflow_core::session::Abilities;

use self::decided::Decided;
pub(super) use self::decided::Failure;
use self::tool_calls::{issue_ticket, judge, rewritten};
use super::answer::{Answer, Verdict};
use super::event::{Event, EventName, Kind, Source};
use super::prompt;
use super::{ATTEMPTS, HookHost, HookPlatform, HostMemory, Turn, TurnChange};
use crate::store::{Saved, SessionKey, Store, StoredSession};

const NOT_FOR_SUBAGENTS: &str =
    "[workflow] Only the main agent moves the workflow. Finish your task and report to it.";
const TYPED_BY_AGENT: &str =
    "This command comes from the shell of an agent, and only a person may give it.";

/// Everything that the answer to an event depends on.
pub(super) struct Decider<'a> {
    pub(super) host: &'static HookHost,
    pub(super) store: &'a dyn Store,
    /// True if the event comes from the shell of an agent.
    pub(super) is_from_shell: bool,
    /// Notes whether a run is active, as soon as that is known.
    pub(super) on_loaded: &'a dyn Fn(bool),
}

impl Decider<'_> {
    /// Decides about an event, and stores what changed.
    pub(super) fn decide(&self, event: &Event<'_>) -> Result<Answer, Failure> {
        if event.name == EventName::Unused || matches!(event.kind, Kind::Unused) {
            return Ok(Answer::default());
        }
        let key = SessionKey {
            host: self.host.name.to_owned(),
            session: event.session.clone(),
        };
        let _turn = self.store.wait_turn(&key);
        for _ in 0..ATTEMPTS {
            let stored = session::load(self.store, &key, event)?;
            let mut memory = HostMemory::parse(&stored.memory);
            let before = memory.to_text();
            let platform = HookPlatform::default();
            let turn = self.restore(&key, &stored, &memory, event, &platform);
            (self.on_loaded)(turn.session.view().is_some());
            let decided = self.handle(event, &key, turn, &platform, &mut memory)?;
            let Some(decided) = decided else {
                return Ok(Answer::default());
            };
            let Decided { answer, change } = decided;
            let answer = delivery::in_reach(self.host, event, answer, &mut memory);
            let text = memory.to_text();
            let is_unchanged = change.has_no_entry() && text == before;
            if is_unchanged {
                return Ok(answer);
            }
            let saved = change.save(self.store, &key, stored.version, &text, &event.cwd)?;
            if saved == Saved::Stored {
                return Ok(answer);
            }
        }
        Err(Failure::Busy)
    }

    fn restore<'p>(
        &self,
        key: &SessionKey,
        stored: &StoredSession,
        memory: &HostMemory,
        event: &Event<'_>,
        platform: &'p HookPlatform,
    ) -> Turn<'p> {
        let abilities = Abilities {
            // A command can be confirmed by the next prompt. Nothing else can be asked.
            dialogs: matches!(event.kind, Kind::Prompt(_)),
            dismissal: false,
            widgets: Some(false),
            hints: false,
            awaits_reminder: true,
            reminders_left: self
                .host
                .most_reminders
                .map(|most| most.saturating_sub(memory.reminders)),
        };
        let mut turn = Turn::restore(key, stored, memory, abilities, &event.cwd, platform);
        if !matches!(event.kind, Kind::SessionStart(_)) {
            // The person reads about problems of files when the session starts, and not at each event.
            turn.drop_notices();
        }
        drop(turn.take_questions());
        platform.begin_event();
        turn
    }

    /// Handles the event in the restored session. `None` if nothing is to be stored or answered.
    fn handle(
        &self,
        event: &Event<'_>,
        key: &SessionKey,
        mut turn: Turn<'_>,
        platform: &HookPlatform,
        memory: &mut HostMemory,
    ) -> Result<Option<Decided>, Failure> {
        let mut context = None;
        let mut verdict = Verdict::GoOn;
        match &event.kind {
            Kind::SessionStart(source) => {
                if *source == Source::Shortened {
                    turn.session.handle_compaction();
                    context = turn
                        .session
                        .context_message()
                        .map(|message| message.content);
                }
                memory.notices.clear();
            }
            // A sub-agent is started and stopped by the main agent.
            Kind::Prompt(_) | Kind::Stop { .. } if event.is_of_subagent => return Ok(None),
            Kind::Prompt(prompt) => {
                if let Some(command) = prompt::parse(prompt, &turn.loaded) {
                    return Ok(Some(if self.is_from_shell {
                        Decided::refused(TYPED_BY_AGENT)
                    } else {
                        command::carry_out(self.host, prompt, &command, turn, platform, memory)
                    }));
                }
                let message = turn
                    .handle(|session, out| session.handle_before_agent_start(Some(prompt), out));
                if turn
                    .session
                    .view()
                    .is_none_or(|view| view.counters.reminders == 0)
                {
                    memory.reminders = 0;
                }
                context = message.map(|message| message.content);
            }
            Kind::ToolCall { tool, input } => {
                verdict = judge(self.host, &mut turn, tool, *input);
                if self.host.is_step(tool) && verdict == Verdict::GoOn {
                    verdict = if event.is_of_subagent {
                        Verdict::Deny(NOT_FOR_SUBAGENTS.to_owned())
                    } else {
                        issue_ticket(self.host, self.store, key, event, *input)?
                    };
                }
            }
            Kind::ToolResult {
                tool,
                text,
                is_error,
            } => {
                if let Some(text) =
                    rewritten(self.host, &mut turn, tool, text.as_deref(), *is_error)
                {
                    verdict = Verdict::Replace(text);
                }
            }
            Kind::Stop { last } => stop(&mut turn, "stop", *last),
            Kind::Interrupt => stop(&mut turn, "aborted", None),
            Kind::Unused => return Ok(None),
        }
        let outcome = turn.finish(memory);
        if matches!(event.kind, Kind::Stop { .. }) && !outcome.to_agent.is_empty() {
            memory.reminders += 1;
            verdict = Verdict::Continue(outcome.to_agent.join("\n\n"));
        }
        let can_show = matches!(verdict, Verdict::GoOn | Verdict::Continue(_))
            && event.name != EventName::ToolCall
            && self.host.shows_notices;
        let notice = if can_show {
            memory.take_notices()
        } else {
            None
        };
        Ok(Some(Decided {
            answer: Answer {
                verdict,
                context,
                notice,
            },
            change: TurnChange::of(&turn, outcome.entries, memory),
        }))
    }
}

fn stop(turn: &mut Turn<'_>, reason: &str, last: Option<&str>) {
    let last = LastAssistant {
        stop_reason: Some(reason),
        text_tail: last,
    };
    turn.handle(|session, out| session.handle_agent_end(Some(last), out));
}
