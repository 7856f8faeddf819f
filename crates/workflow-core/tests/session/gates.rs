//! The way out of a phase: its gate, the word of a person.

use serde_json::json;
use workflow_core::definition::{Approval, Gate, Guards, Phase, PhaseEntry};
use workflow_core::event::{ApprovalDecision, Event, PlatformEvent};
use workflow_core::guard::gate::Report;
use workflow_core::types::RequestId;

use crate::world::{World, line, phase, workflow};

fn gates(checks: &serde_json::Value) -> Vec<Gate> {
    serde_json::from_value(checks.clone()).expect("they are checks")
}

fn cargo_test() -> serde_json::Value {
    json!({"check": {"run": {"command": ["cargo", "test"], "timeout": 600, "exit": {"code": 0}}}, "source": "a.md:5"})
}

fn approval() -> Approval {
    Approval {
        ask: "Plan OK?".to_owned(),
        choices: vec!["approve".to_owned(), "revise".to_owned()],
        show: Some("plan.md".to_owned()),
        source: String::new(),
    }
}

/// A run of two phases, whose first is this.
fn world_with(first: Phase) -> World {
    let mut work = workflow("w", &["b"]);
    work.phases.insert(0, PhaseEntry::Phase(first));
    let mut world = World::new(vec![work]);
    world.settings.user = Guards::default();
    world.command("w the task");
    world
}

fn report(verdict: &serde_json::Value) -> Report {
    serde_json::from_value(json!({
        "what": "cargo test", "source": "a.md:5", "verdict": verdict, "reason": "it ended with exit code 101",
        "exit": 101, "durationMs": 3210, "tail": "1 failed",
    }))
    .expect("it is a report")
}

fn over(world: &mut World, verdict: &serde_json::Value) -> Vec<String> {
    let gate = world.gate;
    world.report(PlatformEvent::GateFinished {
        gate,
        reports: vec![report(verdict)],
    })
}

fn with_gate() -> World {
    world_with(Phase {
        gate: gates(&json!([cargo_test()])),
        ..phase("a")
    })
}

#[test]
fn a_gate_that_passes_lets_the_run_on() {
    let mut world = with_gate();
    let lines = world.tool("next");
    assert_eq!(lines, ["later", "gate 1 checks, baseline -, 1 commands"]);
    let lines = over(&mut world, &json!("passed"));
    let answer = line(&lines, "settled tool");
    assert!(
        answer.contains("✓ cargo test (3.2 s)") && answer.contains("✓ Advanced: A → 🔹 B"),
        "{answer}"
    );
    assert!(
        lines.contains(&"entry workflow:gate".to_owned())
            && lines.contains(&"entry workflow:state".to_owned())
    );
}

#[test]
fn a_gate_that_fails_holds_and_says_what_it_found() {
    let mut world = with_gate();
    world.tool("next");
    let lines = over(&mut world, &json!("failed"));
    let answer = line(&lines, "settled tool");
    assert!(
        answer.contains(
            "✗ cargo test (3.2 s): it ended with exit code 101 [a.md:5]\n```\n1 failed\n```"
        ),
        "{answer}"
    );
    assert!(answer.contains("Fix what it found"));
    assert_eq!(world.last_state()["currentPath"][0]["phaseIndex"], 0);
    assert_eq!(
        world.tool("next"),
        ["later", "gate 1 checks, baseline -, 1 commands"]
    );
}

#[test]
fn a_gate_that_could_not_be_checked_is_no_failure_and_no_success() {
    let mut world = with_gate();
    world.tool("next");
    let lines = over(&mut world, &json!({"couldNotRun": "missing"}));
    let answer = line(&lines, "settled tool");
    assert!(
        answer.contains("could not be checked") && answer.contains("nothing about your work"),
        "{answer}"
    );
    assert_eq!(world.last_state()["currentPath"][0]["phaseIndex"], 0);
}

#[test]
fn commands_of_a_project_run_only_when_they_are_trusted() {
    let mut world = with_gate();
    world.tool("next");
    let gate = world.gate;
    let asked = world.report(PlatformEvent::GateNotTrusted { gate });
    assert!(line(&asked, "ask Run commands of this project?").contains("  cargo test"));
    let lines = world.answer(true);
    assert_eq!(lines, ["trust 1", "gate 1 checks, baseline -, 0 commands"]);
    line(&over(&mut world, &json!("passed")), "settled tool");

    let mut world = with_gate();
    world.tool("next");
    let gate = world.gate;
    world.report(PlatformEvent::GateNotTrusted { gate });
    assert!(line(&world.answer(false), "settled tool").contains("workflow-sidecar trust"));
}

