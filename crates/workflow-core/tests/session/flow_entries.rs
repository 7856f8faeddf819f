//! The entries that a run with values and visits leaves in the session, and what every part of them restores.

use serde_json::json;
use workflow_core::event::Entry;
use workflow_core::run::{RunData, restore};

use crate::flow::{data, edit, index, plan_text, with_review};
use crate::world::World;

/// A review loop in which plan and build hand over a text each time.
fn with_values() -> World {
    let mut work = with_review();
    edit(&mut work, "plan", |plan| plan.outputs = vec![plan_text(1)]);
    edit(&mut work, "build", |build| {
        build.outputs = vec![plan_text(1)];
        build.max_visits = None;
    });
    let mut world = World::started(vec![work]);
    world.stop("aborted");
    world
}

/// The entries up to a number, as the host sends them.
fn entries(world: &World, most: usize) -> Vec<Entry<'_>> {
    let entries = world.branch[..most].iter();
    entries
        .map(|(custom_type, data)| Entry {
            custom_type,
            data: Some(data),
        })
        .collect()
}

/// The data after each state of the branch, by the number of the moves.
fn restored(entries: &[Entry<'_>]) -> (u64, RunData) {
    let restored = restore(entries);
    assert!(
        restored.diagnostics.is_empty(),
        "{:?}",
        restored.diagnostics
    );
    let state = restored.state.expect("there is a run");
    (state.global_step_count, restored.run.data)
}

/// Plan, then three rounds of build and review.
fn rounds(world: &mut World) -> Vec<RunData> {
    let mut after = vec![restored(&entries(world, world.branch.len())).1];
    let mut keep = |world: &World| after.push(restored(&entries(world, world.branch.len())).1);
    world.next("", &json!({"plan": "the plan"}));
    keep(world);
    for round in 1..4 {
        world.next("", &json!({"plan": format!("build {round}")}));
        keep(world);
        world.next("changes", &json!({}));
        keep(world);
    }
    after
}

fn number_of(world: &World, custom_type: &str) -> usize {
    let entries = world.branch.iter();
    entries.filter(|(kind, _)| kind == custom_type).count()
}

#[test]
fn values_are_stored_when_they_change_and_not_with_every_move() {
    let mut world = with_values();
    rounds(&mut world);
    // Four outputs, and the outcome of the first review.
    assert_eq!(number_of(&world, "workflow:values"), 5);
    assert!(number_of(&world, "workflow:run") > 6);
    for (kind, data) in &world.branch {
        let has_values = data.get().contains("the plan");
        assert_eq!(has_values, kind == "workflow:values", "{kind}");
    }
}

#[test]
fn a_branch_that_ends_anywhere_restores_the_values_of_its_last_state() {
    let mut world = with_values();
    let after = rounds(&mut world);
    let first = (1..=world.branch.len()).find(|&most| {
        let entries = entries(&world, most);
        entries
            .iter()
            .any(|entry| entry.custom_type == "workflow:state")
    });
    for most in first.expect("there is a state")..=world.branch.len() {
        let (step, data) = restored(&entries(&world, most));
        let step = usize::try_from(step).expect("there are few moves");
        assert_eq!(data, after[step], "{most} entries");
    }
}

#[test]
fn a_session_continued_at_any_entry_restores_the_counts_and_values_of_its_branch() {
    let mut world = with_values();
    let after = rounds(&mut world);
    let whole = world.branch.clone();
    for most in 1..=whole.len() {
        let is_state = |(kind, _): &(String, _)| kind == "workflow:state";
        if !whole[..most].iter().any(is_state) {
            continue;
        }
        world.branch.clone_from(&whole);
        world.branch.truncate(most);
        world.restart();
        world.stop("aborted");
        let (step, _) = restored(&entries(&world, world.branch.len()));
        let step = usize::try_from(step).expect("there are few moves");
        let (outcome, value) = match index(&world).as_u64() {
            Some(2) => ("changes", json!({})),
            _ => ("", json!({"plan": "another branch"})),
        };
        world.next(outcome, &value);
        let (now, restored) = restored(&entries(&world, world.branch.len()));
        assert_eq!(now, step as u64 + 1, "{most} entries");
        let mut expected = after[step].values.outputs.clone();
        let given = value["plan"].as_str().map(|text| {
            let phase = if step == 0 { "w/plan" } else { "w/build" };
            (phase.to_owned(), [("plan".to_owned(), json!(text))].into())
        });
        expected.extend(given);
        assert_eq!(restored.values.outputs, expected, "{most} entries");
        assert_eq!(json!(restored.values.outputs), data(&world)["outputs"]);
    }
}

#[test]
fn the_newest_entry_of_each_type_restores_as_much_as_all_of_them() {
    let mut world = with_values();
    rounds(&mut world);
    let all = entries(&world, world.branch.len());
    let mut newest: Vec<Entry<'_>> = Vec::new();
    for entry in all.iter().rev() {
        if !newest
            .iter()
            .any(|one| one.custom_type == entry.custom_type)
        {
            newest.insert(0, *entry);
        }
    }
    assert!(newest.len() < all.len());
    assert_eq!(restored(&newest), restored(&all));
}
