//! Weakened guards: what a changed definition, or changed settings, would allow that was not allowed before.
//!
//! The comparison errs on the side of asking: a guard that was changed in a way that is not evidently stricter counts as
//! weakened. Texts, names and additional restrictions do not count.

mod flow;
mod gate;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::definition::{
    Approval, Catalog, Guards, Phase, ResultRule, Rule, RuleAction, ToolAccess, Workflow,
};
use crate::diagnostic::shown;

pub(crate) use self::flow::weakened_jumps;
use self::gate::is_as_demanding;
use super::Position;
use super::state::RunState;
use super::transition::in_order;

/// Members of a phase, a workflow or settings that restrict nothing, or are compared on their own.
#[rustfmt::skip] // Names that belong together.
const KNOWN: &[&str] = &[
    "id", "key", "name", "emoji", "instructions", "commandName", "initialMessage", "show", "loopable", "sessionNamePrefix",
    "sessionNameMaxLength", "templates", "continue", "context", "availableProfiles", "checkpoint", "phases", "reading", "tools", "rules",
    "results", "gate", "approve", "inputs", "outputs", "outcomes", "when", "maxVisits", "onMaxVisits", "budget", "cancel", "hints",
];
/// Members that open something: there must not be more of them.
const OPENING: &[&str] = &["writable", "run"];
/// Transitions that are looked ahead.
const MAX_AHEAD: usize = 2000;

/// Returns what `after` weakens of the guards of a run in this state, for display; empty if nothing.
pub(crate) fn weakened(before: &Catalog, after: &Catalog, state: &RunState) -> Vec<String> {
    let mut lost = Vec::new();
    // What is the same weakens nothing, even if names in it are not unique.
    if before == after {
        return lost;
    }
    let root = &state.workflow_key;
    for workflow in before.reachable_from(root) {
        let Some(changed) = after.get(&workflow.key) else {
            lost.push(format!("workflow {} was removed", shown(&workflow.name)));
            continue;
        };
        let level = format!("workflow {}", shown(&workflow.name));
        compare_levels(
            &level,
            &LevelGuards::of(workflow),
            &LevelGuards::of(changed),
            &mut lost,
        );
        flow::compare_workflows(&level, workflow, changed, &mut lost);
        flow::compare_references(before, workflow, changed, &mut lost);
        for phase in workflow.own_phases() {
            let level = format!("phase {}", shown(&phase.name));
            match changed.own_phases().find(|changed| changed.id == phase.id) {
                Some(after) => {
                    let is_read_only = workflow.read_only_in(phase).is_some();
                    if is_read_only && changed.read_only_in(after).is_none() {
                        lost.push(format!("{level} is no longer read-only"));
                    }
                    compare_phases(&level, is_read_only, phase, after, &mut lost);
                }
                None if is_guarded(phase) => {
                    lost.push(format!(
                        "{level} was removed, with its {}",
                        guards_of(phase)
                    ));
                }
                None => {}
            }
        }
    }
    if lost.is_empty() {
        lost.extend(skipped(before, after, state));
    }
    lost
}

/// Returns what changed settings weaken of one level of settings, for display.
pub(crate) fn weakened_settings(level: &str, before: &Guards, after: &Guards) -> Vec<String> {
    let mut lost = Vec::new();
    compare_levels(
        level,
        &LevelGuards::of_settings(before),
        &LevelGuards::of_settings(after),
        &mut lost,
    );
    lost
}

/// The guarded phases that are ahead of a run, but would no longer be.
fn skipped(before: &Catalog, after: &Catalog, state: &RunState) -> Vec<String> {
    let mut left = ahead(after, state).into_iter();
    let mut lost = Vec::new();
    for (key, phase) in ahead(before, state) {
        if is_guarded(phase) && !left.any(|(other, after)| other == key && after.id == phase.id) {
            lost.push(format!(
                "phase {} would be skipped, with its {}",
                shown(&phase.name),
                guards_of(phase)
            ));
            break;
        }
    }
    lost
}

/// The phase of a run and those ahead of it, each with the key of its workflow.
fn ahead<'c>(catalog: &'c Catalog, state: &RunState) -> Vec<(&'c str, &'c Phase)> {
    let mut found = Vec::new();
    let mut state = state.clone();
    while state.active && found.len() < MAX_AHEAD {
        let Ok(position) = Position::of(&state, catalog) else {
            break;
        };
        let scope = position
            .drilled
            .last()
            .map_or(position.scope(), |level| level.workflow);
        found.push((&*scope.key, position.phase));
        match in_order(&state, catalog) {
            Some(path) => state.current_path = path,
            None => break,
        }
    }
    found
}

fn is_guarded(phase: &Phase) -> bool {
    !guards_of(phase).is_empty()
}

