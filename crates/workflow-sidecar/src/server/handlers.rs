//! The handlers of the host's calls.
//!
//! A handler passes the parameters of a call to its session, and makes the result of the method from what the session
//! returns. Must not know lines and ids, or decide anything that the engine decides.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use workflow_core::Session;
use workflow_core::definition::QUICK;
use workflow_core::diagnostic::{Code, Diagnostic, Severity};
use workflow_core::event::{Author, LastAssistant};
use workflow_core::policy::STEP_TOOL;
use workflow_core::policy::rules::Call;
use workflow_core::session::{self, Abilities, Control, StepCall, TurnUsage};
use workflow_protocol::{
    self as protocol, AgentEndResult, BeforeAgentStartResult, ClockAdvanceResult,
    CommandCompleteResult, Completion, Error, HookResult, Kind, Manifest, Method, SessionBound,
    SessionHookParams, ToolResultMutation, ToolResultResult, method,
};

use super::clock::Clock;
use super::convert;
use super::host::ConnectedHost;
use super::manifest::{CANCEL_COMMAND, QUICK_COMMAND, START_COMMAND, manifest};
use super::requests::{HandlerResult, RequestKind};
use super::state::{Server, unknown_session};
use crate::definitions::Definitions;
use crate::figures::ledger;
use crate::files::is_pipe;
use crate::platform::answers::notify::shows_codes;
use crate::platform::disk::user_agent_dir;
use crate::platform::installation::installation_warnings;

const NO_DIALOGS: &str = "This host has no dialogs, and your settings have no `notify` command: an approval is answered with a code, which \
     you see only if the host shows its notices.";
const PIPE: &str = "The host talks to the sidecar over a pipe: every process of this user can open the host's end and answer in your place. \
     A pair of sockets has no such end.";

/// The handler of one method.
pub(super) trait Handler<M: Method> {
    /// Handles a call of the method.
    fn handle(&mut self, params: M::Params<'_>) -> HandlerResult<M::Result>;
}

impl Server {
    /// Handles a hook with a result of actions and diagnostics only.
    fn handle_hook<'a>(
        &mut self,
        params: &impl SessionBound<'a>,
        handle: impl FnOnce(&mut Session),
    ) -> HandlerResult<HookResult> {
        let ((), out) = self.handle_call(params, handle)?;
        Ok(Some(HookResult {
            guarded: self.take_guarded_change(params.session_id()),
            ..out.into()
        }))
    }
}

/// Implements [`Handler`] for methods with the same parameters.
macro_rules! handler {
    ($($method:ident),+, |$server:ident, $params:pat_param| $body:expr) => {$(
        impl Handler<method::$method> for Server {
            fn handle(
                &mut self,
                $params: <method::$method as Method>::Params<'_>,
            ) -> HandlerResult<<method::$method as Method>::Result> {
                let $server = self;
                $body
            }
        }
    )+};
}

// The life of the process.

handler!(Initialize, |server, params| {
    if server.host.is_some() {
        let message = "initialize comes once";
        return Err(Error::new(Kind::AlreadyInitialized, message));
    }
    let seed = match params.clock {
        protocol::Clock::System => {
            let random = || RandomState::new().hash_one(&params.cwd);
            server.config.seed.unwrap_or_else(random)
        }
        protocol::Clock::Virtual { now, seed } => {
            server.clock = Clock::Virtual { now };
            seed
        }
    };
    tracing::info!(
        name = &*params.host.name,
        version = &*params.host.version,
        "a host"
    );
    server.host = Some(ConnectedHost {
        name: params.host.name.to_string(),
        abilities: Abilities {
            dialogs: params.capabilities.dialogs,
            dismissal: params.capabilities.dismiss,
            widgets: params.capabilities.widgets,
            hints: params.capabilities.hints,
            ..Abilities::default()
        },
        runs_commands: params.capabilities.exec,
        definitions: Definitions::new(
            Arc::clone(&server.config.loader),
            params.agent_dir.as_deref(),
            &params.cwd,
        ),
        seed,
    });
    Ok(Some(Manifest {
        warnings: server.warnings(params.capabilities.dialogs, params.agent_dir.as_deref()),
        ..manifest()
    }))
});

