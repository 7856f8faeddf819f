//! Parts of a workflow that a host does not enforce, for `explain --host`.

use serde::Serialize;
use workflow_core::definition::Bound;
use workflow_core::explain::{Row, Topic, Value};

use crate::check::{HOOKS_CANNOT, ends_before};
use crate::hook_hosts::HookHost;
use crate::present::{Page, TITLE};

/// Parts that a host does not enforce.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HostLimits {
    name: &'static str,
    #[serde(skip)]
    title: &'static str,
    /// The version that was driven for real; null if it was not run.
    tested: &'static str,
    /// What the hooks do not enforce.
    not_enforced: &'static [&'static str],
    /// Statements of the workflow that the host carries out in another way or not at all.
    different: Vec<String>,
}

impl HostLimits {
    /// The values that a host does not enforce.
    pub(super) fn of(host: &HookHost, rows: &[Row]) -> Self {
        let applies = |key, part| {
            let mut rows = rows.iter().filter(|row| row.key == key);
            rows.any(|row| row.value.to_string().contains(part))
        };
        let cannot = HOOKS_CANNOT.iter();
        let cannot = cannot.filter(|(_, (key, part), _)| applies(*key, part));
        let mut different: Vec<String> = cannot.map(|(.., what)| (*what).to_owned()).collect();
        let is_max = |row: &&Row| (row.topic, row.key) == (Topic::Continue, "max");
        let exceeded = rows.iter().filter(is_max).find_map(|row| {
            let max = match row.value {
                Value::Count(max) => Bound::Times(u32::try_from(max).unwrap_or(u32::MAX)),
                _ => Bound::Unlimited,
            };
            ends_before(host, max)
        });
        different.extend(exceeded.map(|most| {
            format!("the run pauses after {most} reminders since the last prompt, before the host ends the work itself")
        }));
        Self {
            name: host.name,
            title: host.title,
            tested: host.tested,
            not_enforced: host.not_enforced,
            different,
        }
    }

    pub(super) fn text(&self, page: &mut Page) {
        let (title, tested) = (self.title, self.tested);
        page.line(format_args!(
            "\n{TITLE}In {title}{TITLE:#} (tested with {tested})"
        ));
        for sentence in self.not_enforced {
            page.line(format_args!("  not enforced: {sentence}"));
        }
        for text in &self.different {
            page.line(format_args!("  {text}"));
        }
    }
}
