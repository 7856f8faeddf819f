//! The texts of a phase that the agent reads, part by part: the role, the task, the instructions, the rules.
//!
//! [`parts`] has each topic with its text. Those about the rules follow from the resolved phase, never from the author's prose.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::phase_line;
use crate::definition::{
    Budget, Catalog, ContextMode, Gate, Phase, PhaseEntry, Settings, Target, ToolAccess, Workflow,
};
use crate::diagnostic::shown;
use crate::policy::STEP_TOOL;
use crate::policy::rules::Description;
use crate::run::{Position, RunProgress, Texts, entry_name};
use crate::text;

/// Properties of a whole definition that decide which texts its phases get.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wording {
    /// True if the agent's role is that of the npm package, without `roleInstruction`: it is an orchestrator and edits nothing itself.
    pub(crate) has_package_role: bool,
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
        Self {
            has_package_role: names_profiles || !describes_rules,
            describes_rules,
            lists_profiles: names_profiles || mode == ContextMode::EveryTurn,
            restricts_tools: any(Workflow::restricts_tools),
        }
    }
}

/// The template of the text about the agent's role.
pub(crate) fn role<'a>(root: &'a Workflow, wording: Wording, rules: &Description<'_>) -> &'a str {
    match &root.templates.role_instruction {
        Some(own) => own,
        None if wording.has_package_role => text::ROLE_INSTRUCTION,
        None if rules.forbids_edits() => text::ROLE_WITHOUT_EDITS,
        None => text::ROLE,
    }
}

/// The variables that role instruction, phase instructions and advance reminder know: also the values of the run.
pub(crate) fn variables(run: &RunProgress, at: &Position<'_>, next: &str, values: &Texts) -> Texts {
    let state = &run.state;
    let (workflow, phase) = (at.own_workflow(), at.phase);
    let is_closed = workflow.read_only_in(phase).is_some()
        && workflow.writable.is_empty()
        && phase.writable.is_empty();
    let mut blocked_tools = match &phase.tools {
        Some(ToolAccess::Blacklist(names)) => names.clone(),
        _ => Vec::new(),
    };
    for tool in ["edit", "write"].iter().filter(|_| is_closed) {
        if !blocked_tools.iter().any(|blocked| blocked == tool) {
            blocked_tools.push((*tool).to_owned());
        }
    }
    let own: [(_, &str); 12] = [
        ("workflowName", &at.root().name),
        ("workflowKey", &state.workflow_key),
        ("description", &state.task_description),
        ("taskId", &state.task_id),
        ("phaseId", &phase.id),
        ("phaseName", &phase.name),
        ("previousPhaseName", previous_name(at)),
        ("nextPhaseName", next),
        ("blockedToolsList", &text::list(&blocked_tools)),
        ("toolName", STEP_TOOL),
        ("breadcrumbPath", &at.breadcrumb()),
        ("globalStepCount", &state.global_step_count.to_string()),
    ];
    let mut variables = values.clone();
    variables.extend(own.map(|(name, value)| (name.to_owned(), value.to_owned())));
    variables
}

/// The entry before this one in its scope, or around it; `(start)` at the very start (B03).
fn previous_name<'c>(position: &Position<'c>) -> &'c str {
    let mut inward = position.levels.iter().rev();
    let previous = inward.find_map(|level| level.previous());
    previous.map_or("(start)", |entry| entry_name(entry, position.catalog))
}

/// The topic of a part of the context message, in the order of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ContextTopic {
    /// The role of the agent.
    Role,
    /// The task of the run.
    Task,
    /// The phases of the workflow.
    Route,
    /// The phase, and its progress.
    Progress,
    /// The instructions of the phase.
    Instructions,
    /// The tools of the phase.
    Tools,
    /// The conditions for leaving the phase.
    Exit,
    /// The values that leaving the phase hands over.
    Outputs,
    /// The outcomes of the phase.
    Outcomes,
    /// The limits of what the phase and its workflow may use.
    Budget,
    /// The subagents of the phase.
    Profiles,
    /// The subagents of the workflow.
    AllProfiles,
    /// The sentence on how to advance.
    Advance,
}

impl ContextTopic {
    /// Returns true if it is about one phase, so that another phase sends it again even if the text is the same.
    pub(crate) fn is_of_phase(self) -> bool {
        self == Self::Progress || self == Self::Profiles || self.is_in_step_answer()
    }

    /// Returns true if the answer of `workflow_step` that enters a phase contains it.
    pub(crate) fn is_in_step_answer(self) -> bool {
        self == Self::Instructions || self.is_rule()
    }

