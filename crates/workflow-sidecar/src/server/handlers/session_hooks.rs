//! The life of a session: its start, moves, compaction, branches and end.

use workflow_core::Session;
use workflow_core::diagnostic::{Code, Diagnostic, Severity};
use workflow_protocol::method::{
    HookBranch, HookSessionCompact, HookSessionShutdown, HookSessionStart, HookSessionSwitch,
    HookSessionTree,
};
use workflow_protocol::{Error, HookResult, Kind, SessionBound, SessionHookParams};

use super::super::requests::RequestKind;
use super::super::state::{Server, unknown_session};
use super::HandlerResult;

handler!(HookSessionStart, |server, params| {
    begin_session(server, &params)
});

handler!(HookSessionTree, |server, params| {
    require_branch(&params)?;
    begin_session(server, &params)
});

handler!(HookSessionSwitch, |server, params| {
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
    let open = server.sessions.get_mut(id);
    let open = open.ok_or_else(|| unknown_session(id))?;
    // A reload changes nothing that the user sees.
    let reason = params.event.reason.as_deref();
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
    let mut error = Error::new(
        Kind::InvalidParams,
        "context.branch is missing: send the session's current entries",
    );
    error.path = Some("context.branch".to_owned());
    Err(error)
}

/// The diagnostic of a branch with elements that are not entries.
fn malformed_entries(count: usize) -> Diagnostic {
    let message = format!("{count} elements of the session's branch are no entries, and left out");
    Diagnostic::new(Code::StoredDamaged, Severity::Warning, message)
        .with_help("an entry is {\"type\": \"custom\", \"customType\": …, \"data\": …}, as appendEntry gave them")
}
