//! Keys that have no meaning in their map, and their most likely meaning.
//!
//! An unknown key is a warning with a suggestion. In a guard, or near a guard's name, it is an error: a guard must not be
//! dropped.

use super::names::{MAX_COMPARED_LENGTH, distance, listed, nearest, plain};
use super::reader::Reader;
use super::section::{Section, Sections};
use crate::definition::syntax::{Entry, Kind, Map, Span};
use crate::diagnostic::{Code, Finding, shown};
use crate::text::joined;

/// Reports every key of a map that has no meaning there, and returns them.
pub(super) fn report<'m>(
    reader: &mut Reader<'_>,
    section: &'static Section,
    map: &'m Map<'m>,
) -> Vec<&'m Entry<'m>> {
    let mut found: Vec<_> = map.entries.iter().collect();
    found.retain(|entry| names(section).all(|known| known != entry.key));
    for entry in &found {
        let finding = unknown(reader, section, map, entry);
        reader.report(finding);
    }
    found
}

/// The guard on tools that an unknown key may be, misspelled: `tools` or `results`.
pub(super) fn lost_guard(sections: Sections, key: &str) -> Option<&'static str> {
    let foreign = foreign(key).and_then(|foreign| foreign.guard);
    // A bound on time or turns, which the settings do not have, says nothing of tools.
    if foreign == Some("budget") {
        return None;
    }
    match foreign.or_else(|| resembled_guard(sections, key))? {
        "results" => Some("results"),
        "tools" | "blacklist" | "whitelist" | "rules" | "rulesets" | "use" | "budget"
        | "outputs" => Some("tools"),
        _ => None,
    }
}

/// A key of other programs that has no equal here.
struct ForeignKey {
    /// Its names, as [`plain`] returns them.
    names: &'static [&'static str],
    /// The guard that it means, if it restricts the agent.
    guard: Option<&'static str>,
    /// What this language has instead.
    help: &'static str,
}

#[rustfmt::skip] // A row a line.
const FOREIGN: &[ForeignKey] = &[
    ForeignKey { names: &["readonly"], guard: Some("tools"), help: "write `tools: read-only`" },
    ForeignKey { names: &["mode", "permission", "permissions", "permissionmode", "sandbox"], guard: Some("tools"), help: "write `tools: read-only`, or rules: `tools: {rules: [{ask: bash, writes: true}]}`" },
    ForeignKey { names: &["allowedtools", "allowtools"], guard: Some("tools"), help: "write `tools: {whitelist: [read, grep]}`" },
    ForeignKey { names: &["disallowedtools", "deniedtools", "blockedtools", "excludedtools"], guard: Some("tools"), help: "write `tools: {blacklist: [edit, write]}`" },
    ForeignKey { names: &["allow", "block", "deny", "forbid", "disallow"], guard: Some("tools"), help: "write a rule: `tools: {rules: [{block: [edit, write]}]}`" },
    ForeignKey { names: &["timeout", "maxduration", "timelimit"], guard: Some("budget"), help: "`budget: {minutes: 10}` limits a run or a phase; `timeout` belongs in a check of `gate` with `run`" },
    ForeignKey { names: &["maxturns", "maxsteps", "maxiterations"], guard: Some("budget"), help: "write `budget: {turns: 20}`, or `maxVisits: 3` for a phase that is entered again" },
    ForeignKey { names: &["onmaxvisits"], guard: Some("budget"), help: "write `onLimit` beside `maxVisits` in a phase" },
    ForeignKey { names: &["retry", "retries", "attempts"], guard: Some("when"), help: "a check of `gate` has `tries: 3`, or leads back with `onFail`" },
    ForeignKey { names: &["parallel", "concurrency"], guard: Some("when"), help: "phases follow each other; `availableProfiles` names subagents, which may work at the same time" },
    ForeignKey { names: &["foreach", "matrix", "loop", "repeat", "until", "while"], guard: Some("when"), help: "a subworkflow runs once for each item of a list: `{subworkflow: task, forEach: \"{outputs.plan.tasks}\"}`; a phase is repeated by an outcome" },
    ForeignKey { names: &["agent", "agents", "subagent", "subagents"], guard: None, help: "write `availableProfiles: [reviewer]` in a phase" },
    ForeignKey { names: &["include", "includes", "extends", "import", "imports"], guard: None, help: "share a phase by its file, `../_shared/review.md`, a workflow by `{subworkflow: review}`, rules by `rulesets`" },
    ForeignKey { names: &["cmd", "exec", "script", "test", "tests", "verify", "assert"], guard: None, help: "a command that must pass is a check: `gate: [{run: [npm, test]}]`" },
    ForeignKey { names: &["hints"], guard: None, help: "write `model`, `thinking` and `activeTools` in the phase itself" },
    ForeignKey { names: &["description", "prompt", "task", "goal", "body"], guard: None, help: "what the agent is to do is in `instructions`, in a file below the frontmatter; what only people read is a comment, `# …`" },
    ForeignKey { names: &["steps", "stages", "jobs", "tasks", "nodes", "states"], guard: None, help: "write the phases in their order: `phases: [plan.md, build.md]`" },
    ForeignKey { names: &["if", "unless"], guard: Some("when"), help: "write the values with which it is entered: `when: {inputs.hotfix: false}`" },
    ForeignKey { names: &["skip", "condition", "only"], guard: None, help: "write the values with which it is entered: `when: {inputs.hotfix: false}`" },
    ForeignKey { names: &["next", "goto", "then", "transitions", "onsuccess"], guard: None, help: "phases follow each other, and outcomes lead elsewhere: `outcomes: {ok: next, again: build}`" },
    ForeignKey { names: &["onerror", "onfailure", "catch", "fallback"], guard: None, help: "a check leads elsewhere when it fails: `gate: [{run: [npm, test], onFail: build}]`" },
    ForeignKey { names: &["vars", "variables", "params", "parameters", "args", "arguments", "with"], guard: None, help: "a run is given `inputs`, a phase hands over `outputs`, and texts read both: `{inputs.version}`" },
    ForeignKey { names: &["env", "environment"], guard: None, help: "`env` belongs in a check of `gate` with `run`" },
    ForeignKey { names: &["on", "trigger", "schedule", "cron"], guard: None, help: "a file or a web request sends a message by `triggers`, a key of the settings" },
    ForeignKey { names: &["needs", "dependson"], guard: None, help: "phases run in the order of `phases`, and `when` skips one" },
];

