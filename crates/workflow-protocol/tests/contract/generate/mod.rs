//! The files that are generated from the method table: schemas, the `OpenRPC` document, TypeScript and tables.
//!
//! A test compares the text with the files, and `scripts/gen` has that test write them.

mod openrpc;
mod schema;
mod tables;
mod typescript;

use serde_json::Value;

pub(crate) use schema::Contract;
pub(crate) use tables::in_readme;

/// A generated file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GeneratedFile {
    /// Its path from the repository's root.
    pub(crate) path: &'static str,
    /// Its content.
    pub(crate) text: String,
}

/// Every file that is generated as a whole.
pub(crate) fn files() -> Vec<GeneratedFile> {
    let files = [
        ("schemas/protocol.schema.json", pretty(&schema::bundle())),
        ("schemas/state.schema.json", pretty(&schema::state())),
        ("protocol/openrpc.json", pretty(&openrpc::document())),
        ("protocol/typescript/src/types.ts", typescript::module()),
    ];
    files
        .map(|(path, text)| GeneratedFile { path, text })
        .to_vec()
}

/// JSON as a file holds it.
fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}
