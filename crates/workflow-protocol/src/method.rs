//! The method tables, and the types that are declared from them.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::read::read;
use crate::types::{
    AgentEndParams, AgentEndResult, AgentStartParams, BeforeAgentStartParams,
    BeforeAgentStartResult, BranchParams, BranchResult, ClockAdvanceParams, ClockAdvanceResult,
    CommandCompleteParams, CommandCompleteResult, CommandRunParams, CommandRunResult,
    ConfirmParams, DismissParams, ExecParams, ExecResult, HookResult, HostApplyParams,
    HostCancelParams, InitializeParams, InputDialogParams, InputParams, Manifest, SelectParams,
    SessionHookParams, SessionStateParams, SessionStateResult, ShutdownParams, ToolCallParams,
    ToolCallResult, ToolCancelParams, ToolExecuteParams, ToolExecuteResult, ToolResultParams,
    ToolResultResult, TurnParams, WorkflowListParams, WorkflowListResult,
};

/// A method that the host calls.
pub trait Method {
    /// The method's name on the wire.
    const NAME: &'static str;
    /// Its parameters, borrowed from the line.
    type Params<'a>: Deserialize<'a>;
    /// Its result.
    type Result: Serialize + Clone;

    /// Reads the parameters from the text of `params`; without any it is read as an empty object.
    ///
    /// An array is refused: parameters are named. The error says where they do not fit.
    fn read(params: Option<&str>) -> Result<Self::Params<'_>, Error> {
        read(params.unwrap_or("{}"))
    }
}

/// A method that the sidecar calls.
pub trait HostMethod {
    /// The method's name on the wire.
    const NAME: &'static str;
    /// Its parameters.
    type Params: Serialize;
    /// The host's answer; `()` for a notification.
    type Result: DeserializeOwned;
}

/// Passes the rows of the host's calls to a macro.
///
/// A row is `/// summary`, `Row = "name" (Params) -> Result;`. The types named in it have to be in scope only
/// where the callback uses them; the parameters' type takes a lifetime.
///
/// ```
/// macro_rules! names {
///     ($($(#[$doc:meta])* $row:ident = $name:literal ($params:ident) -> $result:ty;)*) => {
///         vec![$($name),*]
///     };
/// }
/// assert!(workflow_protocol::for_each_method!(names).contains(&"hook/tool_call"));
/// ```
#[macro_export]
macro_rules! for_each_method {
    ($callback:ident) => {
        $callback! {
            /// The first call: the host names itself and its capabilities. The answer is the manifest: what to forward, register and show.
            Initialize = "initialize" (InitializeParams) -> Manifest;
            /// The session was loaded or created: definitions are loaded and the run is restored from the branch.
            HookSessionStart = "hook/session_start" (SessionHookParams) -> HookResult;
            /// The user moved in the session's tree: the run is restored from the current branch.
            HookSessionTree = "hook/session_tree" (SessionHookParams) -> HookResult;
            /// The host changed to another session: the run is restored from its branch.
            HookSessionSwitch = "hook/session_switch" (SessionHookParams) -> HookResult;
            /// The conversation was compacted: the next context message is the full one.
            HookSessionCompact = "hook/session_compact" (SessionHookParams) -> HookResult;
            /// The session ends: its timers stop.
            HookSessionShutdown = "hook/session_shutdown" (SessionHookParams) -> HookResult;
            /// The agent is about to start. Answers with the context of the current phase.
            HookBeforeAgentStart = "hook/before_agent_start" (BeforeAgentStartParams) -> BeforeAgentStartResult;
            /// The agent has started: a countdown that still runs is stopped.
            HookAgentStart = "hook/agent_start" (AgentStartParams) -> HookResult;
            /// A turn of the agent has started.
            HookTurnStart = "hook/turn_start" (TurnParams) -> HookResult;
            /// The agent wants to run a tool. Answers with a block, or allows it.
            HookToolCall = "hook/tool_call" (ToolCallParams) -> ToolCallResult;
            /// A tool has run. Answers with the changes to its result, if there are any.
            HookToolResult = "hook/tool_result" (ToolResultParams) -> ToolResultResult;
            /// A turn of the agent has ended: the status bar is refreshed.
            HookTurnEnd = "hook/turn_end" (TurnParams) -> HookResult;
            /// The agent has stopped: the end of the run is announced, or a countdown to a reminder starts.
            HookAgentEnd = "hook/agent_end" (AgentEndParams) -> AgentEndResult;
            /// A message was submitted: a countdown stops and a paused run resumes.
            HookInput = "hook/input" (InputParams) -> HookResult;
            /// The user goes back to an earlier turn. With `skipConversationRestore` the host leaves the conversation as it is.
            HookBranch = "hook/branch" (BranchParams) -> BranchResult;
            /// Runs a tool of the manifest.
            ToolExecute = "tool/execute" (ToolExecuteParams) -> ToolExecuteResult;
            /// Ends the wait of a tool call. The call is still answered.
            ToolCancel = "tool/cancel" (ToolCancelParams) -> HookResult;
            /// Runs a command of the manifest.
            CommandRun = "command/run" (CommandRunParams) -> CommandRunResult;
            /// Proposes completions for the argument of a command.
            CommandComplete = "command/complete" (CommandCompleteParams) -> CommandCompleteResult;
            /// Lists the loaded workflows and all problems of the definitions.
            WorkflowList = "workflow/list" (WorkflowListParams) -> WorkflowListResult;
            /// Returns the state of the session.
            SessionState = "session/state" (SessionStateParams) -> SessionStateResult;
            /// Advances the virtual clock. Answers with the actions that became due.
            ClockAdvance = "clock/advance" (ClockAdvanceParams) -> ClockAdvanceResult;
            /// Ends the sidecar. It exits after the answer.
            Shutdown = "shutdown" (ShutdownParams) -> ();
        }
    };
}