/// Returns what a key of other programs means.
fn foreign(key: &str) -> Option<&'static ForeignKey> {
    let (plain, mut all) = (plain(key), FOREIGN.iter());
    all.find(|foreign| foreign.names.contains(&&*plain))
}

/// Our names, each with the words of other programs for it.
#[rustfmt::skip] // A row a line.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("block", &["deny", "forbid", "disallow", "prohibit", "reject"]),
    ("allow", &["permit"]),
    ("ask", &["confirm", "prompt", "question"]),
    ("commandName", &["command"]),
    ("run", &["cmd", "command"]),
    ("command", &["cmd"]),
    ("blacklist", &["denied", "deny", "disallowed", "blocked", "block"]),
    ("whitelist", &["allowed", "allow"]),
    ("subworkflow", &["workflow"]),
    ("choices", &["options"]),
    ("name", &["title", "label"]),
    ("emoji", &["icon"]),
    ("when", &["if", "unless", "condition"]),
    ("about", &["description", "help"]),
];

/// Returns our names for a key of other programs.
fn synonyms(key: &str) -> impl Iterator<Item = &'static str> {
    let key = plain(key);
    let rows = SYNONYMS.iter();
    rows.filter_map(move |(ours, others)| others.contains(&&*key).then_some(*ours))
}

/// Names that keys had before, each with the name of today, and with what else it may mean.
const RENAMED: &[(&str, &str, Option<&str>)] = &[
    ("run", "commands", Some(RUN_ELSEWHERE)),
    ("onMaxVisits", "onLimit", None),
    ("continue", "defaults", Some(CONTINUE_ELSEWHERE)),
];

const CONTINUE_ELSEWHERE: &str = "write `defaults: { continue: … }`";
const RUN_ELSEWHERE: &str = "write `commands` for commands that may run here, or `gate: [{ run: … }]` for a check that must pass";

