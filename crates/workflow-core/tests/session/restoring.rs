//! The restoration of a run from a session's entries.

use serde_json::{Value, json};
use workflow_core::definition::PhaseEntry;
use workflow_core::session::Control;

use crate::world::{NOW, World, guarded, line, workflow};

fn state(changes: &Value) -> Value {
    let mut state = json!({
        "active": true,
        "workflowKey": "w",
        "currentPath": [{ "workflowKey": "w", "phaseIndex": 1 }],
        "globalStepCount": 1,
        "taskId": "wf-1-abcdef",
        "taskDescription": "the task",
        "startedAt": NOW,
        "completionNotified": false,
        "cancelled": false,
    });
    for (field, value) in changes.as_object().expect("changes are fields") {
        state[field] = value.clone();
    }
    state
}

fn world_with(entry: &Value) -> (World, Vec<String>) {
    let mut world = World::new(vec![workflow("w", &["a", "b"]), workflow("s", &["x"])]);
    world.append("workflow:state", entry);
    let lines = world.reload();
    (world, lines)
}

#[test]
fn a_run_continues_at_its_position() {
    let mut world = World::started(vec![
        workflow("w", &["a", "{s}", "b"]),
        workflow("s", &["x", "y"]),
    ]);
    world.tool("next");
    assert_eq!(
        line(&world.reload(), "status"),
        "status N-w > N-s [2/3] > 🔹 X [1/2]"
    );
    assert!(line(&world.tool("next"), "tool").starts_with("tool ✓ Advanced: X → 🔹 Y"));
}

#[test]
fn both_migrations_are_made() {
    let mut old = state(&json!({ "currentPhaseIndex": 1 }));
    let fields = old.as_object_mut().expect("a state is an object");
    fields.remove("currentPath");
    fields.remove("globalStepCount");
    let (mut world, lines) = world_with(&old);
    assert_eq!(line(&lines, "status"), "status N-w > 🔹 B [2/2]");
    world.tool("loop");
    assert_eq!(world.last_state()["globalStepCount"], 2);
}

#[test]
fn whatever_is_stored_nothing_breaks_and_the_tool_answers() {
    let hostile = [
        state(&json!({ "currentPath": [] })),
        state(&json!({ "currentPath": "w" })),
        state(&json!({ "currentPath": [{ "workflowKey": 5, "phaseIndex": 0 }] })),
        state(&json!({ "currentPath": [{ "workflowKey": "w", "phaseIndex": -1 }] })),
        state(&json!({ "currentPath": [{ "workflowKey": "w", "phaseIndex": 0.5 }] })),
        state(&json!({ "active": "yes" })),
        state(&json!({ "startedAt": 1e20 })),
        state(&json!({ "startedAt": null })),
        state(&json!({ "globalStepCount": -3 })),
        state(&json!({ "taskId": 5 })),
        state(&json!({ "workflowKey": 5 })),
    ];
    for entry in hostile {
        let text = entry.to_string();
        let (mut world, lines) = world_with(&entry);
        assert!(line(&lines, "WF101").contains("is skipped"), "{text}");
        assert_eq!(line(&lines, "status"), "status -", "{text}");
        assert!(
            line(&world.tool("status"), "tool").contains("No active workflow"),
            "{text}"
        );
        assert!(world.tool_call("edit").is_empty(), "{text}");
    }
}

#[test]
fn an_entry_that_names_no_workflow_is_passed_over() {
    for junk in [
        json!(null),
        json!("x"),
        json!({ "workflowKey": null }),
        state(&json!({ "workflowKey": "" })),
        state(&json!({ "workflowKey": false })),
        json!([1]),
    ] {
        let mut world = World::started(vec![workflow("w", &["a"])]);
        world.append("workflow:state", &junk);
        assert_eq!(line(&world.reload(), "status"), "status N-w > 🔹 A [1/1]");
    }
}

#[test]
fn a_run_without_a_matching_definition_is_reported_and_can_still_be_cancelled() {
    let misfits = [
        json!({ "workflowKey": "constructor", "currentPath": [{ "workflowKey": "constructor", "phaseIndex": 0 }] }),
        json!({ "currentPath": [{ "workflowKey": "w", "phaseIndex": 0 }, { "workflowKey": "s", "phaseIndex": 0 }] }),
        json!({ "currentPath": [{ "workflowKey": "s", "phaseIndex": 0 }] }),
    ];
    for changes in misfits {
        let text = changes.to_string();
        let (mut world, lines) = world_with(&state(&changes));
        assert!(line(&lines, "WF105").contains("cannot continue"), "{text}");
        assert!(
            line(&lines, "notify Warning").contains("cannot continue"),
            "{text}"
        );
        assert!(world.tool_call("edit").is_empty(), "{text}");
        assert!(
            line(&world.tool("status"), "tool").contains("no longer available"),
            "{text}"
        );
        assert!(
            line(&world.tool("loop"), "tool").contains("no longer available"),
            "{text}"
        );
        assert!(
            line(&world.tool("next"), "tool").contains("not found"),
            "{text}"
        );
        world.tool("cancel");
        assert!(
            line(&world.tool("cancel"), "tool").contains("Workflow cancelled"),
            "{text}"
        );
    }
}

