//! Parts of a workflow that a host does not enforce, for `explain --host`.

use serde::Serialize;
use workflow_core::definition::Bound;
use workflow_core::explain::{Row, Topic, Value};

use crate::check::advice::{cannot, ends_before, title};
use crate::measured::{Capability, Enforcement, Measured, running_version};
use crate::present::{Page, TITLE};

/// Parts that a host does not enforce.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HostLimits {
    name: String,
    #[serde(skip)]
    title: &'static str,
    /// The version on the PATH.
    version: Option<String>,
    /// The measured version that it is compared with.
    tested: &'static str,
    /// The version in words.
    #[serde(skip)]
    standing: String,
    /// False if the measured versions say nothing about the one on the PATH.
    is_verified: bool,
    /// What was seen to hold in part, not at all, or under a condition.
    not_enforced: Vec<&'static Capability>,
    /// What was not run.
    not_run: Vec<&'static str>,
    /// Statements of the workflow that the host carries out in another way or not at all.
    different: Vec<String>,
}

impl HostLimits {
    /// The values that a host does not enforce.
    pub(super) fn of(name: &str, rows: &[Row]) -> Self {
        let applies = |key, part| {
            let mut rows = rows.iter().filter(|row| row.key == key);
            rows.any(|row| row.value.to_string().contains(part))
        };
        let cannot = cannot(name).filter(|(_, (key, part), _)| applies(*key, part));
        let mut different: Vec<String> = cannot.map(|(.., what)| (*what).to_owned()).collect();
        let is_max = |row: &&Row| (row.topic, row.key) == (Topic::Continue, "max");
        let exceeded = rows.iter().filter(is_max).find_map(|row| {
            let max = match row.value {
                Value::Count(max) => Bound::Times(u32::try_from(max).unwrap_or(u32::MAX)),
                _ => Bound::Unlimited,
            };
            ends_before(name, max)
        });
        different.extend(exceeded.map(|most| {
            format!("the run pauses after {most} reminders since the last prompt, before the host ends the work itself")
        }));
        if name == "codex" {
            different.push("`codex exec` has the model repeat the answers to commands".to_owned());
        }
        let version = running_version(name);
        let measured = Measured::of(name, version.as_deref());
        let (standing, is_verified) = match &version {
            Some(version) => Measured::standing(name, version),
            None => (format!("tested with {}", measured.version), true),
        };
        let all = || measured.capabilities.iter();
        let not_run = all().filter(|of| of.value == Enforcement::NotRun);
        Self {
            name: name.to_owned(),
            title: title(name),
            tested: &measured.version,
            standing,
            is_verified,
            not_enforced: all().filter(|of| of.note.is_some()).collect(),
            not_run: not_run.map(|of| &*of.name).collect(),
            version,
            different,
        }
    }

    pub(super) fn text(&self, page: &mut Page) {
        let (title, standing) = (self.title, &self.standing);
        page.line(format_args!("\n{TITLE}In {title}{TITLE:#} ({standing})"));
        for of in &self.not_enforced {
            page.line(format_args!("  {}: {}", of.value.word(), of.text()));
        }
        if !self.not_run.is_empty() {
            page.line(format_args!("  not run: {}", self.not_run.join(", ")));
        }
        for text in &self.different {
            page.line(format_args!("  {text}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook_hosts::HOSTS;
    use crate::install::opencode;

    #[test]
    fn what_was_measured_is_listed_with_what_was_seen() {
        let names = HOSTS.iter().map(|host| host.name);
        for name in names.chain([opencode::NAME]) {
            let limits = HostLimits::of(name, &[]);
            for of in &Measured::of(name, limits.version.as_deref()).capabilities {
                let is_listed = limits
                    .not_enforced
                    .iter()
                    .any(|listed| listed.name == of.name);
                assert_eq!(is_listed, of.note.is_some(), "{}: {}", name, of.name);
                let is_not_run = limits.not_run.contains(&&*of.name);
                assert_eq!(
                    is_not_run,
                    of.value == Enforcement::NotRun,
                    "{}: {}",
                    name,
                    of.name
                );
            }
        }
    }
}
