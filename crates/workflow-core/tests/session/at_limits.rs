//! `tries`, and where a limit leads: of a check, of a budget, of reminders.

use serde_json::json;
use workflow_core::definition::{
    Bound, Budget, CancelBy, Check, ContinueRule, Gate, Target, Workflow,
};
use workflow_core::session::Control;

use crate::approvals::ask;
use crate::event::Event;
use crate::flow::{data, edit, gate, index, over, started};
use crate::flow_moves::never;
use crate::world::{World, line, user_text, workflow};

/// BUILD with a check of three tries, between PLAN and RELEASE.
fn with_tries(change: impl FnOnce(&mut Gate)) -> Workflow {
    let mut work = workflow("w", &["plan", "build", "release"]);
    edit(&mut work, "build", |build| {
        build.gate = vec![Gate {
            tries: Some(3),
            ..gate(None)
        }];
        change(&mut build.gate[0]);
    });
    work
}

/// Fails so many times, each with a call of `next`; returns the last answer.
fn fail(world: &mut World, times: u32) -> String {
    let mut answer = String::new();
    for _ in 0..times {
        world.tool("next");
        answer = over(world, "failed").join("\n");
    }
    answer
}

#[test]
fn the_third_failure_pauses_the_run_and_a_resume_allows_one_more_try() {
    let mut world = started(with_tries(|_| {}));
    world.tool("next");
    let answer = fail(&mut world, 2);
    assert!(answer.contains("Try 2 of 3."), "{answer}");
    assert!(line(&world.tool("status"), "tool").contains("(try 3 of 3)"));
    world.restart();
    let answer = fail(&mut world, 1);
    assert!(
        answer
            .contains("The workflow is paused: cargo test has failed 3 times, which is its limit."),
        "{answer}"
    );
    for action in ["next", "loop"] {
        let lines = world.tool(action);
        assert!(line(&lines, "tool").contains("one more try with /workflow-resume"));
    }
    let lines = world.control(Control::Resume, "");
    assert!(line(&lines, "notify Info").contains("the gate may be tried once more"));
    assert!(fail(&mut world, 1).contains("4 times"));
    world.control(Control::Resume, "");
    world.tool("next");
    over(&mut world, "passed");
    assert_eq!(index(&world), 2);
    assert_eq!(data(&world)["failures"], json!(null));
}

#[test]
fn a_check_that_could_not_run_is_no_failure_and_the_person_is_told() {
    let mut world = started(with_tries(|check| check.tries = Some(1)));
    world.tool("next");
    world.tool("next");
    let reports = json!([{"what": "cargo test", "verdict": {"couldNotRun": "missing"}, "reason": "there is no cargo", "durationMs": 0}]);
    let (gate, reports) = (world.gate, serde_json::from_value(reports).unwrap());
    let event = workflow_core::event::PlatformEvent::GateFinished { gate, reports };
    let lines = world.report(event);
    assert!(
        line(&lines, "notify Warning")
            .contains("cargo test could not be checked: there is no cargo")
    );
    assert_eq!(index(&world), 1);
    assert_eq!(data(&world)["failures"], json!(null));
    assert!(fail(&mut world, 1).contains("has failed once"));
}

#[test]
fn on_fail_acts_at_each_failure_before_the_limit_and_the_way_back_counts_on() {
    let mut world = started(with_tries(|check| {
        check.on_fail = Some(Target::from("plan"));
        check.on_limit = Some(Target::from("release"));
    }));
    for _ in 0..2 {
        world.tool("next");
        fail(&mut world, 1);
        assert_eq!(index(&world), 0);
        world.step(Event::TurnEnd);
    }
    world.tool("next");
    let answer = fail(&mut world, 1);
    assert_eq!(index(&world), 2, "{answer}");
    assert!(
        answer.contains("cargo test has failed 3 times, which is its limit."),
        "{answer}"
    );
    assert_eq!(data(&world)["failures"], json!(null));
}

