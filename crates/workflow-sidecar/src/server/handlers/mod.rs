//! What each method of the contract means.
//!
//! Owns the way from a row's parameters to a step of a session and back to the row's result.
//! Must not know lines and ids, or decide anything that the engine decides.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use workflow_core::diagnostic::{Code, Diagnostic, Severity};
use workflow_core::effect::Reply;
use workflow_core::event::{Author, Entry, LastAssistant};
use workflow_core::policy::STEP_TOOL;
use workflow_core::policy::rules::Call;
use workflow_core::session::Abilities;
use workflow_core::{Effects, Session, session};
use workflow_protocol as protocol;
use workflow_protocol::{Error, Handlers, Kind, SessionBound};

use super::definitions::Definitions;
use super::manifest::{CANCEL_COMMAND, START_COMMAND, manifest};
use super::state::{Host, PendingKind, Seed, Server, not_initialized};
use super::timer::Clock;
use crate::rpc::text;
use crate::server::convert as wire;

/// A call's result, or a word that it comes later.
#[derive(Debug)]
pub(super) enum Answered<R> {
    Now(R),
    /// The server has been told which request to wait for.
    Later,
}

type Answer<R> = Result<Answered<R>, Error>;

impl Handlers for Server {
    type Answer<R> = Answer<R>;

    fn initialize(&mut self, params: protocol::InitializeParams<'_>) -> Answer<protocol::Manifest> {
        if self.host.is_some() {
            return Err(Error::new(
                Kind::AlreadyInitialized,
                "initialize comes once",
            ));
        }
        if params.protocol_version != protocol::PROTOCOL_VERSION {
            return Err(unsupported(params.protocol_version));
        }
        let seed = match params.clock {
            protocol::Clock::System => match self.seed {
                Some(seed) => Seed::Fixed(seed),
                None => Seed::Random(std::hash::RandomState::new()),
            },
            protocol::Clock::Virtual { now, seed } => {
                self.clock = Clock::Virtual { now };
                Seed::Fixed(seed)
            }
        };
        tracing::info!(
            name = &*params.host.name,
            version = &*params.host.version,
            "a host"
        );
        self.host = Some(Host {
            abilities: Abilities {
                dialogs: params.capabilities.dialogs,
                widgets: params.capabilities.widgets,
            },
            definitions: Definitions::new(
                Arc::clone(&self.loader),
                params.agent_dir.as_deref(),
                &params.cwd,
            ),
            seed,
        });
        now(manifest())
    }

    fn hook_session_start(
        &mut self,
        params: protocol::SessionHookParams<'_>,
    ) -> Answer<protocol::HookResult> {
        self.begin_session(&params)
    }

    fn hook_session_tree(
        &mut self,
        params: protocol::SessionHookParams<'_>,
    ) -> Answer<protocol::HookResult> {
        needs_branch(&params)?;
        self.begin_session(&params)
    }

    fn hook_session_switch(
        &mut self,
        params: protocol::SessionHookParams<'_>,
    ) -> Answer<protocol::HookResult> {
        needs_branch(&params)?;
        self.begin_session(&params)
    }

    fn hook_session_compact(
        &mut self,
        params: protocol::SessionHookParams<'_>,
    ) -> Answer<protocol::HookResult> {
        self.hook(&params, |session, _| session.handle_compaction())
    }

    fn hook_session_shutdown(
        &mut self,
        params: protocol::SessionHookParams<'_>,
    ) -> Answer<protocol::HookResult> {
        self.known(&params)?;
        now(wire::hook_result(self.close(params.session_id())))
    }

    fn hook_before_agent_start(
        &mut self,
        params: protocol::BeforeAgentStartParams<'_>,
    ) -> Answer<protocol::BeforeAgentStartResult> {
        self.look_again_for_settings(&params)?;
        let prompt = params.event.prompt.as_deref();
        let (message, out) = self.handle_call(&params, |session, out| {
            session.handle_before_agent_start(prompt, out)
        })?;
        now(wire::before_agent_start_result(message, out))
    }

    fn hook_agent_start(
        &mut self,
        params: protocol::AgentStartParams<'_>,
    ) -> Answer<protocol::HookResult> {
        self.hook(&params, Session::handle_agent_start)
    }

    fn hook_turn_start(
        &mut self,
        params: protocol::TurnParams<'_>,
    ) -> Answer<protocol::HookResult> {
        let index = params.event.turn_index;
        self.hook(&params, |session, out| {
            session.handle_turn_start(index, out);
        })
    }

    fn hook_tool_call(
        &mut self,
        params: protocol::ToolCallParams<'_>,
    ) -> Answer<protocol::ToolCallResult> {
        self.look_again_for_settings(&params)?;
        let places = self.places(params.session_id());
        let places = places.ok_or_else(not_initialized)?;
        let paths = self.platform.paths(&places.project());
        let call = Call::new(&params.event.tool_name, params.event.input, &*paths);
        let (reply, out) = self.handle_request(
            &params,
            PendingKind::ToolCall,
            |session, request, out| session.handle_tool_call(request, &call, out),
            wire::tool_decision,
        )?;
        later_or(reply, |decision| wire::tool_call_result(decision, out))
    }

