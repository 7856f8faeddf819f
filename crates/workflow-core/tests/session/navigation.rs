//! Navigation against a model: a run is a walk over the flattened list of phases.

use proptest::prelude::*;
use workflow_core::definition::{PhaseEntry, Workflow};

use crate::event::Event;
use crate::world::{World, line, workflow};

/// The phases of a workflow in the order of `next`, each with the index of its scope's first phase.
fn flattened(root: &str, workflows: &[Workflow]) -> Vec<(String, usize)> {
    fn visit(key: &str, workflows: &[Workflow], places: &mut Vec<(String, usize)>) {
        let workflow = workflows
            .iter()
            .find(|workflow| workflow.key == key)
            .expect("references are sound");
        let start = places.len();
        for entry in &workflow.phases {
            match entry {
                PhaseEntry::Phase(phase) => places.push((phase.name.clone(), start)),
                PhaseEntry::Subworkflow(inner) => visit(inner, workflows, places),
            }
        }
    }
    let mut places = Vec::new();
    visit(root, workflows, &mut places);
    places
}

/// Workflows `w0`, `w1`, …: each refers only to later ones, so that none contains itself.
fn catalogs() -> impl Strategy<Value = Vec<Workflow>> {
    let entries = prop::collection::vec(
        prop::option::weighted(0.4, any::<prop::sample::Index>()),
        1..4,
    );
    prop::collection::vec(entries, 1..5).prop_map(|shape| {
        let count = shape.len();
        let build = |(at, entries): (usize, &Vec<Option<prop::sample::Index>>)| {
            let words: Vec<String> = entries
                .iter()
                .enumerate()
                .map(|(nth, entry)| match entry {
                    Some(index) if at + 1 < count => {
                        format!("{{w{}}}", at + 1 + index.index(count - at - 1))
                    }
                    _ => format!("p{at}x{nth}"),
                })
                .collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            workflow(&format!("w{at}"), &words)
        };
        shape.iter().enumerate().map(build).collect()
    })
}

#[derive(Debug, Clone, Copy)]
enum Op {
    Next,
    Loop,
    Reload,
    Stop,
    Wait,
    Prompt,
    Turn,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        5 => Just(Op::Next),
        2 => Just(Op::Loop),
        1 => Just(Op::Reload),
        1 => Just(Op::Stop),
        1 => Just(Op::Wait),
        1 => Just(Op::Prompt),
        1 => Just(Op::Turn),
    ];
    prop::collection::vec(op, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_run_is_a_walk_over_its_flattened_phases(workflows in catalogs(), ops in ops()) {
        let places = flattened("w0", &workflows);
        let mut world = World::started(workflows);
        let mut at = 0;
        let mut steps = 0u64;
        for op in ops {
            match op {
                Op::Next => {
                    world.tool("next");
                    at += 1;
                    steps += 1;
                }
                Op::Loop => {
                    world.tool("loop");
                    at = places[at].1;
                    steps += 1;
                }
                Op::Reload => drop(world.reload()),
                Op::Stop => drop(world.stop("stop")),
                Op::Wait => drop(world.wait(3000)),
                Op::Prompt => drop(world.prompt("go")),
                Op::Turn => drop(world.step(Event::TurnEnd)),
            }
            let state = world.last_state();
            prop_assert_eq!(&state["globalStepCount"], steps);
            prop_assert_eq!(&state["active"], at < places.len());
            if at == places.len() {
                prop_assert!(line(&world.stop("stop"), "message workflow:complete").contains("Complete"));
                return Ok(());
            }
            let status = world.session.view().and_then(|view| view.phase.map(|phase| phase.phase.name.clone()));
            prop_assert_eq!(status.as_deref(), Some(places[at].0.as_str()));
        }
    }
}
