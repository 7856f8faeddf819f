//! Outcomes, outputs, conditions and limits of visits.

use serde_json::{Value, json};
use workflow_core::Session;
use workflow_core::definition::{
    Approval, CancelBy, Catalog, Check, Comparison, Condition, ExpectedExit, Gate, Hints,
    OutputStream, Parameter, ParameterKind, Phase, PhaseEntry, PhaseOutcome, RunCheck, Subject,
    Target, Test, TextLimits, Thinking, ToolAccess, Workflow,
};
use workflow_core::event::PlatformEvent;
use workflow_core::policy::gate_report::Report;
use workflow_core::session::{Abilities, Control, complete};

use crate::world::{World, line, user_messages, workflow};

/// Plan, build, review, release: a review that asks for changes leads back to build, at most three times.
pub(crate) fn with_review() -> Workflow {
    let mut work = workflow("w", &["plan", "build", "review", "release"]);
    edit(&mut work, "build", |build| build.max_visits = Some(3));
    edit(&mut work, "review", |review| {
        review.outcomes = vec![outcome("ok", "next"), outcome("changes", "build")];
    });
    work
}

/// The condition that a value is one of these, or none of them.
pub(crate) fn when(subject: Subject, values: Vec<Value>, negated: bool) -> Vec<Condition> {
    let test = Test::Values { values, negated };
    vec![Condition::Is(Comparison { subject, test })]
}

pub(crate) fn outcome(name: &str, to: &str) -> PhaseOutcome {
    PhaseOutcome {
        name: name.to_owned(),
        to: Target::from(to),
    }
}

pub(crate) fn edit(work: &mut Workflow, id: &str, change: impl FnOnce(&mut Phase)) {
    let phases = work.phases.iter_mut();
    let mut phases = phases.filter_map(|entry| match entry {
        PhaseEntry::Phase(phase) => Some(phase),
        PhaseEntry::Subworkflow(_) => None,
    });
    change(
        phases
            .find(|phase| phase.id == id)
            .expect("it has this phase"),
    );
}

pub(crate) fn plan_text(least: u32) -> Parameter {
    Parameter {
        name: "plan".to_owned(),
        kind: ParameterKind::Text(TextLimits {
            pattern: None,
            min_length: Some(least),
        }),
        about: "What will be changed".to_owned(),
        required: true,
        default: None,
        ..Parameter::new("", ParameterKind::Flag)
    }
}

pub(crate) fn gate(on_fail: Option<&str>) -> Gate {
    Gate {
        check: Check::Run(RunCheck {
            values: Vec::new(),
            command: vec!["cargo".to_owned(), "test".to_owned()],
            shell: false,
            timeout: 60,
            exit: ExpectedExit::Code(0),
            stdout: None,
            stream: OutputStream::default(),
            cwd: None,
            env: Vec::new(),
        }),
        default_of: None,
        on_fail: on_fail.map(Target::from),
        tries: None,
        bounds: Vec::new(),
        on_limit: None,
        source: "w/phases/a.md:3".to_owned(),
    }
}

pub(crate) fn over(world: &mut World, verdict: &str) -> Vec<String> {
    let report = json!({"what": "cargo test", "verdict": verdict, "reason": "it ended with exit code 101", "durationMs": 3210});
    let reports: Vec<Report> = vec![serde_json::from_value(report).expect("it is a report")];
    let gate = world.gate;
    world.report(PlatformEvent::GateFinished { gate, reports })
}

pub(crate) fn started(work: Workflow) -> World {
    let mut world = World::started(vec![work]);
    world.stop("aborted");
    world
}

pub(crate) fn index(world: &World) -> serde_json::Value {
    world.last_state()["currentPath"][0]["phaseIndex"].clone()
}

/// The data that the session has of the run: that of the newest entry, and the newest values.
pub(crate) fn data(world: &World) -> serde_json::Value {
    let newest = |custom_type: &str| {
        let mut entries = world.branch.iter().rev();
        let entry = entries.find(|(kind, _)| kind == custom_type);
        entry.map_or_else(Default::default, |(_, data)| {
            serde_json::from_str::<serde_json::Value>(data.get()).expect("an entry is JSON")
        })
    };
    let mut data = newest("workflow:run")["data"].clone();
    let values = newest("workflow:values");
    for name in ["inputs", "outputs", "outcomes", "answers"] {
        if let Some(values) = values.get(name) {
            data[name] = values.clone();
        }
    }
    data
}

#[test]
fn next_without_an_outcome_is_refused_and_lists_them() {
    let mut world = started(with_review());
    world.tool("next");
    world.tool("next");
    let lines = world.tool("next");
    assert_eq!(
        line(&lines, "tool"),
        "tool You are still in REVIEW.\nSay how the phase ended: the outcome is missing.\nOutcomes: ok → the next phase · changes → BUILD\n\
         Example: workflow_step {\"action\":\"next\",\"outcome\":\"ok\"}\n\
         = Some(Error) {\"active\":true,\"advanced\":false,\"problems\":[\"Say how the phase ended: the outcome is missing.\"]}"
    );
    let lines = world.next("fine", &json!({}));
    assert!(line(&lines, "tool").contains("'fine' is not an outcome of REVIEW."));
    assert_eq!(index(&world), 2);
}

