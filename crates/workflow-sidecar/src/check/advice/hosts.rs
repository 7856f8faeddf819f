//! Parts of a definition that a host that starts hooks cannot carry out.

use workflow_core::definition::{
    Bound, Checkpoint, ContinueRule, KeyLocations, Loaded, Origins, PhaseEntry,
};
use workflow_core::diagnostic::{Code, Diagnostic, Severity};

use crate::hook_hosts::HookHost;

/// Returns what these hosts cannot do of everything that was loaded.
pub(super) fn limits(
    hosts: &[&'static HookHost],
    loaded: &Loaded,
    origins: &Origins<'_>,
) -> Vec<Diagnostic> {
    if hosts.is_empty() {
        return Vec::new();
    }
    let settings = &loaded.settings;
    let mut found = Vec::new();
    for file in origins.settings() {
        let level = CheckedLevel {
            hosts,
            keys: &file.keys,
        };
        found.extend(level.all(settings.checkpoint, &settings.auto_continue));
        let mut triggers = settings.triggers.iter();
        if triggers.any(|trigger| trigger.tier == file.tier) {
            found.extend(level.useless(&["triggers"], "`triggers` do nothing"));
        }
    }
    for workflow in loaded.catalog.iter() {
        let Some(origin) = origins.workflow(&workflow.key) else {
            continue;
        };
        let mut of_workflow = Vec::new();
        let level = CheckedLevel {
            hosts,
            keys: &origin.keys,
        };
        of_workflow.extend(level.all(workflow.checkpoint, &workflow.auto_continue));
        for (entry, origin) in workflow.phases.iter().zip(&origin.entries) {
            let PhaseEntry::Phase(phase) = entry else {
                continue;
            };
            let level = CheckedLevel {
                hosts,
                keys: &origin.keys,
            };
            of_workflow.extend(level.all(phase.checkpoint, &phase.auto_continue));
        }
        found.extend(
            of_workflow
                .into_iter()
                .map(|found| found.about(&workflow.key)),
        );
    }
    found
}

/// A level of a definition, with the locations of its keys.
struct CheckedLevel<'a> {
    hosts: &'a [&'static HookHost],
    keys: &'a KeyLocations,
}

impl CheckedLevel<'_> {
    fn all(
        &self,
        checkpoint: Option<Checkpoint>,
        auto_continue: &ContinueRule,
    ) -> impl Iterator<Item = Diagnostic> {
        let found = [
            self.checkpoint(checkpoint),
            self.reminders(auto_continue),
            self.useless(&["budget", "tokens"], "`tokens` of a budget do not count"),
            self.useless(&["budget", "usd"], "`usd` of a budget does not count"),
            self.useless(&["model"], "`model` is not set"),
            self.useless(&["thinking"], "`thinking` is not set"),
            self.useless(&["activeTools"], "`activeTools` hides nothing"),
        ];
        found.into_iter().flatten()
    }

    fn checkpoint(&self, checkpoint: Option<Checkpoint>) -> Option<Diagnostic> {
        (checkpoint == Some(Checkpoint::Git))
            .then(|| self.useless(&["checkpoint"], "`checkpoint: git` does nothing"))
            .flatten()
    }

    fn reminders(&self, rule: &ContinueRule) -> Option<Diagnostic> {
        let key = ["continue", "max"];
        let (max, _) = (rule.max?, self.keys.of(&key)?);
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
        Some(self.found(Severity::Info, &key, message))
    }

    /// Something that none of the hosts does.
    fn useless(&self, key: &[&str], what: &str) -> Option<Diagnostic> {
        // Settings apply where they are: the other file may have the value.
        self.keys.of(key)?;
        let names = self.named(|_| true)?;
        Some(self.found(Severity::Info, key, format!("{what} in {names}")))
    }

    fn named(&self, is_selected: impl Fn(&HookHost) -> bool) -> Option<String> {
        let hosts = self.hosts.iter().filter(|host| is_selected(host));
        let names: Vec<&str> = hosts.map(|host| host.title).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    fn found(&self, severity: Severity, key: &[&str], message: String) -> Diagnostic {
        let found = Diagnostic::new(Code::HostLimit, severity, message);
        match self.keys.of(key) {
            Some(location) => found.at(location.clone()),
            None => found,
        }
    }
}
