//! Which keys exist where, and what an unknown one most likely means.
//!
//! The rule (behaviour: "Strict keys"): an unknown key is a warning with a suggestion. In a guard, or
//! near a guard's key, it is an error: a guard must not be dropped.

use super::findings::{Finding, Reader};
use super::node::{Entry, Kind, Map};
use crate::diagnostic::{Code, shown};

/// A map of the definition language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Workflow,
    Phase,
    /// `{subworkflow: key}`.
    Reference,
    Tools,
    Continue,
    Settings,
    Limits,
}

impl Level {
    /// The keys that have a meaning here.
    pub(super) fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Workflow => &[
                "name",
                "commandName",
                "initialMessage",
                "phases",
                "show",
                "loopable",
                "sessionNamePrefix",
                "sessionNameMaxLength",
                "roleInstruction",
                "advanceReminder",
                "blockReasonTemplate",
                "completionMessage",
                "cancelledMessage",
                "notDoneReminder",
                "continue",
                "context",
            ],
            Self::Phase => &[
                "id",
                "name",
                "emoji",
                "instructions",
                "tools",
                "availableProfiles",
                "continue",
            ],
            Self::Reference => &["subworkflow"],
            Self::Tools => &["blacklist", "whitelist"],
            Self::Continue => &[
                "max",
                "maxStale",
                "onError",
                "onQuestion",
                "onLimit",
                "countdown",
            ],
            Self::Settings => &["continue", "context", "limits"],
            Self::Limits => &[
                "maxFileBytes",
                "maxTotalBytes",
                "maxDepth",
                "maxPhases",
                "maxWorkflows",
                "maxNesting",
            ],
        }
    }

    /// Whether the whole map is a guard.
    fn is_guard(self) -> bool {
        match self {
            Self::Tools | Self::Continue => true,
            Self::Workflow | Self::Phase | Self::Reference | Self::Settings | Self::Limits => false,
        }
    }

    /// What it is, in words.
    fn words(self) -> &'static str {
        match self {
            Self::Workflow => "a workflow",
            Self::Phase => "a phase",
            Self::Reference => "a subworkflow reference",
            Self::Tools => "`tools`",
            Self::Continue => "`continue`",
            Self::Settings => "the settings",
            Self::Limits => "`limits`",
        }
    }
}

/// Guards that later versions know: dropping one would be to run without it.
const FUTURE_GUARDS: &[&str] = &[
    "gate",
    "approve",
    "rules",
    "results",
    "checkpoint",
    "triggers",
];

/// Keys of guards, and where they belong.
const GUARDS: &[(&str, &str)] = &[
    ("tools", "a phase"),
    ("blacklist", "a phase's `tools`"),
    ("whitelist", "a phase's `tools`"),
    ("continue", "a workflow, a phase or the settings"),
];

/// Reports every key of a map that has no meaning there.
pub(super) fn check(reader: &mut Reader<'_>, level: Level, map: &Map<'_>) {
    for entry in &map.entries {
        if !level.keys().contains(&&*entry.key) {
            let finding = unknown(level, entry);
            reader.report(finding);
        }
    }
}

fn unknown(level: Level, entry: &Entry<'_>) -> Finding {
    let (key, span) = (shown(&entry.key), entry.key_span);
    if FUTURE_GUARDS.contains(&&*entry.key) {
        let message = format!("this version cannot enforce `{key}`");
        return Finding::error(Code::FutureGuard, span, message)
            .help("remove it, or run a version that knows it: a guard must not be dropped");
    }
    if let Some((guard, place)) = resembled_guard(&entry.key) {
        let message = format!("unknown key `{key}`: a guard must not be dropped");
        let finding = Finding::error(Code::UnknownGuardKey, span, message);
        return if level.keys().contains(&guard) {
            finding.help(format!("did you mean `{guard}`?"))
        } else {
            finding.help(format!("`{guard}` belongs in {place}"))
        };
    }
    let suggestion = nearest(&entry.key, level.keys().iter().copied());
    if level.is_guard() {
        let message = format!(
            "unknown key `{key}` in {}: a guard must not be dropped",
            level.words()
        );
        let finding = Finding::error(Code::UnknownGuardKey, span, message);
        return match suggestion {
            Some(known) => finding.help(format!("did you mean `{known}`?")),
            None => finding.help(format!("known here: {}", listed(level.keys()))),
        };
    }
    if entry.key == "<<" {
        return merge_key(entry);
    }
    let message = format!("unknown key `{key}` in {}", level.words());
    let finding = Finding::warning(Code::UnknownKey, span, message);
    match suggestion {
        Some(known) => finding.help(format!("did you mean `{known}`?")),
        None => finding.help("nothing reads it"),
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

fn is_guard(key: &str) -> bool {
    FUTURE_GUARDS.contains(&key) || GUARDS.iter().any(|&(guard, _)| guard == key)
}

/// The guard an unknown key was probably meant to be, and where that belongs.
fn resembled_guard(key: &str) -> Option<(&'static str, &'static str)> {
    if key.len() > LONGEST_COMPARED {
        return None;
    }
    let plain = plain(key);
    let near = |guard: &str| {
        let allowed = if guard.len() > 5 { 2 } else { 1 };
        distance(&plain, guard, allowed).is_some() || plain.contains(guard)
    };
    GUARDS.iter().copied().find(|&(guard, _)| near(guard))
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
pub(super) fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(key: &str) -> Option<&'static str> {
        resembled_guard(key).map(|(guard, _)| guard)
    }

    #[test]
    fn what_looks_like_a_guard_is_taken_for_one() {
        for key in ["toolz", "tool", "Tools", "allowedTools", "disallowed-tools"] {
            assert_eq!(guard(key), Some("tools"), "{key}");
        }
        for key in ["whitlist", "whiteList", "white_list", "toolWhitelist"] {
            assert_eq!(guard(key), Some("whitelist"), "{key}");
        }
        assert_eq!(guard("blocklist"), Some("blacklist"));
        assert_eq!(guard("continues"), Some("continue"));
    }

    #[test]
    fn ordinary_words_are_not_guards() {
        for key in [
            "title", "author", "date", "tags", "model", "todos", "content", "context",
        ] {
            assert_eq!(guard(key), None, "{key}");
        }
    }

    #[test]
    fn a_suggestion_is_near_or_absent() {
        let nearest = |name: &str| nearest(name, Level::Workflow.keys().iter().copied());
        assert_eq!(nearest("comandName"), Some("commandName"));
        assert_eq!(nearest("command_name"), Some("commandName"));
        assert_eq!(nearest("author"), None);
        assert_eq!(nearest(&"x".repeat(10_000)), None);
    }
}
