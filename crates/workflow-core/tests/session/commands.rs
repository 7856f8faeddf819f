//! `/workflow` and `/cancel-workflow`.

use workflow_core::definition::Show;

use crate::world::{World, line, workflow};

#[test]
fn a_start_stores_then_shows_then_speaks() {
    let mut world = World::new(vec![workflow("w", &["a", "b"])]);
    assert_eq!(
        world.command("w  the task \n"),
        [
            r#"entry workflow:state {"active":true,"workflowKey":"w","currentPath":[{"workflowKey":"w","phaseIndex":0}],"globalStepCount":0,"taskId":"wf-1747234567890-3t8xrq","taskDescription":"the task","startedAt":1747234567890,"completionNotified":false,"cancelled":false}"#,
            r#"entry workflow:definition {"version":1,"taskId":"wf-1747234567890-3t8xrq","hash":"5bf7f72e0a1a5a7cfa37b400a95a614e","workflows":[{"key":"w","name":"N-w","commandName":"w","initialMessage":"Start {workflowName}: {description}","show":"user","loopable":true,"sessionNamePrefix":null,"sessionNameMaxLength":null,"templates":{"roleInstruction":null,"advanceReminder":null,"blockReasonTemplate":null,"completionMessage":null,"cancelledMessage":null,"notDoneReminder":null},"continue":{"wait":null,"max":null,"maxStale":null,"onError":null,"onQuestion":null,"onLimit":null,"countdown":null},"context":null,"phases":[{"phase":{"id":"a","name":"A","emoji":"🔹","instructions":"Do a.","tools":null,"availableProfiles":null,"continue":{"wait":null,"max":null,"maxStale":null,"onError":null,"onQuestion":null,"onLimit":null,"countdown":null}}},{"phase":{"id":"b","name":"B","emoji":"🔹","instructions":"Do b.","tools":null,"availableProfiles":null,"continue":{"wait":null,"max":null,"maxStale":null,"onError":null,"onQuestion":null,"onLimit":null,"countdown":null}}}]}]}"#,
            "status N-w > 🔹 A [1/2]",
            "name Workflow: the task",
            "user (if idle) Start N-w: the task"
        ]
    );
    let state = world.last_state();
    assert_eq!(
        state["currentPath"],
        serde_json::json!([{ "workflowKey": "w", "phaseIndex": 0 }])
    );
    assert_eq!(state["startedAt"], world.now);
    assert_eq!(state["taskDescription"], "the task");
    assert!(state.get("_cancelPending").is_none());
}

#[test]
fn without_arguments_the_startable_workflows_are_listed() {
    let hidden = workflow_core::definition::Workflow {
        show: Show::Workflows,
        ..workflow("h", &["x"])
    };
    let mut world = World::new(vec![workflow("w", &["a"]), hidden, workflow("v", &["a"])]);
    let listing = "notify Info Usage: /workflow {name} {description}\n\nAvailable workflows:\n  w — N-w\n  v — N-v";
    assert_eq!(world.command(" \u{FEFF} "), [listing]);
}

#[test]
fn a_description_is_needed() {
    let mut world = World::new(vec![workflow("w", &["a"])]);
    assert_eq!(
        world.command("w \u{A0}"),
        ["notify Warning Usage: /workflow w {description}"]
    );
}

#[test]
fn an_unknown_name_is_answered_with_the_startable_ones() {
    let hidden = workflow_core::definition::Workflow {
        show: Show::Workflows,
        ..workflow("h", &["x"])
    };
    let mut world = World::new(vec![hidden, workflow("w", &["a"])]);
    assert_eq!(
        world.command("nope x"),
        ["notify Error Unknown workflow: \"nope\". Available: w"]
    );
    // Also before a description is asked for.
    assert_eq!(
        world.command("nope"),
        ["notify Error Unknown workflow: \"nope\". Available: w"]
    );
    assert!(
        line(&world.command("h x"), "notify Error")
            .contains("only run as part of another workflow")
    );
    world.workflows.clear();
    assert_eq!(
        line(&world.command(""), "notify Info").lines().last(),
        Some("  (none)")
    );
    assert_eq!(
        world.command("w x"),
        ["notify Error Unknown workflow: \"w\". Available: (none)"]
    );
}

#[test]
fn a_misspelled_name_is_answered_with_a_suggestion() {
    let mut world = World::new(vec![
        workflow("review", &["a"]),
        workflow("release", &["a"]),
    ]);
    assert_eq!(
        world.command("reveiw it"),
        [
            "notify Error Unknown workflow: \"reveiw\". Available: review, release\n\nDid you mean \"review\"?"
        ]
    );
}

#[test]
fn a_visible_workflow_wins_over_an_internal_one_with_the_same_command() {
    let mut hidden = workflow("h", &["x"]);
    hidden.show = Show::Workflows;
    hidden.command_name = "w".to_owned();
    let mut world = World::new(vec![hidden, workflow("w", &["a"])]);
    assert_eq!(
        line(&world.command("w x"), "status"),
        "status N-w > 🔹 A [1/1]"
    );
}

