//! The page of figures: what `stats` tells, with bars.

use std::collections::BTreeMap;

use askama::Template;
use workflow_core::diagnostic::visible;

use super::{Board, Failure, Shown};
use crate::figures::{Durations, Figures, WorkflowFigures};
use crate::show::duration;
use crate::store::DAY;
use crate::time::wall_time;

#[derive(Template)]
#[template(path = "board/figures.html")]
struct Page<'f> {
    figures: &'f Figures,
}

struct Table {
    title: &'static str,
    head: Vec<&'static str>,
    /// Each has a name, a number for its bar, and its other cells.
    rows: Vec<(String, u64, Vec<String>)>,
}

impl Table {
    fn new<T>(
        title: &'static str,
        head: &'static str,
        of: &BTreeMap<String, T>,
        row: impl Fn(&T) -> (u64, Vec<String>),
    ) -> Self {
        let rows = of.iter().map(|(name, it)| {
            let (number, cells) = row(it);
            (visible(name), number, cells)
        });
        Self {
            title,
            head: head.split('|').collect(),
            rows: rows.collect(),
        }
    }

    /// The length of a bar, in percent of the longest one.
    fn share(&self, row: &(String, u64, Vec<String>)) -> u64 {
        let most = self.rows.iter().map(|(_, number, _)| *number).max();
        row.1.saturating_mul(100) / most.unwrap_or_default().max(1)
    }
}

pub(super) fn show(board: &Board) -> Result<Shown, Failure> {
    let now = wall_time();
    let days = (now.saturating_sub(89 * DAY), now);
    let figures = &Figures::read(board.requests.store(), days, None)?;
    Shown::new("Figures", &Page { figures })
}

fn tables(of: &WorkflowFigures) -> Vec<Table> {
    let time = |millis: u64| duration(i64::try_from(millis).unwrap_or(i64::MAX));
    let times = |it: &Durations| {
        let cells = [it.number.to_string(), time(it.median_ms), time(it.p90_ms)];
        (it.total_ms, cells.to_vec())
    };
    let numbers = |all: &[u64]| (all[0], all.iter().map(u64::to_string).collect());
    let weeks = of.weeks.iter();
    let weeks = weeks.map(|(begins, runs)| (begins.formatted("%Y-%m-%d"), *runs));
    let head = "Week from|Started|Complete|Cancelled|Ended";
    let weeks = Table::new("Runs", head, &weeks.collect(), |it| {
        numbers(&[it.started, it.complete, it.cancelled, it.ended])
    });
    let head = "Check|Failed|Passed|Not run";
    let checks = Table::new("Checks", head, &of.checks, |it| {
        numbers(&[it.failed, it.passed, it.unrun])
    });
    let head = "Rule|Asked|Allowed|Declined|Denied";
    let rules = Table::new("Rules", head, &of.rules, |it| {
        numbers(&[it.asked, it.allowed, it.declined, it.denied])
    });
    let head = "Phase|Visits|Median|90 %";
    let phases = Table::new("Time in phases", head, &of.phases, times);
    let waits = Table::new("Waiting", "For|Times|Median|90 %", &of.waits, times);
    let one = |number: &u64| numbers(&[*number]);
    let reminders = Table::new("Reminders", "Phase|Times", &of.reminders, one);
    let overrides = Table::new("Passed over by people", "What|Times", &of.overrides, one);
    let all = [weeks, phases, waits, checks, rules, reminders, overrides];
    all.into_iter().filter(|it| !it.rows.is_empty()).collect()
}
