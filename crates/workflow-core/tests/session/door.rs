//! `withoutRun` of the settings: what holds while no run is active, and what is offered then.

use serde_json::json;
use workflow_core::Session;
use workflow_core::definition::{
    Guards, Parameter, Phase, PhaseEntry, Rule, RuleAction, Start, ToolAccess, WithoutRun,
};
use workflow_core::session::{Abilities, Control};

use crate::world::{World, guarded, line, phase, workflow};

const MINUTE: u64 = 60_000;

fn door(ask: bool) -> WithoutRun {
    WithoutRun {
        tools: Some(ToolAccess::ReadOnly {
            source: "s:1".to_owned(),
        }),
        writable: vec!["notes/**".to_owned()],
        start: Some(Start {
            workflow: "w".to_owned(),
            ask,
        }),
        ..WithoutRun::default()
    }
}

/// A session under the user's `withoutRun`, with a workflow that begins with this phase.
fn world_with(first: Phase, without_run: WithoutRun) -> World {
    let mut work = workflow("w", &["b"]);
    work.phases.insert(0, PhaseEntry::Phase(first));
    let mut world = World::new(vec![work]);
    world.own = vec!["w".to_owned()];
    world.settings.user = Guards {
        without_run: Some(Box::new(without_run)),
        ..Guards::default()
    };
    world.reload();
    world.prompt("make it blue");
    world
}

fn world(ask: bool) -> World {
    world_with(phase("a"), door(ask))
}

fn without_dialogs(ask: bool) -> World {
    let mut world = world(ask);
    world.session = Session::new(Abilities::default(), 7);
    world.reload();
    world.prompt("make it blue");
    world
}

fn write(world: &mut World) -> Vec<String> {
    world.call("write", &json!({"path": "src/a.rs", "content": "x"}))
}

fn runs(lines: &[String]) -> bool {
    !lines
        .iter()
        .any(|line| line.starts_with("block") || line.starts_with("ask "))
}

#[test]
fn only_what_is_open_runs_without_a_run() {
    let mut world = without_dialogs(true);
    assert!(runs(&world.call("read", &json!({"path": "src/a.rs"}))));
    assert!(runs(
        &world.call("write", &json!({"path": "notes/a.md", "content": "x"}))
    ));
    assert!(runs(&world.call("bash", &json!({"command": "git status"}))));
    let lines = write(&mut world);
    let reason = line(&lines, "block");
    for part in [
        "`withoutRun` of the user's settings",
        "/workflow w {description}",
        "/workflow-quick",
        "/workflow-off 30m",
    ] {
        assert!(reason.contains(part), "{reason}");
    }
    assert!(reason.len() < 600, "150 tokens: {reason}");
    world.command("w the task");
    assert!(runs(&write(&mut world)));
    world.cancel_command();
    assert!(!runs(&write(&mut world)));
}

#[test]
fn the_first_blocked_call_asks_what_to_start() {
    let mut world = world(true);
    let lines = write(&mut world);
    let question = line(&lines, "ask ");
    for part in [
        "Start w",
        "Quick",
        "Write freely for 30 minutes",
        "No",
        "make it blue",
        "src/a.rs",
    ] {
        assert!(question.contains(part), "{part}: {question}");
    }
    // Another one does not ask again meanwhile.
    assert!(line(&write(&mut world), "block").contains("being asked"));
    let lines = world.choose(Some("Start w"));
    assert!(runs(&lines), "{lines:?}");
    let first = line(&lines, "user ");
    assert!(
        first.contains("Start N-w: make it blue") && first.starts_with("user (steers)"),
        "{lines:?}"
    );
    assert!(runs(&write(&mut world)));
}

#[test]
fn a_call_that_starts_a_run_is_judged_by_its_first_phase() {
    let mut world = world_with(guarded("a", &["write"]), door(true));
    write(&mut world);
    let lines = world.choose(Some("Start w"));
    assert!(
        line(&lines, "settled block").contains("blocked during the A phase"),
        "{lines:?}"
    );
    assert_eq!(world.denied.last().unwrap(), "the A phase");
    assert_eq!(world.last_state()["workflowKey"], "w");
}

#[test]
fn quick_is_a_run_of_one_phase_that_is_found_again() {
    let mut world = world(true);
    write(&mut world);
    assert!(runs(&world.choose(Some("Quick: a run of one phase"))));
    assert_eq!(world.last_state()["workflowKey"], "workflow-quick");
    world.reload();
    let status = world.control(Control::Status, "");
    assert!(
        line(&status, "notify Info").contains("Quick: make it blue"),
        "{status:?}"
    );
    world.tool("next");
    assert_eq!(world.last_state()["active"], false);
    let listed = world.command("");
    assert!(
        !line(&listed, "notify Info").contains("quick"),
        "{listed:?}"
    );
    world.stop("aborted");
    world.command("quick make it red");
    assert_eq!(world.last_state()["taskDescription"], "make it red");
}

