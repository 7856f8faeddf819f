//! The wire contract between a host and the sidecar, declared once.
//!
//! Owns the names, the shapes and the errors of protocol version 1, and what is generated from them: JSON Schema,
//! `OpenRPC`, TypeScript and the table in `protocol/README.md`. Must not know the engine, the transport or JSON-RPC's
//! envelope: a line is somebody else's business, `params` and `result` are ours.
//!
//! A method is a row of [`for_each_method!`]. From the row come a type that implements [`Method`], an entry of
//! [`METHODS`] and a function of [`Handlers`], so that a row nobody handles does not compile.
//!
//! ```
//! use workflow_protocol::{Method, method};
//!
//! let params = r#"{"event":{"toolName":"edit","toolCallId":"c1","input":{"path":"a.rs"},"new":1}}"#;
//! let params = method::HookToolCall::read(Some(params))?;
//! assert_eq!(&*params.event.tool_name, "edit");
//! assert_eq!(&*params.session_id, "");
//!
//! let refused = method::HookToolCall::read(Some(r#"{"event":{"toolName":"edit"},"sesionId":"a"}"#)).unwrap_err();
//! assert_eq!(refused.kind.code(), -32602);
//! # Ok::<(), workflow_protocol::Error>(())
//! ```

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

mod action;
mod answer;
mod branch;
mod command;
mod diagnostic;
mod error;
pub mod generate;
mod halves;
mod hook;
mod host;
mod lenient;
mod lifecycle;
mod manifest;
mod messages;
pub mod method;
mod read;
mod session;
mod shorten;
mod skim;
mod state;
mod text;
mod tool;
mod workflow;

pub use action::{Action, Delivery, Level, Message, MessageOptions, Placement};
pub use branch::{Branch, BranchEntry};
pub use command::{
    CommandCompleteParams, CommandCompleteResult, CommandRunParams, CommandRunResult, Completion,
};
pub use diagnostic::{Diagnostic, Severity};
pub use error::{Error, ErrorData, Kind};
pub use hook::{
    AgentEndEvent, AgentEndMutation, AgentEndParams, AgentEndResult, AgentStartParams, AnyEvent,
    BeforeAgentStartEvent, BeforeAgentStartParams, BeforeAgentStartResult, Block, BlockKind,
    BranchEvent, BranchMutation, BranchParams, BranchResult, HookResult, Inject, InputEvent,
    InputParams, SessionEvent, SessionHookParams, ToolCallEvent, ToolCallMutation, ToolCallParams,
    ToolCallResult, ToolResultEvent, ToolResultMutation, ToolResultParams, ToolResultResult,
    TurnEvent, TurnParams,
};
pub use host::{
    ConfirmParams, ExecParams, ExecResult, HostApplyParams, InputDialogParams, LogLevel, LogParams,
    SelectParams,
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
pub use method::{
    Direction, HOST_METHODS, Handlers, HostMethod, METHODS, Method, MethodInfo, MethodKind,
    TypeInfo,
};
pub use session::{Context, SessionBound};
pub use shorten::{Dropped, Shortening};
pub use skim::skim;
pub use state::{
    Breadcrumb, PathSegment, PhaseView, Progress, Pushes, SessionStateParams, SessionStateResult,
    WorkflowState,
};
pub use text::Text;
pub use tool::{Content, ResultType, ToolCancelParams, ToolExecuteParams, ToolExecuteResult};
pub use workflow::{
    PhaseSummary, Show, Source, WorkflowListParams, WorkflowListResult, WorkflowSummary,
};

/// The version of the protocol that this crate speaks.
pub const PROTOCOL_VERSION: u32 = 1;