    fn hook_tool_result(
        &mut self,
        params: protocol::ToolResultParams<'_>,
    ) -> Answer<protocol::ToolResultResult> {
        let event = &params.event;
        let is_error = event.is_error.unwrap_or(false);
        let (content, out) = self.handle_call(&params, |session, out| {
            session.handle_tool_result(&event.tool_name, event.content, is_error, out)
        })?;
        now(wire::tool_result_result(content, out))
    }

    fn hook_turn_end(&mut self, params: protocol::TurnParams<'_>) -> Answer<protocol::HookResult> {
        self.hook(&params, Session::handle_turn_end)
    }

    fn hook_agent_end(
        &mut self,
        params: protocol::AgentEndParams<'_>,
    ) -> Answer<protocol::AgentEndResult> {
        let last = params.event.messages.last_assistant.as_ref();
        let last = last.map(|last| LastAssistant {
            stop_reason: last.stop_reason.as_deref(),
            text_tail: Some(&last.text_tail),
        });
        let (mutation, out) =
            self.handle_call(&params, |session, out| session.handle_agent_end(last, out))?;
        now(wire::agent_end_result(mutation, out))
    }

    fn hook_input(&mut self, params: protocol::InputParams<'_>) -> Answer<protocol::HookResult> {
        let author = match params.event.source.as_deref() {
            Some("extension") => Some(Author::Extension),
            Some(_) => Some(Author::Person),
            None => None,
        };
        self.hook(&params, |session, out| {
            session.handle_user_input(author, out);
        })
    }

    fn hook_branch(
        &mut self,
        params: protocol::BranchParams<'_>,
    ) -> Answer<protocol::BranchResult> {
        let entries = params.context.branch.as_ref().map(entries);
        let turn = params.event.target_turn_index;
        let (reply, out) = self.handle_request(
            &params,
            PendingKind::Branch,
            |session, request, out| session.handle_branch(request, turn, entries.as_deref(), out),
            |_| (),
        )?;
        later_or(reply, |()| wire::branch_result(out))
    }

    fn tool_execute(
        &mut self,
        params: protocol::ToolExecuteParams<'_>,
    ) -> Answer<protocol::ToolExecuteResult> {
        if &*params.name != STEP_TOOL {
            return Err(Error::new(
                Kind::UnknownTool,
                format!("there is no tool {:?}", &*params.name),
            ));
        }
        let action = params.arguments.and_then(step_action);
        let action = action.as_deref();
        let kind = PendingKind::Step {
            session: params.session_id().to_owned(),
            call: params.tool_call_id.to_string(),
        };
        let (reply, out) = self.handle_request(
            &params,
            kind,
            |session, request, out| session.handle_workflow_step(request, action, out),
            wire::step_answer,
        )?;
        later_or(reply, |answer| wire::tool_execute_result(answer, out))
    }

    fn tool_cancel(
        &mut self,
        params: protocol::ToolCancelParams<'_>,
    ) -> Answer<protocol::HookResult> {
        self.known(&params)?;
        let output = self.cancel_step(params.session_id(), &params.tool_call_id);
        now(wire::hook_result(output))
    }

    fn command_run(
        &mut self,
        params: protocol::CommandRunParams<'_>,
    ) -> Answer<protocol::CommandRunResult> {
        let loaded = match &*params.name {
            START_COMMAND => Some(self.definitions(&params.session_id, &params.context)?),
            CANCEL_COMMAND => None,
            name => return Err(unknown_command(name)),
        };
        let (reply, out) = self.handle_request(
            &params,
            PendingKind::Command,
            |session, request, out| {
                if let Some(loaded) = loaded {
                    session.handle_workflow_command(request, &params.arguments, loaded, out)
                } else {
                    session.handle_cancel_command(out);
                    Reply::Now(())
                }
            },
            |_| (),
        )?;
        later_or(reply, |()| self.command_result(&params.session_id, out))
    }

    fn command_complete(
        &mut self,
        params: protocol::CommandCompleteParams<'_>,
    ) -> Answer<protocol::CommandCompleteResult> {
        match &*params.name {
            START_COMMAND => {
                let loaded = self.definitions(&params.session_id, &params.context)?;
                let names = session::complete(&loaded.catalog, &params.prefix);
                now(wire::command_complete_result(names))
            }
            CANCEL_COMMAND => now(protocol::CommandCompleteResult::default()),
            name => Err(unknown_command(name)),
        }
    }

    fn workflow_list(
        &mut self,
        params: protocol::WorkflowListParams<'_>,
    ) -> Answer<protocol::WorkflowListResult> {
        let loaded = self.definitions(&params.session_id, &params.context)?;
        now(wire::workflow_list_result(&loaded))
    }

