//! The members that every result has.
//!
//! The macro adds `actions` and `diagnostics` to a result, each left out when empty.

/// Declares results: the fields given, `actions` and `diagnostics`.
macro_rules! answer {
    ($($(#[$meta:meta])* pub struct $name:ident { $($fields:tt)* })*) => {$(
        $(#[$meta])*
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
    )*};
}

pub(crate) use answer;
