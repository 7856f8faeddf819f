//! Consent to tool calls, the count of denials, and the effect of a move of the run on both.

use serde_json::{Value, json};
use workflow_core::definition::{
    Bound, ContinueRule, Guards, OnRepeat, PhaseEntry, Rule, RuleAction, Target, ToolAccess,
    Workflow,
};
use workflow_core::event::PlatformEvent;
use workflow_core::session::{Control, RunCondition};

use crate::event::Event;
use crate::world::{World, line, user_messages, workflow};

fn rule(verdict: &str, tool: &str) -> Rule {
    let said = json!({"action": verdict, "tools": [tool], "source": "f:1"});
    serde_json::from_value(said).expect("it is a rule")
}

/// Two phases with this rule, and a run in the first.
fn with_rule(rule: &Rule) -> World {
    World::started(vec![two_phases(rule)])
}

fn two_phases(rule: &Rule) -> Workflow {
    let mut work = workflow("w", &["a", "b"]);
    for entry in &mut work.phases {
        if let PhaseEntry::Phase(phase) = entry {
            phase.rules = vec![rule.clone()];
        }
    }
    work
}

fn write(world: &mut World) -> Vec<String> {
    world.call("write", &json!({"path": "a"}))
}

fn has_dialog(lines: &[String]) -> bool {
    lines.iter().any(|line| line.starts_with("ask "))
}

#[test]
fn no_dialog_offers_to_override_the_built_in_rule() {
    let mut world = World::started(vec![workflow("w", &["a"])]);
    for _ in 0..10 {
        let said = world.call("bash", &json!({"command": "workflow-sidecar approve"}));
        assert!(
            line(&said, "block").contains("workflow-sidecar (built in): only the user may approve")
        );
        assert!(!has_dialog(&said), "{said:?}");
    }
    assert!(world.asked.is_empty());
}

#[test]
fn a_dialog_shows_lists_and_fields_inside_of_arguments_line_by_line() {
    let mut world = with_rule(&rule("ask", "edit"));
    let edits = json!([{"newText": "a\nb", "oldText": "c"}]);
    let asked = world.call("edit", &json!({"edits": edits, "path": "a.txt"}));
    let expected = "run edit:\n  edits:\n    1:\n      newText: a\n        b\n      oldText: c\n  path: a.txt\n\n";
    let asked = line(&asked, "ask Allow edit?");
    assert!(asked.contains(expected), "{asked}");
}

#[test]
fn a_dialog_shows_what_is_deep_inside_of_arguments_as_json() {
    let mut world = with_rule(&rule("ask", "edit"));
    let asked = world.call("edit", &json!({"a": {"b": {"c": {"d": {"e": [1]}}}}}));
    let expected = "\n  a:\n    b:\n      c:\n        d: {\"e\":[1]}\n";
    let asked = line(&asked, "ask Allow edit?");
    assert!(asked.contains(expected), "{asked}");
}

#[test]
fn a_dialog_names_the_level_and_the_file_that_consent_overrides() {
    let mut world = World::new(vec![workflow("w", &["a"])]);
    let mut sourced = rule("block", "write");
    sourced.source = "~/.pi/agent/workflow-sidecar.json5:3".to_owned();
    world.settings.user = Guards {
        rules: vec![sourced],
        ..Guards::default()
    };
    world.reload();
    write(&mut world);
    write(&mut world);
    let asked = write(&mut world);
    let asked = line(&asked, "ask Allow write?");
    let expected = "Rule of the user's settings (~/.pi/agent/workflow-sidecar.json5:3): ";
    assert!(asked.contains(expected), "{asked}");
    assert_eq!(world.answer(true), ["settled none #3"]);
    assert!(line(&write(&mut world), "block").contains("blocked by the user's settings"));
}

/// A run in a phase that blocks writing, under settings that do something about it as well.
fn with_both(verdict: &str, phase: &Rule) -> World {
    let mut world = World::new(vec![two_phases(phase)]);
    let mut sourced = rule(verdict, "write");
    "settings:3".clone_into(&mut sourced.source);
    world.settings.user = Guards {
        rules: vec![sourced],
        ..Guards::default()
    };
    world.reload();
    world.command("w the task");
    world
}

#[test]
fn a_dialog_names_every_level_that_consent_overrides() {
    for verdict in ["block", "ask"] {
        let mut world = with_both("block", &rule(verdict, "write"));
        write(&mut world);
        write(&mut world);
        let asked = write(&mut world);
        let asked = line(&asked, "ask Allow write?");
        let expected = "by rules of the user's settings (settings:3) and the A phase (f:1).";
        assert!(asked.contains(expected), "{asked}");
    }
    let mut world = with_both("ask", &rule("ask", "write"));
    let asked = write(&mut world);
    let expected = "This call needs your consent, by rules of the user's settings (settings:3) and the A phase (f:1).";
    assert!(line(&asked, "ask").contains(expected), "{asked:?}");
}

