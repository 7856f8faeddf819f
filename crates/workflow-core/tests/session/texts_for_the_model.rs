//! Whole texts that the model reads about the rules of a phase.

use serde_json::{Value, json};
use workflow_core::definition::{
    Approval, ContextMode, Gate, Phase, PhaseEntry, Rule, ToolAccess, Workflow,
};

use crate::event::Event;
use crate::world::{World, guarded, line, phase, workflow};

fn rules(rules: &Value) -> Vec<Rule> {
    serde_json::from_value(rules.clone()).expect("they are rules")
}

fn gates(gates: &Value) -> Vec<Gate> {
    serde_json::from_value(gates.clone()).expect("they are checks")
}

/// A run of this phase and of another one without rules.
fn started(first: Phase) -> World {
    World::started(vec![workflow_of(first)])
}

fn workflow_of(first: Phase) -> Workflow {
    let mut work = workflow("w", &["b"]);
    work.phases.insert(0, PhaseEntry::Phase(first));
    work
}

/// The phase A, in which edit and write are blocked except in docs.
fn documenting() -> Phase {
    Phase {
        rules: rules(
            &json!([{"verdict": "allow", "tools": ["edit", "write"], "path": ["docs/**"]}]),
        ),
        ..guarded("a", &["edit", "write"])
    }
}

fn context(world: &mut World) -> String {
    let lines = world.prompt("go");
    let context = line(&lines, "inject workflow:context ");
    let text = context.trim_start_matches("inject workflow:context ");
    // The end of the task id is random.
    let (start, rest) = text.split_once("**Task ID:** ").unwrap_or((text, "\n"));
    let (_, rest) = rest.split_once('\n').unwrap_or_default();
    format!("{start}{rest}")
}

const ADVANCE: &str = "When you finish this phase, call the workflow_step tool with action='next' to advance to the next \
                       phase. If you need to restart the current scope from the beginning, use action='loop'.";

#[test]
fn a_list_with_exceptions_is_described_together_with_them() {
    let mut world = started(documenting());
    assert_eq!(
        context(&mut world),
        format!(
            "[Workflow path: N-w ▸ 🔹 A]\n\n\
             You do the work of this workflow yourself, one phase at a time. Follow the instructions of the current phase and \
             use only the tools that it allows.\n\n\
             **Task:** the task\n\
             **Current Phase:** 🔹 A\n**Progress:** Step 0 (1/2 phases)\n\n\
             **What to do in this phase:**\nDo a.\n\n\
             **Tools:** edit and write only in `docs/**`\n\n\
             {ADVANCE}"
        )
    );
    let said = world.call("write", &json!({"path": "src/a.rs", "content": ""}));
    assert_eq!(
        line(&said, "block"),
        "block by Rule: [workflow] The tool \"write\" is blocked during the A phase.\n\
         Refer to the current phase instructions for allowed tools and approaches.\n\
         When finished, call workflow_step to advance to the next phase.\n\
         Allowed in this phase: edit and write only in `docs/**`."
    );
}

#[test]
fn a_phase_that_is_entered_states_its_rules_and_what_is_needed_to_leave_it() {
    let mut work = workflow("w", &["a", "c"]);
    let gate = gates(&json!([
        {"check": {"run": {"command": ["cargo", "test"], "timeout": 600, "exit": {"code": 0}}}},
        {"check": {"git": "clean"}},
    ]));
    let approve = Approval {
        ask: "Publish?".to_owned(),
        choices: vec!["approve".to_owned(), "revise".to_owned()],
        show: None,
        source: String::new(),
    };
    let second = Phase {
        gate,
        approve: Some(approve),
        rules: rules(
            &json!([{"verdict": "block", "tools": ["bash"], "command": ["git push", "npm publish"]}]),
        ),
        ..phase("b")
    };
    work.phases.insert(1, PhaseEntry::Phase(second));
    let mut world = World::started(vec![work]);
    context(&mut world);
    let said = world.tool("next");
    let answer = line(&said, "tool");
    let expected = "✓ Advanced: A → 🔹 B\n\n\
         **Tools:** bash may not run `git push` or `npm publish`\n\
         **To leave this phase:** `cargo test` must pass; git must be clean; then a person approves\n\n\
         **What to do in B:**\nDo b.";
    assert!(answer.contains(expected), "{answer}");
    assert_eq!(
        context(&mut world),
        "[Workflow path: N-w ▸ 🔹 B] Changed: phase. Everything else still applies.\n\n\
         **Current Phase:** 🔹 B\n**Progress:** Step 1 (2/3 phases)"
    );
    let said = world.tool("status");
    let status = line(&said, "tool");
    let expected = "Z\n**Tools:** bash may not run `git push` or `npm publish`\n\
         **To leave this phase:** `cargo test` must pass; git must be clean; then a person approves\n\n\
         **What to do:**\nDo b.\n\n**Available profiles:** (none)";
    assert!(status.contains(expected), "{status}");
}