#[test]
fn an_outcome_leads_to_its_phase_until_the_visits_are_used_up() {
    let mut world = started(with_review());
    world.tool("next");
    for visit in 2..=3 {
        world.tool("next");
        let lines = world.next("changes", &json!({}));
        let answer = line(&lines, "tool");
        assert!(answer.contains("REVIEW → 🔹 BUILD"), "{answer}");
        assert!(
            answer.contains(&format!("Outcome: changes. This is visit {visit} of 3.")),
            "{answer}"
        );
        assert_eq!(index(&world), 1);
    }
    world.tool("next");
    let lines = world.next("changes", &json!({}));
    assert!(
        line(&lines, "tool").contains(
            "BUILD has been entered 3 times, which is its limit: you are still in REVIEW"
        ),
        "{lines:?}"
    );
    line(
        &lines,
        "status ⏸ paused: visit limit · N-w > 🔹 REVIEW [3/4]",
    );
    assert_eq!(index(&world), 2);

    let lines = world.control(Control::Resume, "");
    line(
        &lines,
        "notify Info ▶ The workflow is resumed, and the phase may be entered once more.",
    );
    let lines = world.next("changes", &json!({}));
    assert!(line(&lines, "tool").contains("REVIEW → 🔹 BUILD"));
    assert_eq!(index(&world), 1);
}

#[test]
fn visits_outputs_and_a_persons_move_survive_a_restart() {
    let mut work = with_review();
    edit(&mut work, "plan", |plan| plan.outputs = vec![plan_text(5)]);
    let mut world = started(work);
    world.next("", &json!({"plan": "Change it."}));
    world.tool("next");
    world.next("changes", &json!({}));
    let before = data(&world);
    assert_eq!(before["outputs"]["w/plan"]["plan"], "Change it.");
    world.reload();
    assert_eq!(index(&world), 1);
    world.tool("next");
    world.next("changes", &json!({}));
    assert_eq!(data(&world)["visits"]["w#build"], 3);

    let lines = world.control(Control::Goto, "release");
    line(&lines, "notify Info ✓ BUILD → 🔹 RELEASE, by you.");
    world.reload();
    let lines = world.tool("status");
    assert!(line(&lines, "tool").contains("RELEASE"), "{lines:?}");
}

#[test]
fn without_max_visits_jumps_are_bounded_by_the_settings() {
    let mut work = with_review();
    edit(&mut work, "build", |build| build.max_visits = None);
    let mut world = World::new(vec![work]);
    world.settings.limits.jumps = 2;
    world.reload();
    world.command("w do it");
    world.stop("aborted");
    world.tool("next");
    world.tool("next");
    world.next("changes", &json!({}));
    world.tool("next");
    world.next("changes", &json!({}));
    world.tool("next");
    let lines = world.next("changes", &json!({}));
    assert!(
        line(&lines, "tool").contains(
            "BUILD has been the target of a jump twice, which is the limit of the settings"
        ),
        "{lines:?}"
    );
}

#[test]
fn the_limit_of_the_settings_counts_neither_loop_nor_next() {
    let mut work = with_review();
    edit(&mut work, "build", |build| build.max_visits = None);
    let mut world = World::new(vec![work]);
    world.settings.limits.jumps = 1;
    world.reload();
    world.command("w do it");
    world.stop("aborted");
    for _ in 0..3 {
        world.tool("next");
        world.tool("loop");
    }
    world.tool("next");
    world.tool("next");
    world.next("changes", &json!({}));
    assert_eq!(index(&world), 1);
    assert_eq!(data(&world)["jumps"], json!({"w#build": 1}));
}

#[test]
fn a_limit_may_lead_elsewhere_or_cancel() {
    let mut work = with_review();
    edit(&mut work, "build", |build| {
        build.max_visits = Some(1);
        build.on_limit = Some(Target::Phase("release".to_owned()));
    });
    let mut world = started(work.clone());
    world.tool("next");
    world.tool("next");
    let lines = world.next("changes", &json!({}));
    assert_eq!(index(&world), 3);
    assert!(
        line(&lines, "tool")
            .contains("Outcome: changes. BUILD has been entered once, which is its limit."),
        "{lines:?}"
    );
    line(
        &lines,
        "notify Info The workflow went to 🔹 RELEASE: BUILD has been entered once, which is its limit.",
    );

    edit(&mut work, "build", |build| {
        build.on_limit = Some(Target::Cancel);
    });
    let mut world = started(work);
    world.tool("next");
    world.tool("next");
    let lines = world.next("changes", &json!({}));
    assert_eq!(world.last_state()["cancelled"], true);
    assert!(
        line(&lines, "tool").contains("\nReason: BUILD has been entered once, which is its limit."),
        "{lines:?}"
    );
    line(
        &lines,
        "notify Warning The workflow is cancelled: BUILD has been entered once, which is its limit.",
    );
}

