//! `agent_end`: announcement, countdown, reminders, pauses.

use workflow_core::definition::{Bound, ContinueRule, PhaseEntry, Target};
use workflow_core::session::Control;

use crate::event::Event;
use crate::world::{World, line, phase, user_messages, user_text, workflow};

fn linear() -> World {
    World::started(vec![workflow("w", &["a", "b"]), workflow("v", &["x"])])
}

fn with_rule(rule: ContinueRule) -> World {
    let mut own = workflow("w", &["a", "b"]);
    own.auto_continue = rule;
    World::started(vec![own])
}

/// Stops the agent, lets the countdown run out, and starts the agent on what it was sent.
fn push_once(world: &mut World) -> bool {
    world.stop("stop");
    let lines = world.wait(3000);
    if user_messages(&lines) == 0 {
        return false;
    }
    let reminder = user_text(&lines).to_owned();
    world.prompt(&reminder);
    true
}

#[test]
fn a_completed_run_is_announced_once() {
    let mut world = linear();
    world.tool("next");
    world.tool("next");
    let lines = world.stop("stop");
    assert_eq!(lines[0], "mutation unload true, persist true");
    assert_eq!(
        lines[1],
        r#"entry workflow:state {"active":false,"workflowKey":"w","currentPath":[{"workflowKey":"w","phaseIndex":1}],"globalStepCount":2,"taskId":"wf-1747234567890-3t8xrq","taskDescription":"the task","startedAt":1747234567890,"completionNotified":true,"cancelled":false}"#
    );
    assert!(
        lines[2].starts_with(
            "message workflow:complete ✅ N-w Complete\n\nTask: the task\nTask ID: wf-"
        )
    );
    assert!(lines[2].ends_with("\nPhases completed: 2\n\nTime: 0 s"));
    assert_eq!(lines[3], "status -");
    assert_eq!(world.last_state()["completionNotified"], true);
    assert!(world.stop("stop").is_empty());
    world.reload();
    assert!(world.stop("stop").is_empty());
}

#[test]
fn a_cancelled_run_is_announced_once_and_not_persisted_as_done() {
    let mut world = linear();
    world.tool("cancel");
    world.tool("cancel");
    let lines = world.stop("stop");
    assert_eq!(lines[0], "mutation unload true, persist false");
    assert!(line(&lines, "message").contains("❌ N-w Cancelled"));
    world.reload();
    assert!(world.stop("stop").is_empty());
}

#[test]
fn the_end_is_announced_even_when_the_definition_is_gone() {
    let mut world = linear();
    world.tool("next");
    world.tool("next");
    world
        .branch
        .retain(|(custom_type, _)| custom_type == "workflow:state");
    world.workflows.clear();
    world.reload();
    let lines = world.stop("stop");
    assert!(line(&lines, "message").starts_with("message workflow:complete ✅ w Complete"));
    assert!(line(&lines, "message").ends_with("Phases completed: 2\n\nTime: 0 s"));
}

const HELD: &str = "status ⏸ reminder held: /workflow-resume sends it · N-w > 🔹 A [1/2]";

#[test]
fn typing_holds_the_reminder_and_the_status_says_so() {
    let mut world = linear();
    assert!(world.type_key().is_empty(), "nothing counts down");
    world.stop("stop");
    assert_eq!(world.type_key(), ["widget -", HELD]);
    assert!(world.wait(10_000).is_empty());
    assert_eq!(world.user_input(), ["status N-w > 🔹 A [1/2]"]);
}

#[test]
fn resuming_sends_a_reminder_that_was_held() {
    let mut world = linear();
    world.stop("stop");
    world.type_key();
    let lines = world.control(Control::Resume, "");
    assert_eq!(lines[0], "notify Info ▶ The workflow is resumed.");
    assert_eq!(user_messages(&lines), 1);
    assert_eq!(line(&lines, "status"), "status N-w > 🔹 A [1/2]");
}

#[test]
fn an_early_stop_counts_down_and_reminds() {
    let mut world = linear();
    let text =
        |left| format!("widget ⏳ Auto-continuing in {left}s... (type anything to interrupt)");
    assert_eq!(world.stop("stop"), [text(3)]);
    assert!(world.wait(999).is_empty());
    assert_eq!(world.wait(1), [text(2)]);
    assert_eq!(world.wait(1000), [text(1)]);
    let lines = world.wait(1000);
    assert_eq!(
        lines[..2],
        [
            r#"entry workflow:run {"version":1,"taskId":"wf-1747234567890-3t8xrq","reminders":1,"stale":0,"paused":null}"#,
            "widget -"
        ]
    );
    assert_eq!(
        lines[2],
        "user (if idle) Continue with 🔹 A, or call workflow_step if it is done: workflow \"N-w\" is still in this phase.\n\n\
         What to do in this phase:\nDo a."
    );
    assert_eq!(world.session.deadline(), None);
}

