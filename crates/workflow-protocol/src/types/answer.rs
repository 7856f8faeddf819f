//! The members that every result has.
//!
//! The macro adds `actions` and `diagnostics` to a result, each left out when empty. A result is made of the effects of its
//! call, which have both.

/// Declares results: the fields given, `actions` and `diagnostics`.
macro_rules! answer {
    ($($(#[$meta:meta])* pub struct $name:ident { $($fields:tt)* })*) => {$(
        $(#[$meta])*
        #[serde_with::skip_serializing_none]
        #[derive(Debug, Clone, Default, serde::Serialize, schemars::JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($fields)*
            /// The actions to perform, in this order.
            #[serde(skip_serializing_if = "Vec::is_empty")]
            pub actions: Vec<$crate::types::Action>,
            /// Problems of the definitions, and other findings.
            #[serde(skip_serializing_if = "Vec::is_empty")]
            pub diagnostics: Vec<$crate::types::Diagnostic>,
        }

        impl From<workflow_core::Effects> for $name {
            fn from(out: workflow_core::Effects) -> Self {
                let mut answer = Self::default();
                (answer.actions, answer.diagnostics) = (out.actions, out.diagnostics);
                answer
            }
        }
    )*};
}