#[test]
fn to_write_freely_ends_with_its_time() {
    let mut world = world(true);
    write(&mut world);
    assert!(runs(&world.choose(Some("Write freely for 30 minutes"))));
    world.now += 29 * MINUTE;
    assert!(runs(&write(&mut world)));
    world.reload();
    assert!(runs(&write(&mut world)));
    world.now += 2 * MINUTE;
    // The user is asked again.
    assert!(!line(&write(&mut world), "ask ").is_empty());
}

#[test]
fn no_is_kept_for_the_session_until_a_run() {
    let mut world = world(true);
    write(&mut world);
    assert!(line(&world.choose(Some("No")), "settled block").contains("wants no run now"));
    assert!(line(&write(&mut world), "block").contains("/workflow w {description}"));
    world.reload();
    assert!(line(&write(&mut world), "block").contains("/workflow w {description}"));
    world.command("w the task");
    world.cancel_command();
    assert!(!line(&write(&mut world), "ask ").is_empty());
}

#[test]
fn off_lifts_the_rules_for_a_time() {
    let mut world = without_dialogs(true);
    let said = world.control(Control::Off, "");
    assert!(line(&said, "notify Warning").contains("/workflow-off 30m"));
    let said = world.control(Control::Off, "30m");
    assert!(
        line(&said, "notify Info").contains("off for 30 min"),
        "{said:?}"
    );
    assert!(
        line(&said, "entry workflow:door").contains("offUntil"),
        "{said:?}"
    );
    assert!(runs(&write(&mut world)));
    for (time, said) in [
        ("90s", "off for 90 s"),
        ("24h", "off for 1 day"),
        ("1d", "at most 24h"),
    ] {
        let lines = world.control(Control::Off, time);
        assert!(line(&lines, "notify ").contains(said), "{lines:?}");
    }
    world.control(Control::Off, "30m");
    let status = world.control(Control::Status, "");
    assert!(
        line(&status, "notify Info").contains("off for 30 min"),
        "{status:?}"
    );
    world.control(Control::Off, "0");
    assert!(!runs(&write(&mut world)));
    world.settings.user.without_run = None;
    world.reload();
    let said = world.control(Control::Off, "30m");
    assert!(
        line(&said, "notify Info").contains("nothing to switch off"),
        "{said:?}"
    );
}

#[test]
fn a_workflow_starts_without_a_question_where_the_settings_say_so() {
    let mut world = without_dialogs(false);
    let lines = write(&mut world);
    assert!(runs(&lines), "{lines:?}");
    assert_eq!(world.last_state()["taskDescription"], "make it blue");
    // Both read of it.
    let told = "The workflow \"N-w\" was started, as the settings say.";
    for of in ["notify Info", "user "] {
        assert!(line(&lines, of).contains(told), "{lines:?}");
    }
    // The session of a process for each event knows the prompt.
    let mut world = without_dialogs(false);
    let memory = world.session.memory();
    world.session = Session::new(Abilities::default(), 7);
    world.reload();
    world.session.recall(memory);
    write(&mut world);
    assert_eq!(world.last_state()["taskDescription"], "make it blue");
}

/// Gives the workflow an input that a start needs.
fn require_input(world: &mut World) {
    let input = json!({"name": "version", "kind": {"text": {}}, "required": true, "about": ""});
    let input: Parameter = serde_json::from_value(input).expect("it is an input");
    world.workflows[0].inputs = vec![input];
}

#[test]
fn a_workflow_with_a_required_input_does_not_start_by_itself() {
    let mut world = without_dialogs(false);
    require_input(&mut world);
    let lines = write(&mut world);
    let reason = line(&lines, "block");
    for part in [
        "`w` was not started",
        "`/workflow w --version {text} {description}`",
    ] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
}

#[test]
fn the_question_offers_a_workflow_with_a_required_input_and_asks_for_it() {
    let mut world = world(true);
    require_input(&mut world);
    assert!(line(&write(&mut world), "ask ").contains("Start w"));
    let lines = world.choose(Some("Start w"));
    assert!(line(&lines, "settled block").contains("asked for its inputs"));
    assert!(line(&lines, "ask ").contains("N-w: version"), "{lines:?}");
    let lines = world.choose(Some("1.2.0"));
    let first = line(&lines, "user ");
    assert!(
        first.starts_with("user (steers) Start N-w: make it blue"),
        "{lines:?}"
    );
    assert!(runs(&write(&mut world)));
}

#[test]
fn what_is_a_projects_starts_by_itself_only_where_the_project_is_trusted() {
    let settings_of_project = |world: &mut World| {
        world.settings.project = std::mem::take(&mut world.settings.user);
    };
    let workflow_of_project = |world: &mut World| world.own.clear();
    let changes: [&dyn Fn(&mut World); 2] = [&settings_of_project, &workflow_of_project];
    for change in changes {
        let mut world = without_dialogs(false);
        change(&mut world);
        world.reload();
        world.prompt("make it blue");
        // No word of the host is no trust.
        for trusted in [None, Some(false)] {
            let of_host = |trusted| world.session.set_project_trusted(trusted);
            trusted.into_iter().for_each(of_host);
            let lines = write(&mut world);
            assert!(line(&lines, "block").contains("not trusted"), "{lines:?}");
        }
        world.session.set_project_trusted(true);
        assert!(runs(&write(&mut world)));
    }
}

