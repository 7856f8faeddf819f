//! The texts about the rules of a phase that the agent reads: the role, the tools, and what is needed to leave.
//!
//! They follow from the resolved phase, never from the author's prose. [`lines`] has a function for each line.

use super::context::ContextTopic;
use crate::definition::{Budget, Catalog, ContextMode, Phase, Settings, Target, Workflow};
use crate::diagnostic::shown;
use crate::policy::rules::Description;
use crate::run::entry_name;
use crate::text;

/// The source of the text about the agent's role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleSource {
    /// `roleInstruction`.
    Definition,
    /// The text of the npm package: the agent is an orchestrator and edits nothing itself.
    Package,
    /// A text that follows from the rules of the phase.
    Rules,
}

/// Properties of a whole definition that decide which texts its phases get.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wording {
    pub(crate) role: RoleSource,
    /// True if the texts say what the rules are; false for exactly those of the npm package.
    pub(crate) describes_rules: bool,
    /// True if a phase names subagents, or the texts are those of the npm package.
    pub(crate) lists_profiles: bool,
    /// True if a phase has a list or rules, so that "all" is worth a line in the others.
    restricts_tools: bool,
}

impl Wording {
    pub(crate) fn of(root: &Workflow, catalog: &Catalog, settings: &Settings) -> Self {
        let mode = root.context.or(settings.context).unwrap_or_default();
        let workflows = catalog.reachable_from(&root.key);
        let any = |is: fn(&Workflow) -> bool| workflows.iter().any(|workflow| is(workflow));
        let describes_rules =
            mode == ContextMode::ByChange || any(Workflow::has_guards_beyond_package);
        let names_profiles = any(Workflow::names_profiles);
        let role = if root.templates.role_instruction.is_some() {
            RoleSource::Definition
        } else if names_profiles || !describes_rules {
            RoleSource::Package
        } else {
            RoleSource::Rules
        };
        Self {
            role,
            describes_rules,
            lists_profiles: names_profiles || mode == ContextMode::EveryTurn,
            restricts_tools: any(Workflow::restricts_tools),
        }
    }
}

/// The source of the text about the agent's role in the runs of a workflow.
#[must_use]
pub fn role_source(root: &Workflow, catalog: &Catalog, settings: &Settings) -> RoleSource {
    Wording::of(root, catalog, settings).role
}

/// The template of the text about the agent's role.
pub(crate) fn role<'a>(root: &'a Workflow, wording: Wording, rules: &Description<'_>) -> &'a str {
    match (&root.templates.role_instruction, wording.role) {
        (Some(own), _) => own,
        (None, RoleSource::Rules) if rules.forbids_edits() => text::ROLE_WITHOUT_EDITS,
        (None, RoleSource::Rules) => text::ROLE,
        (None, RoleSource::Definition | RoleSource::Package) => text::ROLE_INSTRUCTION,
    }
}

/// The lines about the rules of a phase, in the order of the context message.
pub(crate) fn lines(
    phase: &Phase,
    scope: &Workflow,
    catalog: &Catalog,
    rules: &Description<'_>,
    wording: Wording,
) -> Vec<(ContextTopic, String)> {
    if !wording.describes_rules {
        return Vec::new();
    }
    let all = || wording.restricts_tools.then(|| "all".to_owned());
    let lines = [
        (ContextTopic::Tools, "Tools", rules.text().or_else(all)),
        (
            ContextTopic::Exit,
            "To leave this phase",
            needed_to_leave(phase),
        ),
        (ContextTopic::Outputs, "Outputs of `next`", outputs(phase)),
        (
            ContextTopic::Outcomes,
            "Outcomes of `next`",
            outcomes(phase, scope, catalog),
        ),
        (ContextTopic::Budget, "Budget", budget(phase, scope)),
    ];
    let lines = lines.into_iter();
    lines
        .filter_map(|(topic, head, text)| Some((topic, format!("**{head}:** {}", text?))))
        .collect()
}

/// The conditions for leaving a phase, as part of a sentence; `None` if there are none.
pub(crate) fn needed_to_leave(phase: &Phase) -> Option<String> {
    let fit = |text: &str| format!("`{}`", shown(text));
    let gates = phase.gate.iter().map(|gate| gate.check.requirement(fit));
    let then = if phase.gate.is_empty() { "" } else { "then " };
    let approval = phase.approve.iter();
    let approval = approval.map(|_| format!("{then}the user approves"));
    joined(gates.chain(approval), "; ")
}

/// The values that `next` must hand over.
fn outputs(phase: &Phase) -> Option<String> {
    let outputs = phase.outputs.iter().map(|output| {
        let optional = if output.required { "" } else { ", optional" };
        let about = match &*output.about {
            "" => String::new(),
            about => format!(": {about}"),
        };
        let (name, kind) = (&output.name, output.kind.describe());
        format!("`{name}` ({kind}{optional}){about}")
    });
    joined(outputs, "; ")
}

/// The outcomes of a phase, and the names of their targets.
pub(crate) fn outcomes(phase: &Phase, scope: &Workflow, catalog: &Catalog) -> Option<String> {
    let outcomes = phase.outcomes.iter().map(|outcome| {
        let mut entries = scope.phases.iter();
        let target = outcome.to.phase();
        let entry = target.and_then(|id| entries.find(|entry| entry.id() == id));
        let to = match (entry, &outcome.to) {
            (Some(entry), _) => shown(entry_name(entry, catalog)),
            (None, Target::Next) => "the next phase".to_owned(),
            (None, Target::End) => format!("the end of {}", shown(&scope.name)),
            (None, to) => to.to_string(),
        };
        format!("{} → {to}", outcome.name)
    });
    joined(outcomes, " · ")
}

fn budget(phase: &Phase, scope: &Workflow) -> Option<String> {
    let limits = |budget: &Budget| Some(budget.describe()).filter(|limits| !limits.is_empty());
    let of_phase = limits(&phase.budget).map(|limits| format!("{limits} in this phase"));
    let of_scope =
        limits(&scope.budget).map(|limits| format!("{limits} in {}", shown(&scope.name)));
    joined(of_phase.into_iter().chain(of_scope), "; ")
}

/// The texts with a separator between them; `None` without any.
fn joined(texts: impl Iterator<Item = String>, separator: &str) -> Option<String> {
    Some(text::join(texts, separator)).filter(|text| !text.is_empty())
}
