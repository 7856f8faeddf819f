//! Parts of a definition that a host that starts hooks cannot carry out.

use workflow_core::definition::{Bound, Checkpoint, ContinueRule, Loaded, Trigger};
use workflow_core::diagnostic::{Code, Diagnostic, Severity};

use super::levels::Level;
use crate::hook_hosts::HookHost;

/// Returns what these hosts cannot do of everything that was loaded.
pub(super) fn limits(
    hosts: &[&'static HookHost],
    levels: &[Level<'_>],
    loaded: &Loaded,
) -> Vec<Diagnostic> {
    if hosts.is_empty() {
        return Vec::new();
    }
    let triggers = &loaded.settings.triggers;
    let of_level = |level| CheckedLevel { hosts, level }.all(triggers);
    levels.iter().flat_map(of_level).collect()
}

/// A level of a definition, and the hosts that it is checked for.
struct CheckedLevel<'a> {
    hosts: &'a [&'static HookHost],
    level: &'a Level<'a>,
}

impl CheckedLevel<'_> {
    fn all(&self, triggers: &[Trigger]) -> Vec<Diagnostic> {
        let level = self.level;
        let is_git = level.checkpoint == Some(Checkpoint::Git);
        let is_watched = triggers
            .iter()
            .any(|trigger| Some(trigger.tier) == level.tier);
        let found = [
            is_git
                .then(|| self.useless(&["checkpoint"], "`checkpoint: git` does nothing"))
                .flatten(),
            self.reminders(level.auto_continue),
            self.useless(&["budget", "tokens"], "`tokens` of a budget do not count"),
            self.useless(&["budget", "usd"], "`usd` of a budget does not count"),
            self.useless(&["model"], "`model` is not set"),
            self.useless(&["thinking"], "`thinking` is not set"),
            self.useless(&["activeTools"], "`activeTools` hides nothing"),
            is_watched
                .then(|| self.useless(&["triggers"], "`triggers` do nothing"))
                .flatten(),
        ];
        found.into_iter().flatten().collect()
    }

    fn reminders(&self, rule: &ContinueRule) -> Option<Diagnostic> {
        let key = ["continue", "max"];
        let (max, _) = (rule.max?, self.level.keys.of(&key)?);
        let ends_before = |host: &HookHost| match (host.most_reminders, max) {
            (Some(most), Bound::Times(times)) => times > most,
            (Some(_), Bound::Unlimited) => true,
            (None, _) => false,
        };
        let hosts = self.hosts.iter().filter(|host| ends_before(host));
        let names: Vec<String> = hosts
            .map(|host| format!("{} in {}", host.most_reminders.unwrap_or(0), host.title))
            .collect();
        if names.is_empty() {
            return None;
        }
        let message = format!(
            "the run pauses after fewer reminders than `max` says: {}",
            names.join(", ")
        );
        Some(self.found(&key, message))
    }

    /// Something that none of the hosts does.
    fn useless(&self, key: &[&str], what: &str) -> Option<Diagnostic> {
        // Settings apply where they are: the other file may have the value.
        self.level.keys.of(key)?;
        let names: Vec<&str> = self.hosts.iter().map(|host| host.title).collect();
        Some(self.found(key, format!("{what} in {}", names.join(", "))))
    }

    fn found(&self, key: &[&str], message: String) -> Diagnostic {
        let found = Diagnostic::new(Code::HostLimit, Severity::Info, message);
        self.level.about(found.at(self.level.keys.of(key).cloned()))
    }
}