#[test]
fn a_read_only_phase_names_what_is_open() {
    let first = Phase {
        tools: Some(ToolAccess::ReadOnly {
            source: "a.md:4".to_owned(),
        }),
        writable: vec!["docs/**".to_owned()],
        run: vec!["cargo test*".to_owned()],
        ..phase("a")
    };
    let mut world = started(first);
    let tools = "**Tools:** read-only, except writing to `docs/**` and running `cargo test*`\n\n";
    let said = context(&mut world);
    assert!(said.contains(tools), "{said}");
    let said = world.tool("next");
    let answer = line(&said, "tool");
    assert!(
        answer.contains("\n\n**Tools:** all\n\n**What to do in B:**"),
        "{answer}"
    );
}

#[test]
fn a_phase_in_which_nothing_can_be_changed_says_so_in_the_role() {
    let closed = Phase {
        tools: Some(ToolAccess::ReadOnly {
            source: String::new(),
        }),
        ..phase("a")
    };
    for first in [guarded("a", &["edit", "write"]), closed] {
        let mut world = started(first);
        let said = context(&mut world);
        assert!(
            said.contains("it allows. Do not change files in this phase.\n\n"),
            "{said}"
        );
        world.tool("next");
        let said = context(&mut world);
        assert!(
            said.contains(
                "Changed: role, phase. Everything else still applies.\n\nYou do the work"
            ),
            "{said}"
        );
        assert!(!said.contains("Do not change files"), "{said}");
    }
}

#[test]
fn a_definition_that_names_subagents_has_the_text_of_the_package() {
    let mut world = started(Phase {
        available_profiles: Some(vec!["coder".to_owned()]),
        ..documenting()
    });
    let said = context(&mut world);
    assert!(
        said.contains("\n\nYou are the ORCHESTRATOR for this workflow."),
        "{said}"
    );
    assert!(
        said.contains("**Tools:** edit and write only in `docs/**`\n**Available subagent profiles for this phase:** coder\n"),
        "{said}"
    );
}

#[test]
fn every_turn_states_rules_only_where_the_package_knows_none_of_them() {
    let text = |first: Phase| {
        let mut work = workflow_of(first);
        work.context = Some(ContextMode::EveryTurn);
        let mut world = World::started(vec![work]);
        let blocked = world.call("write", &json!({"path": "src/a.rs"}));
        let blocked = blocked.concat();
        let status = world.tool("status").concat();
        (context(&mut world) + &blocked + &status, world)
    };
    let (of_package, _) = text(guarded("a", &["edit", "write"]));
    assert!(
        of_package.contains("You are the ORCHESTRATOR"),
        "{of_package}"
    );
    assert!(
        of_package.contains("**All profiles:** \n\n"),
        "{of_package}"
    );
    for ours in ["**Tools:**", "To leave", "Allowed in"] {
        assert!(!of_package.contains(ours), "{of_package}");
    }
    let (ours, mut world) = text(documenting());
    assert!(ours.contains("You do the work"), "{ours}");
    assert_eq!(
        ours.matches("**Tools:** edit and write only in `docs/**`")
            .count(),
        2,
        "{ours}"
    );
    world.step(Event::Compacted);
    assert!(context(&mut world).contains("**Tools:**"));
}

#[test]
fn a_list_with_rules_names_both_in_the_template_of_the_definition() {
    let mut work = workflow_of(documenting());
    work.templates.block_reason_template = Some("{toolName}: {allowedTools}".to_owned());
    let mut world = World::started(vec![work]);
    let said = world.call("write", &json!({"path": "src/a.rs"}));
    assert_eq!(
        line(&said, "block"),
        "block by Rule: write: edit and write only in `docs/**`"
    );
}
