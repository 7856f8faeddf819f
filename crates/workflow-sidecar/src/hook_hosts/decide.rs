//! An event of a host becomes an answer: the session is restored, handles the event, and is stored.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use workflow_core::effect::{Reply, ToolDecision};
use workflow_core::event::{Answer as PersonsAnswer, LastAssistant};
use workflow_core::policy::rules::Call;
use workflow_core::session::{Abilities, Control};
use workflow_core::types::Millis;

use super::answer::{Answer, Verdict};
use super::event::{Event, EventName, Kind, Source};
use super::prompt::{self, Action, Command};
use super::{
    HookHost, HookPlatform, HostMemory, TICKET_ARGUMENT, Turn, in_prompt_words, now, session_ticket,
};
use crate::run_condition::run_of;
use crate::store::{Change, Saved, SessionKey, Store, StoreError, StoredSession, Ticket};

/// The time for which a ticket counts.
const TICKET_VALID_FOR: Millis = 60_000;
/// Attempts to store a change while other processes change the same session.
const ATTEMPTS: u32 = 16;
/// The longest first line of a transcript that is read.
const MAX_FIRST_LINE: u64 = 1 << 20;

const NOT_FOR_SUBAGENTS: &str =
    "[workflow] Only the main agent moves the workflow. Finish your task and report to it.";
const TYPED_BY_AGENT: &str =
    "This command comes from the shell of an agent, and only a person may give it.";
const READ_FIRST: &str = "[workflow] This call did not run, so that you read this first. Then make the call again, if it is still right.";
const TELL_USER: &str = "[workflow] Tell the user, word for word:";
const LEAVE_PHASE: &str = "[workflow] The user asks you to finish this phase now: call workflow_step with action='next' by itself.";

/// An event could not be handled.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("the store of workflow-sidecar cannot be used: {0}")]
    Store(#[from] StoreError),
    #[error("too many events of this session at once")]
    Busy,
    #[error("no random number can be made")]
    NoTicket,
}