/// The kinds of guards that a phase has, for display.
fn guards_of(phase: &Phase) -> String {
    let level = LevelGuards::of(phase);
    let restricts = phase
        .rules
        .iter()
        .any(|rule| rule.action != RuleAction::Allow);
    let kinds = [
        ("approval", phase.approve.is_some()),
        ("gate", !phase.gate.is_empty()),
        ("tool list", phase.tools.is_some()),
        ("rules", restricts),
        ("redactions", phase.results.iter().any(redacts)),
        (
            "outputs",
            phase.outputs.iter().any(|output| output.required),
        ),
        (
            "other guards",
            level.others.iter().any(|(_, value)| !is_nothing(value)),
        ),
    ];
    let present = kinds.iter().filter(|(_, is_there)| *is_there);
    present
        .map(|(name, _)| *name)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The guards that a phase, a workflow and settings have alike.
struct LevelGuards<'a> {
    tools: Option<&'a ToolAccess>,
    rules: &'a [Rule],
    results: &'a [ResultRule],
    /// `read-only` applies, also that of the workflow around a phase.
    is_read_only: bool,
    /// Members that this comparison does not know.
    others: Map<String, Value>,
}

/// A part of a definition with guards.
trait HasGuards: Serialize {
    fn guards(&self) -> (Option<&ToolAccess>, &[Rule], &[ResultRule]);
}

impl HasGuards for Phase {
    fn guards(&self) -> (Option<&ToolAccess>, &[Rule], &[ResultRule]) {
        (self.tools.as_ref(), &self.rules, &self.results)
    }
}

impl HasGuards for Workflow {
    fn guards(&self) -> (Option<&ToolAccess>, &[Rule], &[ResultRule]) {
        (self.tools.as_ref(), &self.rules, &self.results)
    }
}

impl HasGuards for Guards {
    fn guards(&self) -> (Option<&ToolAccess>, &[Rule], &[ResultRule]) {
        (self.tools.as_ref(), &self.rules, &self.results)
    }
}

impl<'a> LevelGuards<'a> {
    fn of(of: &'a impl HasGuards) -> Self {
        let (tools, rules, results) = of.guards();
        let mut others = fields(of);
        others.retain(|name, _| !KNOWN.contains(&&**name));
        Self {
            tools,
            rules,
            results,
            is_read_only: false,
            others,
        }
    }

    fn of_settings(guards: &'a Guards) -> Self {
        Self::of(guards)
    }
}

/// The members of a part of a definition.
fn fields(of: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(of).expect("definitions have string keys only") {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

fn compare_levels(
    level: &str,
    before: &LevelGuards<'_>,
    after: &LevelGuards<'_>,
    lost: &mut Vec<String>,
) {
    if let Some(tools) = before.tools {
        let names = opened(tools, after.tools);
        if let Some(names) = names {
            lost.push(format!("the tool list of {level} lets {names} run"));
        }
    }
    compare_rules(
        level,
        before.rules,
        after.rules,
        before.tools.is_some() || before.is_read_only,
        lost,
    );
    let mut left = after.results.iter().map(meaning);
    for result in before.results.iter().filter(|result| redacts(result)) {
        let wanted = meaning(result);
        if !left.any(|other| other == wanted) {
            lost.push(format!(
                "{} of {level} was removed or changed",
                shown(&result.describe())
            ));
            break;
        }
    }
    let mut names: Vec<&String> = before.others.keys().chain(after.others.keys()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let [was, is] = [&before.others, &after.others]
            .map(|others| others.get(name).filter(|value| !is_nothing(value)));
        let opens = OPENING.contains(&&**name);
        let is_weaker = match (was, is) {
            _ if name == "unknown" => is_more_permissive(was, is),
            (None, _) => opens && is.is_some(),
            (Some(_), None) => !opens,
            (Some(was), Some(is)) => was != is && !(opens && is_part(is, was)),
        };
        if is_weaker {
            lost.push(format!("`{name}` of {level} was removed or changed"));
        }
    }
}

/// Returns true if a decision on unknown commands lets more of them run. A level without one has that of the level around it,
/// else `ask`.
fn is_more_permissive(was: Option<&Value>, is: Option<&Value>) -> bool {
    let strictness = |value: &Value| match value.as_str() {
        Some("block") => 2,
        Some("ask") => 1,
        _ => 0,
    };
    match (was, is) {
        (_, None) => was.is_some(),
        (None, Some(is)) => strictness(is) == 0,
        (Some(was), Some(is)) => strictness(is) < strictness(was),
    }
}

/// Returns true if every item of a list is one of the other.
fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Array(part), Value::Array(whole)) => part.iter().all(|item| whole.contains(item)),
        _ => false,
    }
}