impl Server {
    /// What a host and its surroundings lack.
    fn warnings(&self, has_dialogs: bool, agent_dir: Option<&str>) -> Vec<String> {
        if !self.config.has_surroundings {
            return Vec::new();
        }
        let has_notifier = || shows_codes(&user_agent_dir(agent_dir));
        let no_dialogs = (!has_dialogs && !has_notifier()).then_some(NO_DIALOGS);
        let pipe = is_pipe(std::io::stdin()).then_some(PIPE);
        let warnings = [no_dialogs, pipe].into_iter().flatten().map(str::to_owned);
        warnings.chain(installation_warnings()).collect()
    }
}

handler!(ClockAdvance, |server, params| {
    if !server.clock.advance(params.ms) {
        let message = "the clock is the system's: ask for a virtual one in initialize";
        return Err(Error::new(Kind::ClockIsNotVirtual, message));
    }
    let actions = server.tick(Some(&params.session_id));
    Ok(Some(ClockAdvanceResult {
        actions,
        ..ClockAdvanceResult::default()
    }))
});

handler!(Shutdown, |server, _| {
    server.close_all();
    server.is_over = true;
    Ok(Some(()))
});

// The life of a session: its start, moves, compaction, branches and end.

handler!(HookSessionStart, |server, params| {
    begin_session(server, &params)
});

handler!(HookSessionTree, HookSessionSwitch, |server, params| {
    require_branch(&params)?;
    begin_session(server, &params)
});

handler!(HookSessionCompact, |server, params| {
    server.handle_hook(&params, Session::handle_compaction)
});

handler!(HookSessionShutdown, |server, params| {
    server.session_of(&params)?;
    Ok(Some(server.close(params.session_id()).into()))
});

handler!(HookBranch, |server, params| {
    let branch = params.context.branch.as_ref();
    let entries = branch.map(|branch| branch.entries.as_slice());
    let turn = params.event.target_turn_index;
    server.handle_request(&params, RequestKind::Branch, |session, request| {
        session.handle_branch(request, turn, entries);
    })
});

fn begin_session(server: &mut Server, params: &SessionHookParams<'_>) -> HandlerResult<HookResult> {
    let id = params.session_id();
    let is_known = server.sessions.contains_key(id);
    let branch = params.context.branch.as_ref();
    // A session that starts without a branch has no entries yet.
    let (entries, malformed) = branch.map_or((&[][..], 0), |branch| {
        (branch.entries.as_slice(), branch.malformed)
    });
    let mut out = server.begin(id, &params.context, entries)?;
    if malformed > 0 {
        out.diagnostics.push(malformed_entries(malformed));
    }
    let (now, open) = (server.clock.now(), server.sessions.get_mut(id));
    let open = open.ok_or_else(|| unknown_session(id))?;
    // A reload changes nothing that the user sees, and a resumed session goes on.
    let reason = params.event.reason.as_deref();
    if reason.is_some_and(|reason| !["reload", "resume"].contains(&reason)) {
        let ((), ended) = open.driver.with_effects(now, Session::end_lift);
        out.merge(ended);
    }
    if !is_known && matches!(reason, Some("startup" | "resume" | "fork")) {
        out.actions
            .extend(open.driver.session.announce_resumed_run());
    }
    open.take_guarded_change();
    let is_guarded = open.driver.session.is_guarded();
    Ok(Some(HookResult {
        // A host takes an absent `guarded` for false here, whatever it knew before.
        guarded: is_guarded.then_some(true),
        ..out.into()
    }))
}

