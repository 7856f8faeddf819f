//! `workflow_step`.

use workflow_core::session::StepCall;

use crate::event::Event;
use crate::world::{World, line, workflow};

fn nested() -> World {
    World::started(vec![
        workflow("w", &["a", "{s}", "b"]),
        workflow("s", &["x", "y"]),
    ])
}

fn first_line(lines: &[String]) -> &str {
    line(lines, "tool").lines().next().unwrap_or_default()
}

#[test]
fn without_a_run_every_action_reports_it() {
    let mut world = World::new(vec![workflow("w", &["a"])]);
    let none = "tool No active workflow. Use /workflow {name} {description} to start one.\n= None {\"active\":false}";
    assert_eq!(world.tool("status"), [none]);
    assert_eq!(world.tool("next"), [none]);
    assert_eq!(
        world.tool("loop"),
        ["tool No active workflow to loop.\n= None {\"active\":false}"]
    );
    assert_eq!(
        world.tool("cancel"),
        ["tool No active workflow to cancel.\n= None {\"active\":false}"]
    );
}

#[test]
fn an_unknown_action_is_an_error_with_the_known_ones() {
    let mut world = nested();
    assert!(
        line(&world.tool("advance"), "tool").contains(r#""next", "status", "cancel" or "loop""#)
    );
    assert!(line(&world.call_step(StepCall::default()), "tool").contains("needs an action"));
}

#[test]
fn next_walks_in_and_out_of_subworkflows() {
    let mut world = nested();
    assert_eq!(
        first_line(&world.tool("next")),
        "tool ✓ Entered subworkflow 'N-s': A → 🔹 X"
    );
    assert_eq!(first_line(&world.tool("next")), "tool ✓ Advanced: X → 🔹 Y");
    assert_eq!(
        first_line(&world.tool("next")),
        "tool ✓ Exited subworkflow, returning to N-w: Y → 🔹 B"
    );
    let done = world.tool("next");
    assert_eq!(
        line(&done, "tool"),
        "tool ✓ Advanced: B → DONE\n\n🎉 **All phases complete!**\n= Some(Complete) {\"advanced\":true,\"from\":\"B\",\"to\":\"DONE\"}"
    );
    assert_eq!(line(&done, "status"), "status -");
    let state = world.last_state();
    assert_eq!(
        (&state["active"], &state["globalStepCount"]),
        (&false.into(), &4.into())
    );
}

#[test]
fn a_run_that_ends_inside_a_subworkflow_keeps_a_valid_path() {
    let mut world = World::started(vec![workflow("w", &["a", "{s}"]), workflow("s", &["x"])]);
    world.tool("next");
    world.tool("next");
    assert_eq!(
        world.last_state()["currentPath"],
        serde_json::json!([{ "workflowKey": "w", "phaseIndex": 1 }])
    );
}

#[test]
fn next_tells_what_to_do_with_the_variables_filled_in() {
    let mut own = workflow("w", &["a", "b"]);
    let workflow_core::definition::PhaseEntry::Phase(phase) = &mut own.phases[1] else {
        panic!("b is a phase")
    };
    phase.instructions = "After {previousPhaseName}: {taskId} {unknown}".to_owned();
    let mut world = World::started(vec![own]);
    let answer = world.tool("next");
    let task_id = world.last_state()["taskId"]
        .as_str()
        .expect("a task has an id")
        .to_owned();
    let expect = format!(
        "tool ✓ Advanced: A → 🔹 B\n\n**What to do in B:**\nAfter A: {task_id} {{unknown}}\n= None {{\"advanced\":true,\"from\":\"A\",\"to\":\"B\"}}"
    );
    assert_eq!(line(&answer, "tool"), expect);
}

#[test]
fn loop_enters_the_first_phase_even_when_the_scope_opens_with_a_subworkflow() {
    let mut world = World::started(vec![workflow("w", &["{s}", "b"]), workflow("s", &["x"])]);
    world.tool("next");
    assert_eq!(
        first_line(&world.tool("loop")),
        "tool 🔄 Looped 'N-w' back to: 🔹 X"
    );
    assert_eq!(
        first_line(&world.tool("next")),
        "tool ✓ Exited subworkflow, returning to N-w: X → 🔹 B"
    );
}

#[test]
fn loop_restarts_the_innermost_scope_only() {
    let mut world = nested();
    world.tool("next");
    world.tool("next");
    let looped = world.tool("loop");
    assert_eq!(first_line(&looped), "tool 🔄 Looped 'N-s' back to: 🔹 X");
    assert_eq!(
        line(&looped, "status"),
        "status N-w > N-s [2/3] > 🔹 X [1/2]"
    );
}

#[test]
fn a_loop_that_is_not_allowed_is_refused_and_says_what_to_do() {
    let mut own = workflow("w", &["a"]);
    own.loopable = false;
    let mut world = World::started(vec![own]);
    assert_eq!(
        world.tool("loop"),
        [
            "tool ⚠️ Looping is disabled for this workflow. You are still in this phase. Continue with it, and call workflow_step \
             with action='next' when it is done.\n= Some(Error) {\"active\":true,\"error\":\"Looping is disabled for this workflow.\"}"
        ]
    );
}

#[test]
fn cancel_needs_two_calls_in_a_row() {
    let mut world = nested();
    assert!(
        first_line(&world.tool("cancel"))
            .contains("**Confirm cancellation** of workflow \"the task\"?")
    );
    assert!(
        line(&world.tool("cancel"), "tool")
            .starts_with("tool Workflow cancelled: \"the task\"\n= Some(Cancel) ")
    );
    let state = world.last_state();
    assert_eq!(
        (&state["active"], &state["cancelled"]),
        (&false.into(), &true.into())
    );
    assert!(state.get("_cancelPending").is_none());
}

#[test]
fn a_first_cancel_is_forgotten_at_anything_but_the_end_of_the_turn() {
    type Between = fn(&mut World);
    let cases: [(&str, Between, bool); 6] = [
        ("turn end", |world| drop(world.step(Event::TurnEnd)), true),
        ("status", |world| drop(world.tool("status")), false),
        ("next", |world| drop(world.tool("next")), false),
        ("prompt", |world| drop(world.prompt("hello")), false),
        ("agent end", |world| drop(world.stop("aborted")), false),
        ("reload", |world| drop(world.reload()), false),
    ];
    for (name, between, stands) in cases {
        let mut world = nested();
        world.tool("cancel");
        between(&mut world);
        let cancelled = line(&world.tool("cancel"), "tool").contains("Workflow cancelled");
        assert_eq!(cancelled, stands, "{name}");
    }
}

#[test]
fn one_response_moves_the_run_once() {
    let mut world = nested();
    world.step(Event::TurnStart { index: None });
    world.tool("next");
    for action in ["next", "loop"] {
        let refused = world.tool(action);
        assert_eq!(refused.len(), 1, "nothing but the answer: {refused:?}");
        assert!(refused[0].contains("Do what this phase asks first"));
    }
    world.step(Event::TurnEnd);
    world.step(Event::TurnStart { index: None });
    world.tool("loop");
    for action in ["next", "loop"] {
        assert!(world.tool(action)[0].contains("Do what this phase asks first"));
    }
    world.step(Event::TurnEnd);
    world.step(Event::TurnStart { index: None });
    assert_eq!(first_line(&world.tool("next")), "tool ✓ Advanced: X → 🔹 Y");
}

#[test]
fn status_shows_the_position_in_the_innermost_scope() {
    let mut world = nested();
    world.tool("next");
    let status = world.tool("status");
    let text = line(&status, "tool");
    assert!(text.contains("\n**Path:** N-w > N-s\n**Phase:** 🔹 X [1/2] (step 1)\n**Started:** 2025-05-14T14:56:07.890Z\n"));
    assert!(text.contains("**What to do:**\nDo x.\n\n**Available profiles:** (none)\n= None "));
}

#[test]
fn a_run_started_in_the_same_response_has_not_been_moved_yet() {
    let mut world = nested();
    world.step(Event::TurnStart { index: None });
    world.tool("next");
    world.cancel_command();
    world.command("w again");
    assert!(first_line(&world.tool("next")).starts_with("tool ✓ Entered"));
}
