//! Runs as Markdown, for a pull request or the summary of a job.
//!
//! Every text of a definition, a person, a model or a tool is in code or in a fence, so that none of it is Markdown: no link,
//! no mention, no HTML.

use askama::Template;

use super::Timelines;
use super::described::Below;
use super::page::{PageEvent, RunPage};
use crate::graph::{Direction, mermaid};

/// The longest text, in bytes. A comment on GitHub has at most 65,536 characters.
const LONGEST: usize = 60_000;

#[derive(Template)]
#[template(path = "show/runs.md")]
struct Markdown<'p> {
    runs: &'p [RunPage],
}

impl Timelines {
    /// Makes Markdown of the runs.
    pub(crate) fn markdown(self) -> anyhow::Result<String> {
        self.fitted(LONGEST, |runs| Ok(Markdown { runs }.render()?))
    }
}

/// The line of an event.
fn line(event: &PageEvent) -> String {
    let what = &event.what;
    let text = format!("{}{}{}", what.cause, what.word, what.rest);
    let parts = [&event.since, &text, &what.note].map(code);
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" ")
}

/// A text in a cell of a table. A bar ends a cell even in code, and behind a backslash of the text also if it is escaped.
fn cell(text: &str) -> String {
    code(text).replace('|', "¦")
}

/// A text of one line as code. The marks around it are longer than those in it.
fn code(text: impl AsRef<str>) -> String {
    let text = text.as_ref().replace('\n', " ");
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

/// A text in lines as a block of code.
fn fence(indent: &str, language: &str, text: impl AsRef<str>) -> String {
    let text = text.as_ref();
    let marks = "`".repeat(longest_run(text).max(2) + 1);
    let block = format!("{marks}{language}\n{}\n{marks}", text.trim_end());
    let lines = block.split('\n').map(|line| format!("{indent}{line}\n"));
    lines.collect()
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|c| c != '`').map(str::len);
    runs.max().unwrap_or(0)
}