    fn session_state(
        &mut self,
        params: protocol::SessionStateParams<'_>,
    ) -> Answer<protocol::SessionStateResult> {
        let slot = self.known(&params)?;
        now(wire::session_state_result(slot.session.view()))
    }

    fn clock_advance(
        &mut self,
        params: protocol::ClockAdvanceParams<'_>,
    ) -> Answer<protocol::ClockAdvanceResult> {
        let Clock::Virtual { now: time } = &mut self.clock else {
            return Err(Error::new(
                Kind::ClockIsNotVirtual,
                "the clock is the system's: ask for a virtual one in initialize",
            ));
        };
        *time = time.saturating_add(params.ms);
        let actions = self.tick(Some(&params.session_id));
        now(wire::clock_advance_result(actions))
    }

    fn shutdown(&mut self, _: protocol::ShutdownParams<'_>) -> Answer<()> {
        self.close_all();
        self.is_over = true;
        now(())
    }
}

impl Server {
    /// A hook whose answer is what there is to do.
    fn hook<'a>(
        &mut self,
        params: &impl SessionBound<'a>,
        handle: impl FnOnce(&mut Session, &mut Effects),
    ) -> Answer<protocol::HookResult> {
        let ((), output) = self.handle_call(params, handle)?;
        now(protocol::HookResult {
            guarded: self.guarded_news(params.session_id()),
            ..wire::hook_result(output)
        })
    }

    fn begin_session(
        &mut self,
        params: &protocol::SessionHookParams<'_>,
    ) -> Answer<protocol::HookResult> {
        let branch = params.context.branch.as_ref();
        let malformed = branch.map_or(0, |branch| branch.malformed);
        let entries = branch.map(entries).unwrap_or_default();
        let mut output = self.begin(&params.session_id, &params.context, &entries)?;
        if malformed > 0 {
            output.diagnostics.push(not_entries(malformed));
        }
        // What is left out is false here, whatever was told before.
        let slot = self.sessions.get_mut(&*params.session_id);
        let guarded = slot.map(|slot| {
            slot.guarded_news();
            slot.guarded_told
        });
        now(protocol::HookResult {
            guarded: guarded.filter(|&guarded| guarded),
            ..wire::hook_result(output)
        })
    }
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "it spares every handler the same wrapping"
)]
fn now<R>(result: R) -> Answer<R> {
    Ok(Answered::Now(result))
}

/// The answer to a request, unless it comes later.
#[expect(
    clippy::unnecessary_wraps,
    reason = "it spares every handler the same wrapping"
)]
fn later_or<T, R>(reply: Reply<T>, result: impl FnOnce(T) -> R) -> Answer<R> {
    Ok(match reply {
        Reply::Now(reply) => Answered::Now(result(reply)),
        Reply::Later => Answered::Later,
    })
}

/// Our entries of a branch, oldest first.
fn entries<'a>(branch: &'a protocol::Branch<'a>) -> Vec<Entry<'a>> {
    let entries = branch.entries.iter();
    let entry = |entry: &'a protocol::BranchEntry<'a>| Entry {
        custom_type: &entry.custom_type,
        data: entry.data,
    };
    entries.map(entry).collect()
}

/// A session that moves has a branch: taking "not said" for "empty" would drop the run and its guards.
fn needs_branch(params: &protocol::SessionHookParams<'_>) -> Result<(), Error> {
    if params.context.branch.is_some() {
        return Ok(());
    }
    let mut error = Error::new(
        Kind::InvalidParams,
        "context.branch is missing: send the session's entries as they stand now",
    );
    error.path = Some("context.branch".to_owned());
    Err(error)
}

/// The branch holds things that are no entries at all.
fn not_entries(count: usize) -> Diagnostic {
    let message = format!("{count} elements of the session's branch are no entries, and left out");
    Diagnostic::new(Code::StoredDamaged, Severity::Warning, message)
        .with_help("an entry is {\"type\": \"custom\", \"customType\": …, \"data\": …}, as appendEntry gave them")
}

/// The `action` argument of `workflow_step`, if the model gave one that is a string.
fn step_action(arguments: &RawValue) -> Option<protocol::Text<'_>> {
    #[derive(Deserialize)]
    struct Arguments<'a> {
        #[serde(borrow)]
        action: &'a RawValue,
    }
    // A list of one would do for it as well.
    let object = Some(arguments.get()).filter(|json| json.starts_with('{'))?;
    let arguments: Arguments<'_> = serde_json::from_str(object).ok()?;
    text(arguments.action)
}

fn unknown_command(name: &str) -> Error {
    Error::new(
        Kind::UnknownCommand,
        format!("there is no command {name:?}"),
    )
}

pub(super) fn unsupported(version: u32) -> Error {
    Error::new(
        Kind::UnsupportedVersion,
        format!("version {version} of the protocol is not spoken here"),
    )
}
