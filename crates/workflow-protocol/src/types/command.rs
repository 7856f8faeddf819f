//! Running and completing commands of the manifest.

use schemars::JsonSchema;
use serde::Serialize;
use workflow_core::Text;

session_bound! {
    /// The command that the user gave.
    pub struct CommandRunParams<'a> {
        /// The command's name, without the slash.
        #[serde(borrow)]
        pub name: Text<'a>,
        /// The text that the user typed after the name.
        #[serde(borrow, default)]
        pub arguments: Text<'a>,
    }

    /// The command that the user is typing.
    pub struct CommandCompleteParams<'a> {
        /// The command's name, without the slash.
        #[serde(borrow)]
        pub name: Text<'a>,
        /// The text that the user has typed after the name so far.
        #[serde(borrow, default)]
        pub prefix: Text<'a>,
    }
}

answer! {
    /// The actions that a command asks of the host.
    pub struct CommandRunResult {
        /// True if rules apply even while no workflow is active; present if this changed.
        pub guarded: Option<bool>,
    }

    /// Completions of the command's argument.
    pub struct CommandCompleteResult {
        /// The proposals; null if there are none.
        #[serialize_always]
        pub items: Option<Vec<Completion>>,
    }
}

/// A proposal for a command's argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Completion {
    /// The text that is inserted.
    pub value: String,
    /// The text that is shown.
    pub label: String,
    /// More about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}