#[test]
fn no_dialog_opens_if_a_list_denies_the_call_as_well() {
    let mut work = two_phases(&rule("block", "edit"));
    for entry in &mut work.phases {
        if let PhaseEntry::Phase(phase) = entry {
            phase.tools = Some(ToolAccess::Blacklist(vec!["write".to_owned()]));
        }
    }
    let mut world = World::new(vec![work]);
    world.settings.user = Guards {
        rules: vec![rule("block", "write")],
        ..Guards::default()
    };
    world.reload();
    world.command("w the task");
    for _ in 0..6 {
        assert!(!has_dialog(&write(&mut world)));
    }
}

#[test]
fn a_line_that_uses_up_the_comparisons_of_a_call_can_be_excepted() {
    // Two comparisons of this line with these patterns are more than a call may need.
    let mut long = rule("block", "bash");
    long.command = (0..600).map(|at| format!("git x{at}")).collect();
    long.command.push("git y".to_owned());
    long.unknown = Some(RuleAction::Allow);
    let mut world = with_rule(&long);
    let input = json!({"command": "git y;".repeat(1000)});
    for _ in 0..2 {
        let said = world.call("bash", &input);
        assert!(
            line(&said, "block").contains("blocked by the A phase"),
            "{said:?}"
        );
    }
    assert!(has_dialog(&world.call("bash", &input)));
}

#[test]
fn an_allowed_call_in_between_resets_the_count() {
    let mut world = with_rule(&rule("block", "write"));
    for _ in 0..5 {
        for _ in 0..2 {
            assert!(!has_dialog(&write(&mut world)));
        }
        assert!(world.tool_call("read").is_empty());
    }
}

#[test]
fn another_phase_resets_the_count() {
    let mut world = with_rule(&rule("block", "write"));
    write(&mut world);
    write(&mut world);
    world.tool("loop");
    assert!(!has_dialog(&write(&mut world)));
    assert!(!has_dialog(&write(&mut world)));
    assert!(has_dialog(&write(&mut world)));
}

#[test]
fn a_call_that_was_declined_three_times_gets_no_further_question() {
    let mut world = with_rule(&rule("ask", "write"));
    for _ in 0..3 {
        assert!(has_dialog(&write(&mut world)));
        world.answer(false);
    }
    let refused = write(&mut world);
    assert!(line(&refused, "block").contains("4 times in a row. Stop trying"));
    assert!(
        has_dialog(&world.tool_call("write")),
        "another call is asked about"
    );
}

#[test]
fn what_people_answer_is_counted() {
    let mut world = with_rule(&rule("ask", "write"));
    for confirmed in [true, false] {
        write(&mut world);
        world.answer(confirmed);
    }
    write(&mut world);
    world.tool("next");
    let counted = [None, Some(true), None, Some(false), None];
    assert_eq!(world.consents, counted, "the last one was called off");
}

#[test]
fn without_dialogs_a_call_that_needs_consent_is_refused_for_good_at_last() {
    let abilities = workflow_core::session::Abilities::default();
    let mut world = World::new(vec![two_phases(&rule("ask", "write"))]);
    world.session = workflow_core::Session::new(abilities, 7);
    world.reload();
    world.command("w the task");
    for _ in 0..2 {
        let said = write(&mut world);
        assert!(
            line(&said, "block").ends_with("this host cannot ask for it."),
            "{said:?}"
        );
    }
    assert!(line(&write(&mut world), "block").contains("3 times in a row. Stop trying"));
}

#[test]
fn without_dialogs_a_call_that_needs_consent_makes_the_run_wait_and_sends_no_reminder() {
    let abilities = workflow_core::session::Abilities::default();
    let mut world = World::new(vec![two_phases(&rule("ask", "write"))]);
    world.session = workflow_core::Session::new(abilities, 7);
    world.reload();
    world.command("w the task");
    let state = |world: &World| {
        let view = world.session.view().unwrap();
        let waits = view.condition == RunCondition::AwaitsConsent;
        assert_eq!(waits, view.unasked.is_some());
        view.unasked.unwrap_or_default().to_owned()
    };
    assert_eq!(state(&world), "");
    let lines = write(&mut world);
    line(
        &lines,
        "status ⏸ waiting for your consent · N-w > 🔹 A [1/2]",
    );
    assert_eq!(state(&world), "write, the A phase (f:1)");
    world.call("read", &json!({"path": "a"}));
    assert_eq!(state(&world), "write, the A phase (f:1)");
    world.stop("stop");
    assert_eq!(
        user_messages(&world.wait(60_000)),
        0,
        "the agent is not reminded"
    );
    assert_eq!(state(&world), "write, the A phase (f:1)");
    world.prompt("do without it");
    assert_eq!(state(&world), "");

    write(&mut world);
    world.control(Control::Skip, "");
    assert_eq!(state(&world), "", "another phase has begun");
}