#[test]
fn a_stored_state_on_a_reference_is_followed_to_its_phase() {
    let mut world = World::new(vec![
        workflow("w", &["a", "{s}"]),
        workflow("s", &["x", "y"]),
    ]);
    world.append("workflow:state", &state(&json!({})));
    assert_eq!(
        line(&world.reload(), "status"),
        "status N-w > N-s [2/2] > 🔹 X [1/2]"
    );
    assert!(
        line(&world.tool("next"), "tool").starts_with("tool ✓ Entered subworkflow 'N-s': X → 🔹 X")
    );
}

#[test]
fn a_run_without_files_continues_with_its_stored_definition() {
    let mut own = workflow("w", &["a", "b"]);
    own.phases[0] = PhaseEntry::Phase(guarded("a", &["edit"]));
    let mut world = World::started(vec![own]);
    world.workflows.clear();
    let lines = world.reload();
    assert!(line(&lines, "WF103").contains("stored in the session"));
    assert!(line(&lines, "notify Warning").contains("stored in the session"));
    assert_eq!(line(&lines, "status"), "status N-w > 🔹 A [1/2]");
    assert!(line(&world.tool_call("edit"), "block").contains("edit"));
    assert!(line(&world.tool("next"), "tool").starts_with("tool ✓ Advanced"));
}

#[test]
fn changed_texts_are_used_with_a_notice_and_stored_at_once() {
    let mut world = World::started(vec![workflow("w", &["a", "b"])]);
    if let PhaseEntry::Phase(first) = &mut world.workflows[0].phases[0] {
        "First".clone_into(&mut first.name);
    }
    let lines = world.reload();
    assert!(line(&lines, "WF104").contains("changed"));
    assert!(line(&lines, "entry workflow:definition").contains("wf-1747234567890-3t8xrq"));
    assert!(!world.reload().iter().any(|line| line.starts_with("WF104")));
    world.workflows.clear();
    assert_eq!(
        line(&world.reload(), "status"),
        "status N-w > 🔹 First [1/2]"
    );
}

#[test]
fn the_definition_of_a_session_that_the_package_wrote_is_stored_too() {
    let (mut world, lines) = world_with(&state(&json!({})));
    assert!(line(&lines, "entry workflow:definition").contains("wf-1-abcdef"));
    world.workflows.clear();
    assert_eq!(line(&world.reload(), "status"), "status N-w > 🔹 B [2/2]");
}

#[test]
fn a_run_that_ended_does_not_go_on_whatever_became_of_its_files() {
    let mut world = World::started(vec![workflow("w", &["a"])]);
    world.tool("next");
    world.workflows = vec![workflow("w", &["a", "b"])];
    assert_eq!(world.reload(), ["status -"]);
    world.workflows.clear();
    assert_eq!(world.reload(), ["status -"]);
}

#[test]
fn a_session_that_is_resumed_says_which_run_continues() {
    let announced = |world: &World| {
        let announced = world.session.announce_resumed_run();
        format!("{:?}", Vec::from_iter(announced))
    };
    assert_eq!(announced(&World::new(vec![workflow("w", &["a"])])), "[]");
    let mut world = World::started(vec![workflow("w", &["a"])]);
    let notice = "▶ The workflow continues: N-w > 🔹 A [1/1]\nthe task";
    assert_eq!(
        announced(&world),
        format!("[Notify {{ message: {notice:?}, level: Info, secret: false }}]")
    );
    world.control(Control::Pause, "");
    world.restart();
    let notice = "This session has a workflow: ⏸ paused by you · N-w > 🔹 A [1/1]\nthe task";
    assert_eq!(
        announced(&world),
        format!("[Notify {{ message: {notice:?}, level: Info, secret: false }}]")
    );
}