/// Declares a type for each row of the host's calls.
macro_rules! to_sidecar {
    ($($(#[$doc:meta])+ $row:ident = $name:literal ($params:ident) -> $result:ty;)*) => {
        $(
            $(#[$doc])+
            #[derive(Debug, Clone, Copy)]
            pub struct $row;

            impl Method for $row {
                const NAME: &'static str = $name;
                type Params<'a> = $params<'a>;
                type Result = $result;
            }
        )*

        /// The names of the methods that the host calls.
        pub const METHODS: &[&str] = &[$($name),*];
    };
}

for_each_method!(to_sidecar);

/// Passes the rows of the sidecar's calls to a macro, as [`for_each_method!`] does with the host's. A notification has no
/// answer.
#[macro_export]
macro_rules! for_each_host_method {
    ($callback:ident) => {
        $callback! {
            /// Applies actions that no call caused: the ticks and the end of a countdown, the progress and the result of a gate.
            HostApply: Notification = "host/apply" (HostApplyParams) -> ();
            /// Asks the user a yes-or-no question. No comes first, so that a hasty Enter agrees to nothing. The answer is a boolean.
            UiConfirm: Request = "ui/confirm" (ConfirmParams) -> bool;
            /// Asks the user for one of several options. The answer is the option, or null.
            UiSelect: Request = "ui/select" (SelectParams) -> Option<String>;
            /// Asks the user for a line of text. The answer is the text, or null.
            UiInput: Request = "ui/input" (InputDialogParams) -> Option<String>;
            /// A question was answered elsewhere: the host closes its dialog, and still answers the request, with null.
            UiDismiss: Notification = "ui/dismiss" (DismissParams) -> ();
            /// Runs the command of a gate where the host runs commands. Only with the capability `exec`.
            HostExec: Request = "host/exec" (ExecParams) -> ExecResult;
            /// Cancels a `host/exec`: the host ends the command and every process that it started.
            HostCancel: Notification = "host/cancel" (HostCancelParams) -> ();
        }
    };
}

/// Declares a type for each row of the sidecar's calls.
macro_rules! to_host {
    ($($(#[$doc:meta])+ $row:ident: $kind:ident = $name:literal ($params:ident) -> $result:ty;)*) => {$(
        $(#[$doc])+
        #[derive(Debug, Clone, Copy)]
        pub struct $row;

        impl HostMethod for $row {
            const NAME: &'static str = $name;
            type Params = $params;
            type Result = $result;
        }
    )*};
}

for_each_host_method!(to_host);