#[test]
fn without_an_interface_the_countdown_is_one_message() {
    let mut world = linear();
    world.session.set_has_ui(false);
    let message =
        "message workflow:countdown Auto-continuing workflow in 3s... (type anything to interrupt)";
    assert_eq!(world.stop("stop"), [message]);
    assert!(world.wait(2999).is_empty());
    assert_eq!(user_messages(&world.wait(1)), 1);
}

#[test]
fn a_clock_that_jumps_reminds_once() {
    let mut world = linear();
    world.stop("stop");
    assert_eq!(user_messages(&world.wait(1_000_000)), 1);
    assert!(world.wait(1_000_000).is_empty());
}

#[test]
fn a_countdown_of_zero_seconds_reminds_at_the_next_tick() {
    let mut world = with_rule(ContinueRule {
        countdown: Some(0),
        ..ContinueRule::default()
    });
    assert!(world.stop("stop").is_empty());
    assert_eq!(user_messages(&world.wait(0)), 1);
}

#[test]
fn whatever_happens_stops_the_countdown() {
    type Happening = fn(&mut World);
    let events: [(&str, Happening); 11] = [
        ("prompt", |world| drop(world.prompt("wait"))),
        ("input", |world| drop(world.user_input())),
        ("agent start", |world| drop(world.step(Event::AgentStart))),
        ("turn start", |world| {
            drop(world.step(Event::TurnStart { index: None }));
        }),
        ("tool call", |world| drop(world.tool_call("read"))),
        ("next", |world| drop(world.tool("next"))),
        ("loop", |world| drop(world.tool("loop"))),
        ("cancel command", |world| drop(world.cancel_command())),
        ("aborted stop", |world| drop(world.stop("aborted"))),
        ("reload", |world| drop(world.reload())),
        ("shutdown", |world| drop(world.step(Event::Shutdown))),
    ];
    for (name, event) in events {
        let mut world = linear();
        world.stop("stop");
        event(&mut world);
        assert_eq!(world.session.deadline(), None, "{name}");
        assert!(world.wait(10_000).is_empty(), "{name}");
    }
}

#[test]
fn a_stopped_countdown_clears_its_widget() {
    let mut world = linear();
    world.stop("stop");
    assert_eq!(world.reload()[0], "widget -");
}

#[test]
fn another_run_never_gets_the_reminder_of_the_first() {
    let mut world = linear();
    world.stop("stop");
    world.command("v other");
    world.answer(true);
    assert!(world.wait(10_000).is_empty());
}

#[test]
fn two_stops_make_one_countdown() {
    let mut world = linear();
    world.session.set_has_ui(false);
    world.stop("stop");
    world.session.set_has_ui(true);
    world.stop("stop");
    let lines = [world.wait(3000), world.wait(3000)].concat();
    assert_eq!(user_messages(&lines), 1);
}

#[test]
fn an_agent_that_the_user_stopped_is_not_reminded() {
    let mut world = linear();
    assert!(world.stop("aborted").is_empty());
}

#[test]
fn reminders_without_progress_end_in_a_pause_and_a_message_resumes() {
    let mut world = linear();
    let mut reminders = 0;
    while push_once(&mut world) {
        reminders += 1;
    }
    assert_eq!(
        reminders, 3,
        "maxStale: three reminders without a tool call"
    );
    assert!(world.stop("stop").is_empty(), "a paused run stays quiet");
    world.prompt("go on");
    assert!(push_once(&mut world));
}

#[test]
fn reminders_end_after_eight_even_if_the_agent_works() {
    let mut world = linear();
    let mut reminders = 0;
    loop {
        world.tool_call("read");
        let lines = world.stop("stop");
        if lines
            .iter()
            .any(|line| line.starts_with("message workflow:paused"))
        {
            assert_eq!(
                lines[0],
                r#"entry workflow:run {"version":1,"taskId":"wf-1747234567890-3t8xrq","reminders":8,"stale":0,"paused":"max"}"#
            );
            assert!(
                line(&lines, "message")
                    .contains("Any message resumes it. /cancel-workflow ends it.")
            );
            break;
        }
        reminders += user_messages(&world.wait(3000));
        assert!(reminders < 100, "reminding must end");
    }
    assert_eq!(reminders, 8);
}

#[test]
fn an_advance_resets_the_counts() {
    let mut world = linear();
    push_once(&mut world);
    push_once(&mut world);
    world.tool("next");
    let mut reminders = 0;
    while push_once(&mut world) {
        reminders += 1;
    }
    assert_eq!(reminders, 3);
}

#[test]
fn a_provider_error_pauses_and_unlimited_restores_the_package() {
    let mut world = linear();
    let lines = world.stop("error");
    assert!(line(&lines, "message").contains("ended in an error"));
    assert!(line(&lines, "status").contains("paused: model error"));
    // A host that does not report submitted texts.
    let lines = world.prompt("go on");
    assert!(!line(&lines, "status").contains("paused"), "{lines:?}");
    let mut world = with_rule(ContinueRule {
        max: Some(Bound::Unlimited),
        ..ContinueRule::default()
    });
    for _ in 0..20 {
        world.stop("error");
        assert_eq!(user_messages(&world.wait(3000)), 1);
    }
}

