//! The members that every result has.
//!
//! The macro adds `actions` and `diagnostics` to a result, each left out when empty.

/// Declares results: the fields given, `actions` and `diagnostics`.
macro_rules! answer {
    ($($(#[$meta:meta])* pub struct $name:ident { $($fields:tt)* })*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Default, serde::Serialize, schemars::JsonSchema, ts_rs::TS)]
        #[serde(rename_all = "camelCase")]
        #[ts(optional_fields)]
        pub struct $name {
            $($fields)*
            /// The actions to perform, in this order.
            #[serde(skip_serializing_if = "Vec::is_empty")]
            #[ts(optional, as = "Option<_>")]
            pub actions: Vec<$crate::types::Action>,
            /// Problems of the definitions, and other findings.
            #[serde(skip_serializing_if = "Vec::is_empty")]
            #[ts(optional, as = "Option<_>")]
            pub diagnostics: Vec<$crate::types::Diagnostic>,
        }
    )*};
}

pub(crate) use answer;
