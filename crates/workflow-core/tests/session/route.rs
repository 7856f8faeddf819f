//! The phases of a run in one line: for the model, and for the user.

use serde_json::json;
use workflow_core::definition::{PhaseEntry, Workflow};
use workflow_core::session::Abilities;

use crate::event::Event;
use crate::world::{World, line, workflow};

fn nested() -> Vec<Workflow> {
    vec![
        workflow("w", &["a", "{s}", "d"]),
        workflow("s", &["b", "c"]),
    ]
}

#[test]
fn the_model_reads_the_route_once() {
    let mut world = World::started(nested());
    let route = "\n**Phases:** A → N-s (B → C) → D\n**Current Phase:** 🔹 A\n";
    assert!(line(&world.prompt("go"), "inject").contains(route));
    world.tool("next");
    assert!(!line(&world.prompt("go"), "inject").contains("**Phases:**"));
    world.step(Event::Compacted);
    let route = "\n**Phases:** A → N-s (B → C) → D\n**Current Phase:** 🔹 B\n";
    assert!(line(&world.prompt("go"), "inject").contains(route));
}

#[test]
fn a_workflow_of_one_phase_has_no_route() {
    let mut world = World::started(vec![workflow("w", &["a"])]);
    assert!(!line(&world.prompt("go"), "inject").contains("**Phases:**"));
    assert_eq!(world.phases, None);
}

#[test]
fn a_route_with_very_many_phases_is_cut() {
    let twice = |key: &str, inner: &str| workflow(key, &[inner, inner, inner, inner]);
    let mut workflows: Vec<Workflow> = (0..20)
        .map(|at| twice(&format!("w{at}"), &format!("{{w{}}}", at + 1)))
        .collect();
    workflows.push(workflow("w20", &["a", "b"]));
    let mut world = World::started(workflows);
    let context = world.prompt("go");
    let context = line(&context, "inject");
    let route = context.split_once("**Phases:** ").map(|(_, rest)| rest);
    let route = route.and_then(|rest| rest.lines().next());
    let route = route.expect("the context has a route");
    assert_eq!(route.chars().count(), 401);
    assert!(route.ends_with('…'), "{route}");
}

#[test]
fn the_user_sees_what_is_done_and_what_is_to_come() {
    let mut world = World::started(nested());
    let mut seen = vec![world.phases.clone()];
    for _ in 0..4 {
        world.tool("next");
        seen.push(world.phases.clone());
    }
    let expected = [
        Some("▸ A ○ N-s ○ D"),
        Some("✓ A ▸ N-s (▸ B ○ C) ○ D"),
        Some("✓ A ▸ N-s (✓ B ▸ C) ○ D"),
        Some("✓ A ✓ N-s ▸ D"),
        None,
    ];
    assert_eq!(seen, expected.map(|phases| phases.map(str::to_owned)));
}

#[test]
fn a_phase_whose_condition_does_not_hold_is_shown_as_skipped() {
    let mut own = workflow("w", &["a", "b", "c"]);
    if let PhaseEntry::Phase(phase) = &mut own.phases[1] {
        let when = json!([{"subject": {"input": "deep"}, "values": [true]}]);
        phase.when = serde_json::from_value(when).expect("it is a condition");
    }
    let mut world = World::started(vec![own]);
    world.tool("next");
    assert_eq!(world.phases.as_deref(), Some("✓ A – B ▸ C"));
}

#[test]
fn of_a_long_list_the_user_sees_the_part_around_the_phase() {
    let names: Vec<String> = (0..30).map(|at| format!("p{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut world = World::started(vec![workflow("w", &names)]);
    for _ in 0..10 {
        world.tool("next");
    }
    let shown = "… ✓ P4 ✓ P5 ✓ P6 ✓ P7 ✓ P8 ✓ P9 ▸ P10 ○ P11 ○ P12 ○ P13 ○ P14 ○ P15 ○ P16 …";
    assert_eq!(world.phases.as_deref(), Some(shown));
}

#[test]
fn a_restarted_sidecar_shows_the_phases_again_and_a_host_without_widgets_gets_none() {
    let mut world = World::started(nested());
    world.phases = None;
    world.restart();
    assert_eq!(world.phases.as_deref(), Some("▸ A ○ N-s ○ D"));
    world.phases = None;
    world.restart_with(Abilities::default());
    assert_eq!(world.phases, None);
}
