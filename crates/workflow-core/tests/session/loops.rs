//! Subworkflows as phases from outside: what is passed to them, what they return, their named ends, and loops over lists.

use serde_json::{Value, json};
use workflow_core::definition::{Loaded, MemoryFiles, Tier, Workflow, load};
use workflow_core::diagnostic::{Diagnostic, Severity};
use workflow_core::session::Control;

use crate::event::Event;
use crate::flow::data;
use crate::gates::{over, taken};
use crate::world::{World, line};

const WORK: &str = r#"
name: Work
commandName: work
initialMessage: Go.
phases:
  - { id: plan, name: Plan, emoji: p, instructions: Plan it., outputs: { tasks: { type: list, maxItems: 12 } } }
  - subworkflow: task
    as: each
    forEach: "{outputs.plan.tasks}"
    with: { goal: "{item}", place: "{item.number} of {item.count}", number: "{item.number}" }
    outcomes: { stuck: plan }
  - { id: report, name: Report, emoji: r, instructions: "Files: {outputs.each.file}. Risks: {outputs.each.risk}." }
"#;

const TASK: &str = r#"
name: Task
show: workflows
inputs:
  goal: { type: text, pattern: "^[A-Z]" }
  place: { type: text }
  number: { type: number }
outputs: { file: "{outputs.build.file}", risk: "{outputs.check.risk}" }
phases:
  - id: build
    name: Build
    emoji: b
    instructions: "{inputs.goal} ({inputs.place}, {inputs.number}), last {outputs.build.file}"
    outputs: { file: { type: text } }
    outcomes: { ok: next, stuck: { end: stuck }, skip: { end: skipped } }
  - id: check
    name: Check
    emoji: c
    instructions: Check it.
    outputs: { risk: { type: { oneOf: [low, high] }, required: false } }
"#;

fn loaded(workflows: &[(&str, &str)]) -> Loaded {
    let mut files = MemoryFiles::new();
    for (key, definition) in workflows {
        let definition = definition.trim_start();
        files = files.with(Tier::Project, &format!("{key}/workflow.yaml"), definition);
    }
    load(&files)
}

fn workflows(work: &str, task: &str) -> Vec<Workflow> {
    let loaded = loaded(&[("work", work), ("task", task)]);
    let mut found = loaded.diagnostics.iter();
    let error = found.find(|found| found.severity == Severity::Error);
    assert_eq!(error, None);
    // The root comes first.
    let mut workflows: Vec<Workflow> = loaded.catalog.iter().cloned().collect();
    workflows.reverse();
    workflows
}

/// A run in the first item of three, or of others.
fn in_loop(work: &str, task: &str, tasks: &[&str]) -> World {
    let mut world = World::new(workflows(work, task));
    world.command("work it");
    world.stop("aborted");
    let lines = world.next("", &json!({ "tasks": tasks }));
    assert!(line(&lines, "tool").contains("Build"), "{lines:?}");
    world
}

fn task() -> String {
    // The work leads on one end only.
    TASK.replace(", skip: { end: skipped }", "")
}

fn three() -> World {
    in_loop(WORK, &task(), &["Add", "Move", "Test"])
}

fn newest(world: &World, kind: &str) -> Value {
    let mut entries = world.branch.iter().rev();
    let entry = entries.find(|(of, _)| of == kind);
    entry.map_or(Value::Null, |(_, data)| {
        serde_json::from_str(data.get()).expect("an entry is JSON")
    })
}

fn instructions(world: &World) -> String {
    let view = world.session.view().expect("there is a run");
    view.phase
        .expect("it has a phase")
        .phase
        .instructions
        .clone()
}

fn finish_item(world: &mut World, file: &str, risk: &Value) -> Vec<String> {
    world.next("ok", &json!({ "file": file }));
    world.next("", risk)
}

#[test]
fn each_item_of_a_list_is_a_run_of_the_subworkflow_with_its_own_values() {
    let mut world = three();
    assert_eq!(instructions(&world), "Add (1 of 3, 1), last ");
    let status = world.session.view().unwrap().status().unwrap();
    assert_eq!(status, "Work > Task 1 of 3: Add [2/3] > b Build [1/2]");
    let lines = finish_item(&mut world, "a.rs", &json!({ "risk": "low" }));
    let answer = line(&lines, "tool");
    assert!(answer.contains("Task 2 of 3: Move."), "{answer}");
    // Its outputs are those of this item.
    assert_eq!(instructions(&world), "Move (2 of 3, 2), last ");
    assert!(line(&world.tool("status"), "tool").contains("**Item:** Task 2 of 3: Move"));
    finish_item(&mut world, "b.rs", &json!({}));
    let lines = finish_item(&mut world, "c.rs", &json!({ "risk": "high" }));
    assert!(line(&lines, "tool").contains("Report"), "{lines:?}");
    assert_eq!(
        instructions(&world),
        "Files: a.rs, b.rs, c.rs. Risks: low, , high."
    );
    let values = newest(&world, "workflow:values");
    assert_eq!(
        values["outputs"]["work/each"]["risk"],
        json!(["low", "", "high"])
    );
    assert_eq!(values.get("scopes"), None, "they are left");
}

