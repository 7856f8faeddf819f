//! The commands by which a person controls the run.

use serde_json::json;
use workflow_core::Session;
use workflow_core::definition::{Approval, Gate, Phase, PhaseEntry};
use workflow_core::event::{Order, PlatformEvent};
use workflow_core::policy::gate_report::Report;
use workflow_core::session::{Abilities, Control, RunCondition};

use crate::event::Event;
use crate::world::{World, line, phase, user_messages, user_text, workflow};

fn gate() -> Vec<Gate> {
    let gate = json!([{"check": {"run": {"command": ["cargo", "test"], "timeout": 600, "exit": {"code": 0}}}}]);
    serde_json::from_value(gate).expect("it is a gate")
}

fn approval() -> Approval {
    Approval {
        ask: "Plan OK?".to_owned(),
        choices: vec!["approve".to_owned(), "revise".to_owned()],
        targets: Vec::new(),
        comment: false,
        show: Some("plan.md".to_owned()),
        source: String::new(),
    }
}

fn guarded() -> Phase {
    Phase {
        gate: gate(),
        ..phase("a")
    }
}

fn approved() -> Phase {
    Phase {
        approve: Some(approval()),
        ..phase("a")
    }
}

/// A run of three phases, of which this is the first.
fn world_with(first: Phase) -> World {
    let mut work = workflow("w", &["b", "c"]);
    work.phases.insert(0, PhaseEntry::Phase(first));
    let mut world = World::started(vec![work]);
    world.stop("aborted");
    world
}

/// The same, in a host that cannot ask.
fn without_dialogs(first: Phase) -> World {
    let mut world = world_with(first);
    world.session = Session::new(Abilities::default(), 7);
    world.reload();
    world
}

fn over(world: &mut World, verdict: &str) -> Vec<String> {
    let report = json!({"what": "cargo test", "verdict": verdict, "reason": "it ended with exit code 101", "durationMs": 3210});
    let reports: Vec<Report> = vec![serde_json::from_value(report).expect("it is a report")];
    let gate = world.gate;
    world.report(PlatformEvent::GateFinished { gate, reports })
}

fn index(world: &World) -> serde_json::Value {
    world.last_state()["currentPath"][0]["phaseIndex"].clone()
}

#[test]
fn a_command_without_a_run_says_so() {
    let mut world = World::new(vec![workflow("w", &["a"])]);
    for control in Control::ALL
        .into_iter()
        .filter(|control| *control != Control::Off)
    {
        let lines = world.control(control, "");
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(
            line(&lines, "notify Info").contains("No workflow is active"),
            "{lines:?}"
        );
    }
}

#[test]
fn a_command_with_an_argument_that_it_does_not_take_does_nothing() {
    let mut world = world_with(guarded());
    for control in [
        Control::Status,
        Control::Pause,
        Control::Next,
        Control::Skip,
    ] {
        let lines = world.control(control, "now");
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(line(&lines, "notify Warning").contains("takes no argument"));
    }
}

#[test]
fn the_status_names_the_phase_and_what_is_needed_to_leave_it() {
    let mut world = world_with(Phase {
        approve: Some(approval()),
        ..guarded()
    });
    let lines = world.control(Control::Status, "");
    let text = line(&lines, "notify Info");
    assert!(text.contains("N-w: the task"), "{text}");
    assert!(text.contains("A [1/3]"), "{text}");
    let needed = "To leave: `cargo test` must pass; then the user approves\nApproval: Plan OK? (approve, revise)";
    assert!(text.contains(needed), "{text}");
}