    /// Returns true if it is a line about the rules of the phase.
    pub(crate) fn is_rule(self) -> bool {
        matches!(
            self,
            Self::Tools | Self::Exit | Self::Outputs | Self::Outcomes | Self::Budget
        )
    }

    /// Its name in a message that says what has changed.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Role => "role",
            Self::Task => "task",
            Self::Route => "phases of the workflow",
            Self::Progress => "phase",
            Self::Instructions => "instructions",
            Self::Tools => "tools",
            Self::Exit => "conditions for leaving it",
            Self::Outputs => "outputs",
            Self::Outcomes => "outcomes",
            Self::Budget => "budget",
            Self::Profiles | Self::AllProfiles => "subagent profiles",
            Self::Advance => "way to advance",
        }
    }

    /// Returns true if no blank line separates it from the part before it.
    pub(crate) fn follows(self, before: Self) -> bool {
        matches!(
            (before, self),
            (Self::Task, Self::Route | Self::Progress)
                | (Self::Route, Self::Progress)
                | (Self::Profiles, Self::AllProfiles)
        ) || (before.is_rule()
            && (self.is_rule() || matches!(self, Self::Profiles | Self::AllProfiles)))
    }
}

/// The head of the subagents that a phase names.
pub(crate) const PROFILES: &str = "**Available subagent profiles for this phase:** ";

/// The parts of the context message of a phase, whose templates are resolved by a function.
pub(crate) fn parts(
    run: &RunProgress,
    position: &Position<'_>,
    gates: &[Gate],
    mode: ContextMode,
    wording: Wording,
    rules: &Description<'_>,
    resolve: impl Fn(&str, bool) -> String,
) -> Vec<(ContextTopic, String)> {
    let (root, own, phase) = (position.root(), position.own_workflow(), position.phase);
    let (state, catalog) = (&run.state, position.catalog);
    let (task, id) = (&state.task_description, &state.task_id);
    let mut parts = Vec::new();
    let mut add = |topic, text: String| parts.push((topic, text));
    let role = role(root, wording, rules);
    add(ContextTopic::Role, resolve(role, true));
    let task = format!("**Task:** {task}\n**Task ID:** {id}");
    add(ContextTopic::Task, task);
    if let (ContextMode::ByChange, Some(route)) = (mode, phase_line::route(root, catalog)) {
        add(ContextTopic::Route, format!("**Phases:** {route}"));
    }
    add(ContextTopic::Progress, progress(run, position));
    let instructions = resolve(&phase.instructions, false);
    let instructions = format!("**What to do in this phase:**\n{instructions}");
    add(ContextTopic::Instructions, instructions);
    if wording.describes_rules {
        let all = || wording.restricts_tools.then(|| "all".to_owned());
        let tools = rules.text().or_else(all);
        let outcomes = outcomes(position);
        let to_leave = needed_to_leave(run, position, gates);
        let lines = [
            (ContextTopic::Tools, "Tools", tools),
            (ContextTopic::Exit, "To leave this phase", to_leave),
            (ContextTopic::Outputs, "Outputs of `next`", outputs(phase)),
            (ContextTopic::Outcomes, "Outcomes of `next`", outcomes),
            (ContextTopic::Budget, "Budget", budget(phase, own)),
        ];
        for (topic, head, text) in lines {
            if let Some(text) = text {
                add(topic, format!("**{head}:** {text}"));
            }
        }
    }
    if wording.lists_profiles {
        let own = text::list(phase.available_profiles.as_deref().unwrap_or_default());
        add(ContextTopic::Profiles, format!("{PROFILES}{own}"));
        let all = all_profiles(root, catalog).join(", ");
        let all = format!("**All profiles:** {all}");
        add(ContextTopic::AllProfiles, all);
    }
    let advance = resolve(&advance_reminder(position, wording), true);
    add(ContextTopic::Advance, advance);
    parts
}

/// The template of the sentence on how to advance. That of the npm package names `loop` everywhere.
pub(crate) fn advance_reminder(position: &Position<'_>, wording: Wording) -> String {
    let own = position.root().templates.advance_reminder.clone();
    let names_loop = position.scope().loopable || !wording.describes_rules;
    own.unwrap_or_else(|| text::advance_reminder(names_loop))
}

