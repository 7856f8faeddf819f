//! Lists of tools that a level allows or blocks.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::definition::ToolAccess;

/// The tool that advances a run. No list can block it.
pub const STEP_TOOL: &str = "workflow_step";

/// The tools that a phase leaves to the model: those that are allowed, without those that are blocked. `workflow_step` is
/// always one of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VisibleTools {
    /// The names of the only tools that are allowed; left out if all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<Vec<String>>,
    /// The names of tools that are blocked.
    pub blocked: Vec<String>,
}

/// A list of tools that a level allows or blocks.
#[derive(Debug, Clone, Default)]
pub struct ToolList {
    list: Option<List>,
}

#[derive(Debug, Clone)]
struct List {
    names: HashSet<String>,
    is_whitelist: bool,
    allowed: String,
}

impl ToolList {
    /// Creates the list of a level.
    #[must_use]
    pub fn new(tools: Option<&ToolAccess>) -> Self {
        let list = tools.and_then(|tools| match tools {
            ToolAccess::Blacklist(names) => Some(List {
                names: names.iter().cloned().collect(),
                is_whitelist: false,
                allowed: format!("all except: {}", names.join(", ")),
            }),
            ToolAccess::Whitelist(names) => Some(List {
                names: names.iter().cloned().collect(),
                is_whitelist: true,
                allowed: names.join(", "),
            }),
            // It is about calls.
            ToolAccess::ReadOnly { .. } => None,
        });
        Self { list }
    }

    /// Describes what is allowed, as hook-lifecycle does; `None` without a list.
    #[must_use]
    pub fn allowed(&self) -> Option<&str> {
        Some(&self.list.as_ref()?.allowed)
    }

    /// Takes out of the visible tools what it blocks.
    pub(crate) fn narrow(&self, visible: &mut VisibleTools) {
        let Some(list) = &self.list else { return };
        if list.is_whitelist {
            let earlier = visible.allowed.take();
            let mut names: Vec<String> = match earlier {
                None => list.names.iter().cloned().collect(),
                Some(names) => {
                    let both = names.into_iter().filter(|name| list.names.contains(name));
                    both.collect()
                }
            };
            names.sort_unstable();
            visible.allowed = Some(names);
        } else {
            visible.blocked.extend(list.names.iter().cloned());
            visible.blocked.sort_unstable();
            visible.blocked.dedup();
        }
    }

    /// Returns true if it blocks a tool.
    #[must_use]
    pub fn blocks(&self, tool: &str) -> bool {
        self.list
            .as_ref()
            .is_some_and(|list| tool != STEP_TOOL && list.names.contains(tool) != list.is_whitelist)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_phase_without_lists_allows_everything() {
        assert!(!ToolList::new(None).blocks("edit"));
    }

    #[test]
    fn a_blacklist_blocks_what_it_names() {
        let guard = ToolList::new(Some(&ToolAccess::Blacklist(names(&["edit", "write"]))));
        assert!(guard.blocks("edit"));
        assert!(!guard.blocks("read"));
        assert_eq!(guard.allowed(), Some("all except: edit, write"));
    }

    #[test]
    fn a_whitelist_blocks_what_it_does_not_name() {
        let guard = ToolList::new(Some(&ToolAccess::Whitelist(names(&["read", "grep"]))));
        assert!(guard.blocks("edit"));
        assert!(!guard.blocks("read"));
        assert_eq!(guard.allowed(), Some("read, grep"));
    }

    #[test]
    fn an_empty_whitelist_blocks_all_but_workflow_step() {
        let guard = ToolList::new(Some(&ToolAccess::Whitelist(Vec::new())));
        assert!(guard.blocks("read"));
        assert!(!guard.blocks(STEP_TOOL));
    }

    #[test]
    fn workflow_step_cannot_be_blocked() {
        let guard = ToolList::new(Some(&ToolAccess::Blacklist(names(&[STEP_TOOL]))));
        assert!(!guard.blocks(STEP_TOOL));
    }
}
