//! What was changed since the start of a run, as the subject of `when`.

use serde_json::json;
use workflow_core::definition::{Condition, Fact, Subject, Test, Workflow};
use workflow_core::event::PlatformEvent;
use workflow_core::run::MeasuredChange;
use workflow_core::session::Control;

use crate::flow::{edit, gate, over, when};
use crate::world::{World, line, workflow};

const TREE: &str = "7ee0000000000000000000000000000000000000";

/// Build, review if the change is large, release.
fn with_review(fact: Fact, test: Test) -> Workflow {
    let mut work = workflow("w", &["build", "review", "release"]);
    edit(&mut work, "review", |review| {
        review.when = when(Subject::Change(fact), Vec::new(), false);
        if let Condition::Is(comparison) = &mut review.when[0] {
            comparison.test = test;
        }
        "{change.lines} lines in {change.files} files.".clone_into(&mut review.instructions);
    });
    work
}

fn large() -> Test {
    Test::Within {
        min: Some(20.into()),
        max: None,
    }
}

fn started(work: Workflow) -> World {
    let mut world = World::started(vec![work]);
    world.report(PlatformEvent::ChangeMeasured {
        start: Some(TREE.to_owned()),
        change: None,
    });
    world
}

fn measured(world: &mut World, change: impl Into<Option<MeasuredChange>>) -> Vec<String> {
    world.report(PlatformEvent::ChangeMeasured {
        start: None,
        change: change.into(),
    })
}

fn change(lines: u64, paths: &[&str], lists: &[&[&str]]) -> MeasuredChange {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let lists: Vec<Vec<String>> = lists.iter().map(|list| texts(list)).collect();
    MeasuredChange::new(lines, &texts(paths), &lists)
}

/// The phase that the run is in once the change is measured.
fn phase_after(work: Workflow, change: impl Into<Option<MeasuredChange>>) -> String {
    let mut world = started(work);
    let lines = world.tool("next");
    assert!(line(&lines, "measure").starts_with(&format!("measure since \"{TREE}\"")));
    let lines = measured(&mut world, change);
    let moved = lines.iter().find(|line| line.contains("BUILD → 🔹 "));
    let moved = moved.expect("the call of `next` is answered");
    let (_, to) = moved.split_once("BUILD → 🔹 ").expect("it moved");
    let name = to.split(|letter: char| !letter.is_ascii_uppercase()).next();
    name.unwrap_or_default().to_owned()
}

#[test]
fn a_small_change_skips_the_phase_and_a_large_or_unknown_one_enters_it() {
    let work = || with_review(Fact::Lines, large());
    assert_eq!(phase_after(work(), change(19, &["a"], &[])), "RELEASE");
    assert_eq!(phase_after(work(), change(20, &["a"], &[])), "REVIEW");
    assert_eq!(phase_after(work(), None), "REVIEW", "not measured in time");
    let files = with_review(Fact::Files, large());
    assert_eq!(phase_after(files, change(90, &["a"], &[])), "RELEASE");
}

#[test]
fn paths_match_one_of_some_globs_or_only_them() {
    let globs = || vec![json!("docs/**"), json!("a.md")];
    let lists: &[&[&str]] = &[&["docs/**", "a.md"]];
    let negated = false;
    let one = || {
        let values = globs();
        with_review(Fact::Paths, Test::Values { values, negated })
    };
    let only = || with_review(Fact::Paths, Test::Only { only: globs() });
    let both = ["docs/x/y.md", "src/a.rs"];
    assert_eq!(phase_after(one(), change(1, &both, lists)), "REVIEW");
    assert_eq!(phase_after(only(), change(1, &both, lists)), "RELEASE");
    assert_eq!(phase_after(one(), change(1, &["b.md"], lists)), "RELEASE");
    let docs = ["docs/x", "a.md"];
    assert_eq!(phase_after(only(), change(1, &docs, lists)), "REVIEW");
    assert_eq!(
        phase_after(one(), change(1, &[], &[])),
        "REVIEW",
        "other globs were measured"
    );
}

#[test]
fn the_start_and_the_change_survive_a_restart() {
    let mut world = started(with_review(Fact::Lines, large()));
    world.restart();
    let lines = world.tool("next");
    assert_eq!(
        line(&lines, "measure"),
        format!("measure since \"{TREE}\" []")
    );
    let lines = measured(&mut world, change(30, &["a", "b"], &[]));
    assert!(
        lines
            .iter()
            .any(|line| line.contains("30 lines in 2 files.")),
        "{lines:?}"
    );
    world.restart();
    // The planning of a person's move uses what was measured last.
    let lines = world.control(Control::Skip, "");
    assert!(
        lines.iter().any(|line| line.contains("RELEASE")),
        "{lines:?}"
    );
    let view = world.session.view().expect("a run is active");
    assert!(view.state.active);
}

#[test]
fn only_a_condition_about_the_change_has_it_measured() {
    let mut world = World::started(vec![workflow("w", &["a", "b"])]);
    let lines = world.tool("next");
    assert!(
        !lines.iter().any(|line| line.starts_with("measure")),
        "{lines:?}"
    );
    // Where the start was not recorded, the condition holds.
    let mut world = World::started(vec![with_review(Fact::Lines, large())]);
    let lines = world.tool("next");
    assert!(
        line(&lines, "tool").contains("BUILD → 🔹 REVIEW"),
        "{lines:?}"
    );
}

#[test]
fn the_users_next_and_a_failed_gate_measure_too() {
    let mut world = started(with_review(Fact::Lines, large()));
    world.control(Control::Next, "");
    let lines = measured(&mut world, change(1, &["a"], &[]));
    assert!(
        lines.iter().any(|line| line.contains("BUILD → 🔹 RELEASE")),
        "{lines:?}"
    );

    let mut work = with_review(Fact::Lines, large());
    edit(&mut work, "release", |release| {
        release.gate = vec![gate(Some("review"))];
    });
    let mut world = started(work);
    world.tool("next");
    measured(&mut world, change(1, &["a"], &[]));
    world.tool("next");
    let lines = over(&mut world, "failed");
    assert!(line(&lines, "measure").contains(TREE), "{lines:?}");
    let lines = measured(&mut world, change(50, &["a"], &[]));
    assert!(
        lines.iter().any(|line| line.contains("🔹 REVIEW")),
        "{lines:?}"
    );
}
