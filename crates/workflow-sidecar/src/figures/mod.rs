//! Figures of runs over time: how they end, times of phases, checks, rules, waiting for people.
//!
//! ```text
//! ledger (counts what happens, for the next change that is stored)    mod (what was counted) ── print
//!     └────────────── buckets (durations) ────────────────────────────┘
//! ```
//!
//! Counts are added up by day in the store, so that they are read at once however many runs there are.

mod buckets;
pub(crate) mod kind;
pub(crate) mod ledger;
mod print;

use std::collections::BTreeMap;

use serde::Serialize;
use workflow_core::types::Millis;
use workflow_core::without_secrets;

use self::buckets::percentile;
pub(crate) use self::print::add_to;
use crate::present::Moment;
use crate::store::{Figure, Store, StoreError};

/// A day, in milliseconds.
pub(crate) const DAY: u64 = 24 * 60 * 60 * 1000;
/// The questions after which a rule is named whose calls were always allowed.
const MANY: u64 = 5;

/// The figures of a store.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Figures {
    /// The day of the first one; `None` if there are none.
    pub(crate) since: Option<Moment>,
    /// Those of each workflow. What happens without a run has no name.
    pub(crate) workflows: BTreeMap<String, WorkflowFigures>,
}

/// The figures of a workflow. Phases, checks and rules are by their names.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkflowFigures {
    pub(crate) runs: RunFigures,
    /// The runs of the weeks that had any, by the first day of the week: a Thursday, as the first one of 1970 was.
    pub(crate) weeks: BTreeMap<Moment, RunFigures>,
    /// The visits that have ended.
    pub(crate) phases: BTreeMap<String, Durations>,
    /// The times when a run did not go on, by what it waited for.
    pub(crate) waits: BTreeMap<String, Durations>,
    pub(crate) checks: BTreeMap<String, CheckFigures>,
    pub(crate) rules: BTreeMap<String, RuleFigures>,
    /// Reminders by phase.
    pub(crate) reminders: BTreeMap<String, u64>,
    /// Gates and approvals that people passed over.
    pub(crate) overrides: BTreeMap<String, u64>,
    /// What the host reports of the model's responses.
    pub(crate) spent: Spent,
}

/// How runs began and ended.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct RunFigures {
    pub(crate) started: u64,
    pub(crate) complete: u64,
    pub(crate) cancelled: u64,
    /// By the start of another run.
    pub(crate) ended: u64,
}

/// Times. Median and 90 % are within 10 %.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Durations {
    pub(crate) number: u64,
    pub(crate) total_ms: Millis,
    pub(crate) median_ms: Millis,
    pub(crate) p90_ms: Millis,
    #[serde(skip)]
    buckets: BTreeMap<u32, u64>,
}

/// The results of a check.
#[derive(Debug, Default, Serialize)]
pub(crate) struct CheckFigures {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    /// It could not be run to its end.
    pub(crate) unrun: u64,
}

/// What became of the calls that a rule stopped.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RuleFigures {
    /// Without asking anybody.
    pub(crate) denied: u64,
    pub(crate) asked: u64,
    pub(crate) allowed: u64,
    pub(crate) declined: u64,
    /// True if it only ever asked, often, and the call was allowed each time.
    pub(crate) always_allowed: bool,
}

/// Responses of the model, and what they took.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Spent {
    pub(crate) turns: u64,
    pub(crate) tokens: u64,
    pub(crate) micro_usd: u64,
}

impl Figures {
    /// Reads the figures since a time.
    pub(crate) fn read(store: &Store, since: Millis) -> Result<Self, StoreError> {
        let found = store.figures(since, kind::RUN)?;
        let first = found.iter().map(|figure| figure.day).min();
        let mut figures = Self {
            since: first.map(|day| Moment::from(day * DAY)),
            workflows: BTreeMap::new(),
        };
        for figure in found {
            let workflow = figures.workflows.entry(figure.workflow.clone());
            workflow.or_default().add(&figure);
        }
        for workflow in figures.workflows.values_mut() {
            workflow.finish();
        }
        Ok(figures)
    }
}

impl WorkflowFigures {
    fn add(&mut self, figure: &Figure) {
        let Figure { number, total, .. } = *figure;
        let name = without_secrets(&figure.name);
        if figure.kind == kind::RUN {
            self.runs.add(&name, number);
            let week = Moment::from(figure.day / 7 * 7 * DAY);
            self.weeks.entry(week).or_default().add(&name, number);
        } else if let Some(count) = self.count_of(&figure.kind, &name) {
            *count += number;
        } else if let Some((bucket, name)) = name.split_once(':') {
            let times = match &*figure.kind {
                kind::PHASE => &mut self.phases,
                kind::WAITED => &mut self.waits,
                // Of a later version.
                _ => return,
            };
            let times = times.entry(name.to_owned()).or_default();
            times.number += number;
            times.total_ms += total;
            let bucket = bucket.parse().unwrap_or_default();
            *times.buckets.entry(bucket).or_default() += number;
        }
    }

