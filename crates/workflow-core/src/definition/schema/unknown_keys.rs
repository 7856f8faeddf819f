//! Keys that have no meaning in their map, and their most likely meaning.
//!
//! An unknown key is a warning with a suggestion. In a guard, or near a guard's name, it is an error: a guard must not be
//! dropped.

use super::names::{MAX_COMPARED_LENGTH, distance, listed, nearest, plain};
use super::section::Section;
use crate::definition::syntax::{Entry, Kind, Map, Reader, Span};
use crate::diagnostic::{Code, Finding, shown};

/// Reports every key of a map that has no meaning there, and returns true if it found no such key.
pub(super) fn report(reader: &mut Reader<'_>, section: Section, map: &Map<'_>) -> bool {
    let mut all_known = true;
    for entry in &map.entries {
        if !names(section).any(|known| known == entry.key) {
            let finding = unknown(section, entry);
            reader.report(finding);
            all_known = false;
        }
    }
    all_known
}

/// The unknown keys of a map that may be misspelt guards on tools, each as the guard that it
/// resembles: `tools` or `results`.
pub(in crate::definition) fn lost_guards<'m>(
    section: Section,
    map: &'m Map<'_>,
) -> impl Iterator<Item = (&'static str, Option<Span>)> + 'm {
    let unknown = map
        .entries
        .iter()
        .filter(move |entry| names(section).all(|known| known != entry.key));
    unknown.filter_map(|entry| {
        let meant = match resembled_guard(&entry.key)? {
            "results" => "results",
            "tools" | "blacklist" | "whitelist" | "rules" | "rulesets" | "use" | "budget"
            | "outputs" => "tools",
            _ => return None,
        };
        Some((meant, entry.key_span))
    })
}

/// Words of other programs for ours.
const SYNONYMS: &[(&str, &str)] = &[
    ("deny", "block"),
    ("forbid", "block"),
    ("disallow", "block"),
    ("prohibit", "block"),
    ("reject", "block"),
    ("permit", "allow"),
    ("confirm", "ask"),
    ("prompt", "ask"),
    ("cmd", "command"),
    ("denied", "blacklist"),
    ("deny", "blacklist"),
    ("disallowed", "blacklist"),
    ("blocked", "blacklist"),
    ("allowed", "whitelist"),
    ("workflow", "subworkflow"),
    ("question", "ask"),
    ("options", "choices"),
    ("title", "name"),
    ("label", "name"),
    ("description", "instructions"),
    ("icon", "emoji"),
    ("command", "commandName"),
];

/// Returns our name for a key of other programs.
fn synonyms(key: &str) -> impl Iterator<Item = &'static str> {
    let key = key.to_lowercase();
    let rows = SYNONYMS.iter().filter(move |(other, _)| *other == key);
    rows.map(|(_, ours)| *ours)
}

fn unknown(section: Section, entry: &Entry<'_>) -> Finding {
    let (key, span) = (shown(&entry.key), entry.key_span);
    if let Some(guard) = resembled_guard(&entry.key) {
        let message = format!("unknown key `{key}`, which may be a misspelt restriction");
        let finding = Finding::error(Code::UnknownGuardKey, span, message);
        return if names(section).any(|known| known == guard) {
            finding
                .help(format!("did you mean `{guard}`?"))
                .fix(&entry.key, guard)
        } else {
            finding.help(format!("`{guard}` belongs in {}", homes(guard)))
        };
    }
    let suggestion = synonyms(&entry.key)
        .find(|meant| names(section).any(|known| known == *meant))
        .or_else(|| nearest(&entry.key, names(section)));
    // Too short for a likeness by itself, but a condition is always a map.
    let is_condition = suggestion == Some("when") && matches!(entry.value.kind, Kind::Map(_));
    if section.is_guard() || is_condition {
        let message = format!(
            "unknown key `{key}` in {}, which may be a misspelt restriction",
            section.describe()
        );
        let finding = Finding::error(Code::UnknownGuardKey, span, message);
        return match suggestion {
            Some(known) => finding
                .help(format!("did you mean `{known}`?"))
                .fix(&entry.key, known),
            None => finding.help(format!("known keys: {}", listed(names(section)))),
        };
    }
    if entry.key == "<<" {
        return merge_key(entry);
    }
    let message = format!("unknown key `{key}` in {}", section.describe());
    let finding = Finding::warning(Code::UnknownKey, span, message);
    match suggestion {
        Some(known) => finding
            .help(format!("did you mean `{known}`?"))
            .fix(&entry.key, known),
        None => finding,
    }
}

