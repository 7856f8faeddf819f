//! The two sources of definitions, and their directories.

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
    /// `<cwd>/.pi/workflows` and `<cwd>/.agents/workflows`.
    Project,
}

/// A workflows directory. Of two workflows with the same key, the one in the later directory is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Root {
    /// `<agent directory>/workflows`.
    User,
    /// `<cwd>/.agents/workflows`.
    Agents,
    /// `<cwd>/.pi/workflows`.
    Project,
}

impl Root {
    /// All of them, in the order in which they are read.
    pub const ALL: [Self; 3] = [Self::User, Self::Agents, Self::Project];

    /// Whose workflows it has.
    pub fn tier(self) -> Tier {
        match self {
            Self::User => Tier::Global,
            Self::Agents | Self::Project => Tier::Project,
        }
    }
}

impl From<Tier> for Root {
    fn from(tier: Tier) -> Self {
        match tier {
            Tier::Global => Self::User,
            Tier::Project => Self::Project,
        }
    }
}