/// Checks that a session that moves has a branch: to take an absent one for empty would drop the run and its guards.
fn require_branch(params: &SessionHookParams<'_>) -> Result<(), Error> {
    if params.context.branch.is_some() {
        return Ok(());
    }
    let message = "context.branch is missing: send the session's current entries";
    Err(Error {
        path: Some("context.branch".to_owned()),
        ..Error::new(Kind::InvalidParams, message)
    })
}

/// The diagnostic of a branch with elements that are not entries.
fn malformed_entries(count: usize) -> Diagnostic {
    let message = format!("{count} elements of the session's branch are no entries, and left out");
    Diagnostic::new(Code::StoredDamaged, Severity::Warning, message)
        .with_help("an entry is {\"type\": \"custom\", \"customType\": …, \"data\": …}, as appendEntry gave them")
}

// The work of the agent: prompts, turns, its start and its end.

handler!(HookBeforeAgentStart, |server, params| {
    server.readable_session_of(&params)?;
    let prompt = params.event.prompt.as_deref();
    let (inject, out) =
        server.handle_call(&params, |session| session.handle_before_agent_start(prompt))?;
    Ok(Some(BeforeAgentStartResult {
        inject,
        ..out.into()
    }))
});

handler!(HookAgentStart, |server, params| {
    server.handle_hook(&params, Session::handle_agent_start)
});

handler!(HookTurnStart, |server, params| {
    let index = params.event.turn_index;
    if let Some(open) = server.sessions.get_mut(params.session_id()) {
        let workflow = ledger::workflow_of(&open.driver.session);
        open.driver.workflow_of_turn = workflow.map(str::to_owned);
    }
    server.handle_hook(&params, |session| session.handle_turn_start(index))
});

handler!(HookTurnEnd, |server, params| {
    let usage = TurnUsage {
        tokens: params.event.tokens.unwrap_or_default(),
        micro_usd: params.event.micro_usd.unwrap_or_default(),
    };
    if let Some(open) = server.sessions.get_mut(params.session_id()) {
        let driver = &mut open.driver;
        let began_in = driver.workflow_of_turn.take();
        if let Some(workflow) = ledger::workflow_of(&driver.session).or(began_in.as_deref()) {
            ledger::count_turn(workflow, usage, &mut driver.counts);
        }
    }
    server.handle_hook(&params, |session| session.handle_turn_end(usage))
});

handler!(HookAgentEnd, |server, params| {
    let last = params.event.messages.last_assistant.as_ref();
    let last = last.map(|last| LastAssistant {
        stop_reason: last.stop_reason.as_deref(),
        text_tail: Some(&last.text_tail),
    });
    let (mutation, out) = server.handle_call(&params, |session| session.handle_agent_end(last))?;
    Ok(Some(AgentEndResult {
        mutation,
        ..out.into()
    }))
});

handler!(HookInput, |server, params| {
    let author = match params.event.source.as_deref() {
        Some("extension") => Some(Author::Extension),
        Some("editor") => Some(Author::Typist),
        Some(_) => Some(Author::User),
        None => None,
    };
    server.handle_hook(&params, |session| session.handle_user_input(author))
});

// Tool calls of the agent and their results.

handler!(HookToolCall, |server, params| {
    let driver = &server.readable_session_of(&params)?.driver;
    let (context, is_at_door) = (driver.context.clone(), driver.session.is_at_door());
    let paths = server.config.platform.paths(&context);
    let call = Call::new(&params.event.tool_name, params.event.input, &*paths);
    let is_stopped = is_at_door
        && server
            .handle_call(&params, |session| session.is_stopped_at_door(&call))?
            .0;
    let loaded = is_stopped.then(|| server.definitions(&params.session_id, &params.context));
    let loaded = loaded.transpose()?;
    server.handle_request(&params, RequestKind::ToolCall, |session, request| {
        session.handle_tool_call(request, &call, loaded.as_ref());
    })
});

