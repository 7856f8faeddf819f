//! Lists of tools that a level allows or blocks.

use schemars::JsonSchema;
use serde::Serialize;

use crate::definition::ToolAccess;

/// The tool that advances a run. No list can block it.
pub const STEP_TOOL: &str = "workflow_step";

/// The tools that a phase leaves to the model: those that are allowed, without those that are blocked. `workflow_step` is
/// always one of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct VisibleTools {
    /// The names of the only tools that are allowed; left out if all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<Vec<String>>,
    /// The names of tools that are blocked.
    pub blocked: Vec<String>,
}

impl VisibleTools {
    /// Takes out what a list blocks.
    pub(crate) fn narrow(&mut self, list: &ToolAccess) {
        match list {
            ToolAccess::Whitelist(names) => {
                let mut both = self.allowed.take().unwrap_or_else(|| names.clone());
                both.retain(|name| names.contains(name));
                both.sort_unstable();
                both.dedup();
                self.allowed = Some(both);
            }
            ToolAccess::Blacklist(names) => {
                self.blocked.extend(names.iter().cloned());
                self.blocked.sort_unstable();
                self.blocked.dedup();
            }
            ToolAccess::ReadOnly { .. } | ToolAccess::All { .. } => {}
        }
    }
}

impl ToolAccess {
    /// Describes what is allowed, as hook-lifecycle does; `None` if it is about single calls.
    pub(crate) fn allowed(&self) -> Option<String> {
        match self {
            Self::Blacklist(names) => Some(format!("all except: {}", names.join(", "))),
            Self::Whitelist(names) => Some(names.join(", ")),
            Self::ReadOnly { .. } | Self::All { .. } => None,
        }
    }

    /// The location of `read-only`, if it is that.
    pub(crate) fn read_only(&self) -> Option<&str> {
        match self {
            Self::ReadOnly { source } => Some(source),
            Self::Blacklist(_) | Self::Whitelist(_) | Self::All { .. } => None,
        }
    }

    /// Returns true if it blocks all calls of a tool.
    pub fn blocks(&self, tool: &str) -> bool {
        let has = |names: &[String]| names.iter().any(|name| name == tool);
        tool != STEP_TOOL
            && match self {
                Self::Blacklist(names) => has(names),
                Self::Whitelist(names) => !has(names),
                Self::ReadOnly { .. } | Self::All { .. } => false,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_blacklist_blocks_what_it_names() {
        let guard = ToolAccess::Blacklist(names(&["edit", "write"]));
        assert!(guard.blocks("edit"));
        assert!(!guard.blocks("read"));
        assert_eq!(guard.allowed(), Some("all except: edit, write".to_owned()));
    }

    #[test]
    fn a_whitelist_blocks_what_it_does_not_name() {
        let guard = ToolAccess::Whitelist(names(&["read", "grep"]));
        assert!(guard.blocks("edit"));
        assert!(!guard.blocks("read"));
        assert_eq!(guard.allowed(), Some("read, grep".to_owned()));
    }

    #[test]
    fn an_empty_whitelist_blocks_all_but_workflow_step() {
        let guard = ToolAccess::Whitelist(Vec::new());
        assert!(guard.blocks("read"));
        assert!(!guard.blocks(STEP_TOOL));
    }

    #[test]
    fn workflow_step_cannot_be_blocked() {
        let guard = ToolAccess::Blacklist(names(&[STEP_TOOL]));
        assert!(!guard.blocks(STEP_TOOL));
    }
}