    /// What is only a number.
    fn count_of(&mut self, kind: &str, name: &str) -> Option<&mut u64> {
        let name = name.to_owned();
        Some(match kind {
            kind::PASSED => &mut self.checks.entry(name).or_default().passed,
            kind::FAILED => &mut self.checks.entry(name).or_default().failed,
            kind::UNRUN => &mut self.checks.entry(name).or_default().unrun,
            kind::DENIED => &mut self.rules.entry(name).or_default().denied,
            kind::ASKED => &mut self.rules.entry(name).or_default().asked,
            kind::ALLOWED => &mut self.rules.entry(name).or_default().allowed,
            kind::DECLINED => &mut self.rules.entry(name).or_default().declined,
            kind::REMINDED => self.reminders.entry(name).or_default(),
            kind::OVERRODE => self.overrides.entry(name).or_default(),
            kind::TURNS => &mut self.spent.turns,
            kind::TOKENS => &mut self.spent.tokens,
            kind::MICRO_USD => &mut self.spent.micro_usd,
            _ => return None,
        })
    }

    /// Computes what follows from all of them.
    fn finish(&mut self) {
        for times in self.phases.values_mut().chain(self.waits.values_mut()) {
            times.median_ms = percentile(&times.buckets, 50);
            times.p90_ms = percentile(&times.buckets, 90);
        }
        for rule in self.rules.values_mut() {
            let was_refused = rule.denied > 0 || rule.declined > 0;
            rule.always_allowed = rule.asked >= MANY && rule.allowed >= rule.asked && !was_refused;
        }
    }
}

impl RunFigures {
    fn add(&mut self, name: &str, number: u64) {
        match name {
            kind::STARTED => self.started += number,
            "complete" => self.complete += number,
            "cancelled" => self.cancelled += number,
            _ => self.ended += number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::present::Page;
    use crate::store::{Counts, of_agent_dir};
    use crate::store::{Run, RunNote};

    /// The figures of what is counted, as they come from a store.
    fn figures_of(count: impl FnOnce(&mut Counts)) -> Figures {
        let directory = tempfile::tempdir().unwrap();
        let store = of_agent_dir(directory.path()).unwrap();
        let mut counts = Counts::default();
        count(&mut counts);
        let run = Run {
            task_id: "wf-1".to_owned(),
            workflow: "w".to_owned(),
            phase: String::new(),
            task: String::new(),
            status: String::new(),
            state: "active".to_owned(),
            waiting: String::new(),
            is_active: true,
        };
        let note = RunNote {
            host: "pi".to_owned(),
            run,
            cwd: directory.path().to_path_buf(),
            file: None,
            counts,
            now: 20_000 * DAY,
        };
        store.note_run(&note).unwrap();
        Figures::read(&store, 20_000 * DAY).unwrap()
    }

    #[test]
    fn a_rule_that_was_always_allowed_is_named() {
        let figures = figures_of(|counts| {
            let mut add = |kind, name, number| counts.add(["w", kind, name], number, 0);
            for name in ["always", "mostly", "seldom", "host"] {
                add(kind::ASKED, name, 5);
            }
            add(kind::ALLOWED, "always", 5);
            add(kind::ALLOWED, "mostly", 5);
            add(kind::DENIED, "mostly", 1);
            add(kind::ALLOWED, "seldom", 4);
            add(kind::DECLINED, "seldom", 1);
            add(kind::ASKED, "rarely", 4);
            add(kind::ALLOWED, "rarely", 4);
        });
        let rules = figures.workflows["w"].rules.iter();
        let always = rules.filter(|(_, rule)| rule.always_allowed);
        let always: Vec<&str> = always.map(|(name, _)| &**name).collect();
        assert_eq!(always, ["always"]);
        let mut page = Page::default();
        add_to(&mut page, &figures);
        let text = page.plain();
        let named = "asked 5, allowed 5, declined 0: always allowed  always\n";
        assert!(text.contains(named), "{text}");
    }

    #[test]
    fn times_have_a_median_and_names_no_secret() {
        let figures = figures_of(|counts| {
            for seconds in 1..=10 {
                ledger::lasted("w", kind::PHASE, "plan", seconds * 1000, counts);
            }
            ledger::lasted("w", kind::WAITED, "for: you", 1000, counts);
            let check = "deploy ghp_0123456789012345678901234567890123456";
            counts.add(["w", kind::FAILED, check], 1, 10);
        });
        let figures = &figures.workflows["w"];
        let plan = &figures.phases["plan"];
        assert_eq!((plan.number, plan.total_ms), (10, 55_000));
        assert!((4500..=5500).contains(&plan.median_ms), "{plan:?}");
        assert!((8100..=9900).contains(&plan.p90_ms), "{plan:?}");
        assert_eq!(figures.waits["for: you"].number, 1);
        assert!(!figures.checks.keys().any(|name| name.contains("ghp_")));
    }
}
