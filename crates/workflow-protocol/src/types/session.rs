//! `sessionId` and `context`, the members of every call that belongs to a session.
//!
//! The macro adds them to the parameters of a call, because serde cannot flatten a struct into one that refuses unknown
//! fields, and each call must refuse them.

use schemars::JsonSchema;
use serde::Deserialize;
use workflow_core::Text;

use super::branch::Branch;

/// The session's context at the time of a call.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Context<'a> {
    /// The session's working directory.
    #[serde(borrow)]
    pub cwd: Option<Text<'a>>,
    /// True if the user sees the user interface. Whether dialogs are answered is in `capabilities`.
    #[serde(rename = "hasUI")]
    pub has_ui: Option<bool>,
    /// True if the user trusts the working directory; absent if the host does not know. If false, no file of the
    /// project is read, and only commands of the user's own definitions are run or asked about.
    pub project_trusted: Option<bool>,
    /// The file the session is stored in, or null if it is stored nowhere.
    #[serde(borrow, default, deserialize_with = "crate::read::lenient::text")]
    pub session_file: Option<Text<'a>>,
    /// The session's entries from the root to the leaf.
    #[serde(borrow)]
    #[schemars(with = "Option<Vec<serde_json::Value>>")]
    pub branch: Option<Branch<'a>>,
}

/// Parameters of a call that belongs to a session.
pub trait SessionBound<'a> {
    /// The session that the call belongs to.
    fn session_id(&self) -> &str;

    /// The session's context.
    fn context(&self) -> &Context<'a>;
}

/// Declares parameters of a session-bound call: the fields given, `sessionId` and `context`.
macro_rules! session_bound {
    ($($(#[$meta:meta])* pub struct $name:ident<'a> { $($fields:tt)* })*) => {$(
        $(#[$meta])*
        #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name<'a> {
            /// The session that the call belongs to; a host with one session omits it.
            #[serde(borrow, default)]
            pub session_id: workflow_core::Text<'a>,
            /// The session's context.
            #[serde(borrow, default, deserialize_with = "crate::read::lenient::or_default")]
            pub context: $crate::types::Context<'a>,
            $($fields)*
        }

        impl<'a> $crate::types::SessionBound<'a> for $name<'a> {
            fn session_id(&self) -> &str {
                &self.session_id
            }

            fn context(&self) -> &$crate::types::Context<'a> {
                &self.context
            }
        }
    )*};
}
