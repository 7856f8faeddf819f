//! Keys that have no meaning where they stand, and what they most likely mean.
//!
//! The rule (behaviour: "Strict keys"): an unknown key is a warning with a suggestion. In a guard, or
//! near a guard's key, it is an error: a guard must not be dropped.

use super::findings::{Finding, Reader};
use super::language::Level;
use super::node::{Entry, Kind, Map};
use super::source::Span;
use crate::diagnostic::{Code, shown};

/// Guards that later versions know: dropping one would be to run without it.
const FUTURE_GUARDS: &[&str] = &["budget", "outputs"];

/// Reports every key of a map that has no meaning there, and says whether there is none.
pub(super) fn check(reader: &mut Reader<'_>, level: Level, map: &Map<'_>) -> bool {
    let mut all_known = true;
    for entry in &map.entries {
        if !names(level).any(|known| known == entry.key) {
            let finding = unknown(level, entry);
            reader.report(finding);
            all_known = false;
        }
    }
    all_known
}

/// The keys without a meaning in a map that may have been meant to say something about tools, each as what it
/// resembles: `tools` or `results`.
pub(super) fn lost_guards<'m>(
    level: Level,
    map: &'m Map<'_>,
) -> impl Iterator<Item = (&'static str, Option<Span>)> + 'm {
    let unknown = map
        .entries
        .iter()
        .filter(move |entry| names(level).all(|known| known != entry.key));
    unknown.filter_map(|entry| {
        let meant = if FUTURE_GUARDS.contains(&&*entry.key) {
            "tools"
        } else {
            match resembled_guard(&entry.key)? {
                "results" => "results",
                "tools" | "blacklist" | "whitelist" | "rules" => "tools",
                _ => return None,
            }
        };
        Some((meant, entry.key_span))
    })
}

fn unknown(level: Level, entry: &Entry<'_>) -> Finding {
    let (key, span) = (shown(&entry.key), entry.key_span);
    if FUTURE_GUARDS.contains(&&*entry.key) {
        let message = format!("this version cannot enforce `{key}`");
        return Finding::error(Code::FutureGuard, span, message);
    }
    if let Some(guard) = resembled_guard(&entry.key) {
        let message = format!("unknown key `{key}`: a guard must not be dropped");
        let finding = Finding::error(Code::UnknownGuardKey, span, message);
        return if names(level).any(|known| known == guard) {
            finding.help(format!("did you mean `{guard}`?"))
        } else {
            finding.help(format!("`{guard}` belongs in {}", homes(guard)))
        };
    }
    let suggestion = nearest(&entry.key, names(level));
    if level.is_guard() {
        let message = format!(
            "unknown key `{key}` in {}: a guard must not be dropped",
            level.words()
        );
        let finding = Finding::error(Code::UnknownGuardKey, span, message);
        return match suggestion {
            Some(known) => finding.help(format!("did you mean `{known}`?")),
            None => finding.help(format!("known here: {}", listed(names(level)))),
        };
    }
    if entry.key == "<<" {
        return merge_key(entry);
    }
    let message = format!("unknown key `{key}` in {}", level.words());
    let finding = Finding::warning(Code::UnknownKey, span, message);
    match suggestion {
        Some(known) => finding.help(format!("did you mean `{known}`?")),
        None => finding,
    }
}

/// `<<` is an ordinary key in YAML 1.2: what it would bring in is not there, guards included.
fn merge_key(entry: &Entry<'_>) -> Finding {
    let help = "YAML 1.2 has no merge keys: write the keys out";
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

fn names(level: Level) -> impl Iterator<Item = &'static str> {
    level.keys().iter().map(|key| key.name)
}

/// Every key that is a guard; one that several maps have comes as often.
fn guards() -> impl Iterator<Item = &'static str> {
    let keys = Level::ALL.iter().flat_map(|level| level.keys());
    keys.filter(|key| key.guard).map(|key| key.name)
}

fn is_guard(key: &str) -> bool {
    FUTURE_GUARDS.contains(&key) || guards().any(|guard| guard == key)
}

/// Where a key belongs, in words: `a workflow, a phase or the settings`.
fn homes(key: &str) -> String {
    let of = Level::ALL
        .iter()
        .filter(|level| names(**level).any(|known| known == key));
    let words: Vec<&str> = of.map(|level| level.words()).collect();
    match &*words {
        [before @ .., before_last, last] => {
            let before: String = before.iter().flat_map(|words| [*words, ", "]).collect();
            format!("{before}{before_last} or {last}")
        }
        words => words.concat(),
    }
}

/// The guard an unknown key was probably meant to be.
fn resembled_guard(key: &str) -> Option<&'static str> {
    if key.len() > LONGEST_COMPARED {
        return None;
    }
    let plain = plain(key);
    let near = |guard: &str| match guard.len() {
        // Too short for a likeness: `date` is no `gate`, and neither is `delegate`.
        ..5 => plain.strip_suffix('s').unwrap_or(&plain) == guard,
        5 => distance(&plain, guard, 1).is_some() || plain.contains(guard),
        6.. => distance(&plain, guard, 2).is_some() || plain.contains(guard),
    };
    guards().find(|guard| near(guard))
}

/// The edit distance of two names, if it is not more than allowed. Lengths alone rule out most.
fn distance(a: &str, b: &str, allowed: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > allowed {
        return None;
    }
    Some(strsim::osa_distance(a, b)).filter(|&distance| distance <= allowed)
}

/// A key without what spellings differ in: `white-list`, `white_list` and `whiteList` are one.
fn plain(key: &str) -> String {
    key.chars()
        .filter(|c| !matches!(c, '-' | '_' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Longer names are no misspelling of ours, and comparing them costs.
const LONGEST_COMPARED: usize = 40;

/// The known name that an unknown one most likely means.
#[must_use]
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if name.len() > LONGEST_COMPARED {
        return None;
    }
    let plain_name = plain(name);
    known
        .into_iter()
        .filter_map(|known| {
            let allowed = (known.len() / 3).max(1);
            let distance = distance(&plain_name, &plain(known), allowed)?;
            Some((distance, known))
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, known)| known)
}

/// Names as a list for a message.
pub(super) fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_guard_is_taken_for_one() {
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
        let nearest = |name: &str| nearest(name, names(Level::Workflow));
        assert_eq!(nearest("comandName"), Some("commandName"));
        assert_eq!(nearest("command_name"), Some("commandName"));
        assert_eq!(nearest("author"), None);
        assert_eq!(nearest(&"x".repeat(10_000)), None);
    }
}