fn unknown(
    reader: &Reader<'_>,
    section: &'static Section,
    map: &Map<'_>,
    entry: &Entry<'_>,
) -> Finding {
    let key = shown(&entry.key);
    let is_there = |name: &str| map.get(name).is_some();
    let there_already = |finding: Finding, to: &str| {
        let help = format!("`{to}` is there already: write everything under it");
        finding.help(help)
    };
    let renamed = |finding: Finding, to: &str| {
        if is_there(to) {
            there_already(finding, to)
        } else if let Some((_, inner)) = key.split_once('.').filter(|(outer, _)| *outer == to) {
            finding.help(format!("write `{to}: {{ {inner}: … }}`"))
        } else {
            renamed(finding, section, &entry.key, to)
        }
    };
    let plainly_unknown = || {
        let message = format!("unknown key `{key}` in {}", section.name);
        Finding::warning(Code::UnknownKey, entry.key_span, message)
    };
    let guard_key = |near: &str| {
        let message = format!("unknown key `{key}`{near}, which may be a misspelled restriction");
        Finding::error(Code::UnknownGuardKey, entry.key_span, message)
    };
    let is_known = |to: &str| names(section).any(|known| known == to);
    let mut before = RENAMED.iter();
    if let Some((from, to, or_else)) = before.find(|(from, to, _)| *from == key && is_known(to)) {
        let name = section.name;
        let message = format!("unknown key `{from}` in {name}: its name is `{to}` now");
        let finding = Finding::error(Code::UnknownGuardKey, entry.key_span, message);
        return match or_else {
            Some(help) => finding.help(*help),
            None if is_there(to) => there_already(finding, to),
            None => finding.help(format!("write `{to}`")).fix(from, to),
        };
    }
    let is_written_otherwise = names(section).any(|known| plain(known) == plain(&entry.key));
    let foreign = foreign(&entry.key).filter(|_| !is_written_otherwise);
    if let Some(foreign) = foreign.filter(|_| !section.is_guard) {
        let finding = match foreign.guard {
            Some(_) => guard_key(""),
            None => plainly_unknown(),
        };
        let finding = finding.help(foreign.help);
        return match read_only(reader, entry).filter(|_| !is_there("tools")) {
            Some((span, from)) => Finding { span, ..finding }.fix(&from, "tools: read-only"),
            None => finding,
        };
    }
    // `default` of an input is no `defaults`.
    let is_meant = |guard: &&str| entry.key != "default" || is_known(guard);
    if let Some(guard) = resembled_guard(reader.sections, &entry.key).filter(is_meant) {
        let finding = guard_key("");
        return if is_known(guard) {
            renamed(finding, guard)
        } else {
            let homes = homes(reader.sections, guard);
            finding.help(format!("`{guard}` belongs in {homes}"))
        };
    }
    let suggestion = synonyms(&entry.key)
        .find(|meant| is_known(meant))
        .or_else(|| nearest(&entry.key, names(section)));
    // Too short for a likeness by itself, but a condition is always a map.
    let is_condition = suggestion == Some("when") && matches!(entry.value.kind, Kind::Map(_));
    if section.is_guard || is_condition {
        let finding = guard_key(&format!(" in {}", section.name));
        let homes = homes(reader.sections, &entry.key);
        let inner = homes.trim_matches('`');
        return match (suggestion, foreign) {
            (Some(known), _) => renamed(finding, known),
            (None, Some(foreign)) => finding.help(foreign.help),
            (None, None) if is_known(inner) => {
                finding.help(format!("`{key}` belongs in `{inner}`"))
            }
            (None, None) => finding.help(format!("known keys: {}", listed(names(section)))),
        };
    }
    if entry.key == "<<" {
        return merge_key(reader, entry);
    }
    match suggestion {
        Some(known) => renamed(plainly_unknown(), known),
        None => plainly_unknown(),
    }
}

/// The finding with the key that is most likely meant. Only a slip, another spelling, or the one word for it in a guard is a
/// correction.
fn renamed(finding: Finding, section: &'static Section, from: &str, to: &str) -> Finding {
    let finding = finding.help(format!("did you mean `{to}`?"));
    let is_near = to.len() > 3 && distance(&plain(from), &plain(to), 2).is_some();
    let is_known = |name: &&str| names(section).any(|known| known == *name);
    let is_synonym = || synonyms(from).filter(is_known).eq([to]);
    if is_near || section.is_guard && is_synonym() {
        finding.fix(from, to)
    } else {
        finding
    }
}

/// Returns the location and the text of an entry that says `read-only` in other words.
fn read_only(reader: &Reader<'_>, entry: &Entry<'_>) -> Option<(Option<Span>, String)> {
    let is_key = plain(&entry.key) == "readonly";
    let is_meant = match &entry.value.kind {
        Kind::Bool(flag) => *flag && is_key,
        Kind::Text(text) => plain(text) == "readonly",
        _ => false,
    };
    let (key, value) = (entry.key_span?, entry.value.span?);
    let text = reader.source.text().get(key.start..value.end)?;
    is_meant.then(|| (Some(Span::new(key.start, value.end)), text.to_owned()))
}

