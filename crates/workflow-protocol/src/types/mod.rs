//! Parameters and results, a file for each topic.

mod action;
mod answer;
mod branch;
mod command;
mod diagnostic;
mod hook;
mod host;
mod lifecycle;
mod manifest;
mod messages;
mod session;
mod state;
mod tool;
mod workflow;

pub use action::{
    Action, Delivery, HostHints, Level, Message, MessageOptions, Placement, Thinking, VisibleTools,
};
pub use branch::{Branch, BranchEntry};
pub use command::{
    CommandCompleteParams, CommandCompleteResult, CommandRunParams, CommandRunResult, Completion,
};
pub use diagnostic::{Diagnostic, Severity};
pub use hook::{
    AgentEndEvent, AgentEndMutation, AgentEndParams, AgentEndResult, AgentStartParams, AnyEvent,
    BeforeAgentStartEvent, BeforeAgentStartParams, BeforeAgentStartResult, Block, BlockKind,
    BranchEvent, BranchMutation, BranchParams, BranchResult, HookResult, Inject, InputEvent,
    InputParams, SessionEvent, SessionHookParams, ToolCallEvent, ToolCallMutation, ToolCallParams,
    ToolCallResult, ToolResultEvent, ToolResultMutation, ToolResultParams, ToolResultResult,
    TurnEvent, TurnParams,
};
pub use host::{
    ConfirmParams, DismissParams, ExecParams, ExecResult, HostApplyParams, HostCancelParams,
    InputDialogParams, SelectParams,
};
pub use lifecycle::{
    Capabilities, Clock, ClockAdvanceParams, ClockAdvanceResult, HostInfo, InitializeParams,
    NoParams, ShutdownParams,
};
pub use manifest::{
    CommandDeclaration, EntryType, ExecutionMode, HookSubscription, Manifest, MessageDisplay,
    MessageType, ServerInfo, ToolDeclaration,
};
pub use messages::{LastAssistant, Messages};
pub use session::{Context, SessionBound};
pub use state::{
    Breadcrumb, PathSegment, PhaseView, Progress, Reminders, RunFlow, SessionStateParams,
    SessionStateResult, WorkflowState,
};
pub use tool::{Content, ResultType, ToolCancelParams, ToolExecuteParams, ToolExecuteResult};
pub use workflow::{
    PhaseSummary, Show, Source, WorkflowListParams, WorkflowListResult, WorkflowSummary,
};
