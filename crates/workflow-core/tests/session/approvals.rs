//! What a person approves is what is used, and everyone reads what was answered.

use serde_json::json;
use workflow_core::definition::{Approval, Target, Workflow};
use workflow_core::session::{Abilities, Control};

use crate::flow::{edit, gate, index, outcome, over, plan_text, started};
use crate::world::{Word, World, line, user_text, workflow};

pub(crate) fn ask(text: &str, targets: &[(&str, &str)]) -> Approval {
    Approval {
        ask: text.to_owned(),
        choices: targets
            .iter()
            .map(|(choice, _)| (*choice).to_owned())
            .collect(),
        targets: targets.iter().map(|(_, to)| Target::from(*to)).collect(),
        comment: false,
        show: None,
        source: String::new(),
    }
}

/// Plan, build, ship: the plan is an output of the first phase, and its approval shows it.
fn with_plan() -> Workflow {
    let mut work = workflow("w", &["plan", "build", "ship"]);
    edit(&mut work, "plan", |plan| {
        plan.outputs = vec![plan_text(1)];
        plan.approve = Some(ask(
            "Do this? {outputs.plan.plan}",
            &[("yes", "next"), ("redo", "plan")],
        ));
    });
    edit(&mut work, "build", |build| {
        "Do: {outputs.plan.plan}".clone_into(&mut build.instructions);
    });
    work
}

fn plan(text: &str) -> serde_json::Value {
    json!({ "plan": text })
}

/// The run waits for the approval of the plan "one", and no dialog is open.
fn waiting() -> World {
    let mut world = started(with_plan());
    world.next("", &plan("one"));
    world.choose(None);
    world
}

fn has(lines: &[String], start: &str) -> bool {
    lines.iter().any(|line| line.starts_with(start))
}

/// The consequences of the answers, in the question for approval.
fn consequences(lines: &[String]) -> Vec<&str> {
    let asked = line(lines, "ask ");
    asked.lines().filter(|line| line.starts_with('"')).collect()
}

#[test]
fn the_question_has_the_outputs_of_the_same_call_at_every_visit() {
    let mut world = started(with_plan());
    let lines = world.next("", &plan("one"));
    line(&lines, "ask Do this? one: ");
    world.choose(Some("redo"));
    let lines = world.next("", &plan("two\nCheck: ✓"));
    line(&lines, "ask Do this? two\n    Check: ✓: ");
    let lines = world.choose(Some("yes"));
    assert!(line(&lines, "settled tool").contains("Do: two\nCheck: ✓"));
}

#[test]
fn other_outputs_drop_a_request_that_waits_and_its_answer() {
    let mut world = waiting();
    let nonce = world.approval.clone();
    world.word = Some(Word::Chosen("yes".to_owned()));
    let lines = world.next("", &plan("two"));
    line(&lines, "clear approval of ");
    line(&lines, "ask Do this? two: ");
    assert!(!has(&lines, "read approval"), "{lines:?}");
    assert_ne!(world.approval, nonce);
    assert_eq!(index(&world), 0);
}

#[test]
fn the_same_outputs_or_none_follow_the_answer_to_a_request_that_waits() {
    for outputs in [plan("one"), json!({})] {
        let mut world = waiting();
        world.word = Some(Word::Chosen("yes".to_owned()));
        let lines = world.next("", &outputs);
        assert!(
            line(&lines, "settled tool").contains("Do: one"),
            "{lines:?}"
        );
        assert_eq!(index(&world), 1);
    }
}

#[test]
fn a_second_next_is_refused_while_a_dialog_is_open() {
    let mut world = started(with_plan());
    world.next("", &plan("one"));
    for outputs in [plan("one"), plan("two"), json!({"plan": 1})] {
        let lines = world.next("", &outputs);
        let answer = line(&lines, "tool");
        assert!(
            answer.contains("an earlier call of workflow_step is still leaving this phase"),
            "{lines:?}"
        );
    }
    let lines = world.choose(Some("yes"));
    assert!(
        line(&lines, "settled tool #2").contains("Do: one"),
        "{lines:?}"
    );
}

