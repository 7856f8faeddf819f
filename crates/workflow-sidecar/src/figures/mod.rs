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

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use workflow_core::types::Millis;

use self::buckets::percentile;
pub(crate) use self::print::add_to;
use crate::present::Moment;
use crate::store::{DAY, Figure, Store, StoreError};

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
    /// The runs of each week, by its first day: a Monday (UTC).
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
    /// Reads the figures between two times, of all workflows or of one, which must have some if there are any.
    pub(crate) fn read(
        store: &Store,
        (since, until): (Millis, Millis),
        workflow: Option<&str>,
    ) -> Result<Self, StoreError> {
        let mut found = store.figures(since, until, kind::RUN)?;
        if let Some(name) = workflow {
            let known: BTreeSet<_> = found.iter().map(|it| it.workflow.clone()).collect();
            found.retain(|figure| figure.workflow == name);
            if found.is_empty() && !known.is_empty() {
                let known = Vec::from_iter(known).join("`, `");
                let reason = format!("There are no figures of `{name}`, but of `{known}`");
                return Err(StoreError::new(reason));
            }
        }
        let today = until / DAY;
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
            if !workflow.weeks.is_empty() {
                let days = (first.unwrap_or(today)..=today).step_by(7);
                for day in days.chain([today]) {
                    workflow.weeks.entry(week(day)).or_default();
                }
            }
            workflow.finish();
        }
        Ok(figures)
    }
}

impl WorkflowFigures {
    fn add(&mut self, figure: &Figure) {
        let Figure { number, total, .. } = *figure;
        let name = &*figure.name;
        if figure.kind == kind::RUN {
            self.runs.add(name, number);
            let of_week = self.weeks.entry(week(figure.day)).or_default();
            of_week.add(name, number);
        } else if let Some(count) = self.count_of(&figure.kind, name) {
            add(count, number);
        } else if let Some((bucket, name)) = name.split_once(':') {
            let times = match &*figure.kind {
                kind::PHASE => &mut self.phases,
                kind::WAITED => &mut self.waits,
                // Of a later version.
                _ => return,
            };
            let times = times.entry(name.to_owned()).or_default();
            add(&mut times.number, number);
            add(&mut times.total_ms, total);
            let bucket = bucket.parse().unwrap_or_default();
            add(times.buckets.entry(bucket).or_default(), number);
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
        let sum = match name {
            kind::STARTED => &mut self.started,
            "complete" => &mut self.complete,
            "cancelled" => &mut self.cancelled,
            _ => &mut self.ended,
        };
        add(sum, number);
    }
}

/// The Monday of a day. The first day of 1970 was the third one after a Monday.
fn week(day: u64) -> Moment {
    Moment::from(((day + 3) / 7 * 7).saturating_sub(3) * DAY)
}

/// Adds a number, which may be any: each login of a server writes its own.
fn add(sum: &mut u64, number: u64) {
    *sum = sum.saturating_add(number);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::present::Page;
    use crate::store::{Counts, RunNote, of_agent_dir};

    /// The figures of what is counted, as they come from a store.
    fn figures_of(count: impl FnOnce(&mut Counts)) -> Figures {
        let directory = tempfile::tempdir().unwrap();
        let store = of_agent_dir(directory.path()).unwrap();
        let mut counts = Counts::default();
        count(&mut counts);
        let note = RunNote {
            host: "pi".to_owned(),
            run: None,
            memory: String::new(),
            cwd: directory.path().to_path_buf(),
            file: None,
            counts,
            now: 20_000 * DAY,
        };
        store.note_run(&note).unwrap();
        let days = (20_000 * DAY, 20_010 * DAY);
        let other = Figures::read(&store, days, Some("other")).unwrap_err();
        let said = "There are no figures of `other`, but of `w`";
        assert_eq!(other.to_string(), said);
        Figures::read(&store, days, Some("w")).unwrap()
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
            let secret = "deploy ghp_0123456789012345678901234567890123456";
            ledger::lasted("w", kind::PHASE, secret, 10, counts);
        });
        let figures = &figures.workflows["w"];
        let plan = &figures.phases["plan"];
        assert_eq!((plan.number, plan.total_ms), (10, 55_000));
        assert!((4500..=5500).contains(&plan.median_ms), "{plan:?}");
        assert!((8100..=9900).contains(&plan.p90_ms), "{plan:?}");
        assert_eq!(figures.waits["for: you"].number, 1);
        assert!(!figures.phases.keys().any(|name| name.contains("ghp_")));
    }

    #[test]
    fn weeks_begin_on_monday_and_go_on_to_the_present_one() {
        let figures = figures_of(|counts| counts.add(["w", kind::RUN, kind::STARTED], 2, 0));
        let weeks = figures.workflows["w"].weeks.iter();
        let weeks = weeks.map(|(begin, runs)| (begin.formatted("%a %F"), runs.started));
        let weeks: Vec<_> = weeks.collect();
        // Day 20,000 is 2024-10-04.
        let expected = [
            ("Mon 2024-09-30", 2),
            ("Mon 2024-10-07", 0),
            ("Mon 2024-10-14", 0),
        ];
        assert_eq!(weeks, expected.map(|(day, runs)| (day.to_owned(), runs)));
    }
}