#[test]
fn a_second_start_asks_and_is_answered_only_then() {
    let mut world = World::started(vec![workflow("w", &["a"]), workflow("v", &["x"])]);
    assert_eq!(
        world.command("v other"),
        [
            "later #2",
            "ask Workflow already active: Phase: A\nTask: the task\n\nStart a new one?\n= #1 [], shows -"
        ]
    );
    assert_eq!(
        line(&world.tool("status"), "tool").lines().next(),
        Some("tool **Workflow:** N-w (w)")
    );
    let lines = world.answer(true);
    assert_eq!(lines[0], "settled none #2");
    assert_eq!(line(&lines, "status"), "status N-v > 🔹 X [1/1]");
}

#[test]
fn a_declined_start_leaves_the_run_and_its_definitions_alone() {
    let mut world = World::started(vec![workflow("w", &["a", "b"])]);
    world.workflows = vec![workflow("w", &["z"])];
    world.command("w other");
    assert_eq!(world.answer(false), ["settled none #2"]);
    assert!(line(&world.tool("next"), "tool").starts_with("tool ✓ Advanced: A → 🔹 B"));
}

#[test]
fn an_answer_after_the_session_changed_starts_nothing() {
    let mut world = World::started(vec![workflow("w", &["a"]), workflow("v", &["x"])]);
    world.command("v other");
    assert!(world.reload().contains(&"settled none #2".to_owned()));
    assert_eq!(
        world.answer(true),
        [
            "notify Warning [workflow] Your answer to \"Workflow already active\" came too late and has no effect. No \
          workflow was started. The workflow is in A."
        ]
    );
}

#[test]
fn a_host_without_dialogs_gets_instructions() {
    let abilities = workflow_core::session::Abilities::default();
    let mut world = World::new(vec![workflow("w", &["a"])]);
    world.session = workflow_core::Session::new(abilities, 1);
    world.command("w one");
    assert!(line(&world.command("w two"), "notify Warning").contains("/cancel-workflow"));
}

#[test]
fn cancelling_ends_the_run_for_good() {
    let mut world = World::started(vec![workflow("w", &["a"])]);
    let lines = world.cancel_command();
    assert_eq!(
        lines[0],
        r#"entry workflow:state {"active":false,"workflowKey":"w","currentPath":[{"workflowKey":"w","phaseIndex":0}],"globalStepCount":0,"taskId":"wf-1747234567890-3t8xrq","taskDescription":"the task","startedAt":1747234567890,"completionNotified":true,"cancelled":true}"#
    );
    assert_eq!(lines[1], "status -");
    assert!(
        lines[2].starts_with("message workflow:complete ❌ Workflow Cancelled\n\nTask: the task\n")
    );
    assert_eq!(lines[3], "notify Info Workflow cancelled.");
    assert_eq!(world.last_state()["completionNotified"], true);
    world.reload();
    assert!(world.stop("stop").is_empty());
    assert_eq!(
        world.cancel_command(),
        ["notify Info No active workflow to cancel."]
    );
}

#[test]
fn a_cancelled_run_may_have_a_separate_message() {
    let mut own = workflow("w", &["a"]);
    own.templates.cancelled_message = Some("Stopped {taskDescription}".to_owned());
    let mut world = World::started(vec![own]);
    assert_eq!(
        line(&world.cancel_command(), "message"),
        "message workflow:complete Stopped the task\n\nTime: 0 s"
    );
}

#[test]
fn a_session_name_is_cut_to_its_length() {
    let mut named = workflow("w", &["a"]);
    named.session_name_prefix = Some("W: ".to_owned());
    named.session_name_max_length = Some(3);
    let mut world = World::new(vec![named]);
    assert_eq!(line(&world.command("w ab😀😀"), "name"), "name W: ab…");
}

#[test]
fn a_description_may_be_long_and_survives_but_has_an_end() {
    let mut world = World::new(vec![workflow("w", &["a"])]);
    world.command(&format!("w {}", "x".repeat(300_000)));
    assert_eq!(line(&world.reload(), "status"), "status N-w > 🔹 A [1/1]");
    world.cancel_command();
    let refused = world.command(&format!("w {}", "x".repeat(2 << 20)));
    assert!(line(&refused, "notify Error").contains("longer than 1 MiB"));
}

#[test]
fn consent_applies_only_to_the_run_of_the_question() {
    let mut world = World::started(vec![workflow("w", &["a"]), workflow("v", &["x"])]);
    world.command("v one");
    world.command("v two");
    assert_eq!(
        line(&world.answer(true), "status"),
        "status N-v > 🔹 X [1/1]"
    );
    let late = world.answer(true);
    assert!(line(&late, "notify Warning").contains("has changed in the meantime"));
    assert_eq!(world.last_state()["taskDescription"], "two");
}
