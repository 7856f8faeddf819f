//! Lists of tools that a level allows or blocks.

use std::collections::HashSet;

use crate::definition::ToolAccess;

/// The tool that advances a run. No list can block it.
pub const STEP_TOOL: &str = "workflow_step";

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

    /// Describes what is allowed, for display; `None` if nothing is blocked.
    #[must_use]
    pub fn allowed(&self) -> Option<&str> {
        Some(&self.list.as_ref()?.allowed)
    }

    /// Describes the tools that may run, for display; `None` if all may.
    #[must_use]
    pub fn allowed_tools(&self) -> Option<&str> {
        let list = self.list.as_ref()?;
        match (list.names.is_empty(), list.is_whitelist) {
            (true, true) => Some(STEP_TOOL),
            (true, false) => None,
            (false, _) => Some(&list.allowed),
        }
    }

    /// Describes what is allowed instead if this tool is blocked; `None` if it may run.
    #[must_use]
    pub fn blocks(&self, tool: &str) -> Option<&str> {
        let list = self.list.as_ref()?;
        let may_run = tool == STEP_TOOL || list.names.contains(tool) == list.is_whitelist;
        (!may_run).then_some(list.allowed.as_str())
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
        assert_eq!(ToolList::new(None).blocks("edit"), None);
    }

    #[test]
    fn a_blacklist_blocks_what_it_names() {
        let guard = ToolList::new(Some(&ToolAccess::Blacklist(names(&["edit", "write"]))));
        assert_eq!(guard.blocks("edit"), Some("all except: edit, write"));
        assert_eq!(guard.blocks("read"), None);
    }

    #[test]
    fn a_whitelist_blocks_what_it_does_not_name() {
        let guard = ToolList::new(Some(&ToolAccess::Whitelist(names(&["read", "grep"]))));
        assert_eq!(guard.blocks("edit"), Some("read, grep"));
        assert_eq!(guard.blocks("read"), None);
    }

    #[test]
    fn an_empty_whitelist_blocks_all_but_workflow_step() {
        let guard = ToolList::new(Some(&ToolAccess::Whitelist(Vec::new())));
        assert_eq!(guard.blocks("read"), Some(""));
        assert_eq!(guard.blocks(STEP_TOOL), None);
    }

    #[test]
    fn allowed_tools_are_described_if_some_are_blocked() {
        let allowed = |tools| {
            ToolList::new(Some(&tools))
                .allowed_tools()
                .map(str::to_owned)
        };
        assert_eq!(allowed(ToolAccess::Blacklist(Vec::new())), None);
        assert_eq!(
            allowed(ToolAccess::Blacklist(names(&["edit"]))).as_deref(),
            Some("all except: edit")
        );
        assert_eq!(
            allowed(ToolAccess::Whitelist(Vec::new())).as_deref(),
            Some(STEP_TOOL)
        );
    }

    #[test]
    fn workflow_step_cannot_be_blocked() {
        let guard = ToolList::new(Some(&ToolAccess::Blacklist(names(&[STEP_TOOL]))));
        assert_eq!(guard.blocks(STEP_TOOL), None);
    }
}