/// The tools that a changed list lets run, for display; `None` if there are no more than before.
fn opened(before: &ToolAccess, after: Option<&ToolAccess>) -> Option<String> {
    let listed = |names: Vec<&String>| {
        let names: Vec<String> = names
            .into_iter()
            .map(|name| format!("`{}`", shown(name)))
            .collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    match (before, after) {
        (ToolAccess::Blacklist(before), None) => listed(before.iter().collect()),
        (ToolAccess::Blacklist(before), Some(ToolAccess::Blacklist(after))) => {
            listed(before.iter().filter(|name| !after.contains(name)).collect())
        }
        (ToolAccess::Blacklist(before), Some(ToolAccess::Whitelist(after))) => {
            listed(before.iter().filter(|name| after.contains(name)).collect())
        }
        (ToolAccess::Whitelist(before), Some(ToolAccess::Whitelist(after))) => {
            listed(after.iter().filter(|name| !before.contains(name)).collect())
        }
        (ToolAccess::Blacklist(before), Some(ToolAccess::ReadOnly { .. })) => listed(
            before
                .iter()
                .filter(|name| !matches!(name.as_str(), "edit" | "write"))
                .collect(),
        ),
        (ToolAccess::Whitelist(_), Some(ToolAccess::ReadOnly { .. })) => {
            Some("all tools that change nothing".to_owned())
        }
        (ToolAccess::Whitelist(_), Some(ToolAccess::Blacklist(_)) | None) => {
            Some("all tools but a few".to_owned())
        }
        // Compared for each phase, which may have tools of its own instead.
        (ToolAccess::ReadOnly { .. }, _) => None,
    }
}

/// The meaning of a rule, without its location and what it says.
fn meaning(rule: &impl Serialize) -> Map<String, Value> {
    let mut fields = fields(rule);
    fields.remove("source");
    fields.remove("reason");
    fields.remove("notify");
    fields
}

fn redacts(result: &ResultRule) -> bool {
    result.unread || !result.redact.is_empty()
}

/// Compares the rules of a level, of which the first that matches decides: those that restrict must remain, in their
/// order, and nothing that allows more may come before them.
fn compare_rules(
    level: &str,
    before: &[Rule],
    after: &[Rule],
    has_list: bool,
    lost: &mut Vec<String>,
) {
    let restricting = |rule: &&Rule| rule.action != RuleAction::Allow;
    let mut rest = after;
    for (at, rule) in before.iter().enumerate() {
        let found = rest.iter().position(|other| is_as_strict(rule, other));
        let Some(found) = found else {
            if restricting(&rule) {
                lost.push(format!(
                    "the rule {} of {level} was removed or changed",
                    described(rule)
                ));
                return;
            }
            continue;
        };
        let needs_block = before[at..]
            .iter()
            .any(|rule| rule.action == RuleAction::Block);
        let new = rest[..found].iter().find(|new| match new.action {
            RuleAction::Allow => true,
            RuleAction::Ask => needs_block || has_list,
            RuleAction::Block => false,
        });
        if let Some(new) = new {
            lost.push(format!("the rule {} of {level} is new", described(new)));
            return;
        }
        rest = &rest[found + 1..];
    }
    let opens_list = has_list.then(|| rest.iter().find(|rule| rule.action != RuleAction::Block));
    if let Some(new) = opens_list.flatten() {
        lost.push(format!("the rule {} of {level} is new", described(new)));
    }
}

/// Returns true if a rule is the same as one before, or the same and stricter.
fn is_as_strict(before: &Rule, after: &Rule) -> bool {
    let strictness = |rule: &Rule| match rule.action {
        RuleAction::Allow => 0,
        RuleAction::Ask => 1,
        RuleAction::Block => 2,
    };
    let conditions = |rule: &Rule| {
        let mut meaning = meaning(rule);
        meaning.remove("verdict");
        meaning
    };
    // To allow becomes nothing else: conditions of a rule that allows match less.
    let is_same_kind = (before.action == RuleAction::Allow) == (after.action == RuleAction::Allow);
    is_same_kind
        && strictness(after) >= strictness(before)
        && conditions(before) == conditions(after)
}

fn described(rule: &Rule) -> String {
    let action = match rule.action {
        RuleAction::Allow => "allow",
        RuleAction::Ask => "ask",
        RuleAction::Block => "block",
    };
    let patterns: Vec<&str> = rule
        .path
        .iter()
        .chain(&rule.command)
        .map(String::as_str)
        .collect();
    let about = match patterns.join(", ") {
        patterns if patterns.is_empty() => String::new(),
        patterns => format!(" about `{}`", shown(&patterns)),
    };
    let source = match &*rule.source {
        "" => String::new(),
        source => format!(" ({})", shown(source)),
    };
    format!(
        "`{action}: {}`{about}{source}",
        shown(&rule.tools.join(", "))
    )
}

fn compare_phases(
    level: &str,
    is_read_only: bool,
    before: &Phase,
    after: &Phase,
    lost: &mut Vec<String>,
) {
    let guards = LevelGuards {
        is_read_only,
        ..LevelGuards::of(before)
    };
    compare_levels(level, &guards, &LevelGuards::of(after), lost);
    flow::compare_phases(level, before, after, lost);
    for gate in &before.gate {
        if !after.gate.iter().any(|other| is_as_demanding(gate, other)) {
            lost.push(format!(
                "the check `{}` of {level} was removed or changed",
                gate.check.describe()
            ));
        }
    }
    match (&before.approve, &after.approve) {
        (Some(_), None) => lost.push(format!("the approval of {level} was removed")),
        (Some(Approval { show: was, .. }), Some(Approval { show: is, .. }))
            if was.is_some() && was != is =>
        {
            lost.push(format!(
                "the approval of {level} does not show the same file"
            ));
        }
        _ => {}
    }
}
