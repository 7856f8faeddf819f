//! What is generated from the rows: schemas, the `OpenRPC` document, TypeScript and the contract's tables.
//!
//! Owns the text of the generated files. Must not know the file system: a test compares the text with what is on disk,
//! and `scripts/gen` has that test write it.

mod openrpc;
mod schema;
mod tables;
mod typescript;

use serde_json::Value;

pub use tables::in_readme;

/// A generated file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedFile {
    /// Where it belongs, from the repository's root.
    pub path: &'static str,
    /// What it holds.
    pub text: String,
}

/// Every file that is generated as a whole.
#[must_use]
pub fn files() -> Vec<GeneratedFile> {
    vec![
        GeneratedFile {
            path: "schemas/protocol.schema.json",
            text: pretty(&schema::bundle()),
        },
        GeneratedFile {
            path: "schemas/state.schema.json",
            text: pretty(&schema::state()),
        },
        GeneratedFile {
            path: "protocol/openrpc.json",
            text: pretty(&openrpc::document()),
        },
        GeneratedFile {
            path: "protocol/typescript/src/types.ts",
            text: typescript::module(),
        },
    ]
}

/// JSON as a file holds it.
fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
