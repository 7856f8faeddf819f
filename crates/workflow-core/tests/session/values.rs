//! The values of a run: when they are taken over, what reads them, and what they bound.

use proptest::prelude::*;
use serde_json::{Number, Value, json};
use workflow_core::definition::{
    Approval, Check, Gate, Parameter, ParameterKind, Phase, PhaseEntry, Subject, Target, Test,
    ValueLimits, Workflow,
};
use workflow_core::session::Control;

use crate::approvals::ask;
use crate::flow::{data, edit, gate, index, outcome, over, plan_text, started, when};
use crate::world::{World, line, workflow};

/// Plan hands over its size and an outcome, behind a gate on the size and a question about both.
fn sized() -> Workflow {
    let mut work = workflow("w", &["plan", "build", "release"]);
    edit(&mut work, "plan", |plan| {
        let sizes = ["small", "large"].map(str::to_owned).to_vec();
        plan.outputs = vec![Parameter::new("size", ParameterKind::OneOf(sizes.clone()))];
        plan.outcomes = vec![outcome("ok", "next"), outcome("again", "plan")];
        "Last: {outcome.plan} {answer.plan.choice}.".clone_into(&mut plan.instructions);
        let mut check = gate(None);
        if let Check::Run(run) = &mut check.check {
            run.command.push("{outputs.plan.size}".to_owned());
            run.values = vec![("outputs.plan.size".to_owned(), sizes)];
        }
        plan.gate = vec![check];
        plan.approve = Some(Approval {
            ask: "A {outputs.plan.size} one, {outcome.plan}?".to_owned(),
            choices: ["yes", "no"].map(str::to_owned).to_vec(),
            ..Approval::default()
        });
    });
    work
}

fn size(size: &str) -> Value {
    json!({ "size": size })
}

fn bounded(least: Option<u32>) -> Workflow {
    let mut work = workflow("w", &["build", "review"]);
    let limits = ValueLimits {
        min: least.map(Number::from),
        whole: true,
        ..ValueLimits::default()
    };
    work.inputs = vec![Parameter {
        limits,
        example: Some(json!(2)),
        ..Parameter::new("rounds", ParameterKind::Number)
    }];
    edit(&mut work, "build", |build| {
        build.max_visits = Some(u32::MAX);
        build.bounds = vec![("maxVisits".to_owned(), "inputs.rounds".to_owned())];
    });
    edit(&mut work, "review", |review| {
        review.outcomes = vec![outcome("again", "build"), outcome("ok", "next")];
    });
    work
}