/// What decides about the answer to an event.
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
            let stored = self.load(&key, event)?;
            let mut memory = HostMemory::parse(&stored.memory);
            let before = memory.to_text();
            let platform = HookPlatform::default();
            let turn = self.restore(&key, &stored, &memory, event, &platform);
            (self.on_loaded)(turn.session.view().is_some());
            let decided = self.handle(event, &key, turn, &platform, &mut memory)?;
            let Some(decided) = decided else {
                return Ok(Answer::default());
            };
            let Decided {
                answer,
                run,
                entries,
            } = decided;
            let answer = self.in_reach(event, answer, &mut memory);
            let text = memory.to_text();
            let is_unchanged = entries.is_empty() && text == before;
            if is_unchanged {
                return Ok(answer);
            }
            let change = Change {
                from: stored.version,
                entries: &entries,
                memory: &text,
                run,
                cwd: &event.cwd,
                now: now(),
            };
            if self.store.save(&key, &change)? == Saved::Stored {
                return Ok(answer);
            }
        }
        Err(Failure::Busy)
    }

    /// Loads the session. A fork goes on with the entries of the session that it was made of.
    fn load(&self, key: &SessionKey, event: &Event<'_>) -> Result<StoredSession, Failure> {
        let stored = self.store.load(key)?;
        let parent = match (&event.kind, &event.transcript) {
            (Kind::SessionStart(Source::Fork), Some(transcript)) if stored.version == 0 => {
                forked_from(transcript)
            }
            _ => None,
        };
        let Some(session) = parent else {
            return Ok(stored);
        };
        let parent = SessionKey {
            session,
            ..key.clone()
        };
        let parent = self.store.load(&parent)?;
        if !parent.entries.is_empty() {
            let change = Change {
                from: 0,
                entries: &parent.entries,
                memory: &parent.memory,
                run: None,
                cwd: &event.cwd,
                now: now(),
            };
            self.store.save(key, &change)?;
        }
        Ok(self.store.load(key)?)
    }

    /// Moves the texts of an answer that the host would drop to the next answer that can have them: the denial of a call, or
    /// the reason to go on.
    fn in_reach(&self, event: &Event<'_>, mut answer: Answer, memory: &mut HostMemory) -> Answer {
        if !self.host.injects {
            memory.for_agent.extend(answer.context.take());
        }
        if !self.host.answers_prompts
            && let Verdict::BlockPrompt(text) = &answer.verdict
        {
            memory.for_agent.push(format!("{TELL_USER}\n{text}"));
            answer.verdict = Verdict::GoOn;
        }
        let takes_texts = matches!(event.kind, Kind::ToolCall { .. } | Kind::Stop { .. });
        if memory.for_agent.is_empty() || !takes_texts || event.is_of_subagent {
            return answer;
        }
        let text = std::mem::take(&mut memory.for_agent).join("\n\n");
        answer.verdict = match (&event.kind, answer.verdict) {
            (Kind::Stop { .. }, Verdict::Continue(reminder)) => {
                Verdict::Continue(format!("{text}\n\n{reminder}"))
            }
            (Kind::Stop { .. }, verdict) => {
                let most = self.host.most_reminders.unwrap_or(u32::MAX);
                if memory.reminders >= most {
                    memory.for_agent.push(text);
                    verdict
                } else {
                    memory.reminders += 1;
                    Verdict::Continue(text)
                }
            }
            (_, Verdict::Deny(reason)) => Verdict::Deny(format!("{reason}\n\n{text}")),
            _ => Verdict::Deny(format!("{READ_FIRST}\n\n{text}")),
        };
        answer
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
                    return Ok(self.command(prompt, &command, turn, platform, memory));
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
                        self.ticket(key, event, *input)?
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
        let outcome = turn.finish();
        if matches!(event.kind, Kind::Stop { .. }) && !outcome.to_agent.is_empty() {
            memory.reminders += 1;
            verdict = Verdict::Continue(outcome.to_agent.join("\n\n"));
        }
        memory.add_notices(outcome.notices.iter().map(|text| in_prompt_words(text)));
        memory.session = turn.session.memory();
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
            run: run_of(&turn.session),
            entries: outcome.entries,
        }))
    }

    /// Carries out a command of a prompt.
    fn command(
        &self,
        prompt: &str,
        command: &Command<'_>,
        mut turn: Turn<'_>,
        platform: &HookPlatform,
        memory: &mut HostMemory,
    ) -> Option<Decided> {
        let refuse = |text: String| {
            Some(Decided {
                answer: Answer::of(Verdict::BlockPrompt(text)),
                ..Decided::default()
            })
        };
        if self.is_from_shell {
            return refuse(TYPED_BY_AGENT.to_owned());
        }
        let request = turn.request();
        let loaded = std::sync::Arc::clone(&turn.loaded);
        let reply = turn.handle(|session, out| match command.action {
            Action::Start(arguments) => {
                session.handle_workflow_command(request, arguments, loaded, out)
            }
            Action::Cancel => {
                session.handle_cancel_command(out);
                Reply::Now(())
            }
            Action::Control(control, arguments) => {
                session.handle_control(request, control, arguments, out)
            }
        });
        let is_exit = matches!(
            command.action,
            Action::Control(Control::Next | Control::Approve, _)
        );
        let mut is_open = reply == Reply::Later && turn.take_deferred().is_none();
        if let Some(question) = turn.take_questions().into_iter().next() {
            let is_next = matches!(command.action, Action::Control(Control::Next, _));
            if !command.is_confirmed && !is_next {
                let (title, message) = (question.title, question.message);
                return refuse(in_prompt_words(&format!(
                    "{title}\n\n{message}\n\nTo do it: {}",
                    prompt::confirmation(prompt)
                )));
            }
            if !is_next {
                let yes = question.options.get(1);
                let answer = yes.map_or(PersonsAnswer::Confirmed(true), |yes| {
                    PersonsAnswer::Chosen(yes)
                });
                turn.handle(|session, out| session.handle_answer(question.id, answer, out));
                is_open = turn.take_deferred().is_none();
            }
        }
        if is_open || platform.wants_gate() {
            // A gate may run for minutes and a hook may not, so the agent's call runs it. Nothing is stored of this.
            return match command.action {
                Action::Control(Control::Approve, _) => refuse(
                    "The result of the gate is too old to approve the phase with it. Ask the agent to call workflow_step with \
                     action='next' again, then approve."
                        .to_owned(),
                ),
                _ if is_exit => Some(Decided {
                    answer: Answer {
                        context: Some(LEAVE_PHASE.to_owned()),
                        ..Answer::default()
                    },
                    ..Decided::default()
                }),
                _ => refuse("This cannot be done while the workflow waits for something else.".to_owned()),
            };
        }
        memory.reminders = 0;
        let outcome = turn.finish();
        memory.add_notices(outcome.notices.iter().map(|text| in_prompt_words(text)));
        let answer = if outcome.to_agent.is_empty() {
            let text = memory.take_notices();
            Answer::of(Verdict::BlockPrompt(
                text.unwrap_or_else(|| "Done.".to_owned()),
            ))
        } else {
            let context = turn.session.context_message();
            let texts = outcome.to_agent.into_iter();
            let texts: Vec<String> = texts
                .chain(context.map(|message| message.content))
                .collect();
            Answer {
                context: Some(texts.join("\n\n")),
                notice: self
                    .host
                    .shows_notices
                    .then(|| memory.take_notices())
                    .flatten(),
                ..Answer::default()
            }
        };
        memory.session = turn.session.memory();
        Some(Decided {
            answer,
            run: run_of(&turn.session),
            entries: outcome.entries,
        })
    }

    /// Issues a ticket for a call of `workflow_step`, and adds it to the arguments.
    fn ticket(
        &self,
        key: &SessionKey,
        event: &Event<'_>,
        input: Option<&RawValue>,
    ) -> Result<Verdict, Failure> {
        let id = if self.host.changes_arguments {
            let mut bytes = [0; 16];
            getrandom::fill(&mut bytes).map_err(|_| Failure::NoTicket)?;
            format!("{:032x}", u128::from_be_bytes(bytes))
        } else {
            session_ticket(&key.host, &key.session)
        };
        let now = now();
        if !self.host.changes_arguments {
            // The one of a call that was never made is of no use any more.
            self.store.take(&id, now)?;
        }
        let ticket = Ticket {
            key: key.clone(),
            cwd: event.cwd.clone(),
            expires: now.saturating_add(TICKET_VALID_FOR),
        };
        self.store.issue(&id, &ticket, now)?;
        if !self.host.changes_arguments {
            return Ok(Verdict::GoOn);
        }
        let input = input.and_then(|input| serde_json::from_str(input.get()).ok());
        let mut input = match input {
            Some(Value::Object(input)) => input,
            _ => serde_json::Map::new(),
        };
        input.insert(TICKET_ARGUMENT.to_owned(), Value::String(id));
        Ok(Verdict::Input(Value::Object(input)))
    }
}

