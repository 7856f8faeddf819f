//! Whole texts that the model reads about the rules of a phase.

use serde_json::{Value, json};
use workflow_core::approval::Proofs;
use workflow_core::definition::{
    Approval, ContextMode, Gate, OpenedTools, Opening, Phase, PhaseEntry, Rule, ToolAccess,
    Workflow,
};

use workflow_core::event::PlatformEvent;
use workflow_core::session::Abilities;

use crate::event::Event;
use crate::world::{World, guarded, line, phase, workflow};

fn rules(rules: &Value) -> Vec<Rule> {
    serde_json::from_value(rules.clone()).expect("they are rules")
}

fn gates(gates: &Value) -> Vec<Gate> {
    serde_json::from_value(gates.clone()).expect("they are checks")
}

fn cargo_test() -> Value {
    json!({"check": {"run": {"command": ["cargo", "test"], "timeout": 600, "exit": {"code": 0}}}, "source": "a.md:5"})
}

fn approval() -> Approval {
    Approval {
        targets: Vec::new(),
        comment: false,
        ask: "Publish?".to_owned(),
        choices: vec!["approve".to_owned(), "revise".to_owned()],
        show: Some("plan.md".to_owned()),
        source: "a.md:9".to_owned(),
    }
}

/// The end of a gate of one check with this verdict.
fn finished(world: &mut World, verdict: &Value) -> Vec<String> {
    let reason = if verdict == "passed" {
        ""
    } else {
        "it ended with exit code 101"
    };
    let report = json!({
        "what": "cargo test", "source": "a.md:5", "verdict": verdict, "reason": reason,
        "exit": 101, "durationMs": 3210, "tail": "1 failed",
    });
    let gate = world.gate;
    world.report(PlatformEvent::GateFinished {
        gate,
        reports: vec![serde_json::from_value(report).expect("it is a report")],
    })
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
        rules: rules(&json!([{"action":"allow", "tools": ["edit", "write"], "path": ["docs/**"]}])),
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
             **Phases:** A → B\n\
             **Current Phase:** 🔹 A\n**Progress:** Step 0 (1/2 phases)\n\n\
             **What to do in this phase:**\nDo a.\n\n\
             **Tools:** edit and write only in `docs/**`\n\n\
             {ADVANCE}"
        )
    );
    let said = world.call("write", &json!({"path": "src/a.rs", "content": ""}));
    assert_eq!(
        line(&said, "block"),
        "block by Policy: [workflow] The tool \"write\" is blocked during the A phase.\n\
         Refer to the current phase instructions for allowed tools and approaches.\n\
         When finished, call workflow_step to advance to the next phase.\n\
         Allowed in this phase: edit and write only in `docs/**`."
    );
}

#[test]
fn a_denial_names_the_beginning_of_a_long_list() {
    let mut long = phase("a");
    let names = (0..1000).map(|number| format!("tool_{number}")).collect();
    long.tools = Some(ToolAccess::Whitelist(names));
    let said = started(long).call("write", &json!({"path": "a.rs", "content": ""}));
    let said = line(&said, "block");
    let (_, allowed) = said
        .split_once("Allowed in this phase: ")
        .expect("it says what is allowed");
    assert!(allowed.starts_with("only tool_0, tool_1, "), "{allowed}");
    assert!(allowed.ends_with(", tool_49, and more."), "{allowed}");
}

