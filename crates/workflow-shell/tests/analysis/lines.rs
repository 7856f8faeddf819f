//! Lines of the corpora.

use serde::de::DeserializeOwned;
use workflow_shell::{Effect, analyze};

/// Parses a corpus: one line, one entry.
pub(crate) fn parse<T: DeserializeOwned>(corpus: &str) -> Vec<T> {
    corpus
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect()
}

/// Returns the name of an effect in the corpora.
pub(crate) fn name(effect: &Effect) -> &'static str {
    match effect {
        Effect::Reads => "reads",
        Effect::RunsProjectCode => "project",
        Effect::Writes(_) => "writes",
        Effect::Unknown(_) => "unknown",
    }
}

/// Fails with all lines whose effect is not the expected one.
pub(crate) fn assert_effects<'a>(
    lines: impl Iterator<Item = &'a str>,
    is_expected: impl Fn(&str, &Effect) -> bool,
) {
    let effects = lines.map(|line| (line, analyze(line).effect()));
    let wrong: Vec<_> = effects
        .filter(|(line, effect)| !is_expected(line, effect))
        .map(|(line, effect)| format!("{line:?}: {effect:?}"))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
