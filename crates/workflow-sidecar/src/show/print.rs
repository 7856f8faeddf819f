//! Timelines as text.

use clap::builder::styling::Style;
use workflow_core::diagnostic::{shown, visible};
use workflow_core::policy::gate_report::{CheckVerdict, Report};

use super::run::FlowNotes;
use super::timeline::{TimelineEvent, Totals};
use super::{SessionTimeline, Timelines};
use crate::present::{BAD, DIMMED, GOOD, Moment, NOTABLE, Page, TITLE, count, paint};

/// The columns before what belongs to an event.
const INDENT: &str = "               ";

impl Timelines {
    /// Adds the timelines to a page.
    pub(crate) fn print(&self, page: &mut Page) {
        for (at, session) in self.sessions.iter().enumerate() {
            if at > 0 {
                page.line("");
            }
            if !session.id.is_empty() {
                let session = format_args!("session {}", shown(&session.id));
                page.line(paint(TITLE, session));
            }
            session.print(page);
        }
        if self.sessions.is_empty() {
            page.line("nothing happened in any session");
        }
        let entries = match self.on_other_branches {
            0 => None,
            1 => Some("1 entry".to_owned()),
            number => Some(format!("{number} entries")),
        };
        if let Some(entries) = entries {
            let entries = format_args!("{entries} on other branches not shown");
            page.line(paint(DIMMED, entries));
        }
        if self.skipped > 0 {
            let (note, lines) = (paint(NOTABLE, "note:"), count(self.skipped, "line"));
            page.line(format_args!("{note} {lines} could not be read as an entry"));
        }
    }
}

impl SessionTimeline {
    fn print(&self, page: &mut Page) {
        let start = self.events.iter().find_map(|event| event.at);
        match start {
            Some(start) => page.line(paint(DIMMED, Moment(start).with_seconds())),
            None if self.events.is_empty() => page.line("no workflow was run"),
            None => {}
        }
        for event in &self.events {
            let since = event.at.zip(start);
            let since = since.map(|(at, start)| format!("+{}", duration(at.saturating_sub(start))));
            let since = format!("{:>11}", since.unwrap_or_default());
            let (line, below) = event.what.text();
            page.line(format_args!("{}  {line}", paint(DIMMED, since)));
            page.append(&below);
        }
        match &self.totals {
            Some(totals) => totals.print(page),
            None => page.line(paint(
                DIMMED,
                "tool calls and messages are in the session of the host, and not known here",
            )),
        }
    }
}

impl TimelineEvent {
    /// The line of an event, and the lines below it.
    fn text(&self) -> (String, Page) {
        let styled = |style: Style, word: &str, rest: &str| {
            (
                format!("{} {}", paint(style, word), shown(rest)),
                Page::default(),
            )
        };
        let with = |(line, mut below): (String, Page), text: &str| {
            below.block(INDENT, text);
            (line, below)
        };
        let run = |how: &str, workflow: &str, task: &str| {
            let head = paint(TITLE, format_args!("{how} {}", shown(workflow)));
            (format!("{head}: {}", shown(task)), Page::default())
        };
        let plain = |line: String| (line, Page::default());
        let after = |lasted: &Option<i64>| match lasted {
            Some(lasted) => format!(" after {}", duration(*lasted)),
            None => String::new(),
        };
        match self {
            Self::Started { workflow, task } => run("started", workflow, task),
            Self::Resumed { workflow, task } => run("taken up", workflow, task),
            Self::Entered {
                phase,
                by,
                lasted,
                flow,
            } => entered(phase, by.as_ref(), *lasted, flow),
            Self::Denied { tool, reason } => with(styled(BAD, "denied", tool), reason),
            Self::Gate { checks } => gate(checks),
            Self::Asked { question, answer } => {
                let answer = match answer {
                    Some(answer) => format!("answered {}", shown(answer)),
                    None => "no answer".to_owned(),
                };
                let (asked, answer) = (paint(NOTABLE, "asked"), paint(DIMMED, answer));
                plain(format!("{asked}: {}  {answer}", shown(question)))
            }
            Self::Answered { choice, comment } => {
                let answered = styled(NOTABLE, "the user answered", choice);
                match comment {
                    Some(comment) => with(answered, comment),
                    None => answered,
                }
            }
            Self::Refused { action, answer } => {
                let action = format!("workflow_step {action}");
                with(styled(BAD, "refused", &action), answer)
            }
            Self::Reminded { times } => {
                plain(format!("{}, {times} in a row", paint(NOTABLE, "reminded")))
            }
            Self::UserMessage { text } => plain(format!("the user: {}", shown(text))),
            Self::Triggered { text } => {
                plain(format!("{}: {}", paint(NOTABLE, "a trigger"), shown(text)))
            }
            Self::CodeRestored { message } => plain(format!("the code: {}", visible(message))),
            Self::Paused { why } => plain(paint(NOTABLE, why)),
            Self::Compacted => plain(paint(DIMMED, "older messages became a summary")),
            Self::Completed { lasted, flow } => {
                let by = flow.user_command.as_deref().map(by_user);
                let by = by.map_or_else(String::new, |by| format!("{} → ", shown(&by)));
                let complete = paint(GOOD, "complete");
                (format!("{by}{complete}{}", after(lasted)), of_user(flow))
            }
            Self::Cancelled { lasted } => {
                plain(format!("{}{}", paint(BAD, "cancelled"), after(lasted)))
            }
        }
    }
}