/// A call waits, the run moves: the call is blocked once, and what a person says then changes nothing.
fn is_called_off_by(mut world: World, moves: impl FnOnce(&mut World) -> Vec<String>) {
    write(&mut world);
    let question = world.asked[0];
    let said = moves(&mut world);
    let settled = line(&said, "settled block #2 by Failure: ");
    assert!(settled.contains("blocked by the A phase"), "{settled}");
    let blocked = said.iter().filter(|line| line.starts_with("settled block"));
    assert_eq!(blocked.count(), 1, "{said:#?}");
    let answer = workflow_core::event::Answer::Confirmed(true);
    let late = world.step(Event::Answer { question, answer });
    assert_eq!(late.len(), 1, "{late:?}");
    assert!(line(&late, "notify").contains("too late and has no effect"));
    assert!(
        world
            .wait(60 * 60 * 1000)
            .iter()
            .all(|line| !line.starts_with("settled"))
    );
}

#[test]
fn a_call_that_waits_is_blocked_when_the_run_moves_on() {
    let world = || with_rule(&rule("ask", "write"));
    is_called_off_by(world(), |world| world.tool("next"));
    is_called_off_by(world(), |world| world.tool("loop"));
}

#[test]
fn a_call_that_waits_is_blocked_when_the_run_is_cancelled() {
    let world = || with_rule(&rule("ask", "write"));
    is_called_off_by(world(), World::cancel_command);
    is_called_off_by(world(), |world| {
        assert!(
            !is_answered(&world.tool("cancel")),
            "the first cancel moves nothing"
        );
        world.tool("cancel")
    });
}

#[test]
fn a_call_that_waits_is_blocked_when_another_run_starts() {
    is_called_off_by(with_rule(&rule("ask", "write")), |world| {
        assert!(
            !is_answered(&world.command("w another task")),
            "a person is asked first"
        );
        world.answer(true)
    });
}

#[test]
fn a_pending_call_is_blocked_when_the_session_switches() {
    is_called_off_by(with_rule(&rule("ask", "write")), World::reload);
    is_called_off_by(with_rule(&rule("ask", "write")), |world| {
        world.step(Event::Shutdown)
    });
}

#[test]
fn a_call_that_waits_is_blocked_when_a_gate_opens() {
    let mut work = two_phases(&rule("ask", "write"));
    if let PhaseEntry::Phase(first) = &mut work.phases[0] {
        let gate = json!({"check": {"file": {"path": "a"}}, "source": "f:2"});
        first.gate = vec![serde_json::from_value(gate).expect("it is a gate")];
    }
    is_called_off_by(World::started(vec![work]), |world| {
        world.tool("next");
        let gate = world.gate;
        let report = json!({"what": "file a", "source": "f:2", "verdict": "passed", "reason": "", "durationMs": 1, "tail": ""});
        let reports = vec![serde_json::from_value(report).expect("it is a report")];
        world.report(PlatformEvent::GateFinished { gate, reports })
    });
}

#[test]
fn a_call_that_waits_is_blocked_when_the_run_ends_at_its_limit() {
    let mut work = two_phases(&rule("ask", "write"));
    work.auto_continue = ContinueRule {
        max: Some(Bound::Times(0)),
        on_limit: Some(Target::Cancel),
        ..ContinueRule::default()
    };
    is_called_off_by(World::started(vec![work]), |world| world.stop("stop"));
}

fn is_answered(lines: &[String]) -> bool {
    lines.iter().any(|line| line.starts_with("settled block"))
}

fn dialog(input: &Value) -> String {
    let mut world = with_rule(&rule("ask", "write"));
    line(&world.call("write", input), "ask ").to_owned()
}

#[test]
fn a_person_is_shown_all_of_a_call() {
    let content = format!("{}rm -rf middle{}", "a".repeat(7000), "b".repeat(7000));
    assert!(dialog(&json!({"content": content})).contains("rm -rf middle"));
}

#[test]
fn a_dialog_names_the_length_of_the_hidden_part_of_a_call() {
    let content = format!("{}{}", "a".repeat(20_000), "z".repeat(20_000));
    let dialog = dialog(&json!({"content": content}));
    let lines: Vec<&str> = dialog.lines().collect();
    // The field's name and its indentation are characters as well.
    let hidden = "[24011 CHARACTERS ARE NOT SHOWN. YES ALLOWS THEM AS WELL]";
    let at = lines.iter().position(|line| *line == hidden);
    let at = at.unwrap_or_else(|| panic!("{hidden} stands on a line of its own: {lines:?}"));
    assert!(lines[at - 2].ends_with('a') && lines[at + 2].ends_with('z'));
}

