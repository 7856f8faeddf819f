//! All small catalogs: `w0` may contain `w1` and `w2`, `w1` may contain `w2`.

use serde_json::json;
use workflow_core::definition::{
    Approval, Bound, ContinueRule, Gate, Guards, Phase, PhaseEntry, Rule, RuleAction, Settings,
    Show, ToolAccess, Workflow,
};

/// An entry of a scope: a phase, or the number of a workflow.
type Shape = Vec<Option<usize>>;

/// Every list of so many of these at most, but the empty one.
fn lists(of: &[Option<usize>], most: usize) -> Vec<Shape> {
    let mut all: Vec<Shape> = Vec::new();
    let mut longest: Vec<Shape> = vec![Vec::new()];
    for _ in 0..most {
        let longer = longest.iter().flat_map(|list| {
            of.iter().map(|entry| {
                let mut list = list.clone();
                list.push(*entry);
                list
            })
        });
        longest = longer.collect();
        all.extend(longest.iter().cloned());
    }
    all
}

/// The catalogs with so many entries in a scope at most. No two are the same for a run: what the root does not
/// reach has one shape.
pub(crate) fn catalogs(most: usize) -> Vec<Vec<Workflow>> {
    let mut all = Vec::new();
    for root in lists(&[None, Some(1), Some(2)], most) {
        let inner = if root.contains(&Some(1)) { most } else { 1 };
        for middle in lists(&[None, Some(2)], inner) {
            let reaches = root.contains(&Some(2)) || inner > 1 && middle.contains(&Some(2));
            if inner == 1 && middle != [None] {
                continue;
            }
            for leaf in lists(&[None], if reaches { most } else { 1 }) {
                let decoration = all.len();
                all.push(decorated(&[&root, &middle, &leaf], decoration));
            }
        }
    }
    all
}

/// Gives the phases and workflows of a shape their fields: the next shape gives others the same.
fn decorated(shapes: &[&Shape], decoration: usize) -> Vec<Workflow> {
    let mut number = decoration;
    let mut workflows = Vec::new();
    for (at, shape) in shapes.iter().enumerate() {
        let entry = |(nth, entry): (usize, &Option<usize>)| {
            if let Some(inner) = entry {
                return PhaseEntry::Subworkflow(format!("w{inner}").into());
            }
            number += 1;
            PhaseEntry::Phase(phase(&format!("p{at}x{nth}"), number))
        };
        workflows.push(Workflow {
            key: format!("w{at}"),
            name: format!("W{at}"),
            command_name: format!("w{at}"),
            initial_message: "Go".to_owned(),
            show: if at == 0 { Show::User } else { Show::Workflows },
            loopable: !(decoration + at).is_multiple_of(3),
            tools: (at == 1).then(|| ToolAccess::Whitelist(names(&["read", "edit", "bash"]))),
            rules: if at == 2 {
                vec![rule(RuleAction::Block, "bash")]
            } else {
                Vec::new()
            },
            phases: shape.iter().enumerate().map(entry).collect(),
            ..Workflow::default()
        });
    }
    workflows
}

/// Settings that push once, after a second, and say something about tools.
pub(crate) fn settings() -> Settings {
    Settings {
        auto_continue: ContinueRule {
            max: Some(Bound::Times(1)),
            countdown: Some(1),
            ..ContinueRule::default()
        },
        user: Guards {
            tools: Some(ToolAccess::Blacklist(names(&["format_disk"]))),
            ..Guards::default()
        },
        ..Settings::default()
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn rule(action: RuleAction, tool: &str) -> Rule {
    Rule {
        action,
        tools: names(&[tool]),
        path: Vec::new(),
        command: Vec::new(),
        writes: None,
        unknown: None,
        input: Vec::new(),
        on_repeat: None,
        reason: None,
        notify: false,
        except: Vec::new(),
        source: String::new(),
    }
}

fn phase(id: &str, number: usize) -> Phase {
    let tools = match number % 4 {
        0 => Some(ToolAccess::Blacklist(names(&["edit"]))),
        1 => Some(ToolAccess::Whitelist(names(&["read"]))),
        _ => None,
    };
    let rules = match number % 4 {
        1 => vec![
            rule(RuleAction::Allow, "edit"),
            rule(RuleAction::Block, "edit"),
        ],
        2 => vec![rule(RuleAction::Ask, "edit")],
        _ => Vec::new(),
    };
    let gate: Vec<Gate> = serde_json::from_value(json!([
        {"check": {"run": {"command": ["true"], "timeout": 1, "exit": {"code": 0}}}}
    ]))
    .expect("it is a check");
    Phase {
        id: id.to_owned(),
        name: id.to_uppercase(),
        emoji: "🔹".to_owned(),
        instructions: "Do it.".to_owned(),
        tools,
        rules,
        gate: if number % 5 == 1 { gate } else { Vec::new() },
        approve: (number % 5 < 2).then(|| Approval {
            ask: "OK?".to_owned(),
            choices: names(&["approve", "revise"]),
            targets: Vec::new(),
            comment: false,
            show: None,
            source: String::new(),
        }),
        auto_continue: ContinueRule {
            wait: (number % 7 == 3).then_some(true),
            ..ContinueRule::default()
        },
        ..Phase::default()
    }
}