#[test]
fn a_phase_that_is_entered_states_its_rules_and_what_is_needed_to_leave_it() {
    let mut work = workflow("w", &["a", "c"]);
    let gate = gates(&json!([
        {"check": {"run": {"command": ["cargo", "test"], "timeout": 600, "exit": {"code": 0}}}},
        {"check": {"git": "clean"}},
    ]));
    let approve = Approval {
        targets: Vec::new(),
        comment: false,
        ask: "Publish?".to_owned(),
        choices: vec!["approve".to_owned(), "revise".to_owned()],
        show: None,
        source: String::new(),
    };
    let second = Phase {
        gate,
        approve: Some(approve),
        rules: rules(
            &json!([{"action":"block", "tools": ["bash"], "command": ["git push", "npm publish"]}]),
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
         **To leave this phase:** `cargo test` must pass; git must be clean; then the user approves\n\n\
         **What to do in B:**\nDo b.";
    assert!(answer.contains(expected), "{answer}");
    assert_eq!(
        context(&mut world),
        "[Workflow path: N-w ▸ 🔹 B] New phase. All other rules are unchanged.\n\n\
         **Current Phase:** 🔹 B\n**Progress:** Step 1 (2/3 phases)"
    );
    let said = world.tool("status");
    let status = line(&said, "tool");
    let expected = "Z\n**Tools:** bash may not run `git push` or `npm publish`\n\
         **To leave this phase:** `cargo test` must pass; git must be clean; then the user approves\n\n\
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
        commands: vec![Opening::Command("cargo test*".to_owned())],
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
fn a_phase_with_rules_in_a_read_only_workflow_names_both() {
    let mut work = workflow("w", &[]);
    work.tools = Some(ToolAccess::ReadOnly {
        source: "w.yaml:4".to_owned(),
    });
    let block = json!({"action":"block", "tools": ["bash"], "command": ["git log *"]});
    work.phases = vec![PhaseEntry::Phase(Phase {
        rules: vec![serde_json::from_value(block).expect("it is a rule")],
        ..phase("a")
    })];
    let mut world = World::started(vec![work]);
    let said = context(&mut world);
    let tools = "**Tools:** read-only; bash may not run `git log *`\n";
    assert!(said.contains(tools), "{said}");
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
            said.contains("New role and phase. All other rules are unchanged.\n\nYou do the work"),
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
fn the_answer_that_enters_a_phase_names_its_subagents() {
    let entered = |context: Option<ContextMode>| {
        let mut work = workflow_of(documenting());
        work.context = context;
        crate::flow::edit(&mut work, "b", |b| {
            b.available_profiles = Some(vec!["coder".to_owned(), "tester".to_owned()]);
        });
        let mut world = World::started(vec![work]);
        line(&world.tool("next"), "tool").to_owned()
    };
    let profiles =
        "\n**Available subagent profiles for this phase:** coder, tester\n\n**What to do in ";
    assert!(entered(None).contains(profiles), "{}", entered(None));
    assert!(!entered(Some(ContextMode::EveryTurn)).contains("subagent"));
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
        "block by Policy: write: edit and write only in `docs/**`"
    );
}

#[test]
fn a_gate_that_fails_says_where_the_agent_is_and_what_to_do() {
    let mut world = started(Phase {
        gate: gates(&json!([cargo_test()])),
        ..phase("a")
    });
    world.tool("next");
    let said = finished(&mut world, &json!("failed"));
    let answer = line(&said, "settled tool #2 ");
    let expected = "You are still in A.\n\n\
         ✗ cargo test (3.2 s): it ended with exit code 101 [a.md:5]\n```\n1 failed\n```\n\n\
         ✗ Gate failed: cargo test (exit code 101). Fix what it found, then call workflow_step with action='next' again.";
    assert!(answer.contains(expected), "{answer}");
    world.tool("next");
    let said = finished(&mut world, &json!({"couldNotRun": "timeout"}));
    let answer = line(&said, "settled tool #3 ");
    let expected = "You are still in A.\n\n\
         ⚠ cargo test could not be checked: it ended with exit code 101 [a.md:5]\n```\n1 failed\n```\n\n\
         ⚠️ Gate not checked: cargo test (exit code 101). The check did not run, so the result of your work is unknown. Make the check run if you can. Otherwise tell the user.";
    assert!(answer.contains(expected), "{answer}");
}

#[test]
fn a_declined_approval_says_what_was_chosen_and_what_to_do() {
    let mut world = started(Phase {
        approve: Some(approval()),
        ..phase("a")
    });
    world.tool("next");
    let said = world.choose(Some("revise"));
    let answer = line(&said, "settled tool #2 ");
    let expected = "Not approved: the user was asked \"Publish?\" and chose \"revise\". You are still in A. Change what the user \
         wants changed, and ask if that is not clear. Then call workflow_step with action='next' again.";
    assert!(answer.contains(expected), "{answer}");
}

#[test]
fn a_missing_approval_says_that_the_agent_must_wait() {
    let mut world = started(Phase {
        approve: Some(approval()),
        ..phase("a")
    });
    world.restart_with(Abilities::default());
    let said = world.tool("next");
    let answer = line(&said, "tool");
    let expected = "⏸ Waiting for approval: Publish? (this host has no dialogs)\n\
         You are still in A. Stop here, and say what waits. The user answers in this session, or in a terminal with `workflow-sidecar \
         approve`. After that, call workflow_step with action='next' again.";
    assert!(answer.contains(expected), "{answer}");
    let notice = world.report(PlatformEvent::ApprovalRequested {
        proofs: Proofs::default(),
        code: "1234".to_owned(),
    });
    let expected = "Workflow N-w, phase 🔹 A (1 of 2) waits for your approval: Publish?\nAnswer here, or in a terminal with `workflow-sidecar approve 1234`.";
    assert!(
        line(&notice, "notify Warning").contains(expected),
        "{notice:?}"
    );
}

#[test]
fn a_dialog_for_approval_shows_the_phase_the_check_the_file_and_each_answer() {
    let mut world = started(Phase {
        gate: gates(&json!([cargo_test()])),
        approve: Some(approval()),
        ..phase("a")
    });
    world.tool("next");
    let said = finished(&mut world, &json!("passed"));
    assert_eq!(
        line(&said, "ask Publish?"),
        "ask Publish?: Workflow N-w, phase 🔹 A (1 of 2)\nDefined in: a.md:9\nCheck: ✓ cargo test (exit code 101, 3.2 s)\nFile: plan.md\n\n\
         \"approve\" goes to 🔹 B.\n\"revise\" stays in A, and the agent reads the answer.\n\
         = #1 [\"approve\", \"revise\"], shows plan.md"
    );
}

#[test]
fn a_dialog_for_trust_lists_each_command_once_with_its_locations() {
    let mut second = cargo_test();
    second["source"] = json!("b.md:7");
    let mut world = started(Phase {
        gate: gates(&json!([cargo_test(), second])),
        ..phase("a")
    });
    world.tool("next");
    let gate = world.gate;
    let said = world.report(PlatformEvent::GateNotTrusted { gate });
    assert_eq!(
        line(&said, "ask Run commands"),
        "ask Run commands of this project?: Workflow N-w, phase 🔹 A (1 of 2)\n\n\
         This phase is left only after its checks, which run commands of this project. You are asked because a project can \
         change its commands. The workflow runs:\n  cargo test  (a.md:5, b.md:7)\n\n\
         Yes: they run now and later, until one of them changes.\n\
         No: nothing runs, and the workflow stays in this phase.\n= #1 [], shows -"
    );
}

#[test]
fn a_denial_by_read_only_says_once_that_only_read_only_calls_are_allowed() {
    let mut world = started(Phase {
        tools: Some(ToolAccess::ReadOnly {
            source: "a.md:4".to_owned(),
        }),
        ..phase("a")
    });
    let said = world.call("edit", &json!({"path": "src/a.rs"}));
    assert_eq!(
        line(&said, "block"),
        "block by Policy: [workflow] The tool \"edit\" is blocked by the A phase (a.md:4): it is read-only. To allow \
         this, the user can add `writable: [\"src/a.rs\"]`.\n\
         Use another approach, or call workflow_step with action='next' if the phase is done."
    );
}

#[test]
fn a_denial_by_read_only_names_what_is_open() {
    let mut world = started(Phase {
        tools: Some(ToolAccess::ReadOnly {
            source: "a.md:4".to_owned(),
        }),
        writable: vec!["docs/**".to_owned()],
        commands: vec![
            Opening::Command("cargo test*".to_owned()),
            Opening::Tool(OpenedTools {
                tool: vec!["mcp__x__y".to_owned()],
            }),
        ],
        ..phase("a")
    });
    let open = "Only read-only calls, writing to `docs/**`, running `cargo test*` and calling `mcp__x__y` are allowed here.";
    let said = world.call("edit", &json!({"path": "src/a.rs"}));
    assert!(line(&said, "block").contains(open), "{said:?}");
    let said = world.call("bash", &json!({"command": "echo x > src/a.rs"}));
    assert_eq!(
        line(&said, "block"),
        format!(
            "block by Policy: [workflow] The tool \"bash\" is blocked by the A phase (a.md:4): it is read-only. It would \
         write: a redirection (src/a.rs).\nTo allow this, the user can add `writable: [\"src/a.rs\"]`.\n{open}\n\
         Use another approach, or call workflow_step with action='next' if the phase is done."
        )
    );
}
