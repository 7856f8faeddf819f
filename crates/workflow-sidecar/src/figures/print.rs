//! Figures as text.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use workflow_core::diagnostic::visible;

use super::{Durations, Figures, WorkflowFigures};
use crate::present::{DIMMED, NOTABLE, Page, TITLE, count, paint};
use crate::show::duration;

/// The runs that began in a week, from none to the most.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Adds the figures of all workflows.
pub(crate) fn add_to(page: &mut Page, figures: &Figures) {
    let Some(since) = figures.since else {
        page.line(
            "There are no figures. They are counted from now on, when runs begin, move and end.",
        );
        return;
    };
    let since = since.formatted("%Y-%m-%d");
    page.line(format!("Since {since}. Median and 90 % are within 10 %."));
    for (name, figures) in &figures.workflows {
        page.line("");
        let name = match &**name {
            "" => "without a run".to_owned(),
            name => visible(name),
        };
        page.line(paint(TITLE, name));
        add_workflow(page, figures);
    }
}

fn add_workflow(page: &mut Page, figures: &WorkflowFigures) {
    let runs = &figures.runs;
    let ended = [
        (runs.complete, "complete"),
        (runs.cancelled, "cancelled"),
        (runs.ended, "ended by another run"),
    ];
    let ended = ended.iter().filter(|(number, _)| *number > 0);
    let ended = ended.map(|(number, how)| format!(", {number} {how}"));
    let ended: String = ended.collect();
    if runs.started > 0 || !ended.is_empty() {
        page.line(format!(
            "{} started{ended}{}",
            count_of(runs.started, "run"),
            by_week(figures)
        ));
    }
    add_times(page, "VISITS", "PHASE", &figures.phases);
    add_times(page, "TIMES", "WAITED", &figures.waits);
    let checks = sorted(&figures.checks, |check| check.failed);
    let checks = checks.map(|(name, check)| {
        let numbers = [check.failed, check.passed, check.unrun].map(|number| number.to_string());
        let [failed, passed, unrun] = numbers;
        [failed, passed, unrun, visible(name)]
    });
    add_table(page, ["FAILED", "PASSED", "NOT RUN", "CHECK"], checks);
    let rules = sorted(&figures.rules, |rule| rule.denied + rule.asked);
    let rules = rules.map(|(name, rule)| {
        let numbers = [rule.denied, rule.asked, rule.allowed, rule.declined];
        let [denied, asked, allowed, declined] = numbers.map(|number| number.to_string());
        [denied, asked, allowed, declined, visible(name)]
    });
    add_table(
        page,
        ["DENIED", "ASKED", "ALLOWED", "DECLINED", "RULE"],
        rules,
    );
    for (name, rule) in figures.rules.iter().filter(|(_, rule)| rule.always_allowed) {
        let asked = count_of(rule.asked, "time");
        let text = format!("always allowed when it asked, {asked}: {}", visible(name));
        page.line(paint(NOTABLE, text));
    }
    for (what, numbers) in [
        ("reminders", &figures.reminders),
        ("passed over", &figures.overrides),
    ] {
        for (name, number) in numbers {
            page.line(format!("{what}: {number} · {}", visible(name)));
        }
    }
    let spent = &figures.spent;
    if spent.turns > 0 {
        let usd = format!(
            "{}.{:02}",
            spent.micro_usd / 1_000_000,
            spent.micro_usd / 10_000 % 100
        );
        let turns = count_of(spent.turns, "turn");
        page.line(format!(
            "{turns}, {} tokens, {usd} USD, as the host reports",
            spent.tokens
        ));
    }
}

fn add_times(page: &mut Page, number: &str, name: &str, times: &BTreeMap<String, Durations>) {
    let time = |millis: u64| duration(i64::try_from(millis).unwrap_or(i64::MAX));
    let times = sorted(times, |times| times.total_ms);
    let times = times.map(|(name, times)| {
        let [median, p90] = [times.median_ms, times.p90_ms].map(time);
        [times.number.to_string(), median, p90, visible(name)]
    });
    add_table(page, [number, "MEDIAN", "90 %", name], times);
}

/// Adds a table, unless it is empty.
fn add_table<const N: usize>(
    page: &mut Page,
    head: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) {
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        page.table(head, &rows);
    }
}

/// The entries with the greatest numbers first.
fn sorted<T>(
    of: &BTreeMap<String, T>,
    number: impl Fn(&T) -> u64,
) -> impl Iterator<Item = (&String, &T)> {
    let mut all: Vec<_> = of.iter().collect();
    all.sort_by_key(|(_, it)| Reverse(number(it)));
    all.into_iter()
}

fn count_of(number: u64, noun: &str) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), noun)
}

/// The runs that began in each week, as a line of bars; nothing for one week.
fn by_week(figures: &WorkflowFigures) -> String {
    let most = figures.weeks.iter().map(|week| week.runs.started).max();
    let most = most.unwrap_or_default().max(1);
    let bars = figures.weeks.iter().map(|week| {
        let height = (week.runs.started * 7).div_ceil(most);
        BARS[usize::try_from(height).unwrap_or_default().min(7)]
    });
    let bars: String = bars.collect();
    if figures.weeks.len() < 2 {
        return String::new();
    }
    format!("  {bars} {}", paint(DIMMED, "by week"))
}
