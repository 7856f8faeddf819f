//! Budgets: the warning, the pause, and what a person allows.

use workflow_core::definition::{Budget, PhaseEntry, Workflow};
use workflow_core::event::Author;
use workflow_core::session::Control;

use crate::event::Event;
use crate::world::{World, line, workflow};

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
        author: Some(Author::Person),
    });
    assert!(line(&world.tool_call("read"), "block").contains("no tool may run"));

    let lines = world.control(Control::Resume, "");
    assert!(
        line(&lines, "notify Info").contains("+20 turns"),
        "{lines:?}"
    );
    let lines = world.control(Control::Resume, "+2 minutes");
    assert!(
        line(&lines, "notify Warning").contains("allows nothing"),
        "{lines:?}"
    );
    let lines = world.control(Control::Resume, "+2 turns");
    line(&lines, "notify Info ▶ The workflow is resumed.");
    assert!(runs(&mut world));
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
    assert!(line(&world.tool_call("read"), "block").contains("1 of 1 tool calls of phase A"));
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