/// A phase, and why it was entered.
fn entered(
    phase: &str,
    by: Option<&String>,
    lasted: Option<i64>,
    flow: &FlowNotes,
) -> (String, Page) {
    let cause = if let Some(command) = &flow.user_command {
        by_user(command)
    } else {
        let causes = by.into_iter().chain(&flow.outcome);
        causes.map(String::as_str).collect::<Vec<_>>().join(" ")
    };
    let cause = match cause.as_str() {
        "" => cause,
        cause => format!("{} → ", shown(cause)),
    };
    let lasted = lasted.map(|lasted| format!("  {}", paint(DIMMED, duration(lasted))));
    let visit = flow.visit.map(|visit| format!(", visit {visit}"));
    let mut below = Page::default();
    if !flow.skipped.is_empty() {
        let skipped = format!("skipped {}", shown(&flow.skipped.join(", ")));
        below.line(format_args!("{INDENT}{}", paint(DIMMED, skipped)));
    }
    let line = [
        cause,
        shown(phase),
        visit.unwrap_or_default(),
        lasted.unwrap_or_default(),
    ];
    below.append(&of_user(flow));
    (line.concat(), below)
}

/// Names a command of the user, as the cause of a move.
fn by_user(command: &str) -> String {
    format!("the user: /workflow-{command}")
}

/// What the user passed over, and the comment of the user.
fn of_user(flow: &FlowNotes) -> Page {
    let mut below = Page::default();
    for overridden in &flow.overrode {
        let passed_over = paint(BAD, "passed over");
        below.line(format_args!("{INDENT}{passed_over} {}", shown(overridden)));
    }
    if let Some(comment) = &flow.comment {
        below.block(INDENT, comment);
    }
    below
}

/// The checks of a gate: result, duration and location.
fn gate(checks: &[Report]) -> (String, Page) {
    let line = if checks.iter().all(Report::has_passed) {
        paint(GOOD, "gate passed")
    } else {
        paint(BAD, "gate not passed")
    };
    let mut below = Page::default();
    for check in checks {
        let mark = match check.verdict {
            CheckVerdict::Passed => paint(GOOD, "✓"),
            CheckVerdict::Failed => paint(BAD, "✗"),
            CheckVerdict::CouldNotRun(_) => paint(NOTABLE, "⚠"),
        };
        let lasted = duration(i64::try_from(check.duration_ms).unwrap_or(i64::MAX));
        let why = match check.reason.as_str() {
            "" => String::new(),
            reason => format!(": {}", shown(reason)),
        };
        let source = paint(DIMMED, format_args!("{lasted}  {}", shown(&check.source)));
        let what = shown(&check.what);
        below.line(format_args!("{INDENT}{mark} {what}{why}  {source}"));
    }
    (line, below)
}

impl Totals {
    fn print(&self, page: &mut Page) {
        let number = |number: u64, noun| count(usize::try_from(number).unwrap_or(usize::MAX), noun);
        let mut counts = vec![
            number(self.tool_calls, "tool call"),
            number(self.denials, "denial"),
            number(self.reminders, "reminder"),
        ];
        if self.checkpoints > 0 {
            counts.push(number(self.checkpoints, "checkpoint"));
        }
        page.line(counts.join(", "));
        let sent = [
            (self.context_characters, self.contexts, "context message"),
            (
                self.initial_message_characters,
                self.initial_messages,
                "initial message",
            ),
            (self.reminder_characters, self.reminders, "reminder"),
            (self.message_characters, self.messages, "other message"),
        ];
        let characters = sent.iter().map(|(characters, ..)| characters).sum();
        let sent = sent.iter().filter(|(_, messages, _)| *messages > 0);
        let sent = sent.map(|(characters, messages, what)| {
            format!("{characters} in {}", number(*messages, what))
        });
        let sent = sent.collect::<Vec<_>>().join(", ");
        page.line(match number(characters, "character") {
            _ if sent.is_empty() => "nothing added to the model's context".to_owned(),
            characters => format!("{characters} added to the model's context: {sent}"),
        });
    }
}

/// Formats a duration.
fn duration(millis: i64) -> String {
    let sign = if millis < 0 { "-" } else { "" };
    let millis = millis.unsigned_abs();
    let (seconds, minutes, hours) = (millis / 1000, millis / 60_000, millis / 3_600_000);
    if hours > 0 {
        format!("{sign}{hours} h {} min", minutes % 60)
    } else if minutes > 0 {
        format!("{sign}{minutes} min {} s", seconds % 60)
    } else {
        format!("{sign}{seconds}.{} s", millis % 1000 / 100)
    }
}