/// `<<` is an ordinary key in YAML 1.2: what it would bring in is not there, guards included.
fn merge_key(entry: &Entry<'_>) -> Finding {
    let help = "YAML 1.2 has no merge keys: write the keys themselves";
    let message = "unknown key `<<`: nothing is merged";
    let guard = match &entry.value.kind {
        Kind::Map(map) => map.entries.iter().any(|entry| is_guard(&entry.key)),
        _ => false,
    };
    if guard {
        Finding::error(Code::UnknownGuardKey, entry.key_span, message).help(help)
    } else {
        Finding::warning(Code::UnknownKey, entry.key_span, message).help(help)
    }
}

fn names(section: Section) -> impl Iterator<Item = &'static str> {
    section.keys().iter().map(|key| key.name)
}

/// Every key that is a guard; one that several maps have comes as often.
fn guards() -> impl Iterator<Item = &'static str> {
    let keys = Section::ALL.iter().flat_map(|section| section.keys());
    keys.filter(|key| key.guard).map(|key| key.name)
}

fn is_guard(key: &str) -> bool {
    guards().any(|guard| guard == key)
}

/// Describes the sections of a key: `a workflow, a phase or the settings`.
fn homes(key: &str) -> String {
    let of = Section::ALL
        .iter()
        .filter(|section| names(**section).any(|known| known == key));
    let words: Vec<&str> = of.map(|section| section.describe()).collect();
    match &*words {
        [before @ .., before_last, last] => {
            let before: String = before.iter().flat_map(|words| [*words, ", "]).collect();
            format!("{before}{before_last} or {last}")
        }
        words => words.concat(),
    }
}

/// The guard that an unknown key resembles.
fn resembled_guard(key: &str) -> Option<&'static str> {
    if key.len() > MAX_COMPARED_LENGTH {
        return None;
    }
    let plain = plain(key);
    let near = |guard: &str| match guard.len() {
        // Too short for a likeness: `date` is no `gate`, and neither is `delegate`.
        ..5 => plain.strip_suffix('s').unwrap_or(&plain) == guard,
        5 => {
            distance(&plain, guard, 1).is_some()
                || plain.contains(guard) && !resembles_longer(&plain, guard)
        }
        6.. => {
            distance(&plain, guard, 2).is_some()
                || plain.contains(guard) && !resembles_longer(&plain, guard)
        }
    };
    guards().find(|guard| near(guard))
}

/// Returns whether a key resembles another one of ours that contains the name of a guard: `canceledMessage` is no
/// `cancel`.
fn resembles_longer(key: &str, guard: &str) -> bool {
    let keys = Section::ALL.iter().flat_map(|section| section.keys());
    let mut longer = keys.filter(|key| !key.guard).map(|key| plain(key.name));
    longer.any(|name| {
        name.len() > guard.len()
            && name.contains(guard)
            && distance(key, &name, name.len() / 3).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_looks_like_a_guard_is_taken_for_one() {
        for key in ["toolz", "tool", "Tools", "allowedTools", "disallowed-tools"] {
            assert_eq!(resembled_guard(key), Some("tools"), "{key}");
        }
        for key in ["whitlist", "whiteList", "white_list", "toolWhitelist"] {
            assert_eq!(resembled_guard(key), Some("whitelist"), "{key}");
        }
        assert_eq!(resembled_guard("blocklist"), Some("blacklist"));
        assert_eq!(resembled_guard("continues"), Some("continue"));
        assert_eq!(resembled_guard("Gates"), Some("gate"));
        assert_eq!(resembled_guard("aprove"), Some("approve"));
        assert_eq!(resembled_guard("toolRules"), Some("rules"));
    }

    #[test]
    fn ordinary_words_are_not_guards() {
        for key in [
            "title", "author", "date", "tags", "model", "todos", "content", "context", "delegate",
            "profile",
        ] {
            assert_eq!(resembled_guard(key), None, "{key}");
        }
    }

    #[test]
    fn a_suggestion_is_near_or_absent() {
        let nearest = |name: &str| nearest(name, names(Section::Workflow));
        assert_eq!(nearest("comandName"), Some("commandName"));
        assert_eq!(nearest("command_name"), Some("commandName"));
        assert_eq!(nearest("author"), None);
        assert_eq!(nearest(&"x".repeat(10_000)), None);
    }
}
