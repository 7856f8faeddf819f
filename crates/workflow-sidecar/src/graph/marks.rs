//! The marks and exits of a phase: what its definition means in a picture.

use workflow_core::definition::{
    CancelBy, Condition, Gate, Opening, Phase, Rule, RuleAction, Subworkflow, Target, ToolAccess,
    Workflow,
};
use workflow_core::diagnostic::{few, visible};
use workflow_core::policy::rules::describe_rule;

use super::model::{LabelledExit, MarkKind, NodeMark};

/// The most rules and checks of a phase that are drawn.
const MAX_MARKS: usize = 8;

/// The most items of a list in a mark.
const MAX_ITEMS: usize = 6;

/// Returns the marks of a workflow: its inputs, what applies to all of its phases, and the bounds of a run.
pub(super) fn of_workflow(workflow: &Workflow) -> Vec<NodeMark> {
    let mut marks = Vec::new();
    let flow = |text: String| NodeMark::new(MarkKind::Flow, text);
    if !workflow.inputs.is_empty() {
        let names = workflow.inputs.iter().map(|input| &*input.name);
        marks.push(flow(format!("inputs: {}", listed(names))));
    }
    let guards = tools(workflow.tools.as_ref())
        .into_iter()
        .chain(rules(&workflow.rules))
        .chain(unknown(workflow.unknown));
    marks.extend(guards.map(|mark| NodeMark::new(mark.kind, format!("all phases: {}", mark.text))));
    if workflow.cancel == Some(CancelBy::User) {
        marks.push(flow("only you can cancel".to_owned()));
    }
    if !workflow.budget.is_unlimited() {
        marks.push(flow(format!(
            "at most {}",
            workflow.budget.describe(&workflow.bounds)
        )));
    }
    marks
}

/// Returns the mark of a list of tools.
pub(super) fn tools(tools: Option<&ToolAccess>) -> Option<NodeMark> {
    let list = |names: &[String]| short(&names.join(", "));
    match tools? {
        ToolAccess::ReadOnly { .. } | ToolAccess::All { .. } => None,
        ToolAccess::Whitelist(names) if names.is_empty() => Some("no tools".to_owned()),
        ToolAccess::Whitelist(names) => Some(format!("only {}", list(names))),
        ToolAccess::Blacklist(names) if names.is_empty() => None,
        ToolAccess::Blacklist(names) => Some(format!("no {}", list(names))),
    }
    .map(|text| NodeMark::new(MarkKind::Rule, text))
}

/// Returns the marks of a phase that is read-only: what is open in it comes after.
pub(super) fn read_only(workflow: &Workflow, phase: &Phase) -> Vec<NodeMark> {
    if workflow.read_only_in(phase).is_none() {
        let is_lifted = workflow.is_read_only();
        let mark = is_lifted.then(|| NodeMark::new(MarkKind::Open, "not read-only"));
        return mark.into_iter().collect();
    }
    let writable: Vec<&String> = workflow.writable.iter().chain(&phase.writable).collect();
    let run = workflow.commands.iter().chain(&phase.commands);
    let run: Vec<&String> = run.flat_map(Opening::patterns).collect();
    let open = [("may write", writable), ("may run", run)];
    let open = open.into_iter().filter(|(_, items)| !items.is_empty());
    let open = open.map(|(may, items)| {
        let items = listed(items.into_iter().map(|item| &**item));
        NodeMark::new(MarkKind::Open, short(&format!("{may} {items}")))
    });
    let read_only = NodeMark::new(MarkKind::Rule, "read-only");
    [read_only].into_iter().chain(open).collect()
}

/// Returns the mark of the decision on unknown calls.
pub(super) fn unknown(action: Option<RuleAction>) -> Option<NodeMark> {
    let (kind, action) = action_mark(action?);
    Some(NodeMark::new(kind, format!("{action} unknown calls")))
}

fn action_mark(action: RuleAction) -> (MarkKind, &'static str) {
    match action {
        RuleAction::Allow => (MarkKind::Open, "allow"),
        RuleAction::Ask => (MarkKind::Rule, "ask about"),
        RuleAction::Block => (MarkKind::Rule, "block"),
    }
}

/// Lists items: the first ones, and the number of the others.
fn listed<'i>(items: impl ExactSizeIterator<Item = &'i str>) -> String {
    let items: Vec<&str> = items.collect();
    // The number would take the place of one more.
    let is_one_more = items.len() == MAX_ITEMS + 1;
    few(&items, MAX_ITEMS + usize::from(is_one_more))
}

/// Returns a mark for each rule; equal ones in a row appear once.
pub(super) fn rules(rules: &[Rule]) -> Vec<NodeMark> {
    let mut marks: Vec<NodeMark> = rules.iter().map(rule_mark).collect();
    marks.dedup();
    let more = marks.len().saturating_sub(MAX_MARKS);
    if more > 1 {
        marks.truncate(MAX_MARKS);
        let more = format!("and {more} more rules");
        marks.push(NodeMark::new(MarkKind::Rule, more));
    }
    marks
}

