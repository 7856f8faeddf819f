//! Parameters and results of the hooks.
//!
//! The parameters are strict, the event inside them is lenient: a host forwards what it has, unknown members are skipped,
//! and a member of a wrong type counts as left out unless no decision is possible without it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use workflow_core::Text;
use workflow_core::effect::{Block, BranchMutation, Message, Mutation};

use super::messages::Messages;
use crate::read::lenient;

session_bound! {
    /// The session has started, moved, shrunk or is about to end.
    pub struct SessionHookParams<'a> {
        /// The event as the host reports it.
        #[serde(borrow, default, deserialize_with = "lenient::event")]
        pub event: SessionEvent<'a>,
    }

    /// The user gave a prompt and the agent is about to start.
    pub struct BeforeAgentStartParams<'a> {
        /// The event as the host reports it.
        #[serde(borrow, default, deserialize_with = "lenient::event")]
        pub event: BeforeAgentStartEvent<'a>,
    }

    /// The agent has started.
    pub struct AgentStartParams<'a> {
        /// The event as the host reports it.
        #[serde(default, deserialize_with = "lenient::event")]
        pub event: AnyEvent,
    }

    /// A turn of the agent has started or ended.
    pub struct TurnParams<'a> {
        /// The event as the host reports it.
        #[serde(default, deserialize_with = "lenient::event")]
        pub event: TurnEvent,
    }

    /// The agent wants to run a tool.
    pub struct ToolCallParams<'a> {
        /// The call.
        #[serde(borrow, deserialize_with = "lenient::required_event")]
        pub event: ToolCallEvent<'a>,
    }

    /// A tool has run.
    pub struct ToolResultParams<'a> {
        /// The call and its result.
        #[serde(borrow, deserialize_with = "lenient::required_event")]
        pub event: ToolResultEvent<'a>,
    }

    /// The agent has stopped.
    pub struct AgentEndParams<'a> {
        /// The event as the host reports it.
        #[serde(borrow, default, deserialize_with = "lenient::event")]
        pub event: AgentEndEvent<'a>,
    }

    /// Somebody has submitted a message.
    pub struct InputParams<'a> {
        /// The event as the host reports it.
        #[serde(borrow, default, deserialize_with = "lenient::event")]
        pub event: InputEvent<'a>,
    }

    /// The user goes back to an earlier turn.
    pub struct BranchParams<'a> {
        /// The event as the host reports it.
        #[serde(default, deserialize_with = "lenient::event")]
        pub event: BranchEvent,
    }
}

/// An event of which nothing is needed.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct AnyEvent {}

/// Declares events: everything that is not named is ignored, and so is what is named and not as expected.
macro_rules! events {
    ($($(#[$meta:meta])* pub struct $name:ident $(<$life:lifetime>)? { $($fields:tt)* })*) => {$(
        $(#[$meta])*
        #[serde_with::apply(
            Option<Text<'a>> => #[serde(borrow, default, deserialize_with = "lenient::text")],
            Option<u64> => #[serde(default, deserialize_with = "lenient::scalar")],
            Option<bool> => #[serde(default, deserialize_with = "lenient::scalar")],
        )]
        #[derive(Debug, Default, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct $name $(<$life>)? { $($fields)* }
    )*};
}

events! {
    /// A session event as the host reports it.
    pub struct SessionEvent<'a> {
        /// The host's reason: `startup`, `reload`, `new`, `resume`, `fork`, `quit`, `branch`, `switch`.
        pub reason: Option<Text<'a>>,
    }

    /// A prompt as the host reports it.
    pub struct BeforeAgentStartEvent<'a> {
        /// The text of the prompt.
        pub prompt: Option<Text<'a>>,
    }

    /// A turn as the host reports it.
    pub struct TurnEvent {
        /// The number of the turn in the run, from 0.
        pub turn_index: Option<u64>,
        /// `turn_end`: the tokens that the response took, for budgets in tokens.
        pub tokens: Option<u64>,
        /// `turn_end`: the cost of the response in millionths of a US dollar, for budgets in money.
        pub micro_usd: Option<u64>,
    }

    /// A call that the agent asks for.
    pub struct ToolCallEvent<'a> {
        /// The tool's name.
        #[serde(borrow)]
        pub tool_name: Text<'a>,
        /// The host's id of the call.
        pub tool_call_id: Option<Text<'a>>,
        /// The arguments.
        #[serde(borrow)]
        pub input: Option<&'a RawValue>,
    }

    /// A call that has run, and its result.
    pub struct ToolResultEvent<'a> {
        /// The tool's name.
        #[serde(borrow)]
        pub tool_name: Text<'a>,
        /// The host's id of the call.
        pub tool_call_id: Option<Text<'a>>,
        /// The arguments.
        #[serde(borrow)]
        pub input: Option<&'a RawValue>,
        /// The content that the model will read.
        #[serde(borrow)]
        pub content: Option<&'a RawValue>,
        /// True if the call failed.
        pub is_error: Option<bool>,
    }

    /// The end of a run as the host reports it.
    pub struct AgentEndEvent<'a> {
        /// The messages of the run: all of them, or only the last one of the assistant.
        #[serde(borrow, default)]
        #[schemars(with = "Vec<serde_json::Value>")]
        pub messages: Messages<'a>,
    }

    /// A submitted message as the host reports it.
    pub struct InputEvent<'a> {
        /// Its source: `interactive`, `rpc`, `extension` for a message from a program, or `editor` while the user types and
        /// has not submitted anything yet.
        pub source: Option<Text<'a>>,
    }

    /// The point that the user goes back to.
    pub struct BranchEvent {
        /// The turn that becomes the last one.
        pub target_turn_index: Option<u64>,
    }
}

answer! {
    /// The actions that a hook asks of the host.
    pub struct HookResult {
        /// True if rules apply even while no workflow is active. While the sidecar cannot be asked, the tool calls of
        /// such a session must not run. When a session starts or moves, absent means false; later it is present only
        /// if it changed.
        pub guarded: Option<bool>,
    }

    /// The context for the agent before it starts.
    pub struct BeforeAgentStartResult {
        /// The message to put into the conversation.
        pub inject: Option<Message>,
    }

    /// The decision on a tool call; an empty object allows it.
    pub struct ToolCallResult {
        /// The reason for blocking it.
        pub block: Option<Block>,
    }

    /// The decision on a tool result; an empty object leaves it unchanged.
    pub struct ToolResultResult {
        /// Changes to the result.
        pub mutation: Option<ToolResultMutation>,
    }

    /// The run after the agent stopped.
    pub struct AgentEndResult {
        /// The change of the run's state.
        pub mutation: Mutation,
    }

    /// The decision on going back.
    pub struct BranchResult {
        /// The parts to skip.
        pub mutation: Option<BranchMutation>,
    }
}

/// Changes to a tool result.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ToolResultMutation {
    /// The content that the model reads.
    pub content: Box<RawValue>,
}
