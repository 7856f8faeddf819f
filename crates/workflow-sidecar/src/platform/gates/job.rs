//! What a supervisor is sent.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use workflow_core::definition::Gate;

use super::baseline::Baseline;

/// A gate and everything that its run needs.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// The checks, in their order.
    pub gates: Vec<Gate>,
    /// The working directory of commands, and the base of relative paths.
    pub cwd: PathBuf,
    /// The state when the phase was entered.
    pub baseline: Baseline,
    /// The files at the start of the run, or its commit, if they are known.
    pub start: Option<String>,
    /// The directory of the trust store; `None` if nothing of the project is trusted.
    pub agent_dir: Option<PathBuf>,
}