#[test]
fn a_loop_counts_the_tries_on_and_a_move_of_the_user_begins_them_anew() {
    let mut world = started(with_tries(|_| {}));
    world.tool("next");
    fail(&mut world, 2);
    world.tool("loop");
    world.step(Event::TurnEnd);
    world.tool("next");
    world.step(Event::TurnEnd);
    let answer = fail(&mut world, 1);
    assert!(answer.contains("has failed 3 times"), "{answer}");
    world.control(Control::Goto, "plan");
    world.prompt("go on");
    world.tool("next");
    world.step(Event::TurnEnd);
    let answer = fail(&mut world, 1);
    assert!(answer.contains("Try 1 of 3."), "{answer}");
}

#[test]
fn a_check_is_the_same_whatever_values_its_text_has() {
    let mut work = with_tries(|check| {
        let Check::Run(run) = &mut check.check else {
            panic!("it is a command");
        };
        run.command.push("{outputs.build.filter}".to_owned());
        let values = ["a", "b"].map(str::to_owned).to_vec();
        run.values = vec![("outputs.build.filter".to_owned(), values)];
    });
    edit(&mut work, "build", |build| {
        let filter =
            json!({"name": "filter", "kind": {"oneOf": ["a", "b"]}, "required": true, "about": ""});
        build.outputs = vec![serde_json::from_value(filter).expect("it is an output")];
    });
    let mut world = started(work);
    world.tool("next");
    let mut answers = Vec::new();
    for filter in ["a", "a", "b"] {
        world.next("", &json!({ "filter": filter }));
        answers.push(over(&mut world, "failed").join("\n"));
    }
    let last = &answers[2];
    assert!(last.contains("cargo test b has failed 3 times"), "{last}");
}

#[test]
fn a_limit_of_tries_never_leads_behind_a_phase_that_is_skipped() {
    let mut work = with_tries(|check| {
        check.tries = Some(1);
        check.on_limit = Some(Target::from("release"));
    });
    never(&mut work, "release");
    let mut world = started(work);
    world.tool("next");
    let lines = fail(&mut world, 1);
    let why = "which is its limit. The workflow was not moved, because the conditions (`when`)";
    assert!(lines.contains(why), "{lines}");
    assert_eq!(
        (index(&world), world.last_state()["active"].clone()),
        (json!(1), json!(true))
    );
    assert!(line(&world.tool("next"), "tool").contains("one more try"));
}

#[test]
fn a_limit_that_cancels_asks_the_user_who_alone_may_cancel() {
    let mut work = with_tries(|check| {
        check.tries = Some(1);
        check.on_limit = Some(Target::Cancel);
    });
    work.cancel = Some(CancelBy::User);
    let mut world = started(work);
    world.tool("next");
    let lines = fail(&mut world, 1);
    assert!(lines.contains("Cancel the workflow?"), "{lines}");
    assert_eq!(world.last_state()["active"], true);
    world.answer(true);
    assert_eq!(world.last_state()["cancelled"], true);
}

#[test]
fn a_visit_too_many_leads_behind_the_phase_but_not_past_the_gate_that_failed() {
    let change = |last: &str| {
        let mut work = workflow("w", &["plan", "build", "check", "release"]);
        for id in ["build", last] {
            edit(&mut work, id, |phase| {
                (phase.max_visits, phase.on_limit) = (Some(1), Some(Target::Next));
            });
        }
        edit(&mut work, "check", |check| {
            check.gate = vec![gate(Some("build"))];
        });
        let mut world = started(work);
        world.tool("next");
        world.step(Event::TurnEnd);
        world.tool("next");
        world.step(Event::TurnEnd);
        fail(&mut world, 1);
        index(&world)
    };
    // CHECK begins again; where it may not be entered either, the run stays in it.
    assert_eq!(change("build"), 2);
    assert_eq!(change("check"), 2);
}

fn turn(world: &mut World) -> Vec<String> {
    let mut lines = world.step(Event::TurnStart { index: None });
    lines.extend(world.step(Event::TurnEnd));
    lines
}

