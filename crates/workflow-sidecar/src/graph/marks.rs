//! The marks and exits of a phase: what its definition means in a picture.

use workflow_core::definition::{Condition, Gate, Phase, Rule, RuleAction, Target};
use workflow_core::diagnostic::visible;

use super::model::{LabelledExit, NodeMark, label};

/// The most rules and checks of a phase that are drawn.
const MAX_MARKS: usize = 8;

/// Returns a mark for each rule; equal ones in a row appear once.
pub(super) fn rules(rules: &[Rule]) -> Vec<NodeMark> {
    let mut marks: Vec<NodeMark> = rules
        .iter()
        .map(|rule| NodeMark::Rule(rule_text(rule)))
        .collect();
    marks.dedup();
    let more = marks.len().saturating_sub(MAX_MARKS);
    if more > 1 {
        marks.truncate(MAX_MARKS);
        marks.push(NodeMark::Rule(format!("and {more} more rules")));
    }
    marks
}

/// Describes a rule: its tools and its conditions.
fn rule_text(rule: &Rule) -> String {
    let action = match rule.action {
        RuleAction::Allow => "allow",
        RuleAction::Ask => "ask about",
        RuleAction::Block => "block",
    };
    let mut text = format!("{action} {}", rule.tools.join(", "));
    match rule.writes {
        Some(true) => text += " that writes",
        Some(false) => text += " that only reads",
        None => {}
    }
    if !rule.path.is_empty() {
        text = format!("{text} in {}", rule.path.join(", "));
    }
    if !rule.command.is_empty() {
        text = format!("{text}: {}", rule.command.join(", "));
    }
    for (field, pattern) in &rule.input {
        text = format!("{text} with {field} {pattern}");
    }
    short(&text)
}

pub(super) fn gate(gates: &[Gate]) -> Vec<NodeMark> {
    let marks = gates
        .iter()
        .map(|gate| NodeMark::Gate(short(&gate.check.requirement(visible))));
    marks.take(MAX_MARKS).collect()
}

/// Returns the conditions under which an entry is entered.
pub(super) fn only_if(when: &[Condition]) -> Option<String> {
    let conditions: Vec<String> = when.iter().map(ToString::to_string).collect();
    (!conditions.is_empty()).then(|| format!("only if {}", conditions.join(" and ")))
}

/// Returns the conditions, the outputs and the limits of a phase.
pub(super) fn flow(phase: &Phase) -> Vec<NodeMark> {
    let mut texts: Vec<String> = only_if(&phase.when).into_iter().collect();
    if !phase.outputs.is_empty() {
        let names: Vec<&str> = phase.outputs.iter().map(|output| &*output.name).collect();
        texts.push(format!("hands over {}", names.join(", ")));
    }
    if let Some(most) = phase.max_visits {
        let visits = if most == 1 { "visit" } else { "visits" };
        let instead = &phase.on_max_visits;
        texts.push(format!("at most {most} {visits}, then {instead}"));
    }
    if !phase.budget.is_unlimited() {
        texts.push(format!("at most {}", phase.budget.describe()));
    }
    texts
        .iter()
        .map(|text| NodeMark::Flow(short(text)))
        .collect()
}

/// Returns the labelled exits of a phase: outcomes, answers, checks that do not pass, and the limit of visits.
pub(super) fn exits(phase: &Phase) -> Vec<LabelledExit> {
    let outcomes = phase.outcomes.iter().map(|outcome| LabelledExit {
        label: label(&outcome.name),
        to: outcome.to.clone(),
    });
    let answers = phase.approve.iter().flat_map(|approval| {
        let choices = approval.choices.iter().zip(&approval.targets);
        choices.map(|(choice, to)| LabelledExit {
            label: label(choice),
            to: to.clone(),
        })
    });
    // With outcomes, the answer that continues follows the outcome.
    let has_outcomes = !phase.outcomes.is_empty();
    let answers = answers.filter(move |exit| !(has_outcomes && exit.to == Target::Next));
    let mut failed: Vec<&String> = phase
        .gate
        .iter()
        .filter_map(|gate| gate.on_fail.as_ref())
        .collect();
    failed.dedup();
    let failed = failed.into_iter().map(|id| LabelledExit {
        label: "gate not passed".to_owned(),
        to: Target::Phase(id.clone()),
    });
    let limit = phase.max_visits.and_then(|most| {
        let to = phase.on_max_visits.target()?;
        let label = format!("instead of visit {}", u64::from(most) + 1);
        Some(LabelledExit { label, to })
    });
    outcomes.chain(answers).chain(failed).chain(limit).collect()
}

/// Returns true if a phase is left only by its outcomes or by the answers to its approval.
pub(super) fn has_only_exits(phase: &Phase) -> bool {
    let answers = phase.approve.as_ref();
    !phase.outcomes.is_empty() || answers.is_some_and(|approval| !approval.targets.is_empty())
}

/// Shortens a text to what a diagram can hold, without control characters.
pub(super) fn short(text: &str) -> String {
    const MAX_LENGTH: usize = 160;
    let text = visible(text);
    match text.char_indices().nth(MAX_LENGTH) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
