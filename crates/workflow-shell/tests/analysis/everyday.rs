//! Everyday lines, which guards must not take for anything else.

use serde::Deserialize;
use workflow_shell::{Effect, analyze};

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

fn lines() -> Vec<Everyday> {
    include_str!("../corpus/everyday.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect()
}

#[test]
fn an_everyday_line_has_its_effect_unless_it_is_listed_as_an_exception() {
    let mut wrong = Vec::new();
    for line in lines().iter().filter(|line| !line.is_exception()) {
        let effect = analyze(&line.line).effect();
        let expected = match line.effect.as_str() {
            "reads" => Effect::Reads,
            "project" => Effect::RunsProjectCode,
            other => panic!("no effect of an everyday line: {other}"),
        };
        if effect != expected {
            wrong.push(format!("{:?}: {effect:?}", line.line));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn an_exception_among_everyday_lines_is_still_one() {
    for line in lines().iter().filter(|line| line.is_exception()) {
        let effect = analyze(&line.line).effect();
        assert!(
            !effect.is_harmless(),
            "{:?} is known by now: take the exception out",
            line.line
        );
    }
}

#[test]
fn at_most_two_percent_of_everyday_lines_are_misjudged() {
    let lines = lines();
    let misjudged = lines.iter().filter(|line| line.misjudged.is_some()).count();
    assert!(
        misjudged * 50 <= lines.len(),
        "{misjudged} of {} everyday lines are misjudged",
        lines.len()
    );
}
