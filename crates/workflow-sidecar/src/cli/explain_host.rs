//! Parts of a workflow that a host does not enforce, for `explain --host`.

use serde::Serialize;
use workflow_core::explain::{Row, Topic, Value};
use workflow_core::run::Unit;

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
    tested: Option<&'static str>,
    /// What the hooks do not enforce.
    not_enforced: Vec<&'static str>,
    /// Statements of the workflow that the host carries out in another way or not at all.
    different: Vec<String>,
}

/// Returns true if the description of a budget has a limit in one of these units.
fn limits(budget: &Value, units: &[Unit]) -> bool {
    let Value::Label(budget) = budget else {
        return false;
    };
    units.iter().any(|unit| budget.contains(&unit.to_string()))
}

impl HostLimits {
    /// The values that a host does not enforce.
    pub(super) fn of(host: &HookHost, rows: &[Row]) -> Self {
        let has = |key: &str| rows.iter().any(|row| row.key == key);
        let has_value = |key: &str, is_it: fn(&Value) -> bool| {
            let mut alike = rows.iter().filter(|row| row.key == key);
            alike.any(|row| is_it(&row.value))
        };
        let is_git = |value: &Value| matches!(value, Value::Label(label) if label == "git");
        let mut different = Vec::new();
        let mut note = |is_used: bool, text: &str| {
            if is_used {
                different.push(text.to_owned());
            }
        };
        note(
            has("ask"),
            "ask: the call is blocked, because a hook cannot ask",
        );
        note(
            has_value("budget", |value| {
                limits(value, &[Unit::Tokens, Unit::UsCents])
            }),
            "budget: `tokens` and `usd` do not count, because no hook reports them",
        );
        note(
            has_value("budget", |value| limits(value, &[Unit::Turns])),
            "budget: a turn is the agent's work from a prompt or a reminder until it stops",
        );
        let hints = ["model", "thinking", "activeTools"];
        let hints: Vec<&str> = hints.into_iter().filter(|key| has(key)).collect();
        note(
            !hints.is_empty(),
            &format!("{}: not set, because a hook cannot", hints.join(", ")),
        );
        note(has_value("checkpoint", is_git), "checkpoint: none is taken");
        note(has("trigger"), "triggers: none is watched");
        if let Some(most) = host.most_reminders {
            let exceeds = rows
                .iter()
                .any(|row| match (row.topic, row.key, &row.value) {
                    (Topic::Continue, "max", Value::Count(max)) => *max > u64::from(most),
                    (Topic::Continue, "max", _) => true,
                    _ => false,
                });
            if exceeds {
                different.push(format!(
                    "reminders: the run pauses after {most} since the last prompt, before the host ends the work itself"
                ));
            }
        }
        Self {
            name: host.name,
            title: host.title,
            tested: host.tested,
            not_enforced: host.not_enforced.to_vec(),
            different,
        }
    }

    pub(super) fn text(&self, page: &mut Page) {
        let tested = match self.tested {
            Some(version) => format!("tested with {version}"),
            None => "written from its documentation, not run".to_owned(),
        };
        page.line(format_args!(
            "\n{TITLE}In {}{TITLE:#} ({tested})",
            self.title
        ));
        for sentence in &self.not_enforced {
            page.line(format_args!("  not enforced: {sentence}"));
        }
        for text in &self.different {
            page.line(format_args!("  {text}"));
        }
    }
}
