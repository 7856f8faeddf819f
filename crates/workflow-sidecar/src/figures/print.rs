//! Figures as text.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use workflow_core::diagnostic::visible;

use super::{Durations, Figures, WorkflowFigures};
use crate::present::{DIMMED, Page, TITLE, paint};
use crate::show::duration;

/// Adds the figures of all workflows.
pub(crate) fn add_to(page: &mut Page, figures: &Figures) {
    let Some(since) = figures.since else {
        return page
            .line("There are no figures yet. They are counted when runs begin, move and end.");
    };
    let since = since.formatted("%Y-%m-%d");
    page.line(format!("Since {since}. Median and 90 % are within 10 %."));
    for (name, figures) in &figures.workflows {
        let name = Some(&**name).filter(|name| !name.is_empty());
        let name = visible(name.unwrap_or("without a run"));
        page.line(format!("\n{}", paint(TITLE, name)));
        figures.add_to(page);
    }
}

impl WorkflowFigures {
    fn add_to(&self, page: &mut Page) {
        let runs = &self.runs;
        if !self.weeks.is_empty() {
            page.line(format!(
                "{} started, {} complete, {} cancelled, {} ended by another run",
                runs.started, runs.complete, runs.cancelled, runs.ended
            ));
        }
        let lasted = |it: &Durations| {
            let time = |millis: u64| duration(i64::try_from(millis).unwrap_or(i64::MAX));
            let (number, median, p90) = (it.number, time(it.median_ms), time(it.p90_ms));
            let words = format!("{number}×, median {median}, 90 % {p90}");
            (it.total_ms, words)
        };
        let number = |it: &u64| (*it, it.to_string());
        add(page, "Phases", &self.phases, lasted);
        add(page, "Waiting", &self.waits, lasted);
        add(page, "Checks", &self.checks, |it| {
            let (failed, passed) = (it.failed, it.passed);
            let words = format!("failed {failed}, passed {passed}, not run {}", it.unrun);
            (failed, words)
        });
        add(page, "Rules", &self.rules, |it| {
            let always = ["", ": always allowed"][usize::from(it.always_allowed)];
            let answers = format!("allowed {}, declined {}{always}", it.allowed, it.declined);
            let (denied, asked) = (it.denied, it.asked);
            (
                denied.saturating_add(asked),
                format!("denied {denied}, asked {asked}, {answers}"),
            )
        });
        add(page, "Reminders", &self.reminders, number);
        add(page, "Passed over", &self.overrides, number);
        let (turns, tokens, usd) = (self.spent.turns, self.spent.tokens, self.spent.micro_usd);
        if turns > 0 {
            let (usd, cents) = (usd / 1_000_000, usd / 10_000 % 100);
            page.line(format!(
                "{turns} turns, {tokens} tokens, {usd}.{cents:02} USD"
            ));
        }
    }
}

/// Adds a list, each with words about it. What has the greatest number comes first.
fn add<T>(
    page: &mut Page,
    title: &str,
    of: &BTreeMap<String, T>,
    words: impl Fn(&T) -> (u64, String),
) {
    let all = of.iter().map(|(name, it)| (visible(name), words(it)));
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|(_, (number, _))| Reverse(*number));
    if !all.is_empty() {
        page.line(paint(DIMMED, title));
        let all = all.into_iter().map(|(name, (_, words))| (words, name));
        page.pairs(&all.collect::<Vec<_>>());
    }
}