#[test]
fn a_question_that_nobody_answers_is_not_repeated() {
    let mut world = world(true);
    write(&mut world);
    let lines = world.wait(31 * MINUTE);
    assert!(
        line(&lines, "settled block").contains("did not decide"),
        "{lines:?}"
    );
    assert!(line(&write(&mut world), "block").contains("/workflow w"));
}

#[test]
fn a_phase_is_under_the_defaults_of_the_settings_unless_it_lifts_them() {
    let mut work = workflow("w", &[]);
    work.phases = vec![
        PhaseEntry::Phase(Phase {
            writable: vec!["docs/**".to_owned()],
            ..phase("a")
        }),
        PhaseEntry::Phase(Phase {
            tools: Some(ToolAccess::All {
                source: String::new(),
            }),
            ..phase("b")
        }),
    ];
    let mut world = World::new(vec![work]);
    world.settings.user.defaults.access = door(true).tools;
    world.reload();
    assert!(runs(&write(&mut world)), "only in a run");
    world.command("w the task");
    let reason = write(&mut world);
    assert!(
        line(&reason, "block").contains("`defaults` of the user's settings"),
        "{reason:?}"
    );
    assert!(runs(
        &world.call("write", &json!({"path": "docs/a.md", "content": "x"}))
    ));
    world.tool("next");
    assert!(runs(&write(&mut world)));
}

fn unknown(world: &mut World, line: &str) -> Vec<String> {
    world.call("bash", &json!({ "command": line }))
}

#[test]
fn a_rule_of_the_settings_that_asks_opens_nothing_that_is_closed_without_a_run() {
    let asking = |action| Rule {
        action,
        tools: vec!["write".to_owned()],
        ..Rule::default()
    };
    let mut world = world(true);
    world.settings.user.rules = vec![asking(RuleAction::Ask)];
    world.reload();
    world.prompt("make it blue");
    assert!(line(&write(&mut world), "ask ").contains("Start w"));
    assert!(line(&world.choose(Some("No")), "settled block").contains("no run now"));
    assert!(line(&write(&mut world), "block").contains("/workflow-quick"));
    let notes = json!({"path": "notes/a.md", "content": "x"});
    assert!(line(&world.call("write", &notes), "ask ").contains("Allow write?"));
    // Nor does an exception from one that blocks.
    world.settings.user.rules = vec![asking(RuleAction::Block)];
    world.reload();
    for _ in 0..4 {
        assert!(!line(&write(&mut world), "block").is_empty());
    }
}

#[test]
fn a_call_that_needs_consent_offers_a_workflow_and_is_not_asked_without_end() {
    let mut world = world(true);
    let first = unknown(&mut world, "frobnicate --all");
    for part in ["Start w", "Yes, run it this once", "No"] {
        assert!(line(&first, "ask ").contains(part), "{part}: {first:?}");
    }
    assert!(runs(&world.choose(Some("Yes, run it this once"))));
    unknown(&mut world, "frobnicate --all");
    world.choose(Some("No"));
    assert_eq!(world.consents, [None, Some(true), None, Some(false)]);
    for _ in 0..2 {
        let lines = unknown(&mut world, "frobnicate --all");
        assert!(line(&lines, "ask ").contains("Allow bash?"), "{lines:?}");
        world.answer(false);
    }
    let lines = unknown(&mut world, "frobnicate --all");
    let reason = line(&lines, "block");
    assert!(
        reason.contains("Stop trying") && reason.contains("/workflow w"),
        "{lines:?}"
    );
    // Without dialogs nobody can consent.
    let reason = unknown(&mut without_dialogs(true), "frobnicate --all");
    assert!(line(&reason, "block").contains("/workflow w"), "{reason:?}");
}

#[test]
fn the_question_says_what_stops_the_call() {
    let mut door = door(true);
    door.tools = Some(ToolAccess::Blacklist(["write".to_owned()].into()));
    let mut world = world_with(phase("a"), door);
    let question = write(&mut world);
    let question = line(&question, "ask ");
    assert!(question.contains("It is stopped by `withoutRun` of the user's settings."));
    assert!(
        question.contains("not asked again before the next run"),
        "{question}"
    );
}

#[test]
fn after_a_run_the_last_prompt_of_the_user_is_offered() {
    let mut world = world(true);
    world.command("w the task");
    world.prompt("make it red");
    world.prompt("Start N-w: the task");
    world.cancel_command();
    let question = write(&mut world);
    let question = line(&question, "ask ");
    assert!(
        question.contains("make it red") && !question.contains("the task"),
        "{question}"
    );
}

#[test]
fn what_lifts_the_rules_ends_with_the_session() {
    let mut world = without_dialogs(true);
    world.control(Control::Off, "24h");
    let ((), out) = world.session.at(world.now, Session::end_lift);
    assert_eq!(out.actions.len(), 1, "it is an entry");
    assert!(!runs(&write(&mut world)));
    let ((), out) = world.session.at(world.now, Session::end_lift);
    assert!(out.actions.is_empty());
}
