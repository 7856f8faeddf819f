//! Runs as Markdown, for a pull request or the summary of a job.
//!
//! Every text of a definition, a person, a model or a tool is in code or in a fence, so that none of it is Markdown: no link,
//! no mention, no HTML.

use super::Timelines;
use super::described::{Below, Described};
use super::page::RunPage;
use crate::graph::{Direction, mermaid};
use crate::present::Page;

/// The longest text, in bytes. A comment on GitHub has at most 65,536 characters.
const LONGEST: usize = 60_000;

impl Timelines {
    /// Makes Markdown of the runs.
    pub(crate) fn markdown(self) -> anyhow::Result<String> {
        self.fitted(LONGEST, |runs| {
            let mut page = Page::default();
            if runs.is_empty() {
                page.line("No workflow was run.");
            }
            for run in runs {
                write(&mut page, run);
            }
            Ok(page.0)
        })
    }
}

fn write(page: &mut Page, run: &RunPage) {
    page.line(format_args!(
        "## {}: {}\n",
        code(&run.workflow),
        code(&run.state)
    ));
    fence(page, "", "text", &run.task);
    for sentence in &run.left_out {
        page.line(format_args!("{}\n", code(sentence)));
    }
    let facts = run.facts.iter();
    let facts = facts.map(|(name, value)| [(*name).to_owned(), code(value)]);
    table(page, ["", ""], facts);
    let phases = run.phases.iter().map(|phase| {
        let here = if phase.is_present { " ← here" } else { "" };
        [
            code(&phase.name) + here,
            phase.visits.to_string(),
            phase.lasted(),
            unless_zero(phase.failures),
            unless_zero(phase.denials),
        ]
    });
    let columns = [
        "Phase",
        "Visits",
        "Time",
        "Gates not passed",
        "Blocked calls",
    ];
    table(page, columns, phases);
    if let Some(graph) = &run.graph {
        fence(page, "", "mermaid", &mermaid(graph, Direction::default()));
    }
    if !run.values.is_empty() {
        page.line("### Values\n");
        for (name, value) in &run.values {
            page.line(format_args!("{}\n", code(name)));
            fence(page, "", "text", value);
        }
    }
    page.line("<details><summary>What happened</summary>\n");
    for event in &run.events {
        page.line(format_args!("- {}", line(&event.since, &event.what)));
        for below in &event.what.below {
            match below {
                Below::Text(text) => fence(page, "  ", "text", text),
                Below::Note(_, word, text) => {
                    page.line(format_args!(
                        "  - {}",
                        code(format!("{word} {text}").trim())
                    ));
                }
                Below::Check(check) => {
                    let (mark, what, source) = (check.mark, code(&check.what), code(&check.source));
                    page.line(format_args!("  - {mark} {what} {source}"));
                    if !check.output.is_empty() {
                        fence(page, "    ", "text", &check.output);
                    }
                }
            }
        }
    }
    page.line("\n</details>\n");
}

/// The line of an event.
fn line(since: &str, what: &Described) -> String {
    let text = format!("{}{}{}", what.cause, what.word, what.rest);
    let parts = [since, &text, &what.note].into_iter();
    let parts = parts.filter(|part| !part.is_empty());
    parts.map(code).collect::<Vec<_>>().join(" ")
}

fn unless_zero(number: usize) -> String {
    Some(number)
        .filter(|number| *number > 0)
        .map_or_else(String::new, |number| number.to_string())
}

/// Adds a table, unless it is empty.
fn table<const COLUMNS: usize>(
    page: &mut Page,
    columns: [&str; COLUMNS],
    rows: impl Iterator<Item = [String; COLUMNS]>,
) {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return;
    }
    page.line(format_args!("| {} |", columns.join(" | ")));
    page.line(format_args!("|{}", " --- |".repeat(COLUMNS)));
    for row in rows {
        // A bar ends a cell even in code, and behind a backslash of the text also if it is escaped.
        let cells = row.map(|cell| cell.replace('|', "¦"));
        page.line(format_args!("| {} |", cells.join(" | ")));
    }
    page.line("");
}

/// A text of one line as code. The marks around it are longer than those in it.
fn code(text: &str) -> String {
    let text = text.replace('\n', " ");
    let text = text.trim();
    if text.is_empty() {
        return String::new();
    }
    let marks = "`".repeat(longest_run(text) + 1);
    let gap = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{marks}{gap}{text}{gap}{marks}")
}

/// Adds a text in lines as a block of code.
fn fence(page: &mut Page, indent: &str, language: &str, text: &str) {
    let marks = "`".repeat(longest_run(text).max(2) + 1);
    page.line(format_args!("{indent}{marks}{language}"));
    for line in text.trim_end().split('\n') {
        page.line(format_args!("{indent}{line}"));
    }
    page.line(format_args!("{indent}{marks}\n"));
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|c| c != '`').map(str::len);
    runs.max().unwrap_or(0)
}