#[test]
fn a_run_paused_by_its_owner_is_resumed_by_the_command_only() {
    let mut world = world_with(phase("a"));
    let lines = world.control(Control::Pause, "");
    line(&lines, "status ⏸ paused by you · N-w > 🔹 A [1/3]");
    assert!(line(&lines, "entry workflow:run").contains(r#""pausedByOwner":true"#));
    world.user_input();
    world.prompt("Hello.");
    assert!(world.stop("stop").is_empty(), "no reminder is due");
    assert!(world.session.deadline().is_none());
    world.reload();
    assert!(world.stop("stop").is_empty(), "a restart keeps the pause");
    let lines = world.control(Control::Resume, "");
    line(&lines, "status N-w > 🔹 A [1/3]");
    assert!(user_text(&lines).contains("is still in"), "{lines:?}");
    world.prompt("Hello.");
    world.stop("stop");
    assert!(
        world.session.deadline().is_some(),
        "reminders are due again"
    );
}

#[test]
fn pausing_twice_and_resuming_what_goes_on_say_so() {
    let mut world = world_with(phase("a"));
    let lines = world.control(Control::Resume, "");
    assert!(line(&lines, "notify Info").contains("not paused"));
    world.control(Control::Pause, "");
    let lines = world.control(Control::Pause, "");
    assert!(line(&lines, "notify Info").contains("paused already"));
}

fn order(world: &mut World, command: &str, phase: &str, by: Option<&str>) -> Vec<String> {
    world.report(PlatformEvent::Ordered(Order {
        command: command.to_owned(),
        phase: phase.to_owned(),
        by: by.map(str::to_owned),
    }))
}

#[test]
fn an_approver_elsewhere_pauses_resumes_and_skips_the_phase_that_was_seen() {
    let mut world = world_with(approved());
    let lines = order(&mut world, "workflow-pause", "A", Some("ada"));
    line(&lines, "notify Info ⏸ The workflow is paused");
    line(&lines, "notify Info ada orders workflow-pause.");
    assert!(line(&lines, "entry workflow:run").contains(r#""pausedByOwner":true"#));
    let lines = order(&mut world, "workflow-resume", "A", None);
    line(&lines, "notify Info ▶ The workflow is resumed.");
    line(&lines, "notify Info an approver orders workflow-resume.");
    let lines = order(&mut world, "workflow-skip", "B", Some("ada"));
    assert!(
        line(&lines, "notify Warning").contains("Nothing was done: the run is not in B any more.")
    );
    assert_eq!(index(&world), 0);
    let lines = order(&mut world, "workflow-skip", "A", Some("ada\u{202e}"));
    assert!(line(&lines, "notify Info ✓").contains("by ada\\u{202e}. Skipped: A: approval"));
    assert!(
        line(&lines, "entry workflow:run")
            .contains(r#""by":"user","approver":"ada\\u{202e}","command":"skip""#)
    );
    assert_eq!(index(&world), 1);
    for other in ["workflow-goto", "workflow-off", "skip", ""] {
        line(
            &order(&mut world, other, "B", None),
            "notify Warning Nothing was done: this cannot be ordered.",
        );
    }
    assert_eq!(index(&world), 1);
}

#[test]
fn pausing_stops_the_countdown() {
    let mut world = world_with(phase("a"));
    world.stop("stop");
    assert!(world.session.deadline().is_some());
    let lines = world.control(Control::Pause, "");
    line(&lines, "widget -");
    assert!(world.session.deadline().is_none());
}

#[test]
fn the_agent_may_move_on_in_a_paused_run_and_the_pause_stays() {
    let mut world = world_with(phase("a"));
    world.control(Control::Pause, "");
    let lines = world.tool("next");
    line(&lines, "status ⏸ paused by you · N-w > 🔹 B [2/3]");
    assert!(world.stop("stop").is_empty());
}

#[test]
fn next_moves_the_run_and_the_agent_and_is_recorded_as_a_persons_move() {
    let mut world = world_with(phase("a"));
    let lines = world.control(Control::Next, "");
    assert_eq!(index(&world), 1);
    let entry = line(&lines, "entry workflow:run");
    assert!(
        entry.contains(r#""movedBy":{"by":"user","command":"next","step":1}"#),
        "{entry}"
    );
    line(&lines, "notify Info ✓ A → 🔹 B, by you.");
    let text = user_text(&lines);
    assert!(
        text.contains("The user moved the workflow: A → 🔹 B"),
        "{text}"
    );
    assert!(text.contains("Do b."), "{text}");
    assert!(!lines.contains(&"later #2".to_owned()), "{lines:#?}");
}

#[test]
fn next_runs_the_gate_first() {
    let mut world = world_with(guarded());
    let lines = world.control(Control::Next, "");
    line(&lines, "gate #1 checks");
    line(&lines, "status ⏳ gate running · N-w > 🔹 A [1/3]");
    assert_eq!(index(&world), 0);
    let again = world.control(Control::Next, "");
    assert!(
        line(&again, "notify Info").contains("is running"),
        "{again:?}"
    );
    over(&mut world, "passed");
    assert_eq!(index(&world), 1);
}

#[test]
fn a_gate_that_did_not_pass_is_overridden_after_a_confirmation_that_names_it() {
    let mut world = world_with(guarded());
    world.control(Control::Next, "");
    let lines = over(&mut world, "failed");
    let asked = line(&lines, "ask Leave A although its gate did not pass?");
    assert!(
        asked.contains("✗ cargo test (3.2 s): it ended with exit code 101"),
        "{asked}"
    );
    assert!(
        asked.contains(r#"["No, stay in A", "Yes, go to B without them"]"#),
        "{asked}"
    );
    let lines = world.choose(Some("No, stay in A"));
    line(&lines, "notify Info The workflow was not moved.");
    assert_eq!(index(&world), 0);

    world.control(Control::Next, "");
    over(&mut world, "failed");
    let lines = world.choose(Some("Yes, go to B without them"));
    let entry = line(&lines, "entry workflow:run");
    assert!(
        entry.contains(r#""overrode":["A: gate `cargo test`"]"#),
        "{entry}"
    );
    assert_eq!(index(&world), 1);
}

#[test]
fn a_gate_that_did_not_pass_is_not_overridden_without_a_dialog() {
    let mut world = without_dialogs(guarded());
    world.control(Control::Next, "");
    let lines = over(&mut world, "failed");
    let refusal = line(&lines, "notify Warning");
    assert!(
        refusal.contains("gate `cargo test`") && refusal.contains("no dialog"),
        "{refusal}"
    );
    assert_eq!(index(&world), 0);
}

#[test]
fn the_end_of_the_agents_work_does_not_stop_a_persons_gate() {
    let mut world = world_with(guarded());
    world.control(Control::Next, "");
    world.stop("stop");
    over(&mut world, "passed");
    assert_eq!(index(&world), 1);
}

#[test]
fn a_skip_names_what_it_passes_over() {
    let mut world = world_with(Phase {
        approve: Some(approval()),
        ..guarded()
    });
    let lines = world.control(Control::Skip, "");
    let asked = line(&lines, "ask Leave A without its checks?");
    assert!(
        asked.contains("A: gate `cargo test`") && asked.contains("A: approval \"Plan OK?\""),
        "{asked}"
    );
    world.choose(Some("Yes, go to B without them"));
    assert_eq!(index(&world), 1);
    let lines = world.control(Control::Skip, "");
    assert!(line(&lines, "entry workflow:run").contains(r#""command":"skip""#));
    assert_eq!(index(&world), 2);
}

#[test]
fn a_confirmation_does_not_count_once_the_run_has_moved() {
    let mut world = world_with(guarded());
    world.control(Control::Skip, "");
    let lines = world.control(Control::Goto, "c");
    assert!(line(&lines, "ask Leave A").contains("A: gate"), "{lines:?}");
    world.choose(Some("Yes, go to C without them"));
    assert_eq!(index(&world), 2);
    let lines = world.choose(Some("Yes, go to B without them"));
    assert!(
        line(&lines, "notify Warning").contains("too late"),
        "{lines:?}"
    );
    assert_eq!(index(&world), 2);
}

#[test]
fn a_goto_moves_within_the_scope_and_lists_its_phases_otherwise() {
    let mut world = world_with(phase("a"));
    for argument in ["", "nowhere", "a"] {
        let lines = world.control(Control::Goto, argument);
        let text = line(&lines, "notify Warning");
        assert!(
            text.contains("  a — A (now)\n  b — B\n  c — C"),
            "{argument}: {text}"
        );
    }
    world.control(Control::Goto, "c");
    assert_eq!(index(&world), 2);
    world.control(Control::Goto, "B");
    assert_eq!(index(&world), 1);
}

#[test]
fn a_goto_forward_names_the_gates_in_between_and_back_needs_none() {
    let mut work = workflow("w", &["a", "c"]);
    work.phases.insert(
        1,
        PhaseEntry::Phase(Phase {
            gate: gate(),
            ..phase("b")
        }),
    );
    let mut world = World::started(vec![work]);
    let lines = world.control(Control::Goto, "c");
    assert!(line(&lines, "ask").contains("B: gate `cargo test`"));
    world.choose(Some("Yes, go to C without them"));
    assert_eq!(index(&world), 2);
    world.control(Control::Goto, "a");
    assert_eq!(index(&world), 0);
}

#[test]
fn a_goto_leads_inside_the_subworkflow_and_out_of_it_past_gates_that_it_names() {
    let mut outer = workflow("w", &["a", "{s}", "z"]);
    outer.phases.insert(2, PhaseEntry::Phase(guarded()));
    let mut inner = workflow("s", &["x", "y"]);
    inner.phases.push(PhaseEntry::Phase(Phase {
        gate: gate(),
        ..phase("last")
    }));
    let other = workflow("o", &["elsewhere"]);
    outer.phases.push(workflow("", &["{o}"]).phases.remove(0));
    if let PhaseEntry::Phase(b) = &mut outer.phases[2] {
        b.id = "b".to_owned();
        b.name = "B".to_owned();
    }
    let mut world = World::started(vec![outer, inner, other]);
    world.control(Control::Next, "");
    let lines = world.control(Control::Goto, "elsewhere");
    let text = line(&lines, "notify Warning");
    assert!(
        text.contains("There is no phase \"elsewhere\" in N-s. It is a phase of N-o; /workflow-goto moves inside of N-s and the workflows around it only.\n\nPhases of N-s:\n  x — X (now)"),
        "{text}"
    );
    assert!(
        text.contains("\n\nPhases of N-w:\n  a — A\n  s — N-s (now)\n"),
        "{text}"
    );
    world.control(Control::Goto, "y");
    assert_eq!(world.last_state()["currentPath"][1]["phaseIndex"], 1);
    let lines = world.control(Control::Goto, "z");
    let question = line(&lines, "ask");
    for named in ["LAST: gate `cargo test`", "B: gate `cargo test`"] {
        assert!(question.contains(named), "{question}");
    }
    world.choose(Some("Yes, go to Z without them"));
    assert_eq!((index(&world), depth(&world)), (json!(3), 1));
    world.control(Control::Goto, "s");
    assert_eq!((index(&world), depth(&world)), (json!(1), 2));
    // Back, no gate is passed.
    world.control(Control::Goto, "a");
    assert_eq!((index(&world), depth(&world)), (json!(0), 1));
}

fn depth(world: &World) -> usize {
    let state = world.last_state();
    state["currentPath"].as_array().map_or(0, Vec::len)
}

#[test]
fn a_run_that_a_person_ends_is_announced_at_once() {
    let mut world = World::started(vec![workflow("w", &["a"])]);
    world.stop("aborted");
    let lines = world.control(Control::Next, "");
    line(&lines, "message workflow:complete");
    line(&lines, "status -");
    assert_eq!(world.last_state()["completionNotified"], true);
    assert_eq!(user_messages(&lines), 0, "an idle agent is left alone");
    assert!(line(&lines, "entry workflow:run").contains(r#""command":"next""#));
    assert!(world.session.view().is_none());
}

#[test]
fn a_busy_agent_reads_the_phase_before_its_next_leaves_it() {
    let mut world = world_with(phase("a"));
    world.prompt("Hello.");
    world.step(Event::TurnStart { index: Some(0) });
    let lines = world.control(Control::Next, "");
    assert!(line(&lines, "user (steers)").contains("Do b."), "{lines:?}");
    let lines = world.tool("next");
    assert!(
        line(&lines, "tool").contains("Not advanced: the user has moved the workflow"),
        "{lines:?}"
    );
    assert_eq!(index(&world), 1);
    world.tool("next");
    assert_eq!(index(&world), 2);
}

#[test]
fn an_approval_by_command_answers_the_open_dialog_with_its_comment() {
    let mut world = world_with(approved());
    world.tool("next");
    let lines = world.control(Control::Approve, "approve ship it");
    let answer = line(&lines, "settled tool #2");
    assert!(
        answer.contains("moved: A → 🔹 B") && answer.contains("The user says: ship it"),
        "{answer}"
    );
    assert_eq!(index(&world), 1);
    let lines = world.choose(Some("approve"));
    assert!(line(&lines, "notify Warning").contains("too late"));
}

#[test]
fn an_approval_by_command_leaves_a_phase_that_waits() {
    let mut world = without_dialogs(Phase {
        approve: Some(approval()),
        ..guarded()
    });
    world.tool("next");
    let lines = over(&mut world, "passed");
    line(
        &lines,
        "status ⏸ waiting for your approval · N-w > 🔹 A [1/3]",
    );
    let lines = world.control(Control::Approve, "");
    let text = line(&lines, "notify Info");
    assert!(
        text.contains(
            "  approve — goes to 🔹 B\n  revise — stays in A, and the agent reads the answer"
        ),
        "{text}"
    );
    assert!(text.contains("plan.md"), "{text}");
    world.control(Control::Approve, "approve");
    let lines = over(&mut world, "passed");
    assert_eq!(index(&world), 1);
    assert!(
        user_text(&lines).contains("✓ Approved: the user was asked \"Plan OK?\""),
        "{lines:?}"
    );
    assert!(line(&lines, "entry workflow:run").contains(r#""command":"approve""#));
}

#[test]
fn another_choice_by_command_keeps_the_phase_and_reaches_the_agent() {
    let mut world = without_dialogs(approved());
    world.tool("next");
    let lines = world.control(Control::Approve, "revise name the risks");
    line(&lines, "status N-w > 🔹 A [1/3]");
    let text = user_text(&lines);
    assert!(
        text.contains("chose \"revise\"") && text.contains("The user says: name the risks"),
        "{text}"
    );
    assert_eq!(index(&world), 0);
}

#[test]
fn an_unknown_choice_lists_the_choices() {
    let mut world = world_with(approved());
    world.tool("next");
    let lines = world.control(Control::Approve, "yes");
    assert!(line(&lines, "notify Info").contains("does not start with one of the choices"));
    let mut world = world_with(approved());
    let lines = world.control(Control::Approve, "approve");
    assert!(line(&lines, "notify Info").contains("Nothing waits for approval yet"));
    let mut world = world_with(phase("a"));
    let lines = world.control(Control::Approve, "approve");
    assert!(line(&lines, "notify Info").contains("needs none"));
}

#[test]
fn phases_and_choices_are_proposed() {
    let world = world_with(approved());
    let proposed = |control, prefix: &str| -> Vec<String> {
        let all = world.session.complete_control(control, prefix);
        all.into_iter().map(|(value, _)| value).collect()
    };
    assert_eq!(proposed(Control::Goto, ""), ["b", "c"]);
    assert_eq!(proposed(Control::Goto, "c"), ["c"]);
    assert_eq!(proposed(Control::Approve, "r"), ["revise"]);
    assert!(proposed(Control::Next, "").is_empty());
}

/// Ends or leaves the run.
type End = fn(&mut World);

#[test]
fn a_run_that_is_unloaded_says_how_it_ended() {
    let ends: [(&[RunCondition], End); 6] = [
        (&[RunCondition::Complete], |world| {
            world.tool("next");
            world.stop("stop");
        }),
        (&[RunCondition::Complete], |world| {
            world.control(Control::Skip, "");
        }),
        (&[RunCondition::Cancelled], |world| {
            world.cancel_command();
        }),
        (&[RunCondition::Cancelled], |world| {
            world.tool("cancel");
            world.tool("cancel");
            world.stop("stop");
        }),
        (&[RunCondition::Replaced], |world| {
            world.command("w another");
            world.answer(true);
        }),
        (&[], |world| {
            world.restart();
        }),
    ];
    for (expected, end) in ends {
        let mut world = World::started(vec![workflow("w", &["a"])]);
        end(&mut world);
        let ended: Vec<_> = world
            .ended
            .iter()
            .map(|(_, condition)| *condition)
            .collect();
        assert_eq!(ended, expected, "{:?}", world.ended);
        assert!(world.ended.iter().all(|(task, _)| task == "the task"));
    }
}

#[test]
fn what_a_dialog_waits_for_is_not_stored() {
    let mut world = world_with(approved());
    world.tool("next");
    let view = world.session.view().unwrap();
    assert_eq!(view.condition, RunCondition::AwaitsApproval);
    assert_eq!(
        view.status().as_deref(),
        Some("⏸ waiting for your approval · N-w > 🔹 A [1/3]")
    );
    let closed = world.session.closed_view().unwrap();
    assert_eq!(closed.condition, RunCondition::Closed);
    assert_eq!(closed.status().as_deref(), Some("N-w > 🔹 A [1/3]"));
}
