//! The results of many replays, as text and as a test report.

use askama::Template;
use workflow_core::diagnostic::visible;

use super::difference::Difference;
use super::suite::{ReplayRow, TranscriptResult};
use crate::present::{BAD, Page, count, paint, xml};

/// Differences printed per transcript; JSON has all of them.
const SHOWN: usize = 10;

/// The numbers of transcripts with each result.
#[derive(Debug, Default)]
pub(crate) struct ReplayTotals {
    all: usize,
    pub(crate) differ: usize,
    blessed: usize,
    pub(crate) failed: usize,
}

impl ReplayTotals {
    pub(crate) fn of(rows: &[ReplayRow]) -> Self {
        let of =
            |is: fn(&TranscriptResult) -> bool| rows.iter().filter(|row| is(&row.result)).count();
        Self {
            all: rows.len(),
            differ: of(|result| matches!(result, TranscriptResult::Differs { .. })),
            blessed: of(|result| matches!(result, TranscriptResult::Blessed)),
            failed: of(|result| matches!(result, TranscriptResult::Failed { .. })),
        }
    }

    fn summary(&self) -> String {
        let replayed = self.all - self.failed;
        let mut summary = vec![format!("{} replayed", count(replayed, "transcript"))];
        if self.differ + self.blessed + self.failed == 0 && replayed > 0 {
            summary.push("no differences".to_owned());
        }
        let differ = if self.differ == 1 {
            "differs"
        } else {
            "differ"
        };
        let numbers = [self.differ, self.blessed, self.failed];
        for (number, what) in numbers.into_iter().zip([differ, "rewritten", "failed"]) {
            if number > 0 {
                summary.push(format!("{number} {what}"));
            }
        }
        summary.join(", ")
    }
}

/// The results as text, and the errors of those that failed.
pub(crate) fn replay_text(rows: &[ReplayRow]) -> (Page, Vec<String>) {
    let (mut page, mut errors) = (Page::default(), Vec::new());
    for ReplayRow { file, result } in rows {
        let name = visible(file);
        match result {
            TranscriptResult::Differs { differences } => {
                for difference in differences.iter().take(SHOWN) {
                    let place = visible(&format!("{file}:{}", difference.line));
                    let place = paint(BAD.bold(), place);
                    page.line(format_args!("{place}: {}", difference.shown()));
                }
                if let Some(more) = more(differences) {
                    page.line(format_args!("{name}: {more}"));
                }
            }
            TranscriptResult::Failed { error } => errors.push(visible(error)),
            TranscriptResult::Same { torn: Some(torn) } => {
                page.line(format_args!("{name}: cut off: {torn}"));
            }
            TranscriptResult::Same { torn: None } => {}
            TranscriptResult::Blessed => page.line(format_args!("{name}: rewritten")),
        }
    }
    let totals = ReplayTotals::of(rows);
    // One that failed alone has been named.
    if rows.len() > 1 || totals.failed == 0 {
        page.line(totals.summary());
    }
    (page, errors)
}

/// Counts the differences that are not printed.
fn more(differences: &[Difference]) -> Option<String> {
    let more = differences.len().saturating_sub(SHOWN);
    (more > 0).then(|| format!("and {}", count(more, "more message")))
}

/// The differences that are printed, as text.
fn told(file: &str, differences: &[Difference]) -> String {
    let at =
        |difference: &Difference| format!("{file}:{}: {}", difference.line, difference.shown());
    differences.iter().take(SHOWN).map(at).collect()
}

/// A `JUnit` report with a test per transcript.
#[derive(Template)]
#[template(path = "record/junit.xml", escape = "none")]
struct Report<'r> {
    totals: ReplayTotals,
    rows: &'r [ReplayRow],
}

/// Makes a `JUnit` report of the results.
pub(crate) fn junit(rows: &[ReplayRow]) -> askama::Result<String> {
    let totals = ReplayTotals::of(rows);
    Report { totals, rows }.render()
}
