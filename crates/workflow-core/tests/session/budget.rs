//! Budgets: the warning, the pause, and what a person allows.

use workflow_core::definition::{Budget, PhaseEntry, Workflow};
use workflow_core::event::Author;
use workflow_core::session::Control;

use crate::event::Event;
use crate::world::{World, line, user_text, workflow};

fn limited(budget: Budget) -> World {
    let mut work = workflow("w", &["a", "b"]);
    work.budget = budget;
    started(work)
}

fn started(work: Workflow) -> World {
    let mut world = World::started(vec![work]);
    world.stop("aborted");
    world
}

fn turn(world: &mut World) -> Vec<String> {
    let mut lines = world.step(Event::TurnStart { index: None });
    lines.extend(world.step(Event::TurnEnd));
    lines
}

fn runs(world: &mut World) -> bool {
    !world
        .tool_call("read")
        .iter()
        .any(|line| line.starts_with("block"))
}

#[test]
fn the_agent_is_warned_once_and_stopped_at_the_limit_until_a_person_allows_more() {
    let mut world = limited(Budget {
        turns: Some(5),
        ..Budget::default()
    });
    for _ in 0..3 {
        assert!(
            !turn(&mut world)
                .iter()
                .any(|line| line.contains("budget is nearly"))
        );
    }
    let lines = turn(&mut world);
    assert!(
        lines
            .iter()
            .any(|line| line.contains("4 of 5 turns of workflow N-w")),
        "{lines:?}"
    );
    assert!(runs(&mut world));
    let lines = turn(&mut world);
    assert!(
        !lines.iter().any(|line| line.contains("nearly")),
        "{lines:?}"
    );
    assert!(
        line(&lines, "notify Warning").contains("(5 of 5 turns of workflow N-w)"),
        "{lines:?}"
    );
    line(&lines, "status ⏸ paused: budget used up · N-w > 🔹 A [1/2]");
    assert!(line(&world.tool_call("read"), "block").contains("no tool may run"));
    assert!(line(&world.tool("next"), "tool").contains("used up"));
    line(&world.tool("status"), "tool **Workflow:**");

    // A message does not resume it.
    world.step(Event::UserInput {
        author: Some(Author::User),
    });
    assert!(line(&world.tool_call("read"), "block").contains("no tool may run"));

    let lines = world.control(Control::Resume, "");
    assert!(
        line(&lines, "notify Info").contains("+20 turns"),
        "{lines:?}"
    );
    let lines = world.control(Control::Resume, "+2 minutes");
    assert!(
        line(&lines, "notify Warning").contains("No limit of minutes is used up"),
        "{lines:?}"
    );
    world.stop("stop");
    let lines = world.control(Control::Resume, "+2 turns");
    line(&lines, "notify Info ▶ The workflow is resumed.");
    assert!(
        user_text(&lines).contains("The user allowed more. Used: 5 of 7 turns of workflow N-w."),
        "{lines:?}"
    );
    assert!(runs(&mut world));
}

#[test]
fn more_is_allowed_from_what_is_used_now_with_one_or_several_amounts() {
    for (argument, turns, calls) in [
        ("+2 turns", Some(2), None),
        ("+2turns", Some(2), None),
        ("+2", Some(2), None),
        ("+1 turn +3 toolCalls", Some(1), Some(3)),
        ("+1 turns, +3 tool calls", Some(1), Some(3)),
        ("2 turns", None, None),
        ("+0 turns", None, None),
        ("+two turns", None, None),
        ("+2 turns +1 hour", None, None),
    ] {
        let mut world = limited(Budget {
            turns: Some(1),
            tool_calls: calls.map(|_| 1),
            ..Budget::default()
        });
        world.tool_call("read");
        // The agent talks while the run is paused.
        for _ in 0..3 {
            turn(&mut world);
        }
        let lines = world.control(Control::Resume, argument);
        let Some(turns) = turns else {
            let refusal = line(&lines, "notify Warning");
            assert!(
                refusal.contains("is no amount and unit. Write for example /workflow-resume +20 turns. Units: turns, toolCalls"),
                "{argument}: {refusal}"
            );
            continue;
        };
        line(&lines, "notify Info ▶ The workflow is resumed.");
        for _ in 0..calls.unwrap_or(1) {
            assert!(runs(&mut world), "{argument}");
        }
        assert_eq!(runs(&mut world), calls.is_none(), "{argument}");
        for _ in 0..turns {
            assert_eq!(
                world.session.view().unwrap().counters.paused.is_some(),
                calls.is_some()
            );
            turn(&mut world);
        }
        assert!(!runs(&mut world), "{argument}");
    }
}

