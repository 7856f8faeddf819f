//! The levels of what was loaded: settings files, workflows and phases, with their rules.

use workflow_core::definition::{
    Checkpoint, ContinueRule, KeyLocations, Loaded, Phase, Rule, RuleAction, Tier, ToolAccess,
    Workflow,
};
use workflow_core::diagnostic::{Diagnostic, shown};
use workflow_core::explain::{NodeKind, PhaseNode};
use workflow_core::policy::rules::Known;

/// The tool that changes files by other means, as the usual hosts call it.
pub(super) const SHELL: &str = "bash";

/// A settings file, a workflow or a phase: its list and rules, with the locations of its keys.
pub(super) struct Level<'a> {
    /// Its name in messages.
    pub(super) name: String,
    pub(super) keys: &'a KeyLocations,
    /// The workflow, or that of the phase.
    pub(super) workflow: Option<&'a Workflow>,
    pub(super) phase: Option<&'a Phase>,
    pub(super) list: Option<&'a ToolAccess>,
    /// `read-only` applies, also that of the workflow around a phase.
    pub(super) is_read_only: bool,
    pub(super) rules: &'a [Rule],
    pub(super) checkpoint: Option<Checkpoint>,
    pub(super) auto_continue: &'a ContinueRule,
    /// The indexes of the levels around it, outer first.
    outer: Vec<usize>,
}

/// The settings files, then each workflow with its phases.
pub(super) struct Levels<'a>(Vec<Level<'a>>);

impl<'a> Levels<'a> {
    pub(super) fn of(loaded: &'a Loaded) -> Self {
        let settings = &loaded.settings;
        // The project's come first, as they win.
        let (project, user) = (&settings.project, &settings.user);
        let mut all = Vec::from(
            [
                ("the project's settings", Tier::Project, project, vec![1]),
                ("your settings", Tier::Global, user, Vec::new()),
            ]
            .map(|(name, tier, guards, outer)| Level {
                name: name.to_owned(),
                keys: &loaded.origins.settings[tier as usize],
                workflow: None,
                phase: None,
                list: guards.tools.as_ref(),
                is_read_only: false,
                rules: &guards.rules,
                checkpoint: settings.checkpoint,
                auto_continue: &settings.auto_continue,
                outer,
            }),
        );
        for workflow in loaded.catalog.iter() {
            let Some(origin) = loaded.origins.workflows.get(&workflow.key) else {
                continue;
            };
            let level = |phase: Option<&'a Phase>, keys: &'a KeyLocations, outer| Level {
                name: match phase {
                    Some(phase) => format!("the phase \"{}\"", shown(&phase.name)),
                    None => format!("the workflow \"{}\"", shown(&workflow.name)),
                },
                keys,
                workflow: Some(workflow),
                phase,
                list: phase.map_or(&workflow.tools, |of| &of.tools).as_ref(),
                is_read_only: match phase {
                    Some(phase) => workflow.read_only_in(phase).is_some(),
                    None => workflow.is_read_only(),
                },
                rules: phase.map_or(&workflow.rules, |of| &of.rules),
                checkpoint: phase.map_or(workflow.checkpoint, |of| of.checkpoint),
                auto_continue: phase.map_or(&workflow.auto_continue, |of| &of.auto_continue),
                outer,
            };
            let at = all.len();
            all.push(level(None, &origin.keys, vec![1, 0]));
            let entries = workflow.phases.iter().zip(&origin.entries);
            let phases = entries.filter_map(|(entry, origin)| Some((entry.phase()?, origin)));
            let phases = phases.map(|(of, origin)| level(Some(of), &origin.keys, vec![1, 0, at]));
            all.extend(phases);
        }
        Self(all)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Level<'a>> {
        self.0.iter()
    }

    /// Both settings files.
    pub(super) fn settings(&self) -> &[Level<'a>] {
        &self.0[..2]
    }

    /// A workflow, then its phases in order.
    pub(super) fn of_workflow(&self, key: &str) -> impl Iterator<Item = &Level<'a>> {
        self.iter()
            .filter(move |level| level.workflow.is_some_and(|own| own.key == key))
    }

    /// The level of a phase.
    pub(super) fn of_phase(&self, node: &PhaseNode<'_>) -> Option<&Level<'a>> {
        let NodeKind::Phase(phase) = node.kind else {
            return None;
        };
        let is_it = |level: &&Level<'_>| level.phase.is_some_and(|own| std::ptr::eq(own, phase));
        self.iter().find(is_it)
    }

    /// The levels around a level in its own workflow, outer first.
    pub(super) fn outer(&self, level: &Level<'a>) -> Vec<&Level<'a>> {
        level.outer.iter().map(|&at| &self.0[at]).collect()
    }
}

impl Level<'_> {
    /// A diagnostic at the location of one of its rules.
    pub(super) fn at_rule(&self, at: usize, found: Diagnostic) -> Diagnostic {
        let location = self.keys.of(&["tools", &format!("rules[{at}]")]);
        self.about(found.at(location.cloned()))
    }

    /// A diagnostic about its workflow.
    pub(super) fn about(&self, found: Diagnostic) -> Diagnostic {
        match self.workflow {
            Some(workflow) => found.about(&workflow.key),
            None => found,
        }
    }

    /// Returns true if the list of the level blocks a tool.
    pub(super) fn lists_out(&self, tool: &str) -> bool {
        self.list.is_some_and(|list| list.blocks(tool))
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