#[test]
fn what_is_approved_survives_a_restart() {
    let mut world = waiting();
    let lines = world.restart();
    assert!(
        line(&lines, "await ").contains(r#""ask":"Do this? one""#),
        "{lines:?}"
    );
    let other = world.next("", &plan("two"));
    line(&other, "ask Do this? two: ");

    let mut world = waiting();
    world.restart_with(Abilities::default());
    let lines = world.control(Control::Approve, "yes");
    assert!(line(&lines, "notify Info").contains("does not count yet"));
    let lines = world.control(Control::Approve, "yes");
    assert!(user_text(&lines).contains("Do: one"), "{lines:?}");
}

#[test]
fn an_approval_by_command_counts_only_for_the_question_that_was_shown() {
    let mut world = waiting();
    world.next("", &plan("two"));
    world.choose(None);
    let lines = world.control(Control::Approve, "yes");
    let answer = line(&lines, "notify Info");
    assert!(
        answer.contains("does not count yet") && answer.contains("Do this? two"),
        "{answer}"
    );
    assert_eq!(index(&world), 0);
    let lines = world.control(Control::Approve, "yes");
    assert!(user_text(&lines).contains("Do: two"), "{lines:?}");
}

#[test]
fn another_outcome_of_a_person_drops_the_request_about_the_agents() {
    let mut work = with_plan();
    edit(&mut work, "plan", |plan| {
        plan.outcomes = vec![outcome("small", "next"), outcome("big", "ship")];
    });
    let mut world = started(work);
    world.next("small", &plan("one"));
    world.choose(None);
    let lines = world.control(Control::Next, "big");
    line(&lines, "clear approval of ");
    assert!(
        line(&lines, "ask ").contains("The agent's outcome: big"),
        "{lines:?}"
    );
}

#[test]
fn the_question_says_where_each_answer_leads() {
    let mut work = workflow("w", &["a", "b", "c"]);
    edit(&mut work, "b", |b| {
        b.outcomes = vec![outcome("small", "next"), outcome("big", "done")];
        b.approve = Some(ask(
            "Good?",
            &[
                ("yes", "next"),
                ("again", "b"),
                ("back", "a"),
                ("stop", "cancel"),
            ],
        ));
    });
    let asked = |outcome: &str| {
        let mut world = started(work.clone());
        world.tool("next");
        world.next(outcome, &json!({}))
    };
    let rest = [
        "\"again\" begins 🔹 B again.",
        "\"back\" goes back to 🔹 A.",
        "\"stop\" ends the run: the workflow is cancelled.",
    ];
    let small = asked("small");
    assert!(line(&small, "ask ").contains("The agent's outcome: small\n"));
    assert_eq!(consequences(&small)[0], "\"yes\" goes to 🔹 C.");
    assert_eq!(consequences(&small)[1..], rest);
    let big = asked("big");
    assert_eq!(
        consequences(&big)[0],
        "\"yes\" ends the run: the workflow is complete."
    );
}

#[test]
fn the_question_says_that_an_answer_leads_to_a_limit() {
    let mut work = workflow("w", &["a", "b", "c"]);
    edit(&mut work, "a", |a| a.max_visits = Some(1));
    edit(&mut work, "b", |b| {
        b.approve = Some(ask("Good?", &[("yes", "next"), ("back", "a")]));
    });
    let mut world = started(work);
    world.tool("next");
    let lines = world.tool("next");
    assert_eq!(
        consequences(&lines)[1],
        "\"back\" pauses the workflow, because A has been entered once, which is its limit."
    );
}

#[test]
fn a_rejection_in_a_dialog_is_no_advance() {
    let mut work = with_plan();
    edit(&mut work, "build", |build| {
        let approval = ask(
            "Ship it?",
            &[("yes", "next"), ("revise", "plan"), ("abort", "cancel")],
        );
        build.approve = Some(Approval {
            comment: true,
            ..approval
        });
    });
    let at_build = || {
        let mut world = started(work.clone());
        world.next("", &plan("one"));
        world.choose(Some("yes"));
        world.tool("next");
        world
    };
    let mut world = at_build();
    world.choose(Some("revise"));
    let lines = world.choose(Some("name the risks"));
    let answer = line(&lines, "settled tool");
    let head = "settled tool #3 ↩ Not approved: the user was asked \"Ship it?\" and chose \"revise\". The workflow went back: BUILD → 🔹 PLAN\n";
    assert!(answer.starts_with(head), "{answer}");
    assert!(
        answer.contains("\n\nThe user says: name the risks\n"),
        "{answer}"
    );
    // The same text where the run waits and the answer is a command.
    let mut world = at_build();
    world.choose(None);
    let lines = world.control(Control::Approve, "revise name the risks");
    let text = user_text(&lines);
    let by_dialog = answer.trim_start_matches("settled tool #3 ");
    let by_dialog = by_dialog
        .split("\n= ")
        .next()
        .expect("there is a first part");
    assert_eq!(text, format!("[workflow] {by_dialog}"));

    let mut world = at_build();
    world.choose(Some("abort"));
    let lines = world.choose(None);
    line(
        &lines,
        "settled tool #3 ❌ Cancelled: the user was asked \"Ship it?\" and chose \"abort\".",
    );
}

#[test]
fn a_move_past_a_failed_gate_names_the_approval_too() {
    let mut work = with_plan();
    edit(&mut work, "plan", |plan| {
        plan.gate = vec![gate(None), gate(None)];
    });
    let mut world = started(work);
    world.control(Control::Next, "");
    let lines = over(&mut world, "failed");
    let skipped = "This skips:\n  PLAN: gate `cargo test`\n  PLAN: gate `cargo test`\n  PLAN: approval \"Do this? \"";
    assert!(line(&lines, "ask ").contains(skipped), "{lines:?}");
    let lines = world.choose(Some("Yes, go to BUILD without them"));
    let entry = line(&lines, "entry workflow:run");
    assert!(
        entry.contains(r#""overrode":["PLAN: gate `cargo test`","PLAN: gate `cargo test`","PLAN: approval \"Do this? \""]"#),
        "{entry}"
    );
}

#[test]
fn the_first_choice_is_no_rejection_wherever_it_leads() {
    let mut work = workflow("w", &["a", "b", "c"]);
    edit(&mut work, "b", |b| {
        b.approve = Some(ask("Go on?", &[("go-on", "a"), ("stop", "a")]));
    });
    let answered = |choice: &str| {
        let mut world = started(work.clone());
        world.tool("next");
        world.step(crate::event::Event::TurnEnd);
        world.tool("next");
        line(&world.choose(Some(choice)), "settled tool").to_owned()
    };
    let text = answered("go-on");
    let neutral = "✓ Answered: the user was asked \"Go on?\" and chose \"go-on\". The workflow moved: B → 🔹 A";
    assert!(text.contains(neutral), "{text}");
    assert!(answered("stop").contains("↩ Not approved"));
}