#[test]
fn a_named_end_leaves_the_loop_and_the_next_one_begins_with_the_list_as_it_is_then() {
    let mut world = three();
    finish_item(&mut world, "a.rs", &json!({}));
    let lines = world.next("stuck", &json!({ "file": "b.rs" }));
    assert!(line(&lines, "tool").contains("Plan"), "{lines:?}");
    let values = newest(&world, "workflow:values");
    assert_eq!(values["outcomes"]["work/each"], "stuck");
    assert_eq!(
        values["outputs"]["work/each"]["file"],
        json!(["a.rs", "b.rs"])
    );
    world.next("", &json!({ "tasks": ["Only"] }));
    assert_eq!(instructions(&world), "Only (1 of 1, 1), last ");
    let values = newest(&world, "workflow:values");
    assert_eq!(
        values["outcomes"].get("work/each"),
        None,
        "it has not ended yet"
    );
    finish_item(&mut world, "d.rs", &json!({}));
    assert_eq!(instructions(&world), "Files: d.rs. Risks: .");
}

#[test]
fn loop_inside_restarts_the_item() {
    let mut world = three();
    finish_item(&mut world, "a.rs", &json!({}));
    world.next("ok", &json!({ "file": "b.rs" }));
    world.tool("loop");
    assert_eq!(instructions(&world), "Move (2 of 3, 2), last b.rs");
}

