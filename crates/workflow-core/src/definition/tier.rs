//! The two directories that definitions come from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The directory a definition comes from; the project's wins.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Source")]
pub enum Tier {
    /// `<agent directory>/workflows`.
    Global,
    /// `<cwd>/.pi/workflows`.
    Project,
}