/// Describes a rule: its tools and its conditions.
fn rule_mark(rule: &Rule) -> NodeMark {
    let (kind, action) = action_mark(rule.action);
    let mut text = format!("{action} {}", describe_rule(rule));
    if !rule.except.is_empty() {
        let except = rule.except.iter().map(|id| &**id);
        text = format!("{text}, but not in {}", listed(except));
    }
    NodeMark::new(kind, short(&text))
}

pub(super) fn gate(gates: &[Gate]) -> Vec<NodeMark> {
    let marks = gates.iter().map(|gate| {
        let requirement = gate.check.requirement(visible) + &gate.otherwise(visible);
        NodeMark::new(MarkKind::Gate, short(&requirement))
    });
    marks.take(MAX_MARKS).collect()
}

/// Returns the conditions under which an entry is entered.
pub(super) fn only_if(when: &[Condition]) -> Option<String> {
    let conditions: Vec<String> = when.iter().map(ToString::to_string).collect();
    (!conditions.is_empty()).then(|| format!("only if {}", conditions.join(" and ")))
}

/// Returns what a reference says of its subworkflow.
pub(super) fn of_reference(reference: &Subworkflow) -> Vec<String> {
    let list = reference.for_each.as_ref();
    let list = list.map(|list| format!("for each item of {list}"));
    let visits = reference.most_visits();
    let visits = visits.map(|most| format!("at most {most} times"));
    list.into_iter()
        .chain(only_if(&reference.when))
        .chain(visits)
        .collect()
}

/// Returns the conditions, the outputs and the limits of a phase.
pub(super) fn flow(phase: &Phase) -> Vec<NodeMark> {
    let mut texts: Vec<String> = only_if(&phase.when).into_iter().collect();
    if !phase.outputs.is_empty() {
        let names: Vec<&str> = phase.outputs.iter().map(|output| &*output.name).collect();
        texts.push(format!("hands over {}", names.join(", ")));
    }
    if let Some((most, instead)) = phase.most_visits().zip(phase.instead_of_visit()) {
        let visits = if most == "1" { "visit" } else { "visits" };
        texts.push(format!("at most {most} {visits}, then {instead}"));
    }
    if !phase.budget.is_unlimited() {
        texts.push(format!("at most {}", phase.budget.describe(&phase.bounds)));
    }
    texts
        .iter()
        .map(|text| NodeMark::new(MarkKind::Flow, short(text)))
        .collect()
}

/// Returns the labelled exits of a phase: outcomes, answers, checks that do not pass, and the limit of visits.
pub(super) fn exits(phase: &Phase) -> Vec<LabelledExit> {
    let mut exits = Vec::new();
    let mut add = |name: &str, to: &Target| exits.push(LabelledExit::new(name, to));
    for outcome in &phase.outcomes {
        add(&outcome.name, &outcome.to);
    }
    if let Some(approval) = &phase.approve {
        for (choice, to) in approval.choices.iter().zip(&approval.targets) {
            // With outcomes, the answer that continues follows the outcome.
            if phase.outcomes.is_empty() || *to != Target::Next {
                add(choice, to);
            }
        }
    }
    let failed = phase.gate.iter().filter_map(|gate| gate.on_fail.as_ref());
    let mut failed: Vec<&Target> = failed.collect();
    failed.dedup();
    for to in failed {
        add("gate not passed", to);
    }
    let gates = phase.gate.iter();
    let limits = gates
        .map(|gate| ("gate failed too often", &gate.on_limit))
        .chain([
            ("budget used up", &phase.budget.on_limit),
            ("no more reminders", &phase.auto_continue.on_limit),
        ]);
    let visits = phase.max_visits.map(|most| match most {
        u32::MAX => "instead of one visit too many".to_owned(),
        most => format!("instead of visit {}", most + 1),
    });
    let limits = limits.chain(visits.iter().map(|visit| (&**visit, &phase.on_limit)));
    for (name, to) in limits {
        if let Some(to) = to.as_ref().filter(|to| **to != Target::Pause) {
            add(name, to);
        }
    }
    exits
}

/// Returns true if a phase is left only by its outcomes or by the answers to its approval.
pub(super) fn has_only_exits(phase: &Phase) -> bool {
    let answers = phase.approve.as_ref();
    !phase.outcomes.is_empty() || answers.is_some_and(|approval| !approval.targets.is_empty())
}

/// Shortens a text to what a diagram can hold, without control characters and the marks of code.
pub(super) fn short(text: &str) -> String {
    const MAX_LENGTH: usize = 160;
    let text = visible(text).replace('`', "");
    match text.char_indices().nth(MAX_LENGTH) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
