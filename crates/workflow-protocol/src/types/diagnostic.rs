//! Diagnostics of definitions and runs. The codes are defined by the engine.

use schemars::JsonSchema;
use serde::Serialize;
use workflow_core::types::Severity;

/// Something the user should know about a definition or a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Diagnostic {
    /// The stable code, for example `WF012`.
    pub code: String,
    /// The severity.
    pub severity: Severity,
    /// The problem, in one sentence.
    pub message: String,
    /// The file it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column in characters, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The key of the workflow it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// The fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}
