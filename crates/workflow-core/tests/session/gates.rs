//! Leaving a phase: its gate, and the approval of a person.

use serde_json::json;
use workflow_core::definition::{Approval, Gate, Guards, Phase, PhaseEntry, ToolAccess};
use workflow_core::event::PlatformEvent;
use workflow_core::policy::gate_report::Report;
use workflow_core::session::Control;
use workflow_core::types::RequestId;

use crate::event::Event;
use crate::world::{Word, World, line, phase, workflow};

/// The approval of the first run is dropped.
const CLEARED: &str = "clear approval of wf-1747234567890-3t8xrq";

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
        targets: Vec::new(),
        comment: false,
        show: Some("plan.md".to_owned()),
        source: String::new(),
    }
}

/// A run of two phases, of which this is the first.
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

pub(crate) fn over(world: &mut World, verdict: &serde_json::Value) -> Vec<String> {
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

/// The last line of the message about the end.
fn summary(lines: &[String]) -> &str {
    let message = line(lines, "message workflow:complete");
    message.lines().last().expect("a message has lines")
}

#[test]
fn the_end_of_a_run_is_announced_with_what_happened_in_it() {
    let mut world = world_with(Phase {
        gate: gates(&json!([cargo_test()])),
        tools: Some(ToolAccess::Whitelist(vec!["read".to_owned()])),
        ..phase("a")
    });
    world.call("edit", &json!({}));
    world.tool("next");
    over(&mut world, &json!("failed"));
    world.control(Control::Skip, "");
    world.choose(Some("Yes, go to B without them"));
    world.wait(34 * 60_000);
    world.prompt("go");
    world.tool("next");
    let summary_of_it = "Time: 34 min · checks: 1 failed · blocked calls: 1 · skipped by you: 1";
    assert_eq!(summary(&world.stop("stop")), summary_of_it);
}

#[test]
fn what_happened_in_a_run_outlives_the_process() {
    let mut world = with_gate();
    world.tool("next");
    over(&mut world, &json!("passed"));
    world.restart();
    world.tool("next");
    let lines = world.stop("stop");
    assert_eq!(summary(&lines), "Time: 0 s · checks: 1 passed");
}

#[test]
fn a_check_that_did_not_run_is_not_counted() {
    let mut world = with_gate();
    for error in ["notTrusted", "missing", "timeout"] {
        world.tool("next");
        over(&mut world, &json!({ "couldNotRun": error }));
    }
    world.tool("next");
    over(&mut world, &json!("passed"));
    world.tool("next");
    let lines = world.stop("stop");
    assert_eq!(summary(&lines), "Time: 0 s · checks: 1 passed, 1 failed");
}

#[test]
fn a_blocked_call_is_stored_at_the_end_of_the_response() {
    let mut world = world_with(Phase {
        tools: Some(ToolAccess::Whitelist(vec!["read".to_owned()])),
        ..phase("a")
    });
    world.call("edit", &json!({}));
    let lines = world.step(Event::TurnEnd);
    assert!(line(&lines, "entry workflow:tally").ends_with(r#","blocked":1}"#));
    let lines = world.step(Event::TurnEnd);
    assert!(
        lines.iter().all(|line| !line.starts_with("entry ")),
        "{lines:?}"
    );
}

#[test]
fn a_gate_that_passes_lets_the_run_advance() {
    let mut world = with_gate();
    let lines = world.tool("next");
    assert_eq!(
        lines,
        [
            "later #2",
            "status ⏳ gate running · N-w > 🔹 A [1/2]",
            r#"gate #1 checks [{"check":{"run":{"command":["cargo","test"],"shell":false,"timeout":600,"exit":{"code":0}}},"source":"a.md:5"}], baseline null, to trust [{"command":["cargo","test"],"shell":false,"timeout":600,"exit":{"code":0}}]"#
        ]
    );
    let lines = over(&mut world, &json!("passed"));
    let answer = line(&lines, "settled tool #2 ");
    assert!(
        answer.contains("✓ cargo test (exit code 101, 3.2 s)")
            && answer.contains("✓ Advanced: A → 🔹 B"),
        "{answer}"
    );
    let entry = line(&lines, "entry workflow:gate");
    assert!(entry.contains(r#""verdict":"passed""#), "{entry}");
    assert_eq!(world.last_state()["currentPath"][0]["phaseIndex"], 1);
}

#[test]
fn a_gate_that_fails_keeps_the_phase_and_reports_its_checks() {
    let mut world = with_gate();
    world.tool("next");
    let lines = over(&mut world, &json!("failed"));
    let answer = line(&lines, "settled tool #2 ");
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
        [
            "later #3",
            "status ⏳ gate running · N-w > 🔹 A [1/2]",
            r#"gate #2 checks [{"check":{"run":{"command":["cargo","test"],"shell":false,"timeout":600,"exit":{"code":0}}},"source":"a.md:5"}], baseline null, to trust [{"command":["cargo","test"],"shell":false,"timeout":600,"exit":{"code":0}}]"#
        ]
    );
}

#[test]
fn a_gate_that_could_not_be_checked_is_no_failure_and_no_success() {
    let mut world = with_gate();
    world.tool("next");
    let lines = over(&mut world, &json!({"couldNotRun": "missing"}));
    let answer = line(&lines, "settled tool #2 ");
    assert!(
        answer.contains("could not be checked")
            && answer.contains("the result of your work is unknown"),
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
    assert_eq!(
        lines,
        [
            "status ⏳ gate running · N-w > 🔹 A [1/2]",
            r#"trust [{"command":["cargo","test"],"shell":false,"timeout":600,"exit":{"code":0}}]"#,
            r#"gate #2 checks [{"check":{"run":{"command":["cargo","test"],"shell":false,"timeout":600,"exit":{"code":0}}},"source":"a.md:5"}], baseline null, to trust []"#
        ]
    );
    line(&over(&mut world, &json!("passed")), "settled tool #2 ");

    let mut world = with_gate();
    world.tool("next");
    let gate = world.gate;
    world.report(PlatformEvent::GateNotTrusted { gate });
    assert!(line(&world.answer(false), "settled tool #2 ").contains("workflow-sidecar trust"));
    let is_reminder = |line: &String| line.contains("Auto-continuing");
    assert!(
        !world.stop("stop").iter().any(is_reminder),
        "it waits for trust"
    );
}

#[test]
fn the_status_says_that_a_gate_waits_for_trust_where_it_cannot_be_asked_for() {
    let mut world = with_gate();
    world.session.set_project_trusted(false);
    let status = |world: &mut World| {
        let lines = world.control(Control::Status, "");
        line(&lines, "notify Info").contains("Now: waiting for your trust in the gate's commands")
    };
    world.tool("next");
    let gate = world.gate;
    world.report(PlatformEvent::GateNotTrusted { gate });
    assert!(status(&mut world));
    world.tool("next");
    over(&mut world, &json!("failed"));
    assert!(!status(&mut world));
}

#[test]
fn a_baseline_is_recorded_when_the_phase_is_entered_and_survives() {
    let mut world = world_with(Phase {
        gate: gates(&json!([{"check": {"file": {"path": "plan.md", "changed": true}}}])),
        ..phase("a")
    });
    let baseline = serde_json::value::to_raw_value(&json!({"files": {}})).expect("a value is JSON");
    let lines = world.report(PlatformEvent::BaselineTaken {
        baseline,
        start: None,
    });
    assert_eq!(
        lines,
        [
            r#"entry workflow:gate {"version":1,"taskId":"wf-1747234567890-3t8xrq","step":0,"phase":"a","baseline":{"files":{}}}"#
        ]
    );
    world.reload();
    let lines = world.tool("next");
    assert_eq!(
        lines,
        [
            "later #2",
            "status ⏳ gate running · N-w > 🔹 A [1/2]",
            r#"gate #1 checks [{"check":{"file":{"path":"plan.md","changed":true}}}], baseline {"files":{}}, to trust []"#
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
    assert!(
        world
            .tool("next")
            .contains(&r#"baseline of [{"check":{"git":"newCommit"}}]"#.to_owned())
    );
}

/// A run of three phases. The last one compares tests with the start of the run.
fn comparing() -> World {
    let tests = json!([{"check": {"tests": {
        "command": {"command": ["cargo", "test"], "timeout": 600, "exit": {"code": 0}, "stream": "both"},
        "min": 1, "noNewSkips": false, "failsWithoutChange": true,
    }}}]);
    let mut work = workflow("w", &["a", "b"]);
    work.phases.push(PhaseEntry::Phase(Phase {
        gate: gates(&tests),
        ..phase("c")
    }));
    World::started(vec![work])
}

pub(crate) fn taken(start: Option<&str>) -> PlatformEvent {
    PlatformEvent::BaselineTaken {
        baseline: serde_json::value::to_raw_value(&json!({})).expect("a value is JSON"),
        start: start.map(str::to_owned),
    }
}

#[test]
fn the_files_at_the_start_of_the_run_are_not_recorded_later() {
    let mut world = comparing();
    world.report(taken(None));
    for _ in 0..2 {
        let lines = world.tool("next");
        assert!(
            !lines.iter().any(|line| line.starts_with("baseline of")),
            "{lines:?}"
        );
    }
    let lines = world.tool("next");
    assert!(!line(&lines, "gate").contains(", start "), "{lines:?}");
}

#[test]
fn the_files_at_the_start_of_the_run_are_kept_for_every_gate_that_compares_tests() {
    let mut world = comparing();
    world.report(taken(Some("c0ffee")));
    let lines = world.tool("next");
    assert!(
        !lines.iter().any(|line| line.starts_with("baseline of")),
        "it is known: {lines:?}"
    );
    world.tool("next");
    world.reload();
    let lines = world.tool("next");
    assert!(
        line(&lines, "gate").contains(", start c0ffee, to trust"),
        "{lines:?}"
    );
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
        [
            "later #2",
            "status ⏸ waiting for your approval · N-w > 🔹 A [1/2]",
            "ask Plan OK?: Workflow N-w, phase 🔹 A (1 of 2)\nFile: plan.md\n\n\"approve\" goes to 🔹 B.\n\"revise\" stays in A, and the agent reads the answer.\n= #1 [\"approve\", \"revise\"], shows plan.md",
            r#"await oxydwpxpbpc2 {"ask":"Plan OK?","choices":["approve","revise"],"show":"plan.md"}"#
        ]
    );
    let lines = world.choose(Some("revise"));
    assert!(line(&lines, "settled tool #2 ").contains("chose \"revise\""));
    world.tool("next");
    assert!(line(&world.choose(Some("approve")), "settled tool #3 ").contains("✓ Approved"));
}

#[test]
fn a_missing_approval_pauses_the_run() {
    let mut world = world_with(Phase {
        approve: Some(approval()),
        ..phase("a")
    });
    let lines = world.tool("next");
    line(&lines, r#"await oxydwpxpbpc2 {"ask":"Plan OK?""#);
    let lines = world.choose(None);
    assert!(line(&lines, "settled tool #2 ").contains("without an answer"));
    assert!(line(&lines, "entry workflow:run").contains(r#""paused":"approval""#));
    assert!(world.stop("stop").is_empty(), "auto-continue rests");
}

#[test]
fn a_run_that_has_moved_waits_for_no_approval() {
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
        let forgotten = lines.iter().filter(|line| *line == CLEARED);
        assert_eq!(forgotten.count(), 1, "{what}: {lines:?}");
    }
}

#[test]
fn an_approval_given_in_advance_is_used_once() {
    let mut world = world_with(Phase {
        gate: gates(&json!([cargo_test()])),
        approve: Some(approval()),
        ..phase("a")
    });
    world.tool("next");
    over(&mut world, &json!("passed"));
    world.choose(None);
    world.word = Some(Word::Chosen("approve".to_owned()));
    world.tool("next");
    let lines = over(&mut world, &json!("passed"));
    assert!(line(&lines, "settled tool #3 ").contains("✓ Approved"));
    assert!(lines.contains(&CLEARED.to_owned()), "{lines:?}");
}

#[test]
fn whatever_moves_the_run_calls_its_gate_off() {
    for (what, why) in [
        ("loop", "the run has moved"),
        ("cancel", "the run has moved"),
        ("stop", "the agent stopped"),
        ("shutdown", "the session ended"),
        ("command", "the run was cancelled"),
        ("host", "the call was cancelled"),
    ] {
        let mut world = with_gate();
        world.tool("next");
        assert!(line(&world.tool("next"), "tool").contains("still leaving this phase"));
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
            line(&lines, "settled tool #2 ").contains(why),
            "{what}: {lines:?}"
        );
        assert!(
            lines.contains(&"stop gate #1".to_owned()),
            "{what}: {lines:?}"
        );
        assert!(
            over(&mut world, &json!("passed")).is_empty(),
            "what comes late counts for nothing"
        );
    }
}

#[test]
fn what_a_gate_reports_is_redacted_wherever_it_is_shown_or_stored() {
    let rule = json!({"tools": ["workflow_*"], "redact": ["sk-[a-z]{20,}"]});
    let mut world = world_with(Phase {
        gate: gates(&json!([cargo_test()])),
        results: vec![serde_json::from_value(rule).expect("it is a rule")],
        ..phase("a")
    });
    for verdict in [json!("failed"), json!("passed")] {
        world.tool("next");
        let key = "sk-abcdefghijklmnopqrstuvwxyz";
        let mut report = report(&verdict);
        report.reason = format!("{key}.txt has changed");
        report.tail = format!("the key is {key}");
        let gate = world.gate;
        let reports = vec![report];
        let lines = world.report(PlatformEvent::GateFinished { gate, reports });
        let all = lines.join("\n");
        assert!(!all.contains("sk-"), "{all}");
        assert!(all.contains("the key is [redacted]"), "{all}");
    }
}

#[test]
fn a_person_hears_that_an_approval_request_cannot_be_stored() {
    let mut world = world_with(Phase {
        approve: Some(approval()),
        ..phase("a")
    });
    world.tool("next");
    let reason = "the disk is full".to_owned();
    let lines = world.report(PlatformEvent::ApprovalNotStored { reason });
    let notice = lines.concat();
    assert!(
        notice.contains("`workflow-sidecar approve` does not list it: the disk is full"),
        "{lines:?}"
    );
}
