//! Parameters and results, a file for each topic.

#[macro_use]
mod answer;
#[macro_use]
mod session;

mod branch;
mod command;
mod hook;
mod host;
mod lifecycle;
mod manifest;
mod messages;
mod state;
mod tool;
mod workflow;

pub use branch::*;
pub use command::*;
pub use hook::*;
pub use host::*;
pub use lifecycle::*;
pub use manifest::*;
pub use messages::*;
pub use session::*;
pub use state::*;
pub use tool::*;
pub use workflow::*;

// The values that the engine has itself.
pub use workflow_core::definition::{Show, Thinking, Tier as Source};
pub use workflow_core::diagnostic::Diagnostic;
pub use workflow_core::effect::{
    Action, AnswerKind as ResultType, Block, BlockKind, BranchMutation, Delivery, HostHints,
    Message, MessageOptions, Mutation as AgentEndMutation, Placement,
};
pub use workflow_core::policy::VisibleTools;
pub use workflow_core::run::{PathSegment, RunState as WorkflowState};
pub use workflow_core::session::Breadcrumb;
pub use workflow_core::types::Severity;