#[test]
fn a_gate_and_a_question_have_the_values_of_the_call_that_asks() {
    let mut world = started(sized());
    let lines = world.next("ok", &size("small"));
    let runs = line(&lines, "gate #");
    assert!(runs.contains(r#"["cargo","test","small"]"#), "{runs}");
    // The user trusts the command with all the values that it may have.
    let trusted = r#""values":[["outputs.plan.size",["small","large"]]]"#;
    assert!(runs.contains(trusted), "{runs}");
    let lines = over(&mut world, "failed");
    assert!(line(&lines, "settled tool").contains("Gate failed"));
    assert_eq!(
        data(&world)["outputs"],
        json!({"w/plan": {"size": "small"}})
    );
    assert_eq!(data(&world)["outcomes"], json!({"w/plan": "ok"}));
    world.next("again", &size("large"));
    let lines = over(&mut world, "passed");
    line(&lines, "ask A large one, again?");
    let lines = world.choose(Some("no"));
    assert!(line(&lines, "settled tool").contains("Not approved"));
    assert_eq!(data(&world)["answers"], json!({"w/plan": {"choice": "no"}}));
    assert_eq!(data(&world)["outcomes"], json!({"w/plan": "again"}));
    world.restart();
    let status = line(&world.tool("status"), "tool").to_owned();
    assert!(status.contains("Last: again no."), "{status}");
}

#[test]
fn a_phase_that_the_user_left_has_no_outcome() {
    let mut work = workflow("w", &["a", "b", "c", "d"]);
    edit(&mut work, "a", |a| {
        a.outcomes = vec![outcome("ok", "next"), outcome("no", "next")];
    });
    edit(&mut work, "c", |c| {
        c.when = when(Subject::Outcome("a".to_owned()), vec![json!("ok")], true);
    });
    for (by_user, entered) in [(false, 3), (true, 2)] {
        let mut world = started(work.clone());
        if by_user {
            world.next("ok", &json!({}));
            world.control(Control::Goto, "a");
            world.control(Control::Skip, "");
            assert_eq!(data(&world)["outcomes"], Value::Null);
            world.tool("status");
        } else {
            world.next("ok", &json!({}));
        }
        world.tool("next");
        assert_eq!(index(&world), entered, "{by_user}");
    }
}

#[test]
fn an_input_bounds_the_visits_of_a_phase() {
    let mut world = World::new(vec![bounded(Some(1))]);
    world.command("w --rounds 2 the task");
    world.stop("aborted");
    for _ in 0..2 {
        world.tool("next");
        world.next("again", &json!({}));
    }
    assert_eq!(index(&world), 1, "a third visit is one too many");
    assert_eq!(data(&world)["visits"]["w#build"], 2);
    for wrong in ["0", "1.5", "-3", "many"] {
        let mut world = World::new(vec![bounded(Some(1))]);
        let lines = world.command(&format!("w --rounds {wrong} the task"));
        let refusal = lines.join("\n");
        assert!(world.branch.is_empty(), "{wrong}");
        assert!(refusal.contains("for example `2`"), "{refusal}");
    }
}

#[test]
fn a_bound_from_an_input_holds_when_the_files_change() {
    let mut world = World::new(vec![bounded(Some(1))]);
    world.command("w --rounds 2 the task");
    world.stop("aborted");
    let mut changed = bounded(Some(1));
    edit(&mut changed, "build", |build| {
        build.max_visits = Some(9);
        build.bounds.clear();
    });
    world.workflows = vec![changed];
    let lines = world.restart();
    assert!(
        lines.join("\n").contains("`maxVisits` of phase BUILD"),
        "{lines:?}"
    );
    world.stop("aborted");
    for _ in 0..2 {
        world.tool("next");
        world.next("again", &json!({}));
    }
    assert_eq!(index(&world), 1);
}

#[test]
fn a_bound_whose_value_the_user_passed_by_is_named_and_has_no_number() {
    let mut work = workflow("w", &["plan", "build", "review"]);
    let bound = |key: &str| vec![(key.to_owned(), "outputs.plan.rounds".to_owned())];
    edit(&mut work, "build", |build| {
        build.max_visits = Some(u32::MAX);
        build.bounds = bound("maxVisits");
        build.gate = vec![Gate {
            tries: Some(u32::MAX),
            bounds: bound("tries"),
            ..gate(None)
        }];
    });
    let mut world = started(work);
    world.control(Control::Goto, "build");
    let mut texts = world.tool("status");
    texts.extend(world.tool("next"));
    texts.extend(over(&mut world, "failed"));
    texts.extend(world.tool("status"));
    texts.retain(|line| !line.starts_with("entry") && !line.starts_with("gate #"));
    let texts = texts.join("\n");
    assert!(
        texts.contains("at most {outputs.plan.rounds} tries"),
        "{texts}"
    );
    assert!(!texts.contains("4294967295"), "{texts}");
}

#[test]
fn all_outputs_of_a_run_take_one_mebibyte_at_most() {
    let ids: Vec<String> = (0..18).map(|at| format!("p{at}")).collect();
    let mut work = workflow("w", &ids.iter().map(String::as_str).collect::<Vec<_>>());
    for id in &ids {
        edit(&mut work, id, |phase| phase.outputs = vec![plan_text(1)]);
    }
    let mut world = started(work);
    let text = "x".repeat((64 << 10) - 2);
    for _ in 0..16 {
        world.next("", &json!({ "plan": text }));
    }
    let lines = world.next("", &json!({ "plan": text }));
    let answer = line(&lines, "tool");
    assert!(answer.contains("may take 1024 KiB together"), "{answer}");
    assert_eq!(index(&world), 16);
}

#[test]
fn what_a_visit_hands_over_takes_the_place_of_all_outputs_of_an_earlier_one() {
    let mut work = workflow("w", &["a", "b"]);
    edit(&mut work, "a", |a| {
        let optional = |name: &str| Parameter {
            required: false,
            name: name.to_owned(),
            ..plan_text(1)
        };
        a.outputs = vec![optional("plan"), optional("risk")];
        a.outcomes = vec![outcome("again", "a"), outcome("on", "next")];
        a.gate = vec![gate(None)];
    });
    let outputs = |world: &World| data(world)["outputs"]["w/a"].clone();
    let mut world = started(work);
    world.next("again", &json!({ "plan": "1", "risk": "2" }));
    over(&mut world, "passed");
    assert_eq!(outputs(&world), json!({ "plan": "1", "risk": "2" }));
    // The user leaves it without the agent.
    world.control(Control::Next, "again");
    over(&mut world, "passed");
    assert_eq!(outputs(&world), json!({ "plan": "1", "risk": "2" }));
    world.tool("status");
    world.next("again", &json!({ "plan": "3" }));
    over(&mut world, "failed");
    assert_eq!(outputs(&world), json!({ "plan": "3" }));
    // In the same visit, values add up.
    world.next("again", &json!({ "risk": "4" }));
    over(&mut world, "passed");
    assert_eq!(outputs(&world), json!({ "plan": "3", "risk": "4" }));
    world.next("on", &json!({}));
    over(&mut world, "passed");
    assert_eq!(outputs(&world), Value::Null);
}

#[test]
fn the_constraints_of_outputs_are_told_with_the_phase() {
    let mut work = workflow("w", &["a", "b"]);
    edit(&mut work, "a", |a| {
        let limits = ValueLimits {
            min_items: Some(1),
            max_items: Some(3),
            ..ValueLimits::default()
        };
        a.outputs = vec![
            plan_text(40),
            Parameter {
                limits,
                ..Parameter::new("steps", ParameterKind::List)
            },
        ];
    });
    let mut world = started(work);
    let context = world.prompt("go").join("\n");
    let status = world.tool("status").join("\n");
    for text in [context, status] {
        assert!(text.contains("a text of at least 40 characters"), "{text}");
        assert!(text.contains("a list of texts with 1 to 3 items"), "{text}");
    }
    let steps = json!({"plan": "x".repeat(40), "steps": ["a", "b", "c", "d"]});
    let lines = world.next("", &steps);
    let answer = line(&lines, "tool");
    assert!(
        answer.contains("`steps` must be a list of texts with 1 to 3 items, not 4 items"),
        "{answer}"
    );
}

#[test]
fn a_check_without_variables_stays_as_it_is() {
    let mut work = sized();
    edit(&mut work, "plan", |plan| plan.gate = vec![gate(None)]);
    let PhaseEntry::Phase(plan) = &work.phases[0] else {
        panic!("it is a phase");
    };
    let [Gate { check, .. }] = &*plan.gate else {
        panic!("it has one check");
    };
    let written = serde_json::to_string(check).expect("a check is JSON");
    let mut world = started(work);
    let lines = world.next("ok", &size("small"));
    assert!(line(&lines, "gate #").contains(&written), "{lines:?}");
}

fn some_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-3i64..4).prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        "[ab]".prop_map(Value::from),
    ]
}