#[test]
fn how_things_stood_is_noted_when_the_phase_is_entered_and_survives() {
    let mut world = world_with(Phase {
        gate: gates(&json!([{"check": {"file": {"path": "plan.md", "changed": true}}}])),
        ..phase("a")
    });
    let baseline = serde_json::value::to_raw_value(&json!({"files": {}})).expect("a value is JSON");
    let lines = world.report(PlatformEvent::BaselineTaken { baseline });
    assert_eq!(lines, ["entry workflow:gate"]);
    world.reload();
    let lines = world.tool("next");
    assert_eq!(
        lines,
        [
            "later",
            "gate 1 checks, baseline {\"files\":{}}, 0 commands"
        ]
    );
    over(&mut world, &json!("failed"));
    world.reload();
    let lines = world.tool("next");
    assert!(
        line(&lines, "gate").contains("files"),
        "a report in between does not hide it"
    );
}

#[test]
fn entering_a_phase_that_compares_asks_for_a_baseline() {
    let mut work = workflow("w", &["a"]);
    work.phases.push(PhaseEntry::Phase(Phase {
        gate: gates(&json!([{"check": {"git": "newCommit"}}])),
        ..phase("b")
    }));
    let mut world = World::started(vec![work]);
    assert!(world.tool("next").contains(&"baseline of 1".to_owned()));
}

#[test]
fn a_person_approves_or_has_it_revised() {
    let first = || Phase {
        approve: Some(approval()),
        ..phase("a")
    };
    let mut world = world_with(first());
    assert_eq!(
        world.tool("next"),
        ["later", "ask Plan OK?: ", "await Plan OK?"]
    );
    let lines = world.choose(Some("revise"));
    assert!(line(&lines, "settled tool").contains("chose \"revise\""));
    world.tool("next");
    assert!(line(&world.choose(Some("approve")), "settled tool").contains("Advanced"));
}

#[test]
fn nobodys_word_parks_the_run() {
    let mut world = world_with(Phase {
        approve: Some(approval()),
        ..phase("a")
    });
    let lines = world.tool("next");
    assert!(lines.contains(&"await Plan OK?".to_owned()), "{lines:?}");
    let lines = world.choose(None);
    assert!(line(&lines, "settled tool").contains("Nobody answered"));
    assert!(lines.contains(&"entry workflow:run".to_owned()));
    assert!(world.stop("stop").is_empty(), "auto-continue rests");
}

#[test]
fn nothing_waits_for_a_word_any_more_where_the_run_has_gone_elsewhere() {
    for what in ["loop", "cancel", "command", "start", "revise"] {
        let mut world = world_with(Phase {
            approve: Some(approval()),
            ..phase("a")
        });
        world.tool("next");
        world.choose(None);
        let lines = match what {
            "loop" => world.tool("loop"),
            "cancel" => {
                world.tool("cancel");
                world.tool("cancel")
            }
            "command" => world.cancel_command(),
            "start" => {
                world.command("w another task");
                world.answer(true)
            }
            _ => {
                world.tool("next");
                world.choose(Some("revise"))
            }
        };
        let forgotten = lines.iter().filter(|line| *line == "forget word");
        assert_eq!(forgotten.count(), 1, "{what}: {lines:?}");
    }
}

#[test]
fn a_word_given_beforehand_is_used_once() {
    let mut world = world_with(Phase {
        gate: gates(&json!([cargo_test()])),
        approve: Some(approval()),
        ..phase("a")
    });
    world.tool("next");
    over(&mut world, &json!("passed"));
    world.choose(None);
    world.word = Some(ApprovalDecision::Chosen("approve".to_owned()));
    world.tool("next");
    let lines = over(&mut world, &json!("passed"));
    assert!(line(&lines, "settled tool").contains("Advanced"));
    assert!(lines.contains(&"forget word".to_owned()), "{lines:?}");
}

#[test]
fn whatever_moves_the_run_calls_its_gate_off() {
    for (what, why) in [
        ("loop", "the run moved on"),
        ("cancel", "the run moved on"),
        ("stop", "the agent stopped"),
        ("shutdown", "the session ended"),
        ("command", "the run was cancelled"),
        ("host", "the call was cancelled"),
    ] {
        let mut world = with_gate();
        world.tool("next");
        assert!(line(&world.tool("next"), "tool").contains("being checked already"));
        let lines = match what {
            "loop" => world.tool("loop"),
            "cancel" => {
                world.tool("cancel");
                world.tool("cancel")
            }
            "stop" => world.stop("aborted"),
            "command" => world.cancel_command(),
            "host" => world.step(Event::StepCancelled {
                request: RequestId(2),
            }),
            _ => world.step(Event::Shutdown),
        };
        assert!(
            line(&lines, "settled tool").contains(why),
            "{what}: {lines:?}"
        );
        assert!(lines.contains(&"stop gate".to_owned()), "{what}: {lines:?}");
        assert!(
            over(&mut world, &json!("passed")).is_empty(),
            "what comes late counts for nothing"
        );
    }
}