#[test]
fn a_budget_leads_to_a_phase_where_it_does_not_count_and_pauses_the_run_behind_it() {
    let mut work = workflow("w", &["a", "report", "end"]);
    work.budget = Budget {
        turns: Some(1),
        on_limit: Some(Target::from("report")),
        ..Budget::default()
    };
    let mut world = started(work);
    let lines = turn(&mut world);
    assert_eq!(index(&world), 1, "{lines:?}");
    let text = user_text(&lines);
    assert!(text.contains("1 of 1 turn of workflow N-w."), "{text}");
    assert!(text.contains("The workflow went to 🔹 REPORT"), "{text}");
    turn(&mut world);
    world.restart();
    assert!(!world.tool_call("read").join("").contains("block"));
    world.tool("next");
    assert_eq!(index(&world), 2);
    let lines = turn(&mut world);
    assert!(line(&lines, "notify Warning").contains("budget is used up"));
    assert!(line(&world.tool_call("read"), "block").contains("no tool may run"));
}

#[test]
fn a_call_beyond_a_budget_is_blocked_and_reads_where_the_run_went() {
    for (to, position) in [("b", json!(1)), ("done", json!(0))] {
        let mut work = workflow("w", &["a", "b"]);
        edit(&mut work, "a", |a| {
            a.budget.tool_calls = Some(1);
            a.budget.on_limit = Some(Target::from(to));
        });
        let mut world = started(work);
        assert!(!world.tool_call("read").join("").contains("block"));
        let lines = world.tool_call("read");
        assert!(
            line(&lines, "block").contains("1 of 1 tool call of phase A"),
            "{lines:?}"
        );
        assert_eq!(index(&world), position);
        assert_eq!(world.last_state()["active"], to == "b");
    }
}

#[test]
fn too_many_reminders_lead_to_a_phase_of_the_workflow_that_says_so() {
    let mut outer = workflow("w", &["in", "last"]);
    outer.phases[0] = workflow_core::definition::PhaseEntry::Subworkflow("v".into());
    outer.auto_continue = ContinueRule {
        max: Some(Bound::Times(0)),
        on_limit: Some(Target::from("last")),
        ..ContinueRule::default()
    };
    let mut world = World::started(vec![outer, workflow("v", &["x", "y"])]);
    let lines = world.stop("stop");
    assert_eq!(index(&world), 1, "{lines:?}");
    assert!(
        user_text(&lines).contains("The workflow went to 🔹 LAST"),
        "{lines:?}"
    );
}

#[test]
fn too_many_reminders_may_end_the_run() {
    let mut work = workflow("w", &["a", "b"]);
    work.auto_continue.max = Some(Bound::Times(0));
    work.auto_continue.on_limit = Some(Target::Done);
    let mut world = World::started(vec![work]);
    let lines = world.stop("stop");
    assert_eq!(lines[0], "mutation unload true, persist true");
    let message = lines.join("\n");
    assert!(message.contains("Ended by a limit: "), "{message}");
    assert!(!message.contains("Phases completed"), "{message}");
}

#[test]
fn a_limit_of_visits_pauses_where_it_would_pass_a_gate_or_an_approval() {
    for (to, is_asked) in [
        (Target::Next, true),
        (Target::from("release"), true),
        (Target::EndAs("over".to_owned()), false),
        (Target::Done, false),
    ] {
        let mut work = workflow("w", &["plan", "build", "release"]);
        edit(&mut work, "build", |build| {
            (build.max_visits, build.on_limit) = (Some(1), Some(to.clone()));
            if is_asked {
                build.approve = Some(ask("Good?", &[]));
            } else {
                build.gate = vec![gate(None)];
            }
        });
        let mut world = started(work);
        world.tool("next");
        world.step(Event::TurnEnd);
        world.tool("loop");
        world.step(Event::TurnEnd);
        let lines = world.tool("next");
        assert_eq!(index(&world), 0, "{to:?}");
        line(
            &lines,
            "notify Warning ⏸ The workflow is paused: BUILD has been entered once, which is its limit; what `onLimit` says would pass its gate or its approval.",
        );
    }
}