#[test]
fn a_phase_that_waits_is_never_reminded() {
    let mut own = workflow("w", &["a"]);
    let waits = ContinueRule {
        wait: Some(true),
        ..ContinueRule::default()
    };
    own.phases[0] = PhaseEntry::Phase(workflow_core::definition::Phase {
        auto_continue: waits,
        ..phase("a")
    });
    let mut world = World::started(vec![own]);
    assert!(world.stop("stop").is_empty());
}

#[test]
fn a_limit_may_cancel_the_run() {
    let rule = ContinueRule {
        max: Some(Bound::Times(1)),
        on_limit: Some(Target::Cancel),
        ..ContinueRule::default()
    };
    let mut world = with_rule(rule);
    assert!(push_once(&mut world));
    let lines = world.stop("stop");
    assert_eq!(lines[0], "mutation unload true, persist false");
    assert!(line(&lines, "message").contains("❌ N-w Cancelled"));
    assert_eq!(world.last_state()["cancelled"], true);
    assert!(line(&lines, "notify Warning").contains("one reminder did not lead"));
}

#[test]
fn the_counts_survive_a_restart() {
    let mut world = linear();
    push_once(&mut world);
    push_once(&mut world);
    world.reload();
    let mut reminders = 0;
    while push_once(&mut world) {
        reminders += 1;
        assert!(reminders < 10, "reminding must end");
    }
    assert!(
        reminders <= 2,
        "two of the reminders were made before the restart, {reminders} after it"
    );
    world.reload();
    assert!(world.stop("stop").is_empty(), "still paused");
}

#[test]
fn only_a_reminder_can_be_stale_not_every_stop() {
    let mut world = linear();
    push_once(&mut world);
    for _ in 0..5 {
        let lines = world.stop("stop");
        let pauses = |line: &String| line.starts_with("message workflow:paused");
        assert!(!lines.iter().any(pauses));
    }
}

#[test]
fn the_bound_applies_however_the_host_treats_the_reminder() {
    type Start = fn(&mut World, &str);
    let hosts: [(&str, Start); 4] = [
        ("no prompt", |world, _| {
            drop(world.step(Event::BeforeAgentStart { prompt: None }));
        }),
        ("decorated", |world, reminder| {
            drop(world.prompt(&format!("[12:01] {reminder}\n")));
        }),
        ("restarted", |world, reminder| {
            world.reload();
            world.prompt(reminder);
        }),
        ("input without a source", |world, reminder| {
            world.step(Event::UserInput { author: None });
            world.prompt(reminder);
        }),
    ];
    for (name, start) in hosts {
        let mut world = linear();
        let mut reminders = 0;
        loop {
            world.stop("stop");
            let lines = world.wait(3000);
            if user_messages(&lines) == 0 {
                break;
            }
            reminders += 1;
            assert!(reminders <= 8, "{name}");
            let reminder = user_text(&lines).to_owned();
            start(&mut world, &reminder);
        }
        assert!(reminders >= 3, "{name}");
    }
}

#[test]
fn a_widget_is_used_where_it_is_seen() {
    use workflow_core::session::Abilities;
    let shows = |widgets, has_ui| {
        let mut world = World::new(vec![workflow("w", &["a"])]);
        world.session = workflow_core::Session::new(
            Abilities {
                dialogs: false,
                dismissal: true,
                widgets,
                ..Abilities::default()
            },
            1,
        );
        world.session.set_has_ui(has_ui);
        world.command("w go");
        world.stop("stop")[0].starts_with("widget")
    };
    assert!(shows(Some(true), true) && shows(None, true));
    assert!(!shows(Some(false), true) && !shows(Some(true), false) && !shows(None, false));
}

#[test]
fn the_widget_is_cleared_even_when_the_interface_is_gone() {
    let mut world = linear();
    world.stop("stop");
    world.session.set_has_ui(false);
    assert_eq!(world.step(Event::AgentStart), ["widget -"]);
}

/// A world on a host that waits for the reminder, and takes this many more.
fn awaiting(reminders_left: Option<u32>) -> World {
    use workflow_core::session::Abilities;
    let mut world = World::new(vec![workflow("w", &["a", "b"])]);
    let abilities = Abilities {
        awaits_reminder: true,
        reminders_left,
        ..Abilities::default()
    };
    world.session = workflow_core::Session::new(abilities, 1);
    world.command("w go");
    world
}

#[test]
fn a_host_that_waits_gets_the_reminder_at_once() {
    let lines = awaiting(None).stop("stop");
    assert_eq!(user_messages(&lines), 1, "{lines:?}");
    assert!(!lines.iter().any(|line| line.starts_with("widget")));
}

#[test]
fn a_host_that_takes_no_more_reminders_gets_a_pause() {
    let lines = awaiting(Some(0)).stop("stop");
    assert_eq!(user_messages(&lines), 0, "{lines:?}");
    assert!(line(&lines, "message").contains("is paused"));
}
