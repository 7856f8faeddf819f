//! The levels of rules around a phase that checks compare.

use workflow_core::definition::{Phase, Rule, RuleAction, Settings, ToolAccess, Workflow};
use workflow_core::diagnostic::shown;
use workflow_core::policy::rules::Known;

/// The tool that changes files by other means, as the usual hosts call it.
pub(super) const SHELL: &str = "bash";

/// A level: a list and rules.
#[derive(Debug, Clone)]
pub(super) struct RuleLevel<'a> {
    /// Its name in messages.
    pub(super) name: String,
    pub(super) list: Option<&'a ToolAccess>,
    /// `read-only` applies, also that of the workflow around a phase.
    pub(super) is_read_only: bool,
    pub(super) rules: &'a [Rule],
}

impl<'a> RuleLevel<'a> {
    /// Returns the levels of both settings files, outer first.
    pub(super) fn of_settings(settings: &'a Settings) -> Vec<Self> {
        [
            ("your settings", &settings.user),
            ("the project's settings", &settings.project),
        ]
        .map(|(name, guards)| Self {
            name: name.to_owned(),
            list: guards.tools.as_ref(),
            is_read_only: false,
            rules: &guards.rules,
        })
        .to_vec()
    }

    /// Returns the level of a workflow.
    pub(super) fn of_workflow(workflow: &'a Workflow) -> Self {
        Self {
            name: format!("the workflow \"{}\"", shown(&workflow.name)),
            list: workflow.tools.as_ref(),
            is_read_only: false,
            rules: &workflow.rules,
        }
    }

    /// Returns the levels of a phase that is run in its own workflow, outer first.
    pub(super) fn of_phase(
        phase: &'a Phase,
        workflow: &'a Workflow,
        settings: &'a Settings,
    ) -> Vec<Self> {
        let mut levels = Self::of_settings(settings);
        levels.push(Self::of_workflow(workflow));
        levels.push(Self {
            name: format!("the phase \"{}\"", shown(&phase.name)),
            list: phase.tools.as_ref(),
            is_read_only: workflow.read_only_in(phase).is_some(),
            rules: &phase.rules,
        });
        levels
    }

    /// Returns true if the list of the level blocks a tool.
    pub(super) fn lists_out(&self, tool: &str) -> bool {
        let has = |names: &[String]| names.iter().any(|name| name == tool);
        match self.list {
            // Read-only blocks some calls of a tool, not all.
            None | Some(ToolAccess::ReadOnly { .. }) => false,
            Some(ToolAccess::Blacklist(names)) => has(names),
            Some(ToolAccess::Whitelist(names)) => !has(names),
        }
    }

    /// Returns what blocks all calls of a tool at this level, for messages.
    pub(super) fn blocks(&self, tool: &str) -> Option<String> {
        self.overrules(tool, &Rule::new(RuleAction::Allow, tool))
    }

    /// Returns what blocks at this level all calls of a tool that a rule of an inner level matches, for messages.
    pub(super) fn overrules(&self, tool: &str, inner: &Rule) -> Option<String> {
        let inner = Rule {
            tools: vec![tool.to_owned()],
            ..inner.clone()
        };
        for rule in self.rules.iter().filter(|rule| rule.names(tool)) {
            match rule.action {
                // It may allow what the inner rule allows.
                RuleAction::Allow => return None,
                RuleAction::Block if rule.covers(&inner) == Known::Yes => {
                    return Some(format!("the rule at {} blocks it", shown(&rule.source)));
                }
                RuleAction::Ask | RuleAction::Block => {}
            }
        }
        self.lists_out(tool)
            .then(|| format!("the list in `tools` of {} blocks it", self.name))
    }
}