proptest! {
    #[test]
    fn a_comparison_is_as_it_is_written(
        value in prop::option::of(some_value()),
        list in prop::option::of(prop::collection::vec("[ab]", 0..4)),
        values in prop::collection::vec(some_value(), 1..3),
        bounds in (prop::option::of(-3i64..4), prop::option::of(-3i64..4)),
    ) {
        let test = |negated| Test::Values { values: values.clone(), negated };
        let is_one = value.as_ref().is_some_and(|value| values.contains(value));
        prop_assert_eq!(test(false).holds(value.as_ref()), is_one);
        prop_assert_eq!(test(true).holds(value.as_ref()), !is_one);
        let items = list.map(|list| list.into_iter().map(Value::from).collect::<Vec<_>>());
        let contains = items.as_ref().is_some_and(|items| items.iter().any(|item| values.contains(item)));
        let given = items.clone().map(Value::Array);
        prop_assert_eq!(test(false).holds(given.as_ref()), contains);
        prop_assert_eq!(test(true).holds(given.as_ref()), !contains);
        let (min, max) = bounds;
        let within = Test::Within { min: min.map(Number::from), max: max.map(Number::from) };
        let fits = |number: i64| min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max);
        let number = value.as_ref().and_then(Value::as_i64);
        prop_assert_eq!(within.holds(value.as_ref()), number.is_some_and(fits));
        let length = items.map(|items| i64::try_from(items.len()).expect("it is short"));
        prop_assert_eq!(within.holds(given.as_ref()), length.is_some_and(fits));
        for test in [test(false), test(true), within] {
            let stored = serde_json::to_string(&test).expect("a test is JSON");
            let again: Test = serde_json::from_str(&stored).expect("it can be read");
            prop_assert_eq!(again, test);
        }
    }
}

