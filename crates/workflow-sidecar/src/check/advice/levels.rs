//! The levels of what was loaded: settings files, workflows and phases, with the rules around each.

use workflow_core::definition::{
    Checkpoint, ContinueRule, KeyLocations, Loaded, Phase, PhaseEntry, Rule, RuleAction, Settings,
    Tier, ToolAccess, Workflow,
};
use workflow_core::diagnostic::{Diagnostic, shown};
use workflow_core::policy::rules::Known;

/// The tool that changes files by other means, as the usual hosts call it.
pub(super) const SHELL: &str = "bash";

/// A settings file, a workflow or a phase, with the locations of its keys.
pub(super) struct Level<'a> {
    pub(super) keys: &'a KeyLocations,
    /// The file, if it is one of settings.
    pub(super) tier: Option<Tier>,
    /// The workflow, or that of the phase.
    pub(super) workflow: Option<&'a Workflow>,
    pub(super) phase: Option<&'a Phase>,
    /// Its rules, after those around it in its own workflow.
    pub(super) rules: Vec<RuleLevel<'a>>,
    pub(super) checkpoint: Option<Checkpoint>,
    pub(super) auto_continue: &'a ContinueRule,
}

impl<'a> Level<'a> {
    /// Returns all levels: settings files, then each workflow with its phases.
    pub(super) fn all(loaded: &'a Loaded) -> Vec<Self> {
        let settings = &loaded.settings;
        let files = loaded.origins.settings().iter().map(|file| Self {
            keys: &file.keys,
            tier: Some(file.tier),
            workflow: None,
            phase: None,
            rules: RuleLevel::of_settings(settings)[..=file.tier as usize].to_vec(),
            checkpoint: settings.checkpoint,
            auto_continue: &settings.auto_continue,
        });
        let mut all: Vec<Self> = files.collect();
        for workflow in loaded.catalog.iter() {
            let Some(origin) = loaded.origins.workflow(&workflow.key) else {
                continue;
            };
            let mut rules = RuleLevel::of_settings(settings);
            rules.push(RuleLevel {
                is_read_only: workflow.is_read_only(),
                ..RuleLevel::of_workflow(workflow)
            });
            all.push(Self {
                keys: &origin.keys,
                tier: None,
                workflow: Some(workflow),
                phase: None,
                rules,
                checkpoint: workflow.checkpoint,
                auto_continue: &workflow.auto_continue,
            });
            for (entry, origin) in workflow.phases.iter().zip(&origin.entries) {
                if let PhaseEntry::Phase(phase) = entry {
                    all.push(Self {
                        keys: &origin.keys,
                        tier: None,
                        workflow: Some(workflow),
                        phase: Some(phase),
                        rules: RuleLevel::of_phase(phase, workflow, settings),
                        checkpoint: phase.checkpoint,
                        auto_continue: &phase.auto_continue,
                    });
                }
            }
        }
        all
    }

    /// Its own rules, and those around it.
    pub(super) fn own(&self) -> (&RuleLevel<'a>, &[RuleLevel<'a>]) {
        self.rules
            .split_last()
            .expect("a level has rules of its own")
    }

    /// A diagnostic at the location of one of its rules.
    pub(super) fn at_rule(&self, at: usize, found: Diagnostic) -> Diagnostic {
        self.about(found.at(self.keys.of_item(["tools", "rules"], at).cloned()))
    }

    /// A diagnostic about its workflow.
    pub(super) fn about(&self, found: Diagnostic) -> Diagnostic {
        match self.workflow {
            Some(workflow) => found.about(&workflow.key),
            None => found,
        }
    }
}

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
