//! Everyday lines, which guards must not take for anything else.

use std::collections::HashMap;

use serde::Deserialize;
use workflow_shell::Effect;

use super::lines::{assert_effects, name, parse};

/// A line that agents and developers run every day.
#[derive(Debug, Deserialize)]
struct Everyday {
    line: String,
    /// `reads` or `project`.
    effect: String,
    /// Why it is not known to be harmless although it is.
    #[serde(default)]
    misjudged: Option<String>,
    /// Why nothing in the line could show that it is harmless: it runs a script of the project, or installs.
    #[serde(default)]
    by_design: Option<String>,
}

impl Everyday {
    fn is_exception(&self) -> bool {
        self.misjudged.is_some() || self.by_design.is_some()
    }
}

fn everyday() -> Vec<Everyday> {
    parse(include_str!("../corpus/everyday.jsonl"))
}

#[test]
fn an_everyday_line_has_its_effect_unless_it_is_listed_as_an_exception() {
    let entries = everyday();
    let expected: HashMap<_, _> = entries
        .iter()
        .filter(|entry| !entry.is_exception())
        .map(|entry| (entry.line.as_str(), entry.effect.as_str()))
        .collect();
    assert!(
        expected
            .values()
            .all(|effect| matches!(*effect, "reads" | "project"))
    );
    assert_effects(expected.keys().copied(), |line, effect| {
        expected[line] == name(effect)
    });
}

#[test]
fn an_exception_among_everyday_lines_is_still_one() {
    let entries = everyday();
    let exceptions = entries.iter().filter(|entry| entry.is_exception());
    assert_effects(
        exceptions.map(|entry| entry.line.as_str()),
        |_, effect: &Effect| !effect.is_harmless(),
    );
}

#[test]
fn at_most_two_percent_of_everyday_lines_are_misjudged() {
    let entries = everyday();
    let misjudged = entries.iter().filter(|entry| entry.misjudged.is_some());
    let misjudged = misjudged.count();
    assert!(
        misjudged * 50 <= entries.len(),
        "{misjudged} of {} everyday lines are misjudged",
        entries.len()
    );
}