#[test]
fn a_phase_that_is_left_by_anything_but_its_outcome_has_none() {
    let with = |change: &dyn Fn(&mut Phase)| {
        let mut work = workflow("w", &["side", "a", "b", "c"]);
        for id in ["side", "b"] {
            edit(&mut work, id, |phase| {
                phase.when = when(Subject::Outcome("a".to_owned()), vec![json!("ok")], true);
                "[{outcome.a}]".clone_into(&mut phase.instructions);
            });
        }
        edit(&mut work, "a", |a| {
            a.outcomes = vec![outcome("ok", "next")];
            change(a);
        });
        let mut world = started(work);
        world.tool("next");
        world.next("ok", &json!({}));
        world
    };
    let check = |tries: Option<u32>| Gate {
        tries,
        on_limit: tries.map(|_| Target::from("b")),
        ..gate(tries.is_none().then_some("side"))
    };
    let mut failed = with(&|a| a.gate = vec![check(None)]);
    let mut at_limit = with(&|a| a.gate = vec![check(Some(1))]);
    let mut answered =
        with(&|a| a.approve = Some(ask("Good?", &[("yes", "next"), ("no", "side")])));
    let ways = [
        (0, over(&mut failed, "failed"), &failed),
        (2, over(&mut at_limit, "failed"), &at_limit),
        (0, answered.choose(Some("no")), &answered),
    ];
    for (entered, lines, world) in ways {
        assert_eq!(index(world), entered, "{lines:?}");
        assert!(lines.join("\n").contains("\n[]"), "{lines:?}");
        assert_eq!(data(world)["outcomes"], Value::Null);
    }
    // The phase is not left: the outcome stays.
    let mut stays = with(&|a| a.gate = vec![gate(None)]);
    over(&mut stays, "failed");
    assert_eq!(data(&stays)["outcomes"], json!({"w/a": "ok"}));
}

#[test]
fn what_is_needed_to_leave_a_phase_has_the_values_of_the_run_and_the_tries() {
    let mut work = workflow("w", &["a", "b"]);
    let sizes = ["unit", "all"].map(str::to_owned).to_vec();
    work.inputs = vec![Parameter::new("tests", ParameterKind::OneOf(sizes.clone()))];
    edit(&mut work, "a", |a| {
        let mut check = gate(None);
        check.tries = Some(2);
        if let Check::Run(run) = &mut check.check {
            run.command.push("{inputs.tests}".to_owned());
            run.values = vec![("inputs.tests".to_owned(), sizes)];
        }
        a.gate = vec![check];
    });
    let mut world = World::new(vec![work]);
    world.command("w --tests unit do it");
    world.stop("aborted");
    let mut needed = |tries: &str| {
        let status = world.tool("status").join("\n");
        assert!(
            status.contains(&format!(
                "`cargo test unit` must pass, at most 2 tries, then pause{tries}"
            )),
            "{status}"
        );
        world.control(Control::Resume, "");
        world.tool("next");
        over(&mut world, "failed");
    };
    needed("\n");
    needed(" (try 2 of 2)");
    needed(" (failed twice, the limit is 2)");
}