#[test]
fn what_turns_a_text_around_is_shown_as_what_it_is() {
    let dialog = dialog(&json!({"path": "a\u{202e}b\u{1b}[2K\u{200b}c\u{61c}"}));
    let expected = "a\\u{202e}b\\u{1b}[2K\\u{200b}c\\u{61c}";
    assert!(dialog.contains(expected), "{dialog}");
}

#[test]
fn a_text_of_several_lines_cannot_pass_for_lines_of_the_dialog() {
    let dialog = dialog(&json!({"content": "a\nYes does nothing."}));
    assert!(
        dialog.contains("  content: a\n    Yes does nothing."),
        "{dialog}"
    );
}

#[test]
fn a_dialog_names_the_phase_and_the_effect_of_each_answer() {
    let dialog = dialog(&json!({"path": "a.txt"}));
    for part in [
        "Workflow N-w, phase 🔹 A (1 of 2)",
        "The agent wants to run write:\n  path: a.txt",
        "Yes: this one call runs.\nNo: it is blocked, and the agent reads that you did not allow it.",
    ] {
        assert!(dialog.contains(part), "{dialog}");
    }
}

#[test]
fn the_question_about_a_repeated_call_preselects_no_and_can_be_switched_off() {
    let third = |mut world: World| {
        let input = json!({"path": "a.txt"});
        world.call("write", &input);
        world.call("write", &input);
        world.call("write", &input)
    };
    let lines = third(with_rule(&rule("block", "write")));
    let options = r#"["No, keep it blocked", "Yes, run it this once"]"#;
    assert!(line(&lines, "ask ").contains(options), "{lines:?}");

    let mut work = two_phases(&rule("block", "write"));
    work.on_repeat = Some(OnRepeat::Block);
    let mut of_settings = World::new(vec![two_phases(&rule("block", "write"))]);
    of_settings.settings.user.on_repeat = Some(OnRepeat::Block);
    of_settings.command("w the task");
    let of_rule = Rule {
        on_repeat: Some(OnRepeat::Block),
        ..rule("block", "write")
    };
    for lines in [
        third(World::started(vec![work])),
        third(of_settings),
        third(with_rule(&of_rule)),
    ] {
        assert!(
            line(&lines, "block by Policy").contains("refused 3 times"),
            "{lines:?}"
        );
    }
}

#[test]
fn a_yes_to_a_repeated_call_runs_it_once() {
    let mut world = with_rule(&rule("block", "write"));
    for _ in 0..3 {
        world.call("write", &json!({"path": "a.txt"}));
    }
    let lines = world.choose(Some("Yes, run it this once"));
    assert_eq!(lines, ["status N-w > 🔹 A [1/2]", "settled none #4"]);
}

#[test]
fn the_time_for_an_answer_is_a_setting() {
    let asks = |timeout| {
        let mut world = World::new(vec![two_phases(&rule("ask", "write"))]);
        world.settings.question_timeout = Some(timeout);
        world.command("w the task");
        world.call("write", &json!({"path": "a.txt"}));
        world
    };
    let mut world = asks(60);
    assert!(world.wait(59_999).is_empty());
    assert!(is_answered(&world.wait(1)));
    assert!(asks(0).session.deadline().is_none());
}

#[test]
fn a_call_that_waits_for_the_user_is_in_the_status_line() {
    let mut world = with_rule(&rule("ask", "write"));
    let lines = world.call("write", &json!({"path": "a.txt"}));
    line(
        &lines,
        "status ⏸ waiting for your consent · N-w > 🔹 A [1/2]",
    );
    assert_eq!(
        world.session.view().unwrap().condition,
        RunCondition::AwaitsConsent
    );
    line(&world.answer(true), "status N-w > 🔹 A [1/2]");
}

#[test]
fn calls_that_the_user_refuses_or_a_budget_blocks_are_in_the_summary() {
    let mut work = two_phases(&rule("ask", "write"));
    work.budget.tool_calls = Some(3);
    let mut world = World::started(vec![work]);
    write(&mut world);
    world.answer(false);
    write(&mut world);
    world.answer(true);
    write(&mut world);
    world.wait(30 * 60_000);
    let blocked = world.tool_call("read");
    assert!(line(&blocked, "block").contains("3 of 3 tool calls"));
    world.control(Control::Skip, "");
    let lines = world.control(Control::Skip, "");
    let message = line(&lines, "message workflow:complete");
    assert!(message.ends_with("blocked calls: 3"), "{message}");
}
