//! Moves of runs with flow where several keys meet: conditions and gates, limits and scopes, answers and restarts.

use serde_json::{Value, json};
use workflow_core::definition::{
    Approval, Condition, Parameter, ParameterKind, Phase, Subject, Target, TextLimits, Workflow,
};
use workflow_core::event::PlatformEvent;
use workflow_core::session::{Abilities, Control};

use crate::flow::{data, edit, gate, index, outcome, over, plan_text, started, when, with_review};
use crate::world::{Word, World, line, workflow};

fn visited(phase: &str, times: &[u32]) -> Vec<Condition> {
    when(
        Subject::Visits(phase.to_owned()),
        times.iter().map(|times| json!(times)).collect(),
        false,
    )
}

fn ask(targets: &[(&str, &str)]) -> Approval {
    Approval {
        ask: "Publish it?".to_owned(),
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

/// Never entered: it applies on its second visit only.
pub(crate) fn never(work: &mut Workflow, phase: &str) {
    edit(work, phase, |edited| edited.when = visited(phase, &[1]));
}

fn states(world: &World) -> usize {
    let entries = world.branch.iter();
    entries.filter(|(kind, _)| kind == "workflow:state").count()
}

#[test]
fn a_start_in_which_no_phase_applies_starts_nothing() {
    let mut work = workflow("w", &["plan", "build"]);
    never(&mut work, "plan");
    never(&mut work, "build");
    let mut world = World::new(vec![work]);
    let lines = world.command("w do it");
    assert!(
        line(&lines, "notify Warning").contains("Every phase of N-w would be skipped"),
        "{lines:?}"
    );
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(states(&world), 0);
    let lines = world.tool("status");
    assert!(line(&lines, "tool").contains("No active workflow"));
}

#[test]
fn a_start_behind_skipped_phases_replaces_a_run_and_is_restored() {
    let mut late = workflow("late", &["plan", "build"]);
    never(&mut late, "plan");
    let mut world = World::started(vec![with_review(), late]);
    world.command("late do it");
    world.answer(true);
    assert_eq!(world.last_state()["workflowKey"], "late");
    assert_eq!(index(&world), 1);
    let lines = world.restart();
    line(&lines, "status N-late > 🔹 BUILD [2/2]");
    // Also where the session ends before the definition of the new run.
    let first = world
        .branch
        .iter()
        .position(|(_, data)| data.get().contains(r#""skipped""#));
    world.branch.truncate(first.expect("it is stored") + 2);
    let lines = world.restart();
    line(&lines, "status N-late > 🔹 BUILD [2/2]");
}

#[test]
fn loop_goes_to_the_first_phase_that_applies_and_never_on() {
    let mut work = workflow("w", &["plan", "build", "review", "release"]);
    edit(&mut work, "plan", |plan| plan.when = visited("plan", &[0]));
    edit(&mut work, "review", |review| review.gate = vec![gate(None)]);
    let mut world = started(work.clone());
    world.tool("next");
    world.tool("next");
    world.tool("loop");
    assert_eq!(index(&world), 1);

    edit(&mut work, "build", |build| {
        build.when = visited("build", &[0]);
    });
    edit(&mut work, "review", |review| {
        review.when = visited("review", &[0]);
    });
    let mut world = started(work);
    world.tool("next");
    world.tool("next");
    let lines = world.tool("loop");
    assert!(
        line(&lines, "tool").contains("There is nothing to repeat"),
        "{lines:?}"
    );
    assert_eq!(index(&world), 2);
}

#[test]
fn the_outcome_end_completes_a_root() {
    let mut work = with_review();
    edit(&mut work, "review", |review| {
        review.outcomes.push(outcome("stop", "end"));
    });
    let mut world = started(work);
    world.tool("next");
    world.tool("next");
    let lines = world.next("stop", &json!({}));
    assert!(line(&lines, "tool").contains("REVIEW → DONE"), "{lines:?}");
    assert_eq!(world.last_state()["active"], false);
}

#[test]
fn jumps_into_a_subworkflow_are_bounded_and_its_visits_start_anew() {
    let mut root = workflow("w", &["{part}", "review"]);
    edit(&mut root, "review", |review| {
        review.outcomes = vec![outcome("ok", "next"), outcome("changes", "part")];
    });
    let mut part = workflow("part", &["build"]);
    edit(&mut part, "build", |build| build.max_visits = Some(1));
    let mut world = World::new(vec![root, part]);
    world.settings.limits.jumps = 3;
    world.reload();
    world.command("w do it");
    for entered in 2..=4 {
        world.tool("next");
        world.next("changes", &json!({}));
        let visits = &data(&world)["visits"];
        assert_eq!(visits["w#part"], entered);
        assert_eq!(visits["w:0/part#build"], 1);
    }
    world.tool("next");
    let lines = world.next("changes", &json!({}));
    assert!(
        line(&lines, "tool").contains("N-part has been the target of a jump 3 times"),
        "{lines:?}"
    );
    world.control(Control::Resume, "");
    world.next("changes", &json!({}));
    assert_eq!(data(&world)["visits"]["w#part"], 5);
}

#[test]
fn a_limit_that_leads_back_is_bounded_too() {
    let mut work = workflow("w", &["build", "review", "release"]);
    edit(&mut work, "review", |review| {
        review.max_visits = Some(1);
        review.on_limit = Some(Target::Phase("build".to_owned()));
    });
    let mut world = World::new(vec![work]);
    world.settings.limits.jumps = 2;
    world.reload();
    world.command("w do it");
    world.tool("next");
    world.tool("loop");
    let mut lines = world.tool("next");
    assert_eq!(index(&world), 0);
    for _ in 0..2 {
        lines = world.tool("next");
    }
    assert!(
        line(&lines, "tool").contains("has been the target of a jump twice"),
        "{lines:?}"
    );
}

#[test]
fn a_person_enters_a_phase_with_a_false_condition_and_the_visit_counts() {
    let mut work = with_review();
    never(&mut work, "release");
    let mut world = started(work);
    world.control(Control::Goto, "release");
    let lines = world.choose(Some("Yes, go to RELEASE without them"));
    let notice = "notify Info ✓ PLAN → 🔹 RELEASE, by you. Skipped: RELEASE: condition (`when`).";
    line(&lines, notice);
    assert_eq!(data(&world)["visits"]["w#release"], 1);
    let lines = world.restart();
    line(&lines, "status N-w > 🔹 RELEASE [4/4]");
}

#[test]
fn outputs_stay_until_new_ones_are_given_and_are_required_anew() {
    let mut work = workflow("w", &["plan", "build"]);
    let optional = Parameter {
        name: "note".to_owned(),
        kind: ParameterKind::Text(TextLimits {
            pattern: None,
            min_length: None,
        }),
        about: String::new(),
        required: false,
        default: None,
        ..Parameter::new("", ParameterKind::Flag)
    };
    edit(&mut work, "plan", |plan| {
        plan.outputs = vec![plan_text(1), optional];
    });
    edit(&mut work, "build", |build| {
        build.outcomes = vec![outcome("back", "plan")];
    });
    let mut world = started(work);
    world.next("", &json!({"plan": "one", "note": "first"}));
    world.next("back", &json!({}));
    assert_eq!(data(&world)["outputs"]["w/plan"]["plan"], "one");
    let lines = world.tool("next");
    assert!(
        line(&lines, "tool").contains("Output `plan` is missing"),
        "{lines:?}"
    );
    world.next("", &json!({"plan": "two"}));
    assert_eq!(data(&world)["outputs"]["w/plan"], json!({"plan": "two"}));
}

#[test]
fn a_gate_that_fails_never_leads_past_itself() {
    let mut work = workflow("w", &["red", "green", "ship"]);
    edit(&mut work, "red", |red| red.when = visited("red", &[0]));
    edit(&mut work, "green", |green| {
        green.gate = vec![gate(Some("red"))];
    });
    edit(&mut work, "green", |green| {
        green.when = visited("green", &[0]);
    });
    let mut world = started(work);
    world.tool("next");
    world.tool("next");
    over(&mut world, "failed");
    assert_eq!(index(&world), 1);
}

#[test]
fn a_jump_goes_on_behind_a_phase_whose_condition_does_not_hold_whoever_makes_it() {
    type Jump = (fn(&mut Phase), fn(&mut World) -> Vec<String>);
    let jumps: [Jump; 3] = [
        (
            |release| release.outcomes = vec![outcome("back", "plan")],
            |world| world.next("back", &json!({})),
        ),
        (
            |release| release.approve = Some(ask(&[("publish", "next"), ("revise", "plan")])),
            |world| {
                world.tool("next");
                world.choose(Some("revise"))
            },
        ),
        (
            |release| release.gate = vec![gate(Some("plan"))],
            |world| {
                world.tool("next");
                over(world, "failed")
            },
        ),
    ];
    for (change, jump) in jumps {
        let mut work = workflow("w", &["plan", "draft", "release", "publish"]);
        edit(&mut work, "plan", |plan| plan.when = visited("plan", &[0]));
        edit(&mut work, "release", change);
        let mut world = started(work);
        world.tool("next");
        world.tool("next");
        let answer = jump(&mut world).join("\n");
        assert!(
            answer.contains("Skipped, because the conditions are not met: plan."),
            "{answer}"
        );
        assert_eq!(index(&world), 1);
    }
}

#[test]
fn an_answer_that_leads_back_never_leads_past_its_phase() {
    let mut work = workflow("w", &["plan", "release", "publish"]);
    edit(&mut work, "plan", |plan| plan.when = visited("plan", &[0]));
    edit(&mut work, "release", |release| {
        release.when = visited("release", &[0]);
        release.approve = Some(ask(&[("publish", "next"), ("revise", "plan")]));
    });
    let mut world = started(work);
    world.tool("next");
    world.tool("next");
    let lines = world.choose(Some("revise"));
    assert_eq!(index(&world), 1);
    let answer = line(&lines, "settled tool");
    assert!(
        answer.contains("the conditions (`when`) of the phases on that way are not met. You are still in RELEASE."),
        "{answer}"
    );
}

#[test]
fn a_visit_can_be_allowed_after_a_message_has_resumed_the_run() {
    let mut work = with_review();
    edit(&mut work, "build", |build| build.max_visits = Some(1));
    let mut world = started(work);
    world.tool("next");
    world.tool("next");
    world.next("changes", &json!({}));
    world.user_input();
    let lines = world.control(Control::Resume, "");
    assert!(
        line(&lines, "notify Info").contains("entered once more"),
        "{lines:?}"
    );
    world.restart();
    world.next("changes", &json!({}));
    assert_eq!(index(&world), 1);
}

/// A host without dialogs, in which the run waits for an approval.
fn awaiting(change: impl FnOnce(&mut Workflow), outputs: &Value) -> World {
    let mut work = workflow("w", &["plan", "release", "publish", "after"]);
    edit(&mut work, "release", |release| {
        release.approve = Some(ask(&[
            ("publish", "next"),
            ("revise", "plan"),
            ("abort", "cancel"),
        ]));
    });
    change(&mut work);
    let mut world = World::new(vec![work]);
    world.restart_with(Abilities {
        dialogs: false,
        widgets: Some(true),
        ..Abilities::default()
    });
    world.command("w do it");
    world.tool("next");
    world.next("skip", outputs);
    world
}

#[test]
fn an_approval_after_a_restart_follows_the_outcome_and_keeps_the_outputs() {
    let change = |work: &mut Workflow| {
        edit(work, "release", |release| {
            release.outcomes = vec![outcome("ok", "next"), outcome("skip", "after")];
            release.outputs = vec![plan_text(1)];
        });
    };
    let mut world = awaiting(change, &json!({"plan": "It is ready."}));
    world.restart_with(Abilities {
        dialogs: false,
        widgets: Some(true),
        ..Abilities::default()
    });
    // The first one shows the question again.
    world.control(Control::Approve, "publish");
    world.control(Control::Approve, "publish");
    assert_eq!(index(&world), 3);
    let data = data(&world);
    assert_eq!(data["outputs"]["w/release"]["plan"], "It is ready.");
    assert_eq!(data["outcome"], "skip");
    assert_eq!(data["handedOver"], Value::Null);
}

#[test]
fn an_answer_that_leads_back_runs_no_gate() {
    let change = |work: &mut Workflow| {
        edit(work, "release", |release| {
            release.outcomes = vec![outcome("skip", "after")];
            release.gate = vec![gate(None)];
        });
    };
    let mut world = awaiting(change, &json!({}));
    over(&mut world, "passed");
    world.control(Control::Approve, "revise");
    assert_eq!(index(&world), 0);
    assert_eq!(data(&world)["outcome"], Value::Null);
}

#[test]
fn an_answer_by_command_that_leads_back_is_no_approval() {
    let change = |work: &mut Workflow| {
        edit(work, "release", |release| {
            release.outcomes = vec![outcome("skip", "after")];
        });
    };
    let mut world = awaiting(change, &json!({}));
    let lines = world.control(Control::Approve, "revise");
    line(
        &lines,
        "notify Info ↩ RELEASE is not approved: sent back to 🔹 PLAN, by you.",
    );
    let is_said = |text: &str| lines.iter().any(|line| line.contains(text));
    assert!(
        is_said(
            "Not approved: the user was asked \"Publish it?\" and chose \"revise\". The workflow went back: RELEASE → 🔹 PLAN"
        ),
        "{lines:?}"
    );
    assert!(!is_said("✓ Approved"), "{lines:?}");

    let mut world = awaiting(change, &json!({}));
    let lines = world.control(Control::Approve, "publish");
    line(&lines, "notify Info ✓ RELEASE → 🔹 AFTER, by you.");
    assert!(
        lines
            .iter()
            .any(|line| line.contains("✓ Approved: the user was asked \"Publish it?\" and chose \"publish\". The workflow moved: RELEASE → 🔹 AFTER")),
        "{lines:?}"
    );
}

#[test]
fn an_answer_that_cancels_says_so() {
    let change = |work: &mut Workflow| {
        edit(work, "release", |release| {
            release.outcomes = vec![outcome("skip", "after")];
        });
    };
    let mut world = awaiting(change, &json!({}));
    let lines = world.control(Control::Approve, "abort");
    let is_said = |text: &str| lines.iter().any(|line| line.contains(text));
    assert!(
        is_said("notify Info The workflow is cancelled in RELEASE, by you."),
        "{lines:?}"
    );
    assert!(!is_said("DONE"), "{lines:?}");

    let mut work = with_review();
    edit(&mut work, "build", |build| {
        build.max_visits = Some(1);
        build.on_limit = Some(Target::Cancel);
    });
    let mut world = started(work);
    world.tool("next");
    world.tool("next");
    let lines = world.next("changes", &json!({}));
    assert!(
        line(&lines, "tool").contains("The workflow is cancelled"),
        "{lines:?}"
    );
}

#[test]
fn an_entry_of_a_move_that_was_not_made_is_not_taken_for_the_next_one() {
    let mut work = workflow("w", &["plan", "build", "release"]);
    let mut note = plan_text(1);
    note.required = false;
    edit(&mut work, "plan", |plan| plan.outputs = vec![note.clone()]);
    edit(&mut work, "build", |build| build.outputs = vec![note]);
    let mut world = started(work);
    world.next("", &json!({"plan": "one"}));
    let before = world.branch.len();
    world.next("", &json!({"plan": "not made"}));
    world.branch.truncate(before + 1);
    world.restart();
    assert_eq!(index(&world), 1);
    world.tool("next");
    assert_eq!(data(&world)["outputs"], json!({"w/plan": {"plan": "one"}}));
}

/// A gate of BUILD that leads to a phase behind it, or an answer that does; `review`, or all phases behind it, never apply.
fn leads_on(change: impl FnOnce(&mut Phase), never_entered: &[&str]) -> World {
    let mut work = workflow("w", &["plan", "build", "release", "review"]);
    edit(&mut work, "build", change);
    for phase in never_entered {
        never(&mut work, phase);
    }
    let mut world = started(work);
    world.tool("next");
    world.tool("next");
    world
}

#[test]
fn a_gate_that_fails_never_skips_on_behind_the_phase_that_it_leads_to() {
    let to_review = |build: &mut Phase| build.gate = vec![gate(Some("review"))];
    let mut world = leads_on(to_review, &["review"]);
    let answer = over(&mut world, "failed").join("\n");
    assert_eq!(index(&world), 1, "{answer}");
    assert_eq!(world.last_state()["active"], true);
    assert!(
        answer.contains(
            "The workflow was not moved, because the conditions (`when`) of the phases on that way are not met."
        ),
        "{answer}"
    );

    let to_release = |build: &mut Phase| build.gate = vec![gate(Some("release"))];
    let mut world = leads_on(to_release, &["release"]);
    over(&mut world, "failed");
    assert_eq!(index(&world), 1);

    let mut world = leads_on(to_release, &[]);
    over(&mut world, "failed");
    assert_eq!(index(&world), 2);
    let lines = world.restart();
    line(&lines, "status N-w > 🔹 RELEASE [3/4]");
}

#[test]
fn an_answer_to_a_phase_that_is_skipped_goes_on_behind_it_and_says_so() {
    let to_review = |build: &mut Phase| {
        build.approve = Some(ask(&[("publish", "next"), ("check", "review")]));
    };
    let mut world = leads_on(to_review, &["review"]);
    let answer = world.choose(Some("check")).join("\n");
    assert_eq!(world.last_state()["active"], false, "{answer}");

    let to_release = |build: &mut Phase| {
        build.approve = Some(ask(&[("publish", "next"), ("check", "release")]));
    };
    let mut world = leads_on(to_release, &["release"]);
    let answer = world.choose(Some("check")).join("\n");
    assert_eq!(index(&world), 3, "{answer}");
    assert!(
        answer.contains("Skipped, because the conditions are not met: release."),
        "{answer}"
    );

    let mut world = leads_on(to_review, &[]);
    let answer = world.choose(Some("check")).join("\n");
    assert!(
        answer.contains(
            "✓ Answered: the user was asked \"Publish it?\" and chose \"check\". The workflow moved: BUILD → 🔹 REVIEW"
        ),
        "{answer}"
    );
}

#[test]
fn an_approval_is_an_approval_where_the_agents_outcome_leads_back() {
    let change = |work: &mut Workflow| {
        edit(work, "release", |release| {
            release.outcomes = vec![outcome("skip", "plan")];
        });
    };
    let said = "✓ Approved: the user was asked \"Publish it?\" and chose \"publish\". The workflow went back: RELEASE → 🔹 PLAN";

    let mut world = awaiting(change, &json!({}));
    let answer = world.control(Control::Approve, "publish").join("\n");
    assert!(answer.contains(said), "{answer}");
    assert!(
        answer.contains("notify Info ✓ RELEASE → 🔹 PLAN, by you."),
        "{answer}"
    );

    let mut work = workflow("w", &["plan", "release", "publish"]);
    edit(&mut work, "release", |release| {
        release.approve = Some(ask(&[("publish", "next"), ("revise", "plan")]));
    });
    change(&mut work);
    let mut world = started(work);
    world.tool("next");
    world.next("skip", &json!({}));
    let answer = world.choose(Some("publish")).join("\n");
    assert!(answer.contains(said), "{answer}");
    assert!(!answer.contains("Not approved"), "{answer}");
}

#[test]
fn an_answer_that_cancels_gives_no_reason_of_an_earlier_move() {
    let mut work = workflow("w", &["plan", "build", "release"]);
    edit(&mut work, "build", |build| {
        build.max_visits = Some(1);
        build.on_limit = Some(Target::Phase("release".to_owned()));
    });
    edit(&mut work, "release", |release| {
        release.approve = Some(ask(&[
            ("publish", "next"),
            ("again", "build"),
            ("abort", "cancel"),
        ]));
    });
    let mut world = started(work);
    world.tool("next");
    world.tool("next");
    world.tool("next");
    let answer = world.choose(Some("again")).join("\n");
    assert!(answer.contains("BUILD has been entered once"), "{answer}");
    world.tool("next");
    let answer = world.choose(Some("abort")).join("\n");
    assert!(answer.contains("❌ Cancelled"), "{answer}");
    assert!(!answer.contains("BUILD has been entered"), "{answer}");
    assert_eq!(data(&world)["limits"], Value::Null);
}

#[test]
fn an_answer_by_command_that_leads_nowhere_says_why_and_is_asked_for_anew() {
    let change = |work: &mut Workflow| {
        never(work, "plan");
        edit(work, "release", |release| {
            release.when = visited("release", &[0]);
        });
    };
    // PLAN is skipped, and the first call is the approval's.
    let mut work = workflow("w", &["plan", "release", "publish"]);
    edit(&mut work, "release", |release| {
        release.approve = Some(ask(&[("publish", "next"), ("revise", "plan")]));
    });
    change(&mut work);
    let mut world = World::new(vec![work]);
    world.restart_with(Abilities {
        dialogs: false,
        widgets: Some(true),
        ..Abilities::default()
    });
    world.command("w do it");
    world.tool("next");
    let asked = world.approval.clone();
    let lines = world.control(Control::Approve, "revise");
    line(
        &lines,
        "notify Warning The workflow was not moved, because the conditions (`when`) of the phases on that way are not met.",
    );
    assert_eq!(index(&world), 1);
    world.tool("next");
    assert_ne!(world.approval, asked, "the question is another one");
    world.control(Control::Approve, "publish");
    assert_eq!(index(&world), 2);
}

#[test]
fn a_stored_question_says_what_the_limits_make_of_each_answer_and_a_terminal_follows_them() {
    let change = |work: &mut Workflow| {
        edit(work, "plan", |plan| plan.max_visits = Some(1));
    };
    let pauses = "pauses the workflow, because PLAN has been entered once, which is its limit";
    let mut world = awaiting(change, &json!({}));
    world.tool("next");
    assert_eq!(world.consequences[1], pauses);
    let lines = world.report(PlatformEvent::ApprovalAnswered {
        request: world.approval.clone(),
        choice: "revise".to_owned(),
        is_earlier: false,
    });
    assert_eq!(index(&world), 1, "{lines:?}");
    world.word = Some(Word::Chosen("revise".to_owned()));
    let lines = world.report(PlatformEvent::ApprovalAnswered {
        request: world.approval.clone(),
        choice: "revise".to_owned(),
        is_earlier: false,
    });
    assert_eq!(index(&world), 1, "{lines:?}");
    assert!(
        line(&lines, "notify Warning").contains("PLAN has been entered once, which is its limit"),
        "{lines:?}"
    );
}

#[test]
fn phases_that_a_person_passes_over_are_neither_marked_as_done_nor_counted() {
    let mut world = World::started(vec![workflow("w", &["a", "b", "c", "d"])]);
    world.control(Control::Goto, "c");
    assert_eq!(world.phases.as_deref(), Some("✓ A – B ▸ C ○ D"));
    world.restart();
    assert_eq!(world.phases.as_deref(), Some("✓ A – B ▸ C ○ D"));
    world.tool("next");
    assert_eq!(world.phases.as_deref(), Some("✓ A – B ✓ C ▸ D"));
    let answer = world.tool("next").join("\n");
    assert!(
        answer.contains("The workflow is complete: 3 of its 4 phases were entered."),
        "{answer}"
    );
}