/// A decision, and what is to be stored with it.
#[derive(Debug, Default)]
struct Decided {
    answer: Answer,
    run: Option<crate::store::Run>,
    entries: Vec<crate::store::StoredEntry>,
}

/// Decides about a tool call: each call that it stands for has to be allowed.
fn judge(host: &HookHost, turn: &mut Turn<'_>, tool: &str, input: Option<&RawValue>) -> Verdict {
    let (agent_dir, cwd) = turn.directories();
    let project = crate::platform::Project {
        agent_dir: &agent_dir,
        cwd: &cwd,
        session_file: None,
    };
    let paths = turn.platform().paths(&project);
    for call in host.engine_calls(tool, input) {
        let request = turn.request();
        let call = Call::new(&call.tool, call.input.as_deref(), &*paths);
        let reply = turn.handle(|session, out| session.handle_tool_call(request, &call, out));
        match reply {
            Reply::Now(ToolDecision::Allow) => {}
            Reply::Now(ToolDecision::Block { reason, .. }) => return Verdict::Deny(reason),
            Reply::Later => {
                let reason =
                    "[workflow] A person has to decide about this call, and this host cannot ask.";
                return Verdict::Deny(reason.to_owned());
            }
        }
    }
    Verdict::GoOn
}

/// Returns the text that the model reads instead of a result, if a rule changes it.
fn rewritten(
    host: &HookHost,
    turn: &mut Turn<'_>,
    tool: &str,
    text: Option<&str>,
    is_error: bool,
) -> Option<String> {
    let text = text?;
    let content = serde_json::json!([{ "type": "text", "text": text }]);
    let content = to_raw_value(&content).expect("a JSON value is JSON");
    let tool = host.engine_tool(tool);
    let rewritten = turn
        .handle(|session, out| session.handle_tool_result(tool, Some(&content), is_error, out))?;
    let parts: Vec<Value> = serde_json::from_str(rewritten.get()).unwrap_or_default();
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| part["text"].as_str())
        .collect();
    Some(texts.join("\n"))
}

fn stop(turn: &mut Turn<'_>, reason: &str, last: Option<&str>) {
    let last = LastAssistant {
        stop_reason: Some(reason),
        text_tail: last,
    };
    turn.handle(|session, out| session.handle_agent_end(Some(last), out));
}

/// The session that a fork was made of, from the first line of its transcript (Codex).
fn forked_from(transcript: &Path) -> Option<String> {
    let file = File::open(transcript).ok()?;
    let mut line = String::new();
    BufReader::new(file.take(MAX_FIRST_LINE))
        .read_line(&mut line)
        .ok()?;
    let line: Value = serde_json::from_str(&line).ok()?;
    let parent = line.pointer("/payload/forked_from_id");
    let parent = parent.or_else(|| line.get("forked_from_id"))?;
    Some(parent.as_str()?.to_owned())
}
