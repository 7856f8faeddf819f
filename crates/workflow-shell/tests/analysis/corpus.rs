//! Verdicts on the lines of the corpora.

use std::collections::HashMap;

use serde::Deserialize;
use workflow_shell::{Analysis, Effect, analyze};

use super::lines::{assert_effects, name, parse};

/// A line with its expected effect.
#[derive(Debug, Deserialize)]
pub(crate) struct Entry {
    pub(crate) line: String,
    /// `reads`, `project`, `writes` or `unknown`.
    pub(crate) effect: String,
    /// The files that it writes.
    #[serde(default)]
    paths: Vec<Option<String>>,
    pub(crate) why: String,
}

/// A line that an attacker or a developer may use.
#[derive(Debug, Deserialize)]
struct Attack {
    line: String,
    /// True if the line writes.
    writes: bool,
    /// Why a line that does not write is not known to read.
    #[serde(default)]
    unknown: Option<String>,
}

impl Entry {
    pub(crate) fn is_harmless(&self) -> bool {
        matches!(self.effect.as_str(), "reads" | "project")
    }
}

pub(crate) fn entries() -> Vec<Entry> {
    parse(include_str!("../corpus/commands.jsonl"))
}

fn attacks() -> Vec<Attack> {
    parse(include_str!("../corpus/attacks.jsonl"))
}

/// Returns the files of an effect.
fn paths(effect: &Effect) -> Vec<Option<String>> {
    match effect {
        Effect::Writes(writes) => writes.iter().map(|write| write.path.clone()).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn each_line_has_the_expected_effect() {
    let entries = entries();
    let expected: HashMap<_, _> = entries
        .iter()
        .map(|entry| (entry.line.as_str(), entry))
        .collect();
    assert_effects(expected.keys().copied(), |line, effect| {
        let entry = expected[line];
        entry.effect == name(effect) && entry.paths == paths(effect)
    });
}

#[test]
fn no_line_of_an_attacker_counts_as_reading() {
    let attacks = attacks();
    let writing = attacks.iter().filter(|attack| attack.writes);
    assert_effects(writing.map(|attack| attack.line.as_str()), |_, effect| {
        !effect.is_harmless()
    });
}

#[test]
fn everyday_lines_are_harmless_unless_they_are_unknown_by_design() {
    let attacks = attacks();
    let (unknown, harmless): (Vec<_>, Vec<_>) = attacks
        .iter()
        .filter(|attack| !attack.writes)
        .partition(|attack| attack.unknown.is_some());
    assert_effects(
        harmless.iter().map(|attack| attack.line.as_str()),
        |_, effect| effect.is_harmless(),
    );
    assert_effects(
        unknown.iter().map(|attack| attack.line.as_str()),
        |_, effect| !effect.is_harmless(),
    );
}

#[test]
fn each_line_is_in_the_corpus_once() {
    let mut lines: Vec<String> = entries().into_iter().map(|entry| entry.line).collect();
    lines.sort();
    for pair in lines.windows(2) {
        assert_ne!(pair[0], pair[1]);
    }
}

/// Returns the programs of a line with their effects.
fn programs(analysis: &Analysis) -> Vec<(&str, &Effect)> {
    let commands = analysis.commands.iter();
    commands
        .filter_map(|command| Some((command.words.first()?.text()?, &command.effect)))
        .collect()
}

#[test]
fn commands_behind_wrappers_and_in_substitutions_are_listed() {
    let analysis = analyze("sudo env CI=1 rm x; echo $(git push) | xargs -n1 sh -c 'npm publish'");
    let programs: Vec<_> = programs(&analysis)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let expected = ["sudo", "env", "rm", "git", "echo", "xargs", "sh", "npm"];
    assert_eq!(programs, expected);
}

#[test]
fn a_wrapper_and_the_command_behind_it_have_effects_of_their_own() {
    let analysis = analyze("timeout 5 rm x");
    let programs = programs(&analysis);
    assert_eq!(programs[0], ("timeout", &Effect::Reads));
    assert!(matches!(programs[1], ("rm", Effect::Writes(_))));
}

#[test]
fn a_command_behind_an_unknown_wrapper_is_listed() {
    let analysis = analyze("strace --frobnicate 5 rm -rf x");
    assert!(matches!(analysis.effect(), Effect::Unknown(_)));
    assert!(programs(&analysis).iter().any(|(name, _)| *name == "rm"));
}

#[test]
fn files_of_redirections_are_apart() {
    let analysis = analyze("ls > a");
    assert_eq!(analysis.commands[0].effect, Effect::Reads);
    assert_eq!(analysis.redirections[0].path.as_deref(), Some("a"));
    assert!(matches!(analysis.effect(), Effect::Writes(writes) if writes.len() == 1));
}

#[test]
fn an_unknown_part_is_named() {
    let reason = |line: &str| match analyze(line).effect() {
        Effect::Unknown(unknown) => (unknown.word.clone(), unknown.to_string()),
        effect => panic!("{line:?}: {effect:?}"),
    };
    assert_eq!(reason("ls; mytool x").0, "mytool");
    assert_eq!(reason("sort --frobnicate x").0, "--frobnicate");
    assert_eq!(reason("GIT_TRACE=x git status").0, "GIT_TRACE");
    assert_eq!(
        reason("sort --zz x").1,
        "`--zz` is not an option that is known to only read"
    );
}

#[test]
fn a_path_keeps_its_control_characters() {
    let Effect::Writes(writes) = analyze("rm $'a\\eb'").effect() else {
        panic!("it writes");
    };
    assert_eq!(writes[0].path.as_deref(), Some("a\u{1b}b"));
}
