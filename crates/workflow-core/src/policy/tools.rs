//! Which tools a phase allows (hook-lifecycle: "handleToolCall").

use std::collections::HashSet;

use crate::definition::ToolAccess;

/// The tool that moves a run on: no phase can block it.
pub const STEP_TOOL: &str = "workflow_step";

/// Decides tool calls by name, in the same time however long the list is.
#[derive(Debug, Clone, Default)]
pub struct ToolGuard {
    rule: Option<Rule>,
}

#[derive(Debug, Clone)]
struct Rule {
    named: HashSet<String>,
    named_may_run: bool,
    allowed: String,
}

impl ToolGuard {
    /// The guard of a phase.
    #[must_use]
    pub fn new(tools: Option<&ToolAccess>) -> Self {
        let rule = tools.map(|tools| match tools {
            ToolAccess::Blacklist(names) => Rule {
                named: names.iter().cloned().collect(),
                named_may_run: false,
                allowed: format!("all except: {}", names.join(", ")),
            },
            ToolAccess::Whitelist(names) => Rule {
                named: names.iter().cloned().collect(),
                named_may_run: true,
                allowed: names.join(", "),
            },
        });
        Self { rule }
    }

    /// What is allowed, as people read it; `None` if nothing is blocked.
    #[must_use]
    pub fn allowed(&self) -> Option<&str> {
        Some(&self.rule.as_ref()?.allowed)
    }

    /// Which tools are left, as people read it; `None` if all of them are.
    #[must_use]
    pub fn leaves(&self) -> Option<&str> {
        let rule = self.rule.as_ref()?;
        match (rule.named.is_empty(), rule.named_may_run) {
            (true, true) => Some(STEP_TOOL),
            (true, false) => None,
            (false, _) => Some(&rule.allowed),
        }
    }

    /// What is allowed instead, as people read it, when this tool is not.
    #[must_use]
    pub fn blocks(&self, tool: &str) -> Option<&str> {
        let rule = self.rule.as_ref()?;
        let may_run = tool == STEP_TOOL || rule.named.contains(tool) == rule.named_may_run;
        (!may_run).then_some(rule.allowed.as_str())
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
        assert_eq!(ToolGuard::new(None).blocks("edit"), None);
    }

    #[test]
    fn a_blacklist_blocks_what_it_names() {
        let guard = ToolGuard::new(Some(&ToolAccess::Blacklist(names(&["edit", "write"]))));
        assert_eq!(guard.blocks("edit"), Some("all except: edit, write"));
        assert_eq!(guard.blocks("read"), None);
    }

    #[test]
    fn a_whitelist_blocks_what_it_does_not_name() {
        let guard = ToolGuard::new(Some(&ToolAccess::Whitelist(names(&["read", "grep"]))));
        assert_eq!(guard.blocks("edit"), Some("read, grep"));
        assert_eq!(guard.blocks("read"), None);
    }

    #[test]
    fn an_empty_whitelist_blocks_all_but_workflow_step() {
        let guard = ToolGuard::new(Some(&ToolAccess::Whitelist(Vec::new())));
        assert_eq!(guard.blocks("read"), Some(""));
        assert_eq!(guard.blocks(STEP_TOOL), None);
    }

    #[test]
    fn what_is_left_is_said_where_something_is_blocked() {
        let left = |tools| ToolGuard::new(Some(&tools)).leaves().map(str::to_owned);
        assert_eq!(left(ToolAccess::Blacklist(Vec::new())), None);
        assert_eq!(
            left(ToolAccess::Blacklist(names(&["edit"]))).as_deref(),
            Some("all except: edit")
        );
        assert_eq!(
            left(ToolAccess::Whitelist(Vec::new())).as_deref(),
            Some(STEP_TOOL)
        );
    }

    #[test]
    fn workflow_step_cannot_be_blocked() {
        let guard = ToolGuard::new(Some(&ToolAccess::Blacklist(names(&[STEP_TOOL]))));
        assert_eq!(guard.blocks(STEP_TOOL), None);
    }
}
