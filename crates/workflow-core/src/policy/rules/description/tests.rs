use serde_json::{Value, json};

use super::super::level_rules::RuleSource;
use super::super::read_only::ReadOnly;
use super::*;
use crate::definition::Opening;

fn rules(rules: &Value) -> Vec<Rule> {
    let one = |rule: &Value| {
        let mut rule = rule.clone();
        for action in ["allow", "ask", "block"] {
            if let Some(tools) = rule.as_object_mut().and_then(|rule| rule.remove(action)) {
                rule["action"] = json!(action);
                rule["tools"] = if tools.is_array() {
                    tools
                } else {
                    json!([tools])
                };
            }
        }
        serde_json::from_value(rule).expect("it is a rule")
    };
    rules
        .as_array()
        .expect("it is a list")
        .iter()
        .map(one)
        .collect()
}

fn level<'a>(tools: Option<&'a ToolAccess>, rules: &'a [Rule]) -> LevelRules<'a> {
    LevelRules {
        name: "the A phase".into(),
        source: RuleSource::Phase,
        tools,
        rules: rules.into(),
        read_only: None,
        unknown: None,
        on_repeat: None,
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn blacklist(tools: &[&str], list: &Value) -> Option<String> {
    let (tools, rules) = (ToolAccess::Blacklist(names(tools)), rules(list));
    Description(&[level(Some(&tools), &rules)]).text()
}

fn whitelist(tools: &[&str], list: &Value) -> Option<String> {
    let (tools, rules) = (ToolAccess::Whitelist(names(tools)), rules(list));
    Description(&[level(Some(&tools), &rules)]).text()
}

fn only_rules(list: &Value) -> Option<String> {
    let rules = rules(list);
    Description(&[level(None, &rules)]).text()
}

#[test]
fn a_list_is_described_by_its_tools() {
    let none = json!([]);
    assert_eq!(
        blacklist(&["edit", "write"], &none).as_deref(),
        Some("all except edit and write")
    );
    assert_eq!(
        whitelist(&["read", "grep"], &none).as_deref(),
        Some("only read and grep")
    );
    assert_eq!(whitelist(&[], &none).as_deref(), Some("only workflow_step"));
    assert_eq!(blacklist(&[], &none), None);
    assert_eq!(blacklist(&["workflow_step"], &none), None);
    assert_eq!(only_rules(&none), None);
}

#[test]
fn a_tool_that_a_rule_opens_is_not_described_by_its_list_alone() {
    let docs = json!([{"allow": ["write", "edit"], "path": ["docs/**"]}]);
    assert_eq!(
        blacklist(&["edit", "write", "bash"], &docs).as_deref(),
        Some("all except bash; edit and write only in `docs/**`")
    );
    assert_eq!(
        whitelist(&["read"], &docs).as_deref(),
        Some("only read, and write and edit in `docs/**`")
    );
    let all = json!([{"allow": "edit"}]);
    assert_eq!(
        blacklist(&["edit", "write"], &all).as_deref(),
        Some("all except write")
    );
}

#[test]
fn rules_without_a_list_are_described_one_by_one() {
    let list = json!([
        {"block": "bash", "command": ["git push", "npm publish"]},
        {"block": ["edit", "write"], "path": [".env"]},
        {"ask": "bash", "command": ["make *"]},
        {"block": "*", "path": ["secrets/**"]},
        {"block": "mcp__*", "writes": true, "path": ["./**"]},
    ]);
    assert_eq!(
        only_rules(&list).as_deref(),
        Some(
            "bash may not run `git push` or `npm publish`; edit and write may not write to `.env`; \
             bash may run `make *` only if the user agrees; no tool may access `secrets/**`; \
             mcp__* may not write to this project"
        )
    );
}

#[test]
fn an_earlier_rule_that_allows_is_an_exception_of_a_later_one() {
    let list = json!([
        {"allow": "bash", "command": ["cargo test *"]},
        {"block": "bash", "writes": true},
        {"allow": "write", "path": ["docs/**"]},
        {"block": "write"},
    ]);
    assert_eq!(
        only_rules(&list).as_deref(),
        Some("write only in `docs/**`; bash may not write files, except to run `cargo test *`")
    );
    let unrelated = json!([
        {"allow": "bash", "command": ["git status"]},
        {"block": "bash", "command": ["npm publish"]},
    ]);
    assert_eq!(
        only_rules(&unrelated).as_deref(),
        Some("bash may not run `npm publish`")
    );
}

#[test]
fn a_rule_that_blocks_every_tool_is_described_as_a_list() {
    let list = json!([{"allow": ["read", "grep"]}, {"block": "*"}]);
    assert_eq!(only_rules(&list).as_deref(), Some("only read and grep"));
}

#[test]
fn a_rule_that_cannot_act_is_left_out() {
    let list = json!([{"block": "bash", "command": ["git push"]}]);
    assert_eq!(
        blacklist(&["bash"], &list).as_deref(),
        Some("all except bash")
    );
}

#[test]
fn an_inner_level_opens_nothing_that_an_outer_one_blocks() {
    let outer = ToolAccess::Blacklist(names(&["write"]));
    let inner = ToolAccess::Whitelist(names(&["read", "write", "bash"]));
    let opened = rules(&json!([{"allow": "write", "path": ["docs/**"]}]));
    let levels = [level(Some(&outer), &[]), level(Some(&inner), &opened)];
    assert_eq!(
        Description(&levels).text().as_deref(),
        Some("only read and bash")
    );
}

#[test]
fn read_only_is_described_with_what_is_open() {
    let writable = names(&["docs/**"]);
    let opened = json!(["cargo test*", {"tool": ["mcp__x__do"]}]);
    let opened: Vec<Opening> = serde_json::from_value(opened).unwrap();
    let list = rules(&json!([{"block": "bash", "command": ["git push"]}]));
    let levels = [LevelRules {
        read_only: Some(ReadOnly::new("f:1", &writable, &opened)),
        ..level(None, &list)
    }];
    assert_eq!(
        Description(&levels).text().as_deref(),
        Some(
            "read-only, except writing to `docs/**`, running `cargo test*` and calling `mcp__x__do`; bash may not run `git push`"
        )
    );
}

#[test]
fn edits_are_forbidden_where_every_call_of_both_tools_is_blocked() {
    let forbids = |tools: &[&str], list: &Value| {
        let (tools, rules) = (ToolAccess::Blacklist(names(tools)), rules(list));
        Description(&[level(Some(&tools), &rules)]).forbids_edits()
    };
    assert!(forbids(&["edit", "write"], &json!([])));
    assert!(!forbids(&["edit"], &json!([])));
    assert!(!forbids(
        &["edit", "write"],
        &json!([{"allow": "write", "path": ["docs/**"]}])
    ));
}