#[test]
fn a_restart_in_the_middle_keeps_the_item() {
    let mut world = three();
    finish_item(&mut world, "a.rs", &json!({}));
    let status = world.session.view().unwrap().status();
    world.restart();
    assert_eq!(world.session.view().unwrap().status(), status);
    assert_eq!(instructions(&world), "Move (2 of 3, 2), last ");
    // Back in the conversation, to the first item.
    let before = world
        .branch
        .iter()
        .position(|(_, data)| data.get().contains(r#""number":2"#));
    world.branch.truncate(before.expect("the item was stored"));
    world.restart();
    let status = world.session.view().unwrap().status().unwrap();
    assert_eq!(status, "Work > Task 1 of 3: Add [2/3] > c Check [2/2]");
}

#[test]
fn an_empty_list_is_skipped_and_recorded() {
    let mut world = World::new(workflows(WORK, &task()));
    world.command("work it");
    world.stop("aborted");
    let lines = world.next("", &json!({ "tasks": [] }));
    let answer = line(&lines, "tool");
    assert!(
        answer.contains("Skipped") && answer.contains("each"),
        "{answer}"
    );
    assert_eq!(instructions(&world), "Files: . Risks: .");
}

#[test]
fn a_value_that_breaks_an_input_is_refused_at_the_next_before_and_nothing_moves() {
    let mut world = World::new(workflows(WORK, &task()));
    world.command("work it");
    world.stop("aborted");
    let before = world.last_state();
    let lines = world.next("", &json!({ "tasks": ["Add", "move"] }));
    let answer = line(&lines, "tool");
    assert!(
        answer.contains("Task 2 of 2: move cannot begin"),
        "{answer}"
    );
    assert!(
        answer.contains("`goal` must match `^[A-Z]`, not `move`"),
        "{answer}"
    );
    assert!(answer.contains("You are still in Plan"), "{answer}");
    assert_eq!(world.last_state(), before);
    world.next("", &json!({ "tasks": ["Add", "Move"] }));
    assert_eq!(instructions(&world), "Add (1 of 2, 1), last ");
}

#[test]
fn a_list_is_checked_where_it_is_given() {
    let mut world = World::new(workflows(WORK, &task()));
    world.command("work it");
    world.stop("aborted");
    let lines = world.next("", &json!({ "tasks": ["Add", "Two\nlines"] }));
    let answer = line(&lines, "tool");
    assert!(answer.contains("control character in item 2"), "{answer}");
    let work = WORK.replace(", maxItems: 12", "");
    let mut world = World::new(workflows(&work, &task()));
    world.command("work it");
    world.stop("aborted");
    let lines = world.next("", &json!({ "tasks": vec!["Add"; 101] }));
    let answer = line(&lines, "tool");
    assert!(
        answer.contains("has 101 items, and a loop (`forEach`) takes at most 100"),
        "{answer}"
    );
}

#[test]
fn the_lists_of_inputs_are_checked_at_the_start() {
    let work = r#"
name: Work
commandName: work
initialMessage: Go.
inputs: { tasks: { type: list } }
phases:
  - { subworkflow: task, forEach: "{inputs.tasks}", with: { goal: "{item}" } }
"#;
    let task = r#"
name: Task
show: workflows
inputs: { goal: { type: text, pattern: "^[A-Z]" } }
phases: [{ id: build, name: Build, emoji: b, instructions: "{inputs.goal}" }]
"#;
    let mut world = World::new(workflows(work, task));
    let lines = world.command("work --tasks Add,move it");
    assert!(
        line(&lines, "notify").contains("Task 2 of 2: move cannot begin"),
        "{lines:?}"
    );
    assert!(world.branch.is_empty(), "nothing was started");
    let many = vec!["Add"; 101].join(",");
    let lines = world.command(&format!("work --tasks {many} it"));
    assert!(
        line(&lines, "notify").contains("has 101 items"),
        "{lines:?}"
    );
    world.command("work --tasks Add,Move it");
    assert_eq!(instructions(&world), "Add");
    world.stop("aborted");
    world.tool("next");
    assert_eq!(instructions(&world), "Move");
    let lines = world.tool("next");
    assert!(line(&lines, "tool").contains("DONE"), "{lines:?}");
}

#[test]
fn all_outputs_of_a_run_have_a_limit() {
    let task = task().replace(
        "file: { type: text }",
        "file: { type: text }, log: { type: text, required: false }",
    );
    let items: Vec<String> = (0..40).map(|number| format!("Item {number}")).collect();
    let items: Vec<&str> = items.iter().map(String::as_str).collect();
    let work = WORK.replace(", maxItems: 12", "");
    let mut world = in_loop(&work, &task, &items);
    let long = "x".repeat(60_000);
    for _ in 0..20 {
        let lines = world.next("ok", &json!({ "file": long }));
        let answer = line(&lines, "tool").to_owned();
        if answer.contains("All outputs of a run may take") {
            world.next("ok", &json!({ "file": "short" }));
            return;
        }
        world.next("", &json!({}));
    }
    panic!("there is no limit");
}

#[test]
fn what_a_next_makes_be_returned_counts_before_it_is_accepted() {
    let names: Vec<String> = (0..10).map(|number| format!("o{number}")).collect();
    let listed = |item: &dyn Fn(&str) -> String| {
        let items: Vec<String> = names.iter().map(|name| item(name)).collect();
        items.join(", ")
    };
    let work = r"
name: Work
commandName: work
initialMessage: Go.
phases:
  - subworkflow: task
  - { id: report, name: Report, emoji: r, instructions: Report., outputs: { note: { type: text, required: false } } }
";
    let task = format!(
        r"
name: Task
show: workflows
outputs: {{ {} }}
phases:
  - {{ id: build, name: Build, emoji: b, instructions: Build., outputs: {{ {} }} }}
  - {{ id: check, name: Check, emoji: c, instructions: Check. }}
",
        listed(&|name| format!("{name}: \"{{outputs.build.{name}}}\"")),
        listed(&|name| format!("{name}: {{ type: text }}")),
    );
    let mut world = World::started(workflows(work, &task));
    let outputs = |length: usize| {
        let value = Value::from("x".repeat(length));
        let values = names.iter().map(|name| (name.clone(), value.clone()));
        values.collect::<Value>()
    };
    // These take less than 1 MiB, but not twice.
    let answer = world.next("", &outputs(60_000));
    let answer = line(&answer, "tool");
    assert!(answer.contains("may take 1024 KiB together"), "{answer}");
    world.next("", &outputs(52_000));
    // A call that hands over nothing is never refused.
    world.next("", &json!({}));
    assert!(line(&world.tool("status"), "tool").contains("Report"));
    let values = newest(&world, "workflow:values")["outputs"].to_string();
    assert!((1_000_000..1 << 20).contains(&values.len()));
    let lines = world.next("", &json!({ "note": "x".repeat(20_000) }));
    assert!(line(&lines, "tool").contains("may take"), "{lines:?}");
    let lines = world.next("", &json!({}));
    assert!(line(&lines, "tool").contains("DONE"), "{lines:?}");
}

#[test]
fn the_values_inside_are_not_those_outside() {
    let work = r#"
name: Work
commandName: work
initialMessage: Go.
roleInstruction: "Role for {inputs.goal}."
inputs: { goal: { type: text, default: outer }, other: { type: text, default: "2" } }
phases:
  - subworkflow: task
    with: { goal: inner }
  - { id: end, name: End, emoji: e, instructions: "{inputs.goal}" }
"#;
    let task = r#"
name: Task
show: workflows
inputs: { goal: { type: text } }
phases: [{ id: build, name: Build, emoji: b, instructions: "{inputs.goal}" }]
"#;
    let mut world = World::new(workflows(work, task));
    let lines = world.command("work it");
    assert_eq!(instructions(&world), "inner");
    drop(lines);
    let lines = world.prompt("go on");
    assert!(
        lines.iter().any(|line| line.contains("Role for outer.")),
        "{lines:?}"
    );
    world.stop("aborted");
    world.tool("next");
    assert_eq!(instructions(&world), "outer");
}

#[test]
fn a_subworkflow_is_entered_so_often() {
    let work = WORK.replace(
        "    outcomes: { stuck: plan }",
        "    outcomes: { stuck: plan }\n    maxVisits: 1\n    onLimit: report",
    );
    let mut world = in_loop(&work, &task(), &["Add", "Move"]);
    world.next("stuck", &json!({ "file": "a.rs" }));
    let lines = world.next("", &json!({ "tasks": ["Add"] }));
    let answer = line(&lines, "tool");
    assert!(
        answer.contains("Task has been entered once, which is its limit"),
        "{answer}"
    );
    assert!(answer.contains("Report"), "{answer}");
}

#[test]
fn a_bound_may_be_an_input_of_the_subworkflow() {
    let task = task()
        .replace(
            "number: { type: number }",
            "number: { type: number, min: 1, max: 9 }",
        )
        .replace(
            "    outcomes: { ok",
            "    maxVisits: \"{inputs.number}\"\n    outcomes: { again: build, ok",
        );
    let mut world = in_loop(WORK, &task, &["Add", "Move"]);
    let lines = world.next("again", &json!({ "file": "a.rs" }));
    let answer = line(&lines, "tool");
    assert!(
        answer.contains("Build has been entered once, which is its limit"),
        "{answer}"
    );
    finish_item(&mut world, "a.rs", &json!({}));
    let lines = world.next("again", &json!({ "file": "b.rs" }));
    let answer = line(&lines, "tool");
    assert!(answer.contains("This is visit 2 of 2."), "{answer}");
}

#[test]
fn visits_of_a_subworkflow_tries_and_dollars_are_bounded_by_values() {
    let definitions = |most: &str, least: &str| {
        let work = format!(
            "name: Work\ncommandName: work\ninitialMessage: Go.\ninputs: {{ most: {{ type: number, {least} }} }}\n\
             budget: {{ usd: {most} }}\nphases:\n  - {{ id: plan, instructions: Plan it. }}\n\
             \x20 - {{ subworkflow: task, maxVisits: {most} }}\n\
             \x20 - {{ id: report, instructions: Report it., outcomes: {{ again: task, ok: next }} }}\n"
        );
        let task = format!(
            "name: Task\nshow: workflows\ninputs: {{ most: {{ type: number, {least} }} }}\nphases:\n\
             \x20 - {{ id: build, instructions: Build it., gate: [{{ run: [make], tries: {most} }}] }}\n"
        );
        loaded(&[("work", &work), ("task", &task)])
    };
    let value = "\"{inputs.most}\"";
    let found = definitions(value, "max: 9").diagnostics;
    let wrong = |found: &&Diagnostic| found.message.contains("is no bound");
    assert_eq!(found.iter().filter(wrong).count(), 3, "{found:?}");

    let workflows = |of: &Loaded| of.catalog.iter().cloned().collect::<Vec<_>>();
    for changes in [false, true] {
        let mut world = World::new(workflows(&definitions(value, "min: 1, max: 9")));
        let refusal = world.command("work --most 1.5 it").join("\n");
        assert!(refusal.contains("a whole number from 1 to 9"), "{refusal}");
        world.command("work --most 2 it");
        world.stop("aborted");
        if changes {
            // What is written in place of the value does not lift the bounds.
            world.workflows = workflows(&definitions("9", "min: 1, max: 9"));
            let lines = world.restart().join("\n");
            for changed in [
                "`budget` of workflow Work",
                "`maxVisits` of subworkflow task",
                "`gate` of phase Build",
            ] {
                assert!(lines.contains(changed), "{changed}: {lines}");
            }
            world.stop("aborted");
        }
        let status = world.tool("status").join("\n");
        assert!(status.contains("2.00 US dollars"), "{status}");
        world.tool("next");
        for (verdict, expected) in [
            ("failed", "Try 1 of 2."),
            ("failed", "has failed twice, which is its limit"),
        ] {
            world.tool("next");
            let answer = over(&mut world, &json!(verdict)).join("\n");
            assert!(answer.contains(expected), "{answer}");
        }
        world.control(Control::Resume, "");
        for _ in 0..2 {
            world.tool("next");
            over(&mut world, &json!("passed"));
            let answer = world.next("again", &json!({})).join("\n");
            assert!(
                answer.contains("Build")
                    || answer.contains("Task has been entered twice, which is its limit"),
                "{answer}"
            );
        }
        assert_eq!(data(&world)["visits"]["work#task"], 2);
    }
}

#[test]
fn the_agent_chooses_a_bound_up_to_its_largest_value() {
    let definitions = |of_output: &str, of_input: &str| {
        let work = format!(
            "name: Work\ncommandName: work\ninitialMessage: Go.\nphases:\n\
             \x20 - {{ id: plan, instructions: Go., outputs: {{ most: {{ type: number, min: 1{of_output} }} }} }}\n\
             \x20 - {{ subworkflow: task, with: {{ most: \"{{outputs.plan.most}}\" }} }}\n\
             \x20 - id: build\n    instructions: Build it.\n    outcomes: {{ again: build, plan: plan, ok: next }}\n\
             \x20   maxVisits: \"{{outputs.plan.most}}\"\n    budget: {{ turns: \"{{outputs.plan.most}}\" }}\n"
        );
        let task = format!(
            "name: Task\ncommandName: task\ninitialMessage: Go.\n\
             inputs: {{ most: {{ type: number, min: 1{of_input} }} }}\n\
             phases:\n  - {{ id: test, instructions: Test it., maxVisits: \"{{inputs.most}}\", outcomes: {{ ok: next, again: test }} }}\n"
        );
        loaded(&[("work", &work), ("task", &task)])
    };
    let errors = |of: &Loaded| {
        let errors = of.diagnostics.iter();
        let errors = errors.filter(|found| found.severity == Severity::Error);
        let errors = errors.map(|found| {
            let place = found
                .location
                .as_ref()
                .expect("it has a place")
                .file_and_line();
            let (_, line) = place.rsplit_once(':').expect("it has a line");
            let help = found.help.as_deref().unwrap_or_default();
            format!("{line}: {}: {help}", found.message)
        });
        errors.collect::<Vec<_>>()
    };
    let open =
        "`outputs.plan.most` is no bound: the agent may hand over any number: give it a `max`";
    assert_eq!(
        errors(&definitions("", "")),
        [format!("10: {open}"), format!("11: {open}")]
    );
    let passed =
        "the bound `most` of subworkflow `task` has no `max`: give `most` of `task` a `max`";
    assert_eq!(
        errors(&definitions(", max: 3", "")),
        [format!("6: {passed}")]
    );
    let of = definitions(", max: 3", ", max: 3");
    assert_eq!(errors(&of), <[String; 0]>::default());

    let mut world = World::new(of.catalog.iter().cloned().collect());
    world.command("work it");
    world.stop("aborted");
    let answer = world.next("", &json!({ "most": 1e30 })).join("\n");
    assert!(answer.contains("from 1 to 3"), "{answer}");
    world.next("", &json!({ "most": 1 }));
    let answer = world.next("again", &json!({})).join("\n");
    assert!(answer.contains("Test has been entered once"), "{answer}");
}

#[test]
fn a_number_that_is_too_large_is_the_strictest_bound() {
    let work = "name: Work\ncommandName: work\ninitialMessage: Go.\ninputs: { most: { type: number, min: 1 } }\n\
                budget: { turns: \"{inputs.most}\" }\nphases: [{ id: plan, instructions: Plan it. }]\n";
    let of = loaded(&[("work", work)]);
    let mut world = World::new(of.catalog.iter().cloned().collect());
    world.command("work --most 100000000000000000000 it");
    world.stop("aborted");
    let status = world.tool("status").join("\n");
    assert!(status.contains("1 turn"), "{status}");
}

#[test]
fn a_definition_with_bounds_that_version_1_does_not_know_is_stored_as_version_2() {
    let version = |budget: &str, gate: &str, part: &str| {
        let work = format!(
            "name: Work\ncommandName: work\ninitialMessage: Go.\ninputs: {{ most: {{ type: number, min: 1, default: 2 }} }}\n\
             budget: {{ {budget}: \"{{inputs.most}}\" }}\nphases:\n\
             \x20 - {{ id: plan, instructions: Plan it., maxVisits: \"{{inputs.most}}\", gate: [{{ run: [make], tries: {gate} }}] }}\n\
             \x20 - {{ subworkflow: part, maxVisits: {part} }}\n"
        );
        let part =
            "name: Part\nshow: workflows\nphases: [{ id: build, instructions: Build it. }]\n";
        let of = loaded(&[("work", &work), ("part", part)]);
        let mut world = World::new(of.catalog.iter().cloned().collect());
        world.command("work it");
        let stored = newest(&world, "workflow:definition");
        let reread = world.restart().join("\n");
        assert!(!reread.contains("WF102"), "{reread}");
        stored["version"].clone()
    };
    let value = "\"{inputs.most}\"";
    assert_eq!(version("turns", "2", "2"), 1);
    assert_eq!(version("usd", "2", "2"), 2);
    assert_eq!(version("turns", value, "2"), 2);
    assert_eq!(version("turns", "2", value), 2);
}

#[test]
fn a_command_takes_values_of_closed_types_from_a_subworkflow() {
    let loaded = |kind: &str| {
        let work = "name: Work\ncommandName: work\ninitialMessage: Go.\nphases:\n  - subworkflow: task\n\
            \x20 - { id: report, instructions: Go., gate: [{ run: [make, \"{outputs.task.kind}\"] }] }\n";
        let task = format!(
            "name: Task\nshow: workflows\noutputs: {{ kind: \"{{outputs.build.kind}}\" }}\nphases:\n\
             \x20 - {{ id: build, instructions: Go., outputs: {{ kind: {{ {kind} }} }} }}\n"
        );
        loaded(&[("work", work), ("task", &task)])
    };
    let wrong = loaded("type: text").diagnostics;
    let [wrong] = &*wrong else {
        panic!("{wrong:?}");
    };
    assert_eq!(wrong.severity, Severity::Error);
    assert!(
        wrong
            .message
            .contains("`outputs.task.kind` can be any text"),
        "{wrong:?}"
    );

    let right = loaded("oneOf: [fast, slow]");
    assert_eq!(right.diagnostics, []);
    let mut world = World::new(right.catalog.iter().cloned().collect());
    world.command("work it");
    world.stop("aborted");
    world.next("", &json!({ "kind": "fast" }));
    let lines = world.tool("next");
    assert!(
        line(&lines, "gate #").contains(r#"["make","fast"]"#),
        "{lines:?}"
    );
}

#[test]
fn the_tests_of_an_item_are_compared_with_the_files_at_its_start() {
    let gate = "    gate: [{ tests: { run: [make, test], failsWithoutChange: true } }]\n";
    let mut world = World::new(workflows(WORK, &(task() + gate)));
    world.command("work it");
    world.report(taken(Some("run")));
    world.stop("aborted");
    let begins = |lines: &[String]| lines.iter().any(|line| line.starts_with("baseline of"));
    let tasks = json!({ "tasks": ["Add", "Move"] });
    for (at, start) in [Some("first"), None].into_iter().enumerate() {
        let lines = match at {
            0 => world.next("", &tasks),
            _ => over(&mut world, &json!("passed")),
        };
        assert!(begins(&lines), "item {at}: {lines:?}");
        world.report(taken(start));
        // Inside of the item nothing is recorded.
        let lines = world.next("ok", &json!({"file": "a"}));
        assert!(!begins(&lines), "item {at}: {lines:?}");
        world.reload();
        let lines = world.next("", &json!({"risk": "low"}));
        let expected = format!(", start {}, to trust", start.unwrap_or("unknown"));
        assert!(line(&lines, "gate").contains(&expected), "{lines:?}");
    }
}

#[test]
fn values_that_are_refused_are_dropped_and_never_shown_as_an_example() {
    let mut world = World::started(workflows(WORK, &task()));
    let answer = |world: &mut World, tasks: Value| {
        let lines = world.next("", &json!({ "tasks": tasks }));
        line(&lines, "tool").to_owned()
    };
    let text = answer(&mut world, json!(["", "B"]));
    assert!(
        text.contains("Output `tasks` has an empty item (1 of 2)."),
        "{text}"
    );
    assert!(text.contains(r#""outputs":{"tasks":["…"]}"#), "{text}");
    // What the subworkflow refuses is known at the move.
    let text = answer(&mut world, json!(["Good", "bad"]));
    assert!(
        text.contains("Task 2 of 2: bad cannot begin. Input `goal` must match"),
        "{text}"
    );
    let text = line(&world.tool("next"), "tool").to_owned();
    assert!(text.contains("Output `tasks` is missing"), "{text}");
    for long in [json!(["x".repeat(60_000)]), json!("x".repeat(60_000))] {
        let text = answer(&mut world, long);
        assert!(text.len() < 1000, "{text}");
    }
}

/// The run in its second item, after the scope of the loop is stored as this function says.
fn with_scope(change: impl FnOnce(&mut Value)) -> World {
    let mut world = three();
    finish_item(&mut world, "a.rs", &json!({}));
    let mut values = newest(&world, "workflow:values");
    change(&mut values["scopes"]["work:1/task"]);
    world.append("workflow:values", &values);
    world.restart();
    world.next("ok", &json!({ "file": "b.rs" }));
    world
}

#[test]
fn a_loop_whose_item_is_not_known_pauses_and_does_not_end() {
    let number = |number: u64| with_scope(move |scope| scope["number"] = json!(number));
    let broken = vec![
        number(0),
        number(4),
        number(u64::MAX),
        with_scope(|scope| *scope = json!({})),
    ];
    for mut world in broken {
        let lines = world.tool("next");
        let answer = line(&lines, "tool");
        assert!(
            answer.contains("Not moved: It is not known which item Task is at."),
            "{answer}"
        );
        assert!(
            lines.join("\n").contains("is paused in c Check"),
            "{lines:?}"
        );
        let lines = world.control(Control::Skip, "");
        assert!(
            line(&lines, "notify").contains("which item Task is at"),
            "{lines:?}"
        );
        assert_eq!(world.last_state()["currentPath"][1]["phaseIndex"], 1);
    }
    let mut world = number(2);
    assert!(line(&world.tool("next"), "tool").contains("Task 3 of 3"));
}

#[test]
fn values_that_are_damaged_are_said_to_be_lost() {
    let mut world = three();
    world.append("workflow:values", &json!({ "version": 1, "taskId": 3 }));
    let lines = world.restart().join("\n");
    assert!(
        lines.contains("`workflow:values` entry is damaged"),
        "{lines}"
    );
    assert!(lines.contains("the one before it counts"), "{lines}");
}

#[test]
fn a_loop_goes_on_with_changed_files() {
    let with = |work: &str, task: &str| {
        let mut world = three();
        finish_item(&mut world, "a.rs", &json!({ "risk": "low" }));
        world.workflows = workflows(work, task);
        let lines = world.restart();
        line(&lines, "ask Use the changed files");
        world.answer(true);
        finish_item(&mut world, "b.rs", &json!({}));
        world
    };
    let other_name = WORK
        .replace("as: each", "as: every")
        .replace("outputs.each", "outputs.every");
    let mut world = with(&other_name, &task());
    finish_item(&mut world, "c.rs", &json!({}));
    assert_eq!(instructions(&world), "Files: , b.rs, c.rs. Risks: , , .");
    let more = task().replace("risk: \"", "more: \"{outputs.build.file}\", risk: \"");
    let work = WORK.replace("Risks: {outputs.each.risk}", "{outputs.each.more}");
    let mut world = with(&work, &more);
    finish_item(&mut world, "c.rs", &json!({}));
    assert_eq!(
        instructions(&world),
        "Files: a.rs, b.rs, c.rs. , b.rs, c.rs."
    );
    // Without the loop, its item is the last one.
    let once = WORK
        .replace("    forEach: \"{outputs.plan.tasks}\"\n", "")
        .replace(
            "goal: \"{item}\", place: \"{item.number} of {item.count}\", number: \"{item.number}\"",
            "goal: X, place: y, number: 1",
        );
    let world = with(&once, &task());
    assert_eq!(instructions(&world), "Files: b.rs. Risks: .");
}

#[test]
fn the_item_is_named_after_a_move_by_the_user_who_can_leave_the_loop() {
    let mut world = three();
    let lines = world.control(Control::Goto, "check");
    let said = line(&lines, "notify");
    assert!(
        said.ends_with("✓ Build → c Check, by you. Task 1 of 3: Add."),
        "{said}"
    );
    let lines = lines.join("\n");
    let text = "The user moved the workflow: Build → c Check\nTask 1 of 3: Add.\n\n";
    assert!(lines.contains(text), "{lines}");
    let lines = world.control(Control::Goto, "plan");
    assert!(
        line(&lines, "notify").ends_with("✓ Check → p Plan, by you."),
        "{lines:?}"
    );
    world.tool("status");
    let lines = world.next("", &json!({ "tasks": ["Only"] }));
    assert!(
        line(&lines, "tool").contains("Task 1 of 1: Only."),
        "{lines:?}"
    );
}

#[test]
fn what_is_skipped_in_each_item_is_named_once() {
    let task = task().replace(
        "    instructions: Check it.",
        "    instructions: Check it.\n    when: { inputs.goal: Never }",
    );
    let task = task.replace(
        "last {outputs.build.file}\"",
        "last {outputs.build.file}\"\n    when: { inputs.goal: Never }",
    );
    let mut world = World::started(workflows(WORK, &task));
    let lines = world.next("", &json!({ "tasks": ["Add", "Move", "Test"] }));
    let answer = line(&lines, "tool");
    assert!(
        answer.contains("the conditions are not met: build (3 times), check (3 times)."),
        "{answer}"
    );
}

#[test]
fn an_empty_list_is_the_reason_that_a_loop_is_skipped() {
    let mut world = World::started(workflows(WORK, &task()));
    let lines = world.next("", &json!({ "tasks": [] }));
    let answer = line(&lines, "tool");
    assert!(
        answer.contains("\nSkipped: each (its list is empty).\n"),
        "{answer}"
    );
}

/// A workflow, and another one that its phases pass `goal` to.
fn passing(phases: &str) -> World {
    let work = format!("name: Work\ncommandName: work\ninitialMessage: Go.\nphases:\n{phases}");
    let task = "name: Task\nshow: workflows\ninputs: { goal: { type: text, pattern: \"^[A-Z]\", required: false } }\n\
                phases: [{ id: build, name: Build, instructions: Build. }]\n";
    World::started(workflows(&work, task))
}

#[test]
fn a_refused_loop_keeps_what_the_phase_has_handed_over() {
    let mut world = passing(
        r#"
  - { subworkflow: task, with: { goal: "{outputs.report.goal}" } }
  - { id: report, name: Report, instructions: Go., gate: [{ run: [cargo, test] }],
      outputs: { goal: { type: text, required: false } }, outcomes: { again: task, ok: next } }
"#,
    );
    world.tool("next");
    world.step(Event::TurnEnd);
    world.next("ok", &json!({ "goal": "bad" }));
    over(&mut world, &json!("failed"));
    let lines = world.tool("loop");
    let answer = line(&lines, "tool");
    assert!(answer.contains("Task cannot begin"), "{answer}");
    let handed_over = json!({"work/report": {"goal": "bad"}});
    assert_eq!(data(&world)["outputs"], handed_over);
    world.next("ok", &json!({}));
    over(&mut world, &json!("passed"));
    assert_eq!(data(&world)["outputs"], handed_over);
    assert_eq!(world.last_state()["active"], false);
}

#[test]
fn a_refused_next_keeps_the_outputs_of_an_earlier_visit() {
    let mut world = passing(
        r#"
  - { id: plan, name: Plan, instructions: Go., outputs: { goal: { type: text, required: false } } }
  - { subworkflow: task, with: { goal: "{outputs.plan.goal}" } }
"#,
    );
    world.next("", &json!({ "goal": "Good" }));
    world.control(Control::Goto, "plan");
    world.prompt("go on");
    for goal in ["bad", "worse"] {
        let lines = world.next("", &json!({ "goal": goal }));
        let answer = line(&lines, "tool");
        assert!(answer.contains("Task cannot begin"), "{answer}");
        let earlier = json!({"work/plan": {"goal": "Good"}});
        assert_eq!(data(&world)["outputs"], earlier);
    }
}

#[test]
fn an_item_whose_body_begins_with_a_subworkflow_that_compares_nothing_has_its_start() {
    let work = "name: Work\ncommandName: work\ninitialMessage: Go.\ninputs: { tasks: { type: list } }\n\
                phases: [{ subworkflow: task, forEach: \"{inputs.tasks}\" }]\n";
    let task = "name: Task\nshow: workflows\nphases:\n  - subworkflow: look\n  - { id: build, name: Build, instructions: Go., \
                gate: [{ tests: { run: [make, test], failsWithoutChange: true } }] }\n";
    let look =
        "name: Look\nshow: workflows\nphases: [{ id: read, name: Read, instructions: Go. }]\n";
    let loaded = loaded(&[("work", work), ("task", task), ("look", look)]);
    let mut catalog: Vec<Workflow> = loaded.catalog.iter().cloned().collect();
    catalog.sort_by_key(|workflow| workflow.key != "work");
    let mut world = World::new(catalog);
    let begins = |lines: &[String]| lines.iter().any(|line| line.starts_with("baseline of"));
    let lines = world.command("work --tasks Add --tasks Move it");
    assert!(begins(&lines), "{lines:?}");
    for start in ["first", "second"] {
        world.report(taken(Some(start)));
        world.prompt("go on");
        let lines = world.tool("next");
        assert!(!begins(&lines), "{lines:?}");
        world.step(Event::TurnEnd);
        let lines = world.tool("next");
        let expected = format!(", start {start}, to trust");
        assert!(line(&lines, "gate").contains(&expected), "{lines:?}");
        let lines = over(&mut world, &json!("passed"));
        assert_eq!(begins(&lines), start == "first", "{lines:?}");
    }
}

#[test]
fn a_scope_that_begins_anew_forgets_the_failures_of_its_checks_and_those_around_count_on() {
    let gate = "gate: [{ run: [cargo, test], tries: 2, onFail: back }]";
    let work = format!(
        "name: Work\ncommandName: work\ninitialMessage: Go.\nphases:\n  - {{ id: back, name: Back, instructions: Go. }}\n  \
         - subworkflow: task\n  - {{ id: last, name: Last, instructions: Go., {gate} }}\n"
    );
    // A check that fails ends the subworkflow, and its failure is not forgotten by that.
    let gate = gate.replace("back", "end");
    let task = format!(
        "name: Task\nshow: workflows\nphases: [{{ id: build, name: Build, instructions: Go., {gate} }}]\n"
    );
    let mut world = World::started(workflows(&work, &task));
    for last in ["Back", "has failed twice"] {
        world.tool("next");
        for leads in ["Last", last] {
            world.step(Event::TurnEnd);
            world.tool("next");
            let answer = over(&mut world, &json!("failed")).join("\n");
            assert!(answer.contains(leads), "{answer}");
        }
        world.step(Event::TurnEnd);
    }
}