#[test]
fn an_unreadable_entry_is_reported_and_the_run_stays_where_it_was() {
    let mut world = World::started(vec![workflow("w", &["a"])]);
    let doubled = world
        .last_state()
        .to_string()
        .replacen('{', r#"{"active":1,"#, 1);
    world.append_text("workflow:state", &doubled);
    let lines = world.restart();
    assert!(line(&lines, "WF101").contains("cannot be read"));
    assert_eq!(line(&lines, "status"), "status N-w > 🔹 A [1/1]");
}

#[test]
fn an_unknown_field_or_half_an_emoji_cannot_cost_the_run() {
    let mut world = World::new(vec![workflow("w", &["a", "b"])]);
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let entry = state(&json!({ "taskDescription": "HALF" })).to_string();
    let entry = entry.replace("HALF", r"an \ud83d emoji");
    let entry = entry.replacen('{', &format!(r#"{{"x":{deep},"y":1e999,"#), 1);
    world.append_text("workflow:state", &entry);
    assert_eq!(line(&world.reload(), "status"), "status N-w > 🔹 B [2/2]");
    assert!(line(&world.tool("status"), "tool").contains("**Description:** an "));
}

#[test]
fn a_definition_that_no_longer_fits_is_replaced_by_the_stored_one() {
    let mut world = World::started(vec![workflow("w", &["a", "b"])]);
    world.tool("next");
    world.workflows = vec![workflow("w", &["a"])];
    assert_eq!(line(&world.reload(), "status"), "status N-w > 🔹 B [2/2]");
}

#[test]
fn damaged_and_later_entries_of_ours_are_passed_over() {
    let mut world = World::started(vec![workflow("w", &["a", "b"])]);
    let task_id = world.last_state()["taskId"].clone();
    world.append(
        "workflow:definition",
        &json!({ "version": 99, "taskId": task_id, "what": "ever" }),
    );
    world.append(
        "workflow:run",
        &json!({ "version": 1, "taskId": task_id, "reminders": "many" }),
    );
    world.append("workflow:run", &json!(7));
    world.workflows.clear();
    let lines = world.reload();
    let status = "status ⏸ paused: stored by a later version · N-w > 🔹 A [1/2]";
    assert_eq!(line(&lines, "status"), status);
    assert!(line(&lines, "WF102").contains("version 99"));
    assert!(line(&lines, "WF101").contains("workflow:run"));
}

#[test]
fn a_run_that_a_later_version_stored_is_paused_until_the_user_resumes_it() {
    let mut world = World::started(vec![workflow("w", &["a", "b"])]);
    let task_id = world.last_state()["taskId"].clone();
    let later = json!({ "version": 99, "taskId": task_id });
    world.append("workflow:definition", &later);
    let lines = world.reload();
    assert!(line(&lines, "entry workflow:run").contains(r#""paused":"laterVersion""#));
    world.user_input();
    assert!(
        world.stop("stop").is_empty(),
        "a message does not resume it"
    );
    let lines = world.control(Control::Resume, "");
    assert!(line(&lines, "entry workflow:run").contains(r#""paused":null"#));
    let lines = world.reload();
    assert!(!lines.iter().any(|line| line.contains("laterVersion")));
}

#[test]
fn a_stored_definition_that_contains_itself_is_refused() {
    let mut world = World::started(vec![workflow("w", &["a", "{s}"]), workflow("s", &["x"])]);
    let at = world
        .branch
        .iter()
        .position(|(custom_type, _)| custom_type == "workflow:definition")
        .expect("it is stored");
    let mut stored: Value =
        serde_json::from_str(world.branch[at].1.get()).expect("entries are JSON");
    stored["workflows"][1]["phases"][0] = json!({ "subworkflow": { "key": "w" } });
    world.branch.remove(at);
    world.append("workflow:definition", &stored);
    world.workflows.clear();
    let lines = world.restart();
    assert!(line(&lines, "WF101").contains("workflow:definition"));
    assert_eq!(line(&lines, "status"), "status -");
}

#[test]
fn a_problem_is_reported_once_until_it_changes() {
    let mut world = World::started(vec![workflow("w", &["a"])]);
    world.workflows.clear();
    assert!(world.reload().iter().any(|line| line.starts_with("notify")));
    assert!(!world.reload().iter().any(|line| line.starts_with("notify")));
}

#[test]
fn a_position_that_no_longer_exists_can_be_left_by_loop() {
    let gone = json!({ "currentPath": [{ "workflowKey": "w", "phaseIndex": 7 }] });
    let (mut world, lines) = world_with(&state(&gone));
    assert!(line(&lines, "WF105").contains("cannot continue"));
    assert!(line(&world.tool("next"), "tool").contains("not found"));
    let looped = world.tool("loop");
    assert!(line(&looped, "tool").starts_with("tool 🔄 Looped 'N-w' back to: 🔹 A"));
    assert_eq!(line(&looped, "status"), "status N-w > 🔹 A [1/2]");
}