#[test]
fn a_turn_belongs_to_the_phase_in_which_it_began() {
    let mut work = workflow("w", &["a", "b"]);
    for entry in &mut work.phases {
        let PhaseEntry::Phase(phase) = entry else {
            panic!("it is a phase");
        };
        phase.budget.turns = Some(1);
    }
    work.budget.turns = Some(9);
    let mut world = started(work);
    world.step(Event::TurnStart { index: None });
    world.tool("next");
    world.step(Event::TurnEnd);
    let lines = world.control(Control::Status, "");
    assert!(
        line(&lines, "notify Info")
            .contains("1 of 9 turns of workflow N-w; 0 of 1 turn of phase B"),
        "{lines:?}"
    );
    assert!(runs(&mut world));
    let lines = turn(&mut world);
    assert!(line(&lines, "notify Warning").contains("1 of 1 turn of phase B"));
}

#[test]
fn what_is_used_survives_a_restart() {
    let mut world = limited(Budget {
        tool_calls: Some(2),
        ..Budget::default()
    });
    world.tool_call("read");
    world.tool_call("read");
    world.step(Event::TurnEnd);
    world.reload();
    assert!(line(&world.tool_call("read"), "block").contains("2 of 2 tool calls"));
}

#[test]
fn a_killed_process_loses_fewer_than_ten_calls_of_an_unfinished_turn() {
    let mut world = limited(Budget {
        tool_calls: Some(100),
        minutes: Some(9),
        ..Budget::default()
    });
    world.step(Event::TurnStart { index: None });
    world.now += 4 * 60_000;
    let mut entries = 0;
    for _ in 0..29 {
        entries += world.tool_call("read").len();
    }
    assert_eq!(entries, 2);
    world.restart();
    let lines = world.control(Control::Status, "");
    assert!(
        line(&lines, "notify Info")
            .contains("20 of 100 tool calls of workflow N-w; 4 of 9 minutes of workflow N-w"),
        "{lines:?}"
    );
}

#[test]
fn a_killed_process_does_not_lose_that_a_budget_is_used_up() {
    let mut world = limited(Budget {
        tool_calls: Some(3),
        ..Budget::default()
    });
    world.step(Event::TurnStart { index: None });
    for _ in 0..3 {
        assert!(runs(&mut world));
    }
    world.restart();
    assert!(line(&world.tool_call("read"), "block").contains("3 of 3 tool calls"));
}

/// Goes on as a host does that starts a process for each event.
fn next_process(world: &mut World) {
    let memory = world.session.memory();
    world.restart();
    world.session.recall(memory);
}

#[test]
fn parts_of_a_minute_count_across_processes_and_calls_store_nothing_there() {
    let mut world = limited(Budget {
        tool_calls: Some(100),
        minutes: Some(9),
        ..Budget::default()
    });
    world.step(Event::AgentStart);
    for _ in 0..21 {
        next_process(&mut world);
        world.now += 20_000;
        assert_eq!(world.tool_call("read"), Vec::<String>::new());
    }
    next_process(&mut world);
    let used = "21 of 100 tool calls of workflow N-w; 7 of 9 minutes of workflow N-w";
    let lines = world.control(Control::Status, "");
    assert!(line(&lines, "notify Info").contains(used), "{lines:?}");
    // The entries have it when the turn ends.
    line(&world.step(Event::TurnEnd), "entry workflow:budget");
    world.restart();
    let lines = world.control(Control::Status, "");
    assert!(line(&lines, "notify Info").contains(used), "{lines:?}");
}

#[test]
fn calls_without_a_budget_and_time_that_nobody_reads_store_nothing() {
    let mut world = limited(Budget {
        minutes: Some(9),
        ..Budget::default()
    });
    world.step(Event::TurnStart { index: None });
    for _ in 0..9 {
        world.now += 6_000;
        assert_eq!(world.tool_call("read"), Vec::<String>::new());
    }
    world.now += 6_000;
    line(&world.tool_call("read"), "entry workflow:budget");
}

#[test]
fn the_budget_of_a_phase_starts_anew_when_it_is_entered_again() {
    let mut work = workflow("w", &["a", "b"]);
    let PhaseEntry::Phase(first) = &mut work.phases[0] else {
        panic!("it is a phase");
    };
    first.budget.tool_calls = Some(1);
    let mut world = started(work);
    world.tool_call("read");
    world.control(Control::Next, "");
    assert!(runs(&mut world));
    assert!(runs(&mut world));
    world.control(Control::Goto, "a");
    assert!(runs(&mut world));
    assert!(line(&world.tool_call("read"), "block").contains("1 of 1 tool call of phase A"));
}

#[test]
fn minutes_count_while_the_agent_works() {
    let mut world = limited(Budget {
        minutes: Some(10),
        ..Budget::default()
    });
    world.step(Event::TurnStart { index: None });
    world.now += 9 * 60_000;
    world.step(Event::TurnEnd);
    world.stop("aborted");
    // The agent is idle.
    world.now += 60 * 60_000;
    world.step(Event::TurnStart { index: None });
    assert!(runs(&mut world));
    world.now += 2 * 60_000;
    assert!(line(&world.tool_call("read"), "block").contains("11 of 10 minutes"));
}
