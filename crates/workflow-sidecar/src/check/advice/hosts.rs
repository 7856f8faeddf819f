//! Parts of a definition that a host that starts hooks cannot carry out.

use workflow_core::definition::{Checkpoint, RuleAction};
use workflow_core::diagnostic::{Code, Diagnostic, Severity};

use super::levels::Levels;
use crate::hook_hosts::host;
use crate::install::opencode;
use crate::measured::{Enforcement, Measured};

/// What no hook can do: the key that asks for it, what it is, and whether the plugin for opencode cannot do it either.
const HOOKS_CANNOT: [(&[&str], &str, bool); 7] = [
    (&["checkpoint"], "`checkpoint: git` does nothing", true),
    (
        &["budget", "tokens"],
        "`tokens` of a budget do not count",
        false,
    ),
    (
        &["budget", "usd"],
        "`usd` of a budget does not count",
        false,
    ),
    (&["model"], "`model` is not set", true),
    (&["thinking"], "`thinking` is not set", true),
    (&["activeTools"], "`activeTools` hides nothing", true),
    (&["triggers"], "`triggers` do nothing", false),
];

/// Keys of a definition, with the capability of a host that they need.
const MEASURED: [(&[&str], &str); 7] = [
    (&["tools"], "blocked tool"),
    (&["gate"], "gate"),
    (&["approve"], "approval by prompt"),
    (&["outcomes"], "outcome"),
    (&["budget"], "budget"),
    (&["continue", "onQuestion"], "question pauses"),
    (&["results"], "results replaced"),
];

/// The name of a host for people.
fn title(name: &str) -> &'static str {
    host(name).map_or(opencode::NAME, |host| host.title)
}

/// Returns what these hosts cannot do of everything that was loaded.
pub(super) fn limits(hosts: &[&str], levels: &Levels<'_>) -> Vec<Diagnostic> {
    let mut all = Vec::new();
    let titles = |cannot: &dyn Fn(&str) -> bool| {
        let named = hosts.iter().filter(|name| cannot(name));
        named.map(|name| title(name)).collect::<Vec<_>>().join(", ")
    };
    let silent = titles(&|name| host(name).is_some_and(|host| host.asks.is_none()));
    for level in levels.iter().filter(|_| !hosts.is_empty()) {
        // Settings apply where they are: the other file may have the value.
        let mut found = |key: &[&str], message: String| {
            if let Some(location) = level.keys.of(key) {
                let found = Diagnostic::new(Code::HostLimit, Severity::Info, message);
                all.push(level.about(found.at(location.clone())));
            }
        };
        let max = level.auto_continue.max;
        // The reminders after which a host ends the work itself.
        let pausing = hosts.iter().filter_map(|name| {
            let most = host(name)?.most_reminders?;
            let is_less = max?.times().is_none_or(|times| times > most);
            is_less.then(|| format!("{most} in {}", title(name)))
        });
        let pausing: Vec<String> = pausing.collect();
        if !pausing.is_empty() {
            let message = "the run pauses after fewer reminders than `max` says";
            found(
                &["continue", "max"],
                format!("{message}: {}", pausing.join(", ")),
            );
        }
        let is_git = level.checkpoint == Some(Checkpoint::Git);
        for (key, what, nor_plugin) in HOOKS_CANNOT {
            let titles = titles(&|name| nor_plugin || host(name).is_some());
            if !titles.is_empty() && (is_git || key != ["checkpoint"]) {
                found(key, format!("{what} in {titles}"));
            }
        }
        for (at, rule) in level.rules.iter().enumerate() {
            if rule.action == RuleAction::Ask && !silent.is_empty() {
                let key = format!("rules[{at}]");
                found(
                    &["tools", &key],
                    format!("`ask` blocks the call in {silent}"),
                );
            }
        }
        for (key, capability) in MEASURED {
            for host in hosts {
                let measured = Measured::of(host, None);
                let mut all = measured.capabilities.iter();
                let is_gap = |value| matches!(value, Enforcement::Partly | Enforcement::No);
                if let Some(gap) = all.find(|of| of.name == capability && is_gap(of.value)) {
                    let (key_name, value) = (key.join("."), gap.value.word());
                    let note = gap.note.as_deref().unwrap_or_default();
                    found(
                        key,
                        format!("`{key_name}` in {}: {value}. {note}", title(host)),
                    );
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use workflow_core::definition::{MemoryFiles, Tier, load_located};

    use super::*;
    use crate::hook_hosts::HOSTS;

    #[test]
    fn a_plugin_is_said_to_lack_only_what_it_cannot_do_either() {
        let workflow = "name: W\ncommandName: w\ninitialMessage: Go\nbudget: {tokens: 2}\n\
            phases: [{id: a, name: A, emoji: a, instructions: I, model: large}]\n";
        let files = MemoryFiles::new().with(Tier::Project, "w/workflow.yaml", workflow);
        let loaded = load_located(&files);
        let found = limits(&["codex", opencode::NAME], &Levels::of(&loaded));
        let messages: Vec<&str> = found.iter().map(|found| &*found.message).collect();
        let expected = [
            "`tokens` of a budget do not count in Codex",
            "`usd` of a budget does not count in Codex",
            "`model` is not set in Codex, opencode",
        ];
        assert_eq!(messages, expected);
    }

    #[test]
    fn what_was_seen_not_to_hold_is_reported_at_the_key_that_needs_it() {
        let workflow = "name: W\ncommandName: w\ninitialMessage: Go\nresults: [{redact: x}]\nbudget: {turns: 2}\n\
            continue: {onQuestion: pause}\n\
            phases: [{id: a, name: A, emoji: a, instructions: I, tools: read-only, approve: {ask: Q}}]\n";
        let files = MemoryFiles::new().with(Tier::Project, "w/workflow.yaml", workflow);
        let loaded = load_located(&files);
        for host in HOSTS {
            let found = limits(&[host.name], &Levels::of(&loaded));
            for of in &Measured::of(host.name, None).capabilities {
                let key = MEASURED.iter().find(|(_, name)| *name == of.name);
                let Some((key, _)) = key.filter(|(key, _)| !["gate", "outcomes"].contains(&key[0]))
                else {
                    continue;
                };
                let start = format!("`{}` in {}: ", key.join("."), host.title);
                let is_found = found.iter().any(|found| found.message.starts_with(&start));
                let is_gap = matches!(of.value, Enforcement::Partly | Enforcement::No);
                assert_eq!(is_found, is_gap, "{start}{found:?}");
            }
        }
    }
}