handler!(HookToolResult, |server, params| {
    let event = &params.event;
    let is_error = event.is_error.unwrap_or(false);
    let (content, out) = server.handle_call(&params, |session| {
        session.handle_tool_result(&event.tool_name, event.content, is_error)
    })?;
    Ok(Some(ToolResultResult {
        mutation: content.map(|content| ToolResultMutation { content }),
        ..out.into()
    }))
});

// Calls of `workflow_step`, the tool of the manifest.

handler!(ToolExecute, |server, params| {
    if &*params.name != STEP_TOOL {
        let message = format!("there is no tool {:?}", &*params.name);
        return Err(Error::new(Kind::UnknownTool, message));
    }
    let call = params
        .arguments
        .map_or_else(StepCall::default, StepCall::read);
    let kind = RequestKind::Step {
        session: params.session_id().to_owned(),
        call: params.tool_call_id.to_string(),
    };
    server.handle_request(&params, kind, |session, request| {
        session.handle_workflow_step(request, &call);
    })
});

handler!(ToolCancel, |server, params| {
    server.session_of(&params)?;
    let id = params.session_id();
    let pending = server.requests.find_step(id, &params.tool_call_id);
    let cancel = |request| server.handle_event(id, |it| it.handle_step_cancelled(request));
    Ok(Some(pending.map(cancel).unwrap_or_default().into()))
});

// The commands of the manifest.

handler!(CommandRun, |server, params| {
    let name = &*params.name;
    let arguments: Cow<'_, str> = match name {
        QUICK_COMMAND => format!("{QUICK} {}", params.arguments).into(),
        _ => (&*params.arguments).into(),
    };
    let loaded = match name {
        START_COMMAND | QUICK_COMMAND => {
            Some(server.definitions(&params.session_id, &params.context)?)
        }
        _ => None,
    };
    let control = Control::of_command(name);
    if loaded.is_none() && control.is_none() && name != CANCEL_COMMAND {
        return Err(unknown_command(name));
    }
    let kind = RequestKind::Command;
    server.handle_request(&params, kind, |session, request| match (loaded, control) {
        (Some(loaded), _) => session.handle_workflow_command(request, &arguments, loaded),
        (None, Some(control)) => session.handle_control(request, control, &arguments),
        (None, None) => session.handle_cancel_command(Some(request)),
    })
});

handler!(CommandComplete, |server, params| {
    match &*params.name {
        START_COMMAND => {
            let loaded = server.recent_definitions(&params.session_id, &params.context)?;
            let proposals = session::complete(&loaded.catalog, &params.prefix);
            Ok(Some(proposed(proposals)))
        }
        CANCEL_COMMAND | QUICK_COMMAND => Ok(Some(CommandCompleteResult::default())),
        name => {
            let control = Control::of_command(name).ok_or_else(|| unknown_command(name))?;
            let open = server.sessions.get(&*params.session_id);
            let proposals = open.map_or_else(Vec::new, |open| {
                let session = &open.driver.session;
                session.complete_control(control, &params.prefix)
            });
            Ok(Some(proposed(proposals)))
        }
    }
});

/// The completions, each with its description; null if nothing fits.
fn proposed(proposals: Vec<(String, String)>) -> CommandCompleteResult {
    let items = proposals
        .into_iter()
        .map(|(value, description)| Completion {
            label: value.clone(),
            value,
            description: Some(description),
        });
    CommandCompleteResult {
        items: Some(items.collect()).filter(|items: &Vec<Completion>| !items.is_empty()),
        ..CommandCompleteResult::default()
    }
}

fn unknown_command(name: &str) -> Error {
    let message = format!("there is no command {name:?}");
    Error::new(Kind::UnknownCommand, message)
}

// Questions of the host that change nothing: the workflows, and the state of a session.

handler!(WorkflowList, |server, params| {
    let loaded = server.definitions(&params.session_id, &params.context)?;
    Ok(Some(convert::workflow_list_result(&loaded)))
});

handler!(SessionState, |server, params| {
    let open = server.session_of(&params)?;
    Ok(Some(convert::session_state_result(
        open.driver.session.view(),
    )))
});