/// The phase, and its place among the others.
fn progress(run: &RunProgress, position: &Position<'_>) -> String {
    let state = &run.state;
    let item = run.data.item(&state.current_path, position.catalog);
    let (label, level) = (position.phase.label(), position.innermost());
    let unit = if position.levels.len() == 1 {
        "phases"
    } else {
        "in current scope"
    };
    let (step, number) = (state.global_step_count, level.index + 1);
    let of = level.workflow.phases.len();
    let item = item.map_or_else(String::new, |item| format!("\n**Item:** {item}"));
    format!("**Current Phase:** {label}\n**Progress:** Step {step} ({number}/{of} {unit}){item}")
}

/// The conditions for leaving a phase, as part of a sentence, with where a check that fails leads; `None` if there are none.
/// `gates` are those of the phase, with the values of the run.
pub(crate) fn needed_to_leave(
    progress: &RunProgress,
    at: &Position<'_>,
    gates: &[Gate],
) -> Option<String> {
    let (phase, scope) = (at.phase, at.own_workflow());
    let fit = |text: &str| format!("`{}`", shown(text));
    let name = |id: &str| {
        let entry = scope.phases.iter().find(|entry| entry.id() == id);
        shown(entry.map_or(id, |entry| entry_name(entry, at.catalog)))
    };
    let gates = gates.iter().enumerate().map(|(number, gate)| {
        let requirement = gate.check.requirement(fit) + &gate.otherwise(name);
        let path = &progress.state.current_path;
        let failed = progress.data.failures_of(path, &phase.id, number);
        match gate.tries.filter(|most| *most != u32::MAX) {
            Some(most) if failed >= most => {
                let times = text::times(failed);
                format!("{requirement} (failed {times}, the limit is {most})")
            }
            Some(most) if failed > 0 => format!("{requirement} (try {} of {most})", failed + 1),
            _ => requirement,
        }
    });
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
        let (name, kind) = (&output.name, output.in_words());
        format!("`{name}` ({kind}{optional}){about}")
    });
    joined(outputs, "; ")
}

/// The outcomes of a phase, and the names of their targets.
pub(crate) fn outcomes(position: &Position<'_>) -> Option<String> {
    let (phase, scope) = (position.phase, position.own_workflow());
    let outcomes = phase.outcomes.iter().map(|outcome| {
        let mut entries = scope.phases.iter();
        let target = outcome.to.phase();
        let entry = target.and_then(|id| entries.find(|entry| entry.id() == id));
        let to = match (entry, &outcome.to) {
            (Some(entry), _) => shown(entry_name(entry, position.catalog)),
            (None, Target::Next) => "the next phase".to_owned(),
            (None, Target::End) => format!("the end of {}", shown(&scope.name)),
            (None, Target::EndAs(name)) => format!("the end of {} as {name}", shown(&scope.name)),
            (None, to) => to.to_string(),
        };
        format!("{} → {to}", outcome.name)
    });
    joined(outcomes, " · ")
}

fn budget(phase: &Phase, scope: &Workflow) -> Option<String> {
    let limits =
        |budget: &Budget, bounds| Some(budget.describe(bounds)).filter(|limits| !limits.is_empty());
    let of_phase =
        limits(&phase.budget, &phase.bounds).map(|limits| format!("{limits} in this phase"));
    let of_scope = limits(&scope.budget, &scope.bounds)
        .map(|limits| format!("{limits} in {}", shown(&scope.name)));
    joined(of_phase.into_iter().chain(of_scope), "; ")
}

/// The texts with a separator between them; `None` without any.
fn joined(texts: impl Iterator<Item = String>, separator: &str) -> Option<String> {
    Some(text::join(texts, separator)).filter(|text| !text.is_empty())
}

/// Every profile a workflow names, each once, in order; each workflow is visited once.
pub(crate) fn all_profiles(root: &Workflow, catalog: &Catalog) -> Vec<String> {
    let mut names = Vec::new();
    add_profiles(root, catalog, &mut HashSet::new(), &mut names);
    let mut met = HashSet::new();
    names.retain(|name| met.insert(name.clone()));
    names
}

fn add_profiles<'c>(
    workflow: &'c Workflow,
    catalog: &'c Catalog,
    visited: &mut HashSet<&'c str>,
    names: &mut Vec<String>,
) {
    if !visited.insert(&workflow.key) {
        return;
    }
    for entry in &workflow.phases {
        match entry {
            PhaseEntry::Phase(phase) => {
                names.extend(phase.available_profiles.iter().flatten().cloned());
            }
            PhaseEntry::Subworkflow(key) => {
                if let Some(inner) = catalog.get(key) {
                    add_profiles(inner, catalog, visited, names);
                }
            }
        }
    }
}