/// `<<` is an ordinary key in YAML 1.2: what it would bring in is not there, guards included.
fn merge_key(reader: &Reader<'_>, entry: &Entry<'_>) -> Finding {
    let help = "YAML 1.2 has no merge keys: write the keys themselves";
    let message = "unknown key `<<`: nothing is merged";
    let is_guard = |entry: &Entry<'_>| guards(reader.sections).any(|guard| guard == entry.key);
    let finding = match &entry.value.kind {
        Kind::Map(map) if map.entries.iter().any(is_guard) => {
            Finding::error(Code::UnknownGuardKey, entry.key_span, message)
        }
        _ => Finding::warning(Code::UnknownKey, entry.key_span, message),
    };
    finding.help(help)
}

fn names(section: &'static Section) -> impl Iterator<Item = &'static str> {
    section.keys.iter().map(|key| key.name)
}

/// Every key that is a guard; one that several maps have comes as often.
fn guards(sections: Sections) -> impl Iterator<Item = &'static str> {
    let keys = sections.iter().flat_map(|section| section.keys);
    keys.filter(|key| key.guard).map(|key| key.name)
}

/// Describes the sections of a key: `a workflow, a phase or the settings`.
fn homes(sections: Sections, key: &str) -> String {
    let has_it = |section: &&&'static Section| names(section).any(|known| known == key);
    let of = sections.iter().filter(has_it);
    let words: Vec<&str> = of.map(|section| section.name).collect();
    joined(&words, "or")
}

/// The guard that an unknown key resembles.
fn resembled_guard(sections: Sections, key: &str) -> Option<&'static str> {
    if key.len() > MAX_COMPARED_LENGTH {
        return None;
    }
    let plain = plain(key);
    let near = |guard: &str| match guard.len() {
        // Too short for another beginning: `date` is no `gate`, and neither is `delegate`.
        ..5 => plain.starts_with(&guard[..1]) && distance(&plain, guard, 1).is_some(),
        length => {
            distance(&plain, guard, if length == 5 { 1 } else { 2 }).is_some()
                || plain.contains(guard) && !resembles_longer(sections, &plain, guard)
        }
    };
    guards(sections).find(|guard| near(guard))
}

/// Returns whether a key resembles another one of ours that contains the name of a guard: `canceledMessage` is no
/// `cancel`.
fn resembles_longer(sections: Sections, key: &str, guard: &str) -> bool {
    let keys = sections.iter().flat_map(|section| section.keys);
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
    use crate::definition::Workflow;
    use crate::definition::schema::Declared;

    #[test]
    fn a_key_that_looks_like_a_guard_is_taken_for_one() {
        for key in ["toolz", "tool", "Tools", "allowedTools", "disallowed-tools"] {
            assert_eq!(resembled_guard(Section::ALL, key), Some("tools"), "{key}");
        }
        for key in ["whitlist", "whiteList", "white_list", "toolWhitelist"] {
            assert_eq!(
                resembled_guard(Section::ALL, key),
                Some("whitelist"),
                "{key}"
            );
        }
        assert_eq!(
            resembled_guard(Section::ALL, "blocklist"),
            Some("blacklist")
        );
        assert_eq!(resembled_guard(Section::ALL, "continues"), Some("continue"));
        for key in ["Gates", "gaet", "gat"] {
            assert_eq!(resembled_guard(Section::ALL, key), Some("gate"), "{key}");
        }
        assert_eq!(resembled_guard(Section::ALL, "aprove"), Some("approve"));
        assert_eq!(resembled_guard(Section::ALL, "toolRules"), Some("rules"));
    }

    #[test]
    fn ordinary_words_are_not_guards() {
        for key in [
            "title",
            "author",
            "date",
            "",
            "é",
            "tags",
            "model",
            "todos",
            "content",
            "context",
            "delegate",
            "profile",
            "allowance",
        ] {
            assert_eq!(resembled_guard(Section::ALL, key), None, "{key}");
        }
    }

    #[test]
    fn a_suggestion_is_near_or_absent() {
        let nearest = |name: &str| nearest(name, names(Workflow::SECTION));
        assert_eq!(nearest("comandName"), Some("commandName"));
        assert_eq!(nearest("command_name"), Some("commandName"));
        assert_eq!(nearest("author"), None);
        assert_eq!(super::nearest("if", ["id"]), None);
        assert_eq!(super::nearest("x", ["a"]), None);
        assert_eq!(nearest(&"x".repeat(10_000)), None);
    }
}
