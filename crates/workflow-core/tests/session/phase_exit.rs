//! Questions about leaving a phase: their subject, their end, late answers.

use serde_json::json;
use workflow_core::definition::{
    Approval, Bound, ContinueRule, Gate, Guards, Phase, PhaseEntry, Target, Tier, Trigger,
    TriggerOn,
};
use workflow_core::event::{Answer, PlatformEvent, WatchReport};
use workflow_core::policy::gate_report::Report;
use workflow_core::session::Abilities;
use workflow_core::types::RequestId;

use crate::event::Event;
use crate::world::{Word, World, guarded, line, phase, workflow};

/// The approval of the first run is dropped.
const CLEARED: &str = "clear approval of wf-1747234567890-3t8xrq";

const HALF_AN_HOUR: u64 = 30 * 60 * 1000;

fn gates(checks: &serde_json::Value) -> Vec<Gate> {
    serde_json::from_value(checks.clone()).expect("they are checks")
}

fn cargo_test() -> Vec<Gate> {
    gates(
        &json!([{"check": {"run": {"command": ["cargo", "test"], "timeout": 600, "exit": {"code": 0}}}, "source": "a.md:5"}]),
    )
}

fn needs_approval() -> Phase {
    Phase {
        approve: Some(Approval {
            ask: "Plan OK?".to_owned(),
            choices: vec!["approve".to_owned(), "revise".to_owned()],
            targets: Vec::new(),
            comment: false,
            show: Some("plan.md".to_owned()),
            source: String::new(),
        }),
        ..guarded("a", &["edit"])
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

fn passed() -> Vec<Report> {
    let report = json!({"what": "cargo test", "verdict": "passed", "durationMs": 3210});
    vec![serde_json::from_value(report).expect("it is a report")]
}

fn failed() -> Vec<Report> {
    let report = json!({"what": "cargo test", "verdict": "failed", "durationMs": 3210});
    vec![serde_json::from_value(report).expect("it is a report")]
}

fn over(world: &mut World, reports: Vec<Report>) -> Vec<String> {
    let gate = world.gate;
    world.report(PlatformEvent::GateFinished { gate, reports })
}

fn untrusted(world: &mut World) -> Vec<String> {
    let gate = world.gate;
    world.report(PlatformEvent::GateNotTrusted { gate })
}

fn says(word: &str) -> Word {
    Word::Chosen(word.to_owned())
}

fn starts_any(lines: &[String], start: &str) -> bool {
    lines.iter().any(|line| line.starts_with(start))
}

fn outdated(world: &mut World) -> Vec<String> {
    let question = world.asked.pop().expect("a question waits");
    let answer = Answer::Outdated;
    world.step(Event::Answer { question, answer })
}

fn trigger(file: &str) -> Trigger {
    Trigger {
        on: TriggerOn::File(file.to_owned()),
        prompt: "{content}".to_owned(),
        tier: Tier::Project,
        source: String::new(),
    }
}

/// The triggers of the project are not trusted, and a dialog is open.
fn asks_about_triggers(file: &str) -> World {
    let mut world = World::started(vec![workflow("w", &["a"])]);
    world.settings.triggers = vec![trigger(file)];
    world.reload();
    not_watched(&mut world);
    world
}

fn not_watched(world: &mut World) -> Vec<String> {
    let watched = WatchReport {
        untrusted: true,
        ..WatchReport::default()
    };
    world.report(PlatformEvent::TriggersWatched { report: watched })
}

#[test]
fn every_question_times_out_with_the_safe_answer_and_a_notification() {
    let mut approval = world_with(needs_approval());
    approval.tool("next");
    let mut trust = world_with(Phase {
        gate: cargo_test(),
        ..phase("a")
    });
    trust.tool("next");
    untrusted(&mut trust);
    let mut start = World::started(vec![workflow("w", &["a"])]);
    start.command("w another");
    let cases = vec![
        (approval, "settled tool", "no answer in time"),
        (trust, "settled tool", "there was no answer in time"),
        (start, "notify Warning", "No workflow was started"),
        (
            asks_about_triggers("t"),
            "notify Warning",
            "are not watched: there was no answer in time",
        ),
    ];
    for (mut world, start, expected) in cases {
        let first = world.last_state()["taskId"].clone();
        assert!(world.wait(HALF_AN_HOUR - 1).is_empty(), "{expected}");
        let lines = world.wait(1);
        assert!(line(&lines, start).contains(expected), "{lines:?}");
        assert_eq!(world.last_state()["currentPath"][0]["phaseIndex"], 0);
        assert_eq!(world.last_state()["taskId"], first);
        assert!(world.session.deadline().is_none(), "{expected}");
    }
}

#[test]
fn a_late_answer_is_reported_and_a_late_dismissal_is_not() {
    let mut world = world_with(needs_approval());
    world.tool("next");
    world.tool("loop");
    let lines = world.choose(Some("approve"));
    assert_eq!(lines.len(), 1, "{lines:?}");
    let told = line(&lines, "notify Warning");
    for expected in [
        "\"Plan OK?\" came too late",
        "Nothing was approved",
        "is in A",
    ] {
        assert!(told.contains(expected), "{told}");
    }
    assert_eq!(world.last_state()["currentPath"][0]["phaseIndex"], 0);
    world.tool("next");
    world.tool("loop");
    assert!(world.choose(None).is_empty());
}

#[test]
fn an_approval_can_be_given_outside_as_soon_as_the_dialog_is_open() {
    for ends in ["dismissed", "late"] {
        let mut world = world_with(needs_approval());
        line(
            &world.tool("next"),
            r#"await oxydwpxpbpc2 {"ask":"Plan OK?""#,
        );
        world.word = Some(says("approve"));
        let lines = match ends {
            "dismissed" => world.choose(None),
            _ => world.wait(HALF_AN_HOUR),
        };
        assert!(
            line(&lines, "settled tool #2 ").contains("✓ Approved"),
            "{ends}: {lines:?}"
        );
    }
}

#[test]
fn an_approval_of_changed_content_is_requested_again() {
    let mut world = world_with(needs_approval());
    world.tool("next");
    let lines = outdated(&mut world);
    assert!(line(&lines, "ask Plan OK?: ").contains("Your earlier answer does not count"));
    assert!(lines.contains(&CLEARED.to_owned()), "{lines:?}");
    world.choose(None);
    // The same where it was answered outside of the host.
    world.word = Some(Word::Outdated);
    let lines = world.tool("next");
    assert!(line(&lines, "ask Plan OK?: ").contains("Your earlier answer does not count"));
    assert!(line(&world.choose(Some("approve")), "settled tool #3 ").contains("✓ Approved"));
}

#[test]
fn an_approval_is_read_only_by_the_run_that_waits_and_the_request_survives() {
    let mut world = world_with(needs_approval());
    world.word = Some(says("approve"));
    let lines = world.tool("next");
    assert!(
        !lines.iter().any(|line| line.starts_with("read")),
        "{lines:?}"
    );
    world.word = None;
    world.choose(None);
    assert!(!starts_any(&world.reload(), "clear "));
    world.word = Some(says("approve"));
    let lines = world.tool("next");
    assert!(
        line(&lines, "settled tool #3 ").contains("✓ Approved"),
        "{lines:?}"
    );
}

#[test]
fn another_branch_does_not_wait_for_the_approval_of_this_one() {
    let mut world = world_with(needs_approval());
    let before = world.branch.clone();
    world.tool("next");
    world.choose(None);
    world.branch = before;
    assert!(world.reload().contains(&CLEARED.to_owned()));
    world.word = Some(says("approve"));
    let lines = world.tool("next");
    line(&lines, "ask Plan OK?");
}

#[test]
fn back_on_the_branch_that_waits_an_approval_can_be_given_again() {
    let mut world = world_with(needs_approval());
    let before = world.branch.clone();
    world.tool("next");
    world.choose(None);
    let waiting = std::mem::replace(&mut world.branch, before);
    world.reload();
    world.branch = waiting;
    let lines = world.reload();
    line(&lines, r#"await oxydwpxpbpc2 {"ask":"Plan OK?""#);
    world.word = Some(says("approve"));
    assert!(line(&world.tool("next"), "settled tool #3 ").contains("✓ Approved"));
}

#[test]
fn a_question_of_a_dialog_only_ends_with_the_dialog() {
    for what in ["host", "stop", "shutdown"] {
        let mut world = world_with(needs_approval());
        world.tool("next");
        let lines = match what {
            "host" => world.step(Event::StepCancelled {
                request: RequestId(2),
            }),
            "stop" => world.stop("aborted"),
            _ => world.step(Event::Shutdown),
        };
        line(&lines, "settled tool #2 Leaving the phase was cancelled");
        assert!(lines.contains(&CLEARED.to_owned()), "{what}");
    }
    let mut paused = world_with(needs_approval());
    paused.tool("next");
    paused.choose(None);
    let lines = paused.step(Event::Shutdown);
    assert!(!starts_any(&lines, "clear "), "{lines:?}");
}

#[test]
fn an_open_approval_suspends_reminders_whatever_the_user_writes() {
    let mut world = world_with(needs_approval());
    world.tool("next");
    world.choose(None);
    world.user_input();
    world.prompt("what is in the plan?");
    assert!(world.stop("stop").is_empty());
    world.tool("next");
    world.choose(Some("revise"));
    line(&world.stop("stop"), "widget");
}

#[test]
fn checks_that_passed_long_ago_are_run_again_before_the_phase_is_left() {
    let first = || Phase {
        gate: cargo_test(),
        ..needs_approval()
    };
    let mut quick = world_with(first());
    quick.tool("next");
    over(&mut quick, passed());
    quick.wait(9 * 60 * 1000);
    line(&quick.choose(Some("approve")), "settled tool #2 ");

    let mut slow = world_with(first());
    slow.tool("next");
    over(&mut slow, passed());
    slow.wait(11 * 60 * 1000);
    let lines = slow.choose(Some("approve"));
    assert_eq!(
        lines,
        [
            "status ⏳ gate running · N-w > 🔹 A [1/2]",
            r#"gate #2 checks [{"check":{"run":{"command":["cargo","test"],"shell":false,"timeout":600,"exit":{"code":0}}},"source":"a.md:5"}], baseline null, to trust [{"command":["cargo","test"],"shell":false,"timeout":600,"exit":{"code":0}}]"#
        ]
    );
    let lines = over(&mut slow, passed());
    assert!(
        line(&lines, "settled tool #2 ").contains("✓ Approved"),
        "{lines:?}"
    );
}

#[test]
fn an_approval_is_void_if_the_checks_fail_after_it() {
    let waits = || {
        let mut world = world_with(Phase {
            gate: cargo_test(),
            ..needs_approval()
        });
        world.tool("next");
        over(&mut world, passed());
        world
    };
    // The checks are old when the approval is read.
    let mut slow = waits();
    slow.wait(11 * 60 * 1000);
    slow.choose(Some("approve"));
    let lines = over(&mut slow, failed());
    assert!(lines.contains(&CLEARED.to_owned()), "{lines:?}");

    // The decision was made outside of the host, and the agent continued before it was read.
    let mut outside = waits();
    outside.choose(None);
    outside.word = Some(says("approve"));
    outside.tool("next");
    let lines = over(&mut outside, failed());
    assert!(lines.contains(&CLEARED.to_owned()), "{lines:?}");
    outside.word = None;
    outside.tool("next");
    line(&over(&mut outside, passed()), "ask Plan OK?");
}

#[test]
fn a_gate_without_reports_has_not_passed() {
    let mut world = world_with(Phase {
        gate: cargo_test(),
        ..phase("a")
    });
    world.tool("next");
    let lines = over(&mut world, Vec::new());
    let answer = line(&lines, "settled tool #2 ");
    assert!(answer.contains("could not be checked"), "{answer}");
    assert_eq!(world.last_state()["currentPath"][0]["phaseIndex"], 0);
}

#[test]
fn cancelling_while_an_approval_is_open_removes_all_restrictions_at_once() {
    let mut world = world_with(needs_approval());
    world.tool("next");
    world.tool("cancel");
    line(&world.tool_call("edit"), "block");
    assert!(line(&world.tool("next"), "tool").contains("still leaving this phase"));
    world.tool("cancel");
    let lines = world.tool("cancel");
    line(&lines, "settled tool #2 Leaving the phase was cancelled");
    assert!(lines.contains(&CLEARED.to_owned()), "{lines:?}");
    assert!(world.tool_call("edit").is_empty());
    let lines = world.choose(Some("approve"));
    assert!(line(&lines, "notify Warning").contains("came too late"));
    assert_eq!(lines.len(), 1);
}

#[test]
fn a_gate_of_the_user_needs_no_trust_in_the_project() {
    let own = Phase {
        gate: cargo_test(),
        ..phase("a")
    };
    let foreign = Phase {
        gate: gates(
            &json!([{"check": {"run": {"command": ["make"], "timeout": 600, "exit": {"code": 0}}}}]),
        ),
        ..phase("x")
    };
    let mut outer = workflow("w", &["{s}"]);
    outer.phases.insert(0, PhaseEntry::Phase(own));
    let mut inner = workflow("s", &[]);
    inner.phases.push(PhaseEntry::Phase(foreign));
    let mut world = World::new(vec![outer, inner]);
    world.own = vec!["w".to_owned()];
    world.command("w the task");
    assert_eq!(
        world.tool("next"),
        [
            "later #2",
            "status ⏳ gate running · N-w > 🔹 A [1/2]",
            r#"gate #1 checks [{"check":{"run":{"command":["cargo","test"],"shell":false,"timeout":600,"exit":{"code":0}}},"source":"a.md:5"}], baseline null, to trust []"#
        ]
    );
    over(&mut world, passed());
    assert_eq!(
        world.tool("next"),
        [
            "later #3",
            "status ⏳ gate running · N-w > N-s [2/2] > 🔹 X [1/1]",
            r#"gate #2 checks [{"check":{"run":{"command":["make"],"shell":false,"timeout":600,"exit":{"code":0}}}}], baseline null, to trust [{"command":["make"],"shell":false,"timeout":600,"exit":{"code":0}}]"#
        ]
    );
    let asked = untrusted(&mut world);
    let asked = line(&asked, "ask Run commands of this project?");
    assert!(
        asked.contains("  make") && !asked.contains("cargo"),
        "{asked}"
    );
}

const CARGO_TEST: &str =
    r#"{"command":["cargo","test"],"shell":false,"timeout":600,"exit":{"code":0}}"#;

/// A run with a gate, whose commands are not trusted, in a host with these abilities; and what its start says.
fn started_without_trust(abilities: Abilities) -> (World, Vec<String>) {
    let mut work = workflow("w", &["b"]);
    let first = Phase {
        gate: cargo_test(),
        ..phase("a")
    };
    work.phases.insert(0, PhaseEntry::Phase(first));
    let mut world = World::new(vec![work]);
    world.restart_with(abilities);
    let lines = world.command("w the task");
    line(&lines, &format!("check trust in [{CARGO_TEST}]"));
    let lines = world.report(PlatformEvent::CommandsNotTrusted);
    (world, lines)
}

fn with_dialogs() -> Abilities {
    Abilities {
        dialogs: true,
        dismissal: true,
        ..Abilities::default()
    }
}

const NOT_TRUSTED: &str = "notify Warning [workflow] The gates of this workflow run commands of this project that you have not trusted. ";

#[test]
fn trust_in_the_commands_of_a_run_is_asked_for_at_its_start() {
    let (mut world, lines) = started_without_trust(with_dialogs());
    let asked = line(&lines, "ask Run commands of this project?");
    assert!(asked.contains("\n  cargo test  (a.md:5)\n"), "{asked}");
    assert!(
        asked.contains(
            "No: nothing runs now, and you are asked again at the first gate that runs one of them."
        ),
        "{asked}"
    );
    assert_eq!(world.answer(true), [format!("trust [{CARGO_TEST}]")]);
}

#[test]
fn a_start_without_trust_says_what_does_not_run() {
    let (mut world, _) = started_without_trust(with_dialogs());
    let again =
        format!("{NOT_TRUSTED}You are asked again at the first gate that runs one of them.");
    assert_eq!(world.answer(false), [again]);
    world.tool("next");
    line(&untrusted(&mut world), "ask Run commands of this project?");

    let (_, lines) = started_without_trust(Abilities::default());
    let terminal = format!(
        "{NOT_TRUSTED}Such a gate does not pass until you close this session and trust them with `workflow-sidecar trust` in a terminal.\n  cargo test  (a.md:5)"
    );
    assert_eq!(lines, [terminal]);

    let (mut world, _) = started_without_trust(with_dialogs());
    world.session.set_project_trusted(false);
    let lines = world.report(PlatformEvent::CommandsNotTrusted);
    assert_eq!(
        lines,
        [format!(
            "{NOT_TRUSTED}Such a gate does not pass until you trust the project in this host."
        )]
    );
}

#[test]
fn the_question_about_trust_ends_at_the_gate_and_the_end() {
    for what in ["gate", "end", "another start"] {
        let (mut world, _) = started_without_trust(with_dialogs());
        let lines = match what {
            "gate" => {
                world.tool("next");
                untrusted(&mut world)
            }
            "end" => world.cancel_command(),
            _ => {
                world.command("w another");
                world.answer(true)
            }
        };
        line(&lines, "dismiss #1");
    }
}

#[test]
fn a_yes_is_about_the_triggers_that_were_shown() {
    let mut world = asks_about_triggers("a");
    world.settings.triggers = vec![trigger("a"), trigger("b")];
    world.command("w another");
    world.answer(true);
    let lines = world.answer(true);
    assert_eq!(
        lines,
        [
            r#"trust triggers [{"on":{"file":"a"},"prompt":"{content}","tier":"project"}]"#,
            r#"watch [{"on":{"file":"a"},"prompt":"{content}","tier":"project"},{"on":{"file":"b"},"prompt":"{content}","tier":"project"}]"#
        ]
    );
    let asked = not_watched(&mut world);
    assert!(line(&asked, "ask Watch").contains('b'), "{asked:?}");
}

#[test]
fn a_run_that_is_cancelled_at_its_limit_waits_for_no_approval() {
    let mut work = workflow("w", &[]);
    work.phases.push(PhaseEntry::Phase(Phase {
        auto_continue: ContinueRule {
            max: Some(Bound::Times(0)),
            on_limit: Some(Target::Cancel),
            ..ContinueRule::default()
        },
        ..needs_approval()
    }));
    let mut world = World::started(vec![work]);
    assert!(world.stop("stop").contains(&CLEARED.to_owned()));
}

#[test]
fn a_check_without_a_baseline_explains_how_to_get_one() {
    let mut world = world_with(Phase {
        gate: gates(&json!([{"check": {"git": "newCommit"}}])),
        ..phase("a")
    });
    world.tool("next");
    let report = json!({"what": "git", "verdict": {"couldNotRun": "noBaseline"}, "durationMs": 1});
    let report = serde_json::from_value(report).expect("it is a report");
    let lines = over(&mut world, vec![report]);
    assert!(line(&lines, "settled tool #2 ").contains("action='loop'"));
}

#[test]
fn a_missing_baseline_is_recorded_anew() {
    let mut world = world_with(Phase {
        gate: gates(&json!([{"check": {"git": "newCommit"}}])),
        ..phase("a")
    });
    let lines = world.reload();
    assert!(
        lines.contains(&r#"baseline of [{"check":{"git":"newCommit"}}]"#.to_owned()),
        "{lines:?}"
    );
    assert!(line(&lines, "notify Warning").contains("compares with the state as it is now"));
    let baseline = serde_json::value::to_raw_value(&json!({})).expect("a value is JSON");
    world.report(PlatformEvent::BaselineTaken {
        baseline,
        start: None,
    });
    let lines = world.reload();
    assert!(
        !lines.contains(&r#"baseline of [{"check":{"git":"newCommit"}}]"#.to_owned()),
        "{lines:?}"
    );
}

/// A person answers the open request for approval in a terminal.
fn answered(world: &mut World, choice: &str) -> Vec<String> {
    world.word = Some(says(choice));
    reported(world, choice, false)
}

fn reported(world: &mut World, choice: &str, is_earlier: bool) -> Vec<String> {
    world.report(PlatformEvent::ApprovalAnswered {
        request: world.approval.clone(),
        choice: choice.to_owned(),
        is_earlier,
    })
}

#[test]
fn an_approval_in_a_terminal_counts_at_once_and_closes_the_dialog() {
    let mut world = world_with(needs_approval());
    world.tool("next");
    let question = world.asked[0];
    let lines = answered(&mut world, "approve");
    line(&lines, "notify Info Answered elsewhere: approve.");
    line(&lines, &format!("dismiss #{}", question.0));
    line(&lines, "settled tool #2 ✓ Approved: ");
    assert!(lines.contains(&CLEARED.to_owned()), "{lines:?}");
    // The dialog was closed without an answer.
    assert_eq!(world.choose(None), Vec::<String>::new());
}

#[test]
fn an_approval_in_a_terminal_moves_a_paused_run_at_once() {
    let mut world = world_with(needs_approval());
    world.tool("next");
    world.choose(None);
    let lines = answered(&mut world, "approve");
    assert!(
        lines.contains(&"notify Info Answered elsewhere: approve.".to_owned()),
        "{lines:?}"
    );
    line(&lines, "notify Info ✓ A → ");
    line(
        &lines,
        "user (steers) [workflow] ✓ Approved: the user was asked \"Plan OK?\" and chose \"approve\". The workflow moved: A → ",
    );
    assert!(lines.contains(&CLEARED.to_owned()), "{lines:?}");
}

#[test]
fn another_answer_in_a_terminal_reaches_the_agent_at_once() {
    let mut world = world_with(needs_approval());
    world.tool("next");
    world.choose(None);
    let lines = answered(&mut world, "revise");
    line(
        &lines,
        "user (steers) [workflow] Not approved: the user was asked \"Plan OK?\" and chose \"revise\"",
    );
    assert!(
        lines.contains(&"status N-w > 🔹 A [1/2]".to_owned()),
        "{lines:?}"
    );
}

#[test]
fn an_approval_in_a_terminal_runs_the_gate_again_before_the_run_moves() {
    let mut world = world_with(Phase {
        gate: cargo_test(),
        ..needs_approval()
    });
    world.tool("next");
    over(&mut world, passed());
    world.choose(None);
    let lines = answered(&mut world, "approve");
    line(&lines, "gate #2 ");
    let lines = over(&mut world, passed());
    line(&lines, "notify Info ✓ A → ");
}

#[test]
fn an_approval_in_a_terminal_asks_before_it_overrides_a_gate_that_fails() {
    let mut world = world_with(Phase {
        gate: cargo_test(),
        ..needs_approval()
    });
    world.tool("next");
    over(&mut world, passed());
    world.choose(None);
    answered(&mut world, "approve");
    over(&mut world, failed());
    let lines = world.choose(Some("Yes, go to B without them"));
    line(&lines, "notify Info ✓ A → ");
}

#[test]
fn an_answer_in_a_terminal_about_a_file_that_changed_is_asked_for_again() {
    let mut world = world_with(needs_approval());
    world.tool("next");
    world.choose(None);
    world.word = Some(Word::Outdated);
    let lines = reported(&mut world, "approve", false);
    assert!(
        lines
            .iter()
            .any(|line| line.contains("Your earlier answer does not count")),
        "{lines:?}"
    );
    let lines = world.choose(Some("approve"));
    line(&lines, "notify Info ✓ A → ");
}

#[test]
fn an_answer_from_before_the_session_was_restored_waits_for_the_next_call() {
    let mut world = world_with(needs_approval());
    world.tool("next");
    world.choose(None);
    world.word = Some(says("revise"));
    let lines = reported(&mut world, "revise", true);
    line(
        &lines,
        "status ✓ answered: ask the agent to continue · N-w > 🔹 A [1/2]",
    );
    assert!(!starts_any(&lines, "dismiss"), "{lines:?}");
    let lines = world.tool("next");
    line(
        &lines,
        "settled tool #3 Not approved: the user was asked \"Plan OK?\" and chose \"revise\"",
    );
    assert!(
        lines.contains(&"status N-w > 🔹 A [1/2]".to_owned()),
        "{lines:?}"
    );
}

#[test]
fn an_answer_in_a_terminal_to_another_request_changes_nothing() {
    let mut world = world_with(needs_approval());
    world.tool("next");
    let lines = world.report(PlatformEvent::ApprovalAnswered {
        request: "another".to_owned(),
        choice: "approve".to_owned(),
        is_earlier: false,
    });
    assert_eq!(lines, Vec::<String>::new());
}