#[test]
fn a_resumed_run_enters_a_phase_exactly_once_more_however_often_it_was_entered() {
    let mut work = with_review();
    edit(&mut work, "build", |build| build.max_visits = Some(1));
    let mut world = started(work);
    for _ in 0..3 {
        world.control(Control::Goto, "build");
        world.control(Control::Goto, "plan");
    }
    world.tool("next");
    world.tool("next");
    world.control(Control::Resume, "");
    let lines = world.tool("next");
    assert!(
        line(&lines, "tool")
            .contains("This is visit 4, which the user allowed beyond the limit of 1."),
        "{lines:?}"
    );
    world.tool("next");
    world.next("changes", &json!({}));
    assert_eq!(index(&world), 2, "it was allowed once");
}

#[test]
fn a_missing_or_wrong_output_keeps_the_phase_and_shows_a_call() {
    let mut work = workflow("w", &["plan", "build"]);
    edit(&mut work, "plan", |plan| plan.outputs = vec![plan_text(40)]);
    edit(&mut work, "build", |build| {
        build.instructions = "Follow this plan: {outputs.plan.plan}".to_owned();
    });
    let mut world = started(work);
    let lines = world.tool("next");
    let answer = line(&lines, "tool");
    assert!(
        answer.contains(
            "Output `plan` is missing (a text of at least 40 characters: What will be changed)."
        ),
        "{answer}"
    );
    assert!(
        answer.contains(r#"Example: workflow_step {"action":"next","outputs":{"plan":"…"}}"#),
        "{answer}"
    );
    let lines = world.next("", &json!({"plan": " \n"}));
    let answer = line(&lines, "tool");
    assert!(
        answer.contains("Output `plan` must not be empty."),
        "{answer}"
    );
    let lines = world.next("", &json!({"plan": "short", "more": 1}));
    let answer = line(&lines, "tool");
    assert!(
        answer.contains("Output `plan` must have at least 40 characters, not 5."),
        "{answer}"
    );
    assert!(
        answer.contains("Output `more` is not declared."),
        "{answer}"
    );
    let plan = "First the parser, then the tests, then the documents.";
    let lines = world.next("", &json!({ "plan": plan }));
    assert!(
        line(&lines, "tool").contains(&format!("Follow this plan: {plan}")),
        "{lines:?}"
    );
}

#[test]
fn an_end_that_leaves_phases_out_says_so_to_agent_and_user() {
    let mut work = with_review();
    edit(&mut work, "review", |review| {
        review.outcomes.push(outcome("enough", "done"));
    });
    let mut world = started(work.clone());
    world.tool("next");
    world.tool("next");
    let lines = world.next("enough", &json!({}));
    let answer = line(&lines, "tool");
    assert!(
        answer.starts_with(
            "tool ✓ Advanced: REVIEW → DONE\nOutcome: enough.\n\nThe workflow is complete: 3 of its 4 phases were entered."
        ),
        "{answer}"
    );
    let lines = world.stop("stop");
    assert!(
        line(&lines, "message").contains("Phases completed: 3 of 4"),
        "{lines:?}"
    );

    // A phase at the end whose condition does not hold.
    edit(&mut work, "release", |release| {
        release.when = when(Subject::Visits("release".to_owned()), vec![json!(1)], false);
    });
    let mut world = started(work);
    world.tool("next");
    world.tool("next");
    let lines = world.next("ok", &json!({}));
    let answer = line(&lines, "tool");
    assert!(
        answer.contains("Outcome: ok. Skipped, because the conditions are not met: release."),
        "{answer}"
    );
}

#[test]
fn outputs_inside_another_object_are_refused_with_a_call_that_works() {
    let mut work = workflow("w", &["plan", "build"]);
    edit(&mut work, "plan", |plan| plan.outputs = vec![plan_text(5)]);
    let mut world = started(work);
    // Inside `outputs` once more, and inside the id of the phase.
    for name in ["outputs", "plan"] {
        let lines = world.next("", &json!({ name: {"plan": "Change it."} }));
        let answer = line(&lines, "tool");
        let expected = format!(
            "`{name}` contains outputs: write them directly into `outputs`.\n\
             Example: workflow_step {{\"action\":\"next\",\"outputs\":{{\"plan\":\"Change it.\"}}}}"
        );
        assert!(answer.contains(&expected), "{answer}");
    }
    let lines = world.next("", &json!({"plan": "Change it."}));
    assert!(
        line(&lines, "tool").contains("PLAN → 🔹 BUILD"),
        "{lines:?}"
    );
}

#[test]
fn a_phase_with_a_false_condition_is_skipped_and_recorded() {
    let mut work = workflow("w", &["plan", "review", "release"]);
    edit(&mut work, "plan", |plan| {
        plan.outputs = vec![Parameter {
            name: "hotfix".to_owned(),
            kind: ParameterKind::Flag,
            about: String::new(),
            required: true,
            default: None,
            ..Parameter::new("", ParameterKind::Flag)
        }];
    });
    edit(&mut work, "review", |review| {
        review.when = when(
            Subject::Output {
                phase: "plan".to_owned(),
                name: "hotfix".to_owned(),
            },
            vec![json!(false)],
            false,
        );
    });
    let mut world = started(work.clone());
    let lines = world.next("", &json!({"hotfix": true}));
    let answer = line(&lines, "tool");
    assert!(answer.contains("PLAN → 🔹 RELEASE"), "{answer}");
    assert!(
        answer.contains("Skipped, because the conditions are not met: review."),
        "{answer}"
    );
    assert_eq!(data(&world)["skipped"], json!(["review"]));
    world.reload();
    assert_eq!(index(&world), 2);

    let mut world = started(work);
    world.next("", &json!({"hotfix": false}));
    assert_eq!(index(&world), 1);
}

#[test]
fn a_gate_that_fails_may_lead_to_another_phase_with_its_report() {
    let mut work = workflow("w", &["red", "green"]);
    edit(&mut work, "green", |green| {
        green.gate = vec![gate(Some("red"))];
    });
    let mut world = started(work);
    world.tool("next");
    world.tool("next");
    let lines = over(&mut world, "failed");
    assert_eq!(
        line(&lines, "settled tool #3"),
        "settled tool #3 You are back in 🔹 RED.\n\n\
         ✗ cargo test (3.2 s): it ended with exit code 101\n\n\
         **What to do in RED:**\nDo red.\n\n✗ Gate failed: cargo test.\n\
         = None {\"advanced\":true,\"from\":\"GREEN\",\"gate\":[{\"durationMs\":3210,\"reason\":\"it ended with exit code 101\",\
         \"verdict\":\"failed\",\"what\":\"cargo test\"}],\"to\":\"RED\"}"
    );
    assert_eq!(index(&world), 0);
    world.reload();
    assert_eq!(index(&world), 0);
}

#[test]
fn a_gate_that_could_not_be_checked_keeps_the_phase_whatever_on_fail_says() {
    let mut work = workflow("w", &["red", "green"]);
    edit(&mut work, "green", |green| {
        green.gate = vec![gate(Some("red"))];
    });
    let mut world = started(work);
    world.tool("next");
    for error in ["missing", "notTrusted", "timeout"] {
        world.tool("next");
        let report = json!({"what": "cargo test", "verdict": {"couldNotRun": error}, "reason": "it did not run", "durationMs": 0});
        let reports: Vec<Report> = vec![serde_json::from_value(report).expect("it is a report")];
        let gate = world.gate;
        let lines = world.report(PlatformEvent::GateFinished { gate, reports });
        let answer = line(&lines, "settled tool");
        assert!(
            answer.contains("You are still in GREEN.\n\n⚠ cargo test"),
            "{answer}"
        );
        assert_eq!(index(&world), 1, "{error}");
    }
}

#[test]
fn a_gate_that_fails_at_a_limit_says_that_the_run_waits() {
    let mut work = workflow("w", &["red", "green"]);
    edit(&mut work, "red", |red| red.max_visits = Some(1));
    edit(&mut work, "green", |green| {
        green.gate = vec![gate(Some("red"))];
    });
    let mut world = started(work);
    world.tool("next");
    world.tool("next");
    let lines = over(&mut world, "failed");
    let answer = line(&lines, "settled tool");
    assert!(
        answer.contains("You are still in GREEN.\n\n✗ cargo test")
            && answer.contains("⏸ RED has been entered once, which is its limit")
            && !answer.contains("next' again"),
        "{answer}"
    );
}

#[test]
fn an_answer_to_an_approval_leads_where_it_says_with_the_comment() {
    let mut work = workflow("w", &["plan", "release", "after"]);
    edit(&mut work, "plan", |plan| {
        plan.instructions = "Plan it. The user said: {answer.release.comment}".to_owned();
    });
    edit(&mut work, "release", |release| {
        release.approve = Some(Approval {
            ask: "Publish it?".to_owned(),
            choices: ["publish", "revise", "abort"].map(str::to_owned).to_vec(),
            targets: vec![
                Target::Next,
                Target::Phase("plan".to_owned()),
                Target::Cancel,
            ],
            comment: true,
            show: None,
            source: String::new(),
        });
    });
    let mut world = started(work.clone());
    let context = world.prompt("go").join("\n");
    assert!(context.contains("The user said: \n"), "{context}");
    world.tool("next");
    let lines = world.tool("next");
    let asked = line(&lines, "ask Publish it?");
    assert!(
        asked.contains(r#""revise" goes back to 🔹 PLAN."#),
        "{asked}"
    );
    let lines = world.control(Control::Approve, "revise The scope is too wide");
    let answer = lines.iter().find(|line| line.contains("RELEASE → 🔹 PLAN"));
    let answer = answer.expect("the answer names the move");
    assert!(
        answer.contains("The user said: The scope is too wide"),
        "{answer}"
    );
    assert_eq!(index(&world), 0);

    let mut world = started(work);
    world.tool("next");
    world.tool("next");
    world.choose(Some("abort"));
    world.choose(Some(""));
    assert_eq!(world.last_state()["cancelled"], true);
}

#[test]
fn a_choice_in_the_dialog_is_followed_by_a_question_for_the_comment() {
    let mut work = workflow("w", &["plan", "release"]);
    edit(&mut work, "plan", |plan| {
        plan.approve = Some(Approval {
            ask: "Good?".to_owned(),
            choices: ["yes", "no"].map(str::to_owned).to_vec(),
            targets: vec![Target::Next, Target::Phase("plan".to_owned())],
            comment: true,
            show: None,
            source: String::new(),
        });
    });
    for (comment, said) in [
        (Some(" the risks are missing "), true),
        (Some(" "), false),
        (None, false),
    ] {
        let mut world = started(work.clone());
        world.tool("next");
        let lines = world.choose(Some("no"));
        line(&lines, "ask no: your comment for the agent");
        assert_eq!(index(&world), 0);
        let lines = world.choose(comment);
        let answer = line(&lines, "settled tool #2");
        let text = "The user says: the risks are missing";
        assert_eq!(answer.contains(text), said, "{answer}");
        let comment = &data(&world)["answers"]["w/plan"]["comment"];
        assert_eq!(comment.is_string(), said);
    }
    // An answer by command counts at once, and closes the question.
    let mut world = started(work);
    world.tool("next");
    world.choose(Some("no"));
    let lines = world.control(Control::Approve, "yes good work");
    line(&lines, "dismiss #2");
    let answer = line(&lines, "settled tool #2");
    assert!(answer.contains("The user says: good work"), "{answer}");
    assert_eq!(index(&world), 1);
}

#[test]
fn a_person_names_the_outcome_and_no_limit_applies() {
    let mut work = with_review();
    edit(&mut work, "build", |build| build.max_visits = Some(1));
    let mut world = started(work);
    world.tool("next");
    world.tool("next");
    let lines = world.control(Control::Next, "");
    assert!(
        line(&lines, "notify Warning").contains("changes — goes back to 🔹 BUILD"),
        "{lines:?}"
    );
    world.control(Control::Next, "changes");
    assert_eq!(index(&world), 1);
}

#[test]
fn leaving_a_scope_ends_at_the_outcome_end_and_visits_start_anew() {
    let mut part = with_review();
    part.key = "part".to_owned();
    edit(&mut part, "review", |review| {
        review.outcomes.push(outcome("enough", "end"));
    });
    let mut world = World::new(vec![workflow("w", &["{part}", "{part}", "last"]), part]);
    world.command("w do it");
    world.stop("aborted");
    world.tool("next");
    world.tool("next");
    world.next("enough", &json!({}));
    let path = &world.last_state()["currentPath"];
    assert_eq!(path[0]["phaseIndex"], 1);
    assert_eq!(path[1]["phaseIndex"], 0);
    world.tool("next");
    let visits = &data(&world)["visits"];
    assert_eq!(visits["w:1/part#build"], 1, "{visits}");
}

fn with_inputs() -> Workflow {
    let mut work = workflow("w", &["a", "b"]);
    "Release {inputs.version}: {description}".clone_into(&mut work.initial_message);
    let input = |name: &str, kind, required, default| Parameter {
        about: format!("About {name}"),
        required,
        default,
        ..Parameter::new(name, kind)
    };
    let version = ParameterKind::Text(TextLimits {
        pattern: Some(r"^\d+\.\d+\.\d+$".to_owned()),
        min_length: None,
    });
    work.inputs = vec![
        input("version", version, true, None),
        input("hotfix", ParameterKind::Flag, false, Some(json!(false))),
    ];
    edit(&mut work, "a", |a| {
        a.when = when(
            Subject::Input("hotfix".to_owned()),
            vec![json!(false)],
            false,
        );
    });
    work
}

#[test]
fn inputs_are_read_before_the_description_and_decide_the_first_phase() {
    let mut world = World::new(vec![with_inputs()]);
    let lines = world.command("w --hotfix version=1.2.0 add the export");
    assert!(
        lines
            .iter()
            .any(|line| line.contains("Release 1.2.0: add the export")),
        "{lines:?}"
    );
    assert_eq!(index(&world), 1);
    assert_eq!(
        data(&world)["inputs"],
        json!({"version": "1.2.0", "hotfix": true})
    );

    for (arguments, description, hotfix) in [
        ("w --version '1.2.0' x=1 stays", "x=1 stays", false),
        ("w --version 1.2.0 --hotfix no export", "no export", true),
        ("w --version 1.2.0 --hotfix false export", "export", false),
        (
            "w --version 1.2.0 -- --hotfix is refused",
            "--hotfix is refused",
            false,
        ),
    ] {
        let mut world = World::new(vec![with_inputs()]);
        world.command(arguments);
        assert_eq!(world.last_state()["taskDescription"], description);
        assert_eq!(data(&world)["inputs"]["hotfix"], hotfix, "{arguments}");
    }
}

#[test]
fn a_list_may_be_given_item_by_item() {
    let mut work = workflow("w", &["a"]);
    work.inputs = vec![Parameter {
        name: "tags".to_owned(),
        kind: ParameterKind::List,
        ..plan_text(0)
    }];
    let mut world = World::new(vec![work]);
    world.command("w --tags a --tags b,c add the export");
    assert_eq!(data(&world)["inputs"]["tags"], json!(["a", "b", "c"]));
}

#[test]
fn completion_knows_values_and_what_is_given_already() {
    let mut work = with_inputs();
    work.inputs.push(Parameter {
        name: "kind".to_owned(),
        kind: ParameterKind::OneOf(vec!["fix".to_owned(), "feature".to_owned()]),
        ..plan_text(0)
    });
    let catalog = Catalog::new(vec![work]);
    for (prefix, expected) in [
        ("w --", vec!["w --version", "w --hotfix", "w --kind"]),
        ("w --kind f", vec!["w --kind fix", "w --kind feature"]),
        (
            "w --kind fix --",
            vec!["w --kind fix --version", "w --kind fix --hotfix"],
        ),
        ("w kind=fe", vec!["w kind=feature"]),
        ("w --hotfix=", vec!["w --hotfix=true", "w --hotfix=false"]),
        ("w add the --ki", vec![]),
        ("w --version ", vec![]),
    ] {
        let proposed = complete(&catalog, prefix);
        let proposed: Vec<_> = proposed.iter().map(|(value, _)| value.as_str()).collect();
        assert_eq!(proposed, expected, "{prefix}");
    }
}

#[test]
fn the_first_message_names_the_phase_that_the_run_starts_in() {
    let mut work = with_inputs();
    "Begin with {firstPhaseName} ({firstPhaseId})".clone_into(&mut work.initial_message);
    for (hotfix, named) in [("true", "B (b)"), ("false", "A (a)")] {
        let mut world = World::new(vec![work.clone()]);
        let lines = world.command(&format!("w version=1.2.0 hotfix={hotfix} export"));
        let is_named = |line: &String| line.contains(&format!("Begin with {named}"));
        assert!(lines.iter().any(is_named), "{hotfix}: {lines:?}");
        let skipped = "[workflow] Skipped, because the conditions are not met: a.";
        let is_told = lines.iter().any(|line| line.contains(skipped));
        assert_eq!(is_told, hotfix == "true", "{lines:?}");
    }
}

#[test]
fn a_missing_unknown_or_wrong_input_starts_nothing_and_shows_the_usage() {
    for (arguments, problem) in [
        ("w --version 1.2 add", "Input `version` must match"),
        ("w --version", "Input `version` has no value: a text"),
        (
            "w --version --hotfix add",
            "Input `version` has no value: a text",
        ),
        ("w --verson 1.2.0 add", "There is no input `--verson`"),
        (
            "w verison=1.2.0 add",
            "There is no input `verison`. Did you mean `version`? Write `--` before a description that begins so.",
        ),
        ("w --version 1.2.0 --version 1.2.1 add", "is given twice"),
        (
            "w --version 1.2.0",
            "The description is missing. Write: /workflow w --version 1.2.0 {description}",
        ),
        (
            "w",
            "Usage: /workflow w --version {text} [--hotfix] {description}",
        ),
    ] {
        let mut world = World::new(vec![with_inputs()]);
        let lines = world.command(arguments);
        let refusal = line(&lines, "notify Warning");
        assert!(refusal.contains(problem), "{arguments}: {refusal}");
        assert!(world.branch.is_empty());
    }
}

#[test]
fn a_missing_input_starts_nothing_without_a_person_to_ask() {
    let mut world = World::new(vec![with_inputs()]);
    world.session = Session::new(Abilities::default(), 7);
    let lines = world.command("w add the export");
    let refusal = line(&lines, "notify Warning");
    assert!(
        refusal
            .contains("Input `version` is missing (a text that matches `^\\d+\\.\\d+\\.\\d+$`: About version).\n\nUsage: /workflow w"),
        "{refusal}"
    );
    assert!(world.branch.is_empty());
}

#[test]
fn a_missing_input_is_asked_for_until_its_value_fits() {
    let mut work = with_inputs();
    work.inputs.push(Parameter {
        name: "kind".to_owned(),
        kind: ParameterKind::OneOf(vec!["fix".to_owned(), "feature".to_owned()]),
        about: String::new(),
        required: true,
        default: None,
        ..Parameter::new("", ParameterKind::Flag)
    });
    let mut world = World::new(vec![work]);
    let lines = world.command("w add the export");
    line(&lines, "ask N-w: version — About version: \n= #1 []");
    let lines = world.choose(Some("1.2"));
    let asked = line(&lines, "ask N-w: version");
    assert!(asked.contains("Input `version` must match"), "{asked}");
    let lines = world.choose(Some("1.2.0"));
    line(
        &lines,
        r#"ask N-w: kind: 
= #3 ["fix", "feature"]"#,
    );
    assert!(world.branch.is_empty());
    let lines = world.choose(Some("feature"));
    line(&lines, "settled none #1");
    assert_eq!(
        data(&world)["inputs"],
        json!({"version": "1.2.0", "hotfix": false, "kind": "feature"})
    );
}

#[test]
fn an_input_that_is_not_given_in_the_dialog_starts_nothing() {
    let mut world = World::new(vec![with_inputs()]);
    world.command("w add the export");
    let lines = world.choose(None);
    let refusal = line(&lines, "notify Info");
    assert!(
        refusal.contains("Nothing was started.\n\nUsage: /workflow w --version {text}"),
        "{refusal}"
    );
    assert!(world.branch.is_empty());
}

fn with_hints() -> Workflow {
    let mut work = workflow("w", &["plan", "build"]);
    work.tools = Some(ToolAccess::Blacklist(vec!["bash".to_owned()]));
    edit(&mut work, "plan", |plan| {
        plan.tools = Some(ToolAccess::Whitelist(vec!["read".to_owned()]));
        plan.hints = Hints {
            model: Some("big".to_owned()),
            thinking: Some(Thinking::High),
            active_tools: true,
        };
    });
    work
}

#[test]
fn hints_are_set_at_phase_entry_and_restored_in_a_phase_without() {
    let mut world = World::new(vec![with_hints()]);
    world.session = Session::new(
        Abilities {
            hints: true,
            ..Abilities::default()
        },
        7,
    );
    let set = r#"hints Some(HostHints { model: Some("big"), thinking: Some(High), tools: Some(VisibleTools { allowed: Some(["read"]), blocked: ["bash"] }) })"#;
    let lines = world.command("w the task");
    line(&lines, set);
    // A host that was restarted gets them again.
    let lines = world.reload();
    line(&lines, set);
    let lines = world.tool("next");
    line(&lines, "hints None");
    let lines = world.tool("next");
    assert!(!lines.iter().any(|line| line.starts_with("hints")));
}

#[test]
fn hints_without_effect_are_mentioned_once_a_run() {
    let mut world = World::new(vec![with_hints()]);
    let lines = world.command("w the task");
    let notice = line(&lines, "notify Info");
    assert!(
        notice.contains("`model`, `thinking` and `activeTools` have no effect here"),
        "{notice}"
    );
    let lines = world.tool("next");
    assert!(!lines.iter().any(|line| line.starts_with("notify")));
}

#[test]
fn the_agent_cannot_cancel_a_run_that_only_a_person_may_cancel() {
    let mut work = workflow("w", &["a", "b"]);
    work.cancel = Some(CancelBy::User);
    let mut world = started(work);
    let lines = world.tool("cancel");
    line(&lines, "ask Cancel the workflow?");
    assert!(
        line(&lines, "tool").contains("The user has been asked"),
        "{lines:?}"
    );
    line(&lines, "status ⏸ waiting for your reply · N-w > 🔹 A [1/2]");
    world.tool("cancel");
    assert_eq!(world.last_state()["active"], true);
    assert!(world.stop("stop").is_empty(), "the agent is not pushed");
    world.answer(true);
    assert_eq!(world.last_state()["cancelled"], true);
}

fn cancelled_by_the_user_only() -> World {
    let mut work = workflow("w", &["a", "b"]);
    work.cancel = Some(CancelBy::User);
    let mut world = started(work);
    world.tool("cancel");
    world.stop("stop");
    world
}

#[test]
fn the_agent_goes_on_after_a_no_to_its_cancellation() {
    let mut world = cancelled_by_the_user_only();
    let lines = world.answer(false);
    line(
        &lines,
        "user (steers) [workflow] The workflow is not cancelled: the user was asked and said no. You are still in A. Continue with this \
         phase",
    );
    line(&lines, "status N-w > 🔹 A [1/2]");
    world.stop("stop");
    assert!(
        world.session.deadline().is_some(),
        "reminders are due again"
    );
}

#[test]
fn without_an_answer_to_its_cancellation_the_agent_waits_for_the_user() {
    let mut world = cancelled_by_the_user_only();
    let lines = world.wait(30 * 60 * 1000);
    line(
        &lines,
        "notify Info [workflow] \"Cancel the workflow?\": there was no answer in time. The workflow is not cancelled. The agent waits: any message \
         resumes it.",
    );
    assert_eq!(user_messages(&lines), 0, "{lines:?}");
    assert!(world.stop("stop").is_empty());
    assert_eq!(world.session.deadline(), None);
    let lines = world.user_input();
    line(&lines, "status N-w > 🔹 A [1/2]");
}

#[test]
fn a_no_to_a_cancellation_ends_no_other_pause() {
    let mut world = cancelled_by_the_user_only();
    world.control(Control::Pause, "");
    let lines = world.answer(false);
    line(
        &lines,
        "notify Info The workflow is not cancelled. Now: paused by you (/workflow-resume resumes it).",
    );
    assert_eq!(user_messages(&lines), 0, "{lines:?}");
    let lines = world.restart();
    line(&lines, "status ⏸ paused by you");

    let mut work = workflow("w", &["a", "b"]);
    work.cancel = Some(CancelBy::User);
    edit(&mut work, "a", |a| a.max_visits = Some(1));
    let mut world = started(work);
    world.tool("loop");
    world.tool("cancel");
    let lines = world.answer(false);
    assert_eq!(user_messages(&lines), 0, "{lines:?}");
    let lines = world.control(Control::Status, "");
    line(&lines, "notify Info N-w: ");
    assert!(
        lines.join("\n").contains("paused: visit limit"),
        "{lines:?}"
    );
}

#[test]
fn a_message_and_a_resumption_withdraw_the_question_whether_the_run_is_cancelled() {
    let mut world = cancelled_by_the_user_only();
    let lines = world.user_input();
    line(&lines, "dismiss #1");
    world.answer(true);
    assert_eq!(world.last_state()["active"], true);

    let mut world = cancelled_by_the_user_only();
    let lines = world.control(Control::Resume, "");
    line(&lines, "dismiss #1");
    line(&lines, "notify Info ▶ The workflow is resumed.");
}

#[test]
fn a_move_withdraws_the_question_whether_the_run_is_cancelled() {
    let mut world = cancelled_by_the_user_only();
    let lines = world.tool("next");
    line(&lines, "dismiss #1");
    let lines = world.answer(true);
    line(
        &lines,
        "notify Warning [workflow] Your answer to \"Cancel the workflow?\" came too late and has no effect. The workflow is not cancelled. \
         The workflow is in B.",
    );
    assert_eq!(world.last_state()["cancelled"], false);
}

/// Plan, then a subworkflow of two phases that the plan decides on, then release.
fn with_conditional_part() -> Vec<Workflow> {
    let mut work = workflow("w", &["plan", "{part}", "release"]);
    edit(&mut work, "plan", |plan| {
        plan.outputs = vec![Parameter {
            kind: ParameterKind::Flag,
            ..plan_text(0)
        }];
        plan.max_visits = Some(9);
    });
    if let PhaseEntry::Subworkflow(reference) = &mut work.phases[1] {
        reference.when = when(
            Subject::Output {
                phase: "plan".to_owned(),
                name: "plan".to_owned(),
            },
            vec![json!(true)],
            false,
        );
    }
    vec![work, workflow("part", &["x", "y"])]
}

#[test]
fn a_subworkflow_with_a_false_condition_is_skipped_as_a_whole() {
    let mut world = World::started(with_conditional_part());
    world.stop("aborted");
    let lines = world.next("", &json!({"plan": false}));
    let answer = line(&lines, "tool");
    assert!(answer.contains("PLAN → 🔹 RELEASE"), "{answer}");
    assert!(
        answer.contains("Skipped, because the conditions are not met: part."),
        "{answer}"
    );
    assert_eq!(data(&world)["visits"], json!({"w#plan": 1, "w#release": 1}));
    world.restart();
    assert_eq!(index(&world), 2, "the stored state is accepted");
}

#[test]
fn a_subworkflow_with_a_true_condition_is_entered_and_counts_its_visits() {
    let mut world = World::started(with_conditional_part());
    world.stop("aborted");
    let lines = world.next("", &json!({"plan": true}));
    assert!(line(&lines, "tool").contains("PLAN → 🔹 X"));
    assert_eq!(data(&world)["visits"]["w#part"], 1);
    world.restart();
    let lines = world.control(Control::Goto, "y");
    line(&lines, "notify Info ✓ X → 🔹 Y, by you.");
}

#[test]
fn a_person_enters_a_subworkflow_whatever_its_conditions() {
    let mut work = with_conditional_part();
    edit(&mut work[1], "x", |x| {
        x.when = when(Subject::Visits("x".to_owned()), vec![json!(1)], false);
    });
    let mut world = World::started(work.clone());
    world.stop("aborted");
    let lines = world.control(Control::Goto, "part");
    let asked = line(&lines, "ask Leave PLAN without its checks?");
    assert!(asked.contains("N-part: condition (`when`)"), "{asked}");
    let lines = world.choose(Some("Yes, go to Y without them"));
    let notice = "notify Info ✓ PLAN → 🔹 Y, by you. Skipped: N-part: condition (`when`).";
    line(&lines, notice);

    // Where none of its phases applies, it is not passed over.
    let Some(PhaseEntry::Phase(x)) = work[1].phases.first().cloned() else {
        panic!("it begins with a phase");
    };
    work[1].phases = vec![PhaseEntry::Phase(x)];
    let mut world = World::started(work);
    let lines = world.control(Control::Goto, "part");
    line(
        &lines,
        "notify Warning The conditions (`when`) of all phases of N-part are not met",
    );
}

#[test]
fn an_input_that_only_a_subworkflow_has_is_its_default() {
    let work = workflow("w", &["plan", "{part}"]);
    let mut part = workflow("part", &["x", "y"]);
    part.inputs = vec![Parameter {
        name: "only".to_owned(),
        kind: ParameterKind::Flag,
        default: Some(json!(true)),
        ..plan_text(0)
    }];
    edit(&mut part, "x", |x| {
        x.when = when(Subject::Input("only".to_owned()), vec![json!(false)], false);
    });
    edit(&mut part, "y", |y| {
        "It is {inputs.only}.".clone_into(&mut y.instructions);
    });
    let mut world = World::started(vec![work, part]);
    world.stop("aborted");
    let lines = world.tool("next");
    let answer = line(&lines, "tool");
    assert!(answer.contains("PLAN → 🔹 Y"), "{answer}");
    assert!(answer.contains("It is true."), "{answer}");
}
