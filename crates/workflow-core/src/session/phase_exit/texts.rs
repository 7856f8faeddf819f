//! The notices to people about approvals outside of the host, and about codes.

/// The notice that a phase waits for an approval, which a person may give in a terminal.
pub(in crate::session) fn approval_requested(location: &str, ask: &str, code: &str) -> String {
    format!(
        "{location} waits for your approval: {ask}\nAnswer with /workflow-approve or, in a terminal, with `workflow-sidecar \
         approve`. If that asks for a code, it is {code}. The code is for you alone: do not give it to the agent."
    )
}

/// The notice that a command in a terminal needs a code.
pub(in crate::session) fn code_needed(code: &str, purpose: &str) -> String {
    format!(
        "A command in a terminal is about to {purpose}. If you started it, the code is {code}. If not, ignore this \
         message: without the code nothing happens. Do not give the code to the agent."
    )
}

/// The notice that a terminal does not list a request for approval.
pub(in crate::session) fn approval_not_stored(reason: &str) -> String {
    format!(
        "[workflow] The run waits for your approval, but the request could not be stored, so `workflow-sidecar approve` does not \
         list it: {reason}. Answer in this session. Or correct the problem and have the agent call workflow_step with \
         action='next' again."
    )
}
